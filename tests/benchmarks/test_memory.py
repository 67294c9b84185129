"""Memory and growth: the logic with an invented machine, and one fresh process to see that figures come back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from io import StringIO
from pathlib import Path

import pytest

from benchmarks.growth import AXES, draw_growth, growth, step_times
from benchmarks.memory import memory
from benchmarks.problem import uniform_graph
from benchmarks.worker import Answer, Job, main, measure_alone
from gwn.errors import GWNError


def invented(job: Job, *, live: bool = True) -> Answer:
    """Flat for fixed operators, a square root for the paper's attention."""
    states = 20 if job.laplacian != "fa" else 20 + 3 * job.steps**0.5
    return Answer(
        step_mib=states * max(job.nodes, 1) * job.width / 2**18,
        process_mib=5000.0 if job.dataset == "cs" else 500.0,
        loss=1.0,
        trained=True,
    )


def invented_times(jobs: Mapping[str, Job], seconds: float) -> dict[str, float]:
    """In proportion to everything."""
    return {name: (job.edges + job.nodes) * job.width * job.steps / 1e6 for name, job in jobs.items()}


def test_memory_bars() -> None:
    report = memory(["cora", "photo", "cs"], measure=invented)
    found = {(verdict.subject, verdict.bar): verdict for verdict in report.verdicts}
    assert found["sym", 10].value == pytest.approx(0)
    assert found["sym", 10].passed
    assert found["fa", 0.6].passed
    assert 0.5 <= found["fa", 0.6].value <= 0.6
    assert found["photo", 4].passed
    assert not found["cs", 4].passed
    assert ("computers", 4) not in found
    assert all(row.job.width == 256 for row in report.rows if row.job.dataset in ("photo", "cs"))
    json.dumps(report.to_json(), allow_nan=False)


def test_attention_that_keeps_every_state_is_a_miss() -> None:
    def linear(job: Job, *, live: bool = True) -> Answer:
        return replace(invented(job), step_mib=20.0 + job.steps)

    found = {verdict.subject: verdict for verdict in memory([], measure=linear).verdicts}
    assert not found["fa"].passed
    assert found["fa"].value == pytest.approx(1, abs=0.05)
    assert not found["sym"].passed


def test_growth_along_every_axis_and_its_picture(tmp_path: Path) -> None:
    report = growth(measure=invented, times=invented_times, large=True)
    assert [series.axis for series in report.series][::2] == [axis.name for axis in AXES]
    by_axis = {series.axis: series for series in report.series if series.model == "sym"}
    assert by_axis["edges, 10 a node"].values[-1] == 10_000_000
    for axis in ("edges, 10 a node", "width", "steps"):
        assert by_axis[axis].time_slope == pytest.approx(1)
    assert by_axis["nodes, 100,000 edges"].time_slope < 1
    assert all(verdict.passed for verdict in report.verdicts)
    json.dumps(report.to_json(), allow_nan=False)
    draw_growth(report, tmp_path / "growth.png")
    assert (tmp_path / "growth.png").read_bytes().startswith(b"\x89PNG")


def test_generated_graphs_are_simple_and_always_the_same() -> None:
    graph = uniform_graph(30, 100, seed=1)
    source, target = graph.edge_index
    assert graph.num_edges == 200
    assert (source != target).all()
    assert (source * 30 + target).unique().numel() == 200
    assert graph.content_hash() == uniform_graph(30, 100, seed=1).content_hash()
    with pytest.raises(GWNError, match="ask for fewer"):
        uniform_graph(10, 40)


def test_a_fresh_process_answers() -> None:
    answer = measure_alone(Job(nodes=3000, edges=6000, laplacian="fa"))
    assert 0 < answer.step_mib < answer.process_mib
    assert answer.trained
    assert answer.loss is not None


def test_a_mistake_in_a_job_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", StringIO(json.dumps(asdict(Job(nodes=30, edges=60, laplacian="none")))))
    with pytest.raises(SystemExit, match="unknown laplacian 'none'"):
        main()


def test_models_take_turns_for_their_times() -> None:
    job = Job(nodes=100, edges=200, width=8)
    times = step_times({"sym": job, "fa": replace(job, laplacian="fa")}, seconds=0.01)
    assert set(times) == {"sym", "fa"}
    assert all(value > 0 for value in times.values())
