"""The paper's tables of counts, against what the files and the networks hold: datasets, parameters, complexity."""

from __future__ import annotations

import math
from pathlib import Path

from gwn.data import DATASETS
from gwn.errors import GWNError
from gwn.io import read_json
from gwn.models import model_spec
from gwn.pages.table import NOT_MEASURED
from gwn.paper.exhibit import Context, Exhibit
from gwn.paper.exhibits.accuracy import HOMOPHILIC_DATASETS
from gwn.paper.printed import dataset_counts, place
from gwn.paper.table import TableCell, TableData, words

SHOWN = (*HOMOPHILIC_DATASETS, "actor", "texas", "cornell", "wisconsin", "deezer-europe", "ogbn-arxiv")
COUNTS = ("nodes", "edges", "features", "classes")


def datasets(context: Context) -> tuple[TableData, ...]:
    """Counted in the files: edges of the simple undirected graph, and the share of them within a class."""
    rows, records = [], []
    for name in SHOWN:
        printed = dict(zip(COUNTS, dataset_counts(name), strict=True))
        try:
            graph = context.load(name).graph
        except GWNError:
            rows.append((words(DATASETS[name].title), *(_beside(None, printed[what]) for what in COUNTS), NOT_MEASURED))
            continue
        labelled = graph.labels
        source, target = graph.edge_index
        known = (labelled[source] >= 0) & (labelled[target] >= 0)
        same = float((labelled[source] == labelled[target])[known].float().mean())
        found = {
            "nodes": graph.num_nodes,
            "edges": graph.num_edges // 2,
            "features": graph.num_features,
            "classes": graph.num_classes,
        }
        cells = (_beside(found[what], printed[what]) for what in COUNTS)
        rows.append((words(DATASETS[name].title), *cells, words(f"{same:.3f}", same)))
        records.append({"dataset": name, **found, **{f"paper_{k}": v for k, v in printed.items()}, "homophily": same})
    return (
        TableData(
            name=DATASETS_COUNTED.name,
            title="The datasets, counted in the files",
            caption="Edges of the simple undirected graph: both directions once, no loops, no duplicates. Where the "
            "paper prints another number it stands below ours. Homophily: the share of edges within a class. – was not "
            "on the disk.",
            columns=("dataset", *COUNTS, "homophily"),
            rows=tuple(rows),
            command=f"gwn reproduce {DATASETS_COUNTED.name}",
            records=tuple(records),
            notes={spec.title: f"{spec.title}: {spec.caveat}" for name in SHOWN if (spec := DATASETS[name]).caveat},
        ),
    )


def _beside(ours: int | None, printed: int) -> TableCell:
    if ours is None:
        return TableCell(lines=(*NOT_MEASURED.lines, f"paper {printed:,}"), missing=True)
    return TableCell(
        lines=(f"{ours:,}",) if ours == printed else (f"{ours:,}", f"paper {printed:,}"), value=float(ours)
    )


DATASETS_COUNTED = Exhibit(
    name="table-datasets", title="the datasets, counted", place=place("datasets"), compute=datasets
)

SHAPES = (("cora", 1433, 7), ("pubmed", 500, 3), ("texas", 1703, 5))
WIDTH, TIME, TAU = 64, 4.0, 0.5


def paper_count(model: str, features: int, width: int, classes: int, steps: int) -> int:
    """`2fd + dc` for GWN-sym and `2fd + (2d + 1) T / tau + dc` for GWN-fa; `fd + 2d^2 + dc` for GRAND."""
    f, d, c = features, width, classes
    return {
        "gwn-sym": 2 * f * d + d * c,
        "gwn-fa": 2 * f * d + (2 * d + 1) * steps + d * c,
        "grand": f * d + 2 * d * d + d * c,
    }[model]


def parameters(context: Context) -> tuple[TableData, ...]:
    """The networks first, then the growth of time and memory where it was measured."""
    return (_formulas(), *_complexity(context.results))


def _formulas() -> TableData:
    rows, records = [], []
    steps = math.ceil(TIME / TAU)
    for name, features, classes in SHAPES:
        for model in ("gwn-sym", "gwn-fa", "grand"):
            spec = model_spec(model)
            wave = {"time": TIME, "tau": TAU} if spec.kind == "wave" else {}
            network = spec.build(features, classes, hidden_channels=WIDTH, **wave)
            counted = sum(parameter.numel() for parameter in network.parameters())
            biases = sum(parameter.numel() for path, parameter in network.named_parameters() if path.endswith("bias"))
            formula = paper_count(model, features, WIDTH, classes, steps)
            rest = counted - biases - formula
            line = (
                words(f"{spec.title}, shape of {name}"),
                words(f"{formula:,}", formula),
                words(f"{counted:,}", counted),
            )
            rows.append((*line, words(f"{biases:,}", biases), words(f"{rest:+,}" if rest else "0", rest)))
            records.append({"model": model, "shape": name, "formula": formula, "counted": counted, "biases": biases})
    return TableData(
        name=PARAMETERS.name,
        title="Learnable parameters: the paper's formulas and the networks",
        caption=f"Width d = {WIDTH}, T = {TIME:g}, tau = {TAU:g}. The formulas leave out biases. GWN-fa has one "
        "epsilon for each step but the first, which the formula counts for every step. GRAND's attention has its own "
        "shapes.",
        columns=("model", "formula", "counted", "of these biases", "what remains"),
        rows=tuple(rows),
        command=f"gwn reproduce {PARAMETERS.name}",
        records=tuple(records),
    )


def _complexity(results: Path) -> tuple[TableData, ...]:
    file = results / "bench" / "growth.json"
    if not file.exists():
        return ()
    curves = read_json(file).get("parts", {}).get("growth", {}).get("rows", ())
    rows = tuple(
        (
            words(f"{curve['model']}: {curve['axis']}"),
            words(f"{curve['time_slope']:.2f}", curve["time_slope"]),
            words(f"{curve['memory_slope']:.2f}", curve["memory_slope"]),
        )
        for curve in curves
    )
    return (
        TableData(
            name=f"{PARAMETERS.name}-growth",
            title="Complexity: exponents of time and memory, measured",
            caption="O(M d) a layer means an exponent of at most 1 in edges, width and steps.",
            columns=("training step, over", "exponent of time", "exponent of memory"),
            rows=rows,
            command="python -m benchmarks growth --large",
        ),
    )


PARAMETERS = Exhibit(
    name="table-parameters",
    title="parameter counts and complexity, measured",
    place="Section 4, complexity analysis",
    compute=parameters,
)
