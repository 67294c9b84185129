"""Where the names of points go, so that they do not lie on each other."""

from __future__ import annotations

from collections.abc import Sequence

Box = tuple[float, float, float, float]
SIZE = 6.0
"""Of the letters, in points."""

_BESIDE = ((4, 2), (4, -7), (4, 9), (4, -14), (8, 17), (8, -22), (14, 26), (14, -31), (22, 36), (22, -41))
PLACES = tuple((sign * right, up, side) for right, up in _BESIDE for sign, side in ((1, "left"), (-1, "right")))
"""Offset of the text in points and the side on which it begins, in the order of preference."""

FAR = 12
"""A name that stands higher or lower than this is tied to its point by a line."""


def place_names(points: Sequence[tuple[float, float]], names: Sequence[str]) -> list[tuple[int, int, str]]:
    """One of `PLACES` for every point, positions in points: the first that is free of points and of other names, or
    the one that covers least."""
    taken: list[Box] = [(x - 3, y - 3, x + 3, y + 3) for x, y in points]
    chosen = []
    for (x, y), name in zip(points, names, strict=True):
        boxes = [_box(x, y, name, *place) for place in PLACES]
        covered = [sum(_overlap(box, other) for other in taken) for box in boxes]
        best = covered.index(min(covered))
        taken.append(boxes[best])
        chosen.append(PLACES[best])
    return chosen


def _box(x: float, y: float, name: str, right: float, up: float, side: str) -> Box:
    width = 0.56 * SIZE * len(name)
    left = x + right - (width if side == "right" else 0.0)
    return left, y + up, left + width, y + up + SIZE


def _overlap(a: Box, b: Box) -> float:
    wide, high = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    return wide * high if wide > 0 and high > 0 else 0.0
