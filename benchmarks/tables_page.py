"""The tables about tables in `docs/performance.md`: `python -m benchmarks.tables_page` writes them from the results."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.harness import read_report, readable
from benchmarks.tables import BASELINES
from gwn.io import write_atomic
from gwn.paper.documents import fill, markdown_table

PAGE = Path("docs/performance.md")
RESULTS = Path("results/bench/tables.json")
COMMAND = "python -m benchmarks.tables_page"
NOT_YET = "*Not measured yet: run `make bench-tables`.*"


def own_tables_table(parts: Mapping[str, Any]) -> str:
    """Accuracy on the blanked labels, in per cent, beside what `gwn compare` reported before."""
    if "own-tables" not in parts:
        return NOT_YET
    part = parts["own-tables"]
    heading = ["tables", f"gwn compare, {part['facts']['time']}", "its model", "reported", "interval"]
    rows = [[*heading, *BASELINES]]
    for row in part["rows"]:
        interval = f"{100 * row['low']:.1f} to {100 * row['high']:.1f}"
        ours = [f"{100 * row['compare']:.1f}", row["winner"], f"{100 * row['reported']:.1f}", interval]
        rows.append([row["tables"], *ours, *(f"{100 * row[name]:.1f}" for name in BASELINES)])
    return markdown_table(rows)


def targets_table(parts: Mapping[str, Any]) -> str:
    """What was to be reached, with pass or miss."""
    rows = [["tables", "target", "measured", "bar", ""]]
    for name in ("own-tables", "large-table"):
        for v in parts.get(name, {}).get("verdicts", ()):
            word = "pass" if v["passed"] else "MISS"
            rows.append([v["subject"], v["what"], readable(v["value"]), f"{v['sign']} {v['bar']:g}", word])
    return markdown_table(rows) if len(rows) > 1 else NOT_YET


def fill_page(page: str, parts: Mapping[str, Any]) -> str:
    """The page with both tables as these results have them."""
    for name, content in (("own tables", own_tables_table(parts)), ("targets of tables", targets_table(parts))):
        page = fill(page, COMMAND, name, content)
    return page


def main() -> None:
    parts = read_report(RESULTS)["parts"] if RESULTS.is_file() else {}
    write_atomic(PAGE, fill_page(PAGE.read_text(encoding="utf-8"), parts).encode())


if __name__ == "__main__":
    main()
