"""`gwn stability`: does the wave grow on this graph, how fast, and up to which step length it would not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer

from gwn.cli.terminal import print_table
from gwn.errors import GWNError


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
        name, rows = _of_run(run, runs)
    else:
        assert dataset is not None
        assignments = [*settings, f"laplacian={laplacian}", f"scheme={scheme}", "allow_unstable=true"]
        name = f"{laplacian} with {scheme} on {dataset}"
        rows = _of_dynamics(dataset, directed, _numbers(tau), time, assignments)
    if as_json:
        typer.echo(json.dumps({"name": name, "rows": rows}, indent=2))
        return
    headings = ["tau", "lowest L_a", "highest", "growth/step", "steps", "amplified", "stable to", "stable"]
    print_table(headings, [_row(row) for row in rows], name, left=0)


def _of_run(run: str, runs: Path) -> tuple[str, list[dict[str, Any]]]:
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
    return name, [analyse(trained.network, data.graph).to_json()]


def _of_dynamics(
    dataset: str, directed: bool, taus: list[float], time: float, assignments: list[str]
) -> list[dict[str, Any]]:
    """A row for every step length; attention is that of an untrained network."""
    import torch

    from gwn.data import load_dataset
    from gwn.models import model_spec
    from gwn.networks import GWN
    from gwn.schemes.base import positive
    from gwn.stability import analyse
    from gwn.training.config import parse_settings

    spec = model_spec("gwn-plus")
    data = load_dataset(dataset, directed=directed)
    rows = []
    for tau in taus:
        chosen, _ = parse_settings(
            spec, [*assignments, f"tau={tau}", f"time={max(positive('time', time), positive('tau', tau))}"]
        )
        torch.manual_seed(0)
        network = spec.build(data.graph.num_features, 2, **{"hidden_channels": 8, "readout": "last", **chosen})
        assert isinstance(network, GWN)
        rows.append(analyse(network, data.graph).to_json())
    return rows


def _row(row: dict[str, Any]) -> list[str]:
    return [
        f"{row['tau']:g}",
        f"{row['low']:.4f}",
        f"{row['high']:.4f}",
        f"{row['growth']:.4f}",
        str(row["steps"]),
        "overflows" if row["amplification"] == "inf" else f"{row['amplification']:.4g}",
        {"inf": "any", 0.0: "none", None: "unknown"}.get(row["largest_tau"]) or f"{row['largest_tau']:.4f}",
        "yes" if row["stable"] else "no",
    ]


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise GWNError(f"--tau takes numbers separated by commas, such as 0.2,0.5,1; got {text!r}") from None
