"""Amazon's Computers and Photo, and Coauthor CS: the graphs of "Pitfalls of GNN Evaluation" (Shchur et al. 2018)."""

from __future__ import annotations

from pathlib import Path

from gwn.data.checksums import checksums
from gwn.data.dataset import DatasetSpec, Loaded
from gwn.data.sources.pyg import process, to_graph

URL = "https://github.com/shchur/gnn-benchmark/raw/master/data/npz"


def _spec(title: str, file: str, *, nodes: int, edges: int, features: int, classes: int) -> DatasetSpec:
    path = f"{title}/raw/{file}"

    def load(root: Path) -> Loaded:
        from torch_geometric.datasets import Amazon, Coauthor

        data = process(Coauthor if title == "CS" else Amazon, str(root), title)
        return to_graph(data, title.lower()), {}

    return DatasetSpec(
        name=title.lower(),
        title=title,
        nodes=nodes,
        edges=edges,
        features=features,
        classes=classes,
        directed=False,
        default_split="per-class",
        kind="homophilic",
        source="Shchur, Mumme, Bojchevski, Günnemann: Pitfalls of Graph Neural Network Evaluation, 2018",
        load=load,
        files=checksums(path),
        urls={path: f"{URL}/{file}"},
    )


COMPUTERS = _spec("Computers", "amazon_electronics_computers.npz", nodes=13752, edges=245861, features=767, classes=10)
PHOTO = _spec("Photo", "amazon_electronics_photo.npz", nodes=7650, edges=119081, features=745, classes=8)
CS = _spec("CS", "ms_academic_cs.npz", nodes=18333, edges=81894, features=6805, classes=15)
