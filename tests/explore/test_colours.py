"""The explorer's colours, in light and dark: classes and signs are told apart without the green receptor too."""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np
import pytest

from gwn.explore.animate import SCALE
from gwn.html import template

DEUTERANOPIA = np.array(
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
)
"""Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB."""

TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = TO_XYZ.sum(1)
TOLD_APART = 12.0
"""In CIELAB; about 2 is just seen where two patches touch."""


def as_seen(colour: str, matrix: np.ndarray) -> np.ndarray:
    """CIELAB of a colour through such eyes."""
    value = np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    linear = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    x = TO_XYZ @ np.clip(matrix @ linear, 0, 1) / WHITE
    f = np.where(x > 0.008856, np.cbrt(x), 7.787 * x + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def variables() -> list[dict[str, str]]:
    """The custom properties of the style sheet: in light, and in dark."""
    light, dark = template("explore.css").split("@media (prefers-color-scheme: dark)")
    found = [dict(re.findall(r"--([\w-]+): ([^;]+);", part)) for part in (light, dark)]
    return [found[0], {**found[0], **found[1]}]


@pytest.mark.parametrize("matrix", [np.eye(3), DEUTERANOPIA], ids=["usual", "deuteranopia"])
def test_colours_are_told_apart(matrix: np.ndarray) -> None:
    for theme in variables():
        groups = [theme["classes"].split(), [theme[name] for name in ("rest", "below", "above")]]
        groups += [[theme[name] for name in ("below-far", "above-far")], [theme["right"], theme["wrong"]]]
        for group in groups:
            for a, b in combinations(group, 2):
                assert np.linalg.norm(as_seen(a, matrix) - as_seen(b, matrix)) > TOLD_APART, (a, b)


def test_the_film_has_the_colours_of_the_dark_page() -> None:
    dark = variables()[1]
    assert tuple(dark[name] for name in ("below-far", "below", "rest", "above", "above-far")) == SCALE
