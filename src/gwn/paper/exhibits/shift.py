"""Label shift: every model as everybody reports it, and corrected, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from gwn.paper.budget import heading
from gwn.paper.cell import ROWS, WAVES_FIRST, Cell
from gwn.paper.compare import PAIRED, View, outcome, paired, view
from gwn.paper.exhibit import Context, Exhibit
from gwn.paper.table import TableCell, TableData, words
from gwn.training.prior import PRIORS

COLUMNS = tuple(f"{dataset}.per-class" for dataset in ("cora", "citeseer", "actor"))
CORRECTED = PRIORS[1:]
FIRST = (
    "mlp",
    "gwn-twin",
    "gcn",
    "gpr-gnn",
    "acm-gcn",
    "acm-gcn-plus",
    "gwn-sym",
    "gwn-fa",
    "gwn-plus",
    "gwn-bank-plus",
)
"""Measured before the others."""

ByPrior = dict[str, View]


def corrected_cells(results: Path, columns: Sequence[str] = COLUMNS) -> dict[str, dict[str, ByPrior]]:
    """Row -> column -> prior -> cell, of the rows that have a corrected cell somewhere."""
    found: dict[str, dict[str, ByPrior]] = {}
    for row in ROWS:
        cells = {
            column: {prior: view(results, Cell.of(column, row, prior=prior)) for prior in PRIORS} for column in columns
        }
        if any(of_column[prior].record is not None for of_column in cells.values() for prior in CORRECTED):
            found[row] = cells
    return found


def compute(context: Context) -> tuple[TableData, ...]:
    rows, records, found = [], [], corrected_cells(context.results)
    for row in filter(found.__contains__, WAVES_FIRST):
        line = [words(ROWS[row].title)]
        for of_prior in found[row].values():
            plain = of_prior["none"]
            line += [plain.shown(), *(_corrected(plain, of_prior[prior]) for prior in CORRECTED)]
            records += [cell.flat() for cell in of_prior.values()]
        rows.append(tuple(line))
    kinds = ("as everybody reports", *(f"shift corrected, {prior}" for prior in CORRECTED))
    return (
        TableData(
            name=EXHIBIT.name,
            title="What correcting the label shift of per-class splits is worth",
            caption="Mean ± sd of the test score over the final runs, its 95 % interval, and the paired difference to "
            f"the uncorrected runs on the same splits. {PAIRED} A corrected cell has a search of its own, as large as "
            f"the uncorrected one has{_in_other_spaces(found)}, and epochs are chosen after the correction. "
            "validation: shares counted among validation labels, cross-fitted; em: estimated from the answers, "
            "no label beyond the training ones is read; calibrated: biases and a factor that validation labels make "
            "most likely, cross-fitted. A run whose estimate did not converge counts as diverged. – was not measured. "
            "Corrected figures compare with corrected ones alone.",
            columns=("model", *(f"{heading(column)}, {kind}" for column in COLUMNS for kind in kinds)),
            rows=tuple(rows),
            command=f"gwn reproduce {EXHIBIT.name}",
            records=tuple(records),
            lead=sum(ROWS[row].group == "wave" for row in found),
            best="highest",
            across="dataset",
        ),
    )


def _in_other_spaces(found: Mapping[str, Mapping[str, ByPrior]]) -> str:
    """How many corrected cells were searched in another space than the uncorrected one; nothing where none was."""
    pairs = [
        (of_prior["none"].record, of_prior[prior].record)
        for of_row in found.values()
        for of_prior in of_row.values()
        for prior in CORRECTED
    ]
    keys = [(one["search"]["space_key"], other["search"]["space_key"]) for one, other in pairs if one and other]
    others = sum(one != other for one, other in keys)
    return f" (in another space for {others} of {len(keys)} cells)" if others else ""


def _corrected(plain: View, corrected: View) -> TableCell:
    shown, difference = corrected.shown(), paired(corrected, plain)
    if difference is None or difference.low is None or difference.high is None:
        return shown
    beside = f"{difference.mean:+.2f} ({difference.low:+.1f} to {difference.high:+.1f}), {outcome(difference)}"
    return replace(shown, lines=(*shown.lines, beside))


def _cells(rows: Sequence[str]) -> tuple[Cell, ...]:
    return tuple(Cell.of(column, row, prior=prior) for prior in CORRECTED for column in COLUMNS for row in rows)


EXHIBIT = Exhibit(
    name="table-shift",
    title="every model with and without a correction of label shift",
    place="not in the paper",
    compute=compute,
    cells=_cells(FIRST),
    beyond=_cells([row for row in ROWS if row not in ("majority", *FIRST)]),
)
