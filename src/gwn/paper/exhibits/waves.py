"""The pictures of waves: one channel of three networks trained on Cora, over time, at all nodes, around one node."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gwn.graph import Graph
from gwn.networks import GWN
from gwn.paper.curve_data import Axis, CurveData, Panel, Series, numbers
from gwn.paper.exhibit import Context, Exhibit
from gwn.paper.exhibits.attention import class_names
from gwn.paper.trained import PAPER_MAPS, Trained, Wanted, train
from gwn.training import load_trained

Values = NDArray[np.float64]
Nodes = NDArray[np.int64]
DATASET = "cora"
TIME, TAU = 10.0, 0.25

WAVES: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    "gwn-sym": ("GWN-sym", "gwn-sym", "gwn-sym", {"scheme": "leapfrog"}),
    "gwn-fa": ("GWN-fa", "gwn-fa", "gwn-fa", {"scheme": "leapfrog"}),
    "physical": (
        "physical wave",
        "gwn-plus",
        "gwn-sym",
        {"laplacian": "physical", "scheme": "leapfrog", **PAPER_MAPS},
    ),
}
"""key -> (title, model, the model whose tuned settings it has, further settings)."""


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
        return f"growth {self.growth:.2f}"


def waves(context: Context) -> list[Wave]:
    """GWN-sym, GWN-fa and the physical wave with fine steps, trained where they are not there yet."""
    found = []
    for place, (key, (title, model, tuned_as, given)) in enumerate(WAVES.items()):
        context.advance(place, len(WAVES), f"training {title}")
        settings = {**given, "time": TIME, "tau": TAU}
        trained = train(context, Wanted(dataset=DATASET, model=model, settings=settings, tuned_as=tuned_as), 1)
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
    "{finding} One hidden channel of trained networks on Cora at a node of degree {degree} of each of four classes. "
    "Above, the amplitude itself, on one scale, linear between -1 and 1 and logarithmic beyond, where a straight line "
    "is exponential growth. Below, the amplitude divided by the root mean square over all nodes at that time, which "
    "shows the shape. Growth: of the root mean square in one step of {tau:g}, over the second half."
)
NODES, DEGREE = 4, 4


def waveform(context: Context) -> tuple[CurveData]:
    """Three trained waves, raw above and relative below."""
    found = waves(context)
    graph = found[0].trained.dataset.graph
    classes = class_names(found[0].trained)
    chosen = typical_of_classes(graph, NODES, DEGREE)
    names = [f"a node of class {classes[int(graph.labels[node])]}" for node in chosen]

    def panel(wave: Wave, values: Values, axis: Axis, title: str) -> Panel:
        return Panel(
            title=title,
            kind="lines",
            x=Axis(label="time t"),
            y=axis,
            series=tuple(
                Series(label=name, x=numbers(wave.times), y=numbers(row))
                for name, row in zip(names, values.T[chosen], strict=True)
            ),
        )

    raw = Axis(label="amplitude", scale="symlog", limits=_reach(wave.amplitude[:, chosen] for wave in found))
    shape = Axis(label="amplitude / RMS", limits=_reach(wave.relative[:, chosen] for wave in found))
    return WAVEFORM.figure(
        caption=WAVEFORM_CAPTION.format(finding=_growing(found), tau=TAU, degree=DEGREE),
        panels=[
            *(panel(wave, wave.amplitude, raw, f"{wave.title}, {wave.note}") for wave in found),
            *(panel(wave, wave.relative, shape, wave.title) for wave in found),
        ],
        columns=len(found),
        provenance={**provenance(found), "nodes": chosen},
    )


def _reach(parts: Iterable[Values]) -> tuple[float, float]:
    """Ends of a scale that all parts share."""
    largest = float(f"{1.1 * max(float(np.abs(part).max()) for part in parts):.2g}")
    return -largest, largest


def _growing(found: list[Wave]) -> str:
    """How much each wave grew from the beginning to the end."""
    factors = [(wave.title, float(wave.rms[-1] / max(wave.rms[0], 1e-300))) for wave in found]
    said = [f"{title} {factor:,.0f}" if factor >= 10 else f"{title} {factor:.1f}" for title, factor in factors]
    return f"From t = 0 to t = {TIME:g} the root mean square over all nodes grew by a factor of: {', '.join(said)}."


WAVEFORM = Exhibit(
    name="figure-waveform",
    title="The wave at four nodes over time",
    place="figure 5",
    compute=waveform,
)


TIME_VIEW_CAPTION = (
    "{finding} One hidden channel of trained networks on Cora at three nodes (rows) and their neighbours (grey, at "
    "most {drawn}), on one scale: amplitude divided by the square root of the degree, in which the smoothest mode is "
    "flat, and by the root mean square of that over all nodes at that time. The nodes: {nodes}. Dashed: the mean of "
    "the node's class."
)


def time_view(context: Context) -> tuple[CurveData]:
    """Three telling nodes, each in three waves."""
    found = waves(context)
    graph = found[0].trained.dataset.graph
    classes = class_names(found[0].trained)
    chosen = telling_nodes(graph)
    rings = {node: neighbours_of(graph, node) for node in chosen.values()}
    shapes = [_flat(wave, graph) for wave in found]
    shown = {node: [node, *ring[:DRAWN]] for node, ring in rings.items()}
    axis = Axis(
        label="relative amplitude", limits=_reach(shape[:, nodes] for shape in shapes for nodes in shown.values())
    )
    panels = [
        _around(wave, shape, graph, shown[node], axis, f"{kind}: {wave.title}")
        for kind, node in chosen.items()
        for wave, shape in zip(found, shapes, strict=True)
    ]
    near = sorted({node for nodes in shown.values() for node in nodes})
    nodes = "; ".join(
        f"{kind}, of class {classes[int(graph.labels[node])]}, {len(rings[node])} neighbours, "
        f"{_same_class(graph, node, rings[node])} of its class"
        for kind, node in chosen.items()
    )
    return TIME_VIEW.figure(
        caption=TIME_VIEW_CAPTION.format(
            finding=_changing(found, [shape[:, near] for shape in shapes]), nodes=nodes, drawn=DRAWN
        ),
        panels=tuple(panels),
        columns=len(found),
        provenance={**provenance(found), "nodes": [*chosen.values()]},
    )


def telling_nodes(graph: Graph) -> dict[str, int]:
    """The node with most neighbours, one whose neighbours are all of its class, and one with none of them: of these
    two the ones with most neighbours, up to eight."""
    degree, (source, target) = degrees(graph), graph.edge_index.numpy()
    labels = graph.labels.numpy()
    same = np.bincount(target[labels[source] == labels[target]], minlength=graph.num_nodes)
    share = same / np.maximum(degree, 1)
    few = np.where(degree <= NEIGHBOURS, degree, 0)
    hub = int(degree.argmax())
    inside = int(np.lexsort((-few, -share))[0])
    between = int(np.lexsort((-few, share + (degree == 0)))[0])
    return {"a hub": hub, "inside a class": inside, "between classes": between}


def neighbours_of(graph: Graph, node: int) -> list[int]:
    source, target = graph.edge_index.numpy()
    return sorted({int(other) for other in source[target == node]} - {node})


def _same_class(graph: Graph, node: int, ring: list[int]) -> int:
    return int((graph.labels[ring] == graph.labels[node]).sum())


DRAWN = 12
"""Neighbours that are drawn, at most."""


def _around(wave: Wave, shape: Values, graph: Graph, nodes: list[int], axis: Axis, title: str) -> Panel:
    """The first of `nodes` and, in grey, the others."""
    time, (node, *ring) = numbers(wave.times), nodes
    mean = shape[:, (graph.labels == graph.labels[node]).numpy()].mean(axis=1)
    return Panel(
        title=title,
        kind="lines",
        x=Axis(label="time t"),
        y=axis,
        series=(
            *(Series(label="", key="neighbour", x=time, y=numbers(shape[:, other])) for other in ring),
            Series(label="", key="mean", x=time, y=numbers(mean)),
            Series(label="", key=wave.key, x=time, y=numbers(shape[:, node])),
        ),
    )


TIME_VIEW = Exhibit(
    name="figure-time-view",
    title="Three telling nodes over time",
    place="figure 6 (a)",
    compute=time_view,
)


NODE_VIEW_CAPTION = (
    "{finding} One hidden channel of trained networks on Cora over time, at one node (the top row), its neighbours and "
    "theirs, with the class of each; the amplitude is divided by the square root of the degree, in which the smoothest "
    "mode is flat, and by the root mean square of that over all nodes at that time. One scale, white at zero. Where "
    "the colours stand still, the fastest mode has drowned the others."
)
NEIGHBOURS, FURTHER = 8, 8


def node_view(context: Context) -> tuple[CurveData]:
    """A map for each wave: rows are nodes, columns are times."""
    found = waves(context)
    graph = found[0].trained.dataset.graph
    rows, far = neighbourhood(graph)
    classes = class_names(found[0].trained)
    names = [f"{edges}: {classes[int(graph.labels[node])]}" for node, edges in zip(rows, far, strict=True)]
    shapes = [_flat(wave, graph)[:, rows] for wave in found]
    return NODE_VIEW.figure(
        caption=NODE_VIEW_CAPTION.format(finding=_changing(found, shapes)),
        panels=tuple(_map(wave, shape, rows, names) for wave, shape in zip(found, shapes, strict=True)),
        columns=len(found),
        provenance={**provenance(found), "nodes": rows},
    )


def neighbourhood(graph: Graph) -> tuple[list[int], list[int]]:
    """A node with eight neighbours or more, eight of them, and eight of their neighbours, each ring by class; and how
    many edges away they are."""
    degree, labels = degrees(graph), graph.labels.tolist()
    enough = np.flatnonzero(degree >= min(NEIGHBOURS, int(degree.max())))
    centre = int(enough[degree[enough].argmin()])
    first = neighbours_of(graph, centre)[:NEIGHBOURS]
    around = {node for one in first for node in neighbours_of(graph, one)}
    second = sorted(around - {centre, *first})[:FURTHER]
    rings = [[centre], *(sorted(ring, key=lambda node: labels[node]) for ring in (first, second))]
    return [node for ring in rings for node in ring], [far for far, ring in enumerate(rings) for _ in ring]


def _flat(wave: Wave, graph: Graph) -> Values:
    """The amplitude in which the smoothest mode is flat, in units of its root mean square at that time."""
    flat = wave.amplitude / np.sqrt(np.maximum(degrees(graph), 1))
    shape: Values = flat / np.maximum(np.sqrt(np.square(flat).mean(axis=1)), 1e-300)[:, None]
    return shape


STILL = 25.0
"""Per cent of its size by which a shape that almost stands still changes at most in the second half of a run."""


def stands_still(changes: Mapping[str, float]) -> str:
    """Which waves have come to a shape that only grows, and which go on.

    changes   title of a wave -> by how much its shape changes in the second half of the run, in per cent of its size
    """
    still = [title for title, change in changes.items() if change <= STILL]
    moving = [title for title in changes if title not in still]
    parts = [
        f"{' and '.join(titles)} {verb if len(titles) == 1 else verbs}"
        for titles, verb, verbs in (
            (still, "almost stands still", "almost stand still"),
            (moving, "moves on", "move on"),
        )
        if titles
    ]
    counted = ", ".join(f"{title} {change:.0f} %" for title, change in changes.items())
    return f"In the second half of the run {', '.join(parts)}: the pattern changes by {counted}."


def _changing(found: list[Wave], shapes: list[Values]) -> str:
    changes: dict[str, float] = {}
    for wave, shape in zip(found, shapes, strict=True):
        middle = shape[len(shape) // 2]
        changes[wave.title] = 100 * float(
            np.linalg.norm(shape[-1] - middle) / max(float(np.linalg.norm(middle)), 1e-300)
        )
    return stands_still(changes)


def _map(wave: Wave, shape: Values, rows: list[int], names: list[str]) -> Panel:
    return Panel(
        title=wave.title,
        kind="heat",
        x=Axis(label="time t"),
        y=Axis(label="edges away: class", names=tuple(names)),
        z=Axis(label="relative amplitude"),
        series=tuple(
            Series(label=str(node), x=numbers(wave.times), y=numbers(shape[:, place]))
            for place, node in enumerate(rows)
        ),
    )


NODE_VIEW = Exhibit(
    name="figure-node-view",
    title="One node's neighbourhood over time",
    place="figure 6 (b)",
    compute=node_view,
)
