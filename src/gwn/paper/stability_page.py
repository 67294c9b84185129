"""The tables of `docs/stability.md`: `python -m gwn.paper.stability_page` writes them anew between their markers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from gwn.data import load_dataset
from gwn.io import write_atomic
from gwn.laplacians import FixedOperator, Step
from gwn.networks import GWN
from gwn.pages.markdown import fill, markdown_table
from gwn.paper.cell import TAUS
from gwn.schemes import Bessel, Leapfrog, Newmark, Scheme, count_steps, integrate
from gwn.schemes.bessel import series_terms
from gwn.stability import analyse

PAGE = Path("docs/stability.md")
DATASETS = ("cora", "citeseer", "photo", "wisconsin", "texas")
TIME = 10.0


def growth_table() -> str:
    """Growth per step of leapfrog, from the extreme eigenvalues of every graph."""
    rows = [["graph", "L_a", "spectrum", *(f"tau = {tau:g}" for tau in TAUS), "stable to"]]
    formula = [Leapfrog(tau).growth(1.0) for tau in TAUS]
    rows.append(["any, by formula", "S", "up to 1", *(f"{value:.4f}" for value in formula), "none"])
    for name in DATASETS:
        graph = load_dataset(name).graph
        for laplacian, text in (("sym", "S"), ("physical", "S - I")):
            found = analyse(GWN(graph.num_features, 1, 2, laplacian=laplacian, tau=TAUS[0]), graph)
            growth = [max(Leapfrog(tau).growth(mu) for mu in (found.low, found.high)) for tau in TAUS]
            largest = f"{found.largest_tau:.4f}" if found.largest_tau > 0 else "none"
            spectrum = f"{found.low:.4f} ... {found.high:.4f}"
            rows.append([name, text, spectrum, *(f"{value:.4f}" for value in growth), largest])
    return markdown_table(rows)


def cost_table() -> str:
    """The physical wave on Cora up to T = 10: what every scheme costs, and how far it is from the exact solution."""
    graph = load_dataset("cora").graph
    network = GWN(graph.num_features, 1, 2, laplacian="physical")
    generator = torch.Generator().manual_seed(0)
    phi0, phi1 = torch.randn(2, graph.num_nodes, 8, dtype=torch.float64, generator=generator)
    operator = _Counting(network.adjacency(phi0, graph.edge_index), shift=-1.0)
    exact = integrate(operator, Bessel(TIME), phi0, phi1, 1)
    rows = [["scheme", "tau", "steps", "sparse products, float32", "relative error at T = 10, float64"]]
    kinds: list[tuple[type[Scheme], str, tuple[float, ...]]] = [
        (Leapfrog, "leapfrog", (0.1, 0.5, 1.0)),
        (Newmark, "newmark", (0.5, 1.0, 2.0, 5.0)),
        (Bessel, "bessel", (1.0, 5.0, 10.0)),
    ]
    for kind, name, taus in kinds:
        for tau in taus:
            steps = count_steps(TIME, tau)
            error = float((integrate(operator, kind(tau), phi0, phi1, steps) - exact).norm() / exact.norm())
            shown = f"{error:.1e}" if error > 1e-10 else "below 1e-10"
            rows.append(
                [name, f"{tau:g}", str(steps), str(_products(network, kind(tau), steps, graph.edge_index)), shown]
            )
    return markdown_table(rows)


def _products(network: GWN, scheme: Scheme, steps: int, edge_index: Tensor) -> int:
    """Sparse products of a whole run in float32."""
    if isinstance(scheme, Bessel):
        return steps * (series_terms(scheme.tau) + 1)
    phi0, phi1 = torch.randn(2, int(edge_index.max()) + 1, 8, generator=torch.Generator().manual_seed(0))
    operator = _Counting(network.adjacency(phi0, edge_index), shift=-1.0)
    integrate(operator, scheme, phi0, phi1, steps)
    return operator.products


class _Counting(FixedOperator):
    products = 0

    def advance_(self, n: int, step: Step, x: Tensor, x_prev: Tensor, x0: Tensor) -> Tensor:
        self.products += 1
        return super().advance_(n, step, x, x_prev, x0)


COMMAND = "python -m gwn.paper.stability_page"
TABLES: dict[str, Callable[[], str]] = {"growth": growth_table, "cost": cost_table}


def rewritten(page: str) -> str:
    """The page with every generated table computed anew."""
    for name, table in TABLES.items():
        page = fill(page, COMMAND, name, table())
    return page


if __name__ == "__main__":
    write_atomic(PAGE, rewritten(PAGE.read_text(encoding="utf-8")).encode())
