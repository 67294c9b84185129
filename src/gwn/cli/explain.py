"""`gwn explain`: which neighbours and which columns moved one prediction."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import typer

from gwn.cli.terminal import as_word, print_prose, print_table
from gwn.errors import GWNError
from gwn.html import printable
from gwn.spreadsheet import RAW_CELLS_HELP


def explain(
    run: str = typer.Argument(..., help="The folder that `gwn train` named, or its name below --runs."),
    nodes: list[str] = typer.Option(
        [], "--node", help="The node by its id, or by its number where nodes have no ids; it must be given."
    ),
    of_class: str | None = typer.Option(None, "--class", help="The class to explain. Default: the predicted one."),
    against: str | None = typer.Option(None, help="The class to compare with. Default: the strongest other one."),
    baseline: str = typer.Option("mean", help="What is known of nothing: mean of the training nodes, or zero."),
    edges: bool = typer.Option(False, "--edges", help="Also take away each edge of the node in turn, at most 100."),
    top: int = typer.Option(10, min=1, help="Print so many columns and nodes; files have all of them."),
    out: Path | None = typer.Option(None, help="A CSV file to write: every node and column with its contribution."),
    number: int | None = typer.Option(None, "--run-number", help="Which run's weights. Default: best on validation."),
    runs: Path = typer.Option(Path("runs"), help="Where `gwn train` put its results."),
    raw_cells: bool = typer.Option(False, "--raw-cells", help=RAW_CELLS_HELP),
    as_json: bool = typer.Option(False, "--json", help="Print everything as JSON."),
) -> None:
    """Say which neighbours and which columns moved a prediction, by integrated gradients.

    What is explained is the margin of the predicted class over the next one. Contributions of all features of all
    nodes add up to the difference between this margin and that of the baseline; the sum is checked and printed.

    Examples:

      gwn explain runs/mine-gwn-fa-0123456789ab --node u17

      gwn explain runs/mine-gwn-fa-0123456789ab --node u17 --class art --out explain.csv

      gwn explain runs/cora-gcn-0123456789ab --node 12 --edges --baseline zero
    """
    from gwn.cli.run import files_behind, open_run
    from gwn.explain import HEADINGS, explain_run, to_rows
    from gwn.graph import find_node
    from gwn.io import require_writable
    from gwn.registry import require_known
    from gwn.spreadsheet import require_csv_name, write_csv
    from gwn.training.predict import find_run_folder, finished_runs

    if len(nodes) > 1:
        given = " and ".join(as_word(each) for each in nodes[:5])
        raise GWNError(f"one prediction is explained at a time; got --node {given}: give one, and the command again")
    if out is not None:
        require_csv_name(out)
        require_writable(out, reading=files_behind(find_run_folder(run, runs)))
    opened = open_run(run, runs, number)
    if not nodes:
        such = as_word("0" if opened.graph.node_ids is None else opened.graph.node_ids[0])
        raise GWNError(f"no node was named; say which one's prediction to explain, for example --node {such}")
    names = opened.trained.class_names
    if opened.trained.task == "regression" and (of_class or against):
        raise GWNError("this run predicts numbers, so there is no class to explain; leave --class and --against out")
    for option in (of_class, against):
        if option is not None:
            require_known("class", option, names)
    record = explain_run(
        opened.trained,
        opened.graph,
        opened.split,
        find_node(opened.graph, nodes[0], "--node"),
        columns=opened.feature_columns(),
        target=None if of_class is None else names.index(of_class),
        rival=None if against is None else names.index(against),
        baseline=baseline,
        with_edges=edges,
    )
    opened.say_changes()
    cells = opened.cells(record["number"])
    for column in record["columns"]:
        column["value"] = cells.get(column["column"])
    if out is not None:
        written = write_csv(out, HEADINGS, to_rows(record), raw=raw_cells)
    if as_json:
        typer.echo(json.dumps(record, indent=2))
        return
    _print(record, top)
    if number is None and (count := len(finished_runs(opened.folder))) > 1:
        one = opened.trained.run.run
        print_prose(f"This is run {one}, best on validation; `gwn predict` takes the mean of {count} runs, or --best")
    if out is not None:
        print_prose(f"Written to {out}" + (f"; {written.note}" if written.note else ""))


def _print(record: dict[str, Any], top: int) -> None:
    from gwn.explain import MOST_EDGES
    from gwn.training.metrics import number_text

    number = record["probability"] is None

    def called(said: str | None) -> str:
        return "" if said is None else number_text(float(said), 6) if number else said

    def quoted(said: str) -> str:
        return called(said) if number else repr(said)

    known = "not known" if record["known"] is None else quoted(record["known"])
    sure = "" if number else f" with {100 * record['probability']:.1f} %"
    said = f"Node {record['node']}: predicted {quoted(record['predicted'])}{sure}"
    print_prose(printable(f"{said}; its {'number' if number else 'class'} is {known} ({record['part']})"))
    what = "the number" if number else f"the margin of {record['class']!r} over {record['against']!r}"
    print_prose(
        printable(
            f"Explained is {what}: {number_text(record['margin'])} here, "
            f"{number_text(record['start'])} where every node is {record['baseline']}"
        )
    )
    if record["smoothed"]:
        print_prose("This run corrects and smooths its answers; explained is what its network says before that")
    rings, difference = record["rings"], record["margin"] - record["start"]
    columns, nodes = record["columns"], record["nodes"]
    largest = max(abs(value) for value in (difference, *rings.values(), *(each["contribution"] for each in nodes)))
    decimals = max(0, 3 - math.floor(math.log10(largest or 1.0)))  # of margins about one, and of numbers of any size

    def signed(value: float) -> str:
        return f"{value:+,.{decimals}f}"

    print_prose(
        f"The difference of {signed(difference)} comes from the node itself with {signed(rings['itself'])}, from its "
        f"neighbours with {signed(rings['neighbours'])}, from farther away with {signed(rings['farther'])}"
    )
    rows = [
        [each["column"], each["value"] or "", signed(each["own"]), signed(each["others"])]
        for each in columns[: _named(columns, top)]
    ]
    if rest := columns[len(rows) :]:
        own, others = (sum(each[side] for each in rest) for side in ("own", "others"))
        rows.append([f"{len(rest)} other columns", "", signed(own), signed(others)])
    print_table(["column", "value", "this node", "other nodes"], rows, left=2)
    rows = [
        [each["node"], _hops(each["hops"]), called(each["known"]), signed(each["contribution"])]
        for each in nodes[: _named(nodes, top)]
    ]
    if rest := nodes[len(rows) :]:
        rows.append([f"{len(rest)} other nodes", "", "", signed(sum(each["contribution"] for each in rest))])
    print_table(["node", "edges away", "known", "contribution"], rows, left=3)
    if record["edges"]:
        rows = [[each["node"], signed(each["effect"])] for each in record["edges"][:top]]
        print_table(["edge to", "lost without it"], rows)
        if len(record["edges"]) == MOST_EDGES:
            print_prose(f"Edges to {MOST_EDGES} neighbours were taken away, the most that are tried; there may be more")
    print_prose(
        f"Contributions add up to {difference - record['residual']:+,.{decimals + 1}f} of "
        f"{difference:+,.{decimals + 1}f}: residual {abs(record['residual']):.1e}, at most "
        f"{100 * record['tolerance']:g} % of all contributions is allowed ({record['points']} points)"
    )


def _named(rows: list[Any], top: int) -> int:
    """How many rows have a line of their own: a single one that is left takes no more room than its sum would."""
    return len(rows) if len(rows) == top + 1 else top


def _hops(hops: int | None) -> str:
    return "no path" if hops is None else "itself" if hops == 0 else str(hops)
