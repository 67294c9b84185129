"""The page of a run in a real browser, opened from the disk: names are only ever text, the wave moves, nothing sticks
out, in light and in dark."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from browser.conftest import UNNAMED, fits, violations
from graphs import toy_graph
from gwn.cli.main import main
from gwn.pages.charts import CHARACTER
from gwn.runs.facts import Answers
from gwn.runs.judged import judged

Open = Callable[..., Any]
WICKED = "<img src=x onerror=alert(1)>"
BREAKING = "</script><script>alert(2)</script>"
LONG = "a-very-long-name-without-any-space-" * 4


@pytest.fixture(scope="module")
def run_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on sixty people, with names that a page must not obey: ids, classes and columns."""
    folder = tmp_path_factory.mktemp("run")
    rng = random.Random(0)
    people = [f"u{i}" for i in range(60)]
    people[7], people[8], people[9] = WICKED, BREAKING, LONG
    classes = (WICKED, BREAKING, LONG)
    nodes = [f'"id","age","{BREAKING}","topic"']
    nodes += [
        f'"{name}",{20 + rng.random():.2f},{i % 3 + rng.random():.2f},"{classes[i % 3]}"'
        for i, name in enumerate(people)
    ]
    edges = ['"from","to"'] + [
        f'"{people[i]}","{people[(i + 3 * rng.randint(1, 9)) % 60]}"' for i in range(60) for _ in range(3)
    ]
    (folder / "nodes.csv").write_text("\n".join(nodes) + "\n")
    (folder / "edges.csv").write_text("\n".join(edges) + "\n")
    tables = ("--edges", str(folder / "edges.csv"), "--nodes", str(folder / "nodes.csv"), "--label-column", "topic")
    settings = ("--model", "gwn-fa", "--runs", "2", "--set", "epochs=6", "--set", "hidden_channels=8", "-q")
    _command("train", *tables, *settings, "--out", str(folder / "runs"))
    (run,) = (folder / "runs").iterdir()
    page = folder / "page.html"
    _command("report", str(run), "--node", WICKED, "--node", BREAKING, "--node", LONG, "--out", str(page))
    return page


def _command(*arguments: str) -> None:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert not stop.value.code


def test_names_are_only_ever_text(run_page: Path, visit: Open) -> None:
    page = visit(run_page)
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2, "the page's own, and the data of the wave"
    text = page.inner_text("#why")
    assert f"Node {WICKED}: predicted" in text
    assert f"Node {BREAKING}: predicted" in text
    assert len(run_page.read_bytes()) < 300_000
    for section in ("curves", "confusion", "classes", "calibration", "mistakes", "why", "wave", "settings"):
        assert page.locator(f"#{section}").is_visible()
    assert page.evaluate(UNNAMED) == []


def test_tables_sort_as_those_of_the_report(run_page: Path, visit: Open) -> None:
    page = visit(run_page)
    heads = page.locator("#classes thead th")
    heads.nth(3).locator("button").click()
    assert heads.nth(3).get_attribute("aria-sort") == "descending"
    recall = [float(text) for text in page.locator("#classes tbody td:nth-of-type(3)").all_inner_texts()]
    assert recall == sorted(recall, reverse=True)


NAMES = ("theory", "reinforcement", "genetic", "neural nets", "probabilistic", "case-based", "rules")


def test_class_names_are_whole_and_tables_fit_a_phone(run_page: Path, visit: Open, tmp_path: Path) -> None:
    """Cora's names stood as "theor y" above the columns, and F1 was out of sight on a phone."""
    scores = Answers(
        nodes=torch.arange(7),
        known=np.arange(7),
        predicted=np.arange(7),
        confidence=np.full(7, 0.9),
        classes=NAMES,
    )
    html = run_page.read_text(encoding="utf-8")
    for section in judged(scores, toy_graph(nodes=20))[:2]:
        name = section.split('id="')[1].split('"')[0]
        there = re.search(rf'<section[^>]*id="{name}".*?</section>', html, flags=re.DOTALL)
        assert there is not None
        html = html.replace(there.group(), str(section))
    other = tmp_path / "page.html"
    other.write_text(html, encoding="utf-8")
    page = visit(other, phone=True)
    page.set_viewport_size({"width": 390, "height": 844})
    heads = page.locator(".confusion thead span")
    assert heads.all_inner_texts() == list(NAMES)
    assert {*heads.evaluate_all("(all) => all.map((each) => each.getClientRects().length)")} == {1}
    heights = heads.evaluate_all("(all) => all.map((each) => each.getBoundingClientRect().height)")
    assert heights[1] > heights[0] > 30, "upright"
    for table in ("#confusion", "#classes"):
        wide, room = page.locator(f"{table} .scroll").evaluate("(box) => [box.scrollWidth, box.clientWidth]")
        assert wide <= room, table


def test_the_page_may_not_run_or_load_anything_else(run_page: Path, browser: Any) -> None:
    page = browser.new_context().new_page()
    page.goto(run_page.resolve().as_uri())
    page.evaluate(
        """() => {
            window.ran = false;
            const script = document.createElement('script');
            script.textContent = 'window.ran = true';
            document.body.append(script);
        }"""
    )
    assert page.evaluate("window.ran") is False
    assert "%" in page.inner_text(".score")


def test_the_slider_moves_the_wave(run_page: Path, visit: Open) -> None:
    page = visit(run_page)
    before = page.locator(".ball").first.get_attribute("fill-opacity"), page.inner_text("#wave-now")
    page.focus("#wave-time")
    page.keyboard.press("Home")
    assert page.inner_text("#wave-now") == "t = 0"
    after = page.locator(".ball").first.get_attribute("fill-opacity"), page.inner_text("#wave-now")
    assert after != before
    page.click("#wave-play")
    page.locator("#wave-play:text-is('Play')").wait_for()
    assert page.input_value("#wave-time") == page.get_attribute("#wave-time", "max")


def test_a_small_screen_in_the_dark_and_on_paper(run_page: Path, visit: Open) -> None:
    page = visit(run_page, phone=True)
    assert fits(page)
    widths = page.locator(".chart .number").evaluate_all(
        "(all) => all.map((each) => each.getComputedTextLength() / each.textContent.length)"
    )
    assert 0 < max(widths) <= CHARACTER, "numbers lay on their bars, whose letters are larger on a phone"
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.emulate_media(color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
    assert page.locator("#wave-play").bounding_box()["height"] >= 40
    page.emulate_media(media="print")
    assert not page.locator("#wave-time").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation(run_page: Path, visit: Open, scheme: str) -> None:
    page = visit(run_page)
    page.emulate_media(color_scheme=scheme)
    assert violations(page) == []
