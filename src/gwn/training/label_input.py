"""Known labels as input and as correction: a network that is shown the labels of its training nodes.

Each training step shows a random half of the labels and is scored on the other half, so that the network learns to use
its neighbours' labels and has no own label to read. To predict, all training labels are shown. A training node itself
is answered from the labels of one half alone, that in which it is not, so that no answer depends on the node's own
label, by whatever path the network would carry it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from gwn.adjacency import adjacency_of
from gwn.data.splits import Split
from gwn.errors import GWNError
from gwn.graph import Graph
from gwn.models import ModelSpec
from gwn.sparse import matmul, row_sums
from gwn.training.config import TrainConfig
from gwn.training.smoothing import OFF, Strength, correct_and_smooth

BLOCKS = 2
"""`S Y` and `(S² - diag S²) Y`: so many columns a class stand beside the features."""


def label_features(y: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> Tensor:
    """`[S Y, (S² - diag S²) Y]`, [N, 2 c]: the labels one and two edges away, never a node's own.

    y   [N, c] one row a node, zero where its label is not shown
    S   the symmetric normalised adjacency without self-loops, so that the diagonal its pattern stores is zero
    """
    s = adjacency_of(edge_index, edge_weight, y.shape[0], dtype=y.dtype, device=y.device).matrix
    once = matmul(s, y)
    returning = row_sums(s.with_values(s.values.square()))  # diag S²: there and back along every edge
    return torch.cat([once, matmul(s, once) - returning[:, None] * y], dim=1)


class KnownLabels(nn.Module):
    """A network with the labels it is shown; `model(x, edge_index, edge_weight)` gives logits, as every network here.

    network          takes `[x, Z]`, with Z of `label_features`, where `shown` says so, and `x` alone otherwise
    nodes, classes   the known labels: class `classes[k]` of node `nodes[k]`
    num_classes      c
    shown            whether labels are input
    graph            which graph `nodes` are numbers of, see `fingerprint`
    """

    nodes: Tensor
    classes: Tensor
    graph: Tensor
    strength: Tensor

    def __init__(
        self, network: nn.Module, nodes: Tensor, classes: Tensor, num_classes: int, *, shown: bool, graph: Tensor
    ) -> None:
        super().__init__()
        self.network, self.num_classes, self.shown = network, num_classes, shown
        self.register_buffer("nodes", nodes.clone())
        self.register_buffer("classes", classes.clone())
        self.register_buffer("graph", graph.clone())
        self.register_buffer("strength", torch.tensor(OFF, dtype=torch.float64))

    def forward(
        self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None, rows: Tensor | None = None
    ) -> Tensor:
        """Logits [N, c], or those of the nodes `rows`; no node's depend on its own label."""
        logits = self._answers(x, edge_index, edge_weight, rows)
        if not self.training and any(self.strength.tolist()):
            logits = correct_and_smooth(
                logits, edge_index, edge_weight, self.nodes, self.classes, Strength(*self.strength.tolist())
            )
        return logits if rows is None else logits.index_select(0, rows)

    def _answers(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None, rows: Tensor | None) -> Tensor:
        """What the network itself says of all nodes; of known ones that nobody asks for it may have seen the label."""
        if not self.shown:
            logits: Tensor = self.network(x, edge_index, edge_weight)
            return logits
        everyone = torch.ones_like(self.nodes, dtype=torch.bool)
        answers: Tensor = self.network(self._widened(x, edge_index, edge_weight, everyone), edge_index, edge_weight)
        smoothed = any(self.strength.tolist())
        if rows is not None and not smoothed and not bool(torch.isin(self.nodes, rows).any()):
            return answers
        for half in self._halves():
            seen = self._widened(x, edge_index, edge_weight, ~half)
            answered = self.nodes[half]
            answers = answers.index_copy(0, answered, self.network(seen, edge_index, edge_weight)[answered])
        return answers

    def draw(self, graph: Graph) -> tuple[Graph, Tensor]:
        """One training step: the graph with a random half of the labels shown, and the nodes of the other half."""
        shown = _random_half(self.nodes.numel(), None).to(self.nodes.device)
        seen = replace(graph, x=self._widened(graph.x, graph.edge_index, graph.edge_weight, shown), feature_names=None)
        return seen, self.nodes[~shown]

    def widened(self, graph: Graph) -> Graph:
        """The graph as the network sees it where all labels are shown."""
        everyone = torch.ones_like(self.nodes, dtype=torch.bool)
        x = self._widened(graph.x, graph.edge_index, graph.edge_weight, everyone) if self.shown else graph.x
        return replace(graph, x=x, feature_names=None)

    def _widened(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None, shown: Tensor) -> Tensor:
        """`[x, Z]` of the labels that are `shown`, a mask over `nodes`, divided by their share of all known ones."""
        y = torch.zeros(x.shape[0], self.num_classes, dtype=x.dtype, device=x.device)
        count = int(shown.sum())
        if count:
            y[self.nodes[shown], self.classes[shown]] = shown.numel() / count
        return _beside(x, label_features(y, edge_index, edge_weight))

    def _halves(self) -> tuple[Tensor, Tensor]:
        """Two masks over `nodes`, always the same ones."""
        first = _random_half(self.nodes.numel(), torch.Generator().manual_seed(0)).to(self.nodes.device)
        return first, ~first

    def on(self, graph: Graph, class_names: list[str]) -> tuple[KnownLabels, str]:
        """The network for this graph, and what is shown there in one line.

        On the graph it was trained on, the training labels; on another one the labels that it has.
        """
        if torch.equal(fingerprint(graph), self.graph.cpu()):
            return self, f"the labels of the {self.nodes.numel():,} training nodes are shown"
        nodes, classes = _labels_of(graph, class_names)
        other = KnownLabels(self.network, nodes, classes, self.num_classes, shown=self.shown, graph=fingerprint(graph))
        other.strength = self.strength.clone()  # of its type too: float64 is not on every device
        other.to(self.strength.device).train(self.training)
        what = f"the {nodes.numel():,} labels that it has are shown" if nodes.numel() else "it has no labels to show"
        return other, f"this is not the graph that the model was trained on: {what}"


