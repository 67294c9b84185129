"""The model card of a run folder: what was trained on what, how good it is, and what it must not be used for."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Any

from gwn.training.metrics import METRICS, number_text

MOST_CLASSES = 50
_MARKS = re.compile(r"([\\`*_{}\[\]()#|<>~&])")


def plain(text: object) -> str:
    """A name from a table as Markdown shows it: as text, in one line."""
    shown = "".join(sign if sign.isprintable() else " " for sign in str(text))
    return _MARKS.sub(r"\\\1", shown)


def model_card(result: Mapping[str, Any], folder: str) -> str:
    """The card as Markdown, from a result's record alone.

    folder   the name of the run folder
    """
    data, summary = result["dataset"], result["summary"]
    origin = result.get("origin") or {}
    edges = f"{data['edges']:,} directed edges" if data["directed"] else f"{data['edges'] // 2:,} edges"
    what = "numbers" if data.get("task") == "regression" else f"{data['classes']} classes"
    lines = [
        f"# {plain(result['model'])} on {plain(data['name'])}",
        "",
        f"A network that predicts {what} of the nodes of a graph, trained with graph-wave-networks "
        f"{result['environment']['versions']['graph-wave-networks']} on {result['created'][:10]}.",
        "",
        "## Data",
        "",
        f"- {data['nodes']:,} nodes, {edges}, {data['features']:,} feature{'s' * (data['features'] != 1)}",
        *(f"- {plain(name)}: SHA-256 `{digest}`" for name, digest in data["files"].items()),
        f"- content hash `{data['hash']}`",
        *([f"- known problem: {plain(result['caveat'])}"] if result["caveat"] else []),
        "",
        "## Score",
        "",
        *_scores(result),
        *_classes(result),
        *_warnings(result),
        "## Settings",
        "",
        *(
            f"- {name}: {plain(f'{value:.6g}' if isinstance(value, float) else value)}"
            for name, value in {**result["settings"], **result["training"]}.items()
            if value is not None
        ),
        "",
        "## Limits",
        "",
        "- The score holds for nodes drawn like the test nodes: from the same graph, at the same time, labelled in the "
        "same way. For another graph or another time it says nothing.",
        "- Test nodes are joined to training nodes by edges, as new nodes may not be.",
        f"- {summary['diverged']} of {len(result['runs'])} runs did not finish."
        if summary["diverged"]
        else f"- All {len(result['runs'])} runs finished.",
        "- What edges and columns say of people may be wrong or unfair; nobody has examined this model for that.",
        "",
        "## Use",
        "",
        "```",
        f"gwn predict {_word(folder)} --out predictions.csv",
        f"gwn explain {_word(folder)} --node ID",
        f"gwn report {_word(folder)}",
        "```",
        "",
        "Trained on tables; another pair with the same columns: `--edges new-edges.csv --nodes new-nodes.csv`."
        if "schema" in origin
        else "The graph it was trained on is found again by its name or path.",
        "",
        "## Licence",
        "",
        "Not stated. Whoever publishes this model says here under which terms, for the weights and for the data.",
        "",
    ]
    return "\n".join(lines)


def _word(folder: str) -> str:
    """A folder's name as a word of a command within a fenced block, on one line and without a fence of its own."""
    return shlex.quote("".join(sign if sign.isprintable() and sign != "`" else "_" for sign in folder))


def _scores(result: Mapping[str, Any]) -> list[str]:
    metric = METRICS[result["metric"]]
    train, val, test = result["runs"][0]["split_sizes"]
    lines = [
        f"Split: {plain(result['split'])}, {train:,} nodes to train, {val:,} to validate, {test:,} to test; "
        f"{len(result['runs'])} runs with seeds from {result['seed']}. Selection: {plain(result['selection'])}.",
        "",
        f"| part | {metric.title} | 95 % interval |",
        "|---|---|---|",
    ]
    for part, name in (("val", "validation"), ("test", "test")):
        found = result["summary"][part]
        if found is not None:
            known = found["low"] is not None
            interval = f"{metric.text(found['low'])} to {metric.text(found['high'])}" if known else "one run"
            lines.append(f"| {name} | {metric.text(found['mean'])} | {interval} |")
    return [*lines, ""]


def _classes(result: Mapping[str, Any]) -> list[str]:
    """Scores of every class on test, or the errors of numbers; means over the runs."""
    found = result["summary"].get("details")
    if found is None:
        return []
    if "support" not in found:
        return [f"Mean absolute error {number_text(found['mae'])}, mean squared error {number_text(found['mse'])}.", ""]

    def share(value: float | None) -> str:
        return "-" if value is None else f"{100 * value:.1f}"

    order = sorted(range(len(result["classes"])), key=lambda index: -found["support"][index])
    rows = [
        f"| {plain(result['classes'][index])} | {share(found['precision'][index])} | {share(found['recall'][index])} | "
        f"{share(found['f1'][index])} | {found['support'][index]:,} |"
        for index in order[:MOST_CLASSES]
    ]
    return [
        "| class | precision % | recall % | F1 % | test nodes |",
        "|---|---|---|---|---|",
        *rows,
        "",
        f"Balanced accuracy {share(found['balanced_accuracy'])} %, calibration error "
        f"{share(found['calibration_error'])} points, log loss {found['log_loss']:.3f}.",
        "",
    ]


def _warnings(result: Mapping[str, Any]) -> list[str]:
    found = [f"- {plain(line)}" for line in result.get("warnings", [])]
    return [*found, ""] if found else []
