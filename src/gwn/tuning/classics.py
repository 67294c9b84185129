"""What the tuned classics were published with, by dataset: networks that have such blocks begin their search there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gwn.data.catalogue import DATASETS

if TYPE_CHECKING:
    from gwn.data import Dataset


def _blocks(
    width: int, layers: int, norm: str, residual: bool, dropout: float, lr: float, weight_decay: float, **wave: str
) -> dict[str, Any]:
    shape = {"hidden_channels": width, "num_layers": layers, "norm": norm, "residual": residual}
    return {**shape, "dropout": dropout, "lr": lr, "weight_decay": weight_decay, **wave}


CLASSICS: dict[str, Mapping[str, Any]] = {
    "computers": _blocks(512, 3, "layer", False, 0.5, 0.001, 5e-5),
    "photo": _blocks(64, 6, "layer", True, 0.2, 0.001, 5e-5, laplacian="random-walk"),
    "cs": _blocks(512, 2, "layer", True, 0.5, 0.001, 5e-4, laplacian="random-walk"),
    "minesweeper": _blocks(64, 12, "batch", True, 0.2, 0.01, 0.0),
    "tolokers": _blocks(64, 6, "batch", True, 0.3, 0.01, 0.0),
    "squirrel-filtered": _blocks(256, 4, "batch", True, 0.7, 0.01, 5e-4),
    "chameleon-filtered": _blocks(512, 5, "none", False, 0.2, 0.005, 1e-3),
}
"""Luo, Shi and Wu, Classic GNNs are Strong Baselines, NeurIPS 2024: one of their GCN, GraphSAGE and GAT each. They have
no Tolokers: what stands for it are Minesweeper's blocks, fewer, with a guess at their dropout. Where it is their
GraphSAGE, a wave of one step is that over the random walk: models without a Laplacian leave it out."""


def published_settings(dataset: Dataset) -> Mapping[str, Any]:
    """Those of this graph; none for anyone's own graph that has such a name and another size."""
    known = DATASETS.get(dataset.name)
    return CLASSICS.get(dataset.name, {}) if known and known.nodes == dataset.graph.num_nodes else {}
