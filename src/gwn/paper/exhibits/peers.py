"""Every peer beside its own paper, where that paper has the same kind of split; and what each costs."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gwn.io import read_toml
from gwn.pages.table import NOT_MEASURED
from gwn.paper.budget import heading
from gwn.paper.cell import ROWS, WAVES_FIRST, Cell
from gwn.paper.compare import View, view
from gwn.paper.exhibit import Context, Exhibit
from gwn.paper.exhibits.accuracy import PROTOCOL
from gwn.paper.printed import PaperValue
from gwn.paper.table import TableCell, TableData, words

NAME = "table-peers"
FILE = Path(__file__).parents[1] / "published.toml"
SPLITS = {"60/20/20": "per-class", "48/32/20": "geom", "published": "published"}
GEOM = ("texas", "cornell", "wisconsin")
"""The datasets whose "48/32/20" is measured here."""
COST_COLUMNS = ("cora.per-class", "citeseer.per-class", "actor.per-class", "texas.geom", "wisconsin.geom")


def published() -> list[tuple[Cell, PaperValue, str]]:
    """The figures of the peers' own papers that stand on splits like ours, and where they were read."""
    found = []
    for row, by_split in read_toml(FILE).items():
        for split, table in by_split.items():
            for dataset, figure in table.items():
                if dataset != "source" and split in SPLITS and (dataset in GEOM or split != "48/32/20"):
                    cell = Cell(dataset=dataset, split=SPLITS[split], row=row)
                    value = dict(zip(("mean", "sd"), figure, strict=False))
                    found.append((cell, PaperValue(**value), str(table["source"])))
    return found


def compute(context: Context) -> tuple[TableData, ...]:
    """Own papers first, then cost."""
    return (_own_papers(context.results), _costs(context.results))


def _own_papers(results: Path) -> TableData:
    rows, records = [], []
    for cell, value, source in published():
        seen = view(results, cell, value)
        test = seen.test
        ours = NOT_MEASURED if test is None else words(f"{test['mean']:.2f} ± {test['sd']:.2f}", test["mean"])
        printed = f"{value.mean:.2f}" + ("" if value.sd is None else f" ± {value.sd:.2f}")
        difference = (
            NOT_MEASURED
            if seen.difference is None
            else words(f"{seen.difference:+.2f}, {seen.verdict}", seen.difference)
        )
        line = (words(ROWS[cell.row].title), words(heading(cell.column)), ours, words(printed, value.mean))
        rows.append((*line, difference, words(source)))
        records.append({**seen.flat(), "source": source})
    return TableData(
        name=NAME,
        title="Every peer beside its own paper, on the same kind of split",
        caption=f"{PROTOCOL} Only figures whose paper has our splits; settings come from a small search, not from the "
        "paper's own.",
        columns=("model", "dataset", "ours", "its own paper", "difference", "source"),
        rows=tuple(rows),
        command=f"gwn reproduce {NAME}",
        records=tuple(records),
    )


def _costs(results: Path) -> TableData:
    rows, measured = [], []
    records: list[dict[str, object]] = []
    for row in WAVES_FIRST:
        line = [words(ROWS[row].title)]
        for column in COST_COLUMNS:
            line.append(_cost(view(results, Cell.of(column, row)), records))
        if any(cell.value is not None for cell in line[1:]):
            rows.append(tuple(line))
            measured.append(row)
    return TableData(
        name=f"{NAME}-cost",
        title="What a training run costs: seconds, parameters and memory",
        caption="Seconds: medians over the final runs, one thread, on a machine that did other work as well: to "
        "compare with each other, not with other machines. Memory: the peak of the whole process, PyTorch included.",
        columns=("model", *map(heading, COST_COLUMNS)),
        rows=tuple(rows),
        command=f"gwn reproduce {NAME}",
        records=tuple(records),
        lead=sum(ROWS[row].group == "wave" for row in measured),
        best="lowest",
        across="dataset",
    )


def _cost(seen: View, records: list[dict[str, object]]) -> TableCell:
    if seen.record is None or seen.seconds is None:
        return NOT_MEASURED
    finished = [run for run in seen.record["runs"] if run["status"] == "ok"]
    memory = float(np.max([run["peak_memory_mib"] or 0.0 for run in finished]))
    parameters = int(finished[0]["parameters"])
    records.append(
        {"row": seen.cell.row, "column": seen.cell.column, "seconds": seen.seconds, "epochs": finished[0]["epochs"]}
        | {"parameters": parameters, "mebibytes": memory}
    )
    return TableCell(lines=(f"{seen.seconds:.2f} s", f"{parameters:,}", f"{memory:.0f} MiB"), value=seen.seconds)


EXHIBIT = Exhibit(
    name=NAME,
    title="every peer beside its own paper, and its cost",
    place="beyond the paper",
    beyond=tuple(cell for cell, _, _ in published()),
    compute=compute,
)
