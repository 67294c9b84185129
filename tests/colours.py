"""Colours as they are seen, with and without the green receptor, and how far apart two of them are."""

from __future__ import annotations

import numpy as np
from matplotlib.colors import to_rgb
from numpy.typing import NDArray

DEUTERANOPIA = np.array(
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
)
"""Machado, Oliveira and Fernandes (2009), Table 1, severity 1, on linear RGB."""

USUAL = np.eye(3)
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = TO_XYZ.sum(1)
TOLD_APART = 12.0
"""In CIELAB; about 2 is just seen where two patches touch."""


def as_seen(colour: str, eyes: NDArray[np.float64] = DEUTERANOPIA) -> NDArray[np.float64]:
    """CIELAB of a colour under daylight, through such eyes."""
    value = np.array(to_rgb(colour))
    linear = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    x = TO_XYZ @ np.clip(eyes @ linear, 0, 1) / WHITE
    f = np.where(x > 0.008856, np.cbrt(x), 7.787 * x + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def distance(one: str, other: str, eyes: NDArray[np.float64] = DEUTERANOPIA) -> float:
    return float(np.linalg.norm(as_seen(one, eyes) - as_seen(other, eyes)))
