"""Datasets by name, splits, and anyone's own graph from files."""

from __future__ import annotations

from gwn.data.dataset import Dataset, DatasetSpec, check_counts
from gwn.data.download import locate
from gwn.data.sources import arxiv, csbm, deezer, digits, geom_gcn, heterophilous, planetoid, shchur
from gwn.data.sources.csbm import contextual_sbm
from gwn.data.sources.pyg import undirected
from gwn.data.splits import PUBLISHED, SPLITS, Split, make_splits
from gwn.registry import lookup

DATASETS: dict[str, DatasetSpec] = {
    "cora": planetoid.CORA,
    "citeseer": planetoid.CITESEER,
    "pubmed": planetoid.PUBMED,
    "computers": shchur.COMPUTERS,
    "photo": shchur.PHOTO,
    "cs": shchur.CS,
    "actor": geom_gcn.ACTOR,
    "texas": geom_gcn.TEXAS,
    "cornell": geom_gcn.CORNELL,
    "wisconsin": geom_gcn.WISCONSIN,
    "deezer-europe": deezer.DEEZER_EUROPE,
    "ogbn-arxiv": arxiv.OGBN_ARXIV,
    "digits": digits.DIGITS,
    "minesweeper": heterophilous.MINESWEEPER,
    "tolokers": heterophilous.TOLOKERS,
    "chameleon-filtered": heterophilous.CHAMELEON,
    "squirrel-filtered": heterophilous.SQUIRREL,
    "csbm": csbm.CSBM,
}


def load_dataset(name: str, *, directed: bool = False) -> Dataset:
    """A dataset by name, its files and counts checked.

    The paper says "simple undirected graph", so by default edges get both directions and lose self-loops and
    duplicates; `directed=True` keeps them exactly as stored, as the reference implementation does.
    """
    spec = lookup("dataset", name, DATASETS)
    found = locate(spec)
    graph, published = spec.load(found.root)
    check_counts(spec, graph)
    return Dataset(
        name=spec.name,
        graph=graph if directed else undirected(graph),
        metric=spec.metric,
        default_split=spec.default_split,
        directed=directed and spec.directed,
        published=published,
        files=found.files,
        caveat=spec.caveat,
    )


__all__ = [
    "DATASETS",
    "PUBLISHED",
    "SPLITS",
    "Dataset",
    "DatasetSpec",
    "Split",
    "contextual_sbm",
    "load_dataset",
    "make_splits",
    "undirected",
]
