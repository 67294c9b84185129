"""What a trained network says about the nodes of validation and test: how good that is beyond its score, and how sure.

Logits become probabilities with a temperature T that is learnt on validation: `softmax(z / T)`. It changes no answer,
only how sure the network says it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from gwn.training.loss import Scaling
from gwn.training.prior import Prior

MOST_CLASSES = 50
"""A confusion matrix of more classes is not kept: nobody reads it, and it grows with their square."""

BINS = 15
"""Of the calibration error."""

BLOWN_UP = 1e4
"""A logit beyond that says a class is e^10000 times as likely as another."""

FALLEN = 0.999
"""A loss that is not below this share of its first value did not fall."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Outputs:
    """Outputs [n, c] of a network and the targets [n] it learnt, for the nodes of validation and test.

    scaling   for numbers: what makes outputs and targets numbers in the units of the table
    prior     what the outputs are already corrected for
    shift     what they lose by not being corrected, see `gwn.training.prior.cost_of_shift`
    """

    val: Tensor
    y_val: Tensor
    test: Tensor
    y_test: Tensor
    scaling: Scaling | None = None
    prior: Prior | None = None
    shift: dict[str, float] | None = None

    def temperature(self) -> float | None:
        """T > 0 with the least cross-entropy of validation; None for numbers.

        A standard normal prior of log T keeps it near 1 where validation has a handful of nodes, all of them right.
        """
        if self.scaling is not None:
            return None
        from scipy.optimize import minimize_scalar

        logits, y = self.val.cpu().double(), self.y_val.cpu()

        def cost(log_t: float) -> float:
            return float(F.cross_entropy(logits / np.exp(log_t), y, reduction="sum")) + log_t**2 / 2

        return float(np.exp(minimize_scalar(cost, bounds=(-4.0, 8.0), method="bounded").x))

    def details(self, temperature: float | None) -> dict[str, Any]:
        """What a run's record has of validation and test beside the score, as far as they have nodes."""
        both = {"val": (self.val, self.y_val), "test": (self.test, self.y_test)}
        parts = {name: (f, y) for name, (f, y) in both.items() if y.numel()}
        if (scale := self.scaling) is not None:
            return {name: judge_numbers(scale.undo(f), scale.restore(y)) for name, (f, y) in parts.items()}
        return {name: judge_classes(logits, y, temperature or 1.0) for name, (logits, y) in parts.items()}


def probabilities(logits: Tensor, temperature: float | None = None) -> Tensor:
    """`softmax(z / T)` in float64, on the CPU as not every device has it; without a temperature, T = 1."""
    return (logits.cpu().double() / (temperature or 1.0)).softmax(1)


def judge_numbers(predicted: Tensor, y: Tensor) -> dict[str, Any]:
    """Mean squared and mean absolute error, and R², in the units of the table."""
    from sklearn.metrics import mean_absolute_error, mean_squared_error, r2_score

    truth, given = y.cpu().double().numpy(), predicted.cpu().double().numpy()
    return {
        "mse": float(mean_squared_error(truth, given)),
        "mae": float(mean_absolute_error(truth, given)),
        "r2": float(r2_score(truth, given)),
    }


def judge_classes(logits: Tensor, y: Tensor, temperature: float) -> dict[str, Any]:
    """Scores of every class, and of all together; balanced accuracy is the mean recall of the classes that occur."""
    from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

    truth, classes = y.cpu().numpy(), list(range(logits.shape[1]))
    given = logits.argmax(1).cpu().numpy()
    precision, recall, f1, support = precision_recall_fscore_support(truth, given, labels=classes, zero_division=0.0)
    present = support > 0
    seen = present | np.isin(classes, given)
    calibrated, before = (probabilities(logits, t).numpy() for t in (temperature, 1.0))
    return {
        "precision": precision.tolist(),
        "recall": recall.tolist(),
        "f1": f1.tolist(),
        "support": support.tolist(),
        "predicted": np.bincount(given, minlength=len(classes)).tolist(),
        "confusion": confusion_matrix(truth, given, labels=classes).tolist() if len(classes) <= MOST_CLASSES else None,
        "balanced_accuracy": float(recall[present].mean()),
        "macro_f1": float(f1[seen].mean()),
        "log_loss": _log_loss(calibrated, truth),
        "calibration_error": calibration_error(calibrated, truth),
        "log_loss_uncalibrated": _log_loss(before, truth),
        "calibration_error_uncalibrated": calibration_error(before, truth),
        "largest_logit": float(logits.abs().max()),
    }


def _log_loss(shares: Floats, truth: NDArray[np.int64]) -> float:
    return float(-np.log(np.clip(shares[np.arange(truth.size), truth], 1e-300, None)).mean())


