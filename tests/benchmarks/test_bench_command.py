"""`python -m benchmarks` as a person and as a machine sees it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gwn.cli.main import main


def bench(*arguments: str) -> int | str | None:
    with pytest.raises(SystemExit) as stop:
        main(["bench", *arguments])
    return stop.value.code


def test_speed_as_json_and_as_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "bench.json"
    command = ("speed", "--datasets", "csbm", "--seconds", "0.01", "--json", "--out", str(out))
    assert bench(*command) == 0
    printed = capsys.readouterr()
    report = json.loads(printed.out)
    assert report == json.loads(out.read_text())
    assert "speed: csbm" in printed.err
    assert report["environment"]["threads"] == 1
    assert report["environment"]["versions"]["torch"]
    assert report["memory"] is None
    (row,) = report["speed"]
    assert row["nodes"] == 1000
    assert row["timings"]["gwn-sym"]["best_ms"] > 0
    assert all(isinstance(verdict["passed"], bool) for verdict in row["verdicts"])


def test_speed_as_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench("speed", "--datasets", "csbm", "--seconds", "0.01", "--quiet") == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "threads: 1" in printed.out
    assert "GWN-sym, times faster than GCN" in printed.out
    assert "pass" in printed.out or "MISS" in printed.out
    assert "targets reached" in printed.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("sped",), "did you mean 'speed'"),
        (("speed", "--datasets", "corra"), "did you mean 'cora'"),
        (("speed", "--threads", "0", "--datasets", "csbm"), "threads must be at least 1"),
        (("speed", "--seconds", "0", "--datasets", "csbm"), "seconds must be greater than 0"),
    ],
)
def test_mistakes_are_one_line(arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(*arguments) == 2
    error = capsys.readouterr().err.strip()
    assert said in error
    assert len(error.splitlines()) == 1
