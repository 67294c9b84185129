"""`gwn reproduce`: an exhibit of the paper, from what was measured; what is missing is computed first."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from gwn.cli.progress import TerminalBar
from gwn.cli.terminal import parse_duration, print_prose, print_table
from gwn.errors import MOST_JOBS, GWNError

if TYPE_CHECKING:
    from gwn.paper.cell import Cell
    from gwn.paper.exhibit import Exhibit, Shown
    from gwn.paper.records import Workplace


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
    jobs: int = typer.Option(1, min=1, max=MOST_JOBS, help="Worker processes on this machine."),
    timeout: str | None = typer.Option(None, help="Begin no cell or run after so long: 90s, 30m, 2h."),
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

      gwn reproduce figure-depth --recompute --jobs 2 --timeout 2h   train what it lacks for two hours

      gwn reproduce --cell texas/geom/gwn-fa --repeat      compute one cell again and compare
    """
    from gwn.io import require_writable
    from gwn.paper.cell import Cell
    from gwn.paper.exhibit import Context
    from gwn.paper.exhibits import EXHIBITS
    from gwn.paper.records import Workplace
    from gwn.paper.table import FORMATS
    from gwn.registry import lookup, require_known

    place = Workplace(results=results, runs=runs, storage=storage)
    seconds = None if timeout is None else parse_duration("--timeout", timeout)
    deadline = float("inf") if seconds is None else time.time() + seconds
    if cells:
        asked = tuple(Cell.parse(name) for name in cells)
        if compute_missing and not repeat:
            _compute(asked, place, jobs, deadline, quiet)
        for cell in asked:
            _print_cell(cell, place, repeat)
        return
    if exhibit is None:
        _print_exhibits()
        return
    found: Exhibit = lookup("exhibit", exhibit, EXHIBITS)
    require_known("format", form, ("terminal", *FORMATS))  # before anything is computed
    if out is not None:
        require_writable(out / "table")
    if not compute_missing and found.cells and not results.is_dir():
        raise GWNError(
            f"no results were found in {results.resolve()}; run this in a clone of the repository, name its folder "
            f"with --results, or leave out --no-compute to measure them here"
        )
    if compute_missing:
        _compute((*found.cells, *(found.beyond if everything else ())), place, jobs, deadline, quiet)
    with TerminalBar(exhibit, 1, "steps", quiet=quiet) as bar:
        context = Context(
            results=results,
            runs=runs,
            seconds=seconds,
            jobs=jobs,
            say=bar.say,
            advance=lambda done, total, text: bar.phase(text, done, total),
        )
        shown = found.contents(context, compute=compute_missing, recompute=recompute)
    for part in shown:
        _show(part, form, out)


def _compute(cells: tuple[Cell, ...], place: Workplace, jobs: int, deadline: float, quiet: bool) -> None:
    from gwn.paper.records import missing

    todo = missing(cells, place.results)
    if not todo:
        return
    from gwn.paper.measure import measure_missing  # needs the extra `search`

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
        measure_missing(todo, place, jobs=jobs, deadline=deadline, on_cell=on_cell, on_step=step)


def _print_cell(cell: Cell, place: Workplace, repeat: bool) -> None:
    from gwn.paper.compare import view
    from gwn.paper.records import cell_file, read_cell

    if read_cell(place.results, cell) is None:
        raise GWNError(f"{cell.name} was not measured; measure it with `gwn reproduce --cell {cell.name}`")
    shown = view(place.results, cell)
    typer.echo(f"{cell.name}: {'; '.join(shown.shown().lines)}  ({cell_file(place.results, cell)})")
    if repeat:
        from gwn.paper.measure import repeat_cell

        again = repeat_cell(cell, place)
        then, now = ((record or {})["runs"] for record in (shown.record, again))
        if _each(then, "weights_sha256") == _each(now, "weights_sha256"):
            print_prose("computed again: every run identical, to the bit of its weights")
            return
        elsewhere = _elsewhere((shown.record or {})["environment"], again["environment"])
        if _each(then, "test") == _each(now, "test"):
            print_prose(f"computed again: every test score identical, weights to rounding{elsewhere}")
            return
        test, mean = shown.test, again["summary"]["test"]
        if test is None or mean is None:
            print_prose("computed again: different, and one of the two has no finished run")
            return
        inside = test["low"] <= 100 * mean["mean"] <= test["high"]
        where = "within" if inside else "outside"
        print_prose(f"computed again: {100 * mean['mean']:.2f}, {where} the interval{elsewhere}")


def _each(runs: Sequence[Mapping[str, Any]], name: str) -> list[Any]:
    return [run[name] for run in runs]


def _elsewhere(then: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """What of the environment changed, as far as the record says."""
    old, new = ({**each["versions"], **each} for each in (then, now))
    changed = [
        f"{name} was {old[name]}, is {new[name]}"
        for name in new
        if name in old and name not in ("versions", "graph-wave-networks") and old[name] != new[name]
    ]
    unchanged = (
        "the environment is the recorded one, so the code changed" if "processor" in old else "another processor?"
    )
    return f" ({'; '.join(changed) or unchanged})"


def _print_exhibits() -> None:
    from gwn.paper.exhibits import EXHIBITS

    rows = [[name, exhibit.title, exhibit.place] for name, exhibit in EXHIBITS.items()]
    print_table(["exhibit", "what it shows", "in the paper"], rows, left=3)


def _show(shown: Shown, form: str, out: Path | None) -> None:
    """A figure as SVG, PDF and PNG, a table as text: printed, or written into the folder `out`."""
    from gwn.io import write_atomic
    from gwn.paper.curve_data import CurveData
    from gwn.paper.table import FORMATS, SUFFIXES

    if isinstance(shown, CurveData):
        from gwn.paper.drawing import FORMATS as PICTURES
        from gwn.paper.drawing import draw_figure

        for suffix in PICTURES:
            path = (out or Path("figures")) / f"figure-{shown.name}.{suffix}"
            draw_figure(shown, path)
            typer.echo(str(path))
        return
    if form == "terminal" and out is None:
        print_table(shown.columns, [["\n".join(cell.lines) for cell in row] for row in shown.rows], shown.title)
        print_prose(f"{shown.caption}\n")
        return
    form = "markdown" if form == "terminal" else form
    text = FORMATS[form](shown)
    if out is None:
        typer.echo(text)
        return
    path = out / f"{shown.name}.{SUFFIXES[form]}"
    write_atomic(path, text.encode())
    typer.echo(str(path))
