"""The explorer's page in a real browser without a graphics card, and its layout beside another."""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array
from scipy.spatial import cKDTree
from torch import Tensor

from benchmarks.harness import Result, Settings, Verdict
from gwn.data import contextual_sbm, load_dataset
from gwn.errors import GWNError
from gwn.explore.layout import choose_nodes, force_layout, node_radius, smooth_start, spread
from gwn.explore.page import write_page
from gwn.explore.subject import Subject

NODES, DEGREE = 3000, 6.8
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
TURNS = 10


def explorer(settings: Settings) -> Result:
    """Frames a second while a pulse plays, beside discs on a plain canvas, and how soon the slider answers."""
    with tempfile.TemporaryDirectory() as folder, browser_page(crowd(Path(folder), settings.shrink)) as page:
        found = frame_rate(page, settings.seconds)
        slider = slider_milliseconds(page)["page"]
        size = page.evaluate("[GWN.explorer.graph.nodes, GWN.explorer.graph.shown.length]")
    row = {"nodes": size[0], "edges": size[1], "frames_a_second": found["page"], "plain_canvas": found["floor"]}
    return Result(
        rows=[{**row, "slider_ms": slider}],
        facts={"seconds": settings.seconds, "window": "1440 x 900"},
        verdicts=[
            Verdict(subject="page", what="frames a second", value=found["page"], sign=">=", bar=30.0),
            Verdict(subject="page", what="milliseconds until the slider answers", value=slider, sign="<=", bar=50.0),
        ],
    )


def crowd(folder: Path, shrink: int = 1) -> Path:
    """A page with 3,000 nodes and 10,000 edges, placed by lot: drawing them does not depend on where they are."""
    graph = contextual_sbm(
        nodes=NODES // shrink, degree=DEGREE, homophily=0.8, features=2, classes=5, signal=1.0, seed=0
    )
    drawn = choose_nodes(graph, graph.num_nodes)
    places = np.random.default_rng(0).uniform(-1, 1, (graph.num_nodes, 2))
    return write_page(Subject(graph=graph, name="crowd"), drawn, torch.from_numpy(places), folder)


@contextmanager
def browser_page(page_file: Path, fragment: str = "") -> Iterator[Any]:
    """The page in Chromium of the system's packages, or in the browser that GWN_BROWSER names."""
    from playwright.sync_api import sync_playwright

    found = os.environ.get("GWN_BROWSER") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        raise GWNError("no Chromium here: apt-get install chromium, or set GWN_BROWSER to a browser's path")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(page_file.resolve().as_uri() + fragment)
        page.wait_for_selector("body[data-spectra=done]")
        yield page
        browser.close()


FRAMES = """async ([seconds, turns]) => {
    const at = GWN.explorer, picture = document.getElementById("picture"), plain = document.createElement("canvas");
    plain.width = picture.width;
    plain.height = picture.height;
    Object.assign(plain.style, { position: "fixed", left: "0", top: "0" });
    const pen = plain.getContext("2d"), { nodes, x, y } = at.graph, count = { page: 0, floor: 0 };
    let drawing = false;
    const draw = () => {  // what is least: every node as a disc of its own
        if (!drawing) return;
        pen.clearRect(0, 0, plain.width, plain.height);
        for (let i = 0; i < nodes; i++) {
            pen.fillStyle = (i + count.floor) % 2 ? "#2f86c9" : "#e2761b";
            pen.beginPath();
            pen.arc((x[i] + 1) * plain.width / 2, (y[i] + 1) * plain.height / 2, 4, 0, 7);
            pen.fill();
        }
        count.floor++;
        requestAnimationFrame(draw);
    };
    const wait = () => new Promise((done) => setTimeout(done, 1000 * seconds / turns));
    for (let turn = 0; turn < turns; turn++) {  // in turns, so that both meet the same machine
        const before = at.frames;
        at.play();
        await wait();
        at.pause();
        count.page += at.frames - before;
        document.body.append(plain);
        drawing = true;
        requestAnimationFrame(draw);
        await wait();
        drawing = false;
        plain.remove();
    }
    return { page: count.page / seconds, floor: count.floor / seconds };
}"""


def frame_rate(page: Any, seconds: float) -> dict[str, float]:
    """Frames a second of the playing page and of a plain canvas, each for so many seconds, in turns."""
    found: dict[str, float] = page.evaluate(FRAMES, [seconds, TURNS])
    return found


