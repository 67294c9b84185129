"""WaveConv: one time step as an ordinary layer, for people who build their own networks."""

from __future__ import annotations

from typing import Any, ClassVar

from torch import Tensor, nn

from gwn.adjacency import SELF_LOOPS, Adjacency, adjacency_of
from gwn.errors import GWNError
from gwn.laplacians import Step
from gwn.networks.dynamics import build_dynamics
from gwn.registry import require_known
from gwn.schemes import Scheme, integrate


class WaveConv(nn.Module):
    """`X(n+1) = (2I + tau² L_a) X(n) - X(n-1)`, or the first step `X(1) = tau phi1 + (I + tau²/2 L_a) X(0)`.

    channels    width of the state
    tau         step length
    laplacian   "sym" or "fa"; the latter has its own g and eps, and after the first step adds `eps x0` where `x0` is
                given. Of "fa-symmetric" the attention is that of `x0`, or of `x` without it
    """

    def __init__(
        self,
        channels: int,
        tau: float = 1.0,
        laplacian: str = "sym",
        *,
        directed: bool = False,
        self_loops: str = "none",
        **options: Any,
    ) -> None:
        super().__init__()
        require_known("self_loops", self_loops, SELF_LOOPS)
        self.channels, self.directed, self.self_loops = channels, directed, self_loops
        self.laplacian, self.scheme = build_dynamics(
            laplacian, "leapfrog", channels, 1, tau, sources=1, directed=directed, allow_unstable=True, options=options
        )
        interval = self.scheme.interval
        if interval is not None and interval[1] <= 0 and not self.scheme.keeps_bounded():
            bound = tau * self.scheme.factor_to_bound(-interval[0])
            raise GWNError(f"tau={tau:g} is above the stability bound {bound:.4g} of {laplacian!r}; use a smaller tau")

    def reset_parameters(self) -> None:
        self.laplacian.reset_parameters()

    def forward(
        self,
        x: Tensor,
        edge_index: Tensor | Adjacency,
        x_prev: Tensor | None = None,
        *,
        velocity: Tensor | None = None,
        x0: Tensor | None = None,
        edge_weight: Tensor | None = None,
    ) -> Tensor:
        """The next state, [N, d]: from X(n) and X(n-1); without `x_prev` the first step, with `velocity` (or zero)."""
        first = x_prev is None
        before = x_prev if x_prev is not None else velocity if velocity is not None else x.new_zeros(x.shape)
        step = self.scheme.step(0 if first else 1)
        if x0 is None:
            step = step._replace(source=0.0)
        adjacency = adjacency_of(
            edge_index,
            edge_weight,
            x.shape[0],
            dtype=x.dtype,
            device=x.device,
            directed=self.directed,
            self_loops=self.self_loops,
        )
        return integrate(self.laplacian.on(adjacency), _Once(step), x, before, 1, x0=x0)

    def extra_repr(self) -> str:
        return f"{self.channels}, tau={self.scheme.tau}"


class _Once(Scheme):
    """A scheme of a single given step."""

    time_symmetric: ClassVar[bool] = False
    buffers: ClassVar[int] = 0

    def __init__(self, step: Step) -> None:
        self._step, self.interval = step, None

    def step(self, n: int) -> Step:
        return self._step
