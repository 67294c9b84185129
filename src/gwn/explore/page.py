"""The page: every wave computed and written into a folder that opens from the disk, or is served to this machine."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import torch

from gwn.data.download import cache_root
from gwn.errors import GWNError, require_extra
from gwn.explore.layout import Drawn, choose_nodes, place_nodes
from gwn.explore.signals import bin_edges, node_name
from gwn.explore.subject import Subject
from gwn.explore.waves import Scenario, scenarios
from gwn.graph import Graph
from gwn.html import assignment, fill, template
from gwn.io import write_atomic

FULL = 32767
DIGITS = 5


def encode_scenario(scenario: Scenario) -> dict[str, Any]:
    """All that the page shows of one wave; an amplitude is off by less than 1 / 60,000 of its step's largest."""
    scales = np.abs(scenario.amplitudes).max(axis=1)
    unit = np.divide(
        scenario.amplitudes, scales[:, None], where=scales[:, None] > 0, out=np.zeros_like(scenario.amplitudes)
    )
    norm = scenario.norm
    growth = np.divide(norm[1:], norm[:-1], where=norm[:-1] > 0, out=np.full(len(norm) - 1, np.nan))
    return {
        "times": rounded(scenario.times),
        "scales": rounded(scales),
        "amplitudes": as_text(np.rint(unit * FULL)),
        "spectrum": as_text(np.rint(np.clip(scenario.spectrum, 0, 1) * FULL)),
        "kinetic": rounded(scenario.kinetic),
        "dirichlet": rounded(scenario.dirichlet),
        "growth": rounded(growth),
    }


def as_text(values: np.ndarray) -> str:
    """Little-endian 16-bit integers as base64."""
    return base64.b64encode(values.astype("<i2").tobytes()).decode()


def rounded(values: np.ndarray, digits: int = DIGITS) -> list[float | None]:
    """Numbers with so many significant digits; null where they are none."""
    return [float(f"{value:.{digits}g}") if np.isfinite(value) else None for value in np.asarray(values).ravel()]


ASSETS = ("base.css", "explore.css", "explore-data.js", "explore-graph.js", "explore-charts.js", "explore-page.js")
OnProgress = Callable[[str, int, int], None]


def write_explorer(
    subject: Subject,
    out: Path,
    *,
    limit: int = 3000,
    centre: int | None = None,
    on_progress: OnProgress | None = None,
) -> Path:
    """Compute everything and write the folder; the page to open. `limit`: at most so many nodes are drawn."""
    plotly = plotly_script()
    tell = on_progress or (lambda what, done, total: None)
    graph = subject.graph
    drawn = choose_nodes(graph, limit, centre)
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
    require_extra("gwn explore", "plotly")
    from plotly.offline import get_plotlyjs

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
    labels = None if graph.y is None or graph.task == "regression" else [int(label) for label in graph.y[drawn.nodes]]
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


LOOPBACK = "127.0.0.1"


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Nothing: a terminal is no place for a browser's requests."""


def loopback_server(folder: Path, port: int) -> ThreadingHTTPServer:
    """A server on the loopback address; port 0 takes any that is free."""
    try:
        return ThreadingHTTPServer((LOOPBACK, port), partial(_Quiet, directory=str(folder)))
    except (OSError, OverflowError) as error:
        raise GWNError(f"cannot serve on port {port} ({error}); choose another with --port") from None


def address(server: ThreadingHTTPServer) -> str:
    return f"http://{LOOPBACK}:{server.server_address[1]}/"
