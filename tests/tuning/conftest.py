"""A small search in a folder of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gwn.tuning import Search, SearchJob, plan_search
from gwn.tuning.storage import default_url

MakeSearch = Callable[..., Search]
MakeJob = Callable[..., SearchJob]


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def make_search() -> MakeSearch:
    def make(*assignments: str, model: str = "gwn-sym", **given: Any) -> Search:
        fixed = ("epochs=3", "hidden_channels=8", *assignments)
        return plan_search("csbm", model, **{"search_splits": 2, "assignments": fixed, **given})

    return make


@pytest.fixture
def make_job() -> MakeJob:
    def make(search: Search, trials: int, **given: Any) -> SearchJob:
        name = given.pop("name", search.plan.name)
        return SearchJob(plan=search.plan, url=default_url(name), name=name, trials=trials, **given)

    return make
