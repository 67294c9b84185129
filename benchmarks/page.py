"""A page of the documentation whose tables are written anew from measured results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.harness import read_report
from gwn.io import write_atomic
from gwn.pages.markdown import fill

Parts = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Page:
    """Where it is, the reports it shows, the command that writes it, and a function from their parts to each table."""

    path: Path
    results: tuple[Path, ...]
    command: str
    tables: Mapping[str, Callable[[Parts], str]]

    def filled(self, text: str, parts: Parts) -> str:
        """The text of the page with every table as these results have it."""
        for name, table in self.tables.items():
            text = fill(text, self.command, name, table(parts))
        return text

    def measured(self, root: Path = Path()) -> Parts:
        """The parts of all its reports that are there."""
        reports = [read_report(root / path) for path in self.results if (root / path).is_file()]
        return {name: part for report in reports for name, part in report["parts"].items()}

    def write(self) -> None:
        text = self.filled(self.path.read_text(encoding="utf-8"), self.measured())
        write_atomic(self.path, text.encode())
