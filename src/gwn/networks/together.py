"""Many runs of one configuration as one network: R copies of the graph side by side, each with weights of its own.

The operator is the same for every run, so R networks are one network on the disjoint union of R graphs: one sparse
product a step instead of R, and the overhead of one. Each run draws its dropout from a generator of its own, so it sees
the numbers that it would see alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from gwn.adjacency import adjacency_of
from gwn.dropout import dropout_mask
from gwn.errors import GWNError
from gwn.graph import Graph
from gwn.networks.feedforward import as_matrix
from gwn.networks.wave import GWN
from gwn.schemes import integrate
from gwn.sparse import Pattern, SparseMatrix, sparse_linear

PARAMETERS = ("phi0.layers.0", "phi1.layers.0", "head.layers.0")


class GWNTogether(nn.Module):
    """R GWNs of the same settings on one graph: `forward` gives logits [R, N, c].

    models       the networks as they start; their weights are copied
    generators   where each run's dropout comes from
    """

    def __init__(self, models: Sequence[GWN], graph: Graph, generators: Sequence[torch.Generator]) -> None:
        super().__init__()
        check_together(models[0])
        self._model = [models[0]]  # in a list, so that its parameters are not ours
        self.graph = graph
        self.generators = list(generators)
        states = [dict(model.named_parameters()) for model in models]
        for name in PARAMETERS:
            for part in ("weight", "bias"):
                stacked = torch.stack([state[f"{name}.{part}"].detach() for state in states])
                self.register_parameter(_plain(name, part), nn.Parameter(stacked))
        self._union()

    @property
    def runs(self) -> int:
        return len(self.generators)

    def keep(self, places: Sequence[int], optimizer: torch.optim.Optimizer) -> None:
        """Go on with some of the runs only, in parameters and in the optimizer's memory."""
        chosen = torch.tensor(list(places))
        self.generators = [self.generators[place] for place in places]
        for parameter in self.parameters():
            for value in optimizer.state[parameter].values():
                if value.shape == parameter.shape:
                    value.data = value.data.index_select(0, chosen).contiguous()
            parameter.data = parameter.data.index_select(0, chosen).contiguous()
            parameter.grad = None
        self._union()

    def weights(self, place: int) -> dict[str, Tensor]:
        """One run's weights, as the state of a plain GWN."""
        return {
            f"{name}.{part}": self.get_parameter(_plain(name, part))[place].detach().clone()
            for name in PARAMETERS
            for part in ("weight", "bias")
        }

    def forward(self, rows: Tensor) -> Tensor:
        """Logits [R, n, c] of the nodes `rows`, [R, n]: each run has its own."""
        model, size = self._model[0], self.graph.num_nodes
        phi0, phi1 = self._encode()
        operator = model.laplacian.on(self._adjacency)
        wave = integrate(operator, model.scheme, phi0, phi1, model.num_steps)
        places = rows + size * torch.arange(self.runs, device=rows.device)[:, None]
        seen = wave.index_select(0, places.reshape(-1)).view(self.runs, rows.shape[1], -1)
        if self.training and model.dropout > 0:
            masks = [dropout_mask(seen[r], model.dropout, self.generators[r]) for r in range(self.runs)]
            seen = seen * torch.stack(masks)
        head = self.get_parameter(_plain(PARAMETERS[2], "weight"))
        return torch.baddbmm(self.get_parameter(_plain(PARAMETERS[2], "bias"))[:, None], seen, head)

    def _encode(self) -> tuple[Tensor, Tensor]:
        """Displacement and velocity of all runs, [R N, d] each."""
        model = self._model[0]
        dropped = self._drop_features()
        sides = []
        for name, network in zip(PARAMETERS, (model.phi0, model.phi1), strict=False):
            weight, bias = (self.get_parameter(_plain(name, part)) for part in ("weight", "bias"))
            if isinstance(dropped, SparseMatrix):
                flat = sparse_linear(dropped, weight.flatten(0, 1))
                out = flat.view(self.runs, -1, weight.shape[2]) + bias[:, None]
            else:
                out = torch.baddbmm(bias[:, None], dropped, weight)
            sides.append(network.activation(out).flatten(0, 1))
        return sides[0], sides[1]

    def _drop_features(self) -> Tensor | SparseMatrix:
        """The input of every run: a block-diagonal sparse matrix, or [R, N, f] where the features are dense."""
        x, p = as_matrix(self._model[0].features(self.graph.x)), self._model[0].input_dropout
        values = x.values if isinstance(x, SparseMatrix) else x
        if self.training and p > 0:
            stacked = torch.stack([values * dropout_mask(values, p, generator) for generator in self.generators])
        else:
            stacked = values.expand(self.runs, *values.shape)
        return self._blocks.with_values(stacked.reshape(-1)) if self._blocks is not None else stacked

    def _union(self) -> None:
        """Edges and features of R copies of the graph."""
        graph, model, size = self.graph, self._model[0], self.graph.num_nodes
        offsets = size * torch.arange(self.runs, device=graph.edge_index.device)
        self._edges = (graph.edge_index[:, None, :] + offsets[None, :, None]).reshape(2, -1)
        weight = None if graph.edge_weight is None else graph.edge_weight.repeat(self.runs)
        self._adjacency = adjacency_of(
            self._edges,
            weight,
            size * self.runs,
            dtype=graph.x.dtype,
            directed=model.directed,
            self_loops=model.self_loops,
        )
        x = as_matrix(model.features(graph.x))
        self._blocks: SparseMatrix | None = None
        if isinstance(x, SparseMatrix):
            runs = torch.arange(self.runs, device=x.values.device)[:, None]
            rows = (x.pattern.row.long()[None] + x.pattern.shape[0] * runs).reshape(-1)
            columns = (x.pattern.col.long()[None] + x.pattern.shape[1] * runs).reshape(-1)
            shape = (x.pattern.shape[0] * self.runs, x.pattern.shape[1] * self.runs)
            pattern = Pattern.from_sorted(rows, columns, shape)
            self._blocks = SparseMatrix(pattern, x.values.repeat(self.runs))


def check_together(model: GWN) -> None:
    """Refuse a network whose runs cannot share one pass."""
    plain = len(model.phi0.layers) == len(model.head.layers) == 1 and type(model.readout).__name__ == "Last"
    plain = plain and isinstance(model.norm, nn.Identity)
    if not (plain and model.laplacian.fixed and not list(model.laplacian.parameters())) or model.precompute:
        raise GWNError(
            "runs can be trained together with a Laplacian that neither changes nor learns, one layer before and after "
            "the wave without norm, and readout 'last'; train these one by one"
        )


def _plain(name: str, part: str) -> str:
    return f"{name}.{part}".replace(".", "_")
