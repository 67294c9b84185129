"""A dataset of one's own."""

from __future__ import annotations

from pathlib import Path

import torch

from gwn.data import DatasetSpec
from gwn.data.catalogue import Loaded
from gwn.graph import Graph

SIZE = 60


def read(root: Path, spec: DatasetSpec) -> Loaded:
    """A ring with a label for each third, which the features tell."""
    node = torch.arange(SIZE)
    label = node * 3 // SIZE
    after = torch.stack([node, (node + 1) % SIZE])
    return Graph(
        x=torch.nn.functional.one_hot(label, 3).float(), edge_index=torch.cat([after, after.flip(0)], dim=1), y=label
    ), {}


SPEC = DatasetSpec(
    name="ring-of-thirds",
    title="Ring of thirds",
    nodes=SIZE,
    edges=SIZE,
    features=3,
    classes=3,
    directed=False,
    default_split="stratified",
    kind="synthetic",
    source="a formula",
    reader="one_of_each.dataset:read",
)
