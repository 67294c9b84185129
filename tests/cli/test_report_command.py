"""`gwn report RUN` through the command."""

from __future__ import annotations

from pathlib import Path

from commands import Command


def test_the_page_of_a_run(tables: tuple[Path, Path], command: Command, tmp_path: Path) -> None:
    edges, nodes = tables
    done = command(
        *("train", "--edges", str(edges), "--nodes", str(nodes), "--label-column", "topic"),
        *("--model", "gcn", "--runs", "2", "--set", "epochs=5", "-q"),
    )
    assert done.returncode == 0, done.stderr
    (folder,) = (tmp_path / "runs").iterdir()
    made = command("report", folder.name)
    assert (made.returncode, made.stderr) == (0, "")
    page = (folder / "report.html").read_text()
    assert "interval" in page
    assert "over 2 runs" in page
    assert 'id="wave"' not in page, "a GCN has no wave"
    for refused, said in ((("report", "nobody"), "no run 'nobody'"), (("report", folder.name, "--node", "u1x"), "'u1")):
        asked = command(*refused)
        assert asked.returncode == 2
        assert said in asked.stderr.splitlines()[-1]


def test_the_page_of_a_run_on_a_known_dataset_has_its_names(data_root: Path, command: Command, tmp_path: Path) -> None:
    done = command("train", "texas", "--model", "gwn-sym", "--no-tuned", "--set", "epochs=5", "-q")
    assert done.returncode == 0, done.stderr
    (folder,) = (tmp_path / "runs").iterdir()
    assert command("report", folder.name).returncode == 0
    page = (folder / "report.html").read_text()
    assert "GWN-sym on Texas" in page
    assert "student" in page, "classes have the names that the release gives them"


def test_the_page_of_a_run_that_looks_at_no_feature(tables: tuple[Path, Path], command: Command) -> None:
    """It is what a comparison saves where nothing is better, and its page says how good that is."""
    edges, nodes = map(str, tables)
    train = ("train", "--edges", edges, "--nodes", nodes, "--label-column", "topic", "--model", "majority", "-q")
    assert command(*train, "--runs", "1").returncode == 0
    (folder,) = (Path.cwd() / "runs").iterdir()
    made = command("report", folder.name)
    assert (made.returncode, made.stderr) == (0, "")
    assert "Majority class on nodes" in (folder / "report.html").read_text()
