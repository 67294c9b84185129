"""The tables of `docs/scale.md`: `python -m benchmarks.scale_page` writes them anew from the measured results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.harness import readable
from benchmarks.page import Page, Parts
from gwn.pages.markdown import markdown_table

ARC = 8
"""Bytes of an entry of S: column number and value."""

FLOAT = 4


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A graph and a network; `arcs` counts both directions of an edge."""

    nodes: float
    arcs: float
    width: int
    steps: int

    @property
    def entries(self) -> float:
        """Of S in memory, whose pattern holds the diagonal."""
        return self.arcs + self.nodes

    @property
    def product(self) -> float:
        """Bytes that one sparse product moves."""
        return self.entries * (ARC + FLOAT * self.width) + self.nodes * 2 * FLOAT * self.width


def step_of_sym(shape: Shape) -> float:
    """Bytes of a training step with a fixed operator: a product forward and one backward, in every step of the wave."""
    return 2 * shape.steps * shape.product


def step_of_fa(shape: Shape) -> float:
    """Bytes of a training step with attention: the two products, and the gradient of alpha, which reads two rows an
    entry; and some numbers an entry for alpha itself: score, tanh, value, their gradients, and the transpose."""
    sampled = shape.entries * 2 * FLOAT * shape.width
    scores = shape.entries * 12 * FLOAT
    return shape.steps * (2 * shape.product + sampled + scores)


