"""How alike neighbours are in each dataset, from a sealed file, so that `gwn data list` need not read a graph.

`python -m gwn.data.homophily` computes the file anew from the datasets that are on this disk; others keep their entry.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gwn.data.catalogue import DATASETS
from gwn.data.download import on_disk
from gwn.io import read_json, write_json

FILE = Path(__file__).with_name("homophily.json")
COMMAND = "python -m gwn.data.homophily"


def homophily() -> dict[str, dict[str, float]]:
    """Dataset -> its edge homophily, and the same adjusted for chance; a dataset that was never read is not in it."""
    found: dict[str, dict[str, float]] = read_json(FILE, again=f"run `{COMMAND}`")["datasets"]
    return found


def measure(name: str) -> dict[str, Any]:
    """The two figures of the simple undirected graph, as `gwn data describe` says them."""
    from gwn.data.dataset import load_dataset
    from gwn.data.describe import adjusted_homophily, edge_homophily

    graph = load_dataset(name).graph
    return {"edge_homophily": edge_homophily(graph), "adjusted_homophily": adjusted_homophily(graph)}


def main() -> None:
    """Write the file."""
    known = homophily() if FILE.is_file() else {}
    found = {name: measure(name) if on_disk(spec) else known.get(name) for name, spec in DATASETS.items()}
    write_json(FILE, {"made_by": COMMAND, "datasets": {name: entry for name, entry in found.items() if entry}})


if __name__ == "__main__":
    main()
