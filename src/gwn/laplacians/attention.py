"""`alpha(n) ⊙ S + shift I`: attention on every edge, without one feature row per edge, forward or backward.

The score of an edge is a sum of two numbers, one from each end, so it costs two matrix-vector products and one number
an edge. The gradient of alpha is a product of dense matrices sampled at the edges, of which only sums over rows and
columns are needed. With `C = force S ⊙ (1 - alpha²)`, the slopes, and G the gradient of X(n+1), these are

    sum_j C_ij <g_i, x_j> = <g_i, (C X)_i>,      sum_i C_ij <g_i, x_j> = <(C^T G)_j, x_j>.

So compiled kernels (`gwn.kernels`) read X once for both `M X` and `C X`, and G once for both `M^T G` and `C^T G`.
"""

from __future__ import annotations

import torch
from torch import Tensor

from gwn import kernels
from gwn.adjacency import Adjacency
from gwn.dropout import dropout_mask
from gwn.laplacians.base import Gradients, Operator, Step
from gwn.sparse import Pattern, SparseMatrix, addmm_, edge_dot, row_sums


class AttentionOperator(Operator):
    """`L_a(n) = alpha(n) ⊙ S + shift I` with `alpha(n)_ij = tanh(g(n)^T [x_i || x_j])`, and a source `eps(n) X(0)`.

    g            [steps, 2, d], or [1, 2, d] where all steps share it
    epsilon      eps of the last steps, or None
    from_first   "velocity": alpha(0) from the initial velocity; "displacement": from X(0); "only": every alpha(n)
                 from X(0), so that the operator does not change in time
    """

    needs_states = True

    def __init__(
        self,
        adjacency: Adjacency,
        g: Tensor,
        epsilon: Tensor | None = None,
        *,
        shift: float = 0.0,
        from_first: str = "displacement",
        dropout: float = 0.0,
    ) -> None:
        self.adjacency, self.g, self.epsilon, self.shift = adjacency, g, epsilon, shift
        self.from_first, self.dropout = from_first, dropout
        self.reversible = from_first == "only"
        # Steps are recomputed on the way back: each draws its mask from a seed of its own, so it draws the same again.
        self.seed = int(torch.randint(2**31, ())) if dropout > 0 else 0
        self._kept: dict[int, tuple[Tensor, SparseMatrix]] = {}
        self._kept_slopes: dict[int, tuple[Tensor, Tensor]] = {}

    @property
    def parameters(self) -> tuple[Tensor, ...]:
        return (self.g,) if self.epsilon is None else (self.g, self.epsilon)

    def alpha(self, n: int, x: Tensor) -> Tensor:
        """`tanh(g(n)^T [x_i || x_j])` for every entry (i, j) of the pattern, before dropout."""
        pattern, (as_target, as_source) = self.adjacency.matrix.pattern, self._scores(n, x)
        return as_target.index_select(0, pattern.row).add_(pattern.of_columns(as_source)).tanh_()

    def attention(self, n: int, step: Step, x: Tensor, velocity: Tensor, x0: Tensor) -> Tensor:
        return self.alpha(n, self.attended(step, x, velocity, x0))

    def frozen(self, n: int, step: Step, x: Tensor, velocity: Tensor, x0: Tensor) -> SparseMatrix:
        matrix, shift = self.adjacency.matrix, self.adjacency.eye * self.shift
        return matrix.with_values(self.attention(n, step, x, velocity, x0) * matrix.values + shift)

    def attended(self, step: Step, x: Tensor, velocity: Tensor, x0: Tensor) -> Tensor:
        """What alpha of this step is computed from."""
        where = self._attended_input(step)
        return x if where is None else {"x_prev": velocity, "x0": x0}[where]

    def advance_(self, n: int, step: Step, x: Tensor, x_prev: Tensor, x0: Tensor) -> Tensor:
        if self._compiled(x, x_prev):
            self._advance_compiled_(n, step, self.attended(step, x, x_prev, x0), x, x_prev)
            return self.add_source_(n, step, x_prev, x0)
        tanh = self.attention(n, step, x, x_prev, x0)
        matrix = self._matrix(n, step, tanh)
        if self.remember:
            self._kept[n] = (tanh, matrix)
        addmm_(x_prev, matrix, x, beta=step.x_prev)
        return self.add_source_(n, step, x_prev, x0)

    def pull_back_(
        self, n: int, step: Step, x: Tensor | None, grad_next: Tensor, grad: Tensor, beta: float, total: Gradients
    ) -> Tensor:
        assert x is not None
        where = self._attended_input(step)
        attended = x if where is None else total.input(where)
        index, g = self._g_index(n), self._g(n)
        if self._compiled(x, grad_next, grad):
            sums = self._pull_back_compiled_(n, step, attended, x, grad_next, grad, beta, add=where is None)
            total.parameters[0][index].addmm_(sums, attended)
            if where is not None:
                total.of(where).addmm_(sums.t(), g)
            self.pull_back_source(n, step, grad_next, total)
            return grad
        as_target, as_source = self._pull_back_(n, step, attended, x, grad_next, grad, beta)
        receiver = grad if where is None else total.of(where)
        for side, sums in enumerate((as_target, as_source)):
            total.parameters[0][index, side].addmv_(attended.t(), sums)
            receiver.addr_(sums, g[side])
        self.pull_back_source(n, step, grad_next, total)
        return grad

    def _pull_back_(
        self, n: int, step: Step, attended: Tensor, x: Tensor, grad_next: Tensor, grad: Tensor, beta: float
    ) -> tuple[Tensor, Tensor]:
        """`grad <- beta grad + M^T grad_next`; the gradients of the scores, as targets and as sources."""
        if n in self._kept:
            tanh, matrix = self._kept[n]
        else:
            tanh = self.alpha(n, attended)
            matrix = self._matrix(n, step, tanh)
        addmm_(grad, matrix.t, grad_next, beta=beta)

        score = edge_dot(matrix.pattern, grad_next, x).mul_(self._weights(n, step, tanh))
        score.sub_(tanh.square().mul_(score))  # tanh' = 1 - tanh²
        edges = matrix.with_values(score)
        return row_sums(edges), row_sums(edges.t)

    def _compiled(self, *states: Tensor) -> bool:
        """Whether the fused kernels can be used: not on a part of a graph, whose columns are elsewhere."""
        matrix = self.adjacency.matrix
        return type(matrix.pattern) is Pattern and kernels.usable(
            matrix.pattern.nnz, states[0].shape[1], matrix.values, *states
        )

    def _advance_compiled_(self, n: int, step: Step, attended: Tensor, x: Tensor, x_prev: Tensor) -> None:
        """Overwrite `x_prev` with `M x + step.x_prev x_prev`, and keep `C x` where the way back will want it."""
        pattern, scores = self.adjacency.matrix.pattern, torch.mm(self._g(n), attended.t())
        values, slopes = kernels.attention(pattern, self._weights(n, step, self.adjacency.eye), scores[0], scores[1])
        numbers = {"beta": step.x_prev, "diagonal": step.x + step.force * self.shift}
        if self.remember:
            slopes_x = kernels.add_two_products_(pattern, values, slopes, x, x_prev, **numbers)
            self._kept_slopes[n] = (scores, slopes_x)
        else:
            kernels.add_product_(pattern, values, x, x_prev, **numbers)

    def _pull_back_compiled_(
        self, n: int, step: Step, attended: Tensor, x: Tensor, grad_next: Tensor, grad: Tensor, beta: float, add: bool
    ) -> Tensor:
        """`grad <- beta grad + M^T grad_next`; the gradients of the scores, as targets and as sources, [2, N]. With
        `add`, these are also carried on to `grad`."""
        pattern, weights = self.adjacency.matrix.pattern, self._weights(n, step, self.adjacency.eye)
        if n in self._kept_slopes:
            scores, slopes_x = self._kept_slopes.pop(n)
        else:
            scores = torch.mm(self._g(n), attended.t())
            _, slopes = kernels.attention(pattern, weights, scores[0], scores[1])
            slopes_x = kernels.add_product_(pattern, slopes, x, torch.empty_like(x), beta=0.0)
        if not self.adjacency.symmetric or self.dropout > 0.0:
            pattern, order = pattern.transpose
            weights = weights.index_select(0, order)
        values, slopes = kernels.attention(pattern, weights, scores[1], scores[0])
        tensors = (values, slopes, grad_next, slopes_x, x, self._g(n).contiguous(), grad)
        return kernels.pull_back_(pattern, *tensors, beta=beta, diagonal=step.x + step.force * self.shift, add=add)

    def _scores(self, n: int, attended: Tensor) -> tuple[Tensor, Tensor]:
        """`g(n)^T [x_i || .]` and `g(n)^T [. || x_j]`: what a node adds as a target and as a source."""
        g = self._g(n)
        return torch.mv(attended, g[0]), torch.mv(attended, g[1])

    def add_source_(self, n: int, step: Step, out: Tensor, x0: Tensor) -> Tensor:
        if self.epsilon is not None and step.source != 0.0:
            out.addcmul_(x0, self.epsilon[self._epsilon_index(n)], value=step.source)
        return out

    def pull_back_source(self, n: int, step: Step, grad_next: Tensor, total: Gradients) -> None:
        if self.epsilon is not None and step.source != 0.0:
            index, x0 = self._epsilon_index(n), total.input("x0")
            total.parameters[1][index] += step.source * torch.vdot(grad_next.reshape(-1), x0.reshape(-1))
            total.of("x0").addcmul_(grad_next, self.epsilon[index], value=step.source)

    def _attended_input(self, step: Step) -> str | None:
        """The input that alpha is computed from, or None for the state X(n) itself."""
        if self.from_first == "only":
            return "x0"
        return "x_prev" if self.from_first == "velocity" and step.first else None

    def _weights(self, n: int, step: Step, like: Tensor) -> Tensor:
        """`step.force S`, with this step's dropout mask."""
        weights = self.adjacency.affine(0.0, step.force).values
        if self.dropout == 0.0:
            return weights
        return weights * dropout_mask(like, self.dropout, torch.Generator(like.device).manual_seed(self.seed + n))

    def _matrix(self, n: int, step: Step, tanh: Tensor) -> SparseMatrix:
        """`(step.x + step.force shift) I + step.force alpha ⊙ S`."""
        diagonal = self.adjacency.affine(step.x + step.force * self.shift, 0.0).values
        return self.adjacency.matrix.with_values(torch.addcmul(diagonal, tanh, self._weights(n, step, tanh)))

    def _g_index(self, n: int) -> int:
        return n if self.g.shape[0] > 1 else 0

    def _g(self, n: int) -> Tensor:
        return self.g[self._g_index(n)].detach()

    def _epsilon_index(self, n: int) -> int:
        """The last steps have a source term, the first may not."""
        assert self.epsilon is not None
        return n - (self.g.shape[0] - self.epsilon.shape[0])
