"""`gwn reproduce`: an exhibit of the paper, from what was measured; what is missing is computed first."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from gwn.cli.progress import TerminalBar
from gwn.cli.terminal import parse_duration, print_table
from gwn.errors import GWNError

if TYPE_CHECKING:
    from gwn.paper.cell import Cell
    from gwn.paper.exhibit import Exhibit
    from gwn.paper.measure import Workplace
    from gwn.paper.table import TableData


def reproduce(
    exhibit: str | None = typer.Argument(None, help="An exhibit by name; without one, the list of all."),
    form: str = typer.Option("terminal", "--format", help="terminal, markdown, csv or latex."),
    out: Path | None = typer.Option(None, help="Write the tables into this folder; of a figure: the pictures."),
    results: Path = typer.Option(Path("results"), help="Folder of the measured results."),
    cells: list[str] = typer.Option([], "--cell", help="Only these cells, DATASET/SPLIT/ROW; measured where missing."),
    repeat: bool = typer.Option(False, help="Compute the final runs of --cell again and compare with the record."),
    compute_missing: bool = typer.Option(
        True, "--compute/--no-compute", help="Compute what is missing, or only print."
    ),
    everything: bool = typer.Option(False, "--all", help="Also the cells beyond: peers and every tau on large graphs."),
    jobs: int = typer.Option(1, min=1, help="Worker processes on this machine."),
    timeout: str | None = typer.Option(None, help="Begin no cell after so long: 90s, 30m, 2h."),
    storage: str | None = typer.Option(None, help="Database URL of the searches, also for several machines."),
    runs: Path = typer.Option(Path("runs"), help="Folder of the runs behind the results."),
    recompute: bool = typer.Option(False, help="Of a figure: compute its data again."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="No progress."),
) -> None:
    """Print an exhibit of the paper beside what was measured here; stopped anywhere, the same command continues.

    Examples:

      gwn reproduce                                        what there is

      gwn reproduce table-heterophilic --no-compute        from the committed results, in seconds

      gwn reproduce table-heterophilic --jobs 2            compute what is missing first

      gwn reproduce table-homophilic --format latex --out tables

      gwn reproduce figure-roots --out figures             as SVG, PDF and PNG

      gwn reproduce --cell texas/geom/gwn-fa --repeat      compute one cell again and compare
    """
    from gwn.paper.cell import Cell
    from gwn.paper.measure import Workplace
    from gwn.paper.tables import TABLES
    from gwn.registry import lookup

    place = Workplace(results=results, runs=runs, storage=storage)
    deadline = time.time() + (float("inf") if timeout is None else parse_duration("--timeout", timeout))
    if cells:
        asked = tuple(Cell.parse(name) for name in cells)
        if not repeat:
            _compute(asked, place, jobs, deadline, quiet)
        for cell in asked:
            _print_cell(cell, place, repeat)
        return
    if exhibit is None:
        _print_exhibits()
        return
    if exhibit.startswith("figure-"):
        _draw(exhibit, place, out or Path("figures"), recompute, timeout, quiet)
        return
    found: Exhibit = lookup("exhibit", exhibit, {**TABLES, **_figures()})
    if compute_missing:
        _compute((*found.cells, *(found.beyond if everything else ())), place, jobs, deadline, quiet)
    _show(found.tables(results), form, out)


def _figures() -> dict[str, Any]:
    """The figures by the names they have here."""
    from gwn.paper.figures import FIGURES

    return {f"figure-{name}": figure for name, figure in FIGURES.items()}


def _draw(name: str, place: Workplace, out: Path, recompute: bool, timeout: str | None, quiet: bool) -> None:
    """Write a figure as SVG, PDF and PNG; its data are computed where they are not among the results."""
    from gwn.paper.drawing import FORMATS, draw_figure
    from gwn.paper.figures import FigureContext, figure_data
    from gwn.paper.tables import TABLES
    from gwn.registry import lookup

    figure = lookup("exhibit", name, {**TABLES, **_figures()})
    seconds = None if timeout is None else parse_duration("--timeout", timeout)
    with TerminalBar(name, 1, "steps", quiet=quiet) as bar:
        context = FigureContext(
            runs=place.runs,
            results=place.results,
            seconds=seconds,
            say=bar.say,
            advance=lambda done, total, text: bar.phase(text, done, total),
        )
        data = figure_data(figure, context, recompute=recompute)
    for suffix in FORMATS:
        draw_figure(data, out / f"{name}.{suffix}")
        typer.echo(str(out / f"{name}.{suffix}"))


def _compute(cells: tuple[Cell, ...], place: Workplace, jobs: int, deadline: float, quiet: bool) -> None:
    from gwn.paper.runner import compute, missing

    todo = missing(cells, place)
    if not todo:
        return
    done = 0
    with TerminalBar("cells", len(todo), "cells", quiet=quiet) as bar:
        if len(todo) > 1:
            bar.say(f"{len(todo)} of {len(cells)} cells are missing and are computed now; --no-compute only prints")

        def on_cell(cell: Cell, trouble: str) -> None:
            nonlocal done
            done += 1
            bar.update(done, cell.name)
            if trouble:
                bar.say(f"{cell.name}: not measured: {trouble}")
            elif not bar.shown:
                bar.say(f"{cell.name}: measured, {done} of {len(todo)}")

        step = (lambda text: bar.update(done, text)) if bar.shown else (lambda text: None)
        compute(todo, place, jobs=jobs, deadline=deadline, on_cell=on_cell, on_step=step)


def _print_cell(cell: Cell, place: Workplace, repeat: bool) -> None:
    from gwn.paper.measure import repeat_cell
    from gwn.paper.records import cell_file, read_cell
    from gwn.paper.view import view

    if read_cell(place.results, cell) is None:
        raise GWNError(f"{cell.name} was not measured; measure it with `gwn reproduce --cell {cell.name}`")
    shown = view(place.results, cell)
    typer.echo(f"{cell.name}: {'; '.join(shown.shown().lines)}  ({cell_file(place.results, cell)})")
    if repeat:
        again = repeat_cell(cell, place)
        then, now = ([run["test"] for run in record["runs"]] for record in (shown.record or {}, again))
        if then == now:
            typer.echo("computed again: every run identical")
            return
        test, mean = shown.test, again["summary"]["test"]
        if test is None or mean is None:
            typer.echo("computed again: different, and one of the two has no finished run")
            return
        inside = test["low"] <= 100 * mean["mean"] <= test["high"]
        where = "within" if inside else "outside"
        typer.echo(f"computed again: {100 * mean['mean']:.2f}, {where} the interval (another machine or version?)")


def _print_exhibits() -> None:
    from gwn.paper.tables import TABLES

    exhibits = {**TABLES, **_figures()}
    rows = [[name, exhibit.title, exhibit.place] for name, exhibit in exhibits.items()]
    print_table(["exhibit", "what it shows", "in the paper"], rows, left=3)


def _show(tables: tuple[TableData, ...], form: str, out: Path | None) -> None:
    from gwn.io import write_atomic
    from gwn.paper.table import FORMATS, SUFFIXES
    from gwn.registry import lookup

    if form == "terminal" and out is None:
        for table in tables:
            print_table(table.columns, [["\n".join(cell.lines) for cell in row] for row in table.rows], table.title)
            typer.echo(f"{table.caption}\n")
        return
    render = lookup("format", "markdown" if form == "terminal" else form, FORMATS)
    suffix = SUFFIXES["markdown" if form == "terminal" else form]
    for table in tables:
        if out is None:
            typer.echo(render(table))
        else:
            write_atomic(out / f"{table.name}.{suffix}", render(table).encode())
            typer.echo(str(out / f"{table.name}.{suffix}"))
