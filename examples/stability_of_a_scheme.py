"""How fast does a wave grow? Four Laplacians and schemes, five step lengths, one graph.

A growth factor of 1 means bounded. The paper's operator (sym, leapfrog) grows for every step length; the physical wave
is bounded up to sqrt(2); Newmark's scheme and the exact solution (bessel) are bounded for every step.
"""

from torch_geometric.datasets import KarateClub

from gwn import GWN, Graph
from gwn.stability import analyse

TAUS = (0.2, 0.5, 1.0, 2.0, 5.0)
PAIRS = (("sym", "leapfrog"), ("physical", "leapfrog"), ("physical", "newmark"), ("physical", "bessel"))

graph = Graph.from_pyg(KarateClub()[0])
print("growth in one step   " + "".join(f"  tau = {tau:<4g}" for tau in TAUS))
for laplacian, scheme in PAIRS:
    growth = []
    for tau in TAUS:
        # Without allow_unstable, a step above the bound of a Laplacian that has one is refused.
        dynamics = {"laplacian": laplacian, "scheme": scheme, "time": 10.0, "tau": tau, "allow_unstable": True}
        model = GWN(graph.num_features, 8, graph.num_classes, **dynamics)
        growth.append(analyse(model, graph).growth)
    print(f"{laplacian:9} {scheme:9}  " + "".join(f"{factor:11.4f} " for factor in growth))
