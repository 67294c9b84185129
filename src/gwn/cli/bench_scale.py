"""`gwn bench scale`: large graphs on one machine, with pass or miss beside every target."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer

from gwn.benchmarks.scale import default_work, merged, run_scale
from gwn.benchmarks.scale_part import PartResult, ScaleSettings
from gwn.benchmarks.scale_plot import draw_scale
from gwn.cli.bench import print_verdicts
from gwn.cli.tables import print_table
from gwn.training.store import read_json, write_json


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
