"""`figure-spectrum`: Cora's spectrum, a signal in it, and the filter that each Laplacian and scheme applies."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray

from gwn.adjacency import adjacency_of
from gwn.graph import Graph
from gwn.paper.curve_data import Axis, CurveData, Panel, Series, numbers
from gwn.paper.exhibit import Context, Exhibit
from gwn.paper.exhibits.small_graph import BRIGHTEST, hexagon, mechanism, superposition
from gwn.schemes import Bessel, Heat, Leapfrog, Newmark, Scheme, count_steps
from gwn.stability import mode_amplification

CAPTION = (
    "A signal is a superposition of waves, and a wave carries it where heat only smears it: {superposition}; "
    "{mechanism}. (a) to (d) A class as a sum of eigenvectors u of I - S with their amplitudes, the two largest first. "
    "(e), (f) u'' = (S - I) u and u' = (S - I) u from the same bump; shades end at ±{brightest:g}. Below, Cora: (g) "
    "eigenvalues of I - S; (h) share of a class's energy in each band, {smooth:.0f} % of it in the smoothest tenth of "
    "the spectrum, beside that of a random signal; (i) what a mode is multiplied by until T = {time:g} in steps of "
    "{tau:g}, from rest: the paper's operator amplifies smooth modes, the physical ones let every mode swing, heat "
    "damps all but the ends; (j) the class signal after that filter, scaled to energy one. A curve that leaves (i) or "
    "(j) below is smaller than {floor:g} there."
)
DATASET = "cora"
TIME, TAU = 4.0, 1.0
BANDS = 40
FLOOR = 1e-2
"""Where a logarithmic axis ends: a curve that goes lower leaves the panel, for a zero has no place on it."""

Values = NDArray[np.float64]

FILTERS: dict[str, tuple[str, type[Scheme], float]] = {
    "gwn-sym": ("L = S, leapfrog (GWN-sym)", Leapfrog, 1.0),
    "physical": ("L = S - I, leapfrog", Leapfrog, 0.0),
    "physical-newmark": ("L = S - I, newmark", Newmark, 0.0),
    "physical-bessel": ("L = S - I, bessel (exact)", Bessel, 0.0),
    "klein-gordon": ("L = S - 1.25 I, leapfrog", Leapfrog, -0.25),
    "heat": ("L = S - I, heat", Heat, 0.0),
}
"""key -> (label, scheme, the eigenvalue of L_a where I - S has zero)."""


DRAWN = ("gwn-sym", "physical", "klein-gordon", "heat")
"""Of these filters; the two others are physical waves as well, and differ in rough modes alone."""


def compute(context: Context) -> tuple[CurveData]:
    """A dense eigendecomposition; nothing is trained."""
    dataset = context.load(DATASET)
    context.advance(0, 1, "eigenvectors")
    values, vectors = decomposition(dataset.graph)
    signal = (dataset.graph.labels.numpy() == 0).astype(np.float64)
    signal -= signal.mean()
    noise = np.random.default_rng(0).standard_normal(len(signal))
    amplitudes = {"a class": _spectrum(vectors, signal), "random": _spectrum(vectors, noise)}
    borders = np.linspace(0, 2, BANDS + 1)
    axis = Axis(label="eigenvalue of I - S")
    grid = np.linspace(0, 2, 161)
    small = hexagon()
    added, superposed = superposition(small)
    travelled, carried = mechanism(small)
    smooth = float(np.square(amplitudes["a class"])[values <= 0.2].sum())
    drawn = {key: label for key, (label, _, _) in FILTERS.items() if key in DRAWN}
    filters = {key: response(key, grid) for key in drawn}
    filtered = {key: _energy(values, amplitudes["a class"] * response(key, values), borders) for key in drawn}
    middles = (borders[1:] + borders[:-1]) / 2
    panels = (
        *added,
        *travelled,
        _histogram(
            "(g) Cora's spectrum", axis, borders, {"": np.histogram(values, borders)[0]}, "eigenvalues in a band"
        ),
        _histogram(
            "(h) a class as waves",
            axis,
            borders,
            {name: _energy(values, a, borders) for name, a in amplitudes.items()},
            "share of energy",
            "%",
        ),
        Panel(
            title=f"(i) filters at T = {TIME:g}",
            kind="lines",
            x=axis,
            y=Axis(label="|g(λ)|", scale="log", limits=_heights(filters)),
            series=tuple(_curve(label, key, grid, filters[key]) for key, label in drawn.items()),
        ),
        Panel(
            title="(j) the class, filtered",
            kind="lines",
            x=axis,
            y=Axis(label="share of energy", unit="%", scale="log", limits=_heights(filtered)),
            series=tuple(_curve(label, key, middles, filtered[key]) for key, label in drawn.items()),
        ),
    )
    return EXHIBIT.figure(
        caption=CAPTION.format(
            time=TIME,
            tau=TAU,
            superposition=superposed,
            mechanism=carried,
            brightest=BRIGHTEST,
            smooth=100 * smooth,
            floor=FLOOR,
        ),
        panels=panels,
        columns=4,
        provenance={"dataset": dataset.name, "data": dataset.graph.content_hash(), "time": TIME, "tau": TAU},
    )


def decomposition(graph: Graph) -> tuple[Values, Values]:
    """Eigenvalues of `I - S`, ascending, and its eigenvectors as columns."""
    adjacency = adjacency_of(graph.edge_index, graph.edge_weight, graph.num_nodes, dtype=torch.float64)
    matrix = adjacency.matrix.csr.to_dense().numpy()
    values, vectors = np.linalg.eigh(np.eye(len(matrix)) - matrix)
    return np.clip(values, 0.0, 2.0), vectors


def response(key: str, values: Values) -> Values:
    """`|X(n)|` of the modes with these eigenvalues of `I - S`, from displacement one and no velocity."""
    _, kind, top = FILTERS[key]
    scheme, steps = kind(TAU), count_steps(TIME, TAU)
    return np.array([mode_amplification(scheme, top - value, steps) for value in values])


def _spectrum(vectors: Values, signal: Values) -> Values:
    """`|x_hat_i|` of the signal scaled to energy one."""
    amplitudes: Values = np.abs(vectors.T @ signal) / np.linalg.norm(signal)
    return amplitudes


def _energy(values: Values, amplitudes: Values, borders: Values) -> Values:
    squared = np.square(amplitudes)
    share: Values = 100 * np.histogram(values, borders, weights=squared)[0] / squared.sum()
    return share


def _curve(label: str, key: str, x: Values, y: Values) -> Series:
    """Down to far below the panel, where a zero is drawn."""
    return Series(label=label, key=key, x=numbers(x), y=numbers(np.maximum(y, 1e-4 * FLOOR)))


def _heights(curves: Mapping[str, Values]) -> tuple[float, float]:
    return FLOOR, float(f"{1.5 * max(float(y.max()) for y in curves.values()):.2g}")


def _histogram(title: str, axis: Axis, borders: Values, parts: dict[str, Values], label: str, unit: str = "") -> Panel:
    middles = (borders[1:] + borders[:-1]) / 2
    series = tuple(Series(label=name, x=numbers(middles), y=numbers(values)) for name, values in parts.items())
    return Panel(title=title, kind="steps", x=axis, y=Axis(label=label, unit=unit), series=series)


EXHIBIT = Exhibit(
    name="figure-spectrum",
    title="A signal as waves, the wave that travels, and what each makes of Cora",
    place="figure 1",
    compute=compute,
)