SLIDER = """async () => {
    const slider = document.getElementById("time"), found = { page: [], floor: [] };
    const shown = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
    for (let k = 0; k < 21; k++) {
        for (const what of ["floor", "page"]) {  // in turns: a frame in which nothing was asked, and one with a move
            const start = performance.now();
            if (what === "page") {
                slider.value = 40 * k + 20;
                slider.dispatchEvent(new Event("input"));
            }
            await shown();
            found[what].push(performance.now() - start);
        }
    }
    return found;
}"""


def slider_milliseconds(page: Any) -> dict[str, float]:
    """From a move of the slider until the picture has it, and what an empty frame takes: each the median of many."""
    found: dict[str, list[float]] = page.evaluate(SLIDER)
    return {what: statistics.median(times) for what, times in found.items()}


def layouts(settings: Settings) -> Result:
    """How crowded nodes stand and how many of its neighbours a node has around it, in our layout and in another."""
    names, notes = settings.at_hand(("texas", "cora"))
    rows: list[dict[str, Any]] = []
    for name in [*names, *(["digits"] if settings.datasets is None else [])]:
        drawn = choose_nodes(load_dataset(name).graph, 3000 // settings.shrink)
        count = drawn.nodes.numel()
        for title, place in (("ours", force_layout), ("LinLog", linlog_layout)):
            settings.say(f"layouts: {name}, {title}")
            rows.append({"graph": name, "layout": title, **layout_quality(place(drawn.pairs, count), drawn.pairs)})
    verdicts = []
    for ours, other in zip(rows[::2], rows[1::2], strict=True):
        graph = ours["graph"]
        verdicts += [
            Verdict(subject=graph, what="nodes that overlap another", value=ours["crowded"], sign="<=", bar=0.0),
            Verdict(subject=graph, what="neighbours kept", value=ours["kept"], sign=">=", bar=other["kept"]),
        ]
    return Result(rows=rows, verdicts=verdicts, notes=notes)


def layout_quality(places: Tensor, pairs: Tensor) -> dict[str, float]:
    """Of a layout: the share of nodes nearer to another than a radius; the share of a node's neighbours among as many
    nodes that are nearest to it; and the mean length of an edge beside that of any pair."""
    place, nodes = places.double().numpy(), places.shape[0]
    tree = cKDTree(place)
    neighbours: list[set[int]] = [set() for _ in range(nodes)]
    for a, b in pairs.t().tolist():
        neighbours[a].add(b)
        neighbours[b].add(a)
    nearest = tree.query(place, 1 + max(map(len, neighbours)))[1]
    kept = [
        len(near & set(nearest[i, 1 : 1 + len(near)].tolist())) / len(near) for i, near in enumerate(neighbours) if near
    ]
    a, b = np.random.default_rng(0).integers(0, nodes, (2, 100_000))
    length = np.linalg.norm(place[pairs[0]] - place[pairs[1]], axis=1).mean()
    return {
        "crowded": float((tree.query(place, 2)[0][:, 1] < node_radius(nodes)).mean()),
        "kept": float(np.mean(kept)),
        "edge_length": float(length / np.linalg.norm(place[a] - place[b], axis=1).mean()),
    }


def linlog_layout(pairs: Tensor, nodes: int, iterations: int = 200) -> Tensor:
    """The other: attraction by the logarithm of distance, repulsion by degree, as in LinLog mode of ForceAtlas2."""
    both = torch.cat([pairs, pairs.flip(0)], 1).numpy()
    joined = csr_array((np.ones(both.shape[1]), (both[0], both[1])), shape=(nodes, nodes))
    row, weight = np.repeat(np.arange(nodes), np.diff(joined.indptr)), torch.from_numpy(1.0 + np.diff(joined.indptr))
    position = smooth_start(joined, nodes, weight - 1).double() * nodes**0.5  # the same start as ours
    for step in range(iterations):
        near = torch.cdist(position, position).square().add_(0.01).reciprocal_() * weight[None, :]
        push = (position * near.sum(1, keepdim=True) - near @ position) * weight[:, None]
        place = position.numpy()
        distance = np.linalg.norm(place[joined.indices] - place[row], axis=1) + 1e-6
        strength = csr_array((40 * np.log1p(distance) / distance, joined.indices, joined.indptr), shape=joined.shape)
        pull = torch.from_numpy(strength @ place - place * np.asarray(strength.sum(1))[:, None])
        move = (push + pull) / weight[:, None] - 0.02 * position
        length = move.norm(dim=1, keepdim=True).clamp_min(1e-9)
        position = position + move / length * length.clamp_max(nodes**0.5 / 10 * (1 - step / iterations) ** 2 + 0.01)
    position = position - position.mean(0)
    return torch.from_numpy(spread((position / position.abs().max()).numpy(), node_radius(nodes)))
