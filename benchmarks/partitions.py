"""What training on parts of the graph costs in accuracy: GWN-fa on real graphs, whole and cut by METIS."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from benchmarks.harness import Result, Settings
from gwn.data import load_dataset, make_splits
from gwn.networks import GWN
from gwn.training import TrainConfig, fit, seed_everything, summarise
from gwn.training.partitions import Clusters

DATASETS = ("cora", "pubmed")
CUTS = ((0, 1), (4, 1), (8, 2), (32, 8))
"""Parts, and parts a step."""

RUNS = 5
EPOCHS, PATIENCE = 100, 20
WIDTH, STEPS = 64, 4


def partitions(settings: Settings) -> Result:
    """Test accuracy over the same splits and seeds, the whole graph first; no bar: it is a statement."""
    names, notes = settings.at_hand(DATASETS)
    runs, epochs = max(1, RUNS // settings.shrink), max(2, EPOCHS // settings.shrink)
    rows: list[dict[str, Any]] = []
    for name in names:
        data = load_dataset(name)
        whole = 0.0
        for parts, a_step in CUTS:
            settings.say(f"partitions: {name}, {parts or 'no'} parts, {a_step} a step")
            config = TrainConfig(epochs=epochs, patience=PATIENCE, partitions=parts, partitions_per_step=a_step)
            scores, cut = [], 0.0
            for split in make_splits(data, "stratified", runs):
                seed_everything(split.seed)
                sizes = data.graph.num_features, WIDTH, data.graph.num_classes
                model = GWN(*sizes, laplacian="fa", time=float(STEPS), tau=1.0)
                scores.append(fit(model, data.graph, split, config, data.metric).test)
                if parts and not cut:
                    cut = Clusters.of(data.graph, split.train, parts, a_step).cut_share()
            summary = summarise(scores)
            assert summary is not None
            whole = summary.mean if parts == 0 else whole
            row = {"dataset": name, "parts": parts, "parts_a_step": a_step, "edges_cut": cut}
            rows.append({**row, "points_lost": 100 * (whole - summary.mean), **asdict(summary)})
    facts = {"model": "gwn-fa", "width": WIDTH, "steps": STEPS, "split": "stratified", "runs": runs, "epochs": epochs}
    return Result(facts=facts, rows=rows, notes=notes)
