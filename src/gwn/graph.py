"""A graph with node features, edges and labels: validated once, here, so that nothing later has to ask again."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

import numpy as np
import torch
from torch import Tensor

from gwn.errors import GWNError
from gwn.registry import require_known, resolve
from gwn.sparse import SPARSE_DENSITY, dense_to_csr

UNLABELLED = -1
TASKS = ("classification", "regression")
MOST_CLASSES = 100_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Graph:
    """Nodes 0 ... N-1 with features `x`, edges `j -> i` as columns `(j, i)` of `edge_index`, labels `y`.

    x            [N, f] floating point, dense or sparse CSR
    edge_index   [2, E] integer, PyTorch Geometric's order (source, target)
    edge_weight  [E] non-negative, or None for weight one; networks add those of repeated edges up, see
                 `gwn.adjacency.normalised_adjacency`
    y            [N] what is to be predicted, or None: int64 classes, `UNLABELLED` (-1) where a node's is not known; or
                 floating-point numbers, NaN where a node's is not known, which makes it a regression
    """

    x: Tensor
    edge_index: Tensor
    edge_weight: Tensor | None = None
    y: Tensor | None = None
    name: str = "graph"
    node_ids: tuple[str, ...] | None = None
    class_names: tuple[str, ...] | None = None
    feature_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        _check_features(self.x)
        check_edges(self.edge_index, self.edge_weight, self.num_nodes)
        if self.y is not None:
            _check_labels(self.y, self.num_nodes, self.class_names)
        for what, names, size in (
            ("node ids", self.node_ids, self.num_nodes),
            ("feature names", self.feature_names, self.num_features),
        ):
            if names is not None and len(names) != size:
                raise GWNError(f"the graph has {size} {what.split()[0]}s but {len(names)} {what} were given")
        for what, names in (("node id", self.node_ids), ("class name", self.class_names)):
            if names is not None and len(set(names)) != len(names):
                twice = next(name for name, count in Counter(names).items() if count > 1)
                raise GWNError(f"the {what} {twice!r} is there twice; each must be its own")

    @property
    def num_nodes(self) -> int:
        return int(self.x.shape[0])

    @property
    def num_edges(self) -> int:
        """Columns of `edge_index`: an undirected edge stored in both directions counts twice."""
        return int(self.edge_index.shape[1])

    @property
    def num_features(self) -> int:
        return int(self.x.shape[1])

    @property
    def num_classes(self) -> int:
        """0 where numbers are to be predicted."""
        if self.class_names is not None:
            return len(self.class_names)
        return 0 if self.y is None or self.task == "regression" else int(self.y.max()) + 1

    @property
    def task(self) -> str:
        """ "regression" where `y` holds floating-point numbers, "classification" otherwise."""
        return "regression" if self.y is not None and self.y.is_floating_point() else "classification"

    @property
    def num_outputs(self) -> int:
        """What a network has to give for each node: a logit a class, or one number."""
        return 1 if self.task == "regression" else self.num_classes

    @property
    def labelled(self) -> Tensor:
        """[N] whether a node's `y` is known."""
        if self.y is None:
            return torch.zeros(self.num_nodes, dtype=torch.bool)
        return is_known(self.y)

    @property
    def is_sparse(self) -> bool:
        """Whether the features are stored as CSR."""
        return self.x.layout == torch.sparse_csr

    @property
    def labels(self) -> Tensor:
        """`y`, or an error where the graph has none."""
        if self.y is None:
            raise GWNError(
                f"graph {self.name!r} has no labels; name their column with --label-column or label=..., or give a "
                f"`y` tensor"
            )
        return self.y

    def label_name(self, index: int) -> str:
        """The name of class `index`, or its number where classes have no names."""
        return self.class_names[index] if self.class_names is not None else str(index)

    def to(self, device: torch.device | str | None = None, dtype: torch.dtype | None = None) -> Graph:
        """The same graph on another device or in another floating-point type."""
        return replace(
            self,
            x=self.x.to(device=device, dtype=dtype),
            edge_index=self.edge_index.to(device=device),
            edge_weight=None if self.edge_weight is None else self.edge_weight.to(device=device, dtype=dtype),
            y=None if self.y is None else _moved(self.y, device),
        )

    def compact(self, density: float = SPARSE_DENSITY) -> Graph:
        """Features as CSR where fewer than `density` of them are non-zero, dense otherwise."""
        if self.is_sparse:
            stored = self.x.values().numel() / max(1, self.x.numel())
            return self if stored < density else replace(self, x=self.x.to_dense())
        filled = int(torch.count_nonzero(self.x)) / max(1, self.x.numel())
        return replace(self, x=dense_to_csr(self.x)) if filled < density else self

    def content_hash(self) -> str:
        """SHA-256 over features, edges, weights and labels: equal for equal data, whatever file it came from."""
        digest = hashlib.sha256()
        x = self.x if self.is_sparse else dense_to_csr(self.x)
        parts = (
            x.crow_indices().to(torch.int64),
            x.col_indices().to(torch.int64),
            x.values(),
            self.edge_index.to(torch.int64),
            self.edge_weight,
            self.y,
        )
        digest.update(str(tuple(self.x.shape)).encode())
        for part in parts:
            digest.update(b"none" if part is None else part.detach().cpu().contiguous().numpy().tobytes())
            digest.update(str(None if part is None else tuple(part.shape)).encode())
        return digest.hexdigest()

    @classmethod
    def from_tables(
        cls,
        nodes: Any,
        edges: Any,
        *,
        label: str | None = None,
        id: str | None = None,
        weight: str | None = None,
        source: str | None = None,
        target: str | None = None,
        drop: Sequence[str] = (),
        text: Sequence[str] = (),
        features: str | None = None,
        task: str = "classification",
        directed: bool = False,
        skip_unknown: bool = False,
    ) -> Graph:
        """From a table of nodes and a table of edges, read exactly as `gwn train --nodes … --edges …` reads files.

        nodes     one row a node: a pandas or polars data frame, any other Arrow table, a dictionary of columns, or a
                  path to CSV or Parquet
        edges     one row an edge, likewise; or node pairs [2, E] or [E, 2], or a SciPy adjacency matrix
        label     column of the class; an empty cell is a node to predict
        id        column of the node id; without it the column (or the data frame's index) that holds the ids which
                  the edges name, else the row number from 0
        weight    column of the edge weight; a pair of nodes has the mean of all its rows, unless `directed`
        source, target   columns of the edge's ends; without them found by name, else by the ids that they hold
        drop      columns of `nodes` that are not features
        text      columns of `nodes` whose words are features
        features  features made from the edges alone: see `gwn train --help`
        task      classification, or regression: the label is a number
        directed  keep edges as they are instead of giving them both directions
        skip_unknown   leave out edges that name nodes which the table does not have, instead of refusing them
        """
        read: Callable[..., Graph] = resolve("gwn.data.in_memory:graph_from_tables")
        return read(
            nodes,
            edges,
            label=label,
            id=id,
            weight=weight,
            source=source,
            target=target,
            drop=drop,
            text=text,
            features=features,
            task=task,
            directed=directed,
            skip_unknown=skip_unknown,
        )

    @classmethod
    def from_pyg(cls, data: Any, *, task: str = "classification", **names: Any) -> Graph:
        """From a `torch_geometric.data.Data` with `x`, `edge_index` and, where known, `y` and `edge_weight`.

        Without `edge_weight`, an `edge_attr` of one floating-point number an edge is the weight. Whole numbers there
        are types of edges and are not read: type 0 would delete its edges.
        """
        x = getattr(data, "x", None)
        if x is None:
            raise GWNError("the PyG data object has no node features `x`; add some, for example with a PyG transform")
        y = getattr(data, "y", None)
        weight = getattr(data, "edge_weight", None)
        attr = getattr(data, "edge_attr", None)
        if weight is None and attr is not None and attr.is_floating_point() and attr.numel() == attr.shape[0]:
            weight = attr.reshape(-1)
        return cls(
            x=x if x.is_floating_point() else x.float(),
            edge_index=data.edge_index.long(),
            edge_weight=weight if weight is None or weight.is_floating_point() else weight.float(),
            y=None if y is None else as_targets(y, task),
            **names,
        )

    @classmethod
    def from_scipy(cls, adjacency: Any, x: Any, y: Any = None, *, task: str = "classification", **names: Any) -> Graph:
        """From a SciPy sparse adjacency matrix `A` (entry `A[i, j]` is the edge `j -> i`) and a feature matrix."""
        features = _features(x)
        coo = entries_once(adjacency, features.shape[0])
        edge_index = torch.from_numpy(np.stack([coo.col, coo.row]).astype(np.int64))
        weight = None if np.all(coo.data == 1) else torch.from_numpy(coo.data.astype(np.float32))
        return cls(
            x=features,
            edge_index=edge_index,
            edge_weight=weight,
            y=None if y is None else as_targets(y, task),
            **names,
        )

    @classmethod
    def from_networkx(
        cls,
        graph: Any,
        features: Sequence[str] | None = None,
        label: str | None = None,
        weight: str | None = None,
        x: Any = None,
    ) -> Graph:
        """From a networkx graph: node attributes `features` (numbers) or a matrix `x` in node order, and `label`."""
        nodes = list(graph.nodes)
        position = {node: index for index, node in enumerate(nodes)}
        if x is None:
            if not features:
                raise GWNError("name the node attributes to use as features, or give a feature matrix x")
            x = [[_attribute(graph, node, name) for name in features] for node in nodes]
        pairs = [(position[a], position[b]) for a, b in graph.edges()]
        if not graph.is_directed():
            pairs += [(b, a) for a, b in pairs if a != b]
        weights = None
        if weight is not None:
            values = [_weight(a, b, w) for a, b, w in graph.edges(data=weight, default=1.0)]
            loops = [a == b for a, b in graph.edges()]
            if not graph.is_directed():
                values += [w for w, loop in zip(values, loops, strict=True) if not loop]
            weights = torch.tensor(values, dtype=torch.float32)
        labels = None if label is None else [_class(graph.nodes[node].get(label)) for node in nodes]
        if labels is not None and all(value is None for value in labels):
            raise GWNError(f"no node has a {label!r} to use as its label; name a node attribute that exists")
        y, class_names = (None, None) if labels is None else _encode_labels(labels)
        return cls(
            x=_features(x),
            edge_index=torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).t().contiguous(),
            edge_weight=weights,
            y=y,
            node_ids=tuple(str(node) for node in nodes),
            class_names=class_names,
            feature_names=None if features is None else tuple(features),
        )


