"""Griffe extension: the columns in which our docstrings explain arguments become Markdown lists.

tau     the step length
time    T, where the wave is read;
        the number of steps is ceil(T / tau)
"""

from __future__ import annotations

import re
from typing import Any

import griffe

ENTRY = re.compile(r"^([a-z_]\w*(?:, \w+)*) {2,}(\S.*)$")


class DocstringLists(griffe.Extension):
    """Rewrites every docstring once it is read."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(text: str) -> str:
    """Lines of a name, two blanks or more and an explanation as a list; what is indented below belongs to the entry."""
    lines: list[str] = []
    in_list = False
    for line in text.splitlines():
        entry = ENTRY.match(line)
        if entry:
            names = ", ".join(f"`{name}`" for name in entry[1].split(", "))
            if not in_list and lines and lines[-1]:
                lines.append("")
            lines.append(f"- {names}: {entry[2]}")
            in_list = True
        elif in_list and line.startswith("  "):
            lines.append(f"  {line.strip()}")
        else:
            in_list = False
            lines.append(line)
    return "\n".join(lines)