def propagation(shape: Shape, features: int) -> float:
    """Bytes moved when `[x, 1]` is propagated from files, as a displacement and as a velocity, `width` columns at a
    time: the entries of S are read anew for every block of columns."""
    columns = features + 1
    blocks = -(-columns // shape.width)
    per_block = shape.arcs * ARC * 2 * shape.steps * blocks
    rows = shape.arcs * FLOAT * columns * 2 * shape.steps
    states = shape.nodes * 3 * FLOAT * columns * 2 * shape.steps
    return per_block + rows + states


def on_disk(nodes: float, arcs: float, features: int) -> float:
    """Bytes of the graph folder and of the propagated features."""
    graph = 8 * nodes + FLOAT * arcs + FLOAT * nodes * features + 6 * nodes
    return graph + 2 * FLOAT * nodes * (features + 1)


def columns_in(memory: float, nodes: float, buffers: int = 2) -> int:
    """How many columns can be propagated together in so much memory."""
    return int(memory // (FLOAT * nodes * buffers))


NOT_YET = "*Not measured yet: run `make bench-scale`.*"
NODES = (10**7, 10**8, 10**9)
MEMORY = 256 * 10**9
MACHINES = (16, 64, 256)
NETWORK = 12.5e9
"""Bytes a second: 100 Gbit/s."""


def targets_table(parts: Parts) -> str:
    """Every bar, with pass or miss."""
    rows = [["model", "target", "measured", "bar", ""]]
    for part in parts.values():
        for v in part["verdicts"]:
            word = "pass" if v["passed"] else "MISS"
            rows.append([v["subject"], v["what"], readable(v["value"]), f"{v['sign']} {v['bar']:g}", word])
    return markdown_table(rows) if len(rows) > 1 else NOT_YET


def arxiv_table(parts: Parts) -> str:
    """One training step on the arxiv shape, and the rate at which the model's bytes were moved."""
    if "arxiv" not in parts:
        return NOT_YET
    facts = parts["arxiv"]["facts"]
    shape = Shape(nodes=facts["nodes"], arcs=2 * facts["edges"], width=facts["width"], steps=facts["steps"])
    bytes_of = {"gwn-sym": step_of_sym(shape), "gwn-fa": step_of_fa(shape)}
    rows = [["model", "ms a step", "peak MiB", "GB moved, on paper", "GB a second"]]
    for row in parts["arxiv"]["rows"]:
        moved = bytes_of.get(row["model"])
        paper = ["", ""] if moved is None else [readable(moved / 1e9), readable(moved / 1e6 / row["best_ms"])]
        rows.append([row["model"], readable(row["best_ms"]), readable(row["peak_mib"]), *paper])
    return markdown_table(rows)


def edges_table(parts: Parts) -> str:
    """Time against edges and width beside the bytes on paper; a constant rate would be a perfect model."""
    if "edges" not in parts:
        return NOT_YET
    rows = [["axis", "model", "value", "ms a step", "GB moved, on paper", "GB a second"]]
    for curve in parts["edges"]["rows"]:
        step_of = step_of_sym if curve["model"] == "gwn-sym" else step_of_fa
        for value, shape, taken in zip(curve["value"], _shapes(curve), curve["step_ms"], strict=True):
            moved = step_of(shape)
            cells = [readable(taken), readable(moved / 1e9), readable(moved / 1e6 / taken)]
            rows.append([curve["axis"], curve["model"], f"{value:,}", *cells])
    return markdown_table(rows)


def _shapes(curve: Mapping[str, Any]) -> list[Shape]:
    sizes = zip(*(curve[size] for size in ("nodes", "edges", "width", "steps")), strict=True)
    return [Shape(nodes=n, arcs=2 * m, width=width, steps=steps) for n, m, width, steps in sizes]


def _rate(parts: Parts) -> float:
    """Bytes a second of GWN-sym on the graph with the most nodes that was measured, without locality."""
    points = [
        point
        for curve in parts["edges"]["rows"]
        if curve["model"] == "gwn-sym" and "communities" not in curve["axis"]
        for point in zip(_shapes(curve), curve["step_ms"], strict=True)
    ]
    shape, milliseconds = max(points, key=lambda point: point[0].nodes)
    return float(step_of_sym(shape) / (milliseconds / 1e3))


def files_table(parts: Parts) -> str:
    """Propagation and training from files."""
    rows = [["graph", "what", "measured"]]
    if "precomputed" in parts:
        part = parts["precomputed"]
        name = f"{part['facts']['nodes']:,} nodes, {part['facts']['edges']:,} edges"
        rows.append([name, "propagation, seconds", readable(part["facts"]["propagation_seconds"])])
        rows += [[name, f"an epoch, {row['training']}, ms", readable(row["epoch_ms"])] for row in part["rows"]]
    if "ten-million" in parts:
        part, row = parts["ten-million"], parts["ten-million"]["rows"][0]
        name = f"{part['facts']['nodes']:,} nodes, {part['facts']['edges']:,} edges"
        what = f"with `--memory {row['memory_option']}`"
        rows.append([name, f"whole process at its peak {what}, GB", readable(row["peak_gb"])])
        rows.append([name, f"propagation and {row['epochs']} epochs {what}, seconds", readable(row["seconds"])])
    return markdown_table(rows) if len(rows) > 1 else NOT_YET


def bank_table(parts: Parts) -> str:
    """GWN+ from files beside the whole graph, a line a dataset."""
    if "bank-files" not in parts:
        return NOT_YET
    rows = parts["bank-files"]["rows"]
    ways = list(dict.fromkeys(row["network"] for row in rows))
    found = {(row["dataset"], row["network"]): f"{100 * row['mean']:.2f}" for row in rows}
    names = dict.fromkeys(row["dataset"] for row in rows)
    return markdown_table([["dataset", *ways], *([name, *(found[name, way] for way in ways)] for name in names)])


def hundred_million_table(parts: Parts) -> str:
    """The stages from nothing to predictions, beside what reading their files once takes."""
    if "hundred-million" not in parts:
        return NOT_YET
    facts = parts["hundred-million"]["facts"]
    size = f"{facts['nodes']:,} nodes, {facts['edges']:,} edges, {facts['features']} features"
    said = f"Measured with {size}; `--memory {facts['memory']}`, {facts['epochs']} epochs, one core:"
    headings = ["stage", "seconds", "of a processor", "peak, GB", "GB read", "GB written"]
    rows = [[*headings, "its files, GB", "left, GB", "reading its files once, seconds"]]
    numbers = ("seconds", "cpu_seconds", "peak_gb", "read_gb", "written_gb", "files_read_gb", "files_left_gb")
    for row in parts["hundred-million"]["rows"]:
        rows.append([row["stage"], *(readable(row[name]) for name in (*numbers, "reading_once_seconds"))])
    return f"{said}\n\n{markdown_table(rows)}"


def killed_table(parts: Parts) -> str:
    """What a kill in the middle costs."""
    if "killed" not in parts:
        return NOT_YET
    measured = parts["killed"]["rows"]
    headings = ["whole", "killed after", "then", "of the whole"]
    rows = [["stage", *(f"{name}, seconds" for name in headings[:3]), "in all, of the whole", "same bits"]]
    for row in measured:
        rows.append([row["stage"], *(readable(row[name]) for name in headings), "yes" if row["same result"] else "no"])
    return markdown_table(rows)


def partitions_table(parts: Parts) -> str:
    """What training on parts costs."""
    if "partitions" not in parts:
        return NOT_YET
    rows = [["dataset", "parts", "parts a step", "edges cut, %", "test accuracy, %", "points lost"]]
    for row in parts["partitions"]["rows"]:
        accuracy = f"{100 * row['mean']:.2f} ± {100 * (row['sd'] or 0):.2f}"
        cut = "whole graph" if row["parts"] == 0 else str(row["parts"])
        lost = "" if row["parts"] == 0 else f"{row['points_lost']:.2f}"
        rows.append([row["dataset"], cut, str(row["parts_a_step"]), f"{100 * row['edges_cut']:.1f}", accuracy, lost])
    return markdown_table(rows)


def paper_table(parts: Parts) -> str:
    """The arxiv shape carried on to more nodes: one machine, fixed operator, at the rate measured above."""
    if "arxiv" not in parts or "edges" not in parts:
        return NOT_YET
    facts = parts["arxiv"]["facts"]
    arcs_a_node, features, steps = 2 * facts["edges"] / facts["nodes"], facts["features"], facts["steps"]
    rate = _rate(parts)
    at_once = f"columns at once in {MEMORY / 1e9:.0f} GB"
    rows = [["nodes", "arcs", "disk, GB", at_once, "TB moved", "core hours", "an epoch, GB read"]]
    for nodes in NODES:
        arcs = arcs_a_node * nodes
        width = min(features + 1, columns_in(MEMORY, nodes))
        moved = propagation(Shape(nodes=nodes, arcs=arcs, width=width, steps=steps), features)
        epoch = 8 * nodes * (features + 1)
        cells = [f"{nodes:,}", f"{arcs:.2g}", readable(on_disk(nodes, arcs, features) / 1e9), str(width)]
        rows.append([*cells, readable(moved / 1e12), readable(moved / rate / 3600), readable(epoch / 1e9)])
    return markdown_table(rows)


def processes_table(parts: Parts) -> str:
    """One process, two threads and several processes, and what the several have to send."""
    if "processes" not in parts:
        return NOT_YET
    nodes = parts["processes"]["facts"]["nodes"]
    times = ["one thread, ms", "two threads", "processes", "these, ms", "times as fast as one thread"]
    rows = [["model", "edges", *times, "boundary rows, % of nodes", "MB sent a product"]]
    for row in parts["processes"]["rows"]:
        taken = [readable(row["one_ms"]), readable(row["threads_ms"]), str(row["processes"]), readable(row["team_ms"])]
        boundary = readable(100 * row["halo_rows"] / nodes)
        faster = readable(row["one_ms"] / row["team_ms"])
        rows.append([row["model"], row["graph"], *taken, faster, boundary, readable(row["mb_an_exchange"])])
    return markdown_table(rows)


def local_boundary(parts: Parts) -> float | None:
    """Boundary rows a node of its own, of a process among the most that were measured on the graph with communities."""
    rows = [row for row in parts.get("processes", {"rows": []})["rows"] if row["graph"] == "communities"]
    if not rows:
        return None
    most = max(rows, key=lambda row: row["processes"])
    return float(most["halo_rows"]) / float(parts["processes"]["facts"]["nodes"])


def machines_table(parts: Parts) -> str:
    """A full-batch step on a billion nodes, the arxiv shape carried on: edges that lead anywhere, and communities with
    the share of boundary rows that was measured."""
    if "arxiv" not in parts or "edges" not in parts:
        return NOT_YET
    facts, nodes = parts["arxiv"]["facts"], NODES[-1]
    arcs, width, steps = 2 * facts["edges"] / facts["nodes"] * nodes, facts["width"], facts["steps"]
    rate, local = _rate(parts), local_boundary(parts)
    moved = step_of_sym(Shape(nodes=nodes, arcs=arcs, width=width, steps=steps))
    sent_by_each = ["boundary rows each", "GB sent each, a step"]
    rows = [["edges", "machines of 16 cores", "memory each, GB", *sent_by_each, "network, s", "products, s"]]
    for machines in MACHINES:
        own = nodes / machines
        halos = {"anywhere": min(nodes - own, arcs / machines)}
        if local is not None:
            halos["communities"] = min(nodes - own, local * own)
        for name, halo in halos.items():
            sent = 2 * steps * halo * width * 4
            memory = 8 * arcs / machines + 4 * (own * (facts["features"] + 6 * width) + 2 * halo * width)
            seconds = [readable(sent / NETWORK), readable(moved / rate / machines / 16)]
            rows.append([name, str(machines), readable(memory / 1e9), f"{halo:.2g}", readable(sent / 1e9), *seconds])
    return markdown_table(rows)


PAGE = Page(
    path=Path("docs/scale.md"),
    results=(Path("results/bench/scale.json"),),
    command="python -m benchmarks.scale_page",
    tables={
        "targets": targets_table,
        "arxiv": arxiv_table,
        "edges": edges_table,
        "files": files_table,
        "bank-files": bank_table,
        "hundred-million": hundred_million_table,
        "killed": killed_table,
        "partitions": partitions_table,
        "paper": paper_table,
        "processes": processes_table,
        "machines": machines_table,
    },
)

if __name__ == "__main__":
    PAGE.write()
