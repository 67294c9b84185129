"""`gwn demo`: the whole path on a real graph that comes with scikit-learn, in under two minutes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from gwn.cli.terminal import print_table
from gwn.errors import MOST_RUNS, GWNError, require_between, require_extra

MODELS: dict[str, dict[str, Any]] = {
    "gwn-sym": {"time": 4.0},  # neighbours are alike here, so that it pays to look further than by default
    "gwn-fa": {},
    "gcn": {},
    "mlp": {},
}


def demo(
    runs: int = typer.Option(5, help="Splits for each model."),
    out: Path = typer.Option(Path("demo"), help="Folder for results and picture."),
    as_json: bool = typer.Option(False, "--json", help="Print the results as JSON."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="No progress."),
) -> None:
    """Handwritten digits as a nearest-neighbour graph: GWN-sym, GWN-fa, a GCN and an MLP over several splits.

    1,797 images of 8 x 8 pixels, each connected to its most similar ones; no download.

    Example:  gwn demo --runs 3
    """
    from gwn.cli.progress import TrainingProgress
    from gwn.data import load_dataset, make_splits
    from gwn.models import model_spec
    from gwn.training import Experiment, TrainConfig, run_experiment
    from gwn.training.config import effective_settings

    require_between("--runs", runs, 1, MOST_RUNS)
    data = load_dataset("digits")
    config = TrainConfig()
    splits = make_splits(data, None, runs)
    results = []
    with TrainingProgress(runs * len(MODELS), config.epochs, quiet=quiet) as progress:
        for name, given in MODELS.items():
            spec = model_spec(name)
            progress.label = spec.title
            settings = effective_settings(spec, given)
            experiment = Experiment(
                dataset=data,
                model=spec,
                settings=settings,
                config=config,
                splits=splits,
                origin={"dataset": "digits", "directed": False},
            )
            # A demonstration computes: finished runs of an earlier one are not shown as if they were new.
            result, _ = run_experiment(
                experiment, out / "runs", force=True, on_progress=progress.on_epoch, on_run=progress.on_run
            )
            results.append((spec.title, result))
    title = f"Handwritten digits, {data.graph.num_nodes:,} nodes, {runs} {splits[0].kind} splits"
    picture = _draw(title, results, out / "digits.png")
    if as_json:
        typer.echo(json.dumps({"picture": picture, "results": [result for _, result in results]}, indent=2))
        return
    headings = ["model", "test accuracy %", "95 % interval", "parameters", "seconds a run"]
    print_table(headings, [_row(name, result) for name, result in results], title)
    typer.echo(f"Picture: {picture}")
    typer.echo("Next: gwn train digits --model gwn-fa --runs 3\nYour own graph: gwn train --help")


def _draw(title: str, results: Sequence[tuple[str, Mapping[str, Any]]], picture: Path) -> str:
    """The name of the picture, or why there is none: the table is worth having without it."""
    try:
        require_extra("it", "matplotlib")
    except GWNError as error:
        return f"none, {error}"
    from gwn.paper.drawing.comparison import comparison, draw_comparison

    draw_comparison(comparison(title, results), picture)
    return str(picture)


def _row(name: str, result: Mapping[str, Any]) -> list[str]:
    test, finished = result["summary"]["test"], result["summary"]["finished"]
    if test is None:
        return [name, "diverged", "-", "-", "-"]
    interval = "-" if test["low"] is None else f"{100 * test['low']:.2f} to {100 * test['high']:.2f}"
    seconds = result["summary"]["seconds"] / finished
    return [name, f"{100 * test['mean']:.2f}", interval, f"{result['runs'][0]['parameters']:,}", f"{seconds:.2f}"]
