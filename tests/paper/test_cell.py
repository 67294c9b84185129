"""Cells, their recipes, and the paper's figures beside them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from gwn import GWNError
from gwn.models import MODELS
from gwn.paper.cell import BUDGETS, ROWS, TAUS, Cell, recipe_of
from gwn.paper.exhibits import EXHIBITS
from gwn.paper.printed import FILE, dataset_counts, elsewhere, out_of_memory, paper_value, rows_of
from gwn.paper.records import cell_file, read_cell
from gwn.training.prior import PRIORS
from gwn.tuning import SPACES

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden" / "results"
PAPER = Path(__file__).parents[3] / "shared" / "paper.tex"


def test_names_come_back_as_cells() -> None:
    for row in ("gwn-fa", "gwn-plus", "jk-net"):
        for tau in (None, *TAUS):
            for prior in PRIORS:
                cell = Cell(dataset="texas", split="geom", row=row, tau=tau, prior=prior)
                assert Cell.parse(cell.name) == cell
    assert Cell.parse("cora/per-class/gwn-sym-0.2").tau == 0.2
    assert Cell.parse("cora/per-class/gcn-em").prior == "em"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("texas/geom", "a cell is DATASET/SPLIT/ROW"),
        ("texass/geom/mlp", "did you mean 'texas'"),
        ("texas/geo/mlp", "did you mean 'geom'"),
        ("texas/geom/gwn-fe", "did you mean 'gwn-fa'"),
        ("texas/geom/gwn-fa-0.3", "unknown row"),
    ],
)
def test_a_wrong_name_is_explained(name: str, message: str) -> None:
    with pytest.raises(GWNError, match=message):
        Cell.parse(name)


def test_every_model_has_a_row_and_every_row_a_recipe() -> None:
    assert {*ROWS} == {name for name, spec in MODELS.items() if spec.kind != "baseline"}
    for dataset in BUDGETS:
        for row in ROWS:
            recipe = recipe_of(Cell(dataset=dataset, split="uniform", row=row))
            assert recipe.split == "per-class", "settings for uniform splits are those of per-class ones"
            assert recipe.space in SPACES
            assert recipe.runs == (5 if BUDGETS[dataset].short else 10)


def test_records_sealed_under_a_former_name_are_read_under_the_present_one() -> None:
    cell = Cell(dataset="texas", split="geom", row="gwn-plus")
    assert '"model": "gwn"' in cell_file(GOLDEN, cell).read_text(encoding="utf-8"), "the sealed file is as it was"
    record = read_cell(GOLDEN, cell)
    assert record is not None
    assert record["recipe"]["model"] == "gwn-plus" == recipe_of(cell).model
    assert ROWS["gwn-plus"].title == "GWN+"


@pytest.mark.parametrize("split", ["per-class", "geom", "published"])
@pytest.mark.parametrize("prior", PRIORS)
def test_one_budget_for_everybody_in_a_column(split: str, prior: str) -> None:
    for dataset in BUDGETS:
        cells = [Cell(dataset=dataset, split=split, row=row, prior=prior) for row in ROWS if row != "majority"]
        recipes = [recipe_of(cell) for cell in cells]
        plans = {
            (one.trials, one.search_splits, one.on_rows, one.finalists, one.playoff_splits, one.runs) for one in recipes
        }
        assert len(plans) == 1
        fixed = {name for one in recipes for name in one.fixed if name.startswith(("epochs", "patience"))}
        assert all(fixed <= {*one.fixed} for one in recipes)


def test_exhibits_ask_for_known_cells_once() -> None:
    for exhibit in EXHIBITS.values():
        cells = (*exhibit.cells, *exhibit.beyond)
        assert len({*cells}) == len(cells)
        for cell in cells:
            assert Cell.parse(cell.name) == cell
            recipe_of(cell)


def test_some_printed_figures() -> None:
    printed = paper_value("heterophilic", "gwn-fa", "texas.geom")
    assert printed is not None
    assert (printed.mean, printed.sd) == (92.94, 4.45)
    timed = paper_value("tau-homophilic", "gwn-fa-0.2", "cora.per-class")
    assert timed is not None
    assert (timed.mean, timed.seconds) == (89.00, 18.2)
    assert out_of_memory("tau-homophilic", "gwn-fa-0.2", "cs.per-class")
    assert paper_value("tau-homophilic", "gwn-fa-0.2", "cs.per-class") is None
    assert paper_value("homophilic", "mlp", "cora.per-class") is None
    assert dataset_counts("cora") == (2708, 5278, 1433, 7)
    assert elsewhere("wisconsin.uniform") is None
    assert elsewhere("cora.per-class") == (89.75, "ACM-GCN+", "setting with the best mean test score")


def test_rows_of_the_paper_are_rows_of_ours() -> None:
    for table in ("homophilic", "heterophilic", "base-models"):
        assert {*rows_of(table)} <= {*ROWS}
    for table in ("tau-homophilic", "tau-heterophilic"):
        for row in rows_of(table):
            assert Cell.parse(f"cora/per-class/{row}").line == row


def test_every_printed_figure_stands_in_the_paper() -> None:
    if not PAPER.exists():
        pytest.skip("the paper's source is not here")
    source = PAPER.read_text(encoding="utf-8")
    figures = re.findall(r"= \[([^\]]*)\]", FILE.read_text(encoding="utf-8").split("[elsewhere]")[0])
    assert len(figures) > 250
    for mean, *rest in (figure.split(", ") for figure in figures):
        assert mean in source, mean
        if rest and "." in rest[0]:
            assert re.search(rf"{re.escape(mean)} *(\\\(\\pm\\\)|±) *{re.escape(rest[0])}", source), (mean, rest)


def test_measured_uniform_splits_have_the_settings_that_were_chosen_on_per_class_ones() -> None:
    results, compared = ROOT / "results", 0
    for path in results.glob("cells/*/uniform/*.json"):
        cell = Cell.parse(path.relative_to(results / "cells").with_suffix("").as_posix())
        searched, measured = read_cell(results, replace(cell, split="per-class")), read_cell(results, cell)
        assert searched is not None
        assert measured is not None
        for part in ("settings", "training"):
            assert measured[part] == searched[part], f"{cell.name} has not the settings of today's search"
        compared += 1
    assert compared > 50
