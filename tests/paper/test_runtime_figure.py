"""The run-time figure from measured cells."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gwn.data import load_dataset, make_splits
from gwn.errors import GWNError
from gwn.models import model_spec
from gwn.paper.cell import OURS, ROWS, Cell
from gwn.paper.curve_data import read_figure
from gwn.paper.exhibit import Context
from gwn.paper.exhibits import runtime
from gwn.paper.exhibits.runtime import Pace, Timed, compute, compute_rest, front
from gwn.paper.records import write_cell
from gwn.paper.trained import Wanted, train
from gwn.training import Experiment, TrainConfig
from gwn.training.config import effective_settings

PACE_OF = runtime.pace_of
KEPT = Path(__file__).parents[2] / "results" / "figures"


def _run(seconds: float, test: float, status: str = "ok") -> dict[str, Any]:
    return {"status": status, "seconds": seconds, "test": test, "epochs": 40}


def _record(*runs: dict[str, Any]) -> dict[str, Any]:
    return {"runs": list(runs), "settings": {}, "training": {}}


@pytest.fixture(autouse=True)
def paces(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is timed takes a second once and a tenth of one an epoch; the timing itself has a test of its own."""
    monkeypatch.setattr(runtime, "pace_of", lambda experiment: Pace(1.0, 0.1))


def _cells(results: Path) -> None:
    for row, tau, seconds in (("gcn", None, 1.0), ("gwn-sym", None, 2.0), ("gwn-sym", 0.5, 3.0), ("gwn-sym", 0.2, 6.0)):
        cell = Cell(dataset="cora", split="per-class", row=row, tau=tau)
        runs = (_run(seconds, 0.8), _run(9 * seconds, 0.9), _run(0.0, 0.0, "diverged"))
        write_cell(results, cell, _record(*runs))
    only = Cell(dataset="texas", split="geom", row="mlp")
    write_cell(results, only, _record(_run(0.0, 0.0, "diverged")))


def test_points_are_median_seconds_and_mean_scores(tmp_path: Path) -> None:
    _cells(tmp_path)
    (data,) = compute_rest(Context(results=tmp_path))
    (panel,) = data.panels
    edge, taus, gcn, sym = panel.series
    assert (gcn.x, gcn.y, gcn.marks) == ((5.0,), (85.0,), ("GCN (1.0x)",))
    assert (sym.x, sym.marks) == ((10.0,), ("GWN-sym (2.0x)",))
    assert (taus.x, taus.marks) == ((30.0, 15.0), ("τ=0.2", "τ=0.5"))
    assert (edge.x, edge.y) == ((5.0,), (85.0,)), "as good and slower is not on the front"
    assert panel.title == "Cora per-class"
    said = "In 1 of 1 panels a wave network is the best of all models that take up to twice its time."
    assert data.caption.startswith(said), "as good is not better"


def test_the_main_panels_are_timed_anew(tmp_path: Path) -> None:
    _cells(tmp_path)
    (data,) = compute(Context(results=tmp_path))
    (panel,) = data.panels
    assert panel.series[-1].x == (5.0,), "one second once, and forty epochs"
    assert "one after the other" in data.caption
    assert data.provenance["paces"]["cora/per-class/gcn"] == {"once": 1.0, "epoch": 0.1}


def test_the_variants_of_grand_are_trained_and_timed(tmp_path: Path) -> None:
    cell = Cell(dataset="csbm", split="per-class", row="grand")
    write_cell(tmp_path, cell, _record(_run(1.0, 0.8)))
    context = Context(results=tmp_path, runs=tmp_path / "runs", quick=True)
    (data,) = compute(context)
    marks = [mark.split(" ")[0] for series in data.panels[0].series for mark in series.marks]
    assert {"GRAND-l", "GRAND-nl", "GRAND-nl-rw"} <= set(marks)
    assert [len(one["results"]) for one in data.provenance["runs"]] == [3, 3, 3]
    assert "; 3 of 3 runs each. Up" in data.caption


