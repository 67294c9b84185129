"""`gwn explore` and `gwn report` from the command line: what they write, and mistakes in one line."""

from __future__ import annotations

import base64
import json
import threading
import urllib.request
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gwn.cli.main import main
from gwn.explore.page import address, loopback_server

Tables = tuple[Path, Path]


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GWN_CACHE", str(tmp_path / "cache"))


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    capsys.readouterr()
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    said = capsys.readouterr()
    assert isinstance(stop.value.code, int)
    return stop.value.code, said.out, said.err


def test_a_graph_of_ones_own(capsys: pytest.CaptureFixture[str], tables: Tables) -> None:
    files = ("--edges", str(tables[0]), "--nodes", str(tables[1]), "--label-column", "topic")
    code, out, err = run(capsys, "explore", *files, "--model", "gwn-sym", "--limit", "15", "--centre", "u4", "--quiet")
    assert code == 0, err
    page = Path(out.removeprefix("Open ").strip())
    html = page.read_text(encoding="utf-8")
    assert "15 of 60 nodes: the neighbourhood of u4" in html
    assert "gwn-sym was trained on its stratified split: accuracy " in html
    assert "test nodes." in html
    assert "<h1>Waves on nodes</h1>" in html
    assert not [part for part in ("http://", "https://", "//cdn") if part in html]
    assert [file.name for file in page.parent.iterdir()] == ["index.html"]
    (run_folder,) = Path("runs").iterdir()
    code, out, err = run(capsys, "explore", "--run", str(run_folder), "--out", "again", "--quiet")
    assert (code, err) == (0, "")
    assert Path("again/index.html").is_file()


def test_a_graph_with_a_number_to_predict(capsys: pytest.CaptureFixture[str], tables: Tables) -> None:
    files = ("--edges", str(tables[0]), "--nodes", str(tables[1]), "--label-column", "age", "--drop-column", "topic")
    code, out, err = run(capsys, "explore", *files, "--task", "regression", "--quiet")
    assert code == 0, err
    html = Path(out.removeprefix("Open ").strip()).read_text(encoding="utf-8")
    assert "gwn-fa was trained on its stratified split: R² " in html
    (run_folder,) = Path("runs").iterdir()
    numbers = json.loads(html.split('<script type="application/json" id="data">')[1].split("</script>")[0])
    known = np.frombuffer(base64.b64decode(numbers["targets"]), "<f8")
    said = np.frombuffer(base64.b64decode(numbers["guesses"]), "<f8")
    assert known.min() >= 20
    assert known.max() < 31
    assert np.abs(said - known).max() < 30, "in the units of the table"
    code, _, err = run(capsys, "report", str(run_folder))
    assert code == 0, err


def test_one_edge_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    Path("e.csv").write_text("s,t\na,b\n")
    Path("n.csv").write_text("id,x\na,1\nb,2\n")
    done = run(capsys, "explore", "--edges", "e.csv", "--nodes", "n.csv", "--model", "none", "--quiet")
    assert done == (0, "Open explore/n/index.html\n", "")
    page = Path("explore/n/index.html").read_text(encoding="utf-8")
    assert "2 nodes, 1 edge between them" in page
    assert "without an edge" not in page
    Path("n.csv").write_text("id,x\na,1\nb,2\nc,3\n")
    assert run(capsys, "explore", "--edges", "e.csv", "--nodes", "n.csv", "--model", "none", "--quiet") == done
    page = Path("explore/n/index.html").read_text(encoding="utf-8")
    assert "3 nodes, 1 edge between them; 1 without an edge, in rows below" in page


def test_a_directed_graph_is_said_to_be_drawn_without_directions(capsys: pytest.CaptureFixture[str]) -> None:
    Path("e.csv").write_text("s,t\na,b\nb,c\n")
    Path("n.csv").write_text("id,x,y\n" + "".join(f"{name},{k},{k % 2}\n" for k, name in enumerate("abcdefgh")))
    said = "2 edges between them; 5 without an edge, in rows below; drawn without their direction"
    for model in ("none", "gwn-fa"):
        for directed in ((), ("--directed",)):
            tables = ("--edges", "e.csv", "--nodes", "n.csv", "--label-column", "y", "--model", model, "--quiet")
            code, _, err = run(capsys, "explore", *tables, *directed)
            assert code == 0, err
            page = Path("explore/n/index.html").read_text(encoding="utf-8")
            assert (said in page) == bool(directed), (model, directed)


def test_a_pulse_alone(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "explore", "csbm", "--model", "none", "--nodes", "50", "--out", "page", "--quiet")
    assert code == 0, err
    assert err == "gwn: --nodes names a table of nodes; to draw at most 50 of them, say --limit 50\n"
    assert "50 of " in Path("page/index.html").read_text(encoding="utf-8")
    assert not Path("runs").exists()


