"""Every part on a graph of a few hundred nodes or with an invented machine, and the page made from the report."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from io import StringIO
from pathlib import Path

import pytest
import torch

from benchmarks import growth, hundred_million, memory, outofcore, partitions, processes, speed
from benchmarks.__main__ import PARTS
from benchmarks.harness import Settings, measure_parts, report
from benchmarks.problem import arxiv_folder, uniform_graph
from benchmarks.scale_page import NOT_YET, PAGE, Shape, columns_in, killed_table, step_of_fa, step_of_sym
from benchmarks.worker import Answer, Job, main, measure_alone, measure_here
from gwn.cli.main import main as gwn_main
from gwn.distributed.process_group import ProcessGroup
from gwn.errors import GWNError

ROOT = Path(__file__).parent.parent.parent


def invented(job: Job) -> Answer:
    """Memory without a process for each figure: flat for fixed operators, a square root for attention."""
    states = 3 * job.steps**0.5 if job.model == "gwn-fa" else 1.0
    peer = 100.0 if job.model.startswith("g") and "gwn" not in job.model else 0.0
    return Answer(step_mib=20 + states + peer, process_mib=500.0, loss=1.0, trained=True)


def invented_times(job: Job, seconds: float) -> dict[str, float]:
    """In proportion to everything."""
    return dict.fromkeys(growth.MODELS, (job.edges + job.nodes) * job.width * job.steps / 1e6)


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for module in (growth, memory, speed):
        monkeypatch.setattr(module, "measure_alone", invented)
    monkeypatch.setattr(growth, "step_times", invented_times)
    monkeypatch.setattr(outofcore, "EPOCHS", {"from files": 2, "full batch": 2})
    monkeypatch.setattr(partitions, "CUTS", ((0, 1), (4, 2)))
    return Settings(work=tmp_path / "work", seconds=1e-3, shrink=5000, datasets=["csbm"])


def test_growth_along_every_axis_and_its_picture(settings: Settings, tmp_path: Path) -> None:
    result = growth.growth(replace(settings, shrink=1, large=True))
    assert [row["axis"] for row in result.rows][::2] == [axis.name for axis in growth.AXES]
    by_axis = {row["axis"]: row for row in result.rows if row["model"] == "gwn-sym"}
    assert by_axis["edges, 10 a node"]["edges"][-1] == 10_000_000
    assert by_axis["edges, 10 a node"]["nodes"][-1] == 1_000_000
    for axis in ("edges, 10 a node", "width", "steps"):
        assert by_axis[axis]["time_slope"] == pytest.approx(1)
    assert by_axis["nodes, 100,000 edges"]["time_slope"] < 1
    assert by_axis["width"]["memory_slope"] == pytest.approx(0)
    json.dumps(result.to_json(), allow_nan=False)
    growth.draw(result.rows[-2:], tmp_path / "growth.png")
    assert (tmp_path / "growth.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(GWNError, match="growth and edges"):
        growth.draw([], tmp_path / "none.png")


def test_large_graphs_and_their_page(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = processes.ProcessAnswer(one_ms=3.0, threads_ms=2.5, team_ms=2.0, rounds=2, halo_rows=100, own_rows=200)
    monkeypatch.setattr(processes, "measure_processes", lambda job, count: answer)
    names = ("arxiv", "depth", "precomputed", "edges", "partitions", "processes")
    parts = report(measure_parts({name: PARTS[name] for name in names}, settings), 1)["parts"]
    assert list(parts) == list(names)
    assert {v["what"]: v for v in parts["arxiv"]["verdicts"]}["peak memory / PyG's GCN"]["passed"]
    assert {row["model"]: row["peak_mib"] for row in parts["arxiv"]["rows"]}["gat-one-head"] == 121
    assert [row["epochs"] for row in parts["precomputed"]["rows"]] == [2, 2]
    assert [(row["dataset"], row["parts"]) for row in parts["partitions"]["rows"]] == [("csbm", 0), ("csbm", 4)]
    assert [v["passed"] for v in parts["processes"]["verdicts"]] == [True, True]
    numbers = dict.fromkeys(("seconds", "cpu_seconds", "peak_gb", "read_gb", "written_gb", *hundred_million.FLOOR), 1.5)
    facts = {"nodes": 10, "edges": 20, "features": 3, "memory": "6GB", "epochs": 5}
    parts["hundred-million"] = {"facts": facts, "rows": [{"stage": "convert", **numbers}], "verdicts": []}
    parts["bank-files"] = {"rows": [{"dataset": "cora", "network": "one bank", "mean": 0.8}], "verdicts": []}
    times = dict.fromkeys(("whole", "killed after", "then", "of the whole"), 1.5)
    parts["killed"] = {"rows": [{"stage": "train", **times, "same result": True}], "verdicts": []}
    page = PAGE.filled((ROOT / PAGE.path).read_text(encoding="utf-8"), parts)
    assert NOT_YET not in page
    assert "| gwn-sym | time of a training step / PyG's GCN |" in page


def test_ten_million_edges_go_through_the_command(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    def here(command: list[str], threads: int, log: Path) -> tuple[float, float]:
        with pytest.raises(SystemExit) as stop:
            gwn_main(command[3:])
        assert stop.value.code == 0
        return 9.0, 1.0

    monkeypatch.setattr(outofcore, "_peak", here)
    result = outofcore.ten_million(settings)
    assert result.facts["nodes"] == 200
    assert not result.verdicts[0].passed  # 9 GB


def test_a_hundred_million_edges_go_from_nothing_to_predictions(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A ten-thousandth of them, in this process; what was finished is not done again."""
    done = []

    def here(command: list[str], log: Path, threads: int) -> dict[str, float]:
        module, *arguments = command
        if module == "gwn":
            with pytest.raises(SystemExit) as stop:
                gwn_main(arguments)
            assert stop.value.code == 0
        else:
            hundred_million.run_stage(*arguments)
        done.append(arguments[0])
        return {"seconds": 1.0, "cpu_seconds": 1.0, "peak_gb": 7.0, "read_gb": 1.0, "written_gb": 1.0}

    monkeypatch.setattr(hundred_million, "_measured", here)
    small = replace(settings, shrink=5_000)
    result = hundred_million.hundred_million(small)
    assert done == ["data", "tables", "data", "propagate", "train", "predict"]
    assert [row["stage"] for row in result.rows] == ["generate", "tables", "convert", "propagate", "train", "predict"]
    assert all(row["files_left_gb"] > 0 for row in result.rows)
    assert result.facts["test_accuracy"] > 0.5
    assert not any(verdict.passed for verdict in result.verdicts)  # 7 GB
    assert hundred_million.hundred_million(small).rows == result.rows
    assert len(done) == 6

    monkeypatch.setattr(hundred_million, "_kill_after", lambda seconds, *command: done.append(f"killed {seconds}"))
    found = hundred_million.killed(small)
    assert done[6:] == ["killed 0.5", "propagate", "killed 0.5", "train"]
    assert [verdict.passed for verdict in found.verdicts] == 2 * [True, False]  # 7 GB
    assert "| propagate | 1 | 0.5 | 1 | 1.5 | yes |" in killed_table({"killed": found.to_json()})


