"""Where an epoch goes: the parts of a step are the step."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.epochs import PAGE, PLACES, epochs, epochs_table
from benchmarks.harness import Settings

ROOT = Path(__file__).parent.parent.parent


def test_the_parts_of_a_step_add_up() -> None:
    result = epochs(Settings(datasets=["csbm"], seconds=1e-3))
    assert [row["model"] for row in result.rows] == ["gwn-sym", "gwn-fa"]
    for row in result.rows:
        parts = [row[part] for part in (*PLACES, "head, loss, checks")]
        assert sum(parts) == pytest.approx(row["step"])
        assert min(row[part] for part in PLACES) > 0
        assert row["evaluation"] > 0
        assert row["step"] + row["evaluation"] + row["bookkeeping"] == pytest.approx(row["epoch"])
    table = epochs_table({"epochs": result.to_json()})
    assert table.startswith("| dataset | model | epoch | step | features | wave |")


def test_the_page_is_what_the_results_say() -> None:
    page = (ROOT / PAGE.path).read_text(encoding="utf-8")
    found = ROOT / PAGE.results
    assert page == PAGE.filled(page, json.loads(found.read_text())["parts"] if found.is_file() else {})
