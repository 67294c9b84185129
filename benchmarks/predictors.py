"""Which answer is best for nodes without a label: that of the best run, the mean of the runs, or one trained again.

A part of the labels is blanked before anything is split, so that no run, no epoch and no temperature was chosen on
them; they judge. Finished runs are kept in the work folder: the same command goes on where it was stopped.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.datasets import load_wine
from sklearn.neighbors import kneighbors_graph
from sklearn.preprocessing import scale

from benchmarks.harness import Result, Settings, Verdict
from gwn.data import Dataset, load_dataset, make_splits
from gwn.graph import Graph, undirected
from gwn.models import model_spec
from gwn.training import Experiment, TrainConfig, load_trained, refit, run_experiment, summarise
from gwn.training.config import effective_settings
from gwn.training.outputs import judge_classes
from gwn.training.predict import answers, ensemble, finished_runs

DATASETS = ("cora", "citeseer", "wisconsin", "digits")
MODEL = "gwn-sym"
SEEDS, RUNS, EPOCHS = 3, 5, 200
BLANKED = 0.3


def predictors(settings: Settings) -> Result:
    """Accuracy on blanked labels in per cent, and what the temperature does to the confidence."""
    names, notes = settings.at_hand(DATASETS)
    seeds, epochs = max(1, SEEDS // settings.shrink), max(2, EPOCHS // settings.shrink)
    rows: list[dict[str, Any]] = []
    measured: list[dict[str, float]] = []
    datasets = [load_dataset(name) for name in names]
    for data in [*datasets, wine()] if settings.datasets is None else datasets:
        of_seeds = []
        for seed in range(seeds):
            settings.say(f"predictors: {data.name}, blanked with seed {seed}")
            of_seeds.append(_measure(data, seed, epochs, settings.work))
        measured.extend(of_seeds)
        rows.append(
            {"dataset": data.name, **{key: float(np.mean([row[key] for row in of_seeds])) for key in of_seeds[0]}}
        )
    details = {}
    for way in ("ensemble", "refit"):
        found = summarise([row[way] - row["best"] for row in measured])
        assert found is not None
        details[f"{way}_minus_best"] = vars(found)
    gain = details["ensemble_minus_best"]["mean"]
    return Result(
        facts={"model": MODEL, "runs": RUNS, "blanked": BLANKED, "seeds": seeds, "epochs": epochs},
        rows=rows,
        verdicts=[
            Verdict(subject="all", what="points of the mean of runs over the best", value=gain, sign=">=", bar=0)
        ],
        notes=notes,
        details=details,
    )


def wine() -> Dataset:
    """178 wines of three makers, each joined to the five most similar ones: a small table made into a graph."""
    x, y = load_wine(return_X_y=True)
    x = scale(x)
    target, source = kneighbors_graph(x, 5).nonzero()
    graph = Graph(
        x=torch.from_numpy(x).float(),
        edge_index=torch.from_numpy(np.stack([source, target]).astype(np.int64)),
        y=torch.from_numpy(y.astype(np.int64)),
        name="wine",
    )
    return Dataset(
        name="wine",
        graph=undirected(graph),
        metric="accuracy",
        default_split="stratified",
        directed=False,
        published={},
        files={},
    )


def _measure(data: Dataset, seed: int, epochs: int, work: Path) -> dict[str, float]:
    """Accuracy of every way on labels that were blanked with this seed."""
    y = data.graph.labels
    labelled = data.graph.labelled.nonzero().flatten()
    order = torch.randperm(labelled.numel(), generator=torch.Generator().manual_seed(seed))
    judges = labelled[order[: round(BLANKED * labelled.numel())]]
    blanked = y.clone()
    blanked[judges] = -1
    names = data.graph.class_names or tuple(str(c) for c in range(data.graph.num_classes))
    hidden = replace(
        data, name=f"{data.name}-blanked-{seed}", graph=replace(data.graph, y=blanked, class_names=names), published={}
    )
    spec = model_spec(MODEL)
    experiment = Experiment(
        dataset=hidden,
        model=spec,
        settings=effective_settings(spec, {}),
        config=TrainConfig(epochs=epochs, device="cpu", threads=1),
        splits=make_splits(hidden, "stratified", RUNS, seed),
        seed=seed,
    )
    _, folder = run_experiment(experiment, work / "predictors")

    def right(found: np.ndarray) -> float:
        return 100 * float((found[judges.numpy()].argmax(1) == y[judges].numpy()).mean())

    best = load_trained(folder)
    raw = torch.from_numpy(answers(best, hidden.graph, calibrated=False)[judges.numpy()]).clamp_min(1e-300).log()
    judged = judge_classes(raw, y[judges], best.run.temperature or 1.0)
    of_runs = [right(answers(load_trained(folder, run.run), hidden.graph)) for run in finished_runs(folder)]
    _, mean, _ = ensemble(folder, lambda origin: hidden, same=True)
    again = refit(folder, hidden)
    return {
        "best": right(answers(best, hidden.graph)),
        "a_run": float(np.mean(of_runs)),
        "ensemble": right(mean),
        "refit": right(answers(again, hidden.graph)),
        "log_loss_before": judged["log_loss_uncalibrated"],
        "log_loss": judged["log_loss"],
        "calibration_error_before": 100 * judged["calibration_error_uncalibrated"],
        "calibration_error": 100 * judged["calibration_error"],
    }
