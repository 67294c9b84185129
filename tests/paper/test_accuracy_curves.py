"""Accuracy over depth and over tau: intervals, divergence, the best peer, and captions that say what was measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gwn.io import read_toml, write_toml
from gwn.paper.accuracy_curve import accuracy_series, best_peer, peer_line, runs_a_point
from gwn.paper.cell import TAUS, Cell
from gwn.paper.curve_data import Axis, CurveData, Panel, Series, read_figure, write_figure
from gwn.paper.exhibit import Context, figure_path, silent
from gwn.paper.exhibits import depth, small_graph, stability
from gwn.paper.records import write_cell
from gwn.paper.trained import Recorded, Trained, Wanted, experiment_of, train_missing, trained_so_far
from gwn.settings import SHIPPED
from gwn.training import RunResult


def _run(test: float | None) -> RunResult:
    status = "diverged" if test is None else "ok"
    return RunResult(run=0, seed=0, split_hash="", split_sizes=(1, 1, 100), status=status, test=test)


def _panel(**curves: dict[float, float | None]) -> Panel:
    series = tuple(
        Series(
            label=key,
            key=key.replace("_", "-"),
            x=tuple(points),
            y=tuple(points.values()),
            low=tuple(points.values()),
            marks=tuple("diverged" if y is None else "" for y in points.values()),
        )
        for key, points in curves.items()
    )
    return Panel(title="", kind="lines", x=Axis(label="x"), y=Axis(label="y"), series=series)


def test_a_curve_has_means_intervals_and_what_diverged() -> None:
    points = [
        (2.0, [_run(0.8), _run(0.9), _run(0.85)]),
        (4.0, [_run(None), _run(0.7)]),
        (8.0, [_run(None), _run(None)]),
    ]
    curve = accuracy_series("GCN", "gcn", points)
    assert curve.y[0] == pytest.approx(85.0)
    assert curve.y[1:] == (70.0, None)
    assert curve.low[0] is not None
    assert curve.low[0] < 80 < 90 < (curve.high[0] or 0)
    assert accuracy_series("GCN", "gcn", [(2.0, [_run(0.8), _run(0.9)])]).low == (None,), "two runs tell too little"
    assert curve.low[1:] == (None, None)
    assert curve.marks == ("", "1 of 2 diverged", "diverged")
    assert runs_a_point(runs for _, runs in points[1:]) == "2 runs"
    assert runs_a_point([[_run(0.1)], [_run(0.1)] * 3]) == "1 to 3 runs"


def _cell(results: Path, row: str, mean: float, tau: float | None = None, **more: Any) -> None:
    summary = {"test": {"mean": mean, "sd": 0.01, "low": mean, "high": mean}, "diverged": 0}
    run = _run(mean).to_json()
    record = {"summary": summary, "runs": [run] * 3, "search": None, **more}
    write_cell(results, Cell(dataset="texas", split="geom", row=row, tau=tau), record)


def test_the_best_peer_is_no_network_of_ours_and_not_the_majority(tmp_path: Path) -> None:
    assert best_peer(tmp_path, "texas", "geom") is None
    ours = ("gwn-fa", "gwn-twin", "gwn-bank", "gwn-heat")
    for row, mean in (("gcn", 0.7), ("gat", 0.75), ("majority", 0.99), *((row, 0.9) for row in ours)):
        _cell(tmp_path, row, mean)
    peer = best_peer(tmp_path, "texas", "geom")
    assert peer is not None
    assert (peer.title, peer.among) == ("GAT", 2)
    line = peer_line(peer, TAUS)
    assert line.x == (TAUS[0], TAUS[-1])
    assert line.y == (75.0, 75.0)
    assert line.marks[-1] == "GAT 75.0"


def test_stability_speaks_of_peers_where_there_are_any() -> None:
    alone = stability.finding({"Texas": _panel(gwn_fa={tau: 80.0 + tau for tau in TAUS})})
    assert alone == "Between tau = 0.2 and 5 GWN-fa's accuracy changes by 4.8 points (Texas). "


def test_a_figure_has_settings_that_ship_and_none_of_this_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = Wanted(dataset="texas", model="mlp", settings={}, tuned_as="mlp")
    shipped = experiment_of(Context(results=tmp_path), wanted, 1)
    monkeypatch.chdir(tmp_path)
    own = read_toml(SHIPPED / "mlp.toml")
    own["texas"]["geom"]["settings"]["hidden_channels"] += 1
    write_toml(tmp_path / "settings" / "mlp.toml", own)
    assert experiment_of(Context(results=tmp_path), wanted, 1).settings == shipped.settings


def test_depth_says_who_loses_how_much_and_who_diverges() -> None:
    cora = _panel(gwn_sym={2: 87.0, 64: None}, gwn_sym_rescaled={2: 87.0, 4: 88.0, 64: 86.5}, gcn={2: 88.0, 64: 40.0})
    said = depth.finding({"Cora": cora, "CiteSeer": _panel(gcn={2: 70.0, 64: 50.0})})
    assert said == (
        "From its best depth to 64 layers GWN-sym diverges on Cora; GWN-sym, rescaled loses 1.5 points on Cora; "
        "GCN loses 20.0 to 48.0 points on Cora and CiteSeer. "
    )
    few = replace(cora, series=tuple(replace(series, low=(None,) * len(series.x)) for series in cora.series))
    assert depth.finding({"Cora": few}) == "", "of one run nothing is said, not even that it diverged"
    (gcn,) = _panel(gcn={2: 88.0, 64: 40.0}).series
    some = replace(cora, series=(replace(gcn, marks=("", "2 of 5 diverged")),))
    assert "loses 48.0 points on Cora in the runs that finish" in depth.finding({"Cora": some})
    assert depth.finding({"Cora": _panel(gcn={2: 88.0, 8: 80.0})}) == "", "nobody was measured so deep"


@pytest.mark.parametrize(("name", "finding"), [("depth", depth.finding), ("stability", stability.finding)])
def test_the_first_sentence_of_a_kept_figure_is_true_of_its_curves(
    name: str, finding: Callable[[dict[str, Panel]], str]
) -> None:
    data = read_figure(Path(__file__).parents[2] / "results" / "figures" / f"{name}.json")
    assert data.caption.startswith(finding({p.title.split(",")[0]: p for p in data.panels if p.y.unit == "%"}))


def test_depth_goes_through_everything_and_cheap_points_first() -> None:
    plan = depth.points(depth.DATASETS, depth.BEYOND[-1])
    assert {point.depth for point in plan if point.model.key == "gwn-fa"} == {*depth.DEPTHS, *depth.BEYOND}
    assert {point.depth for point in plan if point.model.key == "gcn"} == {*depth.DEPTHS}
    order = depth.in_order(plan, 3)
    assert len(order) == 3 * len(plan)
    for point in plan:
        assert [number for one, number in order if one == point] == [1, 2, 3], "the second run after the first"
    assert order[0][0].dataset == "cora"
    assert order[-1][0].dataset == "pubmed"
    missing = dict.fromkeys(plan, 0)
    said = depth.not_measured({**missing, plan[0]: 2}, 3)
    assert "Cora: some models at 2, 4, 8, 16, 32, 64, 128, 256 layers" in said
    assert "the last of 3 runs of 1 points" in said
    assert depth.not_measured({}, 3) == ""


def test_stability_speaks_of_crosses_where_there_are_any() -> None:
    """They were explained below panels that had none."""
    axis = Axis(label="")
    peer = Series(label="best peer", key="best-peer", x=(1.0, 2.0), y=(1.0, 1.0), marks=("", "GCN 89.0"))
    fine = Panel(title="", kind="lines", x=axis, y=axis, series=(peer,))
    assert stability.crosses([fine]) == ""
    lost = replace(peer, key="gwn-sym", y=(1.0, None), marks=("", "diverged"))
    assert "Crosses below" in stability.crosses([fine, replace(fine, series=(lost,))])


def test_stability_takes_the_cells_of_every_tau_where_they_are(tmp_path: Path, context: Context) -> None:
    """And says that these were tuned at each tau; what is not there is named."""
    for tau in TAUS:
        _cell(tmp_path, "gwn-sym", 0.7 + tau / 100, tau)
    _cell(tmp_path, "gcn", 0.72)
    without_time = Context(results=tmp_path, runs=tmp_path / "runs", seconds=-1.0, load=context.load)
    (data,) = stability.compute(without_time)
    (panel,) = data.panels
    series = {one.key: one for one in panel.series}
    assert series["gwn-sym"].y == (70.2, 70.5, 71.0, 72.0, 75.0)
    assert series["best-peer"].y == (72.0, 72.0)
    assert data.caption.startswith(
        "Between tau = 0.2 and 5 GWN-sym's accuracy changes by 4.8 points (Texas) and reaches the best "
        "peer on 1 of 1 datasets."
    )
    assert "GWN-sym and GWN-fa: tuned at each tau." in data.caption
    assert "Not measured yet: Cornell," in data.caption
    assert "some points of Texas" in data.caption
    assert {"cell": "texas/geom/gwn-sym-0.2"} in data.provenance["runs"]


def test_points_that_were_not_tuned_at_their_tau_are_named() -> None:
    computers = [point for point in stability.points(["computers"]) if point.model.key in ("gwn-sym", "gwn-fa")]
    few = [point for point in computers if point.model.key == "gwn-fa" and point.tau < 1]
    found = {point: stability.Measured((), {} if point in few else {"cell": "its own"}) for point in computers}
    assert stability.how_tuned(found) == (
        "GWN-sym and GWN-fa: tuned at each tau, but for GWN-fa on Computers at 0.2 and 0.5, tuned once. "
    )
    once = {point: stability.Measured((), {}) for point in computers}
    assert stability.how_tuned(once) == "GWN-sym and GWN-fa: tuned once, then tau changed. "


def test_a_panel_needs_a_curve() -> None:
    plan = stability.points(["texas"])
    sym = [point for point in plan if point.model.key == "gwn-sym"]
    assert [point.tau for point in sym] == list(TAUS)
    assert stability.is_curve(sym[:3])
    assert not stability.is_curve([*sym[:2], *(point for point in plan if point.model.key == "gwn-fa")][:4])


def test_waves_add_up_and_the_wave_gets_further_than_heat() -> None:
    graph = small_graph.hexagon()
    assert (len(graph.places), len(graph.edges)) == (91, 240)
    panels, said = small_graph.superposition(graph)
    first, second, rest, whole = (panel.series[1].z for panel in panels)
    total = [sum(value or 0.0 for value in part) for part in zip(first, second, rest, strict=True)]
    assert total == pytest.approx([value or 0.0 for value in whole], abs=2e-3)
    assert "eigenvector waves carry" in said
    panels, said = small_graph.mechanism(graph)
    assert len(panels) == 2 * len(small_graph.FRAMES)
    waves, heat = ([panel.series[1].z for panel in part] for part in (panels[:4], panels[4:]))
    assert waves[0] == heat[0]
    assert min(value or 0.0 for value in waves[1]) < -0.1, "behind the crest a wave swings below zero"
    assert min(value or 0.0 for value in heat[-1]) >= 0.0, "heat never does"
    assert "the crest of the wave is" in said


def test_runs_of_the_last_record_are_not_trained_again(tmp_path: Path, data_root: Path) -> None:
    """On another machine, where no run is on the disk: only what the record lacks is trained, to what the first has."""
    wanted = Wanted(dataset="texas", model="mlp", settings={}, tuned_as="mlp", training={"epochs": 3, "patience": 3})
    first, second = (Context(results=tmp_path / "results", runs=tmp_path / name) for name in ("first", "second"))

    def work(runs: int) -> list[tuple[str, Wanted, int]]:
        return [("texas", wanted, number) for number in range(1, runs + 1)]

    def write(trained: Trained) -> None:
        panel = Panel(title="", kind="lines", x=Axis(label=""), y=Axis(label=""), series=())
        point = {**trained.describe(), "notes": {"energy": 0.5}}
        write_figure(
            CurveData(name="depth", title="", place="", caption="", panels=(panel,), provenance={"runs": [point]}),
            figure_path("figure-depth", first.results),
        )

    train_missing(first, "figure-depth", work(2))
    there = trained_so_far(first, "figure-depth", [("it", wanted, 5)])["it"]
    write(there)
    train_missing(second, "figure-depth", work(3))
    (folder,) = second.runs.iterdir()
    assert [path.name for path in sorted(folder.glob("run-*.json"))] == ["run-02.json"]
    found = trained_so_far(second, "figure-depth", [("it", wanted, 5)])["it"]
    assert [run.run for run in found.runs] == [0, 1, 2]
    assert [run.test for run in found.runs[:2]] == [run.test for run in there.runs]
    assert found.notes == {"energy": 0.5}
    assert depth._energy(found) == 0.5
    train_missing(first, "figure-depth", work(3))
    assert trained_so_far(first, "figure-depth", [("it", wanted, 5)])["it"].runs[2].test == found.runs[2].test


@pytest.mark.slow
def test_runs_in_several_processes_are_those_of_one(tmp_path: Path, data_root: Path) -> None:
    wanted = Wanted(dataset="texas", model="mlp", settings={}, tuned_as="mlp", training={"epochs": 3, "patience": 3})
    said: list[str] = []
    contexts = [
        Context(results=tmp_path, runs=tmp_path / str(jobs), jobs=jobs, say=said.append if jobs == 2 else silent)
        for jobs in (1, 2)
    ]
    for context in contexts:
        train_missing(context, "figure-depth", [("texas", wanted, number) for number in (1, 2, 3)])
    alone, together = (trained_so_far(context, "figure-depth", [("it", wanted, 5)])["it"] for context in contexts)
    assert [run.weights_sha256 for run in together.runs] == [run.weights_sha256 for run in alone.runs]
    assert sorted(line.split(":")[0] for line in said) == ["texas, run 1", "texas, run 2", "texas, run 3"]


def test_a_damaged_record_is_computed_without(tmp_path: Path) -> None:
    path = figure_path("figure-depth", tmp_path)
    path.parent.mkdir()
    path.write_text("{")
    said: list[str] = []
    assert Recorded(Context(results=tmp_path, say=said.append), "figure-depth").points == {}
    assert "was cut or edited" in said[0]
