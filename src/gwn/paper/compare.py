"""Measured cells compared: with the paper's figure, with each other on the same splits, and by average rank."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from gwn.compare.verdict import corrected
from gwn.pages.table import NOT_MEASURED, TableCell
from gwn.paper.cell import ROWS, Cell
from gwn.paper.printed import PaperValue
from gwn.paper.records import read_cell
from gwn.training.result import Summary, summarise


@dataclass(frozen=True, kw_only=True)
class View:
    """One cell beside the paper's figure, in per cent; `record` is None where it was not measured."""

    cell: Cell
    paper: PaperValue | None
    record: Mapping[str, Any] | None

    @property
    def test(self) -> Mapping[str, float] | None:
        """Mean, sd, low and high of the test score over the final runs that finished; None where fewer than two did:
        one run has no interval, so nothing can be said of it.

        The interval is computed here: records that are older than `summarise` of today have another kind in their
        summary, and a table has one kind."""
        runs = [] if self.record is None else [run for run in self.record["runs"] if run["status"] == "ok"]
        found = summarise([run["test"] for run in runs], [run["split_sizes"][2] for run in runs])
        if found is None or found.sd is None or found.low is None or found.high is None:
            return None
        return {"mean": 100 * found.mean, "sd": 100 * found.sd, "low": 100 * found.low, "high": 100 * found.high}

    @property
    def scores(self) -> dict[tuple[str, int], float]:
        """The test score of every finished run by its split's hash and seed, for comparisons of the same runs."""
        runs = [] if self.record is None else self.record["runs"]
        return {(run["split_hash"], run["seed"]): 100 * run["test"] for run in runs if run["status"] == "ok"}

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's."""
        return None if self.test is None or self.paper is None else self.test["mean"] - self.paper.mean

    @property
    def verdict(self) -> str:
        """Where the paper's value lies: "within" our 95 % interval, or we are "above" or "below" it."""
        if self.test is None or self.paper is None:
            return ""
        if self.test["low"] <= self.paper.mean <= self.test["high"]:
            return "within"
        return "above" if self.test["mean"] > self.paper.mean else "below"

    @property
    def no_wave(self) -> bool:
        """Whether the settings that a search found for a wave network are those of the heat equation."""
        is_heat = self.record is not None and self.record["settings"].get("scheme") == "heat"
        return is_heat and ROWS[self.cell.row].group == "wave"

    @property
    def sees_labels(self) -> bool:
        """Whether the search chose to show the network the labels of its training nodes, which peers do not see."""
        return self.record is not None and self.record["config"].get("labels", "none") != "none"

    @property
    def selected_on_test(self) -> float | None:
        """What choosing among the trials by test score would have claimed."""
        search = None if self.record is None else self.record["search"]
        found = None if search is None else search["selected_on_test"]
        return None if found is None else 100 * float(found["test"])

    @property
    def seconds(self) -> float | None:
        """Of one run, the median."""
        if self.record is None:
            return None
        taken = [run["seconds"] for run in self.record["runs"] if run["status"] == "ok"]
        return float(np.median(taken)) if taken else None

    def shown(self, seconds: bool = False) -> TableCell:
        """The cell as tables have it: ours, its interval, and the paper's value with the difference."""
        lines = []
        if self.test is not None:
            took = f" ({self.seconds:.1f} s)" if seconds and self.seconds is not None else ""
            lines.append(f"{self.test['mean']:.2f} ± {self.test['sd']:.2f}{took}")
            lines.append(f"{self.test['low']:.1f} to {self.test['high']:.1f}")
            lines += ["heat equation, no wave"] if self.no_wave else []
            lines += ["training labels as input"] if self.sees_labels else []
            diverged = self.record["summary"]["diverged"] if self.record is not None else 0
            if diverged:
                lines.append(f"{diverged} diverged")
        elif self.record is not None:
            diverged, finished = (self.record["summary"][name] for name in ("diverged", "finished"))
            lines.append(f"{diverged} of {diverged + finished} diverged" if finished else "diverged")
        else:
            lines += NOT_MEASURED.lines
        if self.paper is not None:
            beside = "" if self.difference is None else f" ({self.difference:+.2f}, {self.verdict})"
            lines.append(f"paper {self.paper.mean:.2f}{beside}")
        mean = None if self.test is None else self.test["mean"]
        return TableCell(lines=tuple(lines), value=mean, missing=self.record is None)

    def flat(self) -> dict[str, Any]:
        """Everything as plain values, for CSV."""
        search = None if self.record is None else self.record["search"]
        test = self.test or {}
        paper = self.paper
        return {
            "dataset": self.cell.dataset,
            "split": self.cell.split,
            "row": self.cell.line,
            "prior": self.cell.prior,
            "paper": None if paper is None else paper.mean,
            "paper_sd": None if paper is None else paper.sd,
            "paper_seconds": None if paper is None else paper.seconds,
            **{name: test.get(name) for name in ("mean", "sd", "low", "high")},
            "difference": self.difference,
            "verdict": self.verdict,
            "selected_on_test_not_a_result": self.selected_on_test,
            "runs": None if self.record is None else len(self.record["runs"]),
            "diverged": None if self.record is None else self.record["summary"]["diverged"],
            "trials": None if search is None else search["trials"],
            "space": None if search is None else search["space"],
            "validation_in_search": None if search is None else 100 * search["validation"],
            "seconds_per_run": self.seconds,
            "parameters": None if self.record is None else self.record["runs"][0]["parameters"],
        }


