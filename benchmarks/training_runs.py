"""Short training runs for benchmarks of accuracy: graphs by name, tables among them, and runs that are kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from gwn.data import Dataset, load_dataset
from gwn.data.files import load_files
from gwn.data.in_memory import load_tables
from gwn.io import content_key, read_json, write_json

WINE = Path(__file__).parent.parent / "examples" / "data"
SEED = 0


def wine() -> Dataset:
    """The table that ships as an example."""
    return load_files(edges=WINE / "wine-edges.csv", nodes=WINE / "wine-nodes.csv", label_column="cultivar")[0]


def tumours() -> Dataset:
    """scikit-learn's breast cancer data as a table with dirt: 569 rows, 30 numbers of which one in twelve is only the
    column's median, a category that says nothing, and edges to the six nearest rows, of which one in ten leads
    anywhere."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.neighbors import kneighbors_graph
    from sklearn.preprocessing import StandardScaler

    found = load_breast_cancer(as_frame=True)
    draw = np.random.default_rng(SEED)
    near = kneighbors_graph(StandardScaler().fit_transform(found.data), 6).tocoo()
    anywhere = draw.random(near.nnz) < 0.1
    target = np.where(anywhere, draw.integers(len(found.data), size=near.nnz), near.col)
    nodes = found.data.mask(draw.random(found.data.shape) < 1 / 12)
    nodes = nodes.fillna(nodes.median())
    nodes["ward"] = draw.choice(["north", "south", "unknown"], size=len(nodes))
    nodes["tumour"] = np.where(found.target == 1, "benign", "malignant")
    nodes.insert(0, "id", [f"case {number}" for number in range(len(nodes))])
    edges = pd.DataFrame({"from": nodes["id"].to_numpy()[near.row], "to": nodes["id"].to_numpy()[target]})
    return load_tables(nodes, edges[edges["from"] != edges["to"]], label="tumour", id="id")[0]


TABLES: dict[str, Callable[[], Dataset]] = {"wine": wine, "tumours": tumours}


def graph_named(name: str) -> Dataset:
    """One of `TABLES`, or a dataset."""
    return TABLES[name]() if name in TABLES else load_dataset(name)


class Kept:
    """Finished runs in a file, so that a benchmark that was interrupted goes on."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._found: dict[str, Any] = read_json(path) if path.is_file() else {}

    def get(self, described: dict[str, Any], compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """What this description gave, computed where it is not there."""
        key = content_key(described)
        if key not in self._found:
            self._found[key] = compute()
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_json(self.path, self._found)
        found: dict[str, Any] = self._found[key]
        return found