def test_a_command_is_killed_and_one_that_ended_was_not(tmp_path: Path) -> None:
    log, sleep = tmp_path / "log", ["timeit", "-n1", "-r1", "import time; time.sleep(60)"]
    hundred_million._kill_after(1.0, sleep, log, 1)
    assert not log.with_suffix(".account").exists()  # written at the end of every command, also of a failing one
    with pytest.raises(GWNError, match="before it was killed"):
        hundred_million._kill_after(60.0, ["timeit", "-n1", "pass"], log, 1)


def test_memory_measures_what_its_verdicts_ask_for(settings: Settings) -> None:
    result = memory.steps(replace(settings, datasets=["cora", "photo", "cs"]))
    assert {row["graph"] for row in result.rows} == {"4 nodes, 20 edges", "photo", "cs", "cora"}
    assert all(row["width"] == 256 for row in result.rows if row["graph"] in ("photo", "cs"))
    assert {verdict.subject for verdict in result.verdicts} == {*memory.FLAT, "gwn-fa", "photo", "cs", "cora"}
    assert all(verdict.passed for verdict in result.verdicts)


def test_several_processes_and_one_are_timed_in_turns(settings: Settings) -> None:
    job = processes.ProcessJob(
        folder=str(arxiv_folder(settings).path), laplacian="fa", partition="contiguous", seconds=1e-3
    )
    answer = processes.measure_group(ProcessGroup(rank=0, size=1, device=torch.device("cpu")), job)
    assert answer.rounds == 2
    assert answer.halo_rows == 0  # one process owns every row
    assert answer.own_rows == 400


def test_the_page_has_every_table() -> None:
    page = (ROOT / PAGE.path).read_text(encoding="utf-8")
    assert PAGE.filled(page, {}).count(NOT_YET) == len(PAGE.tables)


def test_the_page_is_what_the_results_say() -> None:
    page = (ROOT / PAGE.path).read_text(encoding="utf-8")
    results = json.loads((ROOT / "results" / "bench" / "scale.json").read_text())
    assert page == PAGE.filled(page, results["parts"])


def test_cost_on_paper() -> None:
    one = Shape(nodes=100, arcs=900, width=8, steps=1)
    assert one.product == 1000 * (8 + 32) + 100 * 64
    assert step_of_sym(one) == 2 * one.product
    assert step_of_fa(one) > 1.5 * step_of_sym(one)
    assert columns_in(2 * 400 * 10, 100) == 10  # two states of 100 nodes, four bytes each


def test_generated_graphs_are_simple_and_always_the_same() -> None:
    graph = uniform_graph(30, 100, seed=1)
    source, target = graph.edge_index
    assert graph.num_edges == 200
    assert (source != target).all()
    assert (source * 30 + target).unique().numel() == 200
    assert graph.content_hash() == uniform_graph(30, 100, seed=1).content_hash()
    with pytest.raises(GWNError, match="ask for fewer"):
        uniform_graph(10, 40)


@pytest.mark.slow
def test_a_fresh_process_answers() -> None:
    answer = measure_alone(Job(nodes=3000, edges=6000, model="gwn-fa"))
    assert 0 < answer.step_mib < answer.process_mib
    assert answer.trained
    assert answer.loss is not None


def test_a_competitor_on_a_folder_with_all_that_it_keeps(settings: Settings) -> None:
    folder = str(arxiv_folder(settings).path)
    answer = measure_here(Job(folder=folder, model="gat-one-head", width=16, warm=False))
    assert answer.trained
    assert answer.process_mib >= answer.step_mib


def test_a_mistake_in_a_job_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", StringIO(json.dumps(asdict(Job(nodes=30, edges=60, model="gwn-none")))))
    with pytest.raises(SystemExit, match="unknown competitor 'gwn-none'"):
        main()


def test_models_take_turns_for_their_times() -> None:
    times = growth.step_times(Job(nodes=100, edges=200, width=8), seconds=1e-3)
    assert set(times) == set(growth.MODELS)
    assert all(value > 0 for value in times.values())
