"""Why a run answers as it does: what moved some predictions, and the wave around a node."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from gwn.data import Split
from gwn.explain import explain_run
from gwn.graph import Graph
from gwn.html import Markup, fill, join, json_block
from gwn.pages import charts
from gwn.runs.facts import Answers, Numbers, Wave, wave_around
from gwn.runs.parts import card, node_name, short
from gwn.training import TrainedModel
from gwn.training.loss import AS_IT_IS
from gwn.training.metrics import number_text

EXPLAINED = 3
BARS = 8


def worth_explaining(answers: Answers | Numbers) -> list[int]:
    """The most confident mistakes, then the answers that were least sure; of numbers the largest errors."""
    if isinstance(answers, Numbers):
        return [int(answers.nodes[place]) for place in answers.mistakes(EXPLAINED)]
    unsure = [int(place) for place in answers.confidence.argsort()]
    places = dict.fromkeys([*answers.mistakes(EXPLAINED - 1), *unsure])
    return [int(answers.nodes[place]) for place in list(places)[:EXPLAINED]]


def explained(
    trained: TrainedModel, graph: Graph, split: Split, columns: Sequence[str], nodes: Sequence[int]
) -> list[Markup]:
    """Why these nodes are answered as they are, and the wave around the first; nothing for no nodes."""
    if not nodes:
        return []
    reasons = [explain_run(trained, graph, split, node, columns=columns) for node in nodes]
    first, names = reasons[0], trained.class_names
    numbers = trained.task == "regression"
    target, rival = (0, None) if numbers else (names.index(first["class"]), names.index(first["against"]))
    units = trained.scaling if numbers else AS_IT_IS
    wave = wave_around(trained.network, graph, nodes[0], target, rival, units)
    return [_reasons(reasons), _wave(wave, graph, first)]


WHY = """<div class="why"><h3>Node $node: predicted $predicted$sure, $known</h3>
<p>$what is $margin; if every node were $baseline, it would be $start. The node itself moved it by
<strong>$itself</strong>, its neighbours by <strong>$neighbours</strong>, nodes farther away by
<strong>$farther</strong>.</p>
<div class="pair"><div><h3>Columns</h3>$columns</div><div><h3>Nodes</h3>$nodes</div></div></div>"""


def _reasons(records: Sequence[Mapping[str, Any]]) -> Markup:
    parts = []
    for record in records:
        columns = [(each["column"], "", each["own"] + each["others"]) for each in record["columns"]]
        columns.sort(key=lambda each: -abs(each[2]))
        nodes = [(short(each["node"]), f" ({_hops(each['hops'])})", each["contribution"]) for each in record["nodes"]]
        parts.append(
            fill(
                WHY,
                node=short(record["node"]),
                predicted=_called(record, record["predicted"]),
                sure="" if record["probability"] is None else f" with {100 * record['probability']:.1f} %",
                known="truth not known" if record["known"] is None else f"truly {_called(record, record['known'])}",
                what=_margin(record),
                margin=number_text(record["margin"]),
                start=number_text(record["start"]),
                baseline=record["baseline"],
                **{name: number_text(value, 3, "+") for name, value in record["rings"].items()},
                columns=charts.bars(_with_rest(columns, "columns"), "Contribution of each column"),
                nodes=charts.bars(_with_rest(nodes, "nodes"), "Contribution of each node"),
            )
        )
    numbers = any(record["against"] is None for record in records)
    lead = fill(
        "<p>Integrated gradients: contributions of all columns of all nodes add up to the difference of the two "
        "$what; the sum was checked.</p>"
        '<ul class="keys"><li class="up">$up</li><li class="down">$down</li></ul>',
        what="numbers" if numbers else "margins",
        up="makes the number larger" if numbers else "speaks for the prediction",
        down="makes it smaller" if numbers else "speaks against it",
    )
    return card("why", "Why these predictions", join([lead, *parts]), "wide")


def _called(record: Mapping[str, Any], said: str) -> str:
    return number_text(float(said), 6) if record["against"] is None else short(said)


def _margin(record: Mapping[str, Any]) -> str:
    if record["against"] is None:
        return "The predicted number"
    return f"The margin of {short(record['class'])} over {short(record['against'])}"


def _with_rest(rows: Sequence[tuple[str, str, float]], what: str) -> list[tuple[str, str, float]]:
    """The first rows, and the sum of the others; one other has its own name."""
    rest = rows[BARS:]
    if len(rest) < 2:
        return list(rows)
    return [*rows[:BARS], (f"{len(rest):,} other {what}", "", sum(value for *_, value in rest))]


def _hops(hops: int | None) -> str:
    return "no path" if hops is None else "itself" if hops == 0 else f"{hops} edge{'s' if hops > 1 else ''} away"


def _wave(wave: Wave | None, graph: Graph, record: Mapping[str, Any]) -> Markup:
    if wave is None or len(wave.times) < 2:
        return Markup("")
    names = [node_name(graph, node) for node in wave.nodes]
    flat = [value for row in wave.values for value in row]
    frame = charts.Frame((wave.times[0], wave.times[-1]), (min(flat), max(flat)))
    lines = [
        frame.line([(t, row[place]) for t, row in zip(wave.times, wave.values, strict=True)], kind)
        for place, kind in reversed([(k, "line quiet" if k else "line strong") for k in range(len(names))])
    ]
    now = frame.at(wave.times[-1], 0)[0]
    marker = fill(
        '<line class="now" id="wave-line" x1="$x" x2="$x" y1="$top" y2="$bottom"/>',
        x=f"{now:.1f}",
        top=charts.TOP,
        bottom=charts.HEIGHT - charts.BOTTOM,
    )
    chart = charts.svg(join([frame.axes("time", "amplitude"), *lines, marker], ""), "Amplitude over time")
    shown = {
        "times": wave.times,
        "values": wave.values,
        "names": names,
        "places": [round(frame.at(t, 0)[0], 1) for t in wave.times],
    }
    body = fill(
        "<p><strong>$what</strong> as the wave carries it, at node "
        "<strong>$node</strong> (in the middle, thick line) and at $shown of its $total neighbours.</p>"
        '<div class="pair">$picture<div>$chart<div class="controls no-print">'
        '<button type="button" id="wave-play">Play</button>'
        '<input type="range" id="wave-time" min="0" max="$last" value="$last" step="1" aria-label="Time of the wave">'
        '<output id="wave-now" for="wave-time">t = $end</output></div></div></div>'
        '<ul class="keys"><li class="up">$above</li><li class="down">$below</li></ul>'
        '<script type="application/json" id="wave-data">$data</script>',
        what=_margin(record),
        above=f"above zero, which stands for {number_text(wave.zero)}"
        if record["against"] is None
        else f"speaks for {short(record['class'])}",
        below="below zero" if record["against"] is None else f"speaks for {short(record['against'])}",
        node=names[0],
        shown=len(names) - 1,
        total=wave.total_neighbours,
        picture=_ego(wave, names),
        chart=chart,
        last=len(wave.times) - 1,
        end=f"{wave.times[-1]:g}",
        data=json_block(shown),
    )
    return card("wave", "The wave around a node", body, "wide")


def _ego(wave: Wave, names: Sequence[str]) -> Markup:
    """The node in the middle, its neighbours around it."""
    width, height, around = 460.0, 300.0, max(1, len(names) - 1)
    spots = [(width / 2, height / 2)]
    for k in range(around):
        angle = 2 * math.pi * k / around - math.pi / 2
        spots.append((width / 2 + 150 * math.cos(angle), height / 2 + 112 * math.sin(angle)))
    edges = (
        fill(
            '<line class="edge" x1="$a" y1="$b" x2="$c" y2="$d"/>',
            **{key: f"{value:.1f}" for key, value in zip("abcd", (*spots[i], *spots[j]), strict=True)},
        )
        for i, j in wave.pairs
    )
    balls = (
        fill(
            '<circle class="ball-back" cx="$x" cy="$y" r="$r"/>'
            '<circle class="ball $kind" cx="$x" cy="$y" r="$r"><title>$name</title></circle>'
            '<text x="$x" y="$below" text-anchor="middle">$text</text>',
            kind=f"{'centre ' if place == 0 else ''}{'up' if wave.values[-1][place] >= 0 else 'down'}",
            x=f"{x:.1f}",
            y=f"{y:.1f}",
            r=17 if place == 0 else 12,
            below=f"{y + (31 if place == 0 else 25):.1f}",
            name=name,
            text=name if len(name) <= 12 else name[:11] + "…",
        )
        for place, (name, (x, y)) in enumerate(zip(names, spots, strict=False))
    )
    return charts.svg(join([*edges, *balls], ""), "The node and its neighbours", width, height)
