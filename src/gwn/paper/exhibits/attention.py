"""`figure-attention`: the alpha that GWN-fa learned, by pairs of classes and by edge."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from gwn.data import DATASETS as CATALOGUE
from gwn.networks import GWN
from gwn.paper.curve_data import Axis, CurveData, Panel, Series, numbers
from gwn.paper.exhibit import Context, Exhibit
from gwn.paper.trained import Trained, Wanted, train
from gwn.training import load_trained

CAPTION = (
    "Attention alpha of trained GWN-fa networks, mean over the steps, on a homophilic graph and a heterophilic one. "
    "Above: mean over the arcs from a class (column) to a class (row), on one scale, white at zero; grey where no arc "
    "is. Below: all arcs, those within a class and those between two. The paper says positive within and negative "
    "between. Each network is the one of {runs} with the best validation score, with tuned settings."
)
DATASETS = ("cora", "texas")
RUNS = 3
BINS = 41

Values = NDArray[np.float64]
Classes = NDArray[np.int64]


def compute(context: Context) -> tuple[CurveData]:
    """The network with the best validation score of three, on each graph."""
    above, below, used, said = [], [], [], []
    signs: dict[str, str] = {}
    runs = 1 if context.quick else RUNS
    for place, name in enumerate(DATASETS):
        title = CATALOGUE[name].title
        context.advance(place, len(DATASETS), f"training GWN-fa on {title}")
        trained = train(context, Wanted(dataset=name, model="gwn-fa", settings={}, tuned_as="gwn-fa"), runs)
        alpha, source, target = _attention(trained)
        above.append(_classes(trained, title, alpha, source, target))
        below.append(_edges(title, alpha, source == target))
        signs[title] = sign_of(alpha)
        said.append(_finding(title, alpha, source == target))
        used.append(trained.describe())
    return EXHIBIT.figure(
        caption=" ".join([*lead(signs), *said, CAPTION.format(runs=runs)]),
        panels=(*above, *below),
        columns=len(DATASETS),
        provenance={"runs": used, "chosen": "best validation score", "alpha": "mean over the steps"},
    )


def _attention(trained: Trained) -> tuple[Values, Classes, Classes]:
    """Every edge's alpha, the class it comes from and the class it goes to."""
    network, graph = load_trained(trained.folder).network, trained.dataset.graph
    assert isinstance(network, GWN)
    edges, alpha = network.attention(graph.x, graph.edge_index, graph.edge_weight)
    labels = graph.labels.numpy()
    return alpha.double().mean(0).numpy(), labels[edges[0].numpy()], labels[edges[1].numpy()]


def shares(alpha: Values, within: NDArray[np.bool_]) -> tuple[float | None, float | None]:
    """Per cent of the arcs within a class that are positive, and of those between two that are negative."""
    inside, across = alpha[within], alpha[~within]
    return (
        100 * float((inside > 0).mean()) if inside.size else None,
        100 * float((across < 0).mean()) if across.size else None,
    )


ONE_SIGN = 90.0
"""Per cent of the arcs from which on the sign is that of the whole graph."""


FILTERS = {"positive": "a low-pass filter", "negative": "a high-pass filter", "": "mixed"}


def sign_of(alpha: Values) -> str:
    """The sign of nearly all arcs; "" where there is none."""
    return next((sign for sign in ("positive", "negative") if _share(alpha, sign) >= ONE_SIGN), "")


def _share(alpha: Values, sign: str) -> float:
    return 100 * float((alpha > 0 if sign == "positive" else alpha < 0).mean()) if alpha.size else 0.0


def lead(signs: Mapping[str, str]) -> list[str]:
    """What the graphs have in common, if each has one sign."""
    each = ", ".join(f"{sign} on {title}" for title, sign in signs.items())
    said = f"Nearly all arcs of a graph have attention of one sign, within a class and between two: {each}."
    return [said] if signs and all(signs.values()) else []


def _finding(title: str, alpha: Values, within: NDArray[np.bool_]) -> str:
    """Whether the graph has one sign, and how that compares with the two that the paper describes."""
    whole, kind = _share(alpha, "positive"), FILTERS[sign_of(alpha)]
    positive, negative = shares(alpha, within)
    parts = [f"alpha is positive on {whole:.0f} % of all arcs, {kind}"]
    parts += [] if positive is None else [f"positive on {positive:.0f} % of those within a class"]
    parts += [] if negative is None else [f"negative on {negative:.0f} % of those between two"]
    return f"On {title} {', '.join(parts)}."


def _classes(trained: Trained, title: str, alpha: Values, source: Classes, target: Classes) -> Panel:
    names = class_names(trained)
    everyone = range(len(names))
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


def class_names(trained: Trained) -> tuple[str, ...]:
    """What the classes are called; numbers, where the data have none and nobody knows."""
    graph = trained.dataset.pictured
    return tuple(graph.label_name(c) for c in range(graph.num_classes))


def _mean(values: Values) -> float:
    return float(values.mean()) if values.size else float("nan")


def _edges(title: str, alpha: Values, within: NDArray[np.bool_]) -> Panel:
    """Two histograms, each of area one, with the share of the expected sign in their labels."""
    borders = np.linspace(-1.0, 1.0, BINS + 1)
    middles = (borders[1:] + borders[:-1]) / 2
    series = []
    named = zip(("within", "between"), (within, ~within), shares(alpha, within), ("positive", "negative"), strict=True)
    for name, part, share, word in named:
        if share is not None:
            density, _ = np.histogram(np.clip(alpha[part], -1.0, 1.0), borders, density=True)
            series.append(Series(label=f"{name}: {share:.0f} % {word}", x=numbers(middles), y=numbers(density)))
    return Panel(
        title=f"{title}: {int(within.sum()):,} within, {int((~within).sum()):,} between",
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
