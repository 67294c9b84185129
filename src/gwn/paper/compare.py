"""Models against each other on the same splits: paired differences, wins and losses, and average ranks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from gwn.paper.view import View
from gwn.training.result import Summary, summarise


def paired(first: View, second: View) -> Summary | None:
    """`first - second` over the splits that both have, in points; None where they share fewer than two."""
    ours, theirs = first.scores, second.scores
    both = [split for split in ours if split in theirs]
    return summarise([ours[split] - theirs[split] for split in both]) if len(both) > 1 else None


def outcome(difference: Summary | None) -> str:
    """ "win" or "loss" where the interval of the paired difference leaves out zero, "tie" otherwise."""
    if difference is None or difference.low is None or difference.high is None:
        return ""
    if difference.low > 0:
        return "win"
    return "loss" if difference.high < 0 else "tie"


@dataclass(frozen=True, kw_only=True)
class Ranks:
    """Average ranks (1 is best) of the rows over the columns that all of them have.

    critical   Nemenyi's critical difference at 5 %: ranks closer than that are not told apart
    p_value    Friedman's, for "all rows are equal"
    """

    ranks: Mapping[str, float]
    columns: tuple[str, ...]
    critical: float | None
    p_value: float | None


def average_ranks(scores: Mapping[str, Mapping[str, float]], columns: Sequence[str]) -> Ranks:
    """From row -> column -> mean score; rows that lack a column are left out, and so are columns that few rows have."""
    common = [column for column in columns if 2 * sum(column in of_row for of_row in scores.values()) > len(scores)]
    rows = [row for row, of_row in scores.items() if all(column in of_row for column in common)]
    if len(rows) < 2 or not common:
        return Ranks(ranks={}, columns=(), critical=None, p_value=None)
    table = np.array([[scores[row][column] for column in common] for row in rows])
    ranks = np.mean([stats.rankdata(-table[:, place]) for place in range(len(common))], axis=0)
    count, blocks = len(rows), len(common)
    critical = None
    p_value = None
    if count > 2 and blocks > 1:
        quantile = float(stats.studentized_range.ppf(0.95, count, math.inf)) / math.sqrt(2)
        critical = quantile * math.sqrt(count * (count + 1) / (6 * blocks))
        p_value = float(stats.friedmanchisquare(*table).pvalue)
    order = sorted(range(count), key=lambda place: ranks[place])
    return Ranks(
        ranks={rows[place]: float(ranks[place]) for place in order},
        columns=tuple(common),
        critical=critical,
        p_value=p_value,
    )
