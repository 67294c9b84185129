"""How a signal's energy is spread over the graph's frequencies, without a single eigenvector.

With `S = cos(theta)` and the moments `m_k = <x, T_k(S) x>`, the energy of `x` between two angles is the integral of
`(g_0 m_0 + 2 sum_k g_k m_k cos(k theta)) / pi`, where Jackson's factors `g_k` keep it positive. A frequency is an
eigenvalue of `I - S`: 0 is smooth, 2 is rough.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from gwn.sparse import SparseMatrix

MOMENTS = 128
BINS = 50


def bin_edges() -> np.ndarray:
    """The ends of the `BINS` intervals of frequency, from 0 to 2."""
    return np.linspace(0.0, 2.0, BINS + 1)


def energy_by_frequency(matrix: SparseMatrix, signals: Tensor) -> np.ndarray:
    """The share of each signal's energy in every interval of frequency, [signals, BINS]; `signals` is [N, count]."""
    moments = chebyshev_moments(matrix, signals)
    k = np.arange(1, MOMENTS)
    theta = np.arccos(np.clip(1 - bin_edges(), -1, 1))
    integrals = np.concatenate([theta[None, :], np.sin(np.outer(k, theta)) / k[:, None] * 2], axis=0) / np.pi
    energy = (jackson()[:, None] * moments).T @ np.diff(integrals, axis=1)
    total = moments[0][:, None]
    shares: np.ndarray = np.divide(np.clip(energy, 0, None), total, out=np.zeros_like(energy), where=total > 0)
    return shares


def chebyshev_moments(matrix: SparseMatrix, signals: Tensor) -> np.ndarray:
    """`<x, T_k(S) x>` for k below `MOMENTS`, two from every product: `T_2k = 2 T_k² - T_0`, and so for `T_2k+1`."""
    before, now = signals, matrix.csr @ signals
    first, second = (signals * signals).sum(0), (signals * now).sum(0)
    moments = [first, second]
    while len(moments) < MOMENTS:
        moments.append(2 * (now * now).sum(0) - first)
        before, now = now, 2 * (matrix.csr @ now) - before
        moments.append(2 * (before * now).sum(0) - second)
    return torch.stack(moments[:MOMENTS]).numpy()


def jackson() -> np.ndarray:
    """Jackson's factors: they smooth the series to about `pi / MOMENTS` in angle and keep densities positive."""
    k, step = np.arange(MOMENTS), np.pi / (MOMENTS + 1)
    factors: np.ndarray = ((MOMENTS - k + 1) * np.cos(k * step) + np.sin(k * step) / np.tan(step)) / (MOMENTS + 1)
    return factors