def calibration_error(shares: Floats, truth: NDArray[np.int64]) -> float:
    """`sum_b n_b/n |accuracy_b - confidence_b|` over bins of equal width of the confidence (Naeini et al. 2015)."""
    confidence, right = shares.max(1), shares.argmax(1) == truth
    place = np.minimum((confidence * BINS).astype(int), BINS - 1)
    gaps = np.bincount(place, weights=right - confidence, minlength=BINS)
    return float(np.abs(gaps).sum() / truth.size)


def cost_of_shift_in_words(runs: Sequence[Mapping[str, Any]]) -> str:
    """What uncorrected answers lose by label shift, over the runs that noticed one; nothing where none did."""
    shifted = [run for run in runs if run.get("shift")]
    if not shifted:
        return ""
    moved, before, after = (
        float(np.mean([run["shift"]["moved"] for run in shifted])),
        float(np.mean([run["val"] for run in shifted])),
        float(np.mean([run["shift"]["validation"] for run in shifted])),
    )
    advice = "--prior validation, which corrects before it chooses an epoch"
    worth = (
        f"corrected for it, these very answers are right on {after:.1%} of validation instead of {before:.1%}; "
        f"train with {advice}"
        if after > before
        else "these epochs were chosen for what they lean to, and correcting them afterwards gains nothing "
        f"({after:.1%} of validation instead of {before:.1%}); try {advice}, and keep it if validation is higher"
    )
    return (
        f"label shift: the classes of the training nodes are not those of the others ({moved:.0%} would have to "
        f"change); {worth}"
    )


def warnings_of(runs: Sequence[Mapping[str, Any]], class_names: Sequence[str]) -> list[str]:
    """What makes the scores of these runs worth less than they look, a line each.

    runs   records of runs, as `RunResult.to_json` gives them
    """
    finished = [run for run in runs if run["status"] == "ok"]
    lines = []

    def say(count: int, what: str) -> None:
        if count:
            lines.append(f"{'all runs' if count == len(finished) else f'{count} of {len(finished)} runs'}: {what}")

    say(
        sum(run.get("loss_fell") is False for run in finished),
        "the validation loss never fell below that of the first epoch; use a smaller lr or another model",
    )
    if shifted := cost_of_shift_in_words(finished):
        lines.append(shifted)
    judged = _on_test(finished)
    if not judged:
        return lines
    if "confusion" not in judged[0]:
        say(sum(part["r2"] <= 0 for part in judged), "no better than the mean of the training nodes (R² of 0 or less)")
        return lines
    say(
        sum(part["largest_logit"] > BLOWN_UP for part in judged),
        f"the outputs blew up (beyond {BLOWN_UP:g}); use a smaller time or tau",
    )
    one = [int(np.argmax(part["predicted"])) for part in judged if np.count_nonzero(part["predicted"]) == 1]
    say(len(one), f"one class is predicted for everybody ({', '.join(sorted({repr(class_names[c]) for c in one}))})")
    if len(one) < len(judged):
        support, found = (_pooled(judged, of) for of in ("support", "found"))
        never = [class_names[int(c)] for c in np.flatnonzero((support > 0) & (found == 0))]
        if never:
            named = ", ".join(repr(name) for name in never[:5]) + (f" and {len(never) - 5} more" if never[5:] else "")
            lines.append(f"never found on test in any run: {named}; try --class-weights balanced")
    return lines


def _on_test(finished: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The details of the runs that have some nodes to test on."""
    return [run["details"]["test"] for run in finished if "test" in (run.get("details") or {})]


def _pooled(judged: Sequence[Mapping[str, Any]], of: str) -> Floats:
    """Over all runs, nodes of every class, or those of them that were found."""
    counts = [np.multiply(1.0 if of == "support" else part["recall"], part["support"]) for part in judged]
    return np.asarray(np.sum(counts, axis=0), dtype=np.float64)


def summary_of_details(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """The mean over runs of everything that `details` has on test; of a class, over the runs that test it."""
    judged = _on_test([run for run in runs if run["status"] == "ok"])
    if not judged:
        return None
    numbers = [name for name, value in judged[0].items() if isinstance(value, float)]
    found: dict[str, Any] = {name: float(np.mean([part[name] for part in judged])) for name in numbers}
    if "support" in judged[0]:
        tested = np.array([part["support"] for part in judged]) > 0
        count = np.maximum(tested.sum(0), 1)
        for name in ("precision", "recall", "f1"):
            values = np.array([part[name] for part in judged])
            mean = np.where(tested.any(0), (values * tested).sum(0) / count, np.nan)
            found[name] = [None if np.isnan(value) else float(value) for value in mean]
        found["support"] = _pooled(judged, "support").astype(int).tolist()
        if judged[0]["confusion"] is not None:
            found["confusion"] = np.sum([part["confusion"] for part in judged], axis=0).tolist()
    return found


__all__ = ["Outputs", "judge_classes", "judge_numbers", "probabilities", "summary_of_details", "warnings_of"]
