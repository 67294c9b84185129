"""The datasets by name, as data: what is claimed of each, where its files are, and which function reads them.

Nothing here needs PyTorch, so that `gwn data list` answers at once; a reader is imported when its dataset is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from gwn.data.checksums import CHECKSUMS, checksums
from gwn.registry import resolve

if TYPE_CHECKING:
    from gwn.data.splits import Split
    from gwn.graph import Graph

Metric = Literal["accuracy", "roc-auc"]
Kind = Literal["homophilic", "heterophilic", "large", "synthetic"]
Loaded: TypeAlias = "tuple[Graph, Mapping[str, tuple[Split, ...]]]"
"""A graph exactly as stored, and its published splits by kind."""


@dataclass(frozen=True, kw_only=True)
class DatasetSpec:
    """Everything we claim about a dataset; the claims are checked when it is loaded.

    nodes, edges, features, classes   the paper's table. It counts undirected pairs where both directions are stored
                                      and arcs, with their self-loops, where the graph is stored directed
    directed       whether the graph is stored directed
    default_split  the split that is used when none is named
    reader         "module:function", or the function itself: (root, spec) -> `Loaded`
    metric         what the field reports on it
    files          path below the data root -> SHA-256, or "" where no hash is known
    urls           where each file is downloaded from
    unpacked       the files to read where the archive in `files` is not there but its content is
    pinned         whether a file with another hash is refused; if not, it is never opened as a pickle
    class_names    what the classes 0, 1, 2, ... are called, for pictures. They stand in the files of Computers, Photo
                   and CS; elsewhere the original release says which is which, by the sizes of its classes, which all
                   differ, or page by page (WebKB). Left out where that is not certain
    """

    name: str
    title: str
    nodes: int
    edges: int
    features: int
    classes: int
    directed: bool
    default_split: str
    kind: Kind
    source: str
    reader: str | Callable[[Path, DatasetSpec], Loaded]
    metric: Metric = "accuracy"
    files: Mapping[str, str] = field(default_factory=dict)
    urls: Mapping[str, str] = field(default_factory=dict)
    unpacked: tuple[str, ...] = ()
    pinned: bool = True
    caveat: str = ""
    class_names: tuple[str, ...] = ()

    def load(self, root: Path) -> Loaded:
        """Read the files below `root`."""
        read: Callable[[Path, DatasetSpec], Loaded] = (
            resolve(self.reader) if isinstance(self.reader, str) else self.reader
        )
        return read(root, self)


def _planetoid(title: str, **claims: Any) -> DatasetSpec:
    """Citation graphs with bags of words (Sen et al. 2008)."""
    parts = ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")
    paths = [f"{title}/raw/ind.{title.lower()}.{part}" for part in parts]
    where = "https://github.com/kimiyoung/planetoid/raw/master/data"
    return DatasetSpec(
        name=title.lower(),
        title=title,
        directed=False,
        default_split="per-class",
        kind="homophilic",
        source="Yang, Cohen, Salakhutdinov: Revisiting Semi-Supervised Learning with Graph Embeddings, ICML 2016",
        reader="gwn.data.sources.pyg:planetoid",
        files=checksums(*paths),
        urls={path: f"{where}/{Path(path).name}" for path in paths},
        **claims,
    )


def _shchur(title: str, file: str, split: str, **claims: Any) -> DatasetSpec:
    """Co-purchases at Amazon, and co-authors of papers in computer science.

    Their one published split is what NAGphormer, Polynormer and the tuned classics report on.
    """
    path, fixed = f"{title}/raw/{file}", f"splits/{split}.npz"
    return DatasetSpec(
        name=title.lower(),
        title=title,
        directed=False,
        default_split="per-class",
        kind="homophilic",
        source="Shchur, Mumme, Bojchevski, Günnemann: Pitfalls of Graph Neural Network Evaluation, 2018",
        reader="gwn.data.sources.pyg:shchur",
        files=checksums(path, fixed),
        urls={
            path: f"https://github.com/shchur/gnn-benchmark/raw/master/data/npz/{file}",
            fixed: f"https://github.com/cornell-zhang/Polynormer/raw/main/data/{split}_split.npz",
        },
        **claims,
    )


def _geom_gcn(title: str, folder: str, stem: str, *, caveat: str = "", **claims: Any) -> DatasetSpec:
    """WebKB and Actor as geom-gcn prepared them, with its ten 48/32/20 splits."""
    where = "https://raw.githubusercontent.com/graphdml-uiuc-jlu/geom-gcn/master"
    tables = ["out1_node_feature_label.txt", "out1_graph_edges.txt"]
    splits = [f"{stem}_split_0.6_0.2_{number}.npz" for number in range(10)]
    return DatasetSpec(
        name=title.lower(),
        title=title,
        classes=5,
        directed=True,
        default_split="geom",
        kind="heterophilic",
        source="Pei, Wei, Chang, Lei, Yang: Geom-GCN, ICLR 2020",
        reader="gwn.data.sources.pyg:geom_gcn",
        files=checksums(*(f"{folder}/raw/{file}" for file in tables + splits)),
        urls={f"{folder}/raw/{file}": f"{where}/new_data/{stem}/{file}" for file in tables}
        | {f"{folder}/raw/{file}": f"{where}/splits/{file}" for file in splits},
        caveat=f"{caveat} Stored directed, with self-loops.".strip(),
        **claims,
    )


def _heterophilous(name: str, path: str, reader: str, **claims: Any) -> DatasetSpec:
    """The graphs of Platonov et al. 2023."""
    return DatasetSpec(
        name=name,
        title=name.title(),
        directed=False,
        default_split="published",
        kind="heterophilic",
        source="Platonov, Kuznedelev, Diskin, Babenko, Prokhorenkova: A critical look at the evaluation of GNNs "
        "under heterophily, ICLR 2023",
        reader=reader,
        files=checksums(path),
        urls={path: f"https://github.com/yandex-research/heterophilous-graphs/raw/main/data/{Path(path).name}"},
        **claims,
    )


_TWINS = (
    "Its node file is byte-identical to {}'s in geom-gcn's release: only edges and splits differ, so the two are not "
    "independent evidence. One class has a single node."
)
_TEXAS = ("course", "staff", "project", "student", "faculty")
_DUPLICATES = "The nodes with identical neighbours, which leak between the parts of the original's splits, are removed."
_DEEZER = "DeezerEurope/raw/deezer_europe.npz"
_ARXIV = "ogbn-arxiv/arxiv.zip"
_ARXIV_TABLES = (
    *(f"raw/{table}" for table in ("edge", "node-feat", "node-label", "num-node-list", "num-edge-list")),
    *(f"split/time/{part}" for part in ("train", "valid", "test")),
)

_SPECS = (
    _planetoid(
        "Cora",
        nodes=2708,
        edges=5278,
        features=1433,
        classes=7,
        class_names=("theory", "reinforcement", "genetic", "neural nets", "probabilistic", "case-based", "rules"),
    ),
    _planetoid(
        "CiteSeer",
        nodes=3327,
        edges=4552,
        features=3703,
        classes=6,
        class_names=("AI", "ML", "IR", "DB", "agents", "HCI"),
        caveat="48 nodes have no edge, and 15 of the test nodes have no features.",
    ),
    _planetoid("PubMed", nodes=19717, edges=44324, features=500, classes=3),
    _shchur(
        "Computers",
        "amazon_electronics_computers.npz",
        "amazon-computer",
        nodes=13752,
        edges=245861,
        features=767,
        classes=10,
        class_names=(
            *("desktops", "data storage", "laptops", "monitors", "components"),
            *("projectors", "routers", "tablets", "networking", "webcams"),
        ),
    ),
    _shchur(
        "Photo",
        "amazon_electronics_photo.npz",
        "amazon-photo",
        nodes=7650,
        edges=119081,
        features=745,
        classes=8,
        class_names=(
            *("film photography", "digital cameras", "binoculars", "lenses"),
            *("tripods", "surveillance", "lighting", "flashes"),
        ),
    ),
    _shchur(
        "CS",
        "ms_academic_cs.npz",
        "coauthor-cs",
        nodes=18333,
        edges=81894,
        features=6805,
        classes=15,
        class_names=(
            *("bioinformatics", "machine learning", "computer vision", "NLP", "graphics"),
            *("networks", "security", "databases", "data mining", "game theory"),
            *("HCI", "information theory", "medical informatics", "robotics", "theoretical CS"),
        ),
    ),
    _geom_gcn("Actor", "Actor", "film", nodes=7600, edges=30019, features=932),
    _geom_gcn(
        "Texas",
        "texas",
        "texas",
        nodes=183,
        edges=325,
        features=1703,
        class_names=_TEXAS,
        caveat=_TWINS.format("Cornell"),
    ),
    _geom_gcn(
        "Cornell",
        "cornell",
        "cornell",
        nodes=183,
        edges=298,
        features=1703,
        class_names=_TEXAS,
        caveat=_TWINS.format("Texas"),
    ),
    _geom_gcn(
        "Wisconsin",
        "wisconsin",
        "wisconsin",
        nodes=251,
        edges=515,
        features=1703,
        class_names=("staff", "course", "student", "faculty", "project"),
    ),
    DatasetSpec(
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
        reader="gwn.data.sources.archives:deezer_europe",
        files=checksums(_DEEZER),
        urls={_DEEZER: "https://graphmining.ai/datasets/ptg/deezer_europe.npz"},
        pinned=False,  # PyG's download has the original features, whose hash we do not know; ours has the SVD below
        caveat=f"In the file whose SHA-256 begins with {CHECKSUMS[_DEEZER][:8]}, edges and targets are the originals "
        "and the 128 features are a rank-128 SVD of the original bag of 31,241 artists: figures are not comparable to "
        "the paper's to the last digit.",
    ),
    DatasetSpec(
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
        reader="gwn.data.sources.arxiv:ogbn_arxiv",
        files={_ARXIV: ""},
        urls={_ARXIV: "https://snap.stanford.edu/ogb/data/nodeproppred/arxiv.zip"},
        unpacked=tuple(f"ogbn-arxiv/arxiv/{table}.csv.gz" for table in _ARXIV_TABLES),
        pinned=False,  # plain CSV inside: nothing in it can run
        caveat="Stored directed: a paper points at the papers it cites. The split is by year.",
    ),
    DatasetSpec(
        name="digits",
        title="Digits",
        nodes=1797,
        edges=9929,
        features=64,
        classes=10,
        directed=False,
        default_split="stratified",
        kind="homophilic",
        source="scikit-learn's load_digits (Alpaydin, Kaynak: Optical Recognition of Handwritten Digits, UCI 1998)",
        reader="gwn.data.sources.digits:digits",
        caveat="The graph is made from the features, so it holds no information that an MLP could not find in them.",
    ),
    _heterophilous(
        "minesweeper",
        "minesweeper/raw/minesweeper.npz",
        "gwn.data.sources.pyg:heterophilous",
        nodes=10000,
        edges=39402,
        features=7,
        classes=2,
        metric="roc-auc",
        class_names=("free", "mine"),
        caveat="Synthetic: a 100 x 100 grid with 20 % mines.",
    ),
    _heterophilous(
        "tolokers",
        "tolokers/raw/tolokers.npz",
        "gwn.data.sources.pyg:heterophilous",
        nodes=11758,
        edges=519000,
        features=10,
        classes=2,
        metric="roc-auc",
    ),
    _heterophilous(
        "chameleon-filtered",
        "filtered/chameleon_filtered.npz",
        "gwn.data.sources.archives:filtered",
        nodes=890,
        edges=8854,
        features=2325,
        classes=5,
        caveat=_DUPLICATES,
    ),
    _heterophilous(
        "squirrel-filtered",
        "filtered/squirrel_filtered.npz",
        "gwn.data.sources.archives:filtered",
        nodes=2223,
        edges=46998,
        features=2089,
        classes=5,
        caveat=_DUPLICATES,
    ),
    DatasetSpec(
        name="csbm",
        title="Contextual SBM",
        nodes=1000,
        edges=5000,
        features=16,
        classes=4,
        directed=False,
        default_split="stratified",
        kind="synthetic",
        source="Deshpande, Montanari, Mossel, Sen: Contextual Stochastic Block Models, NeurIPS 2018",
        reader="gwn.data.sources.csbm:csbm",
        caveat="Generated. With four classes, its homophily of 0.25 is that of edges that ignore the classes.",
    ),
)

DATASETS: dict[str, DatasetSpec] = {spec.name: spec for spec in _SPECS}
