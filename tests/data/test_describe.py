"""What is said about a graph before training, against counts by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from gwn import Graph
from gwn.data import Dataset, contextual_sbm, make_splits
from gwn.data.describe import (
    adjusted_homophily,
    chance_of_shift,
    describe,
    edge_homophily,
    in_words,
    label_shift,
    left_out,
    shift_in_words,
)
from gwn.data.files import load_files
from gwn.data.splits import Split
from gwn.errors import GWNError
from gwn.graph import undirected

PAIRS = torch.tensor([[0, 1, 3, 4], [1, 2, 4, 5]])  # two paths of three, and one node alone


def small(y: list[int], **fields: Any) -> Dataset:
    graph = undirected(Graph(x=torch.eye(7), edge_index=PAIRS, y=torch.tensor(y), name="small"))
    given: dict[str, Any] = {"metric": "accuracy", "default_split": "stratified", "directed": False}
    return Dataset(name="small", graph=graph, published={}, files={}, **{**given, **fields})


def test_counts_by_hand() -> None:
    data = small([0, 0, 1, 1, 1, -1, 0])
    facts = describe(data)
    assert (facts["nodes"], facts["edges"], facts["components"], facts["isolated_nodes"]) == (7, 4, 3, 1)
    assert facts["class_counts"] == {"0": 3, "1": 3}
    assert facts["edge_homophily"] == pytest.approx(2 / 3)  # 0-0, 0-1, 1-1; the fourth has an unknown end
    assert facts["adjusted_homophily"] == pytest.approx((2 / 3 - 1 / 2) / (1 - 1 / 2))  # three of six ends each
    assert facts["label_shift"] is None
    assert any("1 node has no edge" in line for line in facts["suggestions"])
    assert any("neither learnt nor measured" in line for line in facts["suggestions"])
    assert any("2 parts" in line for line in facts["suggestions"])


def test_label_shift_is_how_many_labels_would_have_to_change() -> None:
    parts = {"train": torch.tensor([0, 1]), "val": torch.tensor([2, 6]), "test": torch.tensor([3, 4])}
    split = Split(**parts, kind="own", seed=0)
    data = small([0, 0, 1, 1, 1, -1, 0])
    assert label_shift(data.graph, split) == pytest.approx(0.75)  # training all 0, of the others a quarter
    assert any("75%" in line for line in describe(data, split)["suggestions"])


def test_a_shift_that_chance_explains_is_none() -> None:
    """Of 14 nodes in two equal classes, half train: 4 and 3 of a class there are 3 and 4 elsewhere."""
    y = [0, 1] * 7
    graph = Graph(x=torch.eye(14), edge_index=torch.empty(2, 0, dtype=torch.int64), y=torch.tensor(y), name="tiny")
    halves = {"train": torch.arange(7), "val": torch.arange(7, 10), "test": torch.arange(10, 14)}
    shift, chance = (of(graph, Split(**halves, kind="own", seed=0)) for of in (label_shift, chance_of_shift))
    assert shift == pytest.approx(1 / 7)
    assert shift_in_words(shift, chance) == ""
    assert "(14% would have to change)" in shift_in_words(shift, chance and chance / 100**0.5)  # of 1400 nodes


def test_one_edge_left_out_is_one() -> None:
    dropped = {"self-loops": 1, "edges of unknown nodes": 0, "repeated edges (joined, weight: mean)": 1}
    assert left_out(dropped) == "left out: 1 self-loop, 1 repeated edge (joined, weight: mean)"
    assert (
        left_out({"self-loops": 2, "edges of unknown nodes": 1200})
        == "left out: 2 self-loops, 1,200 edges of unknown nodes"
    )
    assert left_out({"self-loops": 0}) == ""


@pytest.mark.parametrize(
    ("homophily", "advice"),
    [
        (0.9, "gwn-sym is a good start"),
        (0.2, "Neighbours say little about each other's class (adjusted homophily -0.0"),
        (0.01, "Neighbours differ in class more often than by chance (adjusted homophily -0.3"),
    ],
)
def test_advice_follows_homophily(homophily: float, advice: str) -> None:
    graph = contextual_sbm(nodes=200, degree=8, homophily=homophily, seed=1)
    data = Dataset(
        name="s", graph=graph, metric="accuracy", default_split="stratified", directed=False, published={}, files={}
    )
    assert any(advice in line for line in describe(data)["suggestions"])
    found = adjusted_homophily(graph)
    plain = edge_homophily(graph)
    assert found is not None
    assert plain is not None
    assert found < plain


def test_one_edge_is_one() -> None:
    graph = Graph(x=torch.eye(2), edge_index=torch.tensor([[0, 1], [1, 0]]), y=torch.tensor([0, 1]))
    data = Dataset(
        name="s", graph=graph, metric="accuracy", default_split="stratified", directed=False, published={}, files={}
    )
    assert in_words(describe(data))[0].startswith("2 nodes, 1 edge, 2 features; ")


def test_tables_say_what_was_left_out_and_what_is_empty(tmp_path: Path) -> None:
    rows = [f"n{i},{i},{'x' if i % 9 else 'rare'}" for i in range(40)]
    (tmp_path / "n.csv").write_text("\n".join(["id,size,topic", *rows, "n40,3,"]) + "\n")
    edges = [f"n{i},n{i + 1}" for i in range(39)]
    (tmp_path / "e.csv").write_text("\n".join(["source,target", *edges, "n1,n0", "n5,n5", "n0,n1"]) + "\n")
    data, _ = load_files(edges=tmp_path / "e.csv", nodes=tmp_path / "n.csv", label_column="topic")
    facts = describe(data)
    assert facts["dropped"] == {"self-loops": 1, "repeated edges": 2}
    assert {row["column"]: row["role"] for row in facts["columns"]} == {"id": "id", "size": "number", "topic": "label"}
    said = "\n".join(in_words(facts))
    assert "left out: 1 self-loop, 2 repeated edges" in said
    assert "41 nodes, 39 edges, 1 feature; 1 node without an edge, 2 connected parts" in said
    assert "40 labelled nodes in 2 classes: 'x' 35, 'rare' 5" in said


def test_weights_of_repeated_edges_are_joined_and_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text("id,size,topic\n" + "".join(f"n{i},{i},{'xy'[i % 2]}\n" for i in range(10)))
    (tmp_path / "e.csv").write_text("source,target,w\nn0,n1,1\nn1,n0,3\nn2,n3,5\n")
    options: dict[str, Any] = {
        "edges": tmp_path / "e.csv",
        "nodes": tmp_path / "n.csv",
        "label_column": "topic",
        "weight_column": "w",
    }
    data, _ = load_files(**options)
    assert data.graph.edge_weight is not None
    assert data.graph.edge_weight.tolist() == [2, 2, 5, 5]
    assert "left out: 1 repeated edge (joined, weight: mean)" in in_words(describe(data))
    directed, _ = load_files(**options, directed=True)
    assert directed.graph.edge_weight is not None
    assert directed.graph.edge_weight.tolist() == [1, 3, 5], "kept as they are"


def read_rows(folder: Path, heading: str, rows: list[str], **options: Any) -> Dataset:
    (folder / "n.csv").write_text("\n".join([heading, *rows]) + "\n")
    (folder / "e.csv").write_text("source,target\nn0,n1\n")
    return load_files(edges=folder / "e.csv", nodes=folder / "n.csv", label_column="topic", **options)[0]


def test_classes_that_may_be_none_or_one_are_pointed_out(tmp_path: Path) -> None:
    names = ["Yes", "yes", "unknown", "?", "no"]
    data = read_rows(tmp_path, "id,size,topic", [f"n{i},{i},{names[i % 5]}" for i in range(60)])
    said = describe(data)["suggestions"]
    assert (
        "Learnt as a class: '?' (12), 'unknown' (12). Where this means that nobody knows the class, empty these cells."
    ) in said
    assert "Learnt as 2 classes: 'Yes', 'yes'. Write them alike." in said
    data = read_rows(tmp_path, "id,size,topic", [f"n{i},{i},{i % 3 - 1}" for i in range(60)])
    assert any("'-1' (20)" in line for line in describe(data)["suggestions"])
    data = read_rows(tmp_path, "id,size,topic", [f"n{i},{i},{i % 3}" for i in range(60)])
    assert not [line for line in describe(data)["suggestions"] if line.startswith("Learnt as")]


def test_a_column_that_tells_the_answer_is_pointed_out(tmp_path: Path) -> None:
    rows = [f"n{i},{i % 7},{'pqr'[i % 3]},{i % 2},{i},{'' if i < 6 else 'abc'[i % 3]}" for i in range(66)]
    data = read_rows(tmp_path, "id,size,grade,odd,number,topic", rows)
    assert describe(data)["telling_columns"] == ["grade"]
    (line,) = [line for line in describe(data)["suggestions"] if "grade" in line]
    assert line.endswith("leave it out with --drop-column grade if it was made from that: scores would mean nothing.")
    data = read_rows(tmp_path, "id,size,grade,odd,number,topic", rows, drop_columns=["grade"])
    assert describe(data)["telling_columns"] == []
    rows = [f"n{i},{i % 7},{2.5 * (i % 50):.2f},{i % 50}" for i in range(66)]
    data = read_rows(tmp_path, "id,size,euros,topic", rows, task="regression")
    assert describe(data)["telling_columns"] == ["euros"]


def test_a_column_with_gaps_that_tells_the_answer_is_pointed_out(tmp_path: Path) -> None:
    rows = [f"n{i},{i % 7},{'' if i % 4 == 0 else 'pqr'[i % 3]},{i * 7 % 5},{'abc'[i % 3]}" for i in range(66)]
    data = read_rows(tmp_path, "id,size,grade,odd,topic", rows)
    assert describe(data)["telling_columns"] == ["grade"]
    rows = [f"n{i},{i % 7},{'' if i % 3 else 'pqr'[i // 3 % 3]},{'abc'[i // 3 % 3]}" for i in range(66)]
    data = read_rows(tmp_path, "id,size,grade,topic", rows)
    assert describe(data)["telling_columns"] == [], "it tells of a third of the nodes alone"
    rows = [f"n{i},{i % 7},{'' if i % 4 == 0 else 2.5 * (i % 50)},{i % 50}" for i in range(66)]
    data = read_rows(tmp_path, "id,size,euros,topic", rows, task="regression")
    assert describe(data)["telling_columns"] == ["euros"]


def test_no_labels_at_all() -> None:
    graph = Graph(x=torch.ones(3, 1), edge_index=torch.tensor([[0, 1], [1, 0]]))
    data = Dataset(
        name="s", graph=graph, metric="accuracy", default_split="stratified", directed=False, published={}, files={}
    )
    facts = describe(data)
    assert facts["edge_homophily"] is facts["adjusted_homophily"] is None
    said = "The nodes have no features: give tables with --edges and --nodes, and try --features spectral"
    assert facts["suggestions"][0].startswith(said), "beside --graph the option is refused"


def test_a_single_column_is_a_feature(tmp_path: Path) -> None:
    data = read_rows(tmp_path, "id,size,topic", [f"n{i},{i % 7},{'ab'[i % 2]}" for i in range(40)])
    assert data.graph.num_features == 1
    assert not any("no features" in line for line in describe(data)["suggestions"])


def test_describing_a_shift_names_the_option(dataset: Callable[..., Dataset]) -> None:
    texas = dataset("texas")
    said = describe(texas, make_splits(texas, "per-class", 1)[0])["suggestions"]
    assert any("--prior validation" in line for line in said)
    assert not any("--prior" in line for line in describe(texas, make_splits(texas, "stratified", 1)[0])["suggestions"])


def test_edges_that_weigh_nothing_are_counted_and_huge_weights_refused(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("id,size,topic\na,1,x\nb,2,y\nc,3,x\n")
    edges = tmp_path / "edges.csv"
    edges.write_text("source,target,w\na,b,0\nb,c,2\n")
    data, _ = load_files(edges=edges, nodes=tmp_path / "nodes.csv", label_column="topic", weight_column="w")
    facts = describe(data)
    assert facts["edges_of_weight_0"] == 1
    assert "Edges of weight 0: 1; they count as if they were not there." in facts["suggestions"]
    edges.write_text("source,target,w\na,b,1\nb,c,2e40\n")
    with pytest.raises(GWNError, match=r"edges.csv: weight column 'w' has '2e40' in row 2; float32 .* scale them"):
        load_files(edges=edges, nodes=tmp_path / "nodes.csv", label_column="topic", weight_column="w")


def test_without_edges_no_row_is_missed(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("size,topic\n5,x\n7,y\n6,x\n")
    (tmp_path / "edges.csv").write_text("source,target\n")
    data, _ = load_files(edges=tmp_path / "edges.csv", nodes=tmp_path / "nodes.csv", label_column="topic")
    assert not any("row 0" in line for line in describe(data)["suggestions"])
