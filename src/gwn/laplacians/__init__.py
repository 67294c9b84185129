"""Space: the operators `L_a` on the right-hand side of the graph wave equation `u_tt = L_a u`, one a file."""

from gwn.laplacians.adaptive import FrequencyAdaptive
from gwn.laplacians.adaptive_symmetric import SymmetricAdaptive
from gwn.laplacians.base import FixedOperator, Gradients, Laplacian, Operator, Step
from gwn.laplacians.klein_gordon import KleinGordon
from gwn.laplacians.physical import Physical
from gwn.laplacians.polynomial import Polynomial
from gwn.laplacians.random_walk import RandomWalk
from gwn.laplacians.symmetric import Symmetric

LAPLACIANS: dict[str, type[Laplacian]] = {
    "sym": Symmetric,
    "fa": FrequencyAdaptive,
    "physical": Physical,
    "klein-gordon": KleinGordon,
    "fa-symmetric": SymmetricAdaptive,
    "random-walk": RandomWalk,
    "polynomial": Polynomial,
}

__all__ = [
    "LAPLACIANS",
    "FixedOperator",
    "FrequencyAdaptive",
    "Gradients",
    "KleinGordon",
    "Laplacian",
    "Operator",
    "Physical",
    "Polynomial",
    "RandomWalk",
    "Step",
    "Symmetric",
    "SymmetricAdaptive",
]
