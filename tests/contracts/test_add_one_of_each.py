"""CONTRIBUTING keeps its word: one file and one line add a Laplacian, a scheme, a model, a dataset, a figure or a
command.

The files are in `tests/one_of_each/`. With their lines on the shelves they are listed, trained, searched, drawn and
run, and the contract tests cover them; nothing else is edited.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import optuna
import pytest

from gwn.cli.main import app, main
from gwn.models import MODELS, model_spec
from gwn.tuning.spaces import SPACES, Space
from gwn.tuning.wave_dimensions import wave_dimensions
from one_of_each import command
from one_of_each.shelves import LINES

Gwn = Callable[..., str]
TESTS = Path(__file__).parents[1]


@pytest.fixture
def gwn(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Gwn:
    """The command line with one more of each; what it prints."""
    for shelf, name, entry in LINES:
        monkeypatch.setitem(shelf, name, entry)
    monkeypatch.setattr(app, "registered_commands", [*app.registered_commands])
    app.command("thirds")(command.thirds)

    def run(*arguments: str) -> str:
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        said = capsys.readouterr()
        assert stop.value.code == 0, said.err
        return said.out

    return run


def test_listed(gwn: Gwn) -> None:
    assert "averaged-mlp" in gwn("models")
    assert "ring-of-thirds" in gwn("data", "list")
    assert "figure-thirds" in gwn("reproduce")
    assert "thirds" in gwn("--help")
    assert '"strength": 1.0' in gwn("models", "gwn-plus", "--json"), "a setting of the Laplacian is one of the network"


def test_the_command_runs(gwn: Gwn) -> None:
    assert gwn("thirds", "12") == "4\n"
    assert "Print a third of a number" in gwn("thirds", "--help")


@pytest.mark.parametrize(
    "settings",
    [
        ["--model", "averaged-mlp"],
        ["--model", "gwn-plus", "--set", "laplacian=repelling", "--set", "scheme=symplectic-euler"],
    ],
    ids=["model", "laplacian and scheme"],
)
def test_trained_on_the_dataset(gwn: Gwn, settings: list[str], tmp_path: Path) -> None:
    given = [*settings, "--set", "epochs=60", "--set", "lr=0.05", "--set", "dropout=0.0"]
    result = json.loads(gwn("train", "ring-of-thirds", *given, "--runs", "1", "--out", str(tmp_path), "--json", "-q"))
    assert result["runs"][0]["test"] > 0.8, "the features tell the classes"


def test_searched(gwn: Gwn) -> None:
    waves, wave = Space(name="waves", title="", dimensions=wave_dimensions()), model_spec("gwn-plus")
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    trials = [waves.sample(study.ask(), wave, {}) for _ in range(200)]
    assert "repelling" in {trial["laplacian"] for trial in trials}
    found = [waves.sample(study.ask(), wave, {"laplacian": "repelling"}) for _ in range(40)]
    assert {trial["strength"] for trial in found} == {0.5, 1.0}
    assert {"symplectic-euler", "newmark", "heat"} <= {trial["scheme"] for trial in found}
    for trial in found:
        wave.build(3, 2, **{**trial, "hidden_channels": 2})
    own = SPACES["peers"].dimensions_of(MODELS["averaged-mlp"])[0]
    assert (own.setting, own.values) == ("hidden_channels", (8, 16))


def test_drawn(gwn: Gwn, tmp_path: Path) -> None:
    gwn("reproduce", "figure-thirds", "--results", str(tmp_path), "--out", str(tmp_path / "pictures"), "--quiet")
    assert (tmp_path / "figures" / "thirds.json").is_file()
    assert {path.suffix for path in (tmp_path / "pictures").iterdir()} == {".svg", ".pdf", ".png"}


OF_DYNAMICS = {
    "test_gradients_are_those_of_finite_differences",
    "test_a_step_above_the_bound_is_refused_and_the_bound_is_named",
    "test_what_grows_with_any_step_or_is_stable_with_any_takes_any",
}
COVERED = {
    "repelling": OF_DYNAMICS | {"test_what_is_refused_is_named"},
    "symplectic-euler": OF_DYNAMICS,
    "averaged-mlp": {"test_gradients_reach_every_parameter", "test_two_epochs_lower_the_loss"},
    "ring-of-thirds": {"test_a_spec_is_consistent"},
}


@pytest.mark.slow
def test_covered_by_the_contracts() -> None:
    """In a process of its own, whose shelves are filled before tests are collected."""
    files = ("contracts/test_dynamics.py", "contracts/test_models.py", "data/test_datasets.py")
    chosen = " or ".join(COVERED)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "one_of_each.shelves", "-v", "-k", chosen, *(TESTS / f for f in files)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])},
        cwd=TESTS.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    passed = [line.partition("::")[2] for line in done.stdout.splitlines() if " PASSED" in line]
    for name, tests in COVERED.items():
        assert tests <= {line.partition("[")[0] for line in passed if name in line}, name
