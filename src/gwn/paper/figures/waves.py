"""The three waves that the wave pictures show: trained on Cora, whole trajectories, one channel of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gwn.graph import Graph
from gwn.networks import GWN
from gwn.paper.figures.exhibit import FigureContext
from gwn.paper.figures.trained import Trained, Wanted, train
from gwn.training import load_trained

DATASET = "cora"
TIME, TAU = 10.0, 0.25
TRAINING = {"epochs": 100, "patience": 30}
PAPER_MAPS = {"readout": "last", "activation": "none"}
"""Encoders and read-out of the paper, so that the operator is the only difference."""

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
    times: NDArray[np.float64]
    amplitude: NDArray[np.float64]
    test: float
    trained: Trained

    @property
    def rms(self) -> NDArray[np.float64]:
        size: NDArray[np.float64] = np.sqrt(np.square(self.amplitude).mean(axis=1))
        return size

    @property
    def relative(self) -> NDArray[np.float64]:
        """The amplitude in units of its root mean square at that time: the shape of a wave that grows."""
        shape: NDArray[np.float64] = self.amplitude / np.maximum(self.rms, 1e-300)[:, None]
        return shape

    @property
    def growth(self) -> float:
        """By what factor the root mean square grew in a step, over the second half of the run."""
        half = len(self.rms) // 2
        return float((self.rms[-1] / self.rms[half]) ** (1 / (len(self.rms) - 1 - half)))

    @property
    def note(self) -> str:
        return f"test {100 * self.test:.1f} %, growth {self.growth:.2f}"


def waves(context: FigureContext) -> list[Wave]:
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


def degrees(graph: Graph) -> NDArray[np.int64]:
    return np.bincount(graph.edge_index[1].numpy(), minlength=graph.num_nodes)


def typical_of_classes(graph: Graph, count: int, degree: int) -> list[int]:
    """The first node with this degree, or the nearest to it, of each of the first `count` classes."""
    far = np.abs(degrees(graph) - degree)
    labels = graph.labels.numpy()
    return [int(np.where(labels == c, far, far.max() + 1).argmin()) for c in range(min(count, graph.num_classes))]
