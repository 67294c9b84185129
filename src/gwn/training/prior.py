"""Label shift: classes that are as easy to tell apart elsewhere as among the training nodes, but not as frequent.

A network learns `p(c | i)` with the shares `pi_train` of the classes among its training nodes. Where they have other
shares `pi_target`, Bayes' rule says

    p_target(c | i)  is proportional to  p(c | i) pi_target(c) / pi_train(c),

so the logits of every node get `log pi_target - log pi_train`, before the epoch is chosen. `pi_target` is

    validation   (n_c + 1/2) / (n + C/2), with n_c of n validation nodes in class c. A validation node is scored with
                 the counts of the half of them that it is not in, so that no label helps to score itself
    em           the limit of pi(c) <- (sum_i q_i(c) + 1/2) / (n + C/2), with q_i(c) proportional to
                 p(c | i) pi(c) / pi_train(c), over the n nodes that do not train (Saerens, Latinne and Decaestecker,
                 Neural Computation 2002). It reads no label beyond those of the training nodes
    calibrated   what the labels of validation nodes make most likely, `log pi_target - log pi_train` and a factor on
                 all logits at once, cross-fitted like the counts (bias-corrected temperature scaling: Alexandari,
                 Kundaje and Shrikumar, ICML 2020). Bayes' rule asks for probabilities, and a network with a strong
                 decay says too little of what it knows: to its answers, the counts alone would add too much

The 1/2 keeps a class that is not found anywhere from being ruled out. With class weights `pi_train` is what the loss
sees: weights times counts. Only classes that training has seen have a prior; the logits of others stay. Shares are
found on the CPU, in double precision, which not every device has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from gwn.data.splits import NOTICEABLE_SHIFT, shift_by_chance
from gwn.errors import Diverged, GWNError

PRIORS = ("none", "validation", "em", "calibrated")

PSEUDO = 0.5
"""Nodes that every class has before any is counted."""

PLAIN_STEPS = 1000
MOST_STEPS = 4000
"""Of expectation maximisation; those after `PLAIN_STEPS` leap, because answers that hardly differ take small steps."""

CONVERGED = 1e-6
"""Half the sum of what a step changes of the shares; below it, `em` has found them."""

FAITH = 0.1
"""Of `calibrated`: one over the variance that its factor and biases have before any label is seen."""

NEWTON_STEPS = 20

UNCERTAIN = 0.2
"""Half the sum of the shares' standard errors; above it, the answers do not say how frequent the classes are."""


@dataclass(frozen=True, kw_only=True)
class Prior:
    """Shares of the classes among the training nodes and where the network is to answer, [c] each.

    source   "validation", "em" or "calibrated"
    steps    of expectation maximisation; 0 for the others
    scale    what the logits are multiplied with before
    """

    source: str
    train: tuple[float, ...]
    target: tuple[float, ...]
    steps: int = 0
    scale: float = 1.0

    def to_json(self) -> dict[str, Any]:
        scale = {} if self.scale == 1.0 else {"scale": self.scale}
        shares = {"train": list(self.train), "target": list(self.target)}
        return {"source": self.source, **shares, "steps": self.steps, **scale}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Prior:
        """Back from `to_json`."""
        shares = {name: tuple(float(share) for share in data[name]) for name in ("train", "target")}
        return cls(source=str(data["source"]), steps=int(data["steps"]), scale=float(data.get("scale", 1.0)), **shares)

    def apply(self, logits: Tensor) -> Tensor:
        """The logits [n, c] for nodes whose classes have the shares `target`."""
        target, train = (torch.tensor(shares, dtype=torch.float64) for shares in (self.target, self.train))
        scaled = logits if self.scale == 1.0 else logits * self.scale
        return scaled + log_ratio(target, train).to(logits)


def corrected(logits: Tensor, prior: Mapping[str, Any] | None) -> Tensor:
    """The logits with the prior of a run's record, or as they are where it has none."""
    return logits if prior is None else Prior.from_json(prior).apply(logits)


def log_ratio(target: Tensor, train: Tensor) -> Tensor:
    """`log pi_target - log pi_train`, [c]; 0 for a class that training has not seen."""
    seen = train > 0
    return torch.where(seen, target.double().clamp_min(1e-300).log() - train.double().clamp_min(1e-300).log(), 0.0)


def train_shares(y: Tensor, classes: int, weights: Tensor | None = None) -> Tensor:
    """pi_train [c] of the training nodes' classes `y`, as the loss with these class weights sees them."""
    counts = torch.bincount(y.cpu(), minlength=classes).double()
    counts = counts if weights is None else counts * weights.cpu().double()
    return counts / counts.sum()


def counted_shares(y: Tensor, train: Tensor) -> Tensor:
    """pi_target [c] from the classes `y` of some nodes, over the classes that training has seen."""
    seen = train > 0
    counts = torch.bincount(y.cpu(), minlength=train.numel()).double() + PSEUDO
    counts = torch.where(seen, counts, 0.0)
    return counts / counts.sum()