def build_network(
    model: ModelSpec,
    settings: Mapping[str, Any],
    config: TrainConfig,
    graph: Graph,
    split: Split,
    sizes: tuple[int, int] | None = None,
) -> nn.Module:
    """The network of one run, as `config.labels` and `config.smooth` want it; plain where both are "none".

    sizes   features and classes, where the graph has its labels alone
    """
    require_labels_fit(model, settings, config)
    features, classes = (graph.num_features, graph.num_outputs) if sizes is None else sizes
    shown = config.labels == "masked"
    network = model.build(features + (BLOCKS * classes if shown else 0), classes, **settings)
    if not shown and config.smooth == "none":
        return network
    if graph.labels.is_floating_point():
        raise GWNError("labels=masked and smooth=correct are for classes; leave them out for numeric targets")
    train = split.train.to(graph.labels.device)
    if shown and train.numel() < 2:
        raise GWNError("labels=masked needs at least two training nodes: one is shown, the other scored")
    return KnownLabels(network, train, graph.labels[train], classes, shown=shown, graph=fingerprint(graph))


def rebuild_network(
    model: ModelSpec,
    settings: Mapping[str, Any],
    training: Mapping[str, Any],
    sizes: tuple[int, int],
    weights: Mapping[str, Tensor],
) -> nn.Module:
    """The network that `weights` belong to, before they are loaded; RuntimeError where it is larger than they are."""
    features, classes = sizes
    shown = training.get("labels", "none") == "masked"
    width = features + (BLOCKS * classes if shown else 0)
    asked, there = _numbers_of(model, width, classes, settings), sum(tensor.numel() for tensor in weights.values())
    if asked > there:
        raise RuntimeError(f"the network has {asked:,} numbers and the weights {there:,}")
    network = model.build(width, classes, **settings)
    if not shown and training.get("smooth", "none") == "none":
        return network
    return KnownLabels(network, weights["nodes"], weights["classes"], classes, shown=shown, graph=weights["graph"])


