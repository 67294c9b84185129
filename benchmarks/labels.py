"""Known labels as input, and correct and smooth: what each gains on validation and test, pair by pair."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from benchmarks.harness import Result, Settings, Verdict
from benchmarks.training_runs import Kept, graph_named
from gwn.data import Dataset, contextual_sbm, make_splits
from gwn.models import model_spec
from gwn.training import TrainConfig, build_network, fit, paired_gain, seed_everything
from gwn.training.config import effective_settings

GRAPHS = ("minesweeper", "cora", "texas")
SYNTHETIC = "synthetic"
MODEL = "gwn-plus"
PAIRS = 5
CONFIG = TrainConfig(epochs=150, patience=40, device="cpu", threads=1)
CHOICES: dict[str, TrainConfig] = {
    "labels=masked": replace(CONFIG, labels="masked"),
    "smooth=correct": replace(CONFIG, smooth="correct"),
}


def labels(settings: Settings) -> Result:
    """One row a graph and choice; the rule of `gwn.training.paired_gain` decides on validation whether it is kept."""
    kept = Kept(settings.work / "labels-runs.json")
    names, notes = settings.at_hand(GRAPHS)
    if settings.datasets is None:
        names = [*names, SYNTHETIC, "tumours"]
    pairs = max(2, PAIRS // settings.shrink)
    rows: list[dict[str, Any]] = []
    for name in names:
        data = synthetic() if name == SYNTHETIC else graph_named(name)
        settings.say(f"labels: {name}")
        usual = [_run(kept, data, CONFIG, number) for number in range(pairs)]
        for choice, config in CHOICES.items():
            changed = [_run(kept, data, config, number) for number in range(pairs)]
            val, test = (paired_gain(_of(part, changed), _of(part, usual)) for part in ("val", "test"))
            rows.append(
                {
                    "graph": name,
                    "choice": choice,
                    "metric": data.metric,
                    "pairs": pairs,
                    "without": sum(_of("test", usual)) / pairs,
                    "kept": "kept" if val.kept else "left out",
                    "validation_gain": val.mean,
                    "validation_low": val.low,
                    "validation_high": val.high,
                    "test_gain": test.mean,
                    "test_low": test.low,
                    "test_high": test.high,
                }
            )
    verdicts = [
        Verdict(
            subject=row["graph"],
            what=f"test points that {row['choice']} gains after the choice on validation",
            value=100 * row["test_gain"] if row["kept"] == "kept" else 0.0,
            sign=">=",
            bar=0.0,
        )
        for row in rows
    ]
    facts = {"model": MODEL, "epochs": CONFIG.epochs, "interval": "95 % Student interval of the paired difference"}
    return Result(rows=rows, facts=facts, verdicts=verdicts, notes=notes)


def synthetic() -> Dataset:
    """Few and weak features, and edges that mostly join equals: where a neighbour's label says what features do not."""
    graph = contextual_sbm(nodes=4000, classes=4, features=8, degree=6.0, homophily=0.6)
    return Dataset(
        name=SYNTHETIC,
        graph=graph,
        metric="accuracy",
        default_split="stratified",
        directed=False,
        published={},
        files={},
    )


def _of(part: str, runs: list[dict[str, Any]]) -> list[float]:
    return [run[part] for run in runs]


def _run(kept: Kept, data: Dataset, config: TrainConfig, number: int) -> dict[str, Any]:
    """Split and seed `number`; with and without share both."""
    spec = model_spec(MODEL)
    settings = effective_settings(spec, {})
    described = {
        "data": data.graph.content_hash(),
        "settings": settings,
        "training": config.to_json(),
        "number": number,
    }

    def compute() -> dict[str, Any]:
        split = make_splits(data, None, number + 1)[number]
        graph = data.on(split)
        seed_everything(number)
        network = build_network(spec, settings, config, graph, split)
        fitted = fit(network, graph, split, config, data.metric)
        return {"val": fitted.val, "test": fitted.test, "epoch": fitted.best_epoch, "seconds": fitted.seconds}

    return kept.get(described, compute)