def test_variants_of_grand_that_are_lacking_are_named(tmp_path: Path) -> None:
    """The caption promised all three where one or two were drawn."""
    cell = Cell(dataset="csbm", split="per-class", row="grand")
    write_cell(tmp_path, cell, _record(_run(1.0, 0.8)))
    part = Context(results=tmp_path, runs=tmp_path / "runs", quick=True)
    wanted = Wanted(dataset="csbm", model="grand", settings={"variant": "linear"}, tuned_as="grand")
    train(part, wanted, 1)
    (data,) = compute(replace(part, seconds=0.0))
    assert "1 of 3 runs each, without a finished run nl on Contextual SBM, nl-rw on Contextual SBM. Up" in data.caption


def test_a_pace_is_what_a_run_does_once_and_an_epoch() -> None:
    data, spec = load_dataset("csbm"), model_spec("sgc")
    experiment = Experiment(
        dataset=data,
        model=spec,
        settings=effective_settings(spec, {}),
        config=TrainConfig(),
        splits=make_splits(data, "per-class", 1),
        origin={},
    )
    pace = PACE_OF(experiment)
    assert 0 < pace.epoch < 1
    assert pace.once >= 0


def _timed(seconds: float, score: float) -> Timed:
    return Timed(Cell(dataset="cora", split="per-class", row="gcn"), seconds, score)


def test_the_front_is_what_nothing_is_both_faster_and_better_than() -> None:
    points = [_timed(*pair) for pair in ((1, 50), (2, 70), (3, 60), (4, 70), (5, 80), (1, 40))]
    assert [(point.seconds, point.score) for point in front(points)] == [(1, 50), (2, 70), (5, 80)]


def test_the_front_is_of_all_that_is_drawn(tmp_path: Path) -> None:
    """A wave network at a fixed tau stood above and to the left of the line that nothing should."""
    _cells(tmp_path)
    fast = Cell(dataset="cora", split="per-class", row="gwn-sym", tau=2.0)
    write_cell(tmp_path, fast, _record(_run(0.5, 0.84)))
    for data in (*compute(Context(results=tmp_path)), *compute_rest(Context(results=tmp_path))):
        edge, *others = data.panels[0].series
        drawn = [(x, y) for series in others for x, y in zip(series.x, series.y, strict=True) if x and y]
        steps = list(zip(edge.x, edge.y, strict=True))
        assert set(steps) <= set(drawn)
        for x, y in drawn:
            assert any((a or 0) <= x and (b or 0) >= y for a, b in steps)
    (rest,) = compute_rest(Context(results=tmp_path))
    assert rest.panels[0].series[0].x == (0.5, 5.0)


@pytest.mark.parametrize("name", ["runtime", "runtime-rest"])
def test_no_kept_point_lies_beyond_its_front(name: str) -> None:
    for panel in read_figure(KEPT / f"{name}.json").panels:
        edge, *others = panel.series
        steps = [(a or 0.0, b or 0.0) for a, b in zip(edge.x, edge.y, strict=True)]
        for series in others:
            for x, y in zip(series.x, series.y, strict=True):
                assert any(a <= (x or 0.0) and b >= (y or 0.0) for a, b in steps), (panel.title, series.label)


def test_what_lies_too_low_for_the_panel_is_said_in_it(tmp_path: Path) -> None:
    for place, test in enumerate((0.80, 0.81, 0.82, 0.83, 0.84, 0.85, 0.86, 0.20)):
        row = [row for row in ROWS if row not in ("majority", *OURS)][place]
        write_cell(tmp_path, Cell(dataset="cora", split="per-class", row=row), _record(_run(1.0 + place, test)))
    (data,) = compute(Context(results=tmp_path))
    (panel,) = data.panels
    assert panel.note == "1 further below, from 20 %"
    assert panel.y.limits is not None
    assert 70 < panel.y.limits[0] < 80
    assert panel.y.limits[1] > 86


def test_without_cells_it_says_which_command_measures_them(tmp_path: Path) -> None:
    with pytest.raises(GWNError, match=r"no measured cell .* `gwn reproduce table-homophilic`$"):
        compute(Context(results=tmp_path))
