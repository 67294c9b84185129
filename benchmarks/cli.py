"""`python -m benchmarks`: speed, memory and growth, with pass or miss beside every target."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from benchmarks.scale import default_work, draw_scale, merged, run_scale
from benchmarks.scale_part import PartResult, ScaleSettings
from gwn.cli.terminal import print_table
from gwn.io import read_json, write_json
from gwn.registry import require_known


def bench_scale(
    only: str | None,
    work: Path | None,
    *,
    threads: int,
    seconds: float,
    plot: Path | None,
    out: Path | None,
    as_json: bool,
    quiet: bool,
    shrink: int = 1,
) -> None:
    """Measure, print, and write; parts that were not measured stay in `out` as they were."""
    settings = ScaleSettings(
        work=default_work() if work is None else work,
        threads=threads,
        seconds=seconds,
        shrink=shrink,
        say=(lambda line: None) if quiet else (lambda line: typer.echo(line, err=True)),
    )
    names = None if only is None else [name.strip() for name in only.split(",") if name.strip()]
    report = run_scale(names, settings)
    found = report.to_json()
    if out is not None:
        found = merged(read_json(out) if out.is_file() else None, found)
        write_json(out, found)
    if plot is not None and "edges" in found["parts"]:
        draw_scale(found["parts"]["edges"], plot)
    if as_json:
        typer.echo(json.dumps(found, indent=2, allow_nan=False))
        return
    machine = report.environment
    typer.echo(f"threads: {machine['threads']}; torch {machine['versions']['torch']}, {machine['platform']}")
    for name, part in report.parts.items():
        _print_part(name, part)
    verdicts = report.verdicts
    typer.echo(f"{sum(verdict.passed for verdict in verdicts)} of {len(verdicts)} targets reached")


def _print_part(name: str, part: PartResult) -> None:
    facts = ", ".join(f"{key.replace('_', ' ')} {readable(value)}" for key, value in part.facts.items())
    if part.rows:
        headings = [key.replace("_", " ") for key in part.rows[0]]
        print_table(headings, [[readable(value) for value in row.values()] for row in part.rows], f"{name}: {facts}")
    if part.verdicts:
        print_verdicts(part.verdicts, name)
    for note in part.notes:
        typer.echo(f"Note: {note}")


def readable(value: Any) -> str:
    """Whole numbers with commas, others to three digits."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


if TYPE_CHECKING:
    from benchmarks.growth import GrowthReport
    from benchmarks.memory import MemoryReport
    from benchmarks.speed import SpeedRow
    from benchmarks.targets import Verdict

PARTS = ("speed", "memory", "growth")


def bench(
    part: str = typer.Argument("all", help="speed, memory, growth or all of these; scale: large graphs."),
    datasets: str | None = typer.Option(None, help="Names, separated by commas. Default: those at hand."),
    threads: int = typer.Option(1, help="CPU threads for everything that is measured."),
    seconds: float = typer.Option(5.0, help="Repeat a step for so long, on each dataset."),
    large: bool = typer.Option(False, "--large", help="Growth up to ten million edges: minutes, and some 8 GB."),
    plot: Path | None = typer.Option(None, help="A picture of the growth: PNG, PDF or SVG."),
    only: str | None = typer.Option(None, help="Of scale: some parts, separated by commas. Default: all."),
    work: Path | None = typer.Option(None, help="Of scale: where generated graphs are kept. Default: the cache."),
    out: Path | None = typer.Option(None, help="A JSON file for everything that was measured."),
    as_json: bool = typer.Option(False, "--json", help="Print everything as JSON."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="No progress."),
) -> None:
    """Measure a training step against message passing, PyG's GCN and GAT, and its own raw products.

    Every figure is a ratio of two things measured in turns, in this run, on this machine.

    Examples:

      python -m benchmarks

      python -m benchmarks speed --datasets cora,texas --seconds 2

      python -m benchmarks growth --large --plot growth.png --out growth.json

      python -m benchmarks scale --only arxiv,precomputed --out scale.json
    """
    if part == "scale":
        bench_scale(only, work, threads=threads, seconds=seconds, plot=plot, out=out, as_json=as_json, quiet=quiet)
        return
    from benchmarks.run import run_benchmarks
    from gwn.io import write_json

    require_known("benchmark", part, (*PARTS, "all", "scale"))
    report = run_benchmarks(
        PARTS if part == "all" else (part,),
        datasets=None if datasets is None else [name.strip() for name in datasets.split(",") if name.strip()],
        threads=threads,
        seconds=seconds,
        large=large,
        say=(lambda line: None) if quiet else (lambda line: typer.echo(line, err=True)),
    )
    if plot is not None and report.growth is not None:
        from benchmarks.growth import draw_growth

        draw_growth(report.growth, plot)
    if out is not None:
        write_json(out, report.to_json())
    if as_json:
        typer.echo(json.dumps(report.to_json(), indent=2, allow_nan=False))
        return
    machine = report.environment
    typer.echo(f"threads: {machine['threads']}; torch {machine['versions']['torch']}, {machine['platform']}")
    if report.speed:
        _print_speed(report.speed)
    if report.memory is not None:
        _print_memory(report.memory)
    if report.growth is not None:
        _print_growth(report.growth)
    for note in report.notes:
        typer.echo(f"Note: {note}")
    verdicts = report.verdicts
    typer.echo(f"{sum(verdict.passed for verdict in verdicts)} of {len(verdicts)} targets reached")


def _print_speed(rows: Sequence[SpeedRow]) -> None:
    cases = list(rows[0].timings)
    cells = [[row.dataset, *(_short(row.timings[case].best) for case in cases)] for row in rows]
    facts = rows[0].facts
    title = f"One training step in ms: width {facts['width']}, {facts['steps']} steps (mp: message passing)"
    print_table(["dataset", *(case.replace("-", "\n") for case in cases)], cells, title)
    print_verdicts([verdict for row in rows for verdict in row.verdicts], "Speed")


def _print_memory(report: MemoryReport) -> None:
    cells = [
        [
            row.job.graph_name,
            row.job.laplacian,
            f"{row.job.steps:,}",
            str(row.job.width),
            f"{row.answer.step_mib:.1f}",
            f"{row.answer.process_mib:.0f}",
        ]
        for row in report.rows
    ]
    headings = ["graph", "laplacian", "steps", "width", "step MiB", "process MiB"]
    print_table(headings, cells, "Peak memory of one training step", left=2)
    print_verdicts(report.verdicts, "Memory")


def _print_growth(report: GrowthReport) -> None:
    cells = [
        [
            series.axis,
            series.model,
            f"{series.values[0]:,} to {series.values[-1]:,}",
            f"{_short(series.milliseconds[0])} to {_short(series.milliseconds[-1])}",
            f"{_short(series.mebibytes[0])} to {_short(series.mebibytes[-1])}",
        ]
        for series in report.series
    ]
    print_table(["axis", "laplacian", "values", "ms", "MiB"], cells, "Growth of one training step", left=2)
    print_verdicts(report.verdicts, "Growth")


def print_verdicts(verdicts: Sequence[Verdict], title: str) -> None:
    cells = [[v.subject, v.what, _short(v.value), f"{v.sign} {v.bar:g}", v.word] for v in verdicts]
    print_table(["", "target", "measured", "bar", ""], cells, f"{title}: targets", left=2)


def _short(value: Any) -> str:
    """Three significant digits."""
    number = float(value)
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"
