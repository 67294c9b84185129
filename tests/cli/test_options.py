"""The options of a graph source stand in the signature of every command that takes one."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import fields
from inspect import signature
from pathlib import Path

import pytest

from gwn.cli import explore, train
from gwn.cli.options import GraphSource, takes_source


@pytest.mark.parametrize("command", [train.train, explore.explore])
def test_a_command_has_an_option_for_every_field(command: object) -> None:
    assert {field.name for field in fields(GraphSource)} <= signature(command).parameters.keys()  # type: ignore[arg-type]


def test_the_command_gets_one_object_and_its_own_options() -> None:
    heard = []

    @takes_source
    def command(source: GraphSource, runs: int = 3) -> None:
        heard.append((source, runs))

    given = {field.name: None for field in fields(GraphSource)}
    command(**{**given, "edges": Path("e.csv")}, runs=4)
    ((source, runs),) = heard
    assert (source.edges, source.nodes, runs) == (Path("e.csv"), None, 4)


def test_help_does_not_wait_for_pytorch() -> None:
    code = "import sys, gwn.cli.options; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
