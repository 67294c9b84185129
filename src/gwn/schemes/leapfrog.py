"""The paper's explicit scheme: central differences in time."""

from __future__ import annotations

from typing import ClassVar

from gwn.laplacians import Step
from gwn.schemes.base import Scheme


class Leapfrog(Scheme):
    """`X(1) = tau phi1 + (I + tau²/2 L_a) phi0`, then `X(n+1) = (2I + tau² L_a) X(n) - X(n-1)`.

    The paper's equations for the initial values and the explicit scheme. The source `eps(n) X(0)` of GWN-fa enters
    from step 1 on. No mode grows exponentially if and only if the spectrum of `L_a` lies in [-4 / tau², 0]; a mode at
    an end of it, where the roots are double, drifts linearly at most.
    """

    time_symmetric: ClassVar[bool] = True
    buffers: ClassVar[int] = 0

    def step(self, n: int) -> Step:
        if n == 0:
            return Step(x=1.0, x_prev=self.tau, force=self.tau**2 / 2, first=True)
        return Step(x=2.0, x_prev=-1.0, force=self.tau**2, source=1.0)

    def stable_limit(self) -> float:
        return 4.0 / self.tau**2