def view(results: Path, cell: Cell, paper: PaperValue | None = None) -> View:
    """The cell as it stands in the results."""
    return View(cell=cell, paper=paper, record=read_cell(results, cell))


PAIRED = (
    "Paired differences have the 95 % interval of Nadeau and Bengio, because splits of one graph share most of their "
    "training nodes; on one fixed split it is over seeds alone."
)
"""What captions say of `paired`."""


def paired(first: View, second: View) -> Summary | None:
    """`first - second` over the runs that both have, in points; None where they share fewer than two.

    The interval is that of `gwn compare`, see `corrected`: splits of one graph share most of their training nodes.
    Where all runs have one fixed split it is over their seeds alone, and says nothing of other nodes.
    """
    ours, theirs = first.scores, second.scores
    both = [run for run in ours if run in theirs]
    if len(both) < 2 or first.record is None:
        return None
    trained, _, tested = first.record["runs"][0]["split_sizes"]
    overlapping = len({split for split, _ in both}) > 1
    differences = [(ours[run] - theirs[run]) / 100 for run in both]
    half, _, _ = corrected(
        differences,
        tested,
        trained if overlapping else math.inf,
        shares=first.record["metric"] == "accuracy",
    )
    mean, sd = float(np.mean(differences)), float(np.std(differences, ddof=1))
    low, high = mean - half, mean + half
    return Summary(mean=100 * mean, sd=100 * sd, low=100 * low, high=100 * high, count=len(both))


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

    Columns of one dataset are no independent evidence: their ranks are averaged first, and datasets are the blocks of
    both tests.

    critical   Nemenyi's critical difference at 5 %: ranks closer than that are not told apart
    p_value    Friedman's, for "all rows are equal"
    """

    ranks: Mapping[str, float]
    columns: tuple[str, ...]
    critical: float | None
    p_value: float | None


def average_ranks(
    scores: Mapping[str, Mapping[str, float]], columns: Sequence[str], *, most_cells: bool = False
) -> Ranks:
    """From row -> column -> mean score; rows that lack a column are left out, and so are columns that few rows have.

    most_cells   columns are left out, those that the fewest rows have first, for as long as that leaves more cells in
                 a table without gaps; otherwise those stay that more than half of the rows have
    """
    having = {column: sum(column in of_row for of_row in scores.values()) for column in columns}

    def rows_with(common: Sequence[str]) -> list[str]:
        return [row for row, of_row in scores.items() if all(column in of_row for column in common)]

    common = [column for column in columns if 2 * having[column] > len(scores)]
    if most_cells:
        ranked = sorted(columns, key=lambda column: -having[column])
        nested = [[column for column in columns if column in ranked[:size]] for size in range(len(ranked), 0, -1)]
        common = max(nested, key=lambda some: len(some) * len(rows_with(some)), default=[])
    rows = rows_with(common)
    if len(rows) < 2 or not common:
        return Ranks(ranks={}, columns=(), critical=None, p_value=None)
    table = np.array([[scores[row][column] for column in common] for row in rows])
    of_dataset: dict[str, list[Any]] = {}
    for place, column in enumerate(common):
        of_dataset.setdefault(column.partition(".")[0], []).append(stats.rankdata(-table[:, place]))
    by_dataset = np.stack([np.mean(found, axis=0) for found in of_dataset.values()])
    ranks = by_dataset.mean(axis=0)
    count, blocks = len(rows), len(by_dataset)
    critical = None
    p_value = None
    if count > 2 and blocks > 1:
        quantile = float(stats.studentized_range.ppf(0.95, count, math.inf)) / math.sqrt(2)
        critical = quantile * math.sqrt(count * (count + 1) / (6 * blocks))
        p_value = float(stats.friedmanchisquare(*-by_dataset.T).pvalue)
    order = sorted(range(count), key=lambda place: ranks[place])
    return Ranks(
        ranks={rows[place]: float(ranks[place]) for place in order},
        columns=tuple(common),
        critical=critical,
        p_value=p_value,
    )
