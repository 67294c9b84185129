"""The benchmark of tables: what it blanks, what its verdicts say, and its page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.own_tables import OwnTable
from benchmarks.tables import large_table_verdicts, own_tables_verdicts, prepare, write_large
from benchmarks.tables_page import NOT_YET, PAGE

ROW: dict[str, Any] = {
    "tables": "a",
    "blanked": 400,
    "winner": "gwn-sym",
    "reported": 0.8,
    "low": 0.78,
    "high": 0.82,
    "compare": 0.81,
    "blanked_low": 0.77,
    "blanked_high": 0.85,
    "logistic": 0.8,
    "boosted": 0.7,
    "gcn": 0.75,
}


def test_a_fifth_of_the_labels_is_blanked_and_kept_as_answers(tmp_path: Path) -> None:
    nodes = pd.DataFrame({"id": range(50), "y": [f"c{row % 2}" for row in range(50)]})
    answers = prepare(OwnTable(make=lambda: (nodes.copy(), pd.DataFrame({"a": [0], "b": [1]})), label="y"), tmp_path)
    written = pd.read_csv(tmp_path / "nodes.csv", keep_default_na=False)
    assert len(answers) == 10
    assert (written.y[answers.index] == "").all()
    assert (written.y != "").sum() == 40
    assert (answers == nodes.y[answers.index]).all()


def test_at_least_as_good_is_meant_strictly() -> None:
    assert [verdict.passed for verdict in own_tables_verdicts([ROW])] == [True, True]
    assert [verdict.passed for verdict in own_tables_verdicts([{**ROW, "compare": 0.799}])] == [False, True]
    assert [verdict.passed for verdict in own_tables_verdicts([{**ROW, "compare": 0.6}])] == [False, False]
    large = {"model": "gwn-sym", "peak_gb": 1.2, "seconds": 700.0}
    assert [verdict.passed for verdict in large_table_verdicts([large])] == [True, False]


def test_the_page_has_a_place_for_both_tables() -> None:
    page = PAGE.path.read_text(encoding="utf-8")
    assert NOT_YET in PAGE.filled(page, {})
    verdicts = [verdict.to_json() for verdict in own_tables_verdicts([ROW])]
    parts = {"own-tables": {"facts": {"time": "10m"}, "rows": [ROW], "verdicts": verdicts}}
    assert "| a | 81.0 | gwn-sym | 80.0 | 78.0 to 82.0 | 80.0 | 70.0 | 75.0 | ± 5.5 |" in PAGE.filled(page, parts)


def test_large_tables_have_the_sizes_asked_for(tmp_path: Path) -> None:
    write_large(tmp_path, 200, 900)
    nodes = pd.read_csv(tmp_path / "nodes.csv")
    assert nodes.shape == (200, 32)  # an id, thirty columns, a label
    assert len(pd.read_csv(tmp_path / "edges.csv")) == 900
