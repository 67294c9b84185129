"""Time: how the graph wave equation is stepped forward, one integrator a file, and the one loop that runs them."""

from gwn.schemes.base import Scheme, count_steps
from gwn.schemes.bessel import Bessel
from gwn.schemes.damped import Damped
from gwn.schemes.heat import Heat
from gwn.schemes.integrate import integrate
from gwn.schemes.leapfrog import Leapfrog
from gwn.schemes.newmark import Newmark
from gwn.schemes.rescaled import LeapfrogRescaled

SCHEMES: dict[str, type[Scheme]] = {
    "leapfrog": Leapfrog,
    "leapfrog-rescaled": LeapfrogRescaled,
    "damped": Damped,
    "newmark": Newmark,
    "bessel": Bessel,
    "heat": Heat,
}

__all__ = [
    "SCHEMES",
    "Bessel",
    "Damped",
    "Heat",
    "Leapfrog",
    "LeapfrogRescaled",
    "Newmark",
    "Scheme",
    "count_steps",
    "integrate",
]
