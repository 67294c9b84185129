"""ogbn-arxiv from OGB's official archive: plain CSV files, read directly (Hu et al. 2020).

The `ogb` package opens pickles on the way and lags behind PyTorch; the archive itself needs neither.
"""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from gwn.data.catalogue import DatasetSpec, Loaded
from gwn.data.splits import Split
from gwn.errors import GWNError
from gwn.graph import Graph

PARTS = {"train": "train", "val": "valid", "test": "test"}


def ogbn_arxiv(root: Path, spec: DatasetSpec) -> Loaded:
    """The graph and its split by year, from `arxiv.zip` or from the same files unpacked beside it."""
    folder = root / spec.name
    archive = folder / "arxiv.zip"
    try:
        if not archive.is_file():
            return _assemble(lambda member: (folder / member).read_bytes())
        with zipfile.ZipFile(archive) as zipped:
            return _assemble(zipped.read)
    except (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile, zlib.error) as error:
        if isinstance(error, GWNError):
            raise
        raise GWNError(f"ogbn-arxiv in {folder} cannot be read ({error}); delete it to download it again") from error


def _assemble(read: Callable[[str], bytes]) -> Loaded:
    def table(member: str, dtype: Any = np.int64) -> Any:
        import pandas as pd

        return pd.read_csv(io.BytesIO(gzip.decompress(read(member))), header=None, dtype=dtype).to_numpy()

    raw = "arxiv/raw/"
    edges = table(f"{raw}edge.csv.gz")
    x = table(f"{raw}node-feat.csv.gz", np.float32)
    counts = [int(table(f"{raw}{what}.csv.gz")[0, 0]) for what in ("num-node-list", "num-edge-list")]
    if counts != [len(x), len(edges)]:
        raise GWNError(f"ogbn-arxiv says {counts} nodes and edges but holds {[len(x), len(edges)]}; download it again")
    graph = Graph(
        x=torch.from_numpy(x),
        edge_index=torch.from_numpy(edges.T.copy()),
        y=torch.from_numpy(table(f"{raw}node-label.csv.gz")[:, 0].copy()),
        name="ogbn-arxiv",
    )
    parts = {
        part: torch.from_numpy(table(f"arxiv/split/time/{file}.csv.gz")[:, 0].copy()) for part, file in PARTS.items()
    }
    return graph, {"time": (Split(kind="time", seed=0, **parts),)}
