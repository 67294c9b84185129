"""The page of a run: one file that opens from the disk, with everything that a person asks of a trained model."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from gwn._version import __version__
from gwn.data import Dataset, Split
from gwn.data.describe import describe
from gwn.explain import explain_run
from gwn.graph import Graph
from gwn.html import Markup, fill, join, json_block, policy_hash, template
from gwn.io import read_json, write_atomic
from gwn.models import model_spec
from gwn.pages import charts
from gwn.registry import lookup
from gwn.runs.facts import Answers, Numbers, Wave, answers_of, learning_curves, wave_around
from gwn.training import TrainedModel
from gwn.training.metrics import METRICS

MOST_CLASSES = 20
"""Of the confusion matrix; of more classes the largest confusions are listed."""

MOST_MISTAKES = 12
EXPLAINED = 3
BARS = 8
LONGEST = 60
"""Characters of a name on the page; the whole name stands beside it as a title."""


def write_run_page(
    out: Path,
    *,
    folder: Path,
    trained: TrainedModel,
    data: Dataset,
    graph: Graph,
    split: Split,
    columns: Sequence[str],
    nodes: Sequence[int] = (),
) -> Path:
    """Write the page.

    columns   for every feature, the column it was made from
    nodes     those to explain; by default the most confident mistakes
    """
    config, result = trained.config, read_json(folder / "result.json")
    answers = answers_of(trained, graph, split)
    explainable = model_spec(config["model"]).gradients
    chosen = list(nodes) or (_worth_explaining(answers) if explainable else [])
    style, script = template("base.css") + template("colours.css") + template("run.css"), template("run.js")
    page = fill(
        template("run.html"),
        style_hash=policy_hash(style),
        script_hash=policy_hash(script),
        style=Markup(style),
        script=Markup(script),
        title=f"{config['model']} on {config['dataset']['name']}",
        kicker=f"Graph wave networks · {config['split']} split · run {trained.run.run} of {len(result['runs'])}",
        **_verdict(result, trained),
        tiles=_tiles(describe(data), trained, columns),
        caveat=fill('<p class="note">$text</p>', text=data.caveat) if data.caveat else Markup(""),
        sections=join(
            [
                _curves(learning_curves(folder, trained.run.run), config["metric"]),
                *(_judged(answers, graph) if split.test.numel() else [_untested(split)]),
                *_explained(trained, graph, split, columns, chosen),
                _settings(folder, config, result),
            ]
        ),
        version=__version__,
        date=datetime.now(timezone.utc).date().isoformat(),
        folder=folder.name,
        number=trained.run.run,
    )
    write_atomic(out, page.encode())
    return out


def short(text: str) -> str:
    """A name from a table, short enough to stand in a line."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _score(metric: str, value: float) -> str:
    shown = lookup("metric", metric, METRICS)
    return shown.text(value, 1) + (" %" if shown.percent else "")


def _verdict(result: Mapping[str, Any], trained: TrainedModel) -> dict[str, str]:
    test, metric = result["summary"]["test"], result["metric"]
    if test is None and result["summary"]["val"] is not None:
        of = f"validation {metric} on the {result['split']} split"
        return {"score": _score(metric, result["summary"]["val"]["mean"]), "score_of": of, "interval": "not tested"}
    if test is None:
        return {"score": "–", "score_of": "no run finished", "interval": ""}
    if test["low"] is None:
        interval = f"one run; {trained.run.split_sizes[2]:,} test nodes"
    else:
        low, high = _score(metric, test["low"]).removesuffix(" %"), _score(metric, test["high"])
        interval = f"95 % interval {low} to {high} over {test['count']} runs"
    this = "" if trained.run.test is None else f"; this run {_score(metric, trained.run.test)}"
    return {
        "score": _score(metric, test["mean"]),
        "score_of": f"test {metric} on the {result['split']} split",
        "interval": interval + (this if test["count"] > 1 else ""),
    }


def _tiles(data: Mapping[str, Any], trained: TrainedModel, columns: Sequence[str]) -> Markup:
    homophily = data["edge_homophily"]
    labelled = data["labelled"]
    facts = {
        "nodes": f"{data['nodes']:,}",
        "edges" if not data["directed"] else "arcs": f"{data['edges']:,}",
        "columns": f"{len(set(columns)):,}",
        **({"classes": f"{data['classes']:,}"} if data["classes"] else {}),
        "labelled": f"{100 * labelled / data['nodes']:.0f} %",
        "edges within a class": "–" if homophily is None else f"{100 * homophily:.0f} %",
        "isolated nodes": f"{data['isolated_nodes']:,}",
        "parameters": f"{trained.run.parameters:,}",
    }
    return join((fill("<div><dt>$name</dt><dd>$value</dd></div>", name=n, value=v) for n, v in facts.items()), "")


