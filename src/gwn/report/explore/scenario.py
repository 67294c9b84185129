"""One wave to look at: every node's amplitude at every step, with what is measured of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from gwn.adjacency import Adjacency
from gwn.report.explore.dynamics import Bounds
from gwn.report.explore.spectrum import energy_by_frequency


@dataclass(frozen=True, kw_only=True)
class Label:
    """How a scenario is chosen: its signal and its dynamics; `own` for those of the trained network."""

    signal: str
    laplacian: str
    scheme: str
    tau: float
    own: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Scenario:
    """A wave on the whole graph, and the amplitudes of the nodes that are drawn.

    times        [n + 1] of the steps
    amplitudes   [n + 1, drawn nodes]
    kinetic      [n] `||(X(n+1) - X(n)) / tau||²`, half-way between two steps
    dirichlet    [n] `<X, (I - S) X>`, the mean of two steps
    norm         [n + 1] `||X(n)||`
    spectrum     [n + 1, bins] share of the energy by graph frequency
    """

    label: Label
    bounds: Bounds
    times: np.ndarray
    amplitudes: np.ndarray
    kinetic: np.ndarray
    dirichlet: np.ndarray
    norm: np.ndarray
    spectrum: np.ndarray


def measure(label: Label, bounds: Bounds, wave: Tensor, adjacency: Adjacency, drawn: Tensor) -> Scenario:
    """From a wave [n + 1, N] on the whole graph to what the page shows."""
    columns = wave.t().contiguous()
    with torch.no_grad():
        smooth = adjacency.matrix.csr @ columns
        dirichlet = (columns * (columns - smooth)).sum(0).clamp_min(0).numpy()
        kinetic = ((wave[1:] - wave[:-1]) / label.tau).square().sum(1).numpy()
        spectrum = energy_by_frequency(adjacency.matrix, columns / columns.abs().amax(0).clamp_min(1e-300))
    return Scenario(
        label=label,
        bounds=bounds,
        times=np.arange(wave.shape[0]) * label.tau,
        amplitudes=wave[:, drawn].numpy(),
        kinetic=kinetic,
        dirichlet=(dirichlet[1:] + dirichlet[:-1]) / 2,
        norm=wave.norm(dim=1).numpy(),
        spectrum=spectrum,
    )
