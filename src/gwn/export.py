"""A trained network as one file that runs without this package: `torch.export` or ONNX.

Our sparse kernels are not traced. The network runs its own code on an adjacency whose products gather and add, edge by
edge, and what that computes is traced, with any number of nodes and edges; the file is then read again and compared.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from copy import deepcopy
from dataclasses import dataclass
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.utils import subgraph

from gwn.adjacency import Adjacency, normalised_adjacency
from gwn.errors import GWNError, require_extra
from gwn.graph import Graph, count_self_loops
from gwn.io import being_written, write_json
from gwn.networks import GWN
from gwn.registry import lookup
from gwn.sparse import Pattern, SparseMatrix, take_rows
from gwn.training import TrainedModel
from gwn.training.label_input import KnownLabels

TOLERANCE = 1e-5
"""The largest difference, relative to the largest logit, between the file and the network."""

CHECKED_VALUES = 20_000_000
"""Feature values of the graph on which the file is checked; of a larger graph the first nodes."""

PRIOR_USE = (
    "multiply all logits by scale where there is one; add log(target) - log(train) of its class to each; nothing where "
    "train is 0; divide by temperature after that"
)

EXPORTABLE = (
    *("gwn-sym", "gwn-fa", "gwn-plus", "mlp", "gcn", "graphsage", "sgc", "appnp", "gcn-tuned", "sage-tuned"),
    *("jk-net", "resgcn", "gcnii", "gpr-gnn", "mixhop", "acm-gcn", "jacobi"),
)
"""Models whose products are all of the kind that `EdgeMatrix` has; attention on other edges' scores is not."""


@dataclass(frozen=True, eq=False)
class EdgePattern(Pattern):
    """A pattern by its rows and columns, in any order."""

    rows: Tensor | None = None

    @property
    def row(self) -> Tensor:
        assert self.rows is not None
        return self.rows


@dataclass(frozen=True, eq=False)
class EdgeMatrix(SparseMatrix):
    """A matrix whose product gathers the rows of `x` and adds them up at the targets."""

    def add_product_(self, out: Tensor, x: Tensor, beta: float, alpha: float) -> Tensor:
        pattern = self.pattern
        messages = x.index_select(0, pattern.col) * self.values[:, None]
        total = torch.zeros_like(out).index_add(0, pattern.row, messages)
        return out.copy_(total * alpha if beta == 0.0 else out * beta + total * alpha)


