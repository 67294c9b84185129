"""The page of a run: one file that opens from the disk, with everything that a person asks of a trained model."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from gwn._version import __version__
from gwn.data import DATASETS, Dataset, Split
from gwn.data.describe import describe
from gwn.graph import Graph
from gwn.html import Markup, fill, join, policy_hash, template
from gwn.io import read_json, write_atomic
from gwn.models import model_spec
from gwn.pages import charts
from gwn.registry import lookup
from gwn.runs.facts import answers_of, learning_curves
from gwn.runs.judged import judged
from gwn.runs.parts import card
from gwn.runs.reasons import explained, worth_explaining
from gwn.training import TrainedModel
from gwn.training.metrics import METRICS


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
    if (named := data.pictured.class_names) is not None and len(named) == len(trained.class_names):
        trained = replace(trained, config={**trained.config, "classes": list(named)})
        graph = replace(graph, class_names=named)
    config, result = trained.config, read_json(folder / "result.json")
    answers = answers_of(trained, graph, split)
    spec = model_spec(config["model"])
    explainable = spec.gradients and "features" not in spec.ignores
    chosen = list(nodes) or (worth_explaining(answers) if explainable else [])
    style = "".join(template(f"{name}.css") for name in ("base", "colours", "table", "run"))
    script = template("table.js") + template("run.js")
    page = fill(
        template("run.html"),
        style_hash=policy_hash(style),
        script_hash=policy_hash(script),
        style=Markup(style),
        script=Markup(script),
        title=f"{spec.title} on {_called(config['dataset']['name'])}",
        kicker=f"Graph wave networks · {config['split']} split · run {trained.run.run}, {_among(len(result['runs']))}",
        **_verdict(result, trained),
        tiles=_tiles(describe(data), trained, columns),
        caveat=fill('<p class="note">$text</p>', text=data.caveat) if data.caveat else Markup(""),
        sections=join(
            [
                _curves(learning_curves(folder, trained.run.run), config["metric"]),
                *(judged(answers, graph) if split.test.numel() else [_untested(split)]),
                *explained(trained, graph, split, columns, chosen),
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


def _among(runs: int) -> str:
    """Runs are numbered from zero, so that "0 of 1" would be odd."""
    return "the only one" if runs == 1 else f"one of {runs:,}"


def _called(dataset: str) -> str:
    """A dataset as its authors write it; anyone's own graph by its name."""
    return DATASETS[dataset].title if dataset in DATASETS else dataset


def _score(metric: str, value: float) -> str:
    shown = lookup("metric", metric, METRICS)
    return shown.text(value, 1) + (" %" if shown.percent else "")


def _verdict(result: Mapping[str, Any], trained: TrainedModel) -> dict[str, str]:
    test, metric = result["summary"]["test"], result["metric"]
    if test is None and result["summary"]["val"] is not None:
        of = f"validation {METRICS[metric].name} on the {result['split']} split"
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
        "score_of": f"test {METRICS[metric].name} on the {result['split']} split",
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
        **({} if homophily is None else {"edges within a class": f"{100 * homophily:.0f} %"}),
        "isolated nodes": f"{data['isolated_nodes']:,}",
        "parameters": f"{trained.run.parameters:,}",
    }
    return join((fill("<div><dt>$name</dt><dd>$value</dd></div>", name=n, value=v) for n, v in facts.items()), "")


def _curves(curves: Mapping[str, Any] | None, metric: str) -> Markup:
    if curves is None:
        return card("curves", "Learning curves", Markup("<p>This run was made before curves were kept.</p>"))

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
        score=charts.lines(score, f"Validation {METRICS[metric].name} by epoch", title, curves["best_epoch"]),
    )
    return card("curves", "Learning curves", body, "wide")


def _untested(split: Split) -> Markup:
    body = fill(
        "<p>Every labelled node was trained on, or chose the epoch ($count validation nodes), so nothing here says how "
        "good the answers are on nodes that were never seen. For that, train with <code>--split stratified</code>.</p>",
        count=f"{split.val.numel():,}",
    )
    return card("untested", "No node was kept for testing", body)


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
    return card("settings", "Settings", body, "wide")
