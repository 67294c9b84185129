"""The table of the last whole campaign in `docs/reliability.md`: `python -m tests.attack.page` writes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gwn.io import write_atomic
from gwn.pages.markdown import fill, markdown_table

from .__main__ import together

COMMAND = "python -m tests.attack.page"
PAGE, RECORD = Path("docs/reliability.md"), Path("results/attack.json")


def table(record: dict[str, Any]) -> str:
    """What was tried, part by part."""
    rows = [["part", "attempts", "violations", "minutes", "whole"]]
    for name, part in together(record["parts"]).items():
        attempts = f"{part['attempts']:,}" + (f" ({part['kills']:,} kills)" if "kills" in part else "")
        whole = "yes" if part["done"] else "no"
        rows.append([name, attempts, str(len(part["violations"])), f"{part['seconds'] / 60:.0f}", whole])
    return markdown_table(rows)


def filled(page: str, record: dict[str, Any]) -> str:
    return fill(page, COMMAND, "attack", table(record))


if __name__ == "__main__":
    found = json.loads(RECORD.read_text(encoding="utf-8"))
    write_atomic(PAGE, filled(PAGE.read_text(encoding="utf-8"), found).encode())
