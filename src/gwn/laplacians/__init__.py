"""Space: the operators `L_a` on the right-hand side of the graph wave equation `u_tt = L_a u`, one a file."""

from gwn.laplacians.adaptive import FrequencyAdaptive
from gwn.laplacians.base import Gradients, Laplacian, Operator, Step
from gwn.laplacians.symmetric import Symmetric

LAPLACIANS: dict[str, type[Laplacian]] = {
    "sym": Symmetric,
    "fa": FrequencyAdaptive,
}

__all__ = ["LAPLACIANS", "FrequencyAdaptive", "Gradients", "Laplacian", "Operator", "Step", "Symmetric"]
