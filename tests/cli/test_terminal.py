"""Tables at any width: no number and no word is cut, the first column stays; a sign of life comes first."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from rich.console import Console

from commands import Command
from gwn.cli import models, terminal
from gwn.cli.main import main
from gwn.cli.progress import TrainingProgress
from gwn.cli.terminal import Rows, print_prose, print_table, sign_of_life, table

ROOT = Path(__file__).parents[2]
WIDTHS = (100, 80, 60)
Table = tuple[Sequence[str], Rows, int]


def drawn(headings: Sequence[str], rows: Rows, left: int, width: int) -> str:
    screen = Console(width=width, file=io.StringIO(), highlight=False)
    with screen.capture() as text:
        screen.print(table(headings, rows, left, width))
    return text.get()


def require_whole(headings: Sequence[str], rows: Rows, left: int, width: int) -> None:
    """Every word and number of every cell stands in the text, within the width, unless it alone is wider."""
    text = drawn(headings, rows, left, width)
    assert max(map(len, text.splitlines())) <= width
    there = set(text.split())
    for row in rows:
        for cell in row:
            assert {word for word in cell.split() if len(word) <= width // 2} <= there
    for group in re.split(r"\n\s*\n", text.strip()):
        if "──" in group:
            assert {word for row in rows for word in row[0].split()} <= set(group.split())


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch) -> list[Table]:
    """The tables that commands print meanwhile."""
    kept: list[Table] = []

    def keep(headings: Sequence[str], rows: Rows, left: int, width: int) -> str:
        kept.append((headings, rows, left))
        return ""

    monkeypatch.setattr(terminal, "table", keep)
    return kept


@pytest.mark.parametrize(
    "arguments",
    [
        ("models",),
        ("models", "gwn-fa"),
        ("data", "list"),
        ("data", "describe", "csbm", "--split", "stratified"),
        ("data", "verify", "texas"),
        ("stability", "csbm"),
        ("reproduce",),
        ("reproduce", "table-heterophilic", "--no-compute", "--results", str(ROOT / "results")),
        ("reproduce", "table-parameters", "--no-compute", "--results", str(ROOT / "results")),
        ("verify", str(ROOT / "tests" / "golden")),
    ],
    ids=" ".join,
)
def test_no_table_of_a_command_is_cut(arguments: tuple[str, ...], printed: list[Table], command: Command) -> None:
    command(*arguments)
    assert printed
    for each in printed:
        for width in WIDTHS:
            require_whole(*each, width)


HARD: tuple[Table, ...] = (
    (["tau", *"abcdefg"], [["0.2", *["1.083e+04"] * 7]], 0),
    (["model", "score", "95 % interval"], [["gwn-" + "x" * 50, "99.99", "99.98 to 100.00"]], 1),
    (["name", "what", "n"], [["a", "word " * 40, "1,234,567"], ["b", "", ""]], 2),
    (["path", "note"], [["/".join(["folder"] * 30), "-1.25e-300"]], 1),
    (["empty"], [], 1),
)


@pytest.mark.parametrize("width", [*WIDTHS, 40])
@pytest.mark.parametrize("hard", HARD, ids=lambda each: str(each[0][0]))
def test_wide_cells_are_wrapped_stacked_or_listed(hard: Table, width: int) -> None:
    if hard[1]:
        require_whole(*hard, width)
    else:
        assert "empty" in drawn(*hard, width)


def test_columns_of_less_weight_give_way(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    headings, rows = ["name", "kind", "nodes", "edges"], [["cora", "x" * 30, "2,708", "5,278"]]
    said = {}
    for width in (60, 30, 12):
        monkeypatch.setattr(terminal, "screen_width", lambda *_, width=width: width)
        print_table(headings, rows, left=2, droppable=("kind",))
        said[width] = capsys.readouterr().out
    assert "x" * 30 in said[60]
    assert "Not shown" not in said[60]
    assert "Not shown at this width: kind" in said[30]
    assert "5,278" in said[30].split()
    assert "Not shown" not in said[12], "stacked, and then with everything"


def test_prose_breaks_between_words(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "screen_width", lambda *_: 20)
    print_prose("Neighbours mostly share a class here.\n\nEnd.")
    assert capsys.readouterr().out == "Neighbours mostly\nshare a class here.\n\nEnd.\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ("train", "csbm", "--set", "epochs=2", "--runs", "1"),
        ("train", "TABLES", "--set", "epochs=2", "--runs", "1"),
        ("data", "describe", "TABLES"),
        ("explain", "RUN", "--node", "u1"),
        ("predict", "RUN", "--out", "answers.csv"),
    ],
    ids=" ".join,
)
def test_no_word_of_a_command_is_broken(
    arguments: tuple[str, ...], tables: tuple[Path, Path], command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lines end within 50 columns, unless they are a command or a path to copy, or of a log that no terminal has."""
    meant = {"TABLES": ["--edges", str(tables[0]), "--nodes", str(tables[1]), "--label-column", "topic"]}
    if "RUN" in arguments:
        command("train", *meant["TABLES"], "--set", "epochs=2", "--runs", "2", "--quiet")
        meant["RUN"] = [str(next(Path("runs").iterdir()))]
    monkeypatch.setattr(terminal, "screen_width", lambda *_: 50)
    done = command(*(word for each in arguments for word in meant.get(each, [each])))
    assert done.returncode == 0
    apart = re.compile("Predict with: |Saved in |run [12]/")
    said = [line for line in (done.stdout + done.stderr).splitlines() if not apart.match(line)]
    assert said
    assert [line for line in said if len(line) > 50 and len(line.split()) > 1] == []


