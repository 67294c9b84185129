"""Every mistake on the list: one clear line on standard error, code 2, no traceback, earlier results untouched."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from gwn.cli.main import main
from gwn.io import read_json, write_json

Tables = tuple[Path, Path]
SHORT = ("--runs", "1", "--set", "epochs=2", "--quiet")


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def complaint(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What the command says on standard error, having checked how it says it."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    said = capsys.readouterr().err
    assert stop.value.code == 2, said
    assert len(said.strip().splitlines()) == 1, said
    assert "Traceback" not in said
    return said


def succeed(*arguments: str) -> None:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 0


def on_tables(tables: Tables, *more: str) -> tuple[str, ...]:
    label = () if "--label-column" in more else ("--label-column", "topic")
    return ("train", "--edges", str(tables[0]), "--nodes", str(tables[1]), *label, *SHORT, *more)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("train", "citeseeer"), "did you mean 'citeseer'"),
        (("train", "csbm", "--model", "gwn-simm"), "did you mean 'gwn-sym'"),
        (("train", "csbm", "--split", "perclass"), "did you mean 'per-class'"),
        (("train", "csbm", "--split", "geom"), "no published split 'geom'"),
        (("train", "csbm", "--set", "tuu=1"), "did you mean 'tau'"),
        (("train", "csbm", "--set", "epsilon=free"), "unknown setting of gwn-sym 'epsilon'"),
        (("train", "csbm", "--set", "tau=0"), "tau must be a finite number greater than 0"),
        (("train", "csbm", "--set", "tau=nan"), "tau must be a finite number greater than 0"),
        (("train", "csbm", "--set", "time=-2"), "time must be a finite number greater than 0"),
        (("train", "csbm", "--set", "tau"), "--set takes name=value"),
        (("train", "csbm", "--set", "tau=fast"), "tau takes a number"),
        (("train", "csbm", "--set", "dropout=1.5"), "dropout must be in [0, 1)"),
        (("train", "csbm", "--set", "lr=0"), "lr must be greater than 0"),
        (("train", "csbm", "--set", "hidden_channels=0"), "hidden_channels must be at least 1"),
        (("train", "csbm", "--set", "activation=rellu"), "did you mean 'relu'"),
        (("train", "csbm", "--labels", "maskd"), "did you mean 'masked'"),
        (("train", "csbm", "--labels", "masked", "--precompute", "--no-tuned"), "precompute"),
        (("train", "csbm", "--labels", "masked", "--set", "partitions=3"), "partitions cut it"),
        (("train", "csbm", "--labels", "masked", "--model", "majority"), "use another model"),
        (("train", "csbm", "--runs", "0"), "--runs must be at least 1"),
        (("train", "csbm", "--runs", "many"), "'--runs'"),
        (("train", "csbm", "--device", "tpu"), "unknown device 'tpu'"),
        (("train", "csbm", "--dtype", "float16"), "unknown dtype 'float16'"),
        (("train",), "nothing was given"),
        (("train", "csbm", "--graph", "g.npz"), "a name and --graph were given"),
        (("train", "--edges", "e.csv"), "--edges needs --nodes"),
        (("predict", "runs/nothing"), "no run 'runs/nothing'"),
        (("data", "info", "coro"), "did you mean 'cora'"),
        (("data", "verify", "coro"), "did you mean 'cora'"),
        (("models", "gcnn"), "did you mean 'gcn'"),
        (("trian", "cora"), "trian"),
    ],
)
def test_wrong_words(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str) -> None:
    assert said in complaint(capsys, *arguments)


def test_wrong_tables(capsys: pytest.CaptureFixture[str], tables: Tables, tmp_path: Path) -> None:
    edges, nodes = tables
    assert "did you mean 'topic'" in complaint(capsys, *on_tables(tables, "--label-column", "topik"))
    assert "does not exist" in complaint(capsys, *on_tables((tmp_path / "no.csv", nodes)))

    unknown = tmp_path / "unknown.csv"
    unknown.write_text("from,to\nu1,u2\nu1,nobody\n")
    assert "nobody" in complaint(capsys, *on_tables((unknown, nodes)))

    twice = tmp_path / "twice.csv"
    twice.write_text(nodes.read_text() + "u1,30,Rome,art\n")
    assert "u1" in complaint(capsys, *on_tables((edges, twice)))

    empty = tmp_path / "empty.csv"
    empty.write_text("")
    assert "empty" in complaint(capsys, *on_tables((edges, empty)))

    fake = tmp_path / "fake.parquet"
    fake.write_text(nodes.read_text())
    assert "fake.parquet" in complaint(capsys, *on_tables((edges, fake)))

    binary = tmp_path / "binary.csv"
    binary.write_bytes(bytes(range(256)) * 10)
    assert "binary.csv" in complaint(capsys, *on_tables((edges, binary)))


def test_bad_checkpoints(capsys: pytest.CaptureFixture[str], tables: Tables) -> None:
    succeed(*on_tables(tables))
    folder = next(Path("runs").iterdir())
    weights = folder / "run-00.safetensors"
    whole = weights.read_bytes()

    weights.write_bytes(whole[: len(whole) // 2])
    assert "truncated" in complaint(capsys, "predict", str(folder))
    weights.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert "changed" in complaint(capsys, "predict", str(folder))
    weights.write_bytes(whole)

    run_file = folder / "run-00.json"
    record = run_file.read_text()
    run_file.write_text(record[: len(record) // 2])
    assert "cut or edited" in complaint(capsys, "predict", str(folder))
    run_file.write_text(record.replace('"seed": 0', '"seed": 1'))
    assert "its seal does not fit" in complaint(capsys, "predict", str(folder))
    run_file.write_text(record)
    write_json(run_file, {**read_json(run_file), "surprise": 1})
    assert "surprise" in complaint(capsys, "predict", str(folder))
    run_file.write_text(record)

    schema = folder / "schema-00.json"
    learnt = schema.read_text()
    schema.write_text(learnt.replace("Rome", "Roma"))
    assert "schema-00.json is not what was written" in complaint(capsys, "predict", str(folder))
    schema.write_text(learnt)

    config = folder / "config.json"
    description = read_json(config)
    write_json(config, {**description, "settings": {**description["settings"], "hidden_channels": 8}})
    assert "do not fit together" in complaint(capsys, "predict", str(folder))
    write_json(config, description)

    other = Path("other.csv")
    other.write_text("id,height\nu1,3\nu2,4\n")
    edges = Path("other-edges.csv")
    edges.write_text("from,to\nu1,u2\n")
    assert "city" in complaint(capsys, "predict", str(folder), "--edges", str(edges), "--nodes", str(other))
    assert not Path("predictions.csv").exists()


def test_unwritable_and_full(
    capsys: pytest.CaptureFixture[str], tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocker = Path("blocker")
    blocker.write_text("a file where a folder should be")
    assert "cannot write" in complaint(capsys, *on_tables(tables, "--out", str(blocker)))
    assert blocker.read_text() == "a file where a folder should be"

    succeed(*on_tables(tables))
    before = {path: path.read_bytes() for path in Path("runs").rglob("*") if path.is_file()}

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert "the disk is full" in complaint(capsys, *on_tables(tables, "--force"))
    assert {path: path.read_bytes() for path in Path("runs").rglob("*") if path.is_file()} == before


def test_divergence_names_cause_step_and_setting(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(("train", "csbm", "--runs", "1", "--set", "time=200", "--quiet"))
    assert stop.value.code == 2
    said = capsys.readouterr()
    assert "fold a step and overflows at step" in said.err
    assert "smaller time or tau" in said.err
    assert "nan" not in said.out.lower()


def test_what_nobody_foresaw_is_one_line_with_a_file_of_details(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def break_down(*arguments: object, **named: object) -> None:
        raise RuntimeError("two\nlines")

    monkeypatch.setattr("gwn.cli.models.print_table", break_down)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(SystemExit) as stop:
        main(["models"])
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert stop.value.code == 3
    assert line.startswith("gwn: RuntimeError: two lines; this is an error in gwn itself")
    (details,) = tmp_path.glob("gwn-error-*.txt")
    assert str(details) in line
    assert "in break_down" in details.read_text()


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "gwn", "models", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1


def test_closed_and_full_standard_output(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A command whose output was closed does its work; one whose output cannot be written says so."""
    monkeypatch.setattr(sys, "stdout", None)
    succeed("models")
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert "No space left on device" in complaint(capfd, "models")
