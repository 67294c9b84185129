"""The pictures of waves: one channel of three networks trained on Cora, over time, at all nodes, around one node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gwn.graph import Graph
from gwn.networks import GWN
from gwn.paper.curve_data import Axis, CurveData, Panel, Series, numbers
from gwn.paper.exhibit import Context, Exhibit
from gwn.paper.trained import PAPER_MAPS, TRAINING, Trained, Wanted, train
from gwn.training import load_trained

Values = NDArray[np.float64]
Nodes = NDArray[np.int64]
DATASET = "cora"
TIME, TAU = 10.0, 0.25

WAVES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "gwn-sym": ("GWN-sym", "gwn-sym", {}),
    "gwn-fa": ("GWN-fa", "gwn-fa", {}),
    "physical": ("physical wave", "gwn-plus", {"laplacian": "physical", **PAPER_MAPS}),
}
"""key -> (title, model, settings)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Wave:
    """One channel of a trained network: `amplitude` [n + 1, N] at the times `times`.

    rms   root mean square over all nodes at every time, of this channel
    """

    key: str
    title: str
    times: Values
    amplitude: Values
    test: float
    trained: Trained

    @property
    def rms(self) -> Values:
        size: Values = np.sqrt(np.square(self.amplitude).mean(axis=1))
        return size

    @property
    def relative(self) -> Values:
        """The amplitude in units of its root mean square at that time: the shape of a wave that grows."""
        shape: Values = self.amplitude / np.maximum(self.rms, 1e-300)[:, None]
        return shape

    @property
    def growth(self) -> float:
        """By what factor the root mean square grew in a step, over the second half of the run."""
        half = len(self.rms) // 2
        return float((self.rms[-1] / self.rms[half]) ** (1 / (len(self.rms) - 1 - half)))

    @property
    def note(self) -> str:
        return f"test {100 * self.test:.1f} %, growth {self.growth:.2f}"


def waves(context: Context) -> list[Wave]:
    """GWN-sym, GWN-fa and the physical wave with fine steps, trained where they are not there yet."""
    found = []
    for place, (key, (title, model, given)) in enumerate(WAVES.items()):
        context.advance(place, len(WAVES), f"training {title}")
        settings = {**given, "time": TIME, "tau": TAU}
        trained = train(
            context, Wanted(dataset=DATASET, model=model, settings=settings, training=TRAINING, tuned=True), 1
        )
        best = load_trained(trained.folder)
        assert isinstance(best.network, GWN)
        found.append(_wave(key, title, trained, best.network, best.run.test or 0.0))
    return found


def _wave(key: str, title: str, trained: Trained, network: GWN, test: float) -> Wave:
    """The channel with the largest variance at the start: the one with most to say."""
    graph = trained.dataset.graph
    states = network.trajectory(graph.x, graph.edge_index, graph.edge_weight).double()
    channel = int(states[0].var(dim=0).argmax())
    amplitude = states[:, :, channel].numpy()
    times = np.minimum(np.arange(len(amplitude)) * network.scheme.tau, network.num_steps * network.scheme.tau)
    return Wave(key=key, title=title, times=times, amplitude=amplitude, test=test, trained=trained)


def provenance(found: list[Wave]) -> dict[str, Any]:
    return {"runs": [wave.trained.describe() for wave in found], "channel": "largest variance at time 0"}


def degrees(graph: Graph) -> Nodes:
    return np.bincount(graph.edge_index[1].numpy(), minlength=graph.num_nodes)


def typical_of_classes(graph: Graph, count: int, degree: int) -> list[int]:
    """The first node with this degree, or the nearest to it, of each of the first `count` classes."""
    far = np.abs(degrees(graph) - degree)
    labels = graph.labels.numpy()
    return [int(np.where(labels == c, far, far.max() + 1).argmin()) for c in range(min(count, graph.num_classes))]


WAVEFORM_CAPTION = (
    "One hidden channel of trained networks on Cora at a node of degree {degree} of each of four classes. Above, "
    "the amplitude itself: GWN-sym and GWN-fa grow, so that their beginning cannot be seen beside their end; the "
    "physical wave swings about its smoothest mode, which drifts no faster than t. Below, the amplitude divided by "
    "the root mean square over all nodes at that time, which shows the shape. Growth: of the root mean square in "
    "one step of {tau:g}, over the second half."
)
NODES, DEGREE = 4, 4


def waveform(context: Context) -> tuple[CurveData]:
    """Three trained waves, raw above and relative below."""
    found = waves(context)
    graph = found[0].trained.dataset.graph
    chosen = typical_of_classes(graph, NODES, DEGREE)
    names = [f"a node of class {graph.label_name(int(graph.labels[node]))}" for node in chosen]

    def panel(wave: Wave, values: Values, label: str, title: str) -> Panel:
        return Panel(
            title=title,
            kind="lines",
            x=Axis(label="time t"),
            y=Axis(label=label),
            series=tuple(
                Series(label=name, x=numbers(wave.times), y=numbers(row))
                for name, row in zip(names, values.T[chosen], strict=True)
            ),
        )

    return WAVEFORM.figure(
        caption=WAVEFORM_CAPTION.format(tau=TAU, degree=DEGREE),
        panels=[
            *(panel(wave, wave.amplitude, "amplitude", f"{wave.title} ({wave.note})") for wave in found),
            *(panel(wave, wave.relative, "amplitude / RMS of all nodes", wave.title) for wave in found),
        ],
        columns=len(found),
        provenance={**provenance(found), "nodes": chosen},
    )


