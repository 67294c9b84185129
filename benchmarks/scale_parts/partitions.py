"""What training on parts of the graph costs in accuracy: GWN-fa on real graphs, whole and cut by METIS."""

from __future__ import annotations

from dataclasses import asdict

from benchmarks.scale_part import PartResult, ScaleSettings
from gwn.data import load_dataset, make_splits
from gwn.errors import GWNError
from gwn.networks import GWN
from gwn.training import TrainConfig, fit, seed_everything, summarise
from gwn.training.partitions import Clusters

DATASETS = ("cora", "pubmed")
CUTS = ((0, 1), (4, 1), (8, 2), (32, 8))
"""Parts, and parts a step."""

RUNS = 5
EPOCHS, PATIENCE = 100, 20


def measure_partitions(settings: ScaleSettings, datasets: tuple[str, ...] = DATASETS, runs: int = RUNS) -> PartResult:
    """Test accuracy over the same splits and seeds, the whole graph first; no bar: it is a statement."""
    rows, notes = [], []
    for name in datasets:
        try:
            data = load_dataset(name)
        except GWNError as error:
            notes.append(f"{name} left out: {error}")
            continue
        whole = 0.0
        for parts, together in CUTS:
            settings.say(f"scale: {name}, {parts or 'no'} parts, {together} a step")
            epochs = max(2, EPOCHS // settings.shrink)
            config = TrainConfig(epochs=epochs, patience=PATIENCE, partitions=parts, partitions_per_step=together)
            scores, cut = [], 0.0
            for split in make_splits(data, "stratified", runs):
                seed_everything(split.seed)
                sizes = data.graph.num_features, 64, data.graph.num_classes
                model = GWN(*sizes, laplacian="fa", time=4.0, tau=1.0)
                scores.append(fit(model, data.graph, split, config, data.metric).test)
                if parts and not cut:
                    cut = Clusters.of(data.graph, split.train, parts, together).cut_share()
            summary = summarise(scores)
            assert summary is not None
            whole = summary.mean if parts == 0 else whole
            rows.append(
                {
                    "dataset": name,
                    "parts": parts,
                    "parts_a_step": together,
                    "edges_cut": cut,
                    "points_lost": 100 * (whole - summary.mean),
                    **asdict(summary),
                }
            )
    facts = {"model": "gwn-fa", "width": 64, "steps": 4, "split": "stratified", "runs": runs, "epochs": EPOCHS}
    return PartResult(facts=facts, rows=tuple(rows), verdicts=(), notes=tuple(notes))
