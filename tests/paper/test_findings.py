"""docs/findings.md says what the committed results say, and its pictures show every model that was measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from gwn.paper.cell import Cell
from gwn.paper.findings import BLOCKS, FIGURES, PAGE, peers_block, rewritten, twin_block, webkb_figure
from gwn.paper.records import write_cell

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results"


def test_the_page_agrees_with_the_results() -> None:
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    assert rewritten(text, RESULTS) == text, "run: python -m gwn.paper.findings"


def test_pictures_on_the_page_are_those_that_are_drawn() -> None:
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    for make in FIGURES:
        figure = make(RESULTS)
        drawn = any(series.x for panel in figure.panels for series in panel.series)
        assert drawn == (f"images/{figure.name}.png" in text) == (ROOT / "docs/images" / f"{figure.name}.png").exists()


def test_three_peers_are_banks_of_one_step_and_of_no_other() -> None:
    _, _, *lines = peers_block(RESULTS).splitlines()
    assert len(lines) == 12
    for line in lines:
        assert ("less than 1e-12" in line) == ("1 step, tau = sqrt 2" in line)


@pytest.mark.parametrize("name", sorted(BLOCKS))
def test_without_results_nothing_is_claimed(name: str, tmp_path: Path) -> None:
    made = BLOCKS[name](tmp_path)
    assert name in ("growth", "peers") or len(made.splitlines()) <= 2
    assert "Not measured yet" in twin_block(tmp_path)


def test_what_the_graph_is_worth_says_where_labels_are_in_it(tmp_path: Path) -> None:
    runs = [
        {"split_hash": "s", "seed": seed, "status": "ok", "test": 0.8, "seconds": 1.0, "split_sizes": [9, 9, 9]}
        for seed in range(2)
    ]
    for column, labels in (("cora.per-class", "none"), ("cs.published", "masked")):
        for row in ("gwn-bank-plus", "gwn-twin"):
            record = {"metric": "accuracy", "runs": runs, "summary": {"diverged": 0}, "search": None, "settings": {}}
            seen = labels if row == "gwn-bank-plus" else "none"
            write_cell(tmp_path, Cell.of(column, row), {**record, "config": {"labels": seen}})
    _, _, plain, starred, _, told = twin_block(tmp_path).splitlines()
    assert "80.00 ± 0.00 |" in plain
    assert "\\*" not in plain
    assert starred.startswith("| CS published | 0.78 | 80.00 ± 0.00\\* | 80.00 ± 0.00 |")
    assert "labels of training nodes" in told


def test_every_measured_model_is_a_point() -> None:
    counted = {panel.title: len(panel.series[0].x) for panel in webkb_figure(RESULTS).panels}
    assert counted["Texas geom"] >= 39
    assert min(counted.values()) >= 35
