"""Texas, Cornell, Wisconsin and Actor as geom-gcn prepared them, with its ten 48/32/20 splits (Pei et al. 2020)."""

from __future__ import annotations

from pathlib import Path

from gwn.data.checksums import checksums
from gwn.data.dataset import DatasetSpec, Loaded
from gwn.data.sources.pyg import process, to_graph
from gwn.data.splits import splits_from_masks

URL = "https://raw.githubusercontent.com/graphdml-uiuc-jlu/geom-gcn/master"
TWINS = "Its node file is byte-identical to {}'s in geom-gcn's release: only edges and splits differ, so the two are \
not independent evidence."


def _spec(
    title: str, folder: str, stem: str, *, nodes: int, edges: int, features: int, caveat: str = ""
) -> DatasetSpec:
    tables = ["out1_node_feature_label.txt", "out1_graph_edges.txt"]
    splits = [f"{stem}_split_0.6_0.2_{number}.npz" for number in range(10)]

    def load(root: Path) -> Loaded:
        from torch_geometric.datasets import Actor, WebKB

        data = process(Actor, str(root / folder)) if stem == "film" else process(WebKB, str(root), stem)
        geom = splits_from_masks("geom", data.train_mask, data.val_mask, data.test_mask)
        return to_graph(data, title.lower()), {"geom": geom}

    return DatasetSpec(
        name=title.lower(),
        title=title,
        nodes=nodes,
        edges=edges,
        features=features,
        classes=5,
        directed=True,
        default_split="geom",
        kind="heterophilic",
        source="Pei, Wei, Chang, Lei, Yang: Geom-GCN, ICLR 2020",
        load=load,
        files=checksums(*(f"{folder}/raw/{file}" for file in tables + splits)),
        urls={f"{folder}/raw/{file}": f"{URL}/new_data/{stem}/{file}" for file in tables}
        | {f"{folder}/raw/{file}": f"{URL}/splits/{file}" for file in splits},
        caveat=f"{caveat} Stored directed, with self-loops.".strip(),
    )


ACTOR = _spec("Actor", "Actor", "film", nodes=7600, edges=30019, features=932)
TEXAS = _spec(
    "Texas",
    "texas",
    "texas",
    nodes=183,
    edges=325,
    features=1703,
    caveat=TWINS.format("Cornell") + " One class has a single node.",
)
CORNELL = _spec(
    "Cornell",
    "cornell",
    "cornell",
    nodes=183,
    edges=298,
    features=1703,
    caveat=TWINS.format("Texas") + " One class has a single node.",
)
WISCONSIN = _spec("Wisconsin", "wisconsin", "wisconsin", nodes=251, edges=515, features=1703)
