"""Parts of Markdown pages that a command makes: between their marks, as tables."""

from __future__ import annotations

import re

from gwn.errors import GWNError


def fill(page: str, command: str, name: str, content: str) -> str:
    """The page with `content` between the marks of the part `name`, which `command` makes."""
    start = f"<!-- generated: {command} ({name}) -->"
    pattern = re.compile(re.escape(start) + r"\n.*?<!-- end -->", re.DOTALL)
    if len(pattern.findall(page)) != 1:
        raise GWNError(f"the page has no place for the table {name!r}: it needs the lines {start} and <!-- end -->")
    return pattern.sub(lambda _: f"{start}\n{content.strip()}\n<!-- end -->", page)


def markdown_table(rows: list[list[str]]) -> str:
    """The first row is the heading."""
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])
