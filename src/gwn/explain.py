"""Why a node is predicted as it is: which neighbours and which columns moved it, by integrated gradients.

    a_vj = (x_vj - b_j) * integral over s from 0 to 1 of  d f(b + s (x - b)) / d x_vj

for every feature j of every node v, where f is the margin of a class at the explained node and b a baseline row that
stands for "nothing known". The contributions add up to f(x) - f(b), and that is checked: the number of points of the
integral is doubled until they do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path
from torch import Tensor, nn
from torch_geometric.utils import subgraph

from gwn.data.splits import Split
from gwn.errors import GWNError
from gwn.graph import Graph
from gwn.models import model_spec
from gwn.networks import GWN
from gwn.registry import require_known
from gwn.sparse import take_rows
from gwn.training.label_input import KnownLabels
from gwn.training.metrics import number_text
from gwn.training.predict import TrainedModel
from gwn.training.prior import corrected

TOLERANCE = 0.01
"""How much of all contributions may be missing in their sum."""

FIRST_POINTS, MOST_POINTS = 8, 1024
WHOLE_GRAPH = 20_000_000
"""Feature values of a graph that is looked at as a whole; of a larger one, the part that reaches the node."""

NO_FEATURES = "this model does not look at the features, so none explains what it says; explain a run of another model"

MOST_EDGES = 100
"""Edges that are taken away in turn."""

MOST_VALUES = 60_000_000
"""Feature values that can be explained at once: about three gigabytes of gradients in float64."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Explanation:
    """Contributions of features to the margin of one class over another at one node.

    node            the explained node's number in the graph
    target, rival   class numbers; the margin is logit(target) - logit(rival). `rival` is None where there is one output
    margin, start   f(x) and f(b)
    nodes, hops     [M] the nodes that were looked at, and how many edges lead from them to the node; -1 for none
    contributions   [M, f]
    predicted, probability   what the run answers at the node, corrected and smoothed where it does that
    points          evaluations of the gradient that were needed
    edges           the node's neighbours, and what the margin loses without the edges to them
    """

    node: int
    target: int
    rival: int | None
    margin: float
    start: float
    nodes: Tensor
    hops: Tensor
    contributions: Tensor
    points: int
    predicted: int
    probability: float
    edges: tuple[tuple[int, float], ...] = ()

    @property
    def residual(self) -> float:
        """What the contributions lack to f(x) - f(b)."""
        return self.margin - self.start - float(self.contributions.sum())

    @property
    def by_node(self) -> Tensor:
        """[M] the contribution of all features of a node."""
        return self.contributions.sum(1)

    def by_column(self, columns: Sequence[str]) -> tuple[list[str], Tensor, Tensor]:
        """Contributions of every column of the node itself, and of all other nodes together.

        columns   for every feature, the column it was made from
        """
        names = list(dict.fromkeys(columns))
        place = {name: index for index, name in enumerate(names)}
        index = torch.tensor([place[name] for name in columns], dtype=torch.long)
        own = self.nodes == self.node
        sides = (self.contributions[own].sum(0), self.contributions[~own].sum(0))
        own_sum, other_sum = (side.new_zeros(len(names)).index_add_(0, index, side) for side in sides)
        return names, own_sum, other_sum


BASELINES: dict[str, str] = {"mean": "the mean of the training nodes", "zero": "all features zero"}


def baseline_row(kind: str, x: Tensor, train: Tensor) -> Tensor:
    """[f] the features of a node of which nothing is known: the mean over the training nodes, or zeros."""
    require_known("baseline", kind, BASELINES)
    if kind == "zero":
        return torch.zeros(x.shape[1], dtype=torch.float64)
    rows = take_rows(x, train)
    if rows.layout == torch.sparse_csr:
        sums = torch.zeros(x.shape[1], dtype=torch.float64)
        return sums.index_add_(0, rows.col_indices().long(), rows.values().double()) / max(1, train.numel())
    return rows.double().mean(0)