def entries_once(adjacency: Any, nodes: int) -> Any:
    """A SciPy matrix [nodes, nodes] in COO form, every entry once: one that is stored several times means the sum, and
    a stored zero, as `setdiag(0)` leaves it, is no edge."""
    rows, columns = adjacency.shape
    if rows != columns:
        raise GWNError(f"the adjacency matrix is {rows} x {columns}; it must be square")
    if rows != nodes:
        raise GWNError(
            f"the adjacency matrix is {rows} x {columns}, and there are {nodes} nodes; it needs a row and a column for "
            f"each of them, in their order"
        )
    csr = adjacency.tocsr(copy=True)
    csr.sum_duplicates()
    csr.eliminate_zeros()
    return csr.tocoo()


def find_node(graph: Graph, name: str, option: str) -> int:
    """A node by the user's id, or by its number where nodes have no ids; `option` is where the name was given."""
    if graph.node_ids is not None and name in graph.node_ids:
        return graph.node_ids.index(name)
    if graph.node_ids is None and name.isdecimal() and int(name) < graph.num_nodes:
        return int(name)
    known = f"0 to {graph.num_nodes - 1}"
    if graph.node_ids is not None:
        close = get_close_matches(name, graph.node_ids, n=1, cutoff=0.5)
        known = f"named by their ids{f'; the nearest is {close[0]!r}' if close else f', such as {graph.node_ids[0]!r}'}"
    raise GWNError(f"{option} names a node {name!r} that graph {graph.name!r} does not have; its nodes are {known}")


