"""The table of the campaign in the documentation."""

from __future__ import annotations

import json
from pathlib import Path

from .page import PAGE, RECORD, filled, table

CLONE = Path(__file__).parents[2]


def test_the_table_is_that_of_the_record() -> None:
    page, record = (CLONE / PAGE).read_text(encoding="utf-8"), CLONE / RECORD
    if record.is_file():
        assert filled(page, json.loads(record.read_text())) == page
    else:
        assert "There is no record of a whole one yet" in page


def test_parts_that_several_processes_shared_are_added_up() -> None:
    whole = {"attempts": 600, "violations": [], "seconds": 60.0, "done": True, "kills": 700}
    shared = {"kills 0/2": whole, "kills 1/2": {**whole, "violations": ["tune"]}, "faults 0/2": whole}
    lines = table({"parts": shared}).splitlines()
    assert lines[2:] == ["| faults | 600 | 0 | 1 | no |", "| kills | 1,200 (1,400 kills) | 1 | 2 | yes |"]
