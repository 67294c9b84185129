"""Every script in examples/ runs as it stands and prints what it promises."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pandas as pd
import pytest

from gwn.laplacians import LAPLACIANS

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(name: str, capsys: pytest.CaptureFixture[str]) -> str:
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    return capsys.readouterr().out


def test_own_graph(capsys: pytest.CaptureFixture[str]) -> None:
    printed = run("own_graph.py", capsys)
    assert re.search(r"tasted +date +0", printed)
    assert re.search(r"alcohol +number +\d\d", printed)
    assert "178 wines, " in printed
    assert int(re.search(r"cross-validation: (\d+)%", printed)[1]) > 80  # type: ignore[index]  # 40 % are of one class


@pytest.mark.parametrize("name", ["wine", "cellar"])
def test_the_tables_are_what_their_script_makes(name: str, tmp_path: Path) -> None:
    script = tmp_path / f"make_{name}.py"
    script.write_text((EXAMPLES / "data" / script.name).read_text(encoding="utf-8"), encoding="utf-8")
    runpy.run_path(str(script), run_name="__main__")
    for table in (f"{name}-nodes.csv", f"{name}-edges.csv"):
        pd.testing.assert_frame_equal(pd.read_csv(tmp_path / table), pd.read_csv(EXAMPLES / "data" / table), atol=2e-3)


def test_pyg_training_loop(capsys: pytest.CaptureFixture[str]) -> None:
    printed = run("pyg_training_loop.py", capsys)
    accuracy = {name: float(score) for name, score in re.findall(r"^(.*?) +([\d.]+)$", printed, re.M)}
    assert set(accuracy) == {"GCN", "the paper's wave", "the physical wave"}
    assert min(accuracy.values()) > 0.5  # a quarter by chance; the largest community has 13 of 34


def test_custom_laplacian(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LAPLACIANS, "repelling", LAPLACIANS["sym"])  # taken away again after the test
    printed = run("custom_laplacian.py", capsys)
    right = {name: int(percent) for name, percent in re.findall(r"^(\S+) .* (\d+)% right$", printed, re.M)}
    assert right["repelling"] > right["physical"] + 5
    assert "spectrum -2.00" in printed


def test_stability_of_a_scheme(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [line.split() for line in run("stability_of_a_scheme.py", capsys).splitlines()[1:]]
    growth = {(laplacian, scheme): [float(value) for value in values] for laplacian, scheme, *values in rows}
    assert min(growth["sym", "leapfrog"]) > 1.2
    assert growth["physical", "leapfrog"][:3] == [1.0, 1.0, 1.0]
    assert min(growth["physical", "leapfrog"][3:]) > 2
    assert growth["physical", "newmark"] == growth["physical", "bessel"] == [1.0] * 5


@pytest.mark.slow
def test_several_processes(capsys: pytest.CaptureFixture[str]) -> None:
    losses = re.findall(r"validation loss ([\d.]+)", run("several_processes.py", capsys))
    one, two = map(float, losses)
    assert one == pytest.approx(two, abs=1e-3)  # the order of sums, over twenty epochs


def test_the_readme_names_every_script() -> None:
    named = set(re.findall(r"^\| \[(\w+\.py)\]", (EXAMPLES / "README.md").read_text(encoding="utf-8"), re.M))
    assert named == {path.name for path in EXAMPLES.glob("*.py")}