def estimated_shares(logits: Tensor, train: Tensor) -> tuple[Tensor, int]:
    """pi_target [c] by expectation maximisation over these nodes, and its steps; `MOST_STEPS` if it did not converge.

    The likelihood is concave in pi, so that it has one maximum wherever the iteration starts. Where plain steps are too
    small to arrive, two of them say where the next ones lead, and a leap goes there (SQUAREM: Varadhan and Roland,
    Scandinavian Journal of Statistics 2008), unless the likelihood falls on the way.
    """
    seen = (train > 0).nonzero().flatten()
    pi_train, nodes = train[seen], logits.shape[0]
    if nodes == 0 or not bool(torch.isfinite(logits).all()):
        return train, 0
    p = logits.cpu().double()[:, seen].softmax(1) / pi_train

    def step(pi: Tensor) -> Tensor:
        q = pi * (p.t() @ (p @ pi).reciprocal())  # sum_i q_i(c)
        return (q + PSEUDO) / (nodes + PSEUDO * seen.numel())

    def likelihood(pi: Tensor) -> Tensor:
        return (p @ pi).log().sum() + PSEUDO * pi.log().sum()

    pi, steps, moved = pi_train, 0, 1.0
    while steps < MOST_STEPS and moved >= CONVERGED:
        new = step(pi)
        moved, steps = float((new - pi).abs().sum() / 2), steps + 1
        if steps > PLAIN_STEPS:
            new = _leap(pi, new, step(new), likelihood)
            steps += 1
        pi = new
    if steps > PLAIN_STEPS and _standard_error(p, pi) > UNCERTAIN:
        steps = MOST_STEPS  # that maximum is one of the half nodes, not of the answers
    return torch.zeros_like(train).index_copy(0, seen, pi), steps


def _standard_error(p: Tensor, pi: Tensor) -> float:
    """Of the shares, by the curvature of the likelihood along those that sum to one: half the sum over the classes."""
    scaled = p / (p @ pi)[:, None]
    within = torch.eye(pi.numel(), dtype=p.dtype) - 1 / pi.numel()
    variance = torch.linalg.pinv(within @ (scaled.t() @ scaled) @ within, rtol=1e-12).diagonal()
    return float(variance.clamp_min(0).sqrt().sum() / 2)


def _leap(first: Tensor, second: Tensor, third: Tensor, likelihood: Callable[[Tensor], Tensor]) -> Tensor:
    """Where the steps from `first` to `second` and on to `third` lead, or `third` where that is no better."""
    change = second - first
    bend = third - second - change
    if float(bend.norm()) == 0.0:
        return third
    reach = change.norm() / bend.norm()
    there = first + 2 * reach * change + reach.square() * bend
    there = (there / there.sum()).clamp_min(1e-12)
    return there if bool(likelihood(there) > likelihood(third)) else third


def calibration(logits: Tensor, y: Tensor, train: Tensor) -> tuple[Tensor, float]:
    """pi_target [c] and the factor on the logits that make the classes `y` of these nodes most likely.

    The likelihood of `softmax(a z + b)` is concave in the factor a and the biases b = log pi_target - log pi_train;
    Newton's method finds its maximum, with a Gaussian around a = 1, b = 0 for what the labels do not say.
    """
    seen = (train > 0).nonzero().flatten()
    nodes, classes = logits.shape[0], seen.numel()
    if nodes == 0 or not bool(torch.isfinite(logits).all()):
        return train, 1.0
    z = logits.cpu().double()[:, seen]
    z = z - z.mean(1, keepdim=True)  # a constant of a node changes nothing, but would make the factor ill-conditioned
    truth = (y.cpu()[:, None] == seen).double()
    chosen = torch.cat([torch.ones(1, dtype=z.dtype), torch.zeros(classes, dtype=z.dtype)])
    usual = chosen.clone()

    def merit(at: Tensor) -> Tensor:
        said = (at[0] * z + at[1:]).log_softmax(1)
        return (truth * said).sum() - FAITH * (at - usual).square().sum() / 2

    for _ in range(NEWTON_STEPS):
        q = (chosen[0] * z + chosen[1:]).softmax(1)
        slope = torch.cat([((truth - q) * z).sum().reshape(1), (truth - q).sum(0)]) - FAITH * (chosen - usual)
        spread = q * (z - (q * z).sum(1, keepdim=True))  # d q / d a
        curvature = torch.zeros(classes + 1, classes + 1, dtype=z.dtype)
        curvature[0, 0] = (spread * z).sum()
        curvature[0, 1:] = curvature[1:, 0] = spread.sum(0)
        curvature[1:, 1:] = q.sum(0).diag() - q.t() @ q
        curvature.diagonal().add_(FAITH)
        step = torch.linalg.solve(curvature, slope)
        while not bool(merit(chosen + step) >= merit(chosen)) and float(step.abs().max()) > CONVERGED:
            step = step / 2
        chosen = chosen + step
        if float(step.abs().max()) <= CONVERGED:
            break
    if float(chosen[0]) <= 0.0:  # answers that contradict the labels are not turned round: their order stays
        return counted_shares(y, train), 1.0
    target = (train[seen].log() + chosen[1:]).softmax(0)
    return torch.zeros_like(train).index_copy(0, seen, target), float(chosen[0])


