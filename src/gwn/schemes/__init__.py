"""Time: how the graph wave equation is stepped forward, one integrator a file, and the one loop that runs them."""

from gwn.schemes.base import Scheme
from gwn.schemes.integrate import integrate
from gwn.schemes.leapfrog import Leapfrog

SCHEMES: dict[str, type[Scheme]] = {
    "leapfrog": Leapfrog,
}

__all__ = ["SCHEMES", "Leapfrog", "Scheme", "integrate"]
