"""H2GCN (Zhu et al., NeurIPS 2020)."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gwn.adjacency import Adjacency, normalised_adjacency
from gwn.dropout import dropout
from gwn.errors import GWNError
from gwn.models.peers.layers import graph_of
from gwn.models.peers.precompute_cache import cached_by_graph
from gwn.networks.feedforward import Linear, drop_features
from gwn.sparse import SparseMatrix, sparse_linear

LARGEST = 200_000_000
"""Paths of length two: each is looked at, and 16 bytes of it held."""


class H2GCN(nn.Module):
    """`R(k) = [Â1 R(k-1) || Â2 R(k-1)]`, `R(0) = relu(x W)`, logits from `[R(0) || ... || R(K)]`.

    `Â_h = D_h^-1/2 A_h D_h^-1/2` of the nodes exactly `h` steps away, the node itself in neither; nothing is learned
    between. Defaults are the authors' (H2GCN.py, network_setup): K = 2 rounds (H2GCN-2; 1 is H2GCN-1), 64 channels,
    dropout 0.5 before the head and none on the input. Choice: edge weights count in `Â1`; `Â2` only asks which nodes
    there are.
    """

    def __init__(
        self, in_channels: int, hidden_channels: int, out_channels: int, *, rounds: int = 2, dropout: float = 0.5
    ) -> None:
        super().__init__()
        if rounds < 1:
            raise GWNError(f"rounds must be at least 1; got {rounds}")
        self.rounds, self.dropout = rounds, dropout
        self.encoder = Linear(in_channels, hidden_channels, bias=False)
        self.head = Linear(hidden_channels * (2 ** (rounds + 1) - 1), out_channels, bias=False)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        nn.init.xavier_uniform_(self.encoder.weight)
        nn.init.xavier_uniform_(self.head.weight)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        near = graph_of(x, edge_index, edge_weight, self_loops="none")
        far = cached_by_graph(edge_index, edge_weight, ("h2gcn", x.shape[0], x.dtype), lambda: second_neighbours(near))
        states = [F.relu(self.encoder(drop_features(x, 0.0, self.training)))]
        for _ in range(self.rounds):
            last = states[-1]
            states.append(torch.cat([sparse_linear(near.matrix, last), sparse_linear(far, last)], dim=1))
        logits: Tensor = self.head(dropout(torch.cat(states, dim=1), self.dropout, self.training))
        return logits


def second_neighbours(near: Adjacency) -> SparseMatrix:
    """`Â2`: nodes that two steps reach and neither none nor one does."""
    edges, nodes = near.edge_index, near.num_nodes
    degree = torch.bincount(edges[0], minlength=nodes)
    paths = int(degree.square().sum())
    if paths > LARGEST:
        raise GWNError(
            f"h2gcn takes graphs with at most {LARGEST} paths of length two (they are all listed); this one has {paths}"
        )

    pairs = edges.cpu().numpy()
    one = sp.csr_array((np.ones(pairs.shape[1]), (pairs[1], pairs[0])), shape=(nodes, nodes))
    two = (one @ one).tocoo()
    source, target = torch.from_numpy(two.col.astype(np.int64)), torch.from_numpy(two.row.astype(np.int64))
    key = torch.from_numpy(pairs[1].astype(np.int64) * nodes + pairs[0])
    new = (source != target) & ~torch.isin(target * nodes + source, key)
    reached = torch.stack([source, target])[:, new].to(edges.device)
    return normalised_adjacency(reached, None, nodes, dtype=near.matrix.dtype).matrix