class PriorCorrection:
    """The correction of one run: what it has to know beforehand, and what it makes of the answers of an epoch.

    how       "validation", "em" or "calibrated"
    y_train   classes of the training nodes, and `weights` of the classes in the loss
    y_val     those of the validation nodes
    halves    whether validation nodes are scored with the counts of their other half. ROC-AUC does without: it asks
              for the order of the nodes, which one prior for all of them does not change
    """

    def __init__(
        self, how: str, y_train: Tensor, y_val: Tensor, names: Sequence[str], weights: Tensor | None, *, halves: bool
    ) -> None:
        if y_train.is_floating_point():
            raise GWNError(f"prior={how} needs classes; here are numbers to predict: leave it out")
        self.how, self.y_val, self.halves = how, y_val, halves
        self.train = train_shares(y_train, len(names), weights)
        if how in ("validation", "calibrated"):
            unseen = torch.bincount(y_val.cpu(), minlength=len(names)).masked_fill(self.train > 0, 0)
            if bool(unseen.any()):
                raise GWNError(
                    f"prior={how} needs every class of a validation node among the training nodes; "
                    f"{names[int(unseen.argmax())]!r} has {int(unseen.max())} to validate and none to train on: "
                    f"use prior=em, or another split"
                )
        order = torch.randperm(y_val.numel(), generator=torch.Generator().manual_seed(0)).to(y_val.device)
        self._halves = (order[: y_val.numel() // 2], order[y_val.numel() // 2 :])

    def __call__(self, val: Tensor, test: Tensor, others: Tensor) -> tuple[Tensor, Tensor, Prior]:
        """Corrected logits of validation and test, and the prior; `others` are nodes that are in no part."""
        if self.how == "em":
            target, steps = estimated_shares(torch.cat([val, test, others]), self.train)
            found = self._prior(target, steps=steps)
        else:
            found = self._of_labels(val, self.y_val)
        return self._of_validation(val, found), found.apply(test), found

    def _of_labels(self, said: Tensor, y: Tensor) -> Prior:
        """From validation nodes with these answers and classes."""
        if self.how == "validation":
            return self._prior(counted_shares(y, self.train))
        target, scale = calibration(said, y, self.train)
        return self._prior(target, scale=scale)

    def _prior(self, target: Tensor, *, steps: int = 0, scale: float = 1.0) -> Prior:
        train, shares = tuple(self.train.tolist()), tuple(target.tolist())
        return Prior(source=self.how, train=train, target=shares, steps=steps, scale=scale)

    def _of_validation(self, val: Tensor, found: Prior) -> Tensor:
        first, second = self._halves
        if self.how == "em" or not self.halves or first.numel() == 0:
            return found.apply(val)
        scored = torch.empty_like(val)
        for counted, half in ((first, second), (second, first)):
            scored[half] = self._of_labels(val[counted], self.y_val[counted]).apply(val[half])
        return scored


def cost_of_shift(
    val: Tensor, y_train: Tensor, y_val: Tensor, weights: Tensor | None, score: Callable[[Tensor, Tensor], float]
) -> dict[str, float] | None:
    """What uncorrected answers `val` for validation lose by label shift; None where chance explains it.

    moved       the share of training labels that would have to change to have the classes of validation
    validation  its score with `prior="validation"`: each half is corrected by the counts of the other
    """
    classes = val.shape[1]
    among_train, among_val = (train_shares(y, classes) for y in (y_train, y_val))
    moved = float((among_train - among_val).abs().sum() / 2)
    by_chance = shift_by_chance(classes, y_train.numel(), y_val.numel())
    if moved <= max(NOTICEABLE_SHIFT, by_chance) or bool((among_val[among_train == 0] > 0).any()):
        return None
    correction = PriorCorrection("validation", y_train, y_val, [""] * classes, weights, halves=True)
    return {"moved": moved, "validation": score(correction(val, val[:0], val[:0])[0], y_val)}


def require_converged(prior: Prior) -> None:
    """Refuse shares that expectation maximisation had not found when it ended."""
    if prior.steps >= MOST_STEPS:
        raise Diverged(
            "prior=em did not converge: the network's answers hardly differ from node to node, so they do not say how "
            "frequent the classes are; use prior=validation, or a model that learns more"
        )