def explain(
    network: nn.Module,
    graph: Graph,
    node: int,
    baseline: Tensor,
    *,
    target: int | None = None,
    rival: int | None = None,
    local: bool = True,
    with_edges: bool = False,
    tolerance: float = TOLERANCE,
    temperature: float = 1.0,
    prior: Mapping[str, Any] | None = None,
) -> Explanation:
    """Why `network` answers at `node` of `graph` as it does.

    baseline        [f] the features of a node of which nothing is known
    target, rival   by default the predicted class and the strongest of the others
    local           whether the network answers for a node from what its edges lead to alone
    with_edges      also take away each edge of the node in turn
    temperature     what logits are divided by to become probabilities, as the run learnt it
    prior           of the run's record, which the logits are corrected for
    """
    network = _exact(network)
    whole = graph.to("cpu", torch.float64)
    with torch.no_grad():
        logits = corrected(network(whole.x, whole.edge_index, whole.edge_weight)[node], prior)
    if not bool(torch.isfinite(logits).all()):
        raise GWNError("the model overflows on this graph; retrain with a smaller time or tau")
    target, rival = _classes(logits, target, rival)
    if isinstance(network, KnownLabels):
        network.strength.zero_()  # smoothing has no gradient: what moves is the network's own answer before it
    baseline = baseline.to("cpu", torch.float64)

    def margin(x: Tensor, part: Graph, at: int) -> Tensor:
        out = corrected(network(x, part.edge_index, part.edge_weight)[at], prior)
        return out[target] if rival is None else out[target] - out[rival]

    part, nodes, hops = _seen_part(whole, node, baseline, margin, local)
    at = int((nodes == node).nonzero())
    x = part.x.to_dense() if part.is_sparse else part.x
    difference = x - baseline
    with torch.no_grad():
        end, start = (float(margin(values, part, at)) for values in (x, baseline.expand_as(x).contiguous()))
    points = FIRST_POINTS
    while True:
        contributions = _integrate(lambda s: _gradient(margin, baseline + s * difference, part, at), difference, points)
        missing = end - start - float(contributions.sum())
        if abs(missing) <= tolerance * float(contributions.sum(1).abs().sum()):
            break
        if points >= MOST_POINTS:
            raise GWNError(
                f"the contributions do not add up: {missing:.3g} of {end - start:.3g} is missing after {points} "
                f"points, because this model's answer jumps on the way from the baseline; try the other "
                f"--baseline, or explain another model"
            )
        points *= 2
    return Explanation(
        node=node,
        target=target,
        rival=rival,
        margin=end,
        start=start,
        nodes=nodes,
        hops=hops,
        contributions=contributions,
        points=points,
        predicted=int(logits.argmax()),
        probability=float((logits / temperature).softmax(0).max()),
        edges=_edge_effects(margin, part, at, nodes, end) if with_edges else (),
    )


Margin = Callable[[Tensor, Graph, int], Tensor]


def _exact(network: nn.Module) -> nn.Module:
    """A copy in double precision and evaluation mode, through which gradients reach the features."""
    copy = deepcopy(network).to("cpu", torch.float64).eval()
    for parameter in copy.parameters():
        parameter.requires_grad_(False)
    for module in copy.modules():
        if isinstance(module, GWN):
            module.precompute = False  # the same function; the shortcut has no gradient for the features
    return copy


def _classes(logits: Tensor, target: int | None, rival: int | None) -> tuple[int, int | None]:
    """The class that is explained and the one it is compared with."""
    if logits.numel() == 1:
        return 0, None
    order = logits.argsort(descending=True).tolist()
    target = order[0] if target is None else target
    if rival == target:
        raise GWNError("a class cannot be compared with itself; give another one with --against")
    return target, next(index for index in order if index != target) if rival is None else rival


def _gradient(margin: Margin, x: Tensor, graph: Graph, at: int) -> Tensor:
    x = x.detach().requires_grad_()
    with torch.enable_grad():
        value = margin(x, graph, at)
        if not value.requires_grad:
            raise GWNError(NO_FEATURES)
        (gradient,) = torch.autograd.grad(value, x, allow_unused=True)
    if gradient is None:
        raise GWNError(NO_FEATURES)
    return gradient


