"""`gwn stability`: does the wave grow on this graph, how fast, and up to which step length it would not."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from gwn.cli.terminal import print_prose, print_table
from gwn.errors import GWNError, require_between

MOST_STEP_LENGTHS = 1000

if TYPE_CHECKING:
    from gwn.graph import Graph


def stability(
    dataset: str | None = typer.Argument(None, help="A dataset by name: see `gwn data list`."),
    tau: str = typer.Option("0.2,0.5,1,2,5", help="Step lengths, separated by commas."),
    time: float = typer.Option(10.0, help="T: the time the amplification refers to."),
    laplacian: str = typer.Option("sym", help="The operator L_a, e.g. sym, fa, physical, fa-symmetric."),
    scheme: str = typer.Option("leapfrog", help="The integrator, e.g. leapfrog, newmark, bessel, heat."),
    settings: list[str] = typer.Option([], "--set", metavar="NAME=VALUE", help="A setting of the network."),
    run: str | None = typer.Option(None, help="A trained run: its own network, with the attention it has learned."),
    runs: Path = typer.Option(Path("runs"), help="Where `gwn train` put its results."),
    directed: bool = typer.Option(False, "--directed", help="Edges as stored."),
    as_json: bool = typer.Option(False, "--json", help="Print as JSON."),
) -> None:
    """Extreme eigenvalues of L_a, growth per step, amplification over the whole run, largest stable tau.

    Examples:

      gwn stability cora --tau 0.2,0.5,1,2,5

      gwn stability cora --laplacian physical --scheme newmark

      gwn stability --run runs/cora-gwn-fa-0123456789ab
    """
    if (dataset is None) == (run is None):
        raise GWNError("name either a dataset or a trained --run")
    if run is not None:
        name, rows, graph = _of_run(run, runs)
    else:
        from gwn.data import load_dataset

        assert dataset is not None
        taus, graph = _numbers(tau), load_dataset(dataset, directed=directed).graph
        name = f"{laplacian} with {scheme} on {dataset}"
        rows = _of_dynamics(graph, taus, time, [*settings, f"laplacian={laplacian}", f"scheme={scheme}"])
    advice = [] if any(row["stable"] for row in rows) else _what_would_be_stable(rows, graph, dataset)
    if as_json:
        typer.echo(json.dumps({"name": name, "rows": rows, "advice": advice}, indent=2))
        return
    headings = ["tau", "lowest L_a", "highest", "growth/step", "steps", "amplified", "stable to", "stable"]
    print_table(headings, [_row(row) for row in rows], name, left=0)
    for line in advice:
        sentence, _, command = line.partition(": gwn ")
        print_prose(f"{sentence}:" if command else sentence)
        if command:  # whole, so that it can be copied
            typer.echo(f"  gwn {command}")


def _of_run(run: str, runs: Path) -> tuple[str, list[dict[str, Any]], Graph]:
    """The one row of a trained network, on the graph it was trained on."""
    from gwn.cli.source import reopen
    from gwn.networks import GWN
    from gwn.stability import analyse
    from gwn.training import find_run_folder, load_trained

    trained = load_trained(find_run_folder(run, runs))
    if not isinstance(trained.network, GWN):
        raise GWNError(f"{run} is a {trained.config['model']}, which has no wave; stability is for wave networks")
    data = reopen(trained.origin, None, None, None)
    name = f"{trained.config['model']} of {run}, run {trained.run.run}, on {data.name}"
    return name, [analyse(trained.network, data.graph).to_json()], data.graph


def _of_dynamics(graph: Graph, taus: list[float], time: float, assignments: list[str]) -> list[dict[str, Any]]:
    """A row for every step length; attention is that of an untrained network."""
    import torch

    from gwn.models import model_spec
    from gwn.networks import GWN
    from gwn.schemes.base import positive
    from gwn.stability import analyse
    from gwn.training.config import parse_settings

    spec = model_spec("gwn-plus")
    assignments = [*assignments, "allow_unstable=true"]
    rows = []
    for tau in taus:
        chosen, _ = parse_settings(
            spec, [*assignments, f"tau={tau}", f"time={max(positive('time', time), positive('tau', tau))}"]
        )
        torch.manual_seed(0)
        network = spec.build(graph.num_features, 2, **{"hidden_channels": 8, "readout": "last", **chosen})
        assert isinstance(network, GWN)
        rows.append(analyse(network, graph).to_json())
    return rows


def _what_would_be_stable(rows: list[dict[str, Any]], graph: Graph, dataset: str | None) -> list[str]:
    """Nothing that was asked for is stable: what is, computed on the same graph."""
    limit, taus = rows[0]["largest_tau"], [row["tau"] for row in rows]
    if isinstance(limit, float) and limit > 0:
        return [f"Every one of these step lengths is too long: nothing grows up to --tau {_below(limit)}"]
    said = []
    if limit == 0:
        said.append(f"No step length is stable: L_a has eigenvalues above 0 (up to {rows[0]['high']:.4g}), which grow.")
    physical = ["laplacian=physical", "speed=none"]
    where = f"gwn stability {dataset} --laplacian physical" if dataset else "laplacian=physical"
    (bounded,) = _of_dynamics(graph, [min(taus)], 1.0, [*physical, "scheme=leapfrog"])
    if isinstance(bounded["largest_tau"], float) and bounded["largest_tau"] > 0:
        said.append(f"Stable on this graph up to tau = {_below(bounded['largest_tau'])}: {where}")
    try:
        (any_step,) = _of_dynamics(graph, [max(taus)], 1.0, [*physical, "scheme=newmark"])
    except GWNError:
        return said
    if any_step["stable"]:
        said.append(f"Stable with any step: {where} {'--scheme newmark' if dataset else 'with scheme=newmark'}")
    return [*said, "gwn train has this operator in the model gwn-plus"]


def _below(limit: float) -> str:
    """To four decimals, never above the limit itself."""
    return f"{math.floor(limit * 1e4) / 1e4:g}"


def _row(row: dict[str, Any]) -> list[str]:
    return [
        f"{row['tau']:g}",
        f"{row['low']:.4f}",
        f"{row['high']:.4f}",
        {None: "unknown", "inf": "overflows"}.get(row["growth"]) or f"{row['growth']:.4f}",
        str(row["steps"]),
        "overflows" if row["amplification"] == "inf" else f"{row['amplification']:.4g}",
        {"inf": "any", 0.0: "none", None: "unknown"}.get(row["largest_tau"]) or f"{row['largest_tau']:.4f}",
        "yes" if row["stable"] else "no",
    ]


def _numbers(text: str) -> list[float]:
    require_between("how many step lengths --tau has", text.count(",") + 1, 1, MOST_STEP_LENGTHS)
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise GWNError(f"--tau takes numbers separated by commas, such as 0.2,0.5,1; got {text!r}") from None
