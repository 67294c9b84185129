"""`gwn stability`: the table, the JSON, a trained run with the attention it has learned, mistakes in one line."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graphs import toy_graph
from gwn.cli.main import main
from gwn.data import load_dataset
from gwn.networks import GWN
from gwn.stability import analyse
from gwn.training import load_trained
from seeds import reseed


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Standard output of a command that succeeds."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    spoken = capsys.readouterr()
    assert stop.value.code == 0, spoken.err
    return spoken.out


def rows(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(said(capsys, "stability", *arguments, "--json"))["rows"]
    return found


def rho(tau: float) -> float:
    return 1 + tau**2 / 2 + tau * math.sqrt(1 + tau**2 / 4)


def test_the_papers_operator(capsys: pytest.CaptureFixture[str]) -> None:
    found = rows(capsys, "csbm", "--tau", "0.2,0.5,1,2,5")
    assert [row["tau"] for row in found] == [0.2, 0.5, 1.0, 2.0, 5.0]
    assert [row["steps"] for row in found] == [50, 20, 10, 5, 2]
    for row in found:
        assert row.keys() == {"tau", "steps", "low", "high", "growth", "amplification", "largest_tau", "stable"}
        assert row["high"] == pytest.approx(1.0, abs=1e-8)
        assert row["growth"] == pytest.approx(rho(row["tau"]), rel=1e-7)
        assert row["amplification"] <= math.cosh(10.0)
        assert row["largest_tau"] == 0.0
        assert row["stable"] is False


@pytest.mark.parametrize(("growth", "shown"), [(math.nan, "unknown"), (math.inf, "overflows")])
def test_a_growth_that_is_no_number_is_shown(
    growth: float, shown: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = replace(analyse(GWN(3, 4, 2, time=2.0), toy_graph(nodes=20)), growth=growth)
    monkeypatch.setattr("gwn.stability.analyse", lambda *_: found)
    assert shown in said(capsys, "stability", "texas", "--tau", "1")


def test_the_physical_wave_has_a_largest_step(capsys: pytest.CaptureFixture[str]) -> None:
    found = rows(capsys, "csbm", "--laplacian", "physical", "--tau", "1,5", "--time", "20")
    assert [row["stable"] for row in found] == [True, False]
    assert [row["steps"] for row in found] == [20, 4]
    assert [row["largest_tau"] for row in found] == pytest.approx([2 / math.sqrt(-found[0]["low"])] * 2)
    for scheme in ("newmark", "bessel"):
        (row,) = rows(capsys, "csbm", "--laplacian", "physical", "--scheme", scheme, "--tau", "50")
        assert row["stable"] is True
        assert row["largest_tau"] == "inf"
        assert row["steps"] == 1


def test_settings_are_taken(capsys: pytest.CaptureFixture[str]) -> None:
    (light,) = rows(capsys, "csbm", "--laplacian", "klein-gordon", "--tau", "0.5")
    (heavy,) = rows(capsys, "csbm", "--laplacian", "klein-gordon", "--tau", "0.5", "--set", "mass=1.5")
    assert light["high"] == pytest.approx(-0.25, abs=1e-7)
    assert heavy["high"] == pytest.approx(-2.25, abs=1e-7)
    (damped,) = rows(
        capsys, "csbm", "--laplacian", "physical", "--scheme", "damped", "--tau", "1", "--set", "damping=1"
    )
    assert damped["growth"] == pytest.approx(1.0)  # the zero mode
    assert damped["stable"] is True


def test_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "stability", "csbm", "--tau", "0.5,1", "--time", "1000")
    assert "sym with leapfrog on csbm" in text
    for part in ("growth/step", "1.6404", "2.6180", "overflows", "none", "no"):
        assert part in text
    text = said(capsys, "stability", "csbm", "--laplacian", "physical", "--scheme", "bessel", "--tau", "5")
    assert "any" in text
    assert "yes" in text
    text = said(capsys, "stability", "csbm", "--laplacian", "physical", "--set", "directed=true", "--tau", "1")
    assert "unknown" in text


def train(capsys: pytest.CaptureFixture[str], *arguments: str) -> Path:
    out = said(capsys, "train", "csbm", "--runs", "1", "--quiet", "--json", *arguments)
    return Path(json.loads(out)["folder"])


def test_a_trained_run_with_the_attention_it_has_learned(capsys: pytest.CaptureFixture[str]) -> None:
    folder = train(
        capsys, "--model", "gwn-fa", "--set", "epochs=8", "--set", "lr=0.2", "--set", "time=2", "--set", "tau=0.5"
    )
    (row,) = rows(capsys, "--run", str(folder))
    assert (row["tau"], row["steps"], row["stable"]) == (0.5, 4, False)
    assert 1 < row["growth"] <= rho(0.5)

    trained, graph = load_trained(folder).network, load_dataset("csbm").graph
    assert isinstance(trained, GWN)
    assert row == analyse(trained, graph).to_json()
    reseed(0)
    trained.reset_parameters()
    assert abs(row["growth"] - analyse(trained, graph).growth) > 1e-3, "not that of an untrained one"
    assert folder.name in said(capsys, "stability", "--run", str(folder))


def test_a_trained_bounded_attention_is_bounded(capsys: pytest.CaptureFixture[str]) -> None:
    folder = train(
        *(capsys, "--model", "gwn", "--set", "laplacian=fa-symmetric", "--set", "epochs=8", "--set", "lr=0.2"),
        *("--set", "tau=1.4", "--set", "time=7", "--set", "speed=none"),
    )
    (row,) = rows(capsys, "--run", str(folder))
    assert row["growth"] == pytest.approx(1.0, abs=1e-9)
    assert row["stable"] is True
    assert -2 <= row["low"] <= row["high"] <= 0


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "name either a dataset or a trained --run"),
        (("csbm", "--run", "runs/x"), "name either a dataset or a trained --run"),
        (("corra",), "did you mean 'cora'"),
        (("csbm", "--tau", "fast"), "--tau takes numbers separated by commas, such as 0.2,0.5,1; got 'fast'"),
        (("csbm", "--tau", "1,,2"), "--tau takes numbers"),
        (("csbm", "--tau", ""), "--tau takes numbers"),
        (("csbm", "--tau", "0"), "tau must be a finite number greater than 0"),
        (("csbm", "--tau", "-1"), "tau must be a finite number greater than 0"),
        (("csbm", "--tau", "nan"), "tau must be a finite number greater than 0"),
        (("csbm", "--tau", "inf"), "tau must be a finite number greater than 0"),
        (("csbm", "--time", "-3"), "time must be a finite number greater than 0; got -3"),
        (("csbm", "--laplacian", "phisical"), "did you mean 'physical'"),
        (("csbm", "--scheme", "neumark"), "did you mean 'newmark'"),
        (("csbm", "--scheme", "newmark"), "'sym' makes indefinite"),
        (("csbm", "--laplacian", "fa", "--scheme", "bessel"), "'fa' depends on the state"),
        (("csbm", "--laplacian", "polynomial", "--scheme", "leapfrog-rescaled"), "'polynomial' is not here"),
        (("csbm", "--set", "mas=1"), "did you mean 'mass'"),
        (("csbm", "--set", "mass=1"), "unknown setting of laplacian 'sym'"),
        (("csbm", "--laplacian", "klein-gordon", "--set", "mass=-1"), "mass must not be negative"),
        (("csbm", "--scheme", "damped", "--set", "damping=5", "--tau", "1"), "damping must be between 0 and 2 / tau"),
        (("--run", "runs/nothing"), "no run 'runs/nothing'"),
    ],
)
def test_mistakes_are_one_line(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], complaint: str) -> None:
    with pytest.raises(SystemExit) as stop:
        main(("stability", *arguments))
    spoken = capsys.readouterr()
    assert stop.value.code == 2
    assert spoken.out == ""
    assert len(spoken.err.strip().splitlines()) == 1, spoken.err
    assert complaint in spoken.err


def test_a_run_without_a_wave_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    folder = train(capsys, "--model", "mlp", "--set", "epochs=2")
    with pytest.raises(SystemExit) as stop:
        main(("stability", "--run", str(folder)))
    assert stop.value.code == 2
    assert "is a mlp, which has no wave" in capsys.readouterr().err


def test_help_shows_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert "gwn stability cora --laplacian physical --scheme newmark" in said(capsys, "stability", "--help")