def _edge_effects(margin: Margin, part: Graph, at: int, nodes: Tensor, whole: float) -> tuple[tuple[int, float], ...]:
    """For every neighbour, f(x) minus f(x) without the edges between it and the node; no gradient, edges are there or
    not."""
    source, target = part.edge_index
    mine = (source == at) | (target == at)
    neighbours = torch.unique(part.edge_index[:, mine])
    effects = []
    for neighbour in neighbours[neighbours != at][:MOST_EDGES].tolist():
        kept = ~(mine & ((source == neighbour) | (target == neighbour)))
        weight = None if part.edge_weight is None else part.edge_weight[kept]
        without = replace(part, edge_index=part.edge_index[:, kept].contiguous(), edge_weight=weight)
        with torch.no_grad():
            effects.append((int(nodes[neighbour]), whole - float(margin(part.x, without, at))))
    return tuple(sorted(effects, key=lambda each: -abs(each[1])))


def _integrate(gradient: Callable[[float], Tensor], difference: Tensor, points: int) -> Tensor:
    """Gauss-Legendre: exact for a network that is linear along the way, and soon so for a smooth one."""
    places, weights = np.polynomial.legendre.leggauss(points)
    total = torch.zeros_like(difference)
    for place, weight in zip(places, weights, strict=True):
        total.add_(gradient(float(place + 1) / 2), alpha=float(weight) / 2)
    return total.mul_(difference)


def hops_to(graph: Graph, node: int) -> Tensor:
    """[N] how many edges lie between every node and `node`, whatever their direction; -1 where none lead there."""
    source, target = graph.edge_index.cpu().numpy()
    edges = csr_array((np.ones(source.size), (source, target)), shape=(graph.num_nodes, graph.num_nodes))
    distance = shortest_path(edges, directed=False, unweighted=True, indices=node)
    return torch.from_numpy(np.where(np.isfinite(distance), distance, -1).astype(np.int64))


