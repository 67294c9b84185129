"""The picture of the verdict: every model of every column as a dot with its interval, the best on the left."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from gwn.data import DATASETS
from gwn.html import Markup, fill, join
from gwn.pages.charts import label_at, px, svg, ticks
from gwn.paper.cell import BEST, OURS, PAPERS_OWN, ROWS
from gwn.paper.compare import View
from gwn.paper.verdict import Cells, ranking

WIDTH, HEIGHT = 196.0, 158.0
LEFT, RIGHT, TOP, BOTTOM = 26.0, 8.0, 8.0, 12.0

PANEL = """<div class="panel"><h3>$dataset <span class="soft">$split</span></h3>$chart<p>$said</p></div>"""


def ranking_chart(cells: Cells, columns: Sequence[str]) -> Markup:
    """One small chart a column; a page puts as many beside each other as there is room for."""
    return join(_panel(column, ranked) for column in columns if (ranked := ranking(cells, column)))


def _panel(column: str, ranked: Sequence[View]) -> Markup:
    dataset, split = column.split(".")
    title = DATASETS[dataset].title
    return fill(
        PANEL,
        dataset=title,
        split=split,
        chart=svg(_drawn(ranked), f"{title} {split}: {_alternative(ranked)}", WIDTH, HEIGHT),
        said=_said(ranked),
    )


def _said(ranked: Sequence[View]) -> str:
    """The best wave network's place, and who is first."""
    ours = next((each for each in ranked if each.cell.row in OURS), None)
    first = ranked[0]
    if ours is None:
        return f"first: {_title(first)}"
    place = f"{_title(ours)} {ordinal(ranked.index(ours) + 1)} of {len(ranked)}"
    return place if ours is first else f"{place}, first {_title(first)}"


def _alternative(ranked: Sequence[View]) -> str:
    """What the picture says, in words."""
    first = ranked[0]
    ours = [f"{_title(each)} {ordinal(k + 1)} with {_mean(each):.1f}" for k, each in enumerate(ranked) if _own(each)]
    return (
        f"{len(ranked)} models, first {_title(first)} with {_mean(first):.1f}; {', '.join(ours) or 'no wave network'}"
    )


def ordinal(place: int) -> str:
    """1st, 2nd, 3rd, 4th."""
    ending = "th" if place % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place}{ending}"


def _drawn(ranked: Sequence[View]) -> Markup:
    low, high = _axis(ranked)
    across = (WIDTH - LEFT - RIGHT) / len(ranked)
    bottom = HEIGHT - BOTTOM

    def y(value: float) -> float:
        return bottom - (max(low, value) - low) / (high - low) * (bottom - TOP)

    parts = []
    for value in ticks(low, high, 4):
        parts.append(
            fill(
                '<line class="grid" x1="$a" x2="$b" y1="$y" y2="$y"/>', a=px(LEFT), b=px(WIDTH - RIGHT), y=px(y(value))
            )
        )
        parts.append(label_at(LEFT - 5, y(value) + 4, f"{value:g}", "end"))
    own_last = sorted(enumerate(ranked), key=lambda pair: _own(pair[1]))  # above all others
    for place, each in own_last:
        test = each.test
        assert test is not None
        x = LEFT + (place + 0.5) * across
        marks = []
        if test["mean"] >= low:
            marks.append(_line("reach", x, y(test["low"]), y(test["high"])))
        marks.append(_mark(each, x, y(test["mean"])) if test["mean"] >= low else _below(x, bottom))
        if each.cell.row in PAPERS_OWN and each.paper is not None:
            marks.insert(0, _line("tie", x, y(test["mean"]), y(each.paper.mean)))
            marks.append(_diamond(x, y(each.paper.mean)))
        parts.append(
            fill(
                '<g class="$kind"><title>$title</title>$marks</g>',
                kind=each.cell.row if _own(each) else "peer",
                title=_told(each, place + 1, len(ranked)),
                marks=join(marks, ""),
            )
        )
    return join(parts, "")


def _axis(ranked: Sequence[View]) -> tuple[float, float]:
    """From what is worth telling apart up: the wave networks, the paper's figures of them and the better half of the
    models. Who is lower stands on the bottom line, without an interval: of runs that fail now and then it is as high as
    the panel, a line without a dot."""
    own = [each for each in ranked if _own(each)]
    papers = [each.paper.mean for each in own if each.paper is not None and each.cell.row in PAPERS_OWN]
    lows = [each.test["low"] for each in own if each.test is not None]
    low = min([median(_mean(each) for each in ranked), *lows, *papers])
    highs = [each.test["high"] for each in ranked if each.test is not None and each.test["mean"] >= low]
    high = max([*highs, *papers])
    room = 0.04 * (high - low) or 0.5
    return low - room, high + room


def _mark(each: View, x: float, y: float) -> Markup:
    """Told apart by shape as well as by colour."""
    if each.cell.row == "gwn-fa":
        return fill('<rect x="$x" y="$y" width="8" height="8"/>', x=px(x - 4), y=px(y - 4))
    if each.cell.row == "gwn-plus":
        corners = f"{px(x)},{px(y - 6)} {px(x + 5.5)},{px(y + 4)} {px(x - 5.5)},{px(y + 4)}"
        return fill('<polygon points="$corners"/>', corners=corners)
    if each.cell.row == BEST:
        arms = f"M{px(x - 5.5)} {px(y)}h11M{px(x)} {px(y - 5.5)}v11"
        return fill('<path class="plus" d="$arms"/>', arms=arms)
    return fill('<circle cx="$x" cy="$y" r="$r"/>', x=px(x), y=px(y), r=4.5 if _own(each) else 1.9)


def _diamond(x: float, y: float) -> Markup:
    corners = f"{px(x)},{px(y - 5)} {px(x + 5)},{px(y)} {px(x)},{px(y + 5)} {px(x - 5)},{px(y)}"
    return fill('<polygon class="printed" points="$corners"/>', corners=corners)


def _below(x: float, y: float) -> Markup:
    corners = f"{px(x - 2.2)},{px(y + 3)} {px(x + 2.2)},{px(y + 3)} {px(x)},{px(y + 8)}"
    return fill('<polygon class="below" points="$corners"/>', corners=corners)


def _line(kind: str, x: float, from_y: float, to_y: float) -> Markup:
    return fill('<line class="$kind" x1="$x" x2="$x" y1="$a" y2="$b"/>', kind=kind, x=px(x), a=px(from_y), b=px(to_y))


def _told(each: View, place: int, count: int) -> str:
    test = each.test or {}
    printed = "" if each.paper is None else f"; the paper prints {each.paper.mean:.2f}"
    interval = f"{test['low']:.1f} to {test['high']:.1f}"
    return f"{_title(each)}: {test['mean']:.2f} ({interval}), {ordinal(place)} of {count}{printed}"


def _own(each: View) -> bool:
    return each.cell.row in OURS


def _title(each: View) -> str:
    return ROWS[each.cell.row].title


def _mean(each: View) -> float:
    assert each.test is not None
    return each.test["mean"]
