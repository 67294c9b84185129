"""The tables of `docs/performance.md`: `python -m benchmarks.performance_page` writes them anew."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from benchmarks.harness import SIGNS, readable
from benchmarks.page import Page, Parts
from gwn.pages.markdown import markdown_table

BENCH = Path("results/bench")
WORDS = dict(zip(SIGNS, ("at least", "more than", "at most", "less than"), strict=True))


def table_of(part: str, file: str, parts: Parts) -> str:
    """The rows as measured."""
    if part not in parts:
        return _not_yet(part, file)
    measured = parts[part]["rows"]
    return markdown_table([list(measured[0]), *([readable(value) for value in row.values()] for row in measured)])


def targets_of(part: str, parts: Parts) -> str:
    """What was measured beside its bar: a line for what is judged, a column for each subject, misses in bold."""
    if part not in parts:
        return _not_yet(part, part)
    verdicts = parts[part]["verdicts"]
    subjects = list(dict.fromkeys(each["subject"] for each in verdicts))
    lines: dict[tuple[str, str], dict[str, str]] = {}
    for each in verdicts:
        value = readable(each["value"])
        line = lines.setdefault((each["what"], f"{WORDS[each['sign']]} {readable(each['bar'])}"), {})
        line[each["subject"]] = value if each["passed"] else f"**{value}**"
    rows = [[*said, *(line.get(subject, "") for subject in subjects)] for said, line in lines.items()]
    return markdown_table([["", "target", *subjects], *rows])


def _not_yet(part: str, file: str) -> str:
    return f"*Not measured yet: run `python -m benchmarks {part} --out {BENCH}/{file}.json`.*"


PAGE = Page(
    path=Path("docs/performance.md"),
    results=(BENCH / "speed.json", BENCH / "growth.json", BENCH / "epochs.json"),
    command="python -m benchmarks.performance_page",
    tables={
        **{part: partial(targets_of, part) for part in ("speed", "growth")},
        **{part: partial(table_of, part, "epochs") for part in ("epochs", "together", "wide")},
    },
)

if __name__ == "__main__":
    PAGE.write()
