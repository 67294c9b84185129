"""What README and the pages say can be run, and what they link to is there."""

from __future__ import annotations

import pkgutil
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from gwn.cli.main import app

ROOT = Path(__file__).parent.parent
TOP = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "examples" / "README.md"]
PAGES = [*TOP, *sorted((ROOT / "docs").glob("*.md"))]
SHORT = {
    "gwn data describe": "",
    "gwn compare": " --time 60s --models logistic,gwn-sym --trials 2 --runs 2 --jobs 1 -q --set epochs=20",
    "gwn predict": "",
    "gwn explain": "",
    "gwn report runs": "",
    "train digits": " --runs 1 --set epochs=3",
    "stability digits": "",
}
"""Commands of README that are run, and what shortens them; the others download, search or take minutes."""


def blocks(page: Path, language: str = "") -> list[str]:
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return [code for found, code in fenced if found == language]


def commands(page: Path) -> Iterator[list[str]]:
    """The arguments of every `gwn …` that stands in a block of its own."""
    indented = re.findall(r"(?:^    .*\n)+", page.read_text(encoding="utf-8"), re.MULTILINE)
    for block in [*blocks(page), *indented]:
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if "gwn" in words and not line.lstrip().startswith("from"):
                yield words[words.index("gwn") + 1 :]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder that looks like a fresh clone to the examples."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("page", ["README.md", "docs/quickstart.md", "docs/own-graph.md"])
def test_python_of_a_page_runs_from_top_to_bottom(
    page: str, clone: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(clone)
    found = blocks(ROOT / page, "python")
    assert found
    exec(compile("\n".join(found), page, "exec"), {"__name__": "__main__"})
    if page == "docs/quickstart.md":
        accuracy = float(re.search(r"tensor\((.*)\)", capsys.readouterr().out).group(1))  # type: ignore[union-attr]
        assert 0.9 < accuracy <= 1.0


@pytest.mark.slow
def test_quick_commands_of_readme_work_as_shown(clone: Path) -> None:
    shown = [line for block in blocks(ROOT / "README.md") for line in block.splitlines() if line.startswith("gwn ")]
    run = [line.partition("  #")[0] + more for line in shown for quick, more in SHORT.items() if quick in line]
    assert len(run) >= 4
    function = f'gwn() {{ {shlex.quote(sys.executable)} -m gwn "$@"; }}'
    script = "\n".join([function, "set -e", *dict.fromkeys(run)])
    finished = subprocess.run(["bash", "-c", script], cwd=clone, capture_output=True, text=True, timeout=600)
    assert finished.returncode == 0, finished.stderr
    assert (clone / "predictions.csv").read_text(encoding="utf-8").count("\n") == 1 + 178


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_of_a_page_is_understood(page: Path) -> None:
    group = typer.main.get_command(app)
    for words in commands(page):
        command, path = group, ["gwn"]
        while hasattr(command, "commands") and words:
            path.append(words[0])
            assert words[0] in command.commands, f"{page.name}: {' '.join(path)}"
            command, words = command.commands[words[0]], words[1:]
        known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        unknown = [word for word in words if word.startswith("-") and word not in known | {"--help", "-h"}]
        assert not unknown, f"{page.name}: {' '.join(path)} has no {unknown}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_names_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"(?:`|python -m )(gwn(?:\.\w+)+)", text):
        assert exists(name), f"{page.name} names {name}"
    for path in re.findall(r"`((?:src|tests|benchmarks|examples|docs|results)/[\w./-]+)`", text):
        assert "NAME" in path or (ROOT / path).exists(), f"{page.name} names {path}"


def exists(name: str) -> bool:
    try:
        pkgutil.resolve_name(name)
    except (ImportError, AttributeError):
        return False
    return True


def test_links_in_documentation_exist() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert "://" in target or (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.slow
def test_the_site_builds_without_a_dead_link_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="mkdocs is not installed: make setup")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(tmp_path)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert built.returncode == 0, built.stderr
    pages = {page.name: page.read_text(encoding="utf-8") for page in tmp_path.glob("*.html")}
    assert {"index.html", "quickstart.html", "contributing.html", "examples.html", "api.html"} <= set(pages)
    assert "hidden_channels" in pages["api.html"]
    for name, text in pages.items():
        loaded = re.findall(r"<(?:script|img|iframe)[^>]* src=\"([^\"]+)|<link[^>]* href=\"([^\"]+)", text)
        assert not [found for found in loaded if "//" in "".join(found)], name
