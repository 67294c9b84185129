"""The explorer's folder: one HTML file, its scripts, the plotting library, and the waves as scripts."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from gwn.data.store import cache_root
from gwn.errors import GWNError
from gwn.graph import Graph
from gwn.report.explore.encode import encode_scenario, rounded
from gwn.report.explore.layout import place_nodes
from gwn.report.explore.precompute import scenarios
from gwn.report.explore.sample import Drawn, choose_nodes
from gwn.report.explore.scenario import Scenario
from gwn.report.explore.signals import node_name
from gwn.report.explore.spectrum import bin_edges
from gwn.report.explore.subject import Subject
from gwn.report.html import assignment, fill, template
from gwn.training.store import write_atomic

ASSETS = ("base.css", "explore.css", "explore-data.js", "explore-graph.js", "explore-charts.js", "explore-page.js")
DEFAULT_NODES = 3000

OnProgress = Callable[[str, int, int], None]


def write_explorer(
    subject: Subject,
    out: Path,
    *,
    nodes: int = DEFAULT_NODES,
    centre: int | None = None,
    on_progress: OnProgress | None = None,
) -> Path:
    """Compute everything and write the folder; the page to open."""
    plotly = plotly_script()
    tell = on_progress or (lambda what, done, total: None)
    graph = subject.graph
    drawn = choose_nodes(graph, nodes, centre)
    layout = place_nodes(
        drawn.pairs, drawn.nodes.numel(), cache_root() / "layouts", lambda done, total: tell("layout", done, total)
    )
    index, written = [], set()
    for number, scenario in enumerate(
        scenarios(
            *(graph, drawn.nodes, drawn.centre, subject.network, subject.dynamics),
            lambda done, total: tell("waves", done, total),
        )
    ):
        file = out / "data" / f"wave-{number:03d}.js"
        write_atomic(file, assignment(f"GWN.waves[{number}]", encode_scenario(scenario)))
        index.append(_entry(scenario))
        written.add(file.name)
    for old in (out / "data").glob("wave-*.js"):  # of an earlier page with more of them
        if old.name not in written:
            old.unlink()
    write_atomic(out / "data" / "graph.js", assignment("GWN.graph", _graph(graph, drawn, layout)))
    write_atomic(out / "data" / "index.js", assignment("GWN.index", index))
    write_atomic(out / "assets" / "plotly.min.js", plotly.encode())
    for name in ASSETS:
        write_atomic(out / "assets" / name, template(name).encode())
    page = out / "index.html"
    write_atomic(page, _html(subject, drawn).encode())
    return page


def plotly_script() -> str:
    """The plotting library's own script, which its package ships."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise GWNError(
            "the explorer needs plotly; install it with: pip install 'graph-wave-networks[explore]'"
        ) from None
    script: str = get_plotlyjs()
    return script


def _entry(scenario: Scenario) -> dict[str, Any]:
    label, bounds = scenario.label, scenario.bounds
    largest = None if math.isnan(bounds.largest_tau) else bounds.largest_tau
    return {
        "signal": label.signal,
        "laplacian": label.laplacian + (" (as trained)" if label.own else ""),
        "scheme": label.scheme,
        "tau": label.tau,
        "growth": rounded(torch.tensor([bounds.growth]).numpy())[0],
        "largest": "any" if largest == math.inf else largest,
        "stable": bounds.stable,
    }


def _graph(graph: Graph, drawn: Drawn, layout: torch.Tensor) -> dict[str, Any]:
    nodes = drawn.nodes.tolist()
    labels = None if graph.y is None else [int(label) for label in graph.y[drawn.nodes]]
    return {
        "x": rounded(layout[:, 0].numpy(), 4),
        "y": rounded(layout[:, 1].numpy(), 4),
        "edges": drawn.shown.t().reshape(-1).tolist(),
        "pairs": drawn.pairs.t().reshape(-1).tolist(),
        "names": [node_name(graph, node) for node in nodes],
        "classes": None if labels is None else [graph.label_name(c) if c >= 0 else "unknown" for c in labels],
        "centre": nodes.index(drawn.centre),
        "bins": rounded(bin_edges(), 4),
    }


def _html(subject: Subject, drawn: Drawn) -> str:
    graph, count = subject.graph, drawn.nodes.numel()
    size = f"{graph.num_nodes:,} nodes"
    if count < graph.num_nodes:
        size = f"{count:,} of {graph.num_nodes:,} nodes: the neighbourhood of {node_name(graph, drawn.centre)}"
    edges = f"{drawn.pairs.shape[1]:,} edges between them"
    if drawn.shown.shape[1] < drawn.pairs.shape[1]:
        edges += f", {drawn.shown.shape[1]:,} drawn"
    return fill(
        template("explore.html"),
        name=subject.name,
        size=f"{size}, {edges}",
        about=subject.about,
        command=subject.command,
    )
