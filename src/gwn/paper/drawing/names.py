"""Where the names of points and of curves stand, so that they cover neither points nor each other; all in points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

Box = tuple[float, float, float, float]
NAME_SIZE = 7.5
"""Of the letters of a name."""

_NEAR = ((5, 2), (5, -8), (5, 10), (5, -16), (9, 19), (9, -25))
_BESIDE = (*_NEAR, *((15 + 9 * k, sign * (29 + 10 * k) - 3) for k in range(5) for sign in (1, -1)))
_SIDES = ((1, "left"), (-1, "right"), (0, "center"))
PLACES = tuple(
    (sign * right, up, side) for right, up in _BESIDE for sign, side in _SIDES if side != "center" or abs(up) > 6
)
"""Offset of the text and the side on which it begins, in the order of preference."""

FURTHER = 2.5
"""The area, in square points, that a name would rather cover than stand at the next place."""

UNREADABLE = 6.0
"""How much worse it is to cover a name, or a point that has one, than any other point."""

ROUNDS = 4
"""In which every name chooses its place; after two or three none moves any more."""

FAR = 12
"""A name that stands higher or lower than this is tied to its point by a line."""

CROSSED = 40.0
"""The area that a name would rather cover than have its line run through a point or a name, or stand on a line."""

MISTAKEN = 60.0
"""The area that a name would rather cover than stand nearer to another point than to its own, without a line."""


def place_names(
    points: Sequence[tuple[float, float]],
    names: Sequence[str],
    frame: Box | None = None,
    written: Sequence[Box] = (),
) -> list[tuple[int, int, str]]:
    """One of `PLACES` for every point with a name: near the point, and free of points, of other names and of the lines
    that tie them, or one that covers little; a place outside of `frame` is the worst. Points without a name, which are
    only kept free, come after those with one, and `written` is where other words stand. Once all have a place, each
    chooses again among what the others leave: the first ones could not know who comes later."""
    kept_free: list[Box] = [*((x - 3.5, y - 3.5, x + 3.5, y + 3.5) for x, y in points), *written]
    boxes = [[_box(x, y, name, *place) for place in PLACES] for (x, y), name in zip(points, names, strict=False)]
    lines = [
        [(*point, (box[0] + box[2]) / 2, (box[1] + box[3]) / 2) if abs(up) > FAR else None
         for box, (_, up, _) in zip(of_name, PLACES, strict=True)]
        for point, of_name in zip(points, boxes, strict=False)
    ]  # fmt: skip
    alone = [
        [
            sum((UNREADABLE if k < len(boxes) else 1.0) * _overlap(box, other) for k, other in enumerate(kept_free))
            + sum(_crossed(line, other) for other in kept_free[:name] + kept_free[name + 1 :])
            + (0.0 if line else _mistaken(box, points, name))
            + _outside(box, frame)
            + FURTHER * far
            for far, (box, line) in enumerate(zip(boxes[name], lines[name], strict=True))
        ]
        for name in range(len(boxes))
    ]
    chosen: dict[int, int] = {}
    for _ in range(ROUNDS):
        for name in range(len(boxes)):
            others = [(boxes[other][at], lines[other][at]) for other, at in chosen.items() if other != name]
            costs = [
                cost + sum(UNREADABLE * _overlap(box, o) + _crossed(line, o) + _crossed(tie, box) for o, tie in others)
                for cost, box, line in zip(alone[name], boxes[name], lines[name], strict=True)
            ]
            chosen[name] = costs.index(min(costs))
    return [PLACES[chosen[name]] for name in range(len(boxes))]


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Heights as near to the wanted ones as a distance of `gap` and the ends allow, in the same order."""
    order = sorted(range(len(wanted)), key=lambda place: wanted[place])
    heights = [0.0] * len(wanted)
    floor = low
    for place in order:  # pushed up by the one below
        heights[place] = floor = max(wanted[place], floor)
        floor += gap
    ceiling = high
    for place in reversed(order):  # and back from the top
        heights[place] = ceiling = min(heights[place], ceiling)
        ceiling -= gap
    return heights


@cache
def width_of(text: str, size: float) -> float:
    """In points, of letters of this size."""
    return float(text_to_path.get_text_width_height_descent(text, FontProperties(size=size), ismath=False)[0])


def _box(x: float, y: float, name: str, right: float, up: float, side: str) -> Box:
    width = width_of(name, NAME_SIZE)
    left = x + right - {"left": 0.0, "center": 0.5, "right": 1.0}[side] * width
    return left, y + up - 0.25 * NAME_SIZE, left + width, y + up + NAME_SIZE  # with what hangs below its line


def _overlap(a: Box, b: Box) -> float:
    wide, high = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    return wide * high if wide > 0 and high > 0 else 0.0


def _crossed(line: Box | None, box: Box) -> float:
    """What it costs if the line, from (x, y) to (x, y), runs through the box."""
    if line is None:
        return 0.0
    (x, y, to_x, to_y), begin, end = line, 0.0, 1.0  # the part of the line within all four sides
    across, up = to_x - x, to_y - y
    for step, room in ((-across, x - box[0]), (across, box[2] - x), (-up, y - box[1]), (up, box[3] - y)):
        if step == 0 and room < 0:
            return 0.0
        if step < 0:
            begin = max(begin, room / step)
        elif step > 0:
            end = min(end, room / step)
    return CROSSED if begin < end else 0.0


def _mistaken(box: Box, points: Sequence[tuple[float, float]], own: int) -> float:
    """What it costs if the point to which the box is nearest is not its own."""
    distances = [_distance(box, point) for point in points]
    return MISTAKEN if min(distances) < distances[own] else 0.0


def _distance(box: Box, point: tuple[float, float]) -> float:
    (left, low, right, high), (x, y) = box, point
    return math.hypot(max(left - x, 0.0, x - right), max(low - y, 0.0, y - high))


def _outside(box: Box, frame: Box | None) -> float:
    whole = (box[2] - box[0]) * (box[3] - box[1])
    return 0.0 if frame is None else 20 * (whole - _overlap(box, frame))
