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

from gwn.data.dataset import DatasetSpec, Loaded
from gwn.data.splits import Split
from gwn.errors import GWNError
from gwn.graph import Graph

ARCHIVE = "ogbn-arxiv/arxiv.zip"
TABLES = ("edge", "node-feat", "node-label", "num-node-list", "num-edge-list")
PARTS = {"train": "train", "val": "valid", "test": "test"}
MEMBERS = (
    *(f"arxiv/raw/{table}.csv.gz" for table in TABLES),
    *(f"arxiv/split/time/{p}.csv.gz" for p in PARTS.values()),
)


def read_arxiv(folder: Path) -> Loaded:
    """The graph and its split by year, from `arxiv.zip` in `folder` or from the same files unpacked there."""
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


OGBN_ARXIV = DatasetSpec(
    name="ogbn-arxiv",
    title="ogbn-arxiv",
    nodes=169343,
    edges=1166243,
    features=128,
    classes=40,
    directed=True,
    default_split="time",
    kind="large",
    source="Hu et al.: Open Graph Benchmark, NeurIPS 2020",
    load=lambda root: read_arxiv(root / "ogbn-arxiv"),
    files={ARCHIVE: ""},
    urls={ARCHIVE: "https://snap.stanford.edu/ogb/data/nodeproppred/arxiv.zip"},
    unpacked=tuple(f"ogbn-arxiv/{member}" for member in MEMBERS),
    pinned=False,  # plain CSV inside: nothing in it can run
    caveat="Stored directed: a paper points at the papers it cites. The split is by year.",
)