@dataclass(frozen=True, eq=False)
class EdgeAdjacency(Adjacency):
    """Edges as they are given, of which a network takes the adjacency it wants; each edge must be there once."""

    edge_weight: Tensor | None = None

    @classmethod
    def of(cls, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> EdgeAdjacency:
        made: EdgeAdjacency = _adjacency(cls, x, edge_index, edge_weight, directed=False, self_loops="none")
        return made

    def require(
        self, num_nodes: int, *, dtype: torch.dtype, device: torch.device | None, directed: bool, self_loops: str
    ) -> Adjacency:
        pattern, weight = self.matrix.pattern, self.edge_weight
        assert weight is not None
        edges = torch.stack([pattern.col, pattern.row])[:, : weight.shape[0]]
        options: dict[str, Any] = {"directed": directed, "self_loops": self_loops}
        made: Adjacency = _adjacency(Adjacency, self.degree, edges, weight.to(dtype), **options)
        return made


def _adjacency(
    kind: Any, nodes: Tensor, edge_index: Tensor, edge_weight: Tensor, *, directed: bool, self_loops: str
) -> Any:
    """`S` of these edges and of the diagonal, as `gwn.adjacency.normalised_adjacency` builds it."""
    count = nodes.shape[0]
    everyone = torch.arange(count, device=edge_index.device)
    loops = torch.ones(count, dtype=edge_weight.dtype) if self_loops == "add" else torch.zeros(count).to(edge_weight)
    row, col = torch.cat([edge_index[1], everyone]), torch.cat([edge_index[0], everyone])
    weight = torch.cat([edge_weight, loops])
    degree = torch.zeros(count, dtype=weight.dtype).index_add(0, row, weight)
    scale = torch.where(degree > 0, degree.clamp_min(1e-30).rsqrt(), torch.zeros_like(degree))
    values = scale.index_select(0, row) * weight * scale.index_select(0, col)
    pattern = EdgePattern(row, col, (count, count), row)
    diagonal = torch.cat([torch.zeros_like(edge_weight), torch.ones(count).to(edge_weight)])
    extra = {"edge_weight": edge_weight} if kind is EdgeAdjacency else {}
    return kind(
        matrix=EdgeMatrix(pattern, values),
        eye=diagonal,
        is_edge=weight > 0,
        degree=degree,
        symmetric=not directed,
        directed=directed,
        self_loops=self_loops,
        weight=weight if directed else None,
        **extra,
    )


class ExportForm(nn.Module):
    """`(x, edge_index, edge_weight) -> logits` of a network, by gathering and adding alone.

    x             [N, f] dense
    edge_index    [2, E] both directions of every edge once, no self-loops
    edge_weight   [E], ones where edges have none
    """

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = deepcopy(network).cpu().float().eval()
        if isinstance(self.network, GWN):
            self.network.precompute = False

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        logits: Tensor = self.network(x, EdgeAdjacency.of(x, edge_index, edge_weight))
        return logits


def trace(network: nn.Module, features: int) -> Any:
    """The exported program, for any number of nodes and edges."""
    nodes, edges = torch.export.Dim("nodes", min=2), torch.export.Dim("edges", min=2)
    ring = torch.arange(7)
    example = (
        torch.linspace(-1, 1, 7 * features).reshape(7, features),
        torch.stack([torch.cat([ring, (ring + 1) % 7]), torch.cat([(ring + 1) % 7, ring])]),
        torch.linspace(0.5, 1.5, 14),
    )
    shapes = ({0: nodes}, {1: edges}, {0: edges})
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.export.export(ExportForm(network), example, dynamic_shapes=shapes, strict=False)


Run = Callable[[Tensor, Tensor, Tensor], Tensor]


def _write_torch(program: Any, path: Path) -> None:
    buffer = BytesIO()
    torch.export.save(program, buffer)  # straight into a file on a full disk it would abort the process
    path.write_bytes(buffer.getbuffer())


def _read_torch(path: Path) -> Run:
    with path.open("rb") as file:
        loaded = torch.export.load(file)
    module: Run = loaded.module()
    return module


def _write_onnx(program: Any, path: Path) -> None:
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        names: dict[str, Any] = {"input_names": ["x", "edge_index", "edge_weight"], "output_names": ["logits"]}
        made = torch.onnx.export(program, dynamo=True, verbose=False, **names)
        assert made is not None
        made.save(str(path), external_data=False)


def _read_onnx(path: Path) -> Run:
    runtime = require_extra("--format onnx", "onnxruntime")
    session = runtime.InferenceSession(path.read_bytes(), providers=["CPUExecutionProvider"])

    def run(x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        fed = {"x": x.numpy(), "edge_index": edge_index.numpy(), "edge_weight": edge_weight.numpy()}
        return torch.from_numpy(session.run(None, fed)[0])

    return run


@dataclass(frozen=True)
class Format:
    """How a program is written and read again, what its file is called, and what that needs."""

    write: Callable[[Any, Path], None]
    read: Callable[[Path], Run]
    ending: str
    modules: tuple[str, ...] = ()

    def require(self, name: str) -> None:
        """Refuse, before any work, where a module is not installed."""
        for module in self.modules:
            require_extra(f"--format {name}", module)


FORMATS = {
    "torch-export": Format(_write_torch, _read_torch, ".pt2"),
    "onnx": Format(_write_onnx, _read_onnx, ".onnx", ("onnx", "onnxscript", "onnxruntime")),
}


def export_run(trained: TrainedModel, graph: Graph, kind: str, out: Path) -> tuple[Path, float]:
    """Write the network of a run and, beside it, a JSON file that says how to feed it; the JSON file, and the largest
    difference between the file and the network."""
    form = lookup("format", kind, FORMATS)
    form.require(kind)
    name, network = trained.config["model"], trained.network
    if isinstance(network, KnownLabels):
        raise GWNError(
            "this run uses known labels, which belong to its own graph; export one that was trained with --labels none "
            "and --smooth none"
        )
    if name not in EXPORTABLE:
        raise GWNError(f"{name} cannot be exported; these can: {', '.join(EXPORTABLE)}")
    if isinstance(network, GWN) and network.scheme.needs_symmetric:
        raise GWNError(
            f"this {name} solves equations in every step until they are exact enough, which cannot be exported; train "
            f"it with --set scheme=leapfrog"
        )
    program = trace(network, graph.num_features)
    with being_written(out) as private:
        form.write(program, private)
        run = form.read(private)
        difference = max(_difference(run, network, part) for part in (_checked_part(graph), _other_graph(graph)))
        if not difference <= TOLERANCE:
            loops = count_self_loops(graph.edge_index)
            why = f" on this graph, of which it takes no self-loops ({loops}): train without them" if loops else ""
            raise GWNError(
                f"the exported network differs from the original by {difference:.1g}{why}; nothing was written"
            )
    about = out.with_suffix(".json")
    write_json(about, _how_to_feed(trained, graph, kind, out.name, difference), sealed=False)
    return about, difference


def _checked_part(graph: Graph) -> Graph:
    count = min(graph.num_nodes, max(2, CHECKED_VALUES // graph.num_features))
    nodes = torch.arange(count)
    edges, weight = subgraph(nodes, graph.edge_index.long(), graph.edge_weight, False, graph.num_nodes)
    return Graph(x=take_rows(graph.x, nodes), edge_index=edges, edge_weight=weight).to("cpu", torch.float32)


def _other_graph(graph: Graph) -> Graph:
    """A path of another size, with features of the same scale: the file must take any graph."""
    rows = take_rows(graph.x, torch.arange(min(3, graph.num_nodes))).to_dense().float()
    x = torch.cat([rows, rows.flip(0) * 0.5, rows * 0.1])
    path = torch.arange(x.shape[0] - 1)
    edges = torch.stack([torch.cat([path, path + 1]), torch.cat([path + 1, path])])
    return Graph(x=x, edge_index=edges, edge_weight=torch.linspace(0.2, 2.0, path.numel()).repeat(2))


@torch.no_grad()
def _difference(run: Run, network: nn.Module, graph: Graph) -> float:
    """The largest difference of logits, relative to the largest of them."""
    original = deepcopy(network).cpu().float().eval()
    expected: Tensor = original(graph.x, graph.edge_index, graph.edge_weight)
    x = graph.x.to_dense() if graph.is_sparse else graph.x
    found = run(x.contiguous(), *_as_fed(graph, directed=getattr(network, "directed", False)))
    return float((found - expected).abs().max() / expected.abs().max().clamp_min(1.0))


def _as_fed(graph: Graph, *, directed: bool) -> tuple[Tensor, Tensor]:
    """Edges and weights as the file takes them: a graph of arcs may have one direction of an edge, or self-loops."""
    read = normalised_adjacency(
        graph.edge_index, graph.edge_weight, graph.num_nodes, directed=directed, self_loops="none"
    )
    pattern, kept = read.matrix.pattern, read.is_edge
    edges = torch.stack([pattern.col.long(), pattern.row.long()])[:, kept]
    return edges.contiguous(), read.plain.values[kept].contiguous()


def _how_to_feed(trained: TrainedModel, graph: Graph, kind: str, file: str, difference: float) -> dict[str, Any]:
    config = trained.config
    numbers = trained.task == "regression"
    directed = getattr(trained.network, "directed", False)
    return {
        "file": file,
        "format": kind,
        "model": config["model"],
        "task": trained.task,
        "inputs": {
            "x": f"float32 [nodes, {graph.num_features}], dense, encoded as `schema` says",
            "edge_index": "int64 [2, edges], rows source and target; "
            f"{'every arc' if directed else 'both directions of every edge'} once, no self-loops",
            "edge_weight": "float32 [edges]; ones where edges have no weight",
        },
        "output": "float32 [nodes, 1]; times target_spread plus target_mean is the number"
        if numbers
        else f"float32 [nodes, {len(trained.class_names)}] logits; divided by temperature, softmax over the last "
        "axis gives probabilities",
        "nodes_and_edges": "any number",
        "classes": trained.class_names,
        "temperature": None if numbers else trained.run.temperature or 1.0,
        "target_mean": trained.run.target_mean if numbers else None,
        "target_spread": trained.run.target_spread if numbers else None,
        **({} if trained.run.prior is None else {"prior": {**trained.run.prior, "use": PRIOR_USE}}),
        "features": None if graph.feature_names is None else list(graph.feature_names),
        "schema": trained.origin.get("schema"),
        "largest_relative_difference": difference,
        "run": {"number": trained.run.run, "weights_sha256": trained.run.weights_sha256},
        "settings": config["settings"],
    }