def _seen_part(graph: Graph, node: int, baseline: Tensor, margin: Margin, local: bool) -> tuple[Graph, Tensor, Tensor]:
    """The part of the graph that decides the answer at `node`, its node numbers, and their distances.

    Of a large graph, rings around the node are added until neither the answer nor the answer at the baseline changes.
    """
    everyone = torch.arange(graph.num_nodes)
    if graph.num_nodes * graph.num_features <= WHOLE_GRAPH:
        return graph, everyone, hops_to(graph, node)
    with torch.no_grad():
        answer = float(margin(graph.x, graph, node))
    hops, before = hops_to(graph, node), None
    reach = 2
    while local:
        nodes = ((hops >= 0) & (hops <= reach)).nonzero().flatten()
        if nodes.numel() * graph.num_features > MOST_VALUES:
            break
        part, at = _induced(graph, nodes), int((nodes == node).nonzero())
        with torch.no_grad():
            rows = baseline.expand(nodes.numel(), -1).contiguous()
            found = float(margin(part.x, part, at)), float(margin(rows, part, at))
        scale = 1e-9 * (1 + abs(answer) + abs(found[1]))
        same = before is not None and all(abs(a - b) <= scale for a, b in zip(found, before, strict=True))
        if (same and abs(found[0] - answer) <= scale) or reach > int(hops.max()):
            return part, nodes, hops[nodes]
        reach, before = reach + max(1, reach // 2), found
    if graph.num_nodes * graph.num_features <= MOST_VALUES:
        return graph, everyone, hops
    raise GWNError(
        f"the part of the graph that reaches node {node} has more than {MOST_VALUES:,} feature values, which is too "
        f"much to explain; choose a node with fewer edges, or a model with fewer steps"
    )


def _induced(graph: Graph, nodes: Tensor) -> Graph:
    """The nodes, and the edges between them."""
    edges, weight = subgraph(nodes, graph.edge_index.long(), graph.edge_weight, True, graph.num_nodes)
    return Graph(x=take_rows(graph.x, nodes), edge_index=edges, edge_weight=weight)


def explain_run(
    trained: TrainedModel,
    graph: Graph,
    split: Split,
    node: int,
    *,
    columns: Sequence[str],
    target: int | None = None,
    rival: int | None = None,
    baseline: str = "mean",
    with_edges: bool = False,
) -> dict[str, Any]:
    """The explanation of one node of a run as plain data: columns and nodes, those that moved most first.

    columns   for every feature, the column it was made from
    """
    spec = model_spec(trained.config["model"])
    if not spec.gradients:
        raise GWNError(
            f"{spec.name} is made of trees and has no gradients to explain it by; explain a run of another model"
        )
    found = explain(
        trained.network,
        graph,
        node,
        baseline_row(baseline, graph.x, split.train),
        target=target,
        rival=rival,
        local=spec.local and not spec.transductive and not isinstance(trained.network, KnownLabels),
        with_edges=with_edges,
        temperature=trained.run.temperature or 1.0,
        prior=trained.run.prior,
    )
    numbers = trained.task == "regression"
    names = ["the number"] if numbers else trained.class_names
    factor, offset = (trained.scaling.spread, trained.scaling.mean) if numbers else (1.0, 0.0)

    def id_of(number: int) -> str:
        return str(number) if graph.node_ids is None else graph.node_ids[number]

    def plain(number: float) -> str:
        return number_text(number, 6).replace(",", "")  # for files, too

    def known(number: int) -> str | None:
        if graph.y is None or not bool(graph.labelled[number]):
            return None
        return plain(float(graph.y[number])) if numbers else names[int(graph.y[number])]

    by_node = factor * found.by_node
    order = by_node.abs().argsort(descending=True, stable=True)
    order = order[by_node[order] != 0]
    rings = {kind: float(by_node[inside].sum()) for kind, inside in _rings(found.hops).items()}
    column_names, own, others = found.by_column(columns)
    own, others = factor * own, factor * others
    column_order = (own.abs() + others.abs()).argsort(descending=True, stable=True).tolist()
    part = next((kind for kind in ("train", "val", "test") if bool((getattr(split, kind) == node).any())), "")
    return {
        "node": id_of(node),
        "number": node,
        "predicted": plain(offset + factor * found.margin) if numbers else names[found.predicted],
        "probability": None if numbers else found.probability,
        "known": known(node),
        "part": PARTS[part],
        "smoothed": isinstance(trained.network, KnownLabels) and bool(trained.network.strength.any()),
        "class": names[found.target],
        "against": None if found.rival is None else names[found.rival],
        "margin": offset + factor * found.margin,
        "start": offset + factor * found.start,
        "baseline": BASELINES[baseline],
        "residual": factor * found.residual,
        "tolerance": TOLERANCE,
        "points": found.points,
        "rings": rings,
        "columns": [
            {"column": column_names[k], "own": float(own[k]), "others": float(others[k])} for k in column_order
        ],
        "nodes": [
            {
                "node": id_of(int(found.nodes[k])),
                "hops": None if found.hops[k] < 0 else int(found.hops[k]),
                "known": known(int(found.nodes[k])),
                "contribution": float(by_node[k]),
            }
            for k in order.tolist()
        ],
        "edges": [{"node": id_of(number), "effect": factor * effect} for number, effect in found.edges],
    }


def _rings(hops: Tensor) -> dict[str, Tensor]:
    return {"itself": hops == 0, "neighbours": hops == 1, "farther": (hops > 1) | (hops < 0)}


PARTS = {"train": "a training node", "val": "a validation node", "test": "a test node", "": "in no part of the split"}


HEADINGS = ("what", "name", "edges_away", "contribution")


def to_rows(record: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """An explanation as rows of one table."""
    rows: list[tuple[Any, ...]] = [
        (what, each["column"], None, each[side])
        for what, side in (("column of this node", "own"), ("column of other nodes", "others"))
        for each in record["columns"]
    ]
    rows += [("node", each["node"], each["hops"], each["contribution"]) for each in record["nodes"]]
    return rows + [("edge to", each["node"], 1, each["effect"]) for each in record["edges"]]
