"""The page: one file with the drawn graph, its operator and the trained network's wave, that opens from the disk."""

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
from torch import Tensor

from gwn.adjacency import normalised_adjacency
from gwn.data.download import cache_root
from gwn.errors import GWNError
from gwn.explore.layout import Drawn, choose_nodes, node_radius, place_nodes
from gwn.explore.signals import attention_on, network_signals
from gwn.explore.subject import Subject, node_name
from gwn.html import Markup, fill, json_block, policy_hash, template
from gwn.io import write_atomic
from gwn.laplacians import FixedOperator
from gwn.networks.dynamics import build_dynamics
from gwn.schemes import SCHEMES
from gwn.stability import analyse, apply, extreme_eigenvalues

SCRIPTS = tuple(
    f"explore-{part}.js" for part in ("wave", "graph", "picture", "charts", "words", "film", "pointer", "page")
)
STYLES = ("base.css", "explore.css")
LAPLACIANS = ("physical", "sym", "random-walk", "klein-gordon")
"""Those that are `a I + b S` or `a I + b P` with nothing learned: what the page computes by itself."""

FULL = 32767
MOST_VALUES = 600_000
"""Numbers of a network's wave on the page, and of its attention; of a longer run, only some of the steps are shown."""

OnProgress = Callable[[str, int, int], None]


def write_explorer(
    subject: Subject,
    out: Path,
    *,
    limit: int = 3000,
    centre: int | None = None,
    on_progress: OnProgress | None = None,
) -> Path:
    """Write the page to `page_file(out)`, and say where it is. `limit`: at most so many nodes are drawn."""
    tell = on_progress or (lambda what, done, total: None)
    drawn = choose_nodes(subject.graph, limit, centre)
    layout = place(drawn, on_progress)
    tell("wave", 0, 1)
    page = write_page(subject, drawn, layout, out)
    tell("wave", 1, 1)
    return page


def write_page(subject: Subject, drawn: Drawn, layout: Tensor, out: Path) -> Path:
    """The page of nodes whose places [n, 2] are known, at `page_file(out)`."""
    page = page_file(out)
    write_atomic(page, _html(subject, drawn, page_data(subject, drawn, layout)).encode())
    return page


def page_file(out: Path) -> Path:
    """`out` itself where it is named as a page, otherwise the index of the folder `out`."""
    return out if out.suffix.lower() in (".html", ".htm") else out / "index.html"


def place(drawn: Drawn, on_progress: OnProgress | None = None) -> Tensor:
    """Where the drawn nodes stand, from the cache where they are known."""
    tell = on_progress or (lambda what, done, total: None)
    return place_nodes(
        drawn.pairs, drawn.nodes.numel(), cache_root() / "layouts", lambda done, total: tell("layout", done, total)
    )


def page_data(subject: Subject, drawn: Drawn, layout: Tensor) -> dict[str, Any]:
    """Everything that the page shows, as JSON: numbers in bulk are little-endian bytes in base64."""
    graph, nodes, count = subject.graph, drawn.nodes, drawn.nodes.numel()
    adjacency = normalised_adjacency(drawn.pairs, drawn.weights, count, dtype=torch.float64)
    lowest, _ = extreme_eigenvalues(partial(apply, FixedOperator(adjacency)), count)
    weighted = bool((drawn.weights != 1).any())
    whole = drawn.shown.numel() == drawn.pairs.shape[1]
    classes = graph.y is not None and graph.task == "classification"
    said = None if subject.predicted is None else subject.predicted[nodes]
    return {
        "name": subject.name,
        "nodes": count,
        "radius": node_radius(count),
        "x": _bytes(layout[:, 0] * FULL, "<i2"),
        "y": _bytes(layout[:, 1] * FULL, "<i2"),
        "numbers": _bytes(nodes, "<u4"),
        "ids": None if graph.node_ids is None else [graph.node_ids[node] for node in nodes.tolist()],
        "classes": [graph.label_name(k) for k in range(graph.num_classes)] if classes else None,
        "labels": _bytes(graph.labels[nodes], "<i2") if classes else None,
        "predicted": _bytes(said, "<i2") if said is not None and classes else None,
        "targets": _bytes(graph.labels[nodes], "<f8") if graph.task == "regression" else None,
        "guesses": _bytes(said, "<f8") if said is not None and graph.task == "regression" else None,
        "part": None if subject.part is None else _bytes(subject.part[nodes], "u1"),
        "ends": _bytes(drawn.pairs.t().reshape(-1), "<u2"),
        "weights": _bytes(drawn.weights, "<f4") if weighted else None,
        "shown": None if whole else _bytes(drawn.shown, "<u4"),
        "centre": nodes.tolist().index(drawn.centre),
        "lowest": lowest,
        "laplacians": {name: _laplacian(name) for name in LAPLACIANS},
        "network": None if subject.network is None else _network(subject, drawn),
    }


def _bytes(values: Tensor | np.ndarray, kind: str) -> str:
    array = values.numpy() if isinstance(values, Tensor) else values
    return base64.b64encode((np.rint(array) if kind[-2] == "i" else array).astype(kind).tobytes()).decode()