CARD = '<section class="card $kind" id="$name"><h2>$title</h2>$body</section>'


def _card(name: str, title: str, body: Markup, kind: str = "") -> Markup:
    return fill(CARD, name=name, title=title, body=body, kind=kind)


def _curves(curves: Mapping[str, Any] | None, metric: str) -> Markup:
    if curves is None:
        return _card("curves", "Learning curves", Markup("<p>This run was made before curves were kept.</p>"))

    def series(name: str, factor: float = 1.0) -> list[tuple[float, float]]:
        pairs = zip(curves["epoch"], curves[name], strict=True)
        return [(epoch, factor * value) for epoch, value in pairs if value is not None]

    losses = [("training", series("train_loss")), ("validation", series("val_loss"))]
    losses = [each for each in losses if each[1]]
    percent = METRICS[metric].percent
    score = [("validation", series("val", 100 if percent else 1))]
    title = METRICS[metric].title
    body = fill(
        "<p>The dashed line is epoch <strong>$best</strong>, the best on validation, whose weights were kept.</p>"
        '<div class="pair"><div><ul class="keys"><li>training loss</li><li class="k1">validation loss</li></ul>$loss'
        '</div><div><ul class="keys"><li>validation $title</li></ul>$score</div></div>',
        best=curves["best_epoch"],
        title=title,
        loss=charts.lines(losses, "Training and validation loss by epoch", "loss", curves["best_epoch"]),
        score=charts.lines(score, f"Validation {metric} by epoch", title, curves["best_epoch"]),
    )
    return _card("curves", "Learning curves", body, "wide")


def _untested(split: Split) -> Markup:
    body = fill(
        "<p>Every labelled node was trained on, or chose the epoch ($count validation nodes), so nothing here says how "
        "good the answers are on nodes that were never seen. For that, train with <code>--split stratified</code>.</p>",
        count=f"{split.val.numel():,}",
    )
    return _card("untested", "No node was kept for testing", body)


def _judged(answers: Answers | Numbers, graph: Graph) -> list[Markup]:
    """What is right and what is wrong."""
    if isinstance(answers, Numbers):
        return [_numbers(answers), _largest_errors(answers, graph)]
    return [_confusion(answers), _per_class(answers), _calibration(answers), _mistakes(answers, graph)]


MOST_DOTS = 1500


def _numbers(answers: Numbers) -> Markup:
    step = max(1, math.ceil(len(answers.known) / MOST_DOTS))
    points = list(zip(answers.known[::step].tolist(), answers.predicted[::step].tolist(), strict=True))
    body = fill(
        "<p>Every dot is a test node$share; on the line it would be exact. Mean absolute error "
        "<strong>$error</strong>.</p>$chart",
        share="" if step == 1 else f" (every {step}th is drawn)",
        error=f"{answers.mean_error:.4g}",
        chart=charts.scatter(points),
    )
    return _card("numbers", "Predicted and known numbers", body)


def _largest_errors(answers: Numbers, graph: Graph) -> Markup:
    rows = [
        [
            short(_id(graph, int(answers.nodes[k]))),
            f"{answers.known[k]:.5g}",
            f"{answers.predicted[k]:.5g}",
            f"{answers.predicted[k] - answers.known[k]:+.4g}",
        ]
        for k in answers.mistakes(MOST_MISTAKES)
    ]
    return _card("mistakes", "Largest errors", _table(["node", "known", "predicted", "error"], rows))


def _calibration(answers: Answers) -> Markup:
    body = fill(
        "<p>Of the answers given with 80 % confidence, 80 % should be right: the dots should lie on the line. Expected "
        "calibration error <strong>$error points</strong> on $count test nodes; large dots stand for many "
        "nodes.</p>$chart",
        error=f"{100 * answers.calibration_error:.1f}",
        count=f"{len(answers.known):,}",
        chart=charts.reliability(answers.calibration),
    )
    return _card("calibration", "Is it as sure as it should be?", body)


