"""A Laplacian of your own: one short class, and what works with the others works with it.

Here L_a = -(S + I): a wave that pulls a node away from its neighbours. Its slow modes are those in which neighbours
differ, so it suits graphs whose edges join different classes. The eigenvalues of S lie in [-1, 1], so those of L_a lie
in [-2, 0], and leapfrog is bounded up to tau = sqrt(2), as it is for the physical wave S - I.
"""

import torch
from torch.nn.functional import cross_entropy

from gwn import GWN
from gwn.adjacency import Adjacency
from gwn.data import contextual_sbm
from gwn.laplacians import LAPLACIANS, FixedOperator, Laplacian
from gwn.stability import analyse


class Repelling(Laplacian):
    """`L_a = -(S + I)`, the same in every step."""

    fixed, symmetric = True, True
    interval = (-2.0, 0.0)

    def on(self, adjacency: Adjacency) -> FixedOperator:
        return FixedOperator(adjacency, shift=-1.0, scale=-1.0)


LAPLACIANS["repelling"] = Repelling

graph = contextual_sbm(nodes=600, homophily=0.1, classes=2, signal=0.5)  # nine edges of ten join different classes
train = torch.arange(graph.num_nodes) < 100
for name in ("physical", "repelling"):
    torch.manual_seed(0)
    model = GWN(graph.num_features, 16, graph.num_classes, laplacian=name, time=4.0, tau=1.0)
    found = analyse(model, graph)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=1e-2)
    for _ in range(100):
        optimizer.zero_grad()
        cross_entropy(model.train()(graph.x, graph.edge_index)[train], graph.y[train]).backward()
        optimizer.step()
    right = (model.eval()(graph.x, graph.edge_index).argmax(dim=1) == graph.y)[~train].float().mean()
    print(
        f"{name:9}  spectrum {found.low:.2f} to {found.high:.2f}, stable to {found.largest_tau:.2f}, {right:.0%} right"
    )
