"""Several models on the same splits: scores with their intervals, and the time they took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from gwn.io import write_atomic
from gwn.paper.drawing.style import PALETTE, house_style


@dataclass(frozen=True, kw_only=True)
class ComparisonRow:
    """One model: every run's test score, their mean and 95 % interval in per cent, and the seconds of one run."""

    title: str
    scores: tuple[float, ...]
    mean: float
    low: float
    high: float
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What the picture shows."""

    title: str
    metric: str
    rows: tuple[ComparisonRow, ...]


def comparison(title: str, results: Sequence[tuple[str, Mapping[str, Any]]]) -> Comparison:
    """From (model title, result of `run_experiment`) to what is drawn; models without a finished run are left out."""
    rows = []
    for name, result in results:
        finished = [run for run in result["runs"] if run["status"] == "ok"]
        test = result["summary"]["test"]
        if not finished:
            continue
        low, high = (test["mean"] if test[end] is None else test[end] for end in ("low", "high"))
        rows.append(
            ComparisonRow(
                title=name,
                scores=tuple(100 * run["test"] for run in finished),
                mean=100 * test["mean"],
                low=100 * low,
                high=100 * high,
                seconds=sum(run["seconds"] for run in finished) / len(finished),
            )
        )
    return Comparison(title=title, metric=results[0][1]["metric"] if results else "accuracy", rows=tuple(rows))


def draw_comparison(data: Comparison, path: Path) -> None:
    """Left: a dot a split, the mean and its interval. Right: seconds a run. PNG, PDF or SVG by the file's suffix."""
    with house_style():
        height = 1.4 + 0.5 * len(data.rows)
        figure = Figure(figsize=(8.5, height), layout="constrained")
        scores, times = figure.subplots(1, 2, width_ratios=(3, 2), sharey=True)
        places = range(len(data.rows))
        for place, row in zip(places, data.rows, strict=True):
            colour = PALETTE[place % len(PALETTE)]
            scores.plot(row.scores, [place] * len(row.scores), "o", color=colour, alpha=0.35, markersize=5)
            reach = [[row.mean - row.low], [row.high - row.mean]]
            scores.errorbar(row.mean, place, xerr=reach, fmt="D", color=colour, capsize=4, markersize=6)
            times.barh(place, row.seconds, color=colour, height=0.5)
            times.annotate(
                f"{row.seconds:.2f} s", (row.seconds, place), xytext=(4, 0), textcoords="offset points", va="center"
            )
        scores.set_yticks(list(places), [row.title for row in data.rows])
        scores.invert_yaxis()
        scores.grid(axis="y", visible=False)
        times.grid(axis="y", visible=False)
        scores.set_xlabel(f"test {data.metric} (%): splits, mean, 95 % interval")
        times.set_xlabel("seconds for one run")
        times.margins(x=0.25)
        figure.suptitle(data.title, x=0.01, ha="left", fontsize="large")
        buffer = BytesIO()
        figure.savefig(buffer, format=path.suffix.lstrip(".") or "png")
    write_atomic(path, buffer.getvalue())