WAVEFORM = Exhibit(
    name="figure-waveform",
    title="The wave at four nodes over time",
    place="figure 5",
    compute=waveform,
)


TIME_VIEW_CAPTION = (
    "One hidden channel of trained networks on Cora at all nodes, early and at the end; nodes by class, then by "
    "degree (every third is drawn). The amplitude is divided by the root mean square over all nodes at that time. "
    "Where classes stand apart, the channel tells them apart."
)
EARLY = 0.1
"""The first time shown, as a share of the whole."""

DRAWN_NODES = 900


def time_view(context: Context) -> tuple[CurveData]:
    """Two times for each of the three waves."""
    found = waves(context)
    graph = found[0].trained.dataset.graph
    order = _by_class(graph)
    kept = order[:: max(1, -(-len(order) // DRAWN_NODES))]
    panels = []
    for share in (EARLY, 1.0):
        for wave in found:
            n = round(share * (len(wave.times) - 1))
            title = f"{wave.title}, t = {wave.times[n]:g}"
            panels.append(_at_one_time(wave, n, title, graph, order, kept))
    return TIME_VIEW.figure(
        caption=TIME_VIEW_CAPTION,
        panels=tuple(panels),
        columns=len(found),
        provenance=provenance(found),
    )


def _by_class(graph: Graph) -> Nodes:
    return np.lexsort((-degrees(graph), graph.labels.numpy()))


def _at_one_time(wave: Wave, n: int, title: str, graph: Graph, order: Nodes, kept: Nodes) -> Panel:
    labels = graph.labels.numpy()
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    series = []
    for c in range(graph.num_classes):
        nodes = kept[labels[kept] == c]
        values = wave.relative[n, nodes]
        series.append(Series(label=f"class {graph.label_name(c)}", x=numbers(place[nodes]), y=numbers(values, 4)))
    return Panel(
        title=title,
        kind="points",
        x=Axis(label="node, by class and degree"),
        y=Axis(label="amplitude / RMS"),
        series=tuple(series),
    )


TIME_VIEW = Exhibit(
    name="figure-time-view",
    title="All nodes at one time",
    place="figure 6 (a)",
    compute=time_view,
)


NODE_VIEW_CAPTION = (
    "One hidden channel of trained networks on Cora over time, at one node (the top row), its neighbours and "
    "theirs; the amplitude is divided by the square root of the degree, in which the smoothest mode is flat, and by "
    "the root mean square of that over all nodes at that time. GWN-sym settles into stripes: its fastest mode, "
    "which has one sign in a component, drowns the others. GWN-fa and the physical wave keep changing, the latter "
    "without growth."
)
NEIGHBOURS, FURTHER = 8, 8


def node_view(context: Context) -> tuple[CurveData]:
    """A heat map for each wave: rows are nodes, columns are times."""
    found = waves(context)
    graph = found[0].trained.dataset.graph
    rows, names = neighbourhood(graph)
    return NODE_VIEW.figure(
        caption=NODE_VIEW_CAPTION,
        panels=tuple(_heat_map(wave, graph, rows, names) for wave in found),
        columns=len(found),
        provenance={**provenance(found), "nodes": rows},
    )


def neighbourhood(graph: Graph) -> tuple[list[int], list[str]]:
    """A node with eight neighbours or more, eight of them, and eight of their neighbours; with names for the first
    row of each ring."""
    degree = degrees(graph)
    enough = np.flatnonzero(degree >= min(NEIGHBOURS, int(degree.max())))
    centre = int(enough[degree[enough].argmin()])
    source, target = graph.edge_index.numpy()
    first = sorted({int(node) for node in source[target == centre]} - {centre})[:NEIGHBOURS]
    around = {int(node) for node in source[np.isin(target, first)]}
    second = sorted(around - {centre, *first})[:FURTHER]
    rings = (("the node", [centre]), ("1 edge away", first), ("2 edges away", second))
    names = [name if place == len(ring) // 2 else "" for name, ring in rings for place in range(len(ring))]
    return [centre, *first, *second], names


def _heat_map(wave: Wave, graph: Graph, rows: list[int], names: list[str]) -> Panel:
    flat = wave.amplitude / np.sqrt(np.maximum(degrees(graph), 1))
    shown = flat / np.maximum(np.sqrt(np.square(flat).mean(axis=1)), 1e-300)[:, None]
    return Panel(
        title=wave.title,
        kind="heat",
        x=Axis(label="time t"),
        y=Axis(label="", names=tuple(names)),
        z=Axis(label="amplitude / sqrt(degree), relative"),
        series=tuple(Series(label=str(node), x=numbers(wave.times), y=numbers(shown[:, node])) for node in rows),
    )


NODE_VIEW = Exhibit(
    name="figure-node-view",
    title="One node's neighbourhood over time",
    place="figure 6 (b)",
    compute=node_view,
)
