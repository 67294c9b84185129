"""`gwn explore`'s page in a real browser, opened from the disk: the wave moves, nodes are chosen, keys do it too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from browser.conftest import UNNAMED, fits
from graphs import toy_graph
from gwn.explore.page import write_explorer
from gwn.explore.subject import Subject
from gwn.networks import GWN
from seeds import reseed

Open = Callable[..., Any]
WICKED = "<img src=x onerror=alert(1)></script><b>"


@pytest.fixture(scope="module")
def explorer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page on a small graph, one of whose nodes has a wicked name."""
    folder = tmp_path_factory.mktemp("explorer")
    graph = toy_graph(nodes=60)
    names = tuple(f"n{i}" for i in range(59))
    graph = replace(graph, node_ids=(*names, WICKED), class_names=("<i>left</i>", "right"))
    reseed(0)
    network = GWN(graph.num_features, 8, 2, laplacian="fa", time=3.0)
    subject = Subject(graph=graph, name="toy & <b>co</b>", network=network, dynamics=("fa", "leapfrog"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GWN_CACHE", str(folder / "cache"))
        return write_explorer(subject, folder / "page")


@pytest.fixture(scope="module")
def desktop(explorer: Path, visit: Open) -> Any:
    return visit(explorer)


@pytest.fixture
def page(desktop: Any) -> Any:
    """One page for many tests, since it takes a while to load; each begins with the first signal at time zero."""
    desktop.evaluate("delete document.body.dataset.ready")
    for key in ("signal", "laplacian", "scheme", "tau"):
        desktop.select_option(f"#{key}", index=0)
    desktop.wait_for_function("document.body.dataset.ready === '0'")
    desktop.click("#whole")
    press_slider(desktop, "Home")
    return desktop


def colours(page: Any) -> list[float]:
    found: list[float] = page.evaluate("document.getElementById('graph').data[0].marker.color")
    return found


def press_slider(page: Any, key: str) -> None:
    page.focus("#time")
    page.keyboard.press(key)


def waveform(page: Any) -> list[float]:
    found: list[float] = page.evaluate("document.getElementById('waveform').data[0].y")
    return found


def test_it_shows_a_wave_that_the_slider_moves(page: Any) -> None:
    before, spectrum = colours(page), page.evaluate("document.getElementById('spectrum').data[0].y")
    press_slider(page, "ArrowRight")
    assert page.input_value("#time") == "1"
    assert page.inner_text("#now").startswith("t = 1, step 1 of 3")
    assert colours(page) != before
    page.wait_for_function("(old) => document.getElementById('spectrum').data[0].y[0] !== old", arg=spectrum[0])
    assert page.evaluate("document.getElementById('energy').layout.shapes[0].x0") == 1
    press_slider(page, "Home")
    assert colours(page) == before


def test_the_choice_of_dynamics_and_its_warning(page: Any) -> None:
    assert page.locator("#verdict").get_attribute("class") == "unbounded"
    assert "Warning, unbounded" in page.inner_text("#verdict")
    page.select_option("#signal", index=2)  # two classes, then the impulse
    page.wait_for_function("document.getElementById('verdict').className === 'bounded'")
    assert page.inner_text("#signal option:checked").startswith("impulse at")
    assert page.input_value("#laplacian") == "physical"
    page.select_option("#tau", "2")
    page.wait_for_function("document.getElementById('verdict').className === 'unbounded'")
    assert "Stable up to tau = 1.4" in page.inner_text("#verdict")
    page.select_option("#scheme", "bessel")
    page.wait_for_function("document.getElementById('verdict').className === 'bounded'")
    assert page.input_value("#tau") == "2", "kept, because bessel has it too"


def test_a_click_on_a_node_shows_its_waveform(page: Any) -> None:
    before = waveform(page)
    for _ in range(600):  # a move that comes while the picture is being drawn finds no node: it is made again
        node, x, y = page.evaluate(
            """() => {
                const box = document.getElementById('graph'), frame = box.getBoundingClientRect();
                const full = box._fullLayout;
                const node = GWN.graph.x.indexOf(Math.max(...GWN.graph.x));  // at the rim, where no other is near
                return [node, frame.x + full.xaxis._offset + full.xaxis.l2p(GWN.graph.x[node]),
                        frame.y + full.yaxis._offset + full.yaxis.l2p(GWN.graph.y[node])];
            }"""
        )
        page.mouse.move(x + 1, y)
        page.mouse.move(x, y)
        page.wait_for_timeout(200)
        if page.evaluate("document.querySelector('#graph .hoverlayer').childElementCount > 0"):
            break
    page.mouse.down()
    page.mouse.up()
    page.wait_for_function("(node) => GWN.state.node === node", arg=node)
    assert page.input_value("#node") == page.evaluate("(node) => GWN.graph.names[node]", node)
    assert waveform(page) != before
    assert len(waveform(page)) == 4


def test_the_keyboard_is_enough(page: Any) -> None:
    page.focus("#node")
    page.keyboard.press("Control+A")
    page.keyboard.type("n7")
    page.keyboard.press("Enter")
    page.wait_for_function("GWN.graph.names[GWN.state.node] === 'n7'")
    page.locator("#neighbours button").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_function("GWN.graph.names[GWN.state.node] !== 'n7'")
    page.focus("#play")
    page.keyboard.press("Space")
    page.wait_for_function("document.getElementById('time').value === '3' && GWN.state.playing === null")
    assert page.inner_text("#play") == "Play"
    page.focus("#closer")
    page.keyboard.press("Enter")
    page.wait_for_function("document.getElementById('edges').layout.xaxis.range[1] < 1", polling=100)
    assert page.evaluate(UNNAMED) == []
    page.fill("#node", "nobody")
    page.keyboard.press("Enter")
    assert page.inner_text("#told") == "no node of that name is drawn"


def test_names_are_only_ever_text(page: Any) -> None:
    page.fill("#node", WICKED)
    page.keyboard.press("Enter")
    page.wait_for_function("(name) => GWN.graph.names[GWN.state.node] === name", arg=WICKED)
    page.locator("#neighbours button").first.click()
    assert WICKED in page.locator("#neighbours button").all_text_contents()
    assert page.locator("main img, h1 b, option i").count() == 0
    assert page.inner_text("h1") == "Waves on toy & <b>co</b>"


NO_WEBGL = """const kept = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
    return String(kind).startsWith("webgl") ? null : kept.call(this, kind, ...more);
};"""


def test_a_small_screen_without_webgl(explorer: Path, visit: Open) -> None:
    page = visit(explorer, phone=True, script=NO_WEBGL)
    assert fits(page)
    assert page.locator("#graph .scatterlayer .point").count() >= 60
    assert all(page.locator(f"#{name}").bounding_box()["height"] >= 40 for name in ("play", "signal", "strongest"))
    before = colours(page)
    press_slider(page, "ArrowRight")
    assert colours(page) != before