def undirected(graph: Graph) -> Graph:
    """The same graph with both directions of every edge once, sorted, and no self-loops."""
    edge_index, edge_weight = undirected_edges(graph.edge_index, graph.edge_weight, graph.num_nodes)
    return replace(graph, edge_index=edge_index, edge_weight=edge_weight)


def undirected_edges(edge_index: Tensor, edge_weight: Tensor | None, num_nodes: int) -> tuple[Tensor, Tensor | None]:
    """Both directions of every edge once, sorted, no self-loops.

    The weight of a pair is the mean of the weights given for it in either direction, so that a graph which is already
    undirected keeps its weights. This is how tables are read; a network that is given arcs as tensors takes them as a
    matrix, `gwn.adjacency.normalised_adjacency`: repeated arcs add up, then the larger direction counts. So the arcs
    a->b 1, b->a 3, b->c 2, b->c 5 are 2 and 3.5 here, and 3 and 7 there.
    """
    keep = edge_index[0] != edge_index[1]
    kept = edge_index[:, keep].long()
    both = torch.cat([kept, kept.flip(0)], dim=1)
    key, slot = torch.unique(both[0] * num_nodes + both[1], return_inverse=True)
    weight = None
    if edge_weight is not None:
        values = edge_weight[keep].repeat(2)
        sums = values.new_zeros(key.numel()).index_add_(0, slot, values)
        weight = sums / torch.bincount(slot, minlength=key.numel()).to(values.dtype)
    return torch.stack([key // num_nodes, key % num_nodes]), weight


def count_self_loops(edge_index: Tensor) -> int:
    """Edges from a node to itself."""
    return int((edge_index[0] == edge_index[1]).sum())


def _attribute(graph: Any, node: Any, name: str) -> float:
    try:
        return float(graph.nodes[node][name])
    except (KeyError, TypeError, ValueError):
        given = graph.nodes[node].get(name)
        raise GWNError(f"node {node!r} has {given!r} for feature {name!r}; every node needs a number there") from None


def _weight(a: Any, b: Any, given: Any) -> float:
    try:
        return float(given)
    except (TypeError, ValueError):
        raise GWNError(f"edge {a!r} - {b!r} has the weight {given!r}; give a number, or none for weight one") from None


def _class(given: Any) -> str | None:
    """The name of a class; None where there is none, as where pandas left NaN or NA."""
    import pandas as pd

    return None if pd.isna(given) is True else str(given)


def _features(x: Any) -> Tensor:
    if isinstance(x, Tensor):
        return x if x.is_floating_point() else x.float()
    if hasattr(x, "tocsr"):
        csr = x.tocsr(copy=True)
        csr.sum_duplicates()
        return torch.sparse_csr_tensor(
            torch.from_numpy(csr.indptr.astype(np.int64)),
            torch.from_numpy(csr.indices.astype(np.int64)),
            torch.from_numpy(csr.data.astype(np.float32)),
            csr.shape,
            check_invariants=True,
        )
    return torch.as_tensor(np.asarray(x, dtype=np.float32))


def is_known(y: Tensor) -> Tensor:
    """Which of these classes or numbers are known."""
    return ~y.isnan() if y.is_floating_point() else y >= 0


def as_targets(y: Any, task: str = "classification") -> Tensor:
    """`y` as a graph holds it: int64 classes, or float64 numbers for "regression"; what fits neither is refused.

    Class numbers may be stored as floating point; a fraction among them is refused, never cut off.
    """
    require_known("task", task, TASKS)
    given = y.detach().cpu() if isinstance(y, Tensor) else y
    if isinstance(given, np.ma.MaskedArray):
        raise GWNError("y is a masked array; fill it first: -1 for an unknown class, NaN for an unknown number")
    found = np.asarray(given)
    if found.dtype.kind not in "buif":
        raise GWNError(f"y holds {found.dtype}; class numbers, or real numbers with task regression, are needed")
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.ndim != 1:
        shape = " x ".join(str(size) for size in found.shape)
        raise GWNError(f"y is {shape}: several labels for one node are not supported; give one class a node")
    if task == "regression":
        return torch.from_numpy(found.astype(np.float64))
    if found.dtype.kind == "f":
        fraction = np.flatnonzero(~np.isnan(found) & (found != np.floor(found)))
        if fraction.size:
            raise GWNError(
                f"y has {found[fraction[0]]:g} at node {fraction[0]}, which is no class number; "
                "use --task regression (task='regression' in Python) to predict numbers"
            )
        found = np.where(np.isnan(found), UNLABELLED, found)
    if found.size and not -(2**62) < float(found.max()) < 2**62:
        raise GWNError(f"y has the class number {found.max():g}; classes are numbered from 0")
    return torch.from_numpy(found.astype(np.int64))


def _moved(y: Tensor, device: torch.device | str | None) -> Tensor:
    """Numbers stay in float64, where a target of 1e9 keeps its last digits; Apple's devices have none."""
    apple = device is not None and torch.device(device).type == "mps"
    return y.to(device=device, dtype=torch.float32 if apple and y.is_floating_point() else None)


def whole_numbers(what: str, values: Tensor) -> Tensor:
    """As int64; what would be cut or rounded on the way is refused."""
    if values.is_complex() or (values.is_floating_point() and not bool((values == values.round()).all())):
        raise GWNError(f"{what} must be whole numbers; got {values.dtype} with others among them")
    if values.is_floating_point() and values.numel() > 0 and float(values.abs().max()) > 2**53:
        raise GWNError(f"{what} must be whole numbers up to 2^53; got {float(values.abs().max()):g}")
    return values.long()


def _encode_labels(values: Sequence[str | None]) -> tuple[Tensor, tuple[str, ...]]:
    """Class numbers in the sorted order of the names; None means unlabelled."""
    names = tuple(sorted({v for v in values if v is not None}))
    index = {name: i for i, name in enumerate(names)}
    return torch.tensor([UNLABELLED if v is None else index[v] for v in values]), names


def _check_features(x: Tensor) -> None:
    if x.dim() != 2 or not x.is_floating_point() or x.layout not in (torch.strided, torch.sparse_csr):
        raise GWNError(
            f"features must be a floating-point matrix, dense or sparse CSR; got {tuple(x.shape)} {x.dtype} {x.layout}"
        )
    if x.shape[0] == 0:
        raise GWNError("the graph has no nodes")
    if x.layout == torch.sparse_csr:
        _check_csr(x)
    values = x if x.layout == torch.strided else x.values()
    if not bool(torch.isfinite(values).all()):
        raise GWNError("the features contain NaN or infinite values; fill or drop them first")


def _check_csr(x: Tensor) -> None:
    """Refuse entries outside of the matrix: PyTorch compares nothing, and its products read and write there.

    The order of a row's entries does not matter to them, so it is not asked for.
    """
    crow, col, width = x.crow_indices(), x.col_indices(), x.shape[1]
    if int(crow[0]) != 0 or int(crow[-1]) != col.numel() or bool((crow[1:] < crow[:-1]).any()):
        raise GWNError(
            f"the sparse features are no CSR matrix: their row pointers must rise from 0 to {col.numel()}, the number "
            f"of entries; build them with torch.Tensor.to_sparse_csr or scipy"
        )
    if col.numel() > 0 and not 0 <= int(col.min()) <= int(col.max()) < width:
        wrong = int(col.min()) if int(col.min()) < 0 else int(col.max())
        raise GWNError(
            f"the sparse features have an entry in column {wrong}, but the columns are 0 ... {width - 1}; build them "
            f"with torch.Tensor.to_sparse_csr or scipy"
        )


def check_edges(edge_index: Tensor, edge_weight: Tensor | None, num_nodes: int) -> None:
    """Refuse edges between nodes that do not exist, and weights that are not one finite number >= 0 for each edge."""
    if edge_index.dim() != 2 or edge_index.shape[0] != 2 or edge_index.dtype not in (torch.int64, torch.int32):
        raise GWNError(f"edge_index must be integer of shape [2, E]; got {tuple(edge_index.shape)} {edge_index.dtype}")
    if edge_index.numel() > 0:
        low, high = int(edge_index.min()), int(edge_index.max())
        if low < 0 or high >= num_nodes:
            wrong = low if low < 0 else high
            raise GWNError(f"an edge names node {wrong}, but the nodes are 0 ... {num_nodes - 1}")
    if edge_weight is not None:
        if edge_weight.shape != (edge_index.shape[1],) or not edge_weight.is_floating_point():
            raise GWNError(
                f"edge_weight must be floating point of shape [{edge_index.shape[1]}], one weight per edge; "
                f"got {tuple(edge_weight.shape)} {edge_weight.dtype}"
            )
        if edge_weight.numel() > 0 and not bool(torch.isfinite(edge_weight).all() & (edge_weight >= 0).all()):
            raise GWNError("edge weights must be finite and not negative")


def _check_labels(y: Tensor, num_nodes: int, class_names: tuple[str, ...] | None) -> None:
    if y.shape != (num_nodes,) or not (y.dtype == torch.int64 or y.is_floating_point()):
        raise GWNError(
            f"labels must be int64 classes or floating-point numbers of shape [{num_nodes}]; "
            f"got {tuple(y.shape)} {y.dtype}"
        )
    if y.is_floating_point():
        if class_names is not None:
            raise GWNError("classes are named, but the labels are floating-point numbers; give class numbers as int64")
        if bool(y.isinf().any()):
            raise GWNError("a number to be learnt is infinite; leave it empty (NaN) where it is not known")
        return
    if int(y.max()) >= MOST_CLASSES:
        raise GWNError(
            f"label {int(y.max())} found; classes are numbered from 0, and there are at most {MOST_CLASSES:,}"
        )
    if int(y.min()) < UNLABELLED:
        raise GWNError(f"label {int(y.min())} found; labels are class numbers from 0, or -1 where unknown")
    if class_names is not None and int(y.max()) >= len(class_names):
        raise GWNError(f"label {int(y.max())} found, but only {len(class_names)} classes are named")
