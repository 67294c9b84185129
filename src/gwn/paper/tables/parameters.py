"""The paper's counts of parameters, against the networks themselves, and its complexities, against measured slopes."""

from __future__ import annotations

import math
from pathlib import Path

from gwn.io import read_json
from gwn.models import model_spec
from gwn.paper.exhibit import Exhibit
from gwn.paper.table import TableData, words

NAME = "table-parameters"
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


def tables(results: Path) -> tuple[TableData, ...]:
    """Counts first, then the growth of time and memory where it was measured."""
    return (_counts(), *_growth(results))


def _counts() -> TableData:
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
        name=NAME,
        title="Learnable parameters: the paper's formulas and the networks",
        caption=f"Width d = {WIDTH}, T = {TIME:g}, tau = {TAU:g}. The formulas leave out biases. GWN-fa has one "
        "epsilon for each step but the first, which the formula counts for every step. GRAND's attention has its own "
        "shapes.",
        columns=("model", "formula", "counted", "of these biases", "what remains"),
        rows=tuple(rows),
        command=f"gwn reproduce {NAME}",
        records=tuple(records),
    )


def _growth(results: Path) -> tuple[TableData, ...]:
    file = results / "bench" / "growth.json"
    if not file.exists():
        return ()
    growth = read_json(file).get("growth") or {"series": []}
    rows = tuple(
        (
            words(f"{series['model']}: {series['axis']}"),
            words(f"{series['time_slope']:.2f}", series["time_slope"]),
            words(f"{series['memory_slope']:.2f}", series["memory_slope"]),
        )
        for series in growth["series"]
    )
    return (
        TableData(
            name=f"{NAME}-growth",
            title="Complexity: exponents of time and memory, measured",
            caption="O(M d) a layer means an exponent of at most 1 in edges, width and steps.",
            columns=("training step, over", "exponent of time", "exponent of memory"),
            rows=rows,
            command="python -m benchmarks growth --large",
        ),
    )


EXHIBIT = Exhibit(
    name=NAME,
    title="parameter counts and complexity, measured",
    place="Section 4, complexity analysis",
    cells=(),
    tables=tables,
)
