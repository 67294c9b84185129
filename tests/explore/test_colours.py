"""The explorer's colours, in light and dark: classes and signs are told apart without the green receptor too."""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np
import pytest

from colours import DEUTERANOPIA, TOLD_APART, USUAL, distance
from gwn.explore.animate import SCALE
from gwn.html import template


def variables() -> list[dict[str, str]]:
    """The custom properties of the style sheet: in light, and in dark."""
    light, dark = template("explore.css").split("@media (prefers-color-scheme: dark)")
    found = [dict(re.findall(r"--([\w-]+): ([^;]+);", part)) for part in (light, dark)]
    return [found[0], {**found[0], **found[1]}]


@pytest.mark.parametrize("eyes", [USUAL, DEUTERANOPIA], ids=["usual", "deuteranopia"])
def test_colours_are_told_apart(eyes: np.ndarray) -> None:
    for theme in variables():
        groups = [theme["classes"].split(), [theme[name] for name in ("rest", "below", "above")]]
        groups += [[theme[name] for name in ("below-far", "above-far")], [theme["right"], theme["wrong"]]]
        for group in groups:
            for a, b in combinations(group, 2):
                assert distance(a, b, eyes) > TOLD_APART, (a, b)


def test_the_film_has_the_colours_of_the_dark_page() -> None:
    dark = variables()[1]
    assert tuple(dark[name] for name in ("below-far", "below", "rest", "above", "above-far")) == SCALE
