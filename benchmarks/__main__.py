"""`python -m benchmarks`: every part by its name, and the command line that chooses among them."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import typer

from benchmarks import (
    bank_files,
    defaults,
    epochs,
    explorer,
    featureless,
    growth,
    hundred_million,
    labels,
    memory,
    outofcore,
    partitions,
    predictors,
    processes,
    speed,
    tables,
    together,
    wide,
)
from benchmarks.harness import Part, Result, Settings, measure_parts, print_results, read_report, report
from gwn.errors import GWNError
from gwn.io import write_json
from gwn.registry import require_known

PARTS: dict[str, Part] = {
    "speed": speed.datasets,
    "epochs": epochs.epochs,
    "together": together.together,
    "wide": wide.wide,
    "memory": memory.steps,
    "growth": growth.growth,
    "arxiv": speed.arxiv,
    "depth": memory.depth,
    "precomputed": outofcore.precomputed,
    "ten-million": outofcore.ten_million,
    "bank-files": bank_files.bank_files,
    "hundred-million": hundred_million.hundred_million,
    "killed": hundred_million.killed,
    "edges": growth.edges,
    "partitions": partitions.partitions,
    "processes": processes.processes,
    "predictors": predictors.predictors,
    "defaults": defaults.defaults,
    "labels": labels.labels,
    "explorer": explorer.explorer,
    "layouts": explorer.layouts,
    "featureless": featureless.featureless,
    "own-tables": tables.own_tables,
    "large-table": tables.large_table,
}
GROUPS = {
    "small": ("speed", "epochs", "together", "wide", "memory", "growth"),
    "scale": (
        *("arxiv", "depth", "precomputed", "ten-million", "bank-files"),
        *("hundred-million", "killed", "edges", "partitions", "processes"),
    ),
    "tables": ("own-tables", "large-table"),
    "all": tuple(PARTS),
}

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def bench(
    parts: list[str] | None = typer.Argument(None, metavar="[PART]...", help=f"{', '.join((*PARTS, *GROUPS))}."),
    only: str | None = typer.Option(None, help="Of these parts only some, separated by commas."),
    datasets: str | None = typer.Option(None, help="Names, separated by commas. Default: those at hand."),
    threads: int = typer.Option(1, help="CPU threads for everything that is measured."),
    seconds: float = typer.Option(5.0, help="Repeat a step for so long, on each graph."),
    large: bool = typer.Option(
        False, "--large", help="Growth up to ten million edges, the bank on the arxiv shape: minutes."
    ),
    shrink: int = typer.Option(1, help="Divide the sizes of generated graphs, to try a part out."),
    duration: str = typer.Option("10m", "--time", help="What `gwn compare` may take for each pair of tables."),
    pairs: str | None = typer.Option(None, "--tables", help="Of the pairs of tables only some, separated by commas."),
    work: Path | None = typer.Option(None, help="Where generated graphs are kept. Default: the cache."),
    plot: Path | None = typer.Option(None, help="A picture of growth and edges: PNG, PDF or SVG."),
    out: Path | None = typer.Option(None, help="A JSON report; parts in it that are not measured now stay."),
    as_json: bool = typer.Option(False, "--json", help="Print the report as JSON."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="No progress."),
) -> None:
    """Measure training steps against message passing, PyG's GCN and GAT, and their own raw products.

    Every figure is a ratio of two things measured in turns, in this run, on this machine. Without a PART: speed,
    epochs, together, wide, memory and growth. `scale`: the parts on large graphs, two hours and some 25 GB of disk.
    `tables`: `gwn compare` on tables, an hour. `all`: everything.

    Examples:

      python -m benchmarks

      python -m benchmarks speed --datasets cora,texas --seconds 2

      python -m benchmarks growth --large --plot growth.png --out growth.json

      python -m benchmarks scale --only arxiv,precomputed --out scale.json
    """
    chosen = chosen_parts(parts or ["small"], _names(only))
    given = {} if work is None else {"work": work}
    settings = Settings(
        datasets=_names(datasets),
        threads=threads,
        seconds=seconds,
        large=large,
        shrink=shrink,
        time=duration,
        tables=_names(pairs),
        say=(lambda line: None) if quiet else (lambda line: typer.echo(line, err=True)),
        **given,
    )
    if out is not None and out.is_file():
        read_report(out)  # a file that cannot be added to is refused before an hour is spent

    def keep(so_far: Mapping[str, Result]) -> None:
        if out is not None:  # an hour is not lost by what fails in the next one
            write_json(out, report(so_far, threads, older=out))

    found = measure_parts(chosen, settings, keep)
    data = report(found, threads) if out is None else read_report(out)  # what was written, with its date
    if plot is not None:
        growth.draw([row for name in ("growth", "edges") if name in found for row in found[name].rows], plot)
    if as_json:
        typer.echo(json.dumps(data, indent=2, allow_nan=False))
        return
    machine = data["environment"]
    typer.echo(f"threads: {machine['threads']}; torch {machine['versions']['torch']}, {machine['platform']}")
    print_results(found)


def chosen_parts(asked: list[str], only: list[str] | None) -> dict[str, Part]:
    """The parts asked for by name or as a group, or those of them in `only`, each once and in the order of `PARTS`."""
    for name in asked:
        require_known("benchmark", name, (*PARTS, *GROUPS))
    named = {part for name in asked for part in GROUPS.get(name, (name,))}
    for name in only or ():
        require_known("part", name, named)
    return {name: part for name, part in PARTS.items() if name in (named if only is None else only)}


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def main(arguments: list[str] | None = None) -> None:
    """A mistake ends with one line on standard error and code 2."""
    try:
        app(args=arguments, standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(130)
    except GWNError as error:
        sys.exit(_refused(str(error)))
    except Exception as error:
        if not hasattr(error, "format_message"):  # Typer's own usage errors have one
            raise
        sys.exit(_refused(error.format_message()))


def _refused(message: str) -> int:
    print(f"benchmarks: {' '.join(message.split())}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    main()
