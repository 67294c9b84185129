"""The stored homophily is that of the graphs."""

from __future__ import annotations

import pytest

from gwn.data import DATASETS
from gwn.data.download import on_disk
from gwn.data.homophily import homophily, measure


@pytest.mark.parametrize("name", ["csbm", "digits", "texas"])
def test_what_is_stored_is_what_is_computed(name: str) -> None:
    if not on_disk(DATASETS[name]):
        pytest.skip(f"{name} is not on this disk")
    # Of neighbours at the same distance, another scikit-learn may find others in digits.
    assert homophily()[name] == pytest.approx(measure(name), abs=1e-3)


def test_every_dataset_but_the_large_one_was_read() -> None:
    assert homophily().keys() == DATASETS.keys() - {"ogbn-arxiv"}
