"""`python -m benchmarks` as a person and as a machine sees it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import benchmarks.__main__ as command
from benchmarks import speed
from benchmarks.harness import Part, Result, Settings, Verdict, read_report, readable
from gwn.cli.main import main as gwn_main
from gwn.errors import GWNError


def bench(*arguments: str) -> None:
    command.main(list(arguments))


def invented(value: float) -> Part:
    verdict = Verdict(subject="a", what="b", value=value, sign="<", bar=1)
    rows = [{"model": "a", "curve": [1000, 2.5], "missing": None, "step_ms": value}]
    facts = {"entries_of_s": 12}
    return lambda settings: Result(
        facts=facts, rows=rows, verdicts=[verdict], notes=["short"], shown=("model", "curve")
    )


def test_speed_as_json_and_as_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "bench.json"
    bench("speed", "--datasets", "csbm", "--seconds", "0.001", "--json", "--out", str(out))
    printed = capsys.readouterr()
    report = json.loads(printed.out)
    assert report == read_report(out)
    assert "speed: csbm" in printed.err
    assert report["environment"]["threads"] == 1
    assert report["environment"]["versions"]["torch"]
    part = report["parts"]["speed"]
    (row,) = part["rows"]
    bandwidths = {"wave GB/s", "copy GB/s", "memory copy GB/s"}
    assert row.keys() == {"dataset", *speed.MODELS, "floor-sym", "floor-fa", *bandwidths}
    assert min(row[model] for model in speed.MODELS) > 0
    details = part["details"]["csbm"]
    assert details["nodes"] == 1000
    assert details["floor_ms_by_kernel"]["fa"].keys() > details["floor_ms_by_kernel"]["sym"].keys()
    assert [v["what"] for v in details["verdicts_by_median"]] == [v["what"] for v in part["verdicts"]]
    assert part["verdicts"] == []  # the bars are for five datasets
    assert any("gcn-fastest: the same, PyG's fastest way" in note for note in part["notes"])


def test_tables_and_targets_are_printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(command.PARTS, "speed", invented(0.5))
    monkeypatch.setitem(command.PARTS, "growth", invented(2))
    bench("speed", "growth", "--quiet", "--threads", "2")
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "threads: 2" in printed.out
    assert "speed: entries of s 12" in printed.out
    assert "1,000 to 2.5" in printed.out
    assert "step ms" not in printed.out
    assert "pass" in printed.out
    assert "MISS" in printed.out
    assert "Note: short" in printed.out
    assert "1 of 2 targets reached" in printed.out


def test_a_report_keeps_what_was_not_measured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "report.json"
    for name, value in (("speed", 1.0), ("growth", 2.0), ("speed", 3.0)):
        monkeypatch.setitem(command.PARTS, name, invented(value))
        bench(name, "--quiet", "--out", str(out))
    parts = read_report(out)["parts"]
    assert {name: part["rows"][0]["step_ms"] for name, part in parts.items()} == {"speed": 3.0, "growth": 2.0}
    assert all(part["created"] and part["environment"]["platform"] for part in parts.values())


def test_parts_are_chosen_by_name_and_by_group() -> None:
    chosen = command.chosen_parts
    assert list(chosen(["small"], None)) == ["speed", "epochs", "together", "wide", "memory", "growth"]
    assert list(chosen(["growth", "speed", "small"], None)) == [
        "speed",
        "epochs",
        "together",
        "wide",
        "memory",
        "growth",
    ]
    assert list(chosen(["scale", "speed"], ["depth", "speed"])) == ["speed", "depth"]
    assert list(chosen(["all"], None)) == list(command.PARTS)
    assert {part for group in command.GROUPS.values() for part in group} == set(command.PARTS)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("sped",), "did you mean 'speed'"),
        (("scale", "--only", "arxive"), "did you mean 'arxiv'"),
        (("speed", "--only", "arxiv"), "unknown part 'arxiv'"),
        (("speed", "--datasets", "corra"), "did you mean 'cora'"),
        (("speed", "--threads", "0"), "must be at least 1"),
        (("speed", "--seconds", "0"), "seconds must be greater than 0"),
        (("speed", "--out", "OLD"), "not a benchmark report of format 2"),
        (("speed", "--colour"), "No such option"),
    ],
)
def test_mistakes_are_one_line(
    arguments: tuple[str, ...], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = tmp_path / "old.json"
    old.write_text('{"format": 1, "speed": null}')
    with pytest.raises(SystemExit) as stop:
        bench(*(str(old) if argument == "OLD" else argument for argument in arguments))
    assert stop.value.code == 2
    error = capsys.readouterr().err.strip()
    assert said in error
    assert len(error.splitlines()) == 1


def test_gwn_bench_says_where_it_went(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        gwn_main(["bench", "scale", "--only", "arxiv"])
    assert stop.value.code == 2
    error = capsys.readouterr().err.strip()
    assert "python -m benchmarks" in error
    assert len(error.splitlines()) == 1


def test_datasets_that_are_not_at_hand_are_noted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def load(name: str) -> None:
        if name == "cora":
            raise GWNError("not here")

    monkeypatch.setattr("benchmarks.harness.load_dataset", load)
    assert Settings(work=tmp_path).at_hand(["cora", "texas"]) == (["texas"], ["cora left out: not here"])
    assert Settings(work=tmp_path, datasets=["cora"]).at_hand(["texas"]) == (["cora"], [])


def test_numbers_as_people_read_them() -> None:
    assert [readable(v) for v in (1234567, 0.12345, 123.4, True, None, "x")] == [
        *("1,234,567", "0.123", "123", "True", "-", "x")
    ]
    assert readable([5, 5]) == "5"


def test_processes_find_the_benchmarks_from_any_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks.worker import ROOT, process_environment

    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    found = process_environment(3)
    assert found["PYTHONPATH"].split(os.pathsep) == [str(ROOT), "elsewhere"]
    assert (ROOT / "benchmarks" / "worker.py").is_file()
    assert found["OMP_NUM_THREADS"] == found["MKL_NUM_THREADS"] == "3"