def test_a_page_may_be_named_as_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    page = ("explore", "csbm", "--model", "none", "--limit", "50", "--out", "wave.html", "--quiet")
    assert run(capsys, *page) == (0, "Open wave.html\n", "")
    assert "<h1>Waves on csbm</h1>" in Path("wave.html").read_text(encoding="utf-8")


def test_classes_of_a_known_dataset_have_names(capsys: pytest.CaptureFixture[str], data_root: Path) -> None:
    code, _, err = run(capsys, "explore", "texas", "--model", "none", "--limit", "20", "--out", "page", "--quiet")
    assert code == 0, err
    html = Path("page/index.html").read_text(encoding="utf-8")
    assert '"classes":["course","staff","project","student","faculty"]' in html.replace(", ", ",").replace(": ", ":")


def test_readmes_film_moves_and_stays_small() -> None:
    committed = Path(__file__).parents[2] / "docs" / "images" / "wave.gif"
    assert committed.stat().st_size < 3e6
    with Image.open(committed) as film:
        assert film.n_frames > 50  # type: ignore[attr-defined]


def test_a_film_of_the_pulse(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gwn.explore.animate.FRAMES", 4)
    code, out, err = run(capsys, "explore", "csbm", "--limit", "30", "--animate", "wave.gif", "--quiet")
    assert (code, out, err) == (0, "Open wave.gif\n", "")
    with Image.open("wave.gif") as film:
        assert film.n_frames == 5  # type: ignore[attr-defined]
        assert film.info["loop"] == 0
        first = film.convert("RGB").tobytes()
        film.seek(3)
        assert film.convert("RGB").tobytes() != first
    assert not Path("runs").exists(), "a pulse needs no network"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("explore",), "nothing was given"),
        (("explore", "corra"), "did you mean 'cora'"),
        (("explore", "csbm", "--model", "gcn"), "gcn has no wave to look at; use --model gwn-sym"),
        (("explore", "csbm", "--model", "gwn-faa"), "did you mean 'gwn-fa'"),
        (("explore", "csbm", "--limit", "99999"), "--limit must be from 2 to"),
        (("explore", "csbm", "--model", "none", "--centre", "nobody"), "--centre names a node 'nobody'"),
        (("explore", "--run", "runs/nothing"), "train one first with `gwn train`"),
        (("explore", "csbm", "--run", "x"), "a dataset and --run were given"),
        (("explore", "csbm", "--animate", "wave.mp4"), "--animate writes a GIF; got 'wave.mp4'"),
        (("explore", "csbm", "--animate", "wave.gif", "--out", "x"), "a film and no page; leave out --out"),
        (("explore", "csbm", "--out", "x.html", "--serve"), "--serve serves a folder"),
        (("report", "--results", "nowhere"), "`gwn reproduce table-datasets` creates the first"),
    ],
)
def test_mistakes_are_one_line(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], complaint: str) -> None:
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert len(err.strip().splitlines()) == 1, err
    assert complaint in err


def test_no_edges(capsys: pytest.CaptureFixture[str]) -> None:
    Path("nodes.csv").write_text("id,age,topic\na,1,x\nb,2,y\nc,3,x\n")
    Path("edges.csv").write_text("from,to\na,a\n")
    tables = ("--edges", "edges.csv", "--nodes", "nodes.csv", "--label-column", "topic")
    code, _, err = run(capsys, "explore", *tables, "--model", "none")
    assert code == 2
    assert "has no edges, so no wave travels on it" in err


def test_nothing_is_trained_for_a_page_that_cannot_be_drawn(capsys: pytest.CaptureFixture[str], tables: Tables) -> None:
    """A node that does not exist was told after the training."""
    files = ("--edges", str(tables[0]), "--nodes", str(tables[1]), "--label-column", "topic")
    code, _, err = run(capsys, "explore", *files, "--centre", "u99x", "--quiet")
    assert (code, Path("runs").exists()) == (2, False)
    assert "the nearest is 'u9'" in err
    tables[0].write_text("from,to\n")
    code, _, err = run(capsys, "explore", *files, "--quiet")
    assert (code, Path("runs").exists()) == (2, False)
    assert "has no edges, so no wave travels on it" in err


def test_the_folder_is_served_to_this_machine_alone(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("hello")
    with loopback_server(tmp_path, 0) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        assert address(server).startswith("http://127.0.0.1:")
        with urllib.request.urlopen(address(server), timeout=600) as answer:
            assert answer.read() == b"hello"
        server.shutdown()
