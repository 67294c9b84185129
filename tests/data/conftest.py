"""A cache of its own for the data tests, a network that is never there, and datasets that are loaded once."""

from __future__ import annotations

import os
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from gwn.data import Dataset, load_dataset


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Nothing is read from or left in the cache of whoever runs the tests."""
    folder = tmp_path_factory.mktemp("cache")
    before = os.environ.get("GWN_CACHE")
    os.environ["GWN_CACHE"] = str(folder)
    yield folder
    if before is None:
        del os.environ["GWN_CACHE"]
    else:
        os.environ["GWN_CACHE"] = before


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(url: str, **options: Any) -> Any:
        raise urllib.error.URLError("no network in tests")

    monkeypatch.setattr(urllib.request, "urlopen", refuse)


@pytest.fixture(scope="session")
def dataset(data_root: Path) -> Callable[..., Dataset]:
    """`load_dataset`, each dataset once."""
    return cache(load_dataset)