def test_sentences_about_a_model_fill_their_lines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of its docstring are written for another width."""
    monkeypatch.setattr(terminal, "screen_width", lambda *_: 80)
    with pytest.raises(SystemExit):
        main(["models", "gwn-bank"])
    paragraphs = capsys.readouterr().out.partition("--set NAME=VALUE")[0].split("\n\n")
    (settings,) = (part for part in paragraphs if part.startswith("num_layers  "))
    assert "\nstructure, gate, activation\n  " in settings, "a list keeps its lines"
    for part in paragraphs[1 : paragraphs.index(settings)]:
        for line, after in pairwise(part.splitlines()):
            assert len(line) + 1 + len(after.split()[0]) > 80


@pytest.mark.parametrize("width", [60, 80])
def test_what_a_setting_means_has_a_column_of_its_own(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its further lines began at the left edge, in the middle of the list."""
    monkeypatch.setattr(terminal, "screen_width", lambda *_: width)
    monkeypatch.setattr(models, "screen_width", lambda *_: width)
    with pytest.raises(SystemExit):
        main(["models", "gwn-sym"])
    said = capsys.readouterr().out.partition("--set NAME=VALUE")[0]
    (settings,) = (part for part in said.split("\n\n") if "\nlaplacian " in part)
    column = re.search("\nlaplacian +", settings)
    assert column is not None
    beside = len(column.group()) - 1
    terms = {"in_channels,", "encoder_layers,", "laplacian", "scheme", "time,", "dropout", "readout", "speed", "norm"}
    terms |= {"row_normalize", "directed,", "reference", "allow_unstable", "precompute", "options"}
    for line in settings.splitlines():
        assert len(line) <= width
        assert line.split()[0] in terms or line[:beside].isspace(), line


def test_help_breaks_no_word_at_its_hyphens(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--label-column` and `set-aside` cannot be copied in halves."""
    for width in WIDTHS:
        monkeypatch.setenv("COLUMNS", str(width))
        for arguments in ((), ("train",), ("compare",), ("predict",), ("data",), ("data", "describe")):
            said = command(*arguments, "--help").stdout
            assert len(said) > 200
            assert "\N{NON-BREAKING HYPHEN}" not in said
            assert [line for line in said.splitlines() if re.search(r"\w-$", line)] == [], (arguments, width)
            assert max(map(len, said.splitlines())) <= width


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_sign_of_life_stands_until_something_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    out, err = Screen(), Screen()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    with sign_of_life("one moment"):
        assert err.getvalue() == "one moment"
        print("the answer")
        assert err.getvalue() == f"one moment\r{' ' * 10}\r"
        print("more")
    assert out.getvalue() == "the answer\nmore\n"
    with sign_of_life("again"):
        pass
    assert err.getvalue().endswith(f"again\r{' ' * 5}\r"), "gone in the end, whatever was said"


@pytest.mark.parametrize("width", WIDTHS)
def test_a_bar_leaves_its_numbers_whole(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    err = Screen()
    monkeypatch.setattr(sys, "stderr", err)
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    with TrainingProgress(10, 2000) as progress:
        progress.on_epoch(9, 1234, 0.805)
    seen = re.split(r"[\r\n]+", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", err.getvalue()))
    (last,) = {" ".join(line.split()) for line in seen if "run 10" in line}
    assert last.startswith("run 10, validation 80.5 ")
    assert re.search(r" 1234/20000 epochs (\d:\d\d:\d\d )?left [-\d]:[-\d]{2}:[-\d]{2}$", last)
    assert ("━" in last) == (width >= 76)


@pytest.mark.parametrize(("arguments", "shown"), [(["models"], True), (["models", "--help"], False)])
def test_a_command_shows_something_before_it_works(
    arguments: list[str], shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    err = Screen()
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    monkeypatch.setattr(sys, "stderr", err)
    with pytest.raises(SystemExit):
        main(arguments)
    assert err.getvalue().startswith("gwn models: starting ...\r") == shown


def test_an_error_breaks_between_words_on_a_terminal_and_is_one_line_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    said = {}
    for terminal_here, err in ((True, Screen()), (False, io.StringIO())):
        monkeypatch.setattr(sys, "stderr", err)
        with pytest.raises(SystemExit):
            main(["data", "describe", "no-such-dataset"])
        said[terminal_here] = err.getvalue().split("\r")[-1].rstrip("\n")
    assert "\n" not in said[False]
    assert said[True].split() == said[False].split()
    assert max(map(len, said[True].splitlines())) <= 40


def test_what_would_be_stable_is_a_command_to_copy(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whole on a line of its own, however narrow the terminal is."""
    monkeypatch.setattr(terminal, "screen_width", lambda *_: 40)
    with pytest.raises(SystemExit):
        main(["stability", "csbm"])
    lines = capsys.readouterr().out.splitlines()
    assert "  gwn stability csbm --laplacian physical --scheme newmark" in lines


def test_one_function_draws_all_tables() -> None:
    drawing = [path.name for path in (ROOT / "src/gwn/cli").glob("*.py") if "rich.table" in path.read_text()]
    assert drawing == ["terminal.py"]
