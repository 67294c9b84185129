"""`gwn models`: what can be trained, and with which settings."""

from __future__ import annotations

import inspect
import json
import re
import textwrap
from dataclasses import fields
from typing import TYPE_CHECKING

import typer

from gwn.cli.terminal import print_prose, print_table, screen_width

if TYPE_CHECKING:
    from gwn.models import ModelSpec


def models(
    name: str | None = typer.Argument(None, help="A model, to see its settings."),
    as_json: bool = typer.Option(False, "--json", help="Print as JSON."),
) -> None:
    """List the models, or the settings of one.

    Examples:

      gwn models

      gwn models gwn-fa

      gwn models gcn --json
    """
    from gwn.models import MODELS, model_spec

    if name is not None:
        _settings(model_spec(name), as_json)
        return
    if as_json:
        columns = ("name", "title", "paper", "year", "kind", "origin")
        typer.echo(json.dumps([{key: getattr(spec, key) for key in columns} for spec in MODELS.values()], indent=2))
        return
    rows = [[spec.name, spec.kind, spec.paper] for spec in MODELS.values()]
    print_table(["name", "kind", "what it is"], rows, left=3)
    print_prose("Settings of one, and whose layers it has: gwn models NAME")


def _settings(spec: ModelSpec, as_json: bool) -> None:
    from gwn.training import TrainConfig

    of_model = {**{name: p.default for name, p in spec.settings().items()}, **spec.defaults()}
    of_training = {**{field.name: field.default for field in fields(TrainConfig)}, **spec.training}
    if not hasattr(spec.network_class, "parameter_group"):
        of_training = {name: value for name, value in of_training.items() if not name.startswith("group_")}
    if as_json:
        typer.echo(json.dumps({"model": of_model, "training": of_training}, indent=2))
        return
    about = _paragraphs(inspect.getdoc(spec.network_class) or "", screen_width())
    print_prose(f"{spec.title} ({spec.paper})\nLayers: {spec.origin}\n\n{about}\n")
    parts = (("model", of_model), ("training", of_training))
    rows = [[key, str(value), part] for part, values in parts for key, value in values.items()]
    print_table(["name", "default", "of"], rows, title="--set NAME=VALUE", left=3)


TERM = 20
"""Letters of a term, up to which what it means stands beside it."""


def _paragraphs(text: str, width: int) -> str:
    """A docstring whose sentences are one line a paragraph, for the terminal to wrap; of a list of terms, what they
    mean stands in a column of its own."""
    parts = text.split("\n\n")
    return "\n\n".join(
        _terms(part, width) if re.search(r"\S {2,}\S|\n ", part) else " ".join(part.split()) for part in parts
    )


def _terms(part: str, width: int) -> str:
    entries: list[tuple[str, str]] = []
    for line in part.split("\n"):
        term, _, meaning = (" ".join(words.split()) for words in (f"{line}  ").partition("  "))
        if term or not entries:
            entries.append((term, meaning))
        else:
            entries[-1] = (entries[-1][0], f"{entries[-1][1]} {meaning}")
    column = max((len(term) for term, _ in entries if len(term) <= TERM), default=0) + 2
    return "\n".join(_beside(term, meaning, column, width) for term, meaning in entries)


def _beside(term: str, meaning: str, column: int, width: int) -> str:
    indent = " " * column
    lines = textwrap.wrap(
        meaning, max(width, column + TERM), initial_indent=indent, subsequent_indent=indent, break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip
    if len(term) + 2 > column or not lines:
        return "\n".join((term, *lines))
    return "\n".join((term.ljust(column) + lines[0].strip(), *lines[1:]))
