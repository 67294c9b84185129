"""The tables of `docs/scale.md`: `python -m benchmarks.scale_page` writes them anew from the measured results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gwn.io import read_json, write_atomic
from gwn.paper.documents import fill, markdown_table

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
    """Bytes of the graph folder, of the values of S, and of the propagated features."""
    graph = 8 * nodes + FLOAT * arcs + FLOAT * nodes * features + 6 * nodes
    return graph + FLOAT * arcs + 2 * FLOAT * nodes * (features + 1)


def columns_in(memory: float, nodes: float, buffers: int = 4) -> int:
    """How many columns can be propagated together in so much memory."""
    return int(memory // (FLOAT * nodes * buffers))


PAGE = Path("docs/scale.md")
RESULTS = Path("results/bench/scale.json")
COMMAND = "python -m benchmarks.scale_page"
NOT_YET = "*Not measured yet: run `make bench-scale`.*"
NODES = (10**7, 10**8, 10**9)
MEMORY = 256 * 10**9
MACHINES = (16, 64, 256)
NETWORK = 12.5e9
"""Bytes a second: 100 Gbit/s."""
Parts = Mapping[str, Mapping[str, Any]]


def targets_table(parts: Parts) -> str:
    """Every bar, with pass or miss."""
    rows = [["model", "target", "measured", "bar", ""]]
    for part in parts.values():
        rows += [
            [
                v["subject"],
                v["what"],
                _number(v["value"]),
                f"{v['sign']} {v['bar']:g}",
                "pass" if v["passed"] else "MISS",
            ]
            for v in part["verdicts"]
        ]
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
        paper = ["", ""] if moved is None else [_number(moved / 1e9), _number(moved / 1e6 / row["best_ms"])]
        rows.append([row["model"], _number(row["best_ms"]), _number(row["peak_mib"]), *paper])
    return markdown_table(rows)


def edges_table(parts: Parts) -> str:
    """Time against edges and width beside the bytes on paper; a constant rate would be a perfect model."""
    if "edges" not in parts:
        return NOT_YET
    rows = [["axis", "model", "value", "ms a step", "GB moved, on paper", "GB a second"]]
    for row in parts["edges"]["rows"]:
        shape = Shape(
            nodes=row["nodes"], arcs=2 * row["edges"], width=row["width"], steps=parts["edges"]["facts"]["steps"]
        )
        moved = (step_of_sym if row["model"] == "gwn-sym" else step_of_fa)(shape)
        cells = [_number(row["step_ms"]), _number(moved / 1e9), _number(moved / 1e6 / row["step_ms"])]
        rows.append([row["axis"], row["model"], f"{row['value']:,}", *cells])
    return markdown_table(rows)


def files_table(parts: Parts) -> str:
    """Propagation and training from files."""
    rows = [["graph", "what", "measured"]]
    if "precomputed" in parts:
        part = parts["precomputed"]
        name = f"{part['facts']['nodes']:,} nodes, {part['facts']['edges']:,} edges"
        rows.append([name, "propagation, seconds", _number(part["facts"]["propagation_seconds"])])
        rows += [[name, f"an epoch, {row['training']}, ms", _number(row["epoch_ms"])] for row in part["rows"]]
    if "ten-million" in parts:
        part, row = parts["ten-million"], parts["ten-million"]["rows"][0]
        name = f"{part['facts']['nodes']:,} nodes, {part['facts']['edges']:,} edges"
        what = f"with `--memory {row['memory_option']}`"
        rows.append([name, f"whole process at its peak {what}, GB", _number(row["peak_gb"])])
        rows.append([name, f"propagation and {row['epochs']} epochs {what}, seconds", _number(row["seconds"])])
    return markdown_table(rows) if len(rows) > 1 else NOT_YET


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
    largest = max((row for row in parts["edges"]["rows"] if row["model"] == "gwn-sym"), key=lambda row: row["nodes"])
    shape = Shape(nodes=largest["nodes"], arcs=2 * largest["edges"], width=largest["width"], steps=steps)
    rate = step_of_sym(shape) / (largest["step_ms"] / 1e3)
    rows = [
        [
            "nodes",
            "arcs",
            "disk, GB",
            f"columns at once in {MEMORY / 1e9:.0f} GB",
            "TB moved",
            "core hours",
            "an epoch, GB read",
        ]
    ]
    for nodes in NODES:
        arcs = arcs_a_node * nodes
        width = min(features + 1, columns_in(MEMORY, nodes))
        moved = propagation(Shape(nodes=nodes, arcs=arcs, width=width, steps=steps), features)
        epoch = 8 * nodes * (features + 1)
        cells = [f"{nodes:,}", f"{arcs:.2g}", _number(on_disk(nodes, arcs, features) / 1e9), str(width)]
        rows.append([*cells, _number(moved / 1e12), _number(moved / rate / 3600), _number(epoch / 1e9)])
    return markdown_table(rows)


def processes_table(parts: Parts) -> str:
    """One process and several on the arxiv shape, and what the several have to send."""
    if "processes" not in parts:
        return NOT_YET
    facts = parts["processes"]["facts"]
    several = f"{facts['processes']} processes, ms"
    rows = [
        [
            "model",
            "partition",
            "one process, ms",
            several,
            "times as fast",
            "boundary rows, % of nodes",
            "MB sent a product",
        ]
    ]
    for row in parts["processes"]["rows"]:
        speed = _number(row["one_ms"] / row["team_ms"])
        boundary = _number(100 * row["halo_rows"] / facts["nodes"])
        times = [_number(row["one_ms"]), _number(row["team_ms"]), speed]
        rows.append([row["model"], row["partition"], *times, boundary, _number(row["mb_an_exchange"])])
    return markdown_table(rows)


def machines_table(parts: Parts) -> str:
    """A full-batch step on a billion nodes: the arxiv shape carried on, without any locality."""
    if "arxiv" not in parts or "edges" not in parts:
        return NOT_YET
    facts, nodes = parts["arxiv"]["facts"], NODES[-1]
    arcs, width, steps = 2 * facts["edges"] / facts["nodes"] * nodes, facts["width"], facts["steps"]
    largest = max((row for row in parts["edges"]["rows"] if row["model"] == "gwn-sym"), key=lambda row: row["nodes"])
    measured = Shape(nodes=largest["nodes"], arcs=2 * largest["edges"], width=largest["width"], steps=steps)
    rate = step_of_sym(measured) / (largest["step_ms"] / 1e3)
    moved = step_of_sym(Shape(nodes=nodes, arcs=arcs, width=width, steps=steps))
    rows = [
        [
            "machines of 16 cores",
            "memory each, GB",
            "boundary rows each",
            "GB sent each, a step",
            "network, s",
            "products, s",
        ]
    ]
    for machines in MACHINES:
        own = nodes / machines
        halo = min(nodes - own, arcs / machines)
        sent = 2 * steps * halo * width * 4
        memory = 8 * arcs / machines + 4 * (own * (facts["features"] + 6 * width) + 2 * halo * width)
        seconds = [_number(sent / NETWORK), _number(moved / rate / machines / 16)]
        rows.append([str(machines), _number(memory / 1e9), f"{halo:.2g}", _number(sent / 1e9), *seconds])
    return markdown_table(rows)


TABLES: dict[str, Callable[[Parts], str]] = {
    "targets": targets_table,
    "arxiv": arxiv_table,
    "edges": edges_table,
    "files": files_table,
    "partitions": partitions_table,
    "paper": paper_table,
    "processes": processes_table,
    "machines": machines_table,
}


def fill_page(page: str, parts: Parts) -> str:
    """The page with every table as these results have it."""
    for name, table in TABLES.items():
        page = fill(page, COMMAND, name, table(parts))
    return page


def main() -> None:
    parts = read_json(RESULTS)["parts"] if RESULTS.is_file() else {}
    write_atomic(PAGE, fill_page(PAGE.read_text(encoding="utf-8"), parts).encode())


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


if __name__ == "__main__":
    main()
