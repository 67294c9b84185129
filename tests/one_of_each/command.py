"""A command of one's own."""

from __future__ import annotations

import typer


def thirds(number: float = typer.Argument(..., help="What is divided.")) -> None:
    """Print a third of a number.

    Example:  gwn thirds 12
    """
    typer.echo(f"{number / 3:g}")
