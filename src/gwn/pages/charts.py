"""Small charts as SVG: drawn here, coloured by the page's style sheet, so that they follow its light and dark."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from gwn.html import Markup, fill, join

Point = tuple[float, float]
WIDTH, HEIGHT = 460, 240
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 12, 38
"""Room for the axes; on the left more where the numbers are long."""

CHARACTER, Y_LABEL = 9.5, 18
"""How wide a digit is at most, which is on a phone, where letters are 15 of the picture's units high; and the label
beside the axis."""


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers between two others."""
    span = high - low
    if not span > 0:
        return [low]
    step = 10 ** math.floor(math.log10(span / most))
    fit = next(place for place, factor in enumerate(ROUND) if span / (step * factor) <= most)
    found = _multiples(low, high, step * ROUND[fit])
    return found if len(found) > 1 or not fit else _multiples(low, high, step * ROUND[fit - 1])  # one is no scale


ROUND = (1, 2, 5, 10)


def _multiples(low: float, high: float, step: float) -> list[float]:
    first = math.ceil(low / step - 1e-9)
    return [round(k * step, 12) for k in range(first, math.floor(high / step + 1e-9) + 1)]


class Frame:
    """From data to places in the picture."""

    def __init__(self, x: Point, y: Point) -> None:
        self.x, self.y = _widened(*x), _widened(*y)
        self.left = max(LEFT, Y_LABEL + 6 + max(_wide(value) for value in ticks(*self.y)))

    def at(self, x: float, y: float) -> Point:
        across = (x - self.x[0]) / (self.x[1] - self.x[0])
        up = (y - self.y[0]) / (self.y[1] - self.y[0])
        return self.left + across * (WIDTH - self.left - RIGHT), HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM)

    def axes(self, x_label: str, y_label: str) -> Markup:
        """Grid, numbers and labels."""
        left, right, bottom = px(self.left), WIDTH - RIGHT, HEIGHT - BOTTOM
        parts = []
        for value in ticks(*self.y):
            y = self.at(self.x[0], value)[1]
            parts.append(fill('<line class="grid" x1="$a" x2="$b" y1="$y" y2="$y"/>', a=left, b=right, y=px(y)))
            parts.append(label_at(self.left - 6, y + 4, _tick(value), "end"))
        for x, value in self._across():
            parts.append(label_at(x, bottom + 16, _tick(value), "middle"))
        parts.append(fill('<line class="axis" x1="$a" x2="$b" y1="$y" y2="$y"/>', a=left, b=right, y=bottom))
        parts.append(label_at((self.left + right) / 2, HEIGHT - 5, x_label, "middle"))
        if y_label:
            parts.append(
                fill(
                    '<text x="$x" y="$y" text-anchor="middle" transform="rotate(-90 $x $y)">$text</text>',
                    x=11,
                    y=px((TOP + bottom) / 2),
                    text=y_label,
                )
            )
        return join(parts, "")

    def _across(self) -> list[tuple[float, float]]:
        """Every number, every second or third, as they stand beside each other, with where: none leaves the picture."""
        found = ticks(*self.x)
        spots = [(min(self.at(value, self.y[0])[0], WIDTH - _wide(value) / 2), value) for value in found]
        for every in range(1, len(spots)):
            shown = spots[::every]
            if all(b - a > (_wide(v) + _wide(w)) / 2 for (a, v), (b, w) in pairwise(shown)):
                return shown
        return spots[:1]

    def line(self, points: Sequence[Point], kind: str) -> Markup:
        places = " ".join(f"{px(x)},{px(y)}" for x, y in (self.at(*point) for point in points))
        return fill('<polyline class="$kind" points="$places"/>', kind=kind, places=places)


def _tick(value: float) -> str:
    return f"{value:,.10g}"


def _wide(value: float) -> float:
    return CHARACTER * len(_tick(value))


def svg(body: Markup, label: str, width: float = WIDTH, height: float = HEIGHT) -> Markup:
    """A picture with a name for those who cannot see it."""
    return fill(
        '<svg role="img" aria-label="$label" viewBox="0 0 $width $height" class="chart">$body</svg>',
        label=label,
        width=px(width),
        height=px(height),
        body=body,
    )