def _laplacian(name: str) -> dict[str, Any]:
    """`L_a = shift I + S`, or `+ P` for a random walk, and the schemes that go with it."""
    tiny = normalised_adjacency(torch.tensor([[0], [1]]), None, 2)
    schemes, shift = [], 0.0
    for scheme in SCHEMES:
        try:
            space, _ = build_dynamics(name, scheme, 1, 1, 0.25, allow_unstable=True, options={})
        except GWNError:
            continue
        interval, operator = space.interval, space.on(tiny)
        assert interval is not None
        assert isinstance(operator, FixedOperator)
        shift = operator.shift
        if scheme != "leapfrog-rescaled" or interval[1] > 0:  # what does not grow is not divided by its growth
            schemes.append(scheme)
    return {"shift": shift, "walk": not space.symmetric, "schemes": schemes}


def _network(subject: Subject, drawn: Drawn) -> dict[str, Any]:
    network, graph = subject.network, subject.graph
    assert network is not None
    signals = network_signals(network, graph)
    unit = subject.scaling.spread
    states = unit * signals.states[:, drawn.nodes]
    frames = min(len(states), max(2, MOST_VALUES // states[0].numel()))
    # The last state is one of them: the answer is read from it.
    at = torch.linspace(0, network.num_steps, frames, dtype=torch.float64).round().long()
    kept, found = states[at], analyse(network, graph)
    return {
        "model": subject.model,
        "laplacian": subject.laplacian,
        "growth": _finite(found.growth),
        "highest": _finite(found.high),
        "zero": float(subject.scaling.restore(signals.zeros)) if graph.task == "regression" else None,
        "tau": network.scheme.tau,
        "at": at.tolist(),
        "signals": [
            {
                "name": name,
                **_scaled("scales", "states", kept[:, :, column]),
                **_scaled("velocityScale", "velocity", unit * signals.velocity[drawn.nodes, column]),
            }
            for column, name in enumerate(signals.names)
        ],
        "attention": _attention(subject, drawn) if network.laplacian.attends else None,
    }


def _scaled(scale_name: str, name: str, values: Tensor) -> dict[str, Any]:
    """16-bit integers and what they are multiplied by: an amplitude is off by 1 / 60,000 of its step's largest."""
    scales = values.abs().amax(-1)
    unit = values / torch.where(scales > 0, scales, 1.0)[..., None]
    return {scale_name: scales.tolist(), name: _bytes(unit * FULL, "<i2")}


def _attention(subject: Subject, drawn: Drawn) -> dict[str, Any]:
    assert subject.network is not None
    alpha = attention_on(subject.network, subject.graph, drawn.nodes[drawn.pairs[:, drawn.shown]])
    stride = max(1, math.ceil(alpha.numel() / MOST_VALUES))
    kept = alpha[::stride]
    return {"tau": subject.network.scheme.tau * stride, "steps": kept.shape[0], "values": _bytes(kept * 127, "<i1")}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _html(subject: Subject, drawn: Drawn, data: dict[str, Any]) -> str:
    style, script = "".join(map(template, STYLES)), "".join(map(template, SCRIPTS))
    return fill(
        template("explore.html"),
        name=subject.name,
        size=_size(subject, drawn),
        about=subject.about,
        command=subject.command,
        style=Markup(style),
        style_hash=policy_hash(style),
        script=Markup(script),
        script_hash=policy_hash(script),
        data=json_block(data),
    )


def _size(subject: Subject, drawn: Drawn) -> str:
    graph, count = subject.graph, drawn.nodes.numel()
    nodes = f"{graph.num_nodes:,} nodes"
    if count < graph.num_nodes:
        around = node_name(graph, drawn.centre)
        nodes = f"{count:,} of {graph.num_nodes:,} nodes: the neighbourhood of {around}, cut out of the graph"
    edges = f"{drawn.pairs.shape[1]:,} edge{'s' * (drawn.pairs.shape[1] != 1)} between them"
    if drawn.shown.numel() < drawn.pairs.shape[1]:
        edges += f", the strongest {drawn.shown.numel():,} of them drawn"
    if alone := int((torch.bincount(drawn.pairs.reshape(-1), minlength=count) == 0).sum()):
        edges += f"; {alone:,} without an edge, in rows below"
    if subject.directed:
        edges += "; drawn without their direction, as a pulse travels both ways"
    return f"{nodes}, {edges}"


LOOPBACK = "127.0.0.1"


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Nothing: a terminal is no place for a browser's requests."""

    def parse_request(self) -> bool:
        """Refuse a request by another name than ours: a foreign page may have its name lead here, and read on."""
        if not super().parse_request():
            return False
        assert isinstance(self.server, ThreadingHTTPServer)
        names = [f"{name}:{self.server.server_port}" for name in (LOOPBACK, "localhost")]
        names += [name.removesuffix(":80") for name in names]  # browsers leave that port out
        if self.headers.get("Host", "").lower() in names:
            return True
        self.send_error(403, explain=f"Open this page as http://{names[0]}/")
        return False


def loopback_server(folder: Path, port: int) -> ThreadingHTTPServer:
    """A server on the loopback address; port 0 takes any that is free."""
    try:
        return ThreadingHTTPServer((LOOPBACK, port), partial(_Quiet, directory=str(folder)))
    except (OSError, OverflowError) as error:
        raise GWNError(f"cannot serve on port {port} ({error}); choose another with --port") from None


def address(server: ThreadingHTTPServer) -> str:
    return f"http://{LOOPBACK}:{server.server_address[1]}/"