def _confusion(answers: Answers) -> Markup:
    matrix, names = answers.confusion, [short(name) for name in answers.classes]
    title = "Which classes are confused"
    if len(names) > MOST_CLASSES:
        wrong = sorted(
            (
                (int(matrix[a, b]), a, b)
                for a in range(len(names))
                for b in range(len(names))
                if a != b and matrix[a, b]
            ),
            reverse=True,
        )[:MOST_MISTAKES]
        rows = [[names[a], names[b], f"{count:,}"] for count, a, b in wrong]
        return _card("confusion", title, _table(["class", "predicted as", "test nodes"], rows, words=2))
    body_rows = []
    for a, name in enumerate(names):
        total = max(1, int(matrix[a].sum()))
        cells = []
        for b in range(len(names)):
            count = int(matrix[a, b])
            level = math.ceil(5 * count / total)
            kind = "" if not count else f"{'h' if a == b else 'w'}{level}"
            cells.append(
                fill(
                    '<td class="$kind" title="$title">$count</td>',
                    kind=kind,
                    title=f"{count} of {total} test nodes of {name} predicted as {names[b]}",
                    count=f"{count:,}" if count else "",
                )
            )
        body_rows.append(fill('<tr><th scope="row">$name</th>$cells</tr>', name=name, cells=join(cells, "")))
    body = fill(
        '<p>Rows are the true classes of the test nodes, columns what was predicted.</p><div class="scroll">'
        '<table class="confusion"><thead><tr><td></td>$head</tr></thead><tbody>$rows</tbody></table></div>',
        head=join((fill('<th scope="col">$name</th>', name=name) for name in names), ""),
        rows=join(body_rows),
    )
    return _card("confusion", title, body)


def _per_class(answers: Answers) -> Markup:
    rows = [
        [
            short(each.name),
            f"{each.count:,}",
            "never" if each.precision is None else f"{100 * each.precision:.1f}",
            "–" if each.recall is None else f"{100 * each.recall:.1f}",
            f"{100 * each.f1:.1f}" if each.count else "–",
        ]
        for each in answers.by_class
    ]
    missed = [each.name for each in answers.by_class if each.count and not each.recall]
    note = Markup("")
    if missed:
        note = fill(
            '<p class="note">No test node of $names was found. Rare classes: try --class-weights balanced.</p>',
            names=", ".join(short(name) for name in missed[:5]),
        )
    heads = ["class", "test nodes", "precision %", "recall %", "F1 %"]
    return _card("classes", "Class by class", join([note, _table(heads, rows)]))


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], words: int = 1) -> Markup:
    def cell(place: int, text: str) -> Markup:
        if place == 0:
            return fill('<th scope="row">$text</th>', text=text)
        kind = "words" if place < words else "low" if text in ("0.0", "never") else ""
        return fill('<td class="$kind">$text</td>', text=text, kind=kind)

    head = (
        fill('<th scope="col" class="$kind">$text</th>', text=text, kind="words" if k < words else "")
        for k, text in enumerate(heads)
    )
    body = (fill("<tr>$cells</tr>", cells=join((cell(k, t) for k, t in enumerate(row)), "")) for row in rows)
    return fill(
        '<div class="scroll"><table><thead><tr>$head</tr></thead><tbody>$body</tbody></table></div>',
        head=join(head, ""),
        body=join(body),
    )


def _id(graph: Graph, node: int) -> str:
    return str(node) if graph.node_ids is None else graph.node_ids[node]


def _mistakes(answers: Answers, graph: Graph) -> Markup:
    places = answers.mistakes(MOST_MISTAKES)
    title = "Most confident mistakes"
    if not places:
        return _card("mistakes", title, Markup("<p>Every test node of this run is right.</p>"))
    rows = [
        [
            short(_id(graph, int(answers.nodes[k]))),
            short(answers.classes[answers.known[k]]),
            short(answers.classes[answers.predicted[k]]),
            f"{100 * answers.confidence[k]:.1f}",
        ]
        for k in places
    ]
    total = int((answers.known != answers.predicted).sum())
    lead = fill(
        "<p>$count of $all test nodes are wrong. The surest of them are worth a look: the label may be wrong too.</p>",
        count=f"{total:,}",
        all=f"{len(answers.known):,}",
    )
    return _card("mistakes", title, join([lead, _table(["node", "class", "predicted", "sure %"], rows, 3)]))


def _worth_explaining(answers: Answers | Numbers) -> list[int]:
    """The most confident mistakes, then the answers that were least sure; of numbers the largest errors."""
    if isinstance(answers, Numbers):
        return [int(answers.nodes[place]) for place in answers.mistakes(EXPLAINED)]
    unsure = [int(place) for place in answers.confidence.argsort()]
    places = dict.fromkeys([*answers.mistakes(EXPLAINED - 1), *unsure])
    return [int(answers.nodes[place]) for place in list(places)[:EXPLAINED]]


