"""A command that was run, for the tests of the command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Finished(NamedTuple):
    """How it ended, and what it said."""

    returncode: int
    stdout: str
    stderr: str


Command = Callable[..., Finished]