def lines(series: Sequence[tuple[str, Sequence[Point]]], label: str, y_label: str, mark: float | None = None) -> Markup:
    """One or two lines over epochs; `mark` is the epoch that was chosen."""
    everything = [point for _, points in series for point in points]
    frame = Frame(_range([x for x, _ in everything]), _range([y for _, y in everything]))
    parts = [frame.axes("epoch", y_label)]
    if mark is not None:
        x = frame.at(mark, frame.y[0])[0]
        parts.append(fill('<line class="mark" x1="$x" x2="$x" y1="$a" y2="$b"/>', x=px(x), a=TOP, b=HEIGHT - BOTTOM))
    parts += [frame.line(points, f"line s{number}") for number, (_, points) in enumerate(series)]
    return svg(join(parts, ""), label)


def reliability(bins: Sequence[tuple[float, float, int]]) -> Markup:
    """Share that is right over confidence; on the diagonal a network is as sure as it should be."""
    frame = Frame((0.0, 100.0), (0.0, 100.0))
    most = max((count for _, _, count in bins), default=1)
    parts = [frame.axes("confidence in %", "right in %"), frame.line([(0, 0), (100, 100)], "diagonal")]
    for mean, right, count in bins:
        x, y = frame.at(100 * mean, 100 * right)
        onto = frame.at(100 * mean, 100 * mean)[1]
        parts.append(fill('<line class="gap" x1="$x" x2="$x" y1="$y" y2="$onto"/>', x=px(x), y=px(y), onto=px(onto)))
        parts.append(
            fill(
                '<circle class="dot" cx="$x" cy="$y" r="$r"><title>$title</title></circle>',
                x=px(x),
                y=px(y),
                r=px(4 + 8 * math.sqrt(count / most)),
                title=f"{count} nodes: confidence {100 * mean:.1f} %, right {100 * right:.1f} %",
            )
        )
    return svg(join(parts, ""), "Calibration: share that is right over confidence")


def scatter(points: Sequence[Point]) -> Markup:
    """Predicted over known numbers; right answers lie on the diagonal."""
    ends = _range([value for point in points for value in point])
    frame = Frame(ends, ends)
    dots = (
        fill('<circle class="dot faint" cx="$x" cy="$y" r="3.5"/>', x=px(x), y=px(y))
        for x, y in (frame.at(*point) for point in points)
    )
    diagonal = frame.line([(ends[0], ends[0]), (ends[1], ends[1])], "diagonal")
    return svg(join([frame.axes("known", "predicted"), diagonal, *dots], ""), "Predicted over known numbers")


LONGEST_NAME = 24


def bars(rows: Sequence[tuple[str, str, float]], label: str) -> Markup:
    """Contributions to the left and right of zero, one a row: its name, what is said behind it, and the number."""
    low, high = min(0.0, *(value for *_, value in rows)), max(0.0, *(value for *_, value in rows))
    digits = max(0, 2 - math.floor(math.log10(max(high, -low) or 1.0)))
    numbers = [f"{value:+,.{digits}f}" for *_, value in rows]
    name_width, number_width, height = 170.0, max(62.0, CHARACTER * max(map(len, numbers)) + 6), 24.0
    room = WIDTH - name_width - number_width
    scale = room / ((high - low) or 1.0)
    zero = name_width - low * scale
    parts = []
    for number, (name, note, value) in enumerate(rows):
        y = number * height
        most = LONGEST_NAME - len(note)
        shown = (name if len(name) <= most else name[: most - 1] + "…") + note
        x = zero + min(0.0, value) * scale
        parts.append(
            fill(
                '<g><title>$full: $value</title>$name<rect class="$kind" x="$x" y="$y" width="$w" height="14" rx="2"/>'
                '<text class="number" x="$right" y="$base" text-anchor="end">$value</text></g>',
                full=name + note,
                value=numbers[number],
                name=label_at(name_width - 8, y + 15, shown, "end"),
                kind="for" if value >= 0 else "against",
                x=px(x),
                y=px(y + 4),
                w=px(max(1.0, abs(value) * scale)),
                right=WIDTH,
                base=px(y + 15),
            )
        )
    total = len(rows) * height
    parts.append(fill('<line class="axis" x1="$x" x2="$x" y1="0" y2="$y"/>', x=px(zero), y=px(total)))
    return svg(join(parts, ""), label, WIDTH, total)


def label_at(x: float, y: float, text: str, anchor: str) -> Markup:
    return fill('<text x="$x" y="$y" text-anchor="$anchor">$text</text>', x=px(x), y=px(y), text=text, anchor=anchor)


def _range(values: Sequence[float]) -> Point:
    low, high = min(values), max(values)
    room = 0.05 * (high - low)
    return low - (0.0 if low == 1 else room), high + room


def _widened(low: float, high: float) -> Point:
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def px(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")