def _explained(
    trained: TrainedModel, graph: Graph, split: Split, columns: Sequence[str], nodes: Sequence[int]
) -> list[Markup]:
    """Why these nodes are answered as they are, and the wave around the first; nothing for no nodes."""
    if not nodes:
        return []
    reasons = [explain_run(trained, graph, split, node, columns=columns) for node in nodes]
    first, names = reasons[0], trained.class_names
    numbers = trained.task == "regression"
    pair = (0, None) if numbers else (names.index(first["class"]), names.index(first["against"]))
    return [_reasons(reasons), _wave(wave_around(trained.network, graph, nodes[0], *pair), graph, first)]


WHY = """<div class="why"><h3>Node $node: predicted $predicted$sure, $known</h3>
<p>$what is $margin; if every node were $baseline, it would be $start. The node itself moved it by
<strong>$itself</strong>, its neighbours by <strong>$neighbours</strong>, nodes farther away by
<strong>$farther</strong>.</p>
<div class="pair"><div><h3>Columns</h3>$columns</div><div><h3>Nodes</h3>$nodes</div></div></div>"""


def _reasons(records: Sequence[Mapping[str, Any]]) -> Markup:
    parts = []
    for record in records:
        columns = [(each["column"], each["own"] + each["others"]) for each in record["columns"]]
        columns.sort(key=lambda each: -abs(each[1]))
        nodes = [(f"{short(each['node'])} ({_hops(each['hops'])})", each["contribution"]) for each in record["nodes"]]
        parts.append(
            fill(
                WHY,
                node=short(record["node"]),
                predicted=short(record["predicted"]),
                sure="" if record["probability"] is None else f" with {100 * record['probability']:.1f} %",
                known="truth not known" if record["known"] is None else f"truly {short(record['known'])}",
                what=_margin(record),
                margin=f"{record['margin']:.4g}",
                start=f"{record['start']:.4g}",
                baseline=record["baseline"],
                **{name: f"{value:+.3g}" for name, value in record["rings"].items()},
                columns=charts.bars(_with_rest(columns, "columns"), "Contribution of each column"),
                nodes=charts.bars(_with_rest(nodes, "nodes"), "Contribution of each node"),
            )
        )
    lead = Markup(
        "<p>Integrated gradients: contributions of all columns of all nodes add up to the difference of the two "
        "answers; the sum was checked.</p>"
        '<ul class="keys"><li class="up">speaks for the prediction</li><li class="down">speaks against it</li></ul>'
    )
    return _card("why", "Why these predictions", join([lead, *parts]), "wide")


def _margin(record: Mapping[str, Any]) -> str:
    if record["against"] is None:
        return "The predicted number"
    return f"The margin of {short(record['class'])} over {short(record['against'])}"


def _with_rest(rows: Sequence[tuple[str, float]], what: str) -> list[tuple[str, float]]:
    rest = rows[BARS:]
    return [*rows[:BARS], *([(f"{len(rest):,} other {what}", sum(value for _, value in rest))] if rest else [])]


def _hops(hops: int | None) -> str:
    return "no path" if hops is None else "itself" if hops == 0 else f"{hops} edge{'s' if hops > 1 else ''} away"


def _wave(wave: Wave | None, graph: Graph, record: Mapping[str, Any]) -> Markup:
    if wave is None or len(wave.times) < 2:
        return Markup("")
    names = [short(_id(graph, node)) for node in wave.nodes]
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
        above="above zero" if record["against"] is None else f"speaks for {short(record['class'])}",
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
    return _card("wave", "The wave around a node", body, "wide")


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


def _settings(folder: Path, config: Mapping[str, Any], result: Mapping[str, Any]) -> Markup:
    def listed(values: Mapping[str, Any]) -> Markup:
        pairs = (
            (name, f"{value:.6g}" if isinstance(value, float) else value)
            for name, value in values.items()
            if value is not None
        )
        return fill(
            '<dl class="facts">$pairs</dl>',
            pairs=join((fill("<dt>$name</dt><dd>$value</dd>", name=n, value=v) for n, v in pairs), ""),
        )

    body = fill(
        '<div class="pair"><div><h3>Model</h3>$model</div><div><h3>Training</h3>$training</div></div>'
        "<h3>Go on</h3><pre><code>gwn predict $folder --out predictions.csv\n"
        "gwn explain $folder --node ID</code></pre>",
        model=listed({"model": config["model"], **config["settings"]}),
        training=listed({**config["training"], "epoch": config["selection"], "data": config["dataset"]["hash"][:12]}),
        folder=shlex.quote(folder.name),
    )
    return _card("settings", "Settings", body, "wide")
