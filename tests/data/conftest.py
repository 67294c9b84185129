"""A cache of its own for the data tests, a network that is never there, and datasets that are loaded once."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from gwn.data import Dataset, load_dataset


@pytest.fixture(scope="session")
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all data tests: what one has read, the next one finds."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def own_cache(cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing is read from or left in the cache of whoever runs the tests, or of other tests."""
    monkeypatch.setenv("GWN_CACHE", str(cache_folder))
    return cache_folder


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(url: str, **options: Any) -> Any:
        raise urllib.error.URLError("no network in tests")

    monkeypatch.setattr(urllib.request, "urlopen", refuse)


@pytest.fixture(scope="session")
def dataset(data_root: Path) -> Callable[..., Dataset]:
    """`load_dataset`, each dataset once."""
    return cache(load_dataset)
