"""README and docs/results.md say what the committed results say."""

from __future__ import annotations

from pathlib import Path

import pytest

from gwn import GWNError
from gwn.report.documents import PARTS, README, rewritten, verdicts
from gwn.report.markers import fill

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("page", sorted(PARTS), ids=str)
def test_pages_agree_with_the_results(page: Path, data_root: Path) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert rewritten(page, text, ROOT / "results") == text, "run: python -m gwn.report.documents"


def test_shipped_settings_agree_with_the_results() -> None:
    from gwn.experiments.shipped import COMMENT, settings_tables
    from gwn.settings import SHIPPED
    from gwn.settings.toml import to_toml

    for model, tables in settings_tables(ROOT / "results").items():
        written = (SHIPPED / f"{model}.toml").read_text(encoding="utf-8")
        assert written == f"# {COMMENT}\n\n" + to_toml(tables), "run: python -m gwn.experiments.shipped"


def test_without_results_nothing_is_claimed(tmp_path: Path) -> None:
    assert "none" in verdicts(tmp_path)


def test_a_page_without_its_place_is_refused() -> None:
    with pytest.raises(GWNError, match="no place for the table 'summary'"):
        rewritten(README, "nothing here")
    text = "a\n<!-- generated: me (x) -->\nold\n<!-- end -->\nb"
    assert fill(text, "me", "x", r"new \1") == "a\n<!-- generated: me (x) -->\nnew \\1\n<!-- end -->\nb"
