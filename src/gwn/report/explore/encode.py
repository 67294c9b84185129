"""Numbers as the page reads them: 16-bit integers with a scale for every step, as base64 text."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from gwn.report.explore.scenario import Scenario

FULL = 32767
DIGITS = 5


def encode_scenario(scenario: Scenario) -> dict[str, Any]:
    """All that the page shows of one wave; an amplitude is off by less than 1 / 60,000 of its step's largest."""
    scales = np.abs(scenario.amplitudes).max(axis=1)
    unit = np.divide(
        scenario.amplitudes, scales[:, None], where=scales[:, None] > 0, out=np.zeros_like(scenario.amplitudes)
    )
    norm = scenario.norm
    growth = np.divide(norm[1:], norm[:-1], where=norm[:-1] > 0, out=np.full(len(norm) - 1, np.nan))
    return {
        "times": rounded(scenario.times),
        "scales": rounded(scales),
        "amplitudes": as_text(np.rint(unit * FULL)),
        "spectrum": as_text(np.rint(np.clip(scenario.spectrum, 0, 1) * FULL)),
        "kinetic": rounded(scenario.kinetic),
        "dirichlet": rounded(scenario.dirichlet),
        "growth": rounded(growth),
    }


def as_text(values: np.ndarray) -> str:
    """Little-endian 16-bit integers as base64."""
    return base64.b64encode(values.astype("<i2").tobytes()).decode()


def rounded(values: np.ndarray, digits: int = DIGITS) -> list[float | None]:
    """Numbers with so many significant digits; null where they are none."""
    return [float(f"{value:.{digits}g}") if np.isfinite(value) else None for value in np.asarray(values).ravel()]