def _numbers_of(model: ModelSpec, features: int, classes: int, settings: Mapping[str, Any]) -> int:
    """How many numbers a network would have, without memory for any; 0 where one can only be built with them."""
    try:
        with torch.device("meta"):
            return sum(tensor.numel() for tensor in model.build(features, classes, **settings).state_dict().values())
    except RuntimeError:  # somebody else's network may look at its numbers
        return 0


def require_labels_fit(model: ModelSpec, settings: Mapping[str, Any], config: TrainConfig) -> None:
    """Refuse known labels where a step does not see the whole graph, or the network does not look at features."""
    asked = [name for name, value in (("labels", config.labels), ("smooth", config.smooth)) if value != "none"]
    if not asked:
        return
    what = f"{asked[0]}={getattr(config, asked[0])}"
    if not model.gradients:
        raise GWNError(f"{what} needs a model that learns by gradients, which {model.name} does not; use another model")
    if config.labels == "masked" and "features" in model.ignores:
        raise GWNError(
            f"{what} puts labels beside the features, which {model.name} does not look at; use another model"
        )
    if settings.get("precompute"):
        raise GWNError(f"{what} needs other input in every step, which precompute has beforehand; use one of them")
    if config.partitions > 0:
        raise GWNError(f"{what} needs the whole graph in a step, and partitions cut it; use one of them")


def fingerprint(graph: Graph) -> Tensor:
    """SHA-256 of nodes and edges, [32]: whether numbers of nodes still mean the same nodes."""
    digest = hashlib.sha256(str((graph.num_nodes, graph.node_ids)).encode())
    digest.update(graph.edge_index.to(torch.int64).cpu().contiguous().numpy().tobytes())
    return torch.frombuffer(bytearray(digest.digest()), dtype=torch.uint8)


def _labels_of(graph: Graph, class_names: list[str]) -> tuple[Tensor, Tensor]:
    """The nodes of another graph whose label is one of these classes, and its number among them."""
    place = {name: number for number, name in enumerate(class_names)}
    numbers = torch.tensor([place.get(graph.label_name(number), -1) for number in range(graph.num_classes)])
    y = torch.full((graph.num_nodes,), -1) if graph.y is None else graph.y.cpu()
    known = graph.labelled.cpu().nonzero().flatten()
    classes = numbers[y[known]] if known.numel() else known
    return known[classes >= 0], classes[classes >= 0]


def _random_half(count: int, generator: torch.Generator | None) -> Tensor:
    """A mask with half of the entries set, rounded down but at least one."""
    mask = torch.zeros(count, dtype=torch.bool)
    mask[torch.randperm(count, generator=generator)[: max(1, count // 2)]] = True
    return mask


def _beside(x: Tensor, z: Tensor) -> Tensor:
    """`[x, Z]`, sparse where `x` is."""
    if x.layout != torch.sparse_csr:
        return torch.cat([x, z], dim=1)
    rows, more = x.shape[0], z.shape[1]
    crow, counts = x.crow_indices(), x.crow_indices().diff()
    ends = crow + more * torch.arange(rows + 1, device=x.device, dtype=crow.dtype)
    stored = x.values().numel()
    col = torch.empty(stored + rows * more, dtype=crow.dtype, device=x.device)
    values = torch.empty(stored + rows * more, dtype=x.dtype, device=x.device)
    shift = torch.repeat_interleave(torch.arange(rows, device=x.device), counts) * more
    old = torch.arange(stored, device=x.device) + shift
    new = (ends[1:, None] - more + torch.arange(more, device=x.device)).flatten()
    col[old], values[old] = x.col_indices(), x.values()
    col[new] = (x.shape[1] + torch.arange(more, device=x.device, dtype=crow.dtype)).repeat(rows)
    values[new] = z.flatten()
    return torch.sparse_csr_tensor(ends, col, values, (rows, x.shape[1] + more), check_invariants=False)
