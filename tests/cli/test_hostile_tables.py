"""Nothing that a table contains reaches a page, a path, a spreadsheet or a terminal as anything else than text."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from html.parser import HTMLParser
from pathlib import Path

import pytest
import typer

from commands import Finished
from gwn.cli.main import main

IDS = (
    "<script>alert(1)</script>",
    "=cmd|' /C calc'!A0",
    "+1+1",
    "@SUM(A1)",
    "../../etc/passwd",
    "/tmp/owned",
    "red\x1b[31m",
    "bell\x07",
    "left\u202eright",
    "csi\x9b31m",
    "new\nline",
    '"quoted"',
    "$(touch owned)",
    "`touch owned`",
    "--help",
    "[bold]rich[/bold]",
    "${node}",
    '"><img src=x onerror=alert(1)>',
    "|pipe|",
    "![x](http://example.org)",
)
CLASSES = ("<b>art</b>", "=1+1|x\x1b[2J", "sci\u202eence")
NUMBER, CATEGORY, LABEL = "<i>age</i>\x1b[1m", "=ca|t[bold]", "lab=el<b>"
FILES = ("<img src=x>;$(touch owned) `id`.csv", "e\x1b[31m.csv")
STEERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What a terminal obeys and what turns the direction of a text round."""


def gwn(*arguments: str) -> Finished:
    """The command in this process, its output as a terminal would get it: Typer takes nothing out."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(f"{typer.echo.__module__}.should_strip_ansi", lambda *_, **__: False)
        with pytest.raises(SystemExit) as stop:
            main(arguments)
    return Finished(int(stop.value.code or 0), out.getvalue(), err.getvalue())


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with two such tables, and the folder of a run on them below `runs`."""
    folder = tmp_path_factory.mktemp("hostile")
    ids = [*IDS, *(f"u{i}" for i in range(len(IDS), 60))]
    rows = [
        [ids[i], f"{20 + 5 * (i % 3) + i / 100:.2f}", ("</td><script>", "\x1b]0;t\x07", "x|y")[i % 3], CLASSES[i % 3]]
        for i in range(60)
    ]
    for row in rows[::5]:
        row[-1] = ""
    edges = [[ids[i], ids[(i + 3 * step) % 60]] for i in range(60) for step in (1, 2, 4)]
    heads = (["id", NUMBER, CATEGORY, LABEL], ["source", "target"])
    for name, head, table in zip(FILES, heads, (rows, edges), strict=True):
        with (folder / name).open("w", newline="") as file:
            csv.writer(file).writerows([head, *table])
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        yield folder


@pytest.fixture(scope="module")
def trained(place: Path) -> tuple[Finished, Path]:
    said = gwn("train", *SOURCE, "--runs", "2", "--set", "epochs=2")
    assert said.returncode == 0, said.stderr
    (run,) = (place / "runs").iterdir()
    return said, run


SOURCE = ("--nodes", FILES[0], "--edges", FILES[1], "--label-column", LABEL)


def test_nothing_steers_the_terminal(place: Path, trained: tuple[Finished, Path]) -> None:
    said, run = trained
    name = f"runs/{run.name}"
    others = [
        gwn("data", "describe", *SOURCE),
        gwn("data", "describe", *SOURCE, "--json"),
        gwn("predict", name),
        gwn("predict", name, "--json", "--best"),
        *(gwn("explain", name, f"--node={node}") for node in (IDS[0], IDS[6], IDS[8], IDS[14])),
        gwn("report", name),
        gwn("data", "convert", FILES[1], "--nodes", FILES[0], "--label-column", LABEL, "--out", "folder"),
    ]
    for done in (said, *others):
        assert done.returncode == 0, done.stderr
        assert not STEERS.search(done.stdout + done.stderr), done
    for refused in (
        gwn("explain", name, "--node", "nobody\x1b[31m"),
        gwn("data", "describe", *SOURCE, "--id-column", "i\x1bd"),
        gwn("data", "describe", *SOURCE[:-1], NUMBER),
    ):
        assert refused.returncode == 2
        assert sum(line.startswith("gwn: ") for line in refused.stderr.splitlines()) == 1
        assert not STEERS.search(refused.stderr), refused


def test_the_command_to_go_on_with_is_one_command(place: Path, trained: tuple[Finished, Path]) -> None:
    said, run = trained
    (line,) = [line for line in said.stdout.splitlines() if line.startswith("Predict with: ")]
    words = shlex.split(line.removeprefix("Predict with: gwn "))
    assert words == ["predict", f"runs/{run.name}", "--out", "predictions.csv"]
    assert gwn(*words).returncode == 0
    card = (run / "MODEL_CARD.md").read_text()
    assert f"gwn report {shlex.quote(run.name.replace('`', '_'))}" in card
    assert not STEERS.search(card)
    assert "<b>" not in card.replace("\\<b\\>", "")
    assert not re.search(r"(?<!\\)<(?:img|script)", card)


def test_paths_stay_where_they_belong(place: Path, trained: tuple[Finished, Path]) -> None:
    _, run = trained
    assert not STEERS.search(run.name)
    assert not list(place.rglob("owned*"))
    assert {path.parent for path in place.rglob("*.safetensors")} == {run}


def test_a_spreadsheet_runs_nothing(place: Path, trained: tuple[Finished, Path]) -> None:
    name = f"runs/{trained[1].name}"
    assert "got an apostrophe in front; --raw-cells" in gwn("predict", name, "--out", "safe.csv").stderr
    assert gwn("predict", name, "--out", "raw.csv", "--raw-cells").returncode == 0
    with open("safe.csv", newline="") as safe, open("raw.csv", newline="") as raw:
        rows = list(zip(csv.reader(safe), csv.reader(raw), strict=True))
    assert [row[0] for _, row in rows[1 : len(IDS) + 1]] == [name.strip() for name in IDS], "raw ids are as they were"
    for guarded, kept in rows:
        for cell, was in zip(guarded, kept, strict=True):
            assert not cell.startswith(("=", "+", "@", "-")) or re.fullmatch(r"-?[\d.e+-]+", cell)
            assert cell.removeprefix("'") == was.removeprefix("'")


class Page(HTMLParser):
    """The elements of a page and their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def test_a_page_shows_it_as_text(place: Path, trained: tuple[Finished, Path]) -> None:
    run = trained[1]
    assert gwn("report", f"runs/{run.name}").returncode == 0
    text = (run / "report.html").read_text(encoding="utf-8")
    assert not STEERS.search(text)
    assert "&lt;b&gt;art&lt;/b&gt;" in text
    page = Page()
    page.feed(text)
    assert not [tag for tag, _ in page.tags if tag in ("img", "b", "i", "iframe", "object")]
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    assert all(attributes.get("src") is None for tag, attributes in page.tags if tag == "script")


def test_an_exported_network_says_it_as_json(place: Path, trained: tuple[Finished, Path]) -> None:
    done = gwn("export", f"runs/{trained[1].name}", "--out", "network.pt2")
    assert done.returncode == 0, done.stderr
    text = (place / "network.json").read_text()
    assert json.loads(text)["classes"] == sorted(CLASSES)
    assert not STEERS.search(text)
