"""Gradient boosted trees on hop means: scikit-learn grows them, and this module keeps them as tensors."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from gwn.adjacency import adjacency_of
from gwn.errors import GWNError, require_between
from gwn.networks.feedforward import row_normalized
from gwn.sparse import sparse_linear

MOST_VALUES = 1 << 28
"""Nodes x columns: one gibibyte in single precision."""

MOST_NODES = 1 << 24
"""Nodes of all trees together."""

BLOCK = 1 << 22
"""Rows x trees that are walked down at once."""

STEP = 10
"""Iterations between two looks at the clock and at validation."""

BINS = 63
"""Of a column: two and a half times as fast as scikit-learn's 255."""

ABSENT = -30.0
"""The score of a class without a training node, beside others that begin near 0."""

AGREEMENT = 1e-4
"""How far a score may be from scikit-learn's: it adds up in double precision."""

NO_SETS, NO_PLACES = np.zeros((0, 8), np.uint32), np.zeros(0, np.uint32)
"""Of categorical columns, as scikit-learn's trees ask for them: here all columns are numbers."""

CHECKED = 500
"""Training nodes whose scores are compared with scikit-learn's."""


class BoostedTrees(nn.Module):
    """`Y_i = b + sum_t f_t([x_i, (P x)_i, ..., (P^K x)_i])`, `P = D^-1 A`: trees on a node's features and hop means.

    `Y` are scores before the softmax. Of two classes the first has score 0. Trees learn without gradients, by `grow`:
    the learning rate is their own, `learning_rate`, and the training's `lr` and `weight_decay` are not used.

    iterations      at most so many; validation chooses how many of them count
    leaves          of a tree, at most
    learning_rate   how much of every tree counts
    l2              penalty on the values of leaves
    min_leaf        training nodes in a leaf, at least
    share           of the columns, drawn for every node of a tree, among which its split is chosen
    """

    feature: Tensor
    threshold: Tensor
    left: Tensor
    right: Tensor
    value: Tensor
    baseline: Tensor
    used: Tensor

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        hops: int = 2,
        iterations: int = 100,
        leaves: int = 15,
        learning_rate: float = 0.1,
        l2: float = 0.0,
        min_leaf: int = 5,
        share: float = 0.3,
        row_normalize: bool = False,
    ) -> None:
        super().__init__()
        require_between("hops", hops, 0, 100)
        require_between("iterations", iterations, 1, 10_000)
        require_between("leaves", leaves, 2, 10_000)
        require_between("min_leaf", min_leaf, 1, 1_000_000_000)
        if not learning_rate > 0.0:
            raise GWNError(f"learning_rate must be greater than 0; got {learning_rate}")
        if not l2 >= 0.0:
            raise GWNError(f"l2 must not be negative; got {l2}")
        if not 0.0 < share <= 1.0:
            raise GWNError(f"share must be greater than 0 and at most 1; got {share}")
        self.in_channels, self.hops, self.iterations, self.leaves = in_channels, hops, iterations, leaves
        self.learning_rate, self.l2, self.min_leaf, self.share = learning_rate, l2, min_leaf, share
        self.row_normalize = row_normalize
        shape = (iterations, out_channels, 2 * leaves - 1)
        if iterations * out_channels * shape[2] > MOST_NODES:
            raise GWNError(
                f"{iterations:,} iterations of {out_channels:,} trees with {leaves:,} leaves are beyond "
                f"{MOST_NODES:,} nodes; use fewer iterations or leaves"
            )
        for name in ("feature", "left", "right"):
            self.register_buffer(name, torch.zeros(shape, dtype=torch.int32))
        for name in ("threshold", "value"):
            self.register_buffer(name, torch.zeros(shape))
        self.register_buffer("baseline", torch.zeros(out_channels))
        self.register_buffer("used", torch.zeros((), dtype=torch.int64))

    def reset_parameters(self) -> None:
        """Forget all trees."""
        for buffer in self.buffers():
            buffer.zero_()

    @torch.no_grad()
    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        return self.scores(self.columns(x, edge_index, edge_weight), 0, int(self.used)) + self.baseline

    @torch.no_grad()
    def columns(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None) -> Tensor:
        """`[x, P x, ..., P^K x]`, dense: what the trees look at."""
        width = (self.hops + 1) * self.in_channels
        if x.shape[0] * width > MOST_VALUES:
            raise GWNError(
                f"boosted trees look at {width:,} dense columns of {x.shape[0]:,} nodes, beyond {MOST_VALUES:,} values "
                "in all; use fewer hops or features, or another model"
            )
        x = row_normalized(x) if self.row_normalize else x
        hop = x.to_dense() if x.layout == torch.sparse_csr else x
        adjacency = adjacency_of(edge_index, edge_weight, x.shape[0], dtype=x.dtype, self_loops="none")
        found = [hop]
        for _ in range(self.hops):
            hop = sparse_linear(adjacency.random_walk.matrix, hop)
            found.append(_rounded(hop))
        return torch.cat(found, dim=1)

    def scores(self, columns: Tensor, start: int, end: int) -> Tensor:
        """What the iterations from `start` to before `end` add to the scores, [n, c]."""
        outputs = self.baseline.numel()
        if start == end or columns.shape[0] == 0:
            return columns.new_zeros(columns.shape[0], outputs)
        size = max(1, BLOCK // ((end - start) * outputs))
        return torch.cat([self._walk(rows, start, end) for rows in torch.split(columns, size)])

    def _walk(self, columns: Tensor, start: int, end: int) -> Tensor:
        """Every row down every tree at once; a leaf leads to itself."""
        feature, threshold, left, right, value = (
            tree[start:end].flatten() for tree in (self.feature, self.threshold, self.left, self.right, self.value)
        )
        first = torch.arange(0, feature.numel(), self.feature.shape[2], device=columns.device)  # the root of each tree
        place = first.expand(columns.shape[0], -1)
        for _ in range(self.feature.shape[2]):  # no way down is longer than its tree has nodes
            small = columns.gather(1, feature[place].long()) <= threshold[place]
            below = first + torch.where(small, left[place], right[place])
            if torch.equal(below, place):
                return value[place].view(columns.shape[0], end - start, -1).sum(1)
            place = below
        raise GWNError("a tree leads in a circle; the weights were edited: train again")

    def grow(
        self,
        columns: Tensor,
        y: Tensor,
        asked: Tensor | None = None,
        *,
        weights: Tensor | None = None,
        most: int | None = None,
        seed: int = 0,
    ) -> Iterator[tuple[Tensor, Tensor]]:
        """Learn from these rows and their classes or numbers `y`; the scores of both after every iteration.

        asked     other rows
        weights   of the rows that are learnt from
        most      iterations, if fewer than `iterations`
        """
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
        from threadpoolctl import threadpool_limits

        self.reset_parameters()
        known = columns.double().cpu().numpy()
        both = known if asked is None else np.concatenate([known, asked.double().cpu().numpy()])
        answers = y.cpu().numpy()
        weigh = None if weights is None else weights.double().cpu().numpy()
        number = y.is_floating_point()
        present = [0] if number else sorted({*answers.tolist()})
        if not number:
            self.baseline.fill_(ABSENT)[present] = 0.0
        said = self.baseline.expand(len(both), -1).clone()
        if len(present) == 1 and not number:
            yield said[: len(known)], said[len(known) :]
            return
        kind = HistGradientBoostingRegressor if number else HistGradientBoostingClassifier
        estimator = kind(
            learning_rate=self.learning_rate,
            max_leaf_nodes=self.leaves,
            min_samples_leaf=self.min_leaf,
            l2_regularization=self.l2,
            max_features=self.share,
            max_bins=BINS,
            early_stopping=False,
            warm_start=True,
            random_state=seed,
        )
        outputs = present[1:] if len(present) == 2 else present
        end = self.iterations if most is None else min(most, self.iterations)
        for reached in (*range(STEP, end, STEP), end):
            estimator.max_iter = reached
            done = int(self.used)
            with threadpool_limits(torch.get_num_threads(), user_api="openmp"):  # scikit-learn has threads of its own
                estimator.fit(known, answers, sample_weight=weigh)
                raw = (estimator.predict if number else estimator.decision_function)(known[:CHECKED])
            self._copy(estimator._predictors, np.ravel(estimator._baseline_prediction), outputs, done)
            ours = (self.scores(columns[:CHECKED], 0, reached) + self.baseline)[:, outputs].double().cpu().numpy()
            if not np.allclose(ours, raw.reshape(ours.shape), rtol=AGREEMENT, atol=AGREEMENT):
                raise GWNError(
                    f"scikit-learn {version('scikit-learn')} keeps its trees in another way; install another one"
                )
            if done == 0:
                said = self.baseline.expand(len(both), -1).clone()
            for trees in estimator._predictors[done:]:
                said = said.clone()
                for output, tree in zip(outputs, trees, strict=True):
                    said[:, output] += torch.from_numpy(tree.predict(both, NO_SETS, NO_PLACES, 1)).to(said)
                yield said[: len(known)], said[len(known) :]

    def _copy(self, predictors: list[list[object]], baseline: NDArray[np.float64], outputs: list[int], to: int) -> None:
        """scikit-learn's trees from iteration `to` on, those of class `outputs[k]` being its k-th in each."""
        self.baseline[outputs] = torch.from_numpy(baseline).to(self.baseline)
        for iteration in range(to, len(predictors)):
            for output, tree in zip(outputs, predictors[iteration], strict=True):
                nodes = tree.nodes  # type: ignore[attr-defined]
                leaf, places = nodes["is_leaf"].astype(bool), np.arange(len(nodes))
                kept = {
                    "feature": np.where(leaf, 0, nodes["feature_idx"]),
                    "left": np.where(leaf, places, nodes["left"]),
                    "right": np.where(leaf, places, nodes["right"]),
                    "value": np.where(leaf, nodes["value"], 0.0),
                }
                for name, values in kept.items():
                    buffer = getattr(self, name)
                    buffer[iteration, output, : len(nodes)] = torch.from_numpy(values.astype(np.float64)).to(buffer)
                exact = torch.from_numpy(np.where(leaf, 0.0, nodes["num_threshold"]))
                self.threshold[iteration, output, : len(nodes)] = _rounded_down(exact, self.threshold.dtype)
        self.used.fill_(len(predictors))


def _rounded(means: Tensor) -> Tensor:
    """To 16 bits, so that no tree splits equal means by the order in which they were added up."""
    mantissa, exponent = torch.frexp(means)
    return torch.ldexp((mantissa * 65536).round() / 65536, exponent)


def _rounded_down(exact: Tensor, dtype: torch.dtype) -> Tensor:
    """The largest number of this type that is not greater: what is at most one of them is at most the other."""
    near = exact.to(dtype)
    return torch.where(near.double() > exact, torch.nextafter(near, near.new_tensor(-torch.inf)), near)
