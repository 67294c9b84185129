"""The appendix tables: every tau of GWN-sym and GWN-fa, with run times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gwn.paper.budget import heading
from gwn.paper.cell import BUDGETS, ROWS, TAUS, TRIALS_OF_A_TAU, Cell
from gwn.paper.compare import View, view
from gwn.paper.exhibit import Context, Exhibit
from gwn.paper.exhibits.accuracy import HOMOPHILIC_DATASETS, PROTOCOL, WEBKB, caveats
from gwn.paper.printed import out_of_memory, paper_value, place
from gwn.paper.table import TableData, words

PEERS = ("mlp", "sgc", "appnp", "gpr-gnn", "gcn", "fagcn")
COLUMNS = {
    "homophilic": tuple(f"{name}.per-class" for name in HOMOPHILIC_DATASETS),
    "heterophilic": tuple(f"{name}.{split}" for name in WEBKB for split in ("geom", "per-class")),
}
_WAVES = [(row, tau) for row in ("gwn-sym", "gwn-fa") for tau in TAUS]
_LINES = [*_WAVES, *((row, None) for row in PEERS)]


def _older(cells: Sequence[View]) -> str:
    """How many cells of a tau have another search, from before each had the same."""
    trials = [
        seen.record["recipe"]["trials"] for seen in cells if seen.cell.tau is not None and seen.record is not None
    ]
    others = sum(number != TRIALS_OF_A_TAU for number in trials)
    return f" (UNEQUAL: {others} of {len(trials)} cells chose among the trials of a larger search)" if others else ""


def _exhibit(kind: str) -> Exhibit:
    name = f"table-tau-{kind}"

    def compute(context: Context) -> tuple[TableData, ...]:
        rows, cells = [], list[View]()
        for row, tau in _LINES:
            title = ROWS[row].title if tau is None else f"{ROWS[row].title}, tau {tau:g}"
            line = [words(title)]
            for column in COLUMNS[kind]:
                cell = Cell.of(column, row, tau)
                seen = view(context.results, cell, paper_value(f"tau-{kind}", cell.line, column))
                cells.append(seen)
                shown = seen.shown(seconds=True)
                if out_of_memory(f"tau-{kind}", cell.line, column):
                    shown = replace(shown, lines=(*shown.lines, "paper: out of memory"))
                line.append(shown)
            rows.append(tuple(line))
        return (
            TableData(
                name=name,
                title=f"Every tau on {kind} datasets, with the seconds of one run (the paper's appendix)",
                caption=f"{PROTOCOL} For each tau the best settings on validation among {TRIALS_OF_A_TAU} trials of "
                f"its own{_older(cells)}; the other rows have the searches of their columns. "
                "Seconds are medians of one thread's work on a machine that did other work as well; the paper's "
                "are a V100's.",
                columns=("model", *map(heading, COLUMNS[kind])),
                rows=tuple(rows),
                command=f"gwn reproduce {name}",
                records=tuple(seen.flat() for seen in cells),
                lead=len(_WAVES),
                best="highest",
                across="dataset",
                notes=caveats(COLUMNS[kind]),
            ),
        )

    cells = [Cell.of(column, row, tau) for column in COLUMNS[kind] for row, tau in _LINES]
    beyond = [cell for cell in cells if BUDGETS[cell.dataset].short and (cell.tau or not ROWS[cell.row].full)]
    return Exhibit(
        name=name,
        title=f"every tau on {kind} datasets, with run times",
        place=place(f"tau-{kind}"),
        compute=compute,
        cells=tuple(cell for cell in cells if cell not in beyond),
        beyond=tuple(beyond),
    )


HOMOPHILIC, HETEROPHILIC = _exhibit("homophilic"), _exhibit("heterophilic")
