"""The tables about tables in `docs/performance.md`: `python -m benchmarks.tables_page` writes them from the results."""

from __future__ import annotations

import math
from pathlib import Path

from benchmarks.harness import readable
from benchmarks.page import Page, Parts
from benchmarks.tables import BASELINES
from gwn.pages.markdown import markdown_table

NOT_YET = "*Not measured yet: run `make bench-tables`.*"


def own_tables_table(parts: Parts) -> str:
    """Accuracy on the blanked labels, in per cent, beside what `gwn compare` reported before."""
    if "own-tables" not in parts:
        return NOT_YET
    part = parts["own-tables"]
    heading = ["tables", f"gwn compare, {part['facts']['time']}", "its model", "reported", "interval"]
    rows = [[*heading, *BASELINES, "by chance"]]
    for row in part["rows"]:
        interval = f"{100 * row['low']:.1f} to {100 * row['high']:.1f}"
        ours = [f"{100 * row['compare']:.1f}", row["winner"], f"{100 * row['reported']:.1f}", interval]
        others = [row[name] for name in BASELINES]
        chance = 196 * math.sqrt(2 * max(others) * (1 - max(others)) / row["blanked"])  # of two independent shares
        rows.append([row["tables"], *ours, *(f"{100 * other:.1f}" for other in others), f"± {chance:.1f}"])
    return markdown_table(rows)


def targets_table(parts: Parts) -> str:
    """What was to be reached, with pass or miss."""
    rows = [["tables", "target", "measured", "bar", ""]]
    for name in ("own-tables", "large-table"):
        for v in parts.get(name, {}).get("verdicts", ()):
            word = "pass" if v["passed"] else "MISS"
            rows.append([v["subject"], v["what"], readable(v["value"]), f"{v['sign']} {v['bar']:g}", word])
    return markdown_table(rows) if len(rows) > 1 else NOT_YET


PAGE = Page(
    path=Path("docs/performance.md"),
    results=(Path("results/bench/tables.json"),),
    command="python -m benchmarks.tables_page",
    tables={"own tables": own_tables_table, "targets of tables": targets_table},
)

if __name__ == "__main__":
    PAGE.write()
