"""Every dataset by name, on the real files: counts, sparseness, directedness, and the caveats we print."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from gwn.data import DATASETS, SPLITS, Dataset, load_dataset, make_splits
from gwn.data.checksums import CHECKSUMS
from gwn.data.dataset import check_counts
from gwn.data.describe import describe, edge_homophily, verify
from gwn.data.splits import PUBLISHED
from gwn.errors import GWNError
from gwn.graph import Graph

ON_DISK = [name for name, spec in DATASETS.items() if spec.files and name != "ogbn-arxiv"]

PAPER = {  # the paper's table of datasets: nodes, edges, features, classes
    "cora": (2708, 5278, 1433, 7),
    "citeseer": (3327, 4552, 3703, 6),
    "pubmed": (19717, 44324, 500, 3),
    "computers": (13752, 245861, 767, 10),
    "photo": (7650, 119081, 745, 8),
    "cs": (18333, 81894, 6805, 15),
    "actor": (7600, 30019, 932, 5),
    "texas": (183, 325, 1703, 5),
    "cornell": (183, 298, 1703, 5),
    "wisconsin": (251, 515, 1703, 5),
    "deezer-europe": (28281, 92752, 128, 2),
    "ogbn-arxiv": (169343, 1166243, 128, 40),
}


def test_the_specs_are_the_papers_table() -> None:
    for name, counts in PAPER.items():
        spec = DATASETS[name]
        assert (spec.nodes, spec.edges, spec.features, spec.classes) == counts


@pytest.mark.parametrize("name", DATASETS)
def test_a_spec_is_consistent(name: str) -> None:
    spec = DATASETS[name]
    assert spec.name == name
    assert spec.default_split in (*SPLITS, *PUBLISHED)
    assert set(spec.files) == set(spec.urls)
    assert all(url.startswith("https://") for url in spec.urls.values())
    assert all(len(digest) == 64 for digest in spec.files.values()) or not spec.pinned


@pytest.mark.parametrize("name", [name for name, spec in DATASETS.items() if spec.class_names])
def test_every_class_has_a_name_of_its_own_or_none_has(name: str) -> None:
    spec = DATASETS[name]
    assert len(set(spec.class_names)) == len(spec.class_names) == spec.classes


SIZES = {  # of the original releases, by name
    "cora": {"neural nets": 818, "probabilistic": 426, "genetic": 418, "theory": 351, "case-based": 298}
    | {"reinforcement": 217, "rules": 180},
    "citeseer": {"DB": 701, "IR": 668, "agents": 596, "ML": 590, "HCI": 508, "AI": 249 + 15},  # 15 have no class there
    "minesweeper": {"free": 8000, "mine": 2000},
    "texas": {"student": 101, "course": 33, "faculty": 30, "project": 18, "staff": 1},
    "wisconsin": {"student": 118, "course": 70, "faculty": 32, "project": 21, "staff": 10},
}


@pytest.mark.parametrize("name", SIZES)
def test_pictures_name_the_classes_and_runs_keep_their_numbers(name: str, dataset: Callable[..., Dataset]) -> None:
    data = dataset(name)
    names = data.pictured.class_names
    assert names is not None
    assert dict(zip(names, data.graph.labels.bincount().tolist(), strict=True)) == SIZES[name]
    assert data.graph.label_name(1) == "1"
    assert data.pictured.content_hash() == data.graph.content_hash()


@pytest.mark.parametrize("name", ["computers", "photo", "cs"])
def test_class_names_are_those_in_the_files(name: str, data_root: Path) -> None:
    spec = DATASETS[name]
    with np.load(data_root / next(iter(spec.files)), allow_pickle=True) as stored:  # pinned files
        inside = [str(each).lower().replace("_", " ") for each in stored["class_names"]]
    for ours, theirs in zip(spec.class_names, inside, strict=True):
        assert ours.split()[0].lower() in theirs


def test_every_checksum_belongs_to_a_dataset() -> None:
    assert set(CHECKSUMS) == {path for name in ON_DISK for path in DATASETS[name].files}


@pytest.mark.parametrize("name", ON_DISK)
def test_loads_as_a_simple_undirected_graph(name: str, dataset: Callable[..., Dataset]) -> None:
    spec, loaded = DATASETS[name], dataset(name)
    graph = loaded.graph
    assert (graph.num_nodes, graph.num_features, graph.num_classes) == (spec.nodes, spec.features, spec.classes)
    a, b = graph.edge_index
    assert bool((a != b).all())
    forward, backward = a * graph.num_nodes + b, b * graph.num_nodes + a
    assert torch.equal(forward, backward.sort().values)
    assert bool((forward.diff() > 0).all())
    if not spec.directed:
        assert graph.num_edges == 2 * spec.edges
    assert loaded.files == spec.files
    assert not loaded.directed
    assert loaded.metric == ("roc-auc" if name in ("minesweeper", "tolokers") else "accuracy")
    assert make_splits(loaded, None, 1)[0].kind == spec.default_split


@pytest.mark.parametrize("name", ["cora", "citeseer", "pubmed", "cs", "actor", "texas", "squirrel-filtered"])
def test_bags_of_words_are_sparse(name: str, dataset: Callable[..., Dataset]) -> None:
    assert dataset(name).graph.is_sparse


@pytest.mark.parametrize("name", ["photo", "deezer-europe", "tolokers"])
def test_dense_features_are_dense(name: str, dataset: Callable[..., Dataset]) -> None:
    assert not dataset(name).graph.is_sparse


@pytest.mark.parametrize("name", ["texas", "cornell", "wisconsin", "actor"])
def test_directed_is_exactly_as_stored(name: str, data_root: Path) -> None:
    stored = load_dataset(name, directed=True)
    assert stored.directed
    assert stored.graph.num_edges == DATASETS[name].edges
    assert describe(stored)["self_loops"] > 0


def test_directed_changes_nothing_where_nothing_is_directed(dataset: Callable[..., Dataset]) -> None:
    stored = load_dataset("cora", directed=True)
    assert not stored.directed
    assert stored.graph.num_edges == dataset("cora").graph.num_edges


def test_cornells_node_file_is_texass(dataset: Callable[..., Dataset]) -> None:
    texas, cornell = dataset("texas"), dataset("cornell")
    node_file = "raw/out1_node_feature_label.txt"
    assert texas.files[f"texas/{node_file}"] == cornell.files[f"cornell/{node_file}"]
    assert torch.equal(texas.graph.x.to_dense(), cornell.graph.x.to_dense())
    assert not torch.equal(texas.graph.edge_index, cornell.graph.edge_index)
    assert "Texas" in cornell.caveat
    assert "Cornell" in texas.caveat
    assert describe(texas)["class_counts"]["1"] == 1


def test_citeseer_has_empty_nodes(dataset: Callable[..., Dataset]) -> None:
    graph = dataset("citeseer").graph
    assert describe(dataset("citeseer"))["isolated_nodes"] == 48
    assert int((graph.x.crow_indices().diff() == 0).sum()) == 15
    assert "15" in dataset("citeseer").caveat


def test_deezer_says_that_its_features_are_an_svd(dataset: Callable[..., Dataset]) -> None:
    deezer = dataset("deezer-europe")
    assert deezer.files["DeezerEurope/raw/deezer_europe.npz"][:8] in deezer.caveat
    assert "SVD" in deezer.caveat


@pytest.mark.parametrize(("name", "homophily"), [("cora", 0.81), ("texas", 0.06), ("actor", 0.22), ("photo", 0.83)])
def test_homophily_is_the_known_one(name: str, homophily: float, dataset: Callable[..., Dataset]) -> None:
    assert edge_homophily(dataset(name).graph) == pytest.approx(homophily, abs=0.01)


def test_two_loads_are_equal(dataset: Callable[..., Dataset]) -> None:
    assert load_dataset("wisconsin").graph.content_hash() == dataset("wisconsin").graph.content_hash()


@pytest.mark.parametrize("name", ON_DISK)
def test_verify_finds_the_originals(name: str, data_root: Path) -> None:
    assert {status for _, status in verify(name)} == {"ok"}


def test_wrong_counts_are_refused() -> None:
    graph = Graph(x=torch.ones(3, 2), edge_index=torch.tensor([[0, 1], [1, 0]]), y=torch.tensor([0, 1, 0]))
    spec = replace(DATASETS["digits"], nodes=3, edges=1, features=2, classes=2)
    check_counts(spec, graph)
    for what in ("nodes", "edges", "features", "classes"):
        wrong: dict[str, Any] = {what: 9}
        with pytest.raises(GWNError, match=f"digits was read with . {what}; it should have 9"):
            check_counts(replace(spec, **wrong), graph)


def test_an_unknown_dataset_suggests_the_nearest() -> None:
    with pytest.raises(GWNError, match="unknown dataset 'cors'; did you mean 'cora'"):
        load_dataset("cors")
