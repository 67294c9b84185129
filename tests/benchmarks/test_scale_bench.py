"""`python -m benchmarks scale` on graphs a thousand times smaller, and the tables made from what it writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.cli import bench_scale
from benchmarks.scale import PARTS, curves
from benchmarks.scale_page import NOT_YET, PAGE, TABLES, Shape, columns_in, fill_page, step_of_fa, step_of_sym
from benchmarks.scale_part import ScaleJob, peak_here
from benchmarks.scale_parts import arxiv, depth, partitions
from gwn.cli.main import main

ROOT = Path(__file__).parent.parent.parent


def invented(job: ScaleJob) -> float:
    """Memory without a process for each figure."""
    return {"gwn-sym": 10.0, "gwn-fa": 20.0, "gcn": 30.0, "gat": 40.0}.get(job.case, 5.0)


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    monkeypatch.setattr(arxiv, "peak_alone", invented)
    monkeypatch.setattr(depth, "peak_alone", invented)
    monkeypatch.setattr(partitions, "DATASETS", ("csbm",))
    out = tmp_path / "scale.json"
    for only in ("arxiv,depth,edges", "precomputed"):
        bench_scale(
            only,
            tmp_path / "work",
            threads=1,
            seconds=0.01,
            plot=tmp_path / "p.png",
            out=out,
            as_json=False,
            quiet=True,
            shrink=5000,
        )
    return out


def test_report_tables_and_picture(report: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed = capsys.readouterr().out
    assert "targets reached" in printed
    parts = json.loads(report.read_text())["parts"]
    assert list(parts) == ["arxiv", "depth", "edges", "precomputed"]
    assert all(part["created"] for part in parts.values())
    verdicts = {v["what"]: v for v in parts["arxiv"]["verdicts"]}
    assert verdicts["peak memory / PyG's GCN"]["passed"]
    assert (tmp_path / "p.png").stat().st_size > 1000
    assert {axis: len(lines) for axis, lines in curves(parts["edges"]).items()} == dict.fromkeys(
        ("edges, 10 a node", "edges, 100,000 nodes", "width, 1,000,000 edges"), 2
    )
    page = fill_page((ROOT / PAGE).read_text(encoding="utf-8"), parts)
    assert page.count(NOT_YET) == 2  # partitions and processes were not measured here
    assert "| gwn-sym | time of a training step / PyG's GCN |" in page


def test_the_page_has_every_table() -> None:
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    assert fill_page(page, {}).count(NOT_YET) == len(TABLES)


def test_the_page_is_what_the_results_say() -> None:
    results = ROOT / "results" / "bench" / "scale.json"
    if not results.is_file():
        pytest.skip("not measured yet")
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    assert page == fill_page(page, json.loads(results.read_text())["parts"])


def test_peak_of_a_case(tmp_path: Path) -> None:
    from gwn.data.folders.generate import BlockModel, generate_folder

    folder = generate_folder(BlockModel(nodes=400, edges=1500, features=8, classes=3), tmp_path / "g")
    assert peak_here(ScaleJob(folder=str(folder.path), case="gat", width=16)) >= 0


def test_unknown_part_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["bench", "scale", "--only", "arxive"])
    assert stop.value.code == 2
    assert "did you mean 'arxiv'" in capsys.readouterr().err
    assert "ten-million" in PARTS


def test_cost_on_paper() -> None:
    one = Shape(nodes=100, arcs=900, width=8, steps=1)
    assert one.product == 1000 * (8 + 32) + 100 * 64
    assert step_of_sym(one) == 2 * one.product
    assert step_of_fa(one) > 1.5 * step_of_sym(one)
    assert columns_in(1600 * 10, 100) == 10
