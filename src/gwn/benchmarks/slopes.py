"""How something grows: the exponent of a power law, fitted on logarithms."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np


def slope(x: Sequence[float], y: Sequence[float]) -> float:
    """`p` of `y ~ x^p` by least squares; not a number where that makes no sense."""
    if len(x) < 2 or min(*x, *y) <= 0:
        return math.nan
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])
