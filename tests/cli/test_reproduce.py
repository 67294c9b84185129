"""`gwn reproduce` as a user types it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from commands import Command
from gwn.cli.reproduce import _elsewhere
from gwn.paper.cell import Cell
from gwn.paper.records import write_cell


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


@pytest.mark.slow
def test_a_cell_is_measured_shown_and_repeated(tmp_path: Path, data_root: Path, command: Command) -> None:
    first = subprocess.run(
        [sys.executable, "-m", "gwn", "reproduce", "--cell", "texas/geom/majority"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert first.returncode == 0, first.stderr
    assert "texas/geom/majority: measured, 1 of 1" in first.stderr
    record = json.loads((tmp_path / "results/cells/texas/geom/majority.json").read_text())
    mean = f"{100 * record['summary']['test']['mean']:.2f}"
    assert mean in first.stdout
    again = command("reproduce", "--cell", "texas/geom/majority", "--repeat")
    assert "every run identical, to the bit of its weights" in again.stdout
    place = tmp_path / "results"
    for run in record["runs"]:
        run["weights_sha256"] = "of another processor"
    record["environment"]["processor"] = "a slower one"
    del record["sha256"]
    write_cell(place, Cell.parse("texas/geom/majority"), record)
    again = command("reproduce", "--cell", "texas/geom/majority", "--repeat")
    assert "every test score identical, weights to rounding (processor was a slower one, is " in again.stdout
    then = {"versions": {"torch": "2.10"}, "threads": 1}
    assert _elsewhere(then, {**then, "processor": "p"}) == " (another processor?)", "an old record does not say"
    then["processor"] = "p"
    assert _elsewhere(then, then) == " (the environment is the recorded one, so the code changed)"
    table = command("reproduce", "table-heterophilic", "--no-compute", "--format", "csv", "--out", "tables")
    assert table.returncode == 0, table.stderr
    text = (tmp_path / "tables/table-heterophilic.csv").read_text()
    assert any(line.startswith("texas,geom,majority") and mean[:4] in line for line in text.splitlines())
    latex = command("reproduce", "table-heterophilic", "--no-compute", "--format", "latex")
    assert r"\begin{tabular}" in latex.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("table-homofilic",), "did you mean 'table-homophilic'"),
        (("figure-rots",), "did you mean 'figure-roots'"),
        (("--cell", "texas/geom"), "a cell is DATASET/SPLIT/ROW"),
        (("--cell", "texas/geom/mlp", "--repeat"), "was not measured; measure it with"),
        (("table-datasets", "--format", "word"), "unknown format 'word'"),
        (("table-homophilic", "--timeout", "soon"), "--timeout"),
        (("table-homophilic", "--no-compute"), "no results were found in"),
    ],
)
def test_mistakes_are_one_line(arguments: tuple[str, ...], message: str, tmp_path: Path, command: Command) -> None:
    done = command("reproduce", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "results").exists()


def test_an_edited_record_is_named(tmp_path: Path, data_root: Path, command: Command) -> None:
    command("reproduce", "--cell", "texas/geom/majority")
    path = tmp_path / "results/cells/texas/geom/majority.json"
    path.write_text(path.read_text().replace('"seed": 0', '"seed": 7'))
    done = command("reproduce", "table-heterophilic", "--no-compute")
    assert done.returncode == 2
    assert "was cut or edited" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_the_list_has_tables_and_figures(command: Command) -> None:
    shown = command("reproduce").stdout
    for name in ("table-homophilic", "table-tau-heterophilic", "table-parameters", "figure-roots", "figure-depth"):
        assert name in shown
