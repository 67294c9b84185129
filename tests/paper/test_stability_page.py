"""`docs/stability.md`: its tables are what the command computes, and the tests it names exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gwn import GWNError
from gwn.paper.stability_page import TABLES, rewritten

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "stability.md").read_text(encoding="utf-8")


def test_the_tables_are_what_the_command_computes(data_root: Path) -> None:
    """Words exactly, numbers up to their last digit; a solve may take an iteration more on another machine."""
    written, computed = PAGE.split(), rewritten(PAGE).split()
    assert len(written) == len(computed)
    for a, b in zip(written, computed, strict=True):
        if a != b:
            x, y = float(a), float(b)  # a word that differs is no number, and fails here
            assert x == pytest.approx(y, rel=2e-4 if "." in a and "e" not in a else 0.05), (a, b)


def test_the_page_has_its_tables_filled() -> None:
    for name in TABLES:
        (table,) = re.findall(rf"stability_page \({name}\) -->\n(.*?)\n<!-- end -->", PAGE, re.DOTALL)
        assert len(table.splitlines()) > 5


def test_the_tests_it_names_exist() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    named = re.findall(r"`(test_\w+)`", PAGE)
    assert len(named) > 10
    for name in named:
        assert f"def {name}(" in sources, name
    for path in re.findall(r"`(tests/[\w/]+\.py)`", PAGE):
        assert (ROOT / path).exists(), path


def test_a_page_without_a_place_for_them_is_refused() -> None:
    with pytest.raises(GWNError, match="no place for the table 'growth'"):
        rewritten(PAGE.replace("(growth)", "(grown)"))
