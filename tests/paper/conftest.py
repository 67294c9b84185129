"""A context for exhibits in which every dataset is the same toy graph."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from graphs import toy_dataset, toy_graph
from gwn.data import Dataset
from gwn.paper.exhibit import Context

TOY = toy_dataset(toy_graph(nodes=60, classes=3))


def toy(name: str) -> Dataset:
    return replace(TOY, name=name)


@pytest.fixture(scope="session")
def context(tmp_path_factory: pytest.TempPathFactory) -> Context:
    """One folder of runs for all tests: what one figure trained, the next one finds."""
    root: Path = tmp_path_factory.mktemp("figures")
    return Context(runs=root / "runs", results=root / "results", quick=True, load=toy)
