"""DeezerEurope: friendships between users of a music service, the task is their gender (Rozemberczki 2020)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from gwn.data.checksums import CHECKSUMS, checksums
from gwn.data.dataset import DatasetSpec, Loaded
from gwn.errors import GWNError
from gwn.graph import Graph

FILE = "DeezerEurope/raw/deezer_europe.npz"


def load(root: Path) -> Loaded:
    """Read the arrays ourselves: PyG's `DeezerEurope` allows pickles in the file, and this file is not pinned."""
    try:
        with np.load(root / FILE, allow_pickle=False) as arrays:
            x, y, edges = (torch.from_numpy(arrays[key]) for key in ("features", "target", "edges"))
    except (ValueError, KeyError, OSError) as error:
        raise GWNError(f"{FILE} in {root} is not an archive of plain arrays features, target, edges") from error
    graph = Graph(x=x.float(), edge_index=edges.long().t().contiguous(), y=y.long(), name="deezer-europe")
    return graph.compact(), {}


DEEZER_EUROPE = DatasetSpec(
    name="deezer-europe",
    title="DeezerEurope",
    nodes=28281,
    edges=92752,
    features=128,
    classes=2,
    directed=False,
    default_split="per-class",
    kind="heterophilic",
    source="Rozemberczki, Sarkar: Characteristic Functions on Graphs, CIKM 2020",
    load=load,
    files=checksums(FILE),
    urls={FILE: "https://graphmining.ai/datasets/ptg/deezer_europe.npz"},
    pinned=False,  # PyG's download has the original features, whose hash we do not know; ours has the SVD below
    caveat=f"In the file whose SHA-256 begins with {CHECKSUMS[FILE][:8]}, edges and targets are the originals and the "
    "128 features are a rank-128 SVD of the original bag of 31,241 artists: figures are not comparable to the "
    "paper's to the last digit.",
)
