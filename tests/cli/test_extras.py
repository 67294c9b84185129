"""What `pip install .` brings is enough to train and predict; a command that needs more says which extra."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from gwn.errors import EXTRAS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
BROUGHT_BY_TORCH = ("filelock", "networkx")
MODULE = {"psycopg2-binary": "psycopg2"}
"""Requirement -> module, where the two have different names."""


def gwn(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command in a process in which no module of an extra can be imported."""
    absent = [module for module in EXTRAS if module not in BROUGHT_BY_TORCH]
    code = f"import sys; sys.modules.update(dict.fromkeys({absent})); from gwn.cli.main import main; main()"
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)


def test_training_and_prediction_need_no_extra(tmp_path: Path) -> None:
    trained = gwn(tmp_path, "train", "digits", "--model", "gwn-fa", "--runs", "1", "--set", "epochs=2")
    assert trained.returncode == 0, trained.stderr
    (folder,) = (tmp_path / "runs").iterdir()
    predicted = gwn(tmp_path, "predict", str(folder), "--out", "predictions.csv")
    assert predicted.returncode == 0, predicted.stderr
    assert len((tmp_path / "predictions.csv").read_text(encoding="utf-8").splitlines()) == 1 + 1797


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("tune", "digits", "--trials", "1"), "gwn tune needs optuna: pip install 'graph-wave-networks[search]'"),
        (("reproduce", "--cell", "digits/stratified/mlp"), "gwn reproduce needs "),
        (("explore", "digits", "--animate", "wave.gif"), "gwn explore --animate needs matplotlib: "),
    ],
    ids=["tune", "reproduce", "explore"],
)
def test_a_missing_extra_is_said_in_one_line(arguments: tuple[str, ...], said: str, tmp_path: Path) -> None:
    ended = gwn(tmp_path, *arguments)
    assert ended.returncode == 2
    assert ended.stderr.startswith(f"gwn: {said}"), ended.stderr
    assert re.fullmatch(r"gwn: .* needs \w+: pip install 'graph-wave-networks\[\w+\]'\n", ended.stderr)
    assert not list(tmp_path.iterdir())


def test_measured_results_are_printed_without_the_search(tmp_path: Path) -> None:
    printed = gwn(tmp_path, "reproduce", "table-heterophilic", "--no-compute", "--results", str(ROOT / "results"))
    assert printed.returncode == 0, printed.stderr
    assert "GWN-fa" in printed.stdout


def test_every_extra_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    declared = {}
    for extra in set(EXTRAS.values()):
        for requirement in extras[extra]:
            name = re.split(r"[<>=\[; ]", requirement)[0]
            declared[MODULE.get(name, name)] = extra
    assert declared == EXTRAS
    (everything,) = extras["all"]
    assert set(re.findall(r"\w+", everything.partition("[")[2])) == set(EXTRAS.values())
    required = {re.split(r"[<>=\[; ]", requirement)[0] for requirement in project["dependencies"]}
    assert not required & set(EXTRAS)
