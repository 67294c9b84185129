"""Cora, CiteSeer and PubMed: citation graphs with bags of words (Sen et al. 2008; Yang et al. 2016)."""

from __future__ import annotations

from pathlib import Path

from gwn.data.checksums import checksums
from gwn.data.dataset import DatasetSpec, Loaded
from gwn.data.sources.pyg import process, to_graph
from gwn.data.splits import splits_from_masks

URL = "https://github.com/kimiyoung/planetoid/raw/master/data"
PARTS = ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")


def _spec(title: str, *, nodes: int, edges: int, features: int, classes: int, caveat: str = "") -> DatasetSpec:
    paths = [f"{title}/raw/ind.{title.lower()}.{part}" for part in PARTS]

    def load(root: Path) -> Loaded:
        from torch_geometric.datasets import Planetoid

        data = process(Planetoid, str(root), title)
        public = splits_from_masks("public", data.train_mask, data.val_mask, data.test_mask)
        return to_graph(data, title.lower()), {"public": public}

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
        source="Yang, Cohen, Salakhutdinov: Revisiting Semi-Supervised Learning with Graph Embeddings, ICML 2016",
        load=load,
        files=checksums(*paths),
        urls={path: f"{URL}/{Path(path).name}" for path in paths},
        caveat=caveat,
    )


CORA = _spec("Cora", nodes=2708, edges=5278, features=1433, classes=7)
CITESEER = _spec(
    "CiteSeer",
    nodes=3327,
    edges=4552,
    features=3703,
    classes=6,
    caveat="48 nodes have no edge, and 15 of the test nodes have no features.",
)
PUBMED = _spec("PubMed", nodes=19717, edges=44324, features=500, classes=3)
