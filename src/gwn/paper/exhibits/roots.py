"""`figure-roots`: the two roots of the companion matrix, each as the paper draws it, and both together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gwn.paper.curve_data import Axis, CurveData, Panel, Series, numbers
from gwn.paper.exhibit import Context, Exhibit
from gwn.schemes import Leapfrog

CAPTION = (
    "The paper's wave grows at every step length, the physical one is bounded up to tau = sqrt 2: each root looks "
    "bounded on one side, but the two multiply to one, so outside |λ'| <= 2 one of them always exceeds 1. Roots of "
    "r² - λ' r + 1 = 0, where λ' is an eigenvalue of 2I + tau² L and r one of the companion matrix. (a), (b): one "
    "real root at a time, as in the paper; each leaves the band between the dotted lines, -1 to 1, on one side. (c): "
    "the larger of the two moduli. (d): the growth per step that follows for the eigenvalue +1, which S has on every "
    "graph with an edge, so for the paper's L = S, and for the physical wave L = S - I, whose spectrum reaches from "
    "-2 to 0."
)
REACH = 6.0
POINTS = 241
LONGEST_STEP = 3.0

Curve = NDArray[np.float64]


def roots(middle: Curve) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
    """`(λ' ± sqrt(λ'² - 4)) / 2`."""
    inside: NDArray[np.complex128] = np.emath.sqrt(middle * middle - 4).astype(np.complex128)
    return (middle + inside) / 2, (middle - inside) / 2


def compute(context: Context) -> tuple[CurveData]:
    """Closed form: nothing is trained."""
    middle = np.linspace(-REACH, REACH, POINTS)
    first, second = roots(middle)
    real = np.abs(middle) >= 2
    axis = Axis(label="λ', eigenvalue of 2I + tau² L")
    tau = np.linspace(0.0, LONGEST_STEP, POINTS // 2 + 1)
    panels = (
        _one("(a) the root r₁, where it is real", axis, middle, np.where(real, first.real, np.nan), "r₁", "first"),
        _one("(b) the root r₂, where it is real", axis, middle, np.where(real, second.real, np.nan), "r₂", "second"),
        Panel(
            title="(c) both: |r₁| |r₂| = 1 everywhere",
            kind="lines",
            x=axis,
            y=Axis(label="modulus", scale="log"),
            series=(
                Series(label="|r₁|", key="first", x=numbers(middle), y=numbers(np.abs(first))),
                Series(label="|r₂|", key="second", x=numbers(middle), y=numbers(np.abs(second))),
                Series(label="larger one", key="larger", x=numbers(middle), y=numbers(_larger(middle))),
                _level(middle),
            ),
        ),
        Panel(
            title="(d) growth per step",
            kind="lines",
            x=Axis(label="step length tau"),
            y=Axis(label="growth per step", scale="log"),
            series=(
                Series(label="L = S (paper)", key="gwn-sym", x=numbers(tau), y=numbers(_growth(tau, 1.0))),
                Series(label="L = S - I", key="physical", x=numbers(tau), y=numbers(_growth(tau, -2.0))),
                _level(tau),
            ),
        ),
    )
    return EXHIBIT.figure(
        caption=CAPTION,
        panels=panels,
        columns=2,
        provenance={"source": "closed form; docs/stability.md has the derivation"},
    )


def _growth(tau: Curve, mu: float) -> list[float]:
    """Of leapfrog in one step for a mode with eigenvalue mu; a step of length 0 changes nothing."""
    return [Leapfrog(step).growth(mu) if step > 0 else 1.0 for step in tau.tolist()]


def _larger(middle: Curve) -> Curve:
    first, second = roots(middle)
    larger: Curve = np.maximum(np.abs(first), np.abs(second))
    return larger


def _one(title: str, axis: Axis, middle: Curve, values: Curve, label: str, key: str) -> Panel:
    curve = Series(label=label, key=key, x=numbers(middle), y=numbers(values))
    return Panel(
        title=title, kind="lines", x=axis, y=Axis(label=label), series=(curve, _level(middle), _level(middle, -1))
    )


def _level(x: Curve, height: float = 1.0) -> Series:
    ends = [float(x[0]), float(x[-1])]
    return Series(label="", key="reference", x=numbers(ends), y=numbers([height, height]))


EXHIBIT = Exhibit(
    name="figure-roots",
    title="Both roots of the companion matrix",
    place="figure 7, proof of Theorem 2",
    compute=compute,
)
