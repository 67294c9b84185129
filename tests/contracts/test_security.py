"""What SECURITY.md promises about code, pages and dependencies."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CLONE = Path(__file__).parents[2]
SOURCES = sorted((CLONE / "src" / "gwn").rglob("*.py"))
PAGES = sorted(path for path in (CLONE / "src" / "gwn" / "templates").glob("*.html") if "<head>" in path.read_text())
RUNS_WHAT_IT_READS = (
    r"import (c|cloud)?[Pp]ickle|pickle\.loads?\(|joblib\.load|allow_pickle=True|weights_only=False|shell=True",
    r"\b(eval|exec)\([^)]",
    r"(all_gather|broadcast|gather|scatter|send|recv)_object",  # collectives that pickle
    r"yaml\.load\(|os\.system\(",
)


def test_no_source_runs_what_it_reads() -> None:
    assert len(SOURCES) > 150
    for path in SOURCES:
        text = re.sub(r"\.(eval|train)\(\)", "", path.read_text(encoding="utf-8"))
        found = [pattern for pattern in RUNS_WHAT_IT_READS if re.search(pattern, text)]
        assert not found, f"{path.name}: {found}"
        if "torch.load(" in text:
            assert text.count("torch.load(") == text.count("weights_only=True"), path.name


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_a_page_runs_only_what_came_with_it(page: Path) -> None:
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy"\s+content="([^"]*)"', page.read_text())
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    assert "*" not in policy
    assert "http" not in policy


def test_there_are_three_pages() -> None:
    assert [page.name for page in PAGES] == ["explore.html", "report.html", "run.html"]


def test_versions_with_known_holes_are_excluded() -> None:
    project = tomllib.loads((CLONE / "pyproject.toml").read_text())["project"]
    assert "torch>=2.10" in project["dependencies"]
