"""`figure-attention`: the alpha that GWN-fa learned, by pairs of classes and by edge."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gwn.networks import GWN
from gwn.paper.curve_data import Axis, CurveData, Panel, Series, numbers
from gwn.paper.exhibit import Context, Exhibit
from gwn.paper.trained import Trained, Wanted, train
from gwn.training import load_trained

CAPTION = (
    "Attention alpha of trained GWN-fa networks, mean over the steps, on a homophilic graph (Cora) and a "
    "heterophilic one (Texas). Above: mean over the edges from a class (column) to a class (row). Below: all edges, "
    "those within a class and those between two. The paper says positive within and negative between; the shares in "
    "the panels say how far."
)
DATASETS = {"cora": "Cora", "texas": "Texas"}
TRAINING = {"epochs": 200}
RUNS = 3
BINS = 41


def compute(context: Context) -> tuple[CurveData]:
    """The network with the best validation score of three, on each graph."""
    above, below, used = [], [], []
    for place, (name, title) in enumerate(DATASETS.items()):
        context.advance(place, len(DATASETS), f"training GWN-fa on {title}")
        wanted = Wanted(dataset=name, model="gwn-fa", settings={}, training=TRAINING, tuned=True)
        trained = train(context, wanted, 1 if context.quick else RUNS)
        alpha, source, target = _attention(trained)
        above.append(_classes(trained, title, alpha, source, target))
        below.append(_edges(title, alpha, source == target))
        used.append(trained.describe())
    return EXHIBIT.figure(
        caption=CAPTION,
        panels=(*above, *below),
        columns=len(DATASETS),
        provenance={"runs": used, "chosen": "best validation score", "alpha": "mean over the steps"},
    )


def _attention(trained: Trained) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Every edge's alpha, the class it comes from and the class it goes to."""
    network, graph = load_trained(trained.folder).network, trained.dataset.graph
    assert isinstance(network, GWN)
    edges, alpha = network.attention(graph.x, graph.edge_index, graph.edge_weight)
    labels = graph.labels.numpy()
    return alpha.double().mean(0).numpy(), labels[edges[0].numpy()], labels[edges[1].numpy()]


def _classes(
    trained: Trained, title: str, alpha: NDArray[np.float64], source: NDArray[np.int64], target: NDArray[np.int64]
) -> Panel:
    graph = trained.dataset.graph
    names = tuple(graph.label_name(c) for c in range(graph.num_classes))
    everyone = range(graph.num_classes)
    return Panel(
        title=f"{title}: mean alpha by classes",
        kind="heat",
        x=Axis(label="from class", names=names),
        y=Axis(label="to class", names=names),
        z=Axis(label="mean alpha"),
        series=tuple(
            Series(
                label=names[i],
                x=numbers(list(everyone)),
                y=numbers([_mean(alpha[(source == j) & (target == i)]) for j in everyone]),
            )
            for i in everyone
        ),
    )


def _mean(values: NDArray[np.float64]) -> float:
    return float(values.mean()) if values.size else float("nan")


def _edges(title: str, alpha: NDArray[np.float64], within: NDArray[np.bool_]) -> Panel:
    """Two histograms, each of area one, with the share of the expected sign in their labels."""
    limit = max(float(np.abs(alpha).max()), 1e-3)
    borders = np.linspace(-limit, limit, BINS + 1)
    middles = (borders[1:] + borders[:-1]) / 2
    series = []
    for name, part, sign in (("within", within, 1), ("between", ~within, -1)):
        values = alpha[part]
        if values.size:
            share = 100 * float((sign * values > 0).mean())
            density, _ = np.histogram(values, borders, density=True)
            word = "positive" if sign > 0 else "negative"
            label = f"{name}: {share:.0f} % {word}"
            series.append(Series(label=label, x=numbers(middles), y=numbers(density)))
    return Panel(
        title=f"{title}: {int(within.sum())} arcs within, {int((~within).sum())} between classes",
        kind="steps",
        x=Axis(label="alpha"),
        y=Axis(label="density"),
        series=tuple(series),
    )


EXHIBIT = Exhibit(
    name="figure-attention",
    title="What GWN-fa's attention learned",
    place="figure 2",
    compute=compute,
)
