"""What the tuned classics were published with, by dataset: networks that have such blocks begin their search there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gwn.data.catalogue import DATASETS

if TYPE_CHECKING:
    from gwn.data import Dataset


def _blocks(
    width: int, layers: int, norm: str, residual: bool, dropout: float, lr: float, weight_decay: float
) -> dict[str, Any]:
    shape = {"hidden_channels": width, "num_layers": layers, "norm": norm, "residual": residual}
    return {**shape, "dropout": dropout, "lr": lr, "weight_decay": weight_decay}


def _on_rows(*settings: Any) -> dict[str, Any]:
    """The same on row-normalised features, which their code reads of Computers, Photo and CS."""
    return {**_blocks(*settings), "row_normalize": True}


CLASSICS: dict[str, Mapping[str, Mapping[str, Any]]] = {
    "computers": {
        "gat": _on_rows(64, 2, "layer", False, 0.5, 0.001, 5e-5),
        "gcn": _on_rows(512, 3, "layer", False, 0.5, 0.001, 5e-5),
        "sage": _on_rows(64, 4, "layer", False, 0.3, 0.001, 5e-5),
    },
    "photo": {
        "sage": _on_rows(64, 6, "layer", True, 0.2, 0.001, 5e-5),
        "gat": _on_rows(64, 3, "layer", True, 0.5, 0.001, 5e-5),
        "gcn": _on_rows(256, 6, "layer", True, 0.5, 0.001, 5e-5),
    },
    "cs": {
        "sage": _on_rows(512, 2, "layer", True, 0.5, 0.001, 5e-4),
        "gat": _on_rows(256, 1, "layer", True, 0.3, 0.001, 5e-4),
        "gcn": _on_rows(512, 2, "layer", True, 0.3, 0.001, 5e-4),
    },
    "minesweeper": {
        "gcn": _blocks(64, 12, "batch", True, 0.2, 0.01, 0.0),
        "sage": _blocks(64, 15, "batch", True, 0.2, 0.01, 0.0),
        "gat": _blocks(64, 15, "batch", True, 0.2, 0.01, 0.0),
    },
    "tolokers": dict.fromkeys(("gcn", "sage", "gat"), _blocks(64, 6, "batch", True, 0.3, 0.01, 0.0)),
    "squirrel-filtered": {
        "gcn": _blocks(256, 4, "batch", True, 0.7, 0.01, 5e-4),
        "gat": _blocks(512, 7, "batch", True, 0.5, 0.005, 5e-4),
        "sage": _blocks(256, 3, "batch", True, 0.7, 0.01, 5e-4),
    },
    "chameleon-filtered": {
        "gcn": _blocks(512, 5, "none", False, 0.2, 0.005, 1e-3),
        "sage": _blocks(256, 4, "batch", True, 0.7, 0.01, 1e-3),
        "gat": _blocks(256, 2, "batch", True, 0.7, 0.01, 1e-3),
    },
}
"""Luo, Shi and Wu, Classic GNNs are Strong Baselines, NeurIPS 2024, and the commands of their code: the one with the
highest published figure first. They have no Tolokers: what stands for it are Minesweeper's blocks, fewer, with a guess
at their dropout."""


def published_settings(dataset: Dataset) -> Mapping[str, Mapping[str, Any]]:
    """Those of this graph, by convolution; none for anyone's own graph that has such a name and another size."""
    known = DATASETS.get(dataset.name)
    return CLASSICS.get(dataset.name, {}) if known and known.nodes == dataset.graph.num_nodes else {}
