"""What can be told apart: paired differences over the same splits, corrected for overlap and for their number."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

LEVEL = 0.05


@dataclass(frozen=True, kw_only=True)
class Difference:
    """Another model minus the best one on test, over the splits that both have; scores as they are, not in per cent.

    low, high   the 95 % interval
    p           after Holm's correction for the number of models that are compared
    """

    mean: float
    low: float
    high: float
    p: float

    @property
    def told_apart(self) -> bool:
        return self.p < LEVEL


def corrected(
    differences: Sequence[float],
    tested: int,
    trained: float,
    *,
    shares: bool = True,
    others: Sequence[Sequence[float]] = (),
) -> tuple[float, float, float]:
    """Half-width of the 95 % interval of the mean difference, its standard error, and the two-sided p value.

    Splits of one graph share most of their training nodes, so their scores are no independent draws. Nadeau and Bengio
    (2003) put `1/R + n_test / n_train` in the place of `1/R` in the variance of the mean of `R` differences.

    Two differences that happen to be equal say nothing of their spread. That of shares of `n` nodes is at least
    `(|d| - d²) / n`: so many of the nodes are answered differently.

    Nor do two say much of it when they differ: with one degree of freedom not even the majority class is told apart
    from the best. Such a model borrows: its spread is that of the models with more runs, the root of their mean
    variance, unless its own is larger, with the degrees of freedom of one of them.

    shares   whether scores are shares of the nodes that are tested
    others   the differences of models that have more of them
    """
    count = len(differences)
    mean, spread = float(np.mean(differences)), float(np.std(differences, ddof=1))
    freedom = count - 1
    if others:
        spread = max(spread, math.sqrt(float(np.mean([np.var(one, ddof=1) for one in others]))))
        freedom = min(len(one) for one in others) - 1
    if shares:
        spread = max(spread, math.sqrt(max(0.0, abs(mean) - mean**2) / tested))
    error = spread * math.sqrt(1 / count + tested / trained)
    half = float(stats.t.ppf(1 - LEVEL / 2, freedom)) * error
    if error == 0.0:
        return half, error, 1.0 if mean == 0.0 else 0.0
    return half, error, float(2 * stats.t.sf(abs(mean) / error, freedom))


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Holm's corrected p values: the k-th smallest of m is multiplied by m - k + 1, and none falls below the last."""
    found: dict[str, float] = {}
    least = 0.0
    for place, name in enumerate(sorted(p_values, key=lambda name: p_values[name])):
        least = max(least, min(1.0, (len(p_values) - place) * p_values[name]))
        found[name] = least
    return found


def against_best(
    best: str, scores: Mapping[str, Mapping[int, float]], tested: int, trained: int, *, shares: bool = True
) -> dict[str, Difference]:
    """Every other model against the best, by model -> run -> test score; none where two share fewer than two runs.

    tested, trained   nodes of a split that are scored and trained on
    shares            as for `corrected`
    """
    pairs = {
        name: [of_model[run] - scores[best][run] for run in scores[best] if run in of_model]
        for name, of_model in scores.items()
        if name != best
    }
    most = max((len(differences) for differences in pairs.values()), default=0)
    whole = [differences for differences in pairs.values() if len(differences) == most]
    judged = {
        name: corrected(differences, tested, trained, shares=shares, others=whole if len(differences) < most else ())
        for name, differences in pairs.items()
        if len(differences) > 1
    }
    p_values = holm({name: p for name, (_, _, p) in judged.items()})
    means = {name: float(np.mean(pairs[name])) for name in judged}
    return {
        name: Difference(mean=means[name], low=means[name] - half, high=means[name] + half, p=p_values[name])
        for name, (half, _, _) in judged.items()
    }


def sentence(
    best: str,
    validation: str,
    differences: Mapping[str, Difference],
    titles: Mapping[str, str],
    unjudged: Sequence[str],
    alone: tuple[str, str] | None = None,
) -> str:
    """One sentence a person can act on: who is best on validation, who may be as good, who is worse.

    validation   the best one's score on validation, as it is to be read
    unjudged     models that have no score, or too few for a judgement
    alone        a model with a higher score there than the blend that is taken, which is not told apart; its score
    """
    tied = [titles[name] for name, difference in differences.items() if not difference.told_apart]
    worse = [titles[name] for name, difference in differences.items() if difference.told_apart and difference.mean < 0]
    better = [titles[name] for name, difference in differences.items() if difference.told_apart and difference.mean > 0]
    if alone is None:
        parts = [f"{titles[best]} is best on validation ({validation})"]
    else:
        name, score = alone
        parts = [
            f"{titles[best]} is taken ({validation} on validation; {titles[name]} alone has {score}, not told apart, "
            "and the best of many is flattered there)"
        ]
    if better:
        parts.append(f"on test {listed(better)} {'does' if len(better) == 1 else 'do'} better, which validation missed")
    if tied:
        parts.append(f"{listed(tied)} cannot be told apart from it")
    if worse:
        parts.append(f"{listed(worse)} {'is' if len(worse) == 1 else 'are'} worse")
    if unjudged:
        names = [titles[name] for name in unjudged]
        parts.append(f"{listed(names)} {'was' if len(names) == 1 else 'were'} not judged")
    return "; ".join(parts) + "."


def listed(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`; of none an empty string."""
    return "".join(names) if len(names) < 2 else f"{', '.join(names[:-1])} and {names[-1]}"


def by_reason(lost: Iterable[tuple[str, str]]) -> list[str]:
    """`MLP and GCN: no time was left`: the models, each with its reason, a line a reason."""
    titles: dict[str, list[str]] = {}
    for title, reason in lost:
        titles.setdefault(reason, []).append(title)
    return [f"{listed(names)}: {reason}" for reason, names in titles.items()]
