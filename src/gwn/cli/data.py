"""`gwn data`: which graphs there are, what is in them, and whether their files are the right ones."""

from __future__ import annotations

import json
from typing import Any

import typer

from gwn.cli import data_large
from gwn.cli.tables import print_table
from gwn.errors import GWNError
from gwn.registry import require_known

app = typer.Typer(help="List, describe, verify, generate, convert.", no_args_is_help=True, rich_markup_mode=None)
app.command("generate")(data_large.generate)
app.command("convert")(data_large.convert)


@app.command("list")
def list_datasets(as_json: bool = typer.Option(False, "--json", help="Print as JSON.")) -> None:
    """The datasets by name, with the paper's counts.

    Example:  gwn data list
    """
    from gwn.data import DATASETS

    columns = ("name", "nodes", "edges", "features", "classes", "default_split", "metric", "kind")
    rows = [{column: getattr(spec, column) for column in columns} for spec in DATASETS.values()]
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return
    shown = [column for column in columns if column not in ("kind", "metric")]
    cells = [[f"{row[c]:,}" if isinstance(row[c], int) else str(row[c]) for c in shown] for row in rows]
    print_table([column.replace("_", " ") for column in shown], cells)


@app.command("info")
def info(
    name: str = typer.Argument(..., help="A dataset, or a graph folder."),
    directed: bool = typer.Option(False, "--directed", help="Edges as stored."),
    as_json: bool = typer.Option(False, "--json", help="Print as JSON."),
) -> None:
    """Load one dataset and describe it: counts, homophily, classes, splits, caveats.

    Example:  gwn data info texas --directed
    """
    from gwn.cli.source import by_name
    from gwn.data.describe import describe

    facts = describe(by_name(name, directed))
    if as_json:
        typer.echo(json.dumps(facts, indent=2))
        return
    facts["files"] = f"{len(facts['files'])} files, hashes checked"
    print_table(["", ""], [[key.replace("_", " "), _readable(value)] for key, value in facts.items()], left=2)


@app.command("verify")
def verify(
    names: list[str] = typer.Argument(None, help="Datasets; all when none is named."),
    as_json: bool = typer.Option(False, "--json", help="Print as JSON."),
) -> None:
    """Check that every file is there and is the published one, by its SHA-256, without opening it.

    Example:  gwn data verify cora pubmed
    """
    from gwn.data import DATASETS
    from gwn.data.verify import verify as verify_files

    for name in names or ():
        require_known("dataset", name, DATASETS)
    rows = [(name, file, status) for name in names or DATASETS for file, status in verify_files(name)]
    if as_json:
        typer.echo(json.dumps([dict(zip(("dataset", "file", "status"), row, strict=True)) for row in rows], indent=2))
    else:
        print_table(["dataset", "file", "status"], rows, left=3)
    changed = sum(status == "changed" for _, _, status in rows)
    if changed:
        raise GWNError(f"{changed} of {len(rows)} files are not the published ones; delete them to download them again")


def _readable(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_readable(item)}" for key, item in value.items())
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
