"""Where the names of points and of curves stand, so that they cover neither points nor each other; all in points."""

from __future__ import annotations

from collections.abc import Sequence

Box = tuple[float, float, float, float]
NAME_SIZE = 7.5
"""Of the letters of a name."""

_BESIDE = ((5, 2), (5, -8), (5, 10), (5, -16), (9, 19), (9, -25), (15, 29), (15, -35), (23, 40), (23, -46))
PLACES = tuple((sign * right, up, side) for right, up in _BESIDE for sign, side in ((1, "left"), (-1, "right")))
"""Offset of the text and the side on which it begins, in the order of preference."""

FURTHER = 5.0
"""The area, in square points, that a name would rather cover than stand at the next place."""

FAR = 12
"""A name that stands higher or lower than this is tied to its point by a line."""


def place_names(
    points: Sequence[tuple[float, float]], names: Sequence[str], frame: Box | None = None
) -> list[tuple[int, int, str]]:
    """One of `PLACES` for every point with a name: near the point, and free of points and of other names, or one that
    covers little; a place outside of `frame` is the worst. Points without a name, which are only kept free, come
    after those with one."""
    taken: list[Box] = [(x - 3, y - 3, x + 3, y + 3) for x, y in points]
    chosen = []
    for (x, y), name in zip(points, names, strict=False):
        boxes = [_box(x, y, name, *place) for place in PLACES]
        covered = [sum(_overlap(box, other) for other in taken) + _outside(box, frame) for box in boxes]
        costs = [area + FURTHER * far for far, area in enumerate(covered)]
        best = costs.index(min(costs))
        taken.append(boxes[best])
        chosen.append(PLACES[best])
    return chosen


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


def _box(x: float, y: float, name: str, right: float, up: float, side: str) -> Box:
    width = 0.63 * NAME_SIZE * len(name)
    left = x + right - (width if side == "right" else 0.0)
    return left, y + up, left + width, y + up + NAME_SIZE


def _overlap(a: Box, b: Box) -> float:
    wide, high = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    return wide * high if wide > 0 and high > 0 else 0.0


def _outside(box: Box, frame: Box | None) -> float:
    whole = (box[2] - box[0]) * (box[3] - box[1])
    return 0.0 if frame is None else 4 * (whole - _overlap(box, frame))
