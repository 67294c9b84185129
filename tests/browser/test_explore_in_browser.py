"""`gwn explore`'s page in a real browser, opened from the disk: what it computes is what Python computes, the pulse
starts where one clicks, keys do it too, and what is shown is in the address."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image, ImageColor

from benchmarks.explorer import crowd, frame_rate, slider_milliseconds
from browser.conftest import fits, violations
from graphs import toy_graph
from gwn.adjacency import Adjacency, normalised_adjacency
from gwn.explore.page import write_explorer
from gwn.explore.subject import Subject
from gwn.graph import Graph
from gwn.networks import GWN
from gwn.networks.dynamics import build_dynamics
from gwn.schemes import integrate
from gwn.stability import MODES
from gwn.training.loss import AS_IT_IS, Scaling
from seeds import generator, reseed

Open = Callable[..., Any]
WICKED = "<img src=x onerror=alert(1)></script><b>"
NODES = 60


def toy() -> Graph:
    """A small weighted graph, one of whose nodes has a wicked name."""
    graph = toy_graph(nodes=NODES)
    names = tuple(f"n{i}" for i in range(NODES - 1))
    ends, once = graph.edge_index.sort(0).values, torch.rand(NODES, NODES, generator=generator(1)) + 0.5
    weight = once[ends[0], ends[1]]
    return replace(graph, edge_weight=weight, node_ids=(*names, WICKED), class_names=("<i>left</i>", "right"))


@pytest.fixture(scope="module")
def explorer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, graph = tmp_path_factory.mktemp("explorer"), toy()
    reseed(0)
    network = GWN(graph.num_features, 8, 2, laplacian="fa", time=3.0)
    known = graph.labels
    subject = Subject(
        graph=graph,
        name="toy & <b>co</b>",
        network=network,
        model="gwn-fa",
        laplacian="fa",
        predicted=torch.where(torch.arange(NODES) < 20, 1 - known, known),
        part=torch.ones(NODES, dtype=torch.uint8),
        about="gwn-fa was trained.",
        command="gwn explore",
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GWN_CACHE", str(folder / "cache"))
        return write_explorer(subject, folder / "page")


@pytest.fixture(scope="module")
def desktop(explorer: Path, visit: Open) -> Any:
    page = visit(explorer)
    page.set_viewport_size({"width": 1440, "height": 900})
    return page


@pytest.fixture
def page(desktop: Any) -> Any:
    """One page for many tests; each begins with the pulse of the first view, at rest at time zero."""
    address = desktop.evaluate("location.href.split('#')[0]")
    desktop.goto(address + "#view=pulse&t=0&node=n3&laplacian=physical&scheme=leapfrog&tau=0.25")
    desktop.reload()
    desktop.wait_for_selector("body[data-ready]")
    return desktop


def explore(page: Any, what: str, argument: Any = None) -> Any:
    """Something of the page's own objects: `at` is `GWN.explorer`, `it` the argument."""
    return page.evaluate(f"(it) => {{ const at = GWN.explorer; return {what}; }}", argument)


def until(page: Any, what: str) -> None:
    """Wait for it by asking again: the page's policy forbids to wait inside it."""
    while not explore(page, what):
        page.wait_for_timeout(20)


# ---- what it computes ----------------------------------------------------------------------------------------------


def drawn_adjacency() -> Adjacency:
    graph = toy()
    return normalised_adjacency(graph.edge_index, graph.edge_weight, NODES, dtype=torch.float64)


WAVE = """Array.from(GWN.integrate(at.op, it.space, it.scheme, it.tau, it.steps, it.x, it.v, it.interval),
    (state) => Array.from(state))"""


@pytest.mark.parametrize("laplacian", ["physical", "sym", "random-walk", "klein-gordon"])
def test_a_wave_is_the_one_that_python_computes(page: Any, laplacian: str) -> None:
    space = explore(page, "JSON.parse(document.getElementById('data').textContent).laplacians[it]", laplacian)
    start = torch.randn(2, NODES, 1, generator=generator(2), dtype=torch.float64)
    assert "leapfrog" in space["schemes"]
    for scheme in space["schemes"]:
        for tau in (0.3, 1.7):
            operator, integrator = build_dynamics(laplacian, scheme, 1, 6, tau, allow_unstable=True, options={})
            with torch.no_grad():
                expected = integrate(
                    operator.double().on(drawn_adjacency()), integrator, start[0], start[1], 6, trajectory=True
                )[:, :, 0]
            interval = operator.interval
            assert interval is not None
            asked = {"space": space, "scheme": scheme, "tau": tau, "steps": 6, "interval": interval}
            found = explore(page, WAVE, {**asked, "x": start[0, :, 0].tolist(), "v": start[1, :, 0].tolist()})
            size = float(expected.abs().max())
            np.testing.assert_allclose(found, expected.numpy(), atol=1e-6 * size, err_msg=f"{scheme} {tau}")
            growth = explore(page, "GWN.growth(it.scheme, it.tau, ...it.interval)", asked)
            modes = np.linspace(*interval, MODES)
            assert growth == pytest.approx(max(integrator.growth(float(mu)) for mu in modes), rel=1e-9)


def test_frequencies_are_those_of_the_eigenvectors(page: Any) -> None:
    values, vectors = torch.linalg.eigh(drawn_adjacency().matrix.csr.to_dense())
    for k in (0, 20, NODES - 1):
        asked = [vectors[:, k].tolist()] * 2
        share = explore(page, "Array.from(new GWN.Wave(at.op, it, 1, false).spectrum(0))", asked)
        assert sum(share) == pytest.approx(1.0)
        middle = (int(np.argmax(share)) + 0.5) * 2 / len(share)
        assert middle == pytest.approx(1 - float(values[k]), abs=2 * 2 / len(share))


def test_energy_explodes_under_the_papers_sign(page: Any) -> None:
    page.select_option("#compare", "sym")
    kinetic = explore(page, "at.panels[1].wave.kinetic")
    assert kinetic[-1] > 1e6 * kinetic[4]
    assert "S − I: Bounded" in page.inner_text("#verdicts")
    assert "S has the eigenvalue +1" in page.inner_text("#verdicts")
    assert "the one beside it" in page.inner_text("#words")


ENERGY_LINES = """(() => {
    const canvas = document.getElementById("energy"), pen = canvas.getContext("2d"), lines = [[]];
    pen.lineTo = (x, y) => { lines.at(-1).push(y); };
    pen.stroke = () => { lines.push([]); };
    document.getElementById("tau").dispatchEvent(new Event("input"));
    delete pen.lineTo;
    delete pen.stroke;
    return { lines: lines.filter((line) => line.length > 1), height: canvas.clientHeight };
})()"""
"""The places from above of the drawn energies: of the sum, then of the kinetic and the potential one."""


def test_energy_is_drawn_as_it_is_and_stays_where_the_words_say_so(page: Any) -> None:
    laplacians = explore(page, "JSON.parse(document.getElementById('data').textContent).laplacians")
    said = set()
    for laplacian, space in laplacians.items():
        page.select_option("#laplacian", laplacian)
        for scheme in space["schemes"]:
            page.select_option("#scheme", scheme)
            for tau in (0.25, 1.3):
                page.locator("#tau").fill(str(tau))
                wave = explore(page, "(({ kinetic, potential }) => [kinetic, potential])(at.panels[0].wave)")
                energy = np.sum(wave, axis=0)
                drawn = explore(page, ENERGY_LINES)
                if energy.min() > energy.max() / 30:  # otherwise the axis is logarithmic
                    places, values = np.array(drawn["lines"]), np.stack([energy, *wave])[:, 1:]
                    slope, start = np.polyfit(values.ravel(), places.ravel(), 1)
                    np.testing.assert_allclose(places, start + slope * values, atol=1e-3)
                    assert places.max() <= drawn["height"] - 18, "above the axis"
                if "sum of both energies stays" in page.inner_text("#verdicts"):
                    said.add((laplacian, scheme))
                    assert np.ptp(energy) < 1e-6 * energy.max(), (laplacian, scheme, tau)
    assert said == {(laplacian, "leapfrog") for laplacian in laplacians if laplacian != "sym"}


def test_a_growth_that_nobody_knows_is_not_called_bounded(page: Any) -> None:
    """Infinite and unknown growth are null in the page, and null <= 1 in JavaScript."""
    said = explore(page, "GWN.verdictOfNetwork(it)", {"growth": None, "laplacian": "fa", "highest": 1.0})
    assert not said["bounded"]
    assert "is not known" in said["text"]


def test_verdicts_name_the_equation_that_is_solved(page: Any) -> None:
    def verdict(*asked: object) -> str:
        return str(explore(page, "GWN.verdict(...it).text", asked))

    wave, heat, damped = (verdict("sym", scheme, 0.25, -1, 1) for scheme in ("leapfrog", "heat", "damped"))
    assert "u″ = +u" in wave
    assert "The paper's wave" in wave
    assert "u′ = +u" in heat
    assert "u″ + 0.1 u′ = +u" in damped
    assert not any("cosh" in text or "paper" in text for text in (heat, damped))
    assert "u″" not in heat
    assert "negative, so every mode is pulled back to zero and swings" in verdict(
        "klein-gordon", "bessel", 1, -2.25, -0.25
    )
    resting, moving = (verdict("physical", "bessel", 1, -2, 0, moves) for moves in (False, True))
    assert resting.startswith(
        "Bounded: no eigenvalue of S − I is positive. The smooth mode, of eigenvalue 0, stays as it"
    )
    assert moving.startswith("Bounded but for a drift: ")
    assert "keeps the speed it starts with" in moving
    assert "no mode swings" in verdict("physical", "heat", 0.5, -2, 0)
    assert "die out, the roughest with another sign" in verdict("physical", "heat", 0.8, -2, 0)
    assert "the roughest only changes its sign" in verdict("physical", "heat", 1, -2, 0)


# ---- what is seen --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(1440, 900), (390, 844)])
def test_it_opens_on_a_pulse_that_plays_above_the_fold(explorer: Path, visit: Open, size: tuple[int, int]) -> None:
    page = visit(explorer, phone=size[0] < 600)
    page.set_viewport_size({"width": size[0], "height": size[1]})
    assert explore(page, "[at.state.view, at.state.laplacian, at.state.playing]") == ["pulse", "physical", True]
    until(page, "at.state.time > 0.2")
    assert page.inner_text("#play") == "Pause"
    for name in ("picture", "play", "time"):
        box = page.locator(f"#{name}").bounding_box()
        assert 0 <= box["y"] <= size[1] - box["height"], name
    assert fits(page)
    if size[0] < 600:
        picture, closer = (page.locator(each).bounding_box() for each in ("#picture", "#closer"))
        assert closer["y"] >= picture["y"] + picture["height"], "no button over the nodes of a small picture"
    words = page.inner_text("#words")
    assert words.startswith("A pulse was set free at ")
    assert f"of {NODES} nodes" in words
    page.click("#play")
    stopped = explore(page, "at.state.time")
    until(page, "new URLSearchParams(location.hash.slice(1)).has('t')")
    assert explore(page, "at.state.time") == stopped


def test_the_pulse_starts_at_a_clicked_node(page: Any) -> None:
    node, x, y = explore(
        page,
        """(() => {
            const xs = Array.from(at.graph.x), node = xs.indexOf(Math.max(...xs));  // at the rim, alone
            const box = document.getElementById("picture").getBoundingClientRect();
            const [x, y] = at.pictures[0].positionOf(node);
            return [node, box.x + x, box.y + y];
        })()""",
    )
    page.mouse.move(x + 1, y)
    name = explore(page, "at.graph.name(it)", node)
    assert page.text_content("#tip").startswith(name)
    page.mouse.click(x, y)
    assert explore(page, "at.state.node") == node
    first = explore(page, "Array.from(at.panels[0].wave.states[0])")
    assert (first[node], sum(first)) == (1.0, 1.0)
    assert page.input_value("#node") == name
    assert explore(page, "at.state.playing")


def test_a_node_tells_of_both_waves_where_the_pointer_is(page: Any) -> None:
    page.select_option("#compare", "sym")
    page.evaluate("GWN.explorer.show(5)")
    places = """at.pictures.map((picture) => {
        const box = picture.canvases[1].getBoundingClientRect(), [x, y] = picture.positionOf(it);
        return [box.x + x, box.y + y];
    })"""
    for x, y in explore(page, places, 3):
        page.mouse.move(x, y)
        tip = page.locator("#tip").bounding_box()
        assert abs(tip["x"] - x) < 210, "beside the node that is pointed at"
        assert page.text_content("#tip").startswith("n3")
        assert " | " in page.text_content("#tip").split("amplitude")[1]


def test_laplacian_scheme_and_tau_answer_at_once(page: Any) -> None:
    assert "Bounded" in page.inner_text("#verdicts")
    page.locator("#tau").fill("2")
    assert "Grows: tau = 2 is above 1.4" in page.inner_text("#verdicts")
    page.select_option("#scheme", "bessel")
    assert "Bounded" in page.inner_text("#verdicts")
    assert explore(page, "at.panels[0].wave.states.length") == 11
    page.select_option("#laplacian", "sym")
    assert page.input_value("#scheme") == "leapfrog", "bessel solves another equation"
    assert "grows like cosh t for every tau" in page.inner_text("#verdicts")


CUT = """[...document.querySelectorAll("select")].filter((each) => each.offsetParent).flatMap((each) => {
    const style = getComputedStyle(each), pen = document.createElement("canvas").getContext("2d"), ARROW = 20;
    pen.font = style.font;
    const room = each.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - ARROW;
    return [...each.options].map((option) => option.text).filter((text) => pen.measureText(text).width > room);
})"""


def test_no_choice_and_no_caption_is_cut(explorer: Path, visit: Open) -> None:
    for phone in (False, True):
        page = visit(explorer, phone=phone, fragment="#t=1")
        for view in ("pulse", "network"):
            page.click(f"#view-{view}")
            assert explore(page, CUT) == [], (phone, view)
            captions = (
                "[...document.querySelectorAll('figcaption')].filter((each) => each.scrollWidth > each.clientWidth)"
            )
            assert explore(page, f"{captions}.length") == 0, (phone, view)
        page.close()


def test_an_axis_has_three_numbers_at_least(page: Any) -> None:
    assert explore(page, "GWN.ticks(0, 20, 5)") == [0, 5, 10, 15, 20]
    for size in np.geomspace(0.01, 1e5, 60):
        ticks = explore(page, "GWN.ticks(-it, it, 4)", float(size))
        assert 3 <= len(ticks) <= 9, (size, ticks)
        assert max(map(abs, ticks)) <= size * (1 + 1e-9)


def test_one_neighbour_is_one_and_a_start_has_reached_nobody(page: Any) -> None:
    counted = (
        "Array.from({ length: at.graph.nodes }, (_, i) => [at.op.start[i + 1] - at.op.start[i], at.graph.about(i)])"
    )
    for count, about in explore(page, counted):
        assert about.endswith(f" {count} neighbour{'' if count == 1 else 's'})")
    assert explore(page, "GWN.many(1303, 'node')") == "1,303 nodes"
    assert page.inner_text("#words").endswith("At t = 0 it has reached no other node yet.")


def test_a_frame_that_began_before_play_does_not_turn_time_back(page: Any) -> None:
    page.evaluate("() => { performance.now = () => 1e9; GWN.explorer.play(); delete performance.now; }")
    until(page, "at.state.time > 0.05")
    page.evaluate("GWN.explorer.pause()")


def test_the_trained_network_is_the_second_view(page: Any) -> None:
    page.click("#view-network")
    page.evaluate("GWN.explorer.pause()")
    assert explore(page, "at.panels[0].wave.states.length") == 4
    assert "gwn-fa: the score of class " in page.inner_text("#words")
    assert set(page.locator("#class option").all_text_contents()) == {"class <i>left</i>", "class right"}
    page.select_option("#compare", "heat")
    assert "GCN's smoothing" in page.inner_text("#title-1")
    page.select_option("#compare", "physical")
    assert "physical: Bounded but for a drift: " in page.inner_text("#verdicts"), "of what starts with a velocity"
    page.select_option("#compare", "heat")
    assert "Smoothing has" in page.inner_text("#words")
    smoothed = explore(page, "at.panels[1].wave.differences")
    assert all(0 < after < before for before, after in pairwise(smoothed)), "heat only smooths"
    before = explore(page, PIXELS, 0)
    assert "operator is above zero for some signals, up to +" in page.inner_text("#verdicts")
    page.select_option("#edges", "attention")
    assert explore(page, PIXELS, 0) != before
    assert "attention above zero" in page.inner_text("#legend")


def untrained(graph: Graph, answers: int, folder: Path, scaling: Scaling = AS_IT_IS) -> Path:
    """The page of a network of 6 steps over S that has learnt nothing."""
    reseed(0)
    network = GWN(graph.num_features, 8, answers, laplacian="sym", time=6.0)
    subject = Subject(graph=graph, name="toy", network=network, model="gwn-sym", laplacian="sym", scaling=scaling)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GWN_CACHE", str(folder / "cache"))
        return write_explorer(subject, folder / "page")


def test_a_thinned_out_network_keeps_its_times(visit: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = toy_graph(nodes=NODES)
    whole = visit(untrained(graph, 2, tmp_path / "whole"), fragment="#view=network&t=6&compare=sym")
    monkeypatch.setattr("gwn.explore.page.MOST_VALUES", 5 * 2 * NODES)
    thin = visit(untrained(graph, 2, tmp_path / "thin"), fragment="#view=network&t=6&compare=sym")
    at = [0, 2, 3, 4, 6]
    assert explore(thin, "at.panels[0].network.at") == at
    assert "after 6 of 6 steps" in thin.inner_text("#words")
    states = "Array.from(at.panels[it].wave.states, (state) => Array.from(state))"
    np.testing.assert_allclose(explore(thin, states, 0), np.array(explore(whole, states, 0))[at])
    np.testing.assert_allclose(explore(thin, states, 1), explore(whole, states, 1), err_msg="in steps of the network")
    kinetic = "at.panels[0].wave.kinetic"
    np.testing.assert_allclose(explore(thin, kinetic)[1:3], explore(whole, kinetic)[2:4], rtol=1e-6)
    assert explore(thin, "at.panels[0].wave.time(1.5)") == 2.5
    assert [explore(thin, "at.panels[0].wave.place(it)", time) for time in (-1, 0, 1, 2.5, 5, 7)] == [
        0,
        0,
        0.5,
        1.5,
        3.5,
        4,
    ]
    thin.keyboard.press(",")
    until(thin, "at.state.time === 4")
    assert "after 4 of 6 steps" in thin.inner_text("#words")


def test_a_predicted_number_has_no_votes(visit: Open, tmp_path: Path) -> None:
    graph = toy_graph(nodes=NODES)
    numbers = replace(graph, y=1_000_857_000 + torch.arange(NODES).double(), class_names=None)
    assert numbers.task == "regression"
    page = visit(untrained(numbers, 1, tmp_path, Scaling(mean=1_000_857_030, spread=17)), fragment="#view=network&t=6")
    words = page.inner_text("#words")
    assert words.startswith("gwn-sym: the predicted number on its way through the network, after 6 of 6 steps. ")
    assert " Zero stands for 1,000,857,0" in words
    assert "nodes are above it (orange)" in words
    assert words.endswith("below it (blue).")
    assert page.inner_text("label[for=class]") == "Shown"
    assert explore(page, "[-2e6, -1e6, 1e6, -3e-5, -7].map((v) => GWN.number(v))") == [
        "−2·10⁶",
        "−10⁶",
        "10⁶",
        "−3·10⁻⁵",
        "−7",
    ]
    assert explore(page, "at.graph.facts(12)[0]") == "number 1,000,857,012"
    page.select_option("#colour", "number")
    assert "1,000,857,000" in page.inner_text("#legend")


def test_classes_beyond_the_colours_are_one_kind(visit: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GWN_CACHE", str(tmp_path / "cache"))
    classes = 15
    labels = torch.arange(NODES) % classes
    labels[:10] = classes - 1  # the last is the largest
    graph = replace(
        toy_graph(nodes=NODES), y=labels, class_names=tuple(f"a class by the name of c{k}" for k in range(classes))
    )
    page = visit(
        write_explorer(Subject(graph=graph, name="数 of many"), tmp_path / "page"), fragment="#colour=class&t=0"
    )
    backgrounds = "[...document.querySelectorAll('#legend .chip i')].map((dot) => dot.style.background)"
    found = explore(page, backgrounds)
    assert len(found) == len({*found}) == 11
    chips = page.locator("#legend .chip").all_text_contents()
    assert chips[-2:] == ["a class by the name of c14", "and 5 other classes"]
    with page.expect_download() as picture:
        page.click("#save-picture")
    assert picture.value.suggested_filename == "wave-数-of-many.png"
    picture.value.save_as(tmp_path / "wave.png")
    saved = np.asarray(Image.open(tmp_path / "wave.png").convert("RGB"))
    below = saved[30 + round(page.locator("#picture").bounding_box()["height"]) :]
    missing = [colour for colour in found if not (below == ImageColor.getrgb(colour)).all(-1).any()]
    assert missing == [], "a picture says what all of its colours mean, in several rows if need be"
    colours = explore(page, "it.map((k) => GWN.classColour(GWN.theme(), at.graph, k))", [*range(-1, classes)])
    rest = explore(page, "GWN.theme().rest")
    assert colours[0] == rest
    assert colours.count(rest) == 1 + 5


PIXELS = "at.pictures[it >> 1].canvases[it & 1].toDataURL()"


@pytest.mark.parametrize("colour", ["class", "prediction", "mistake"])
def test_nodes_are_coloured(page: Any, colour: str) -> None:
    before = explore(page, PIXELS, 0)
    page.select_option("#colour", colour)
    assert explore(page, PIXELS, 0) != before
    assert ("wrong" if colour == "mistake" else "<i>left</i>") in page.inner_text("#legend")


def test_what_is_shown_is_in_the_address(page: Any, explorer: Path, visit: Open) -> None:
    page.select_option("#laplacian", "random-walk")
    page.select_option("#compare", "heat")
    page.evaluate("GWN.explorer.show(7.5)")
    page.fill("#node", WICKED)
    page.keyboard.press("Enter")
    page.evaluate("GWN.explorer.pause(); GWN.explorer.show(7.5)")
    page.select_option("#colour", "class")
    until(page, "new URLSearchParams(location.hash.slice(1)).get('colour') === 'class'")
    again = visit(explorer, fragment=page.evaluate("location.hash"))
    keys = "['view', 'node', 'laplacian', 'compare', 'colour', 'time', 'playing'].map((key) => at.state[key])"
    shown = ["pulse", NODES - 1, "random-walk", "heat", "class", 7.5, False]
    assert explore(page, keys) == explore(again, keys) == shown
    again.evaluate("location.hash = '#data=another&node=n5&t=3'")
    until(again, "at.state.playing")
    assert explore(again, "at.state.node") == NODES - 1, "what belongs to another page is left alone"
    assert again.inner_text("#told") == "the address is of another, and this page has toy & <b>co</b>"
    again.evaluate("location.hash = '#node=nobody&t=3'")
    until(again, "at.state.time === 3")
    assert again.inner_text("#told") == "node nobody of the address is not drawn"
    again.close()


def test_a_second_link_says_everything_anew(explorer: Path, visit: Open) -> None:
    link = "#node=n3&t=0&laplacian=sym&tau=1&compare=heat&colour=class&fixed=true"
    again, fresh = visit(explorer, fragment=link), visit(explorer, fragment="#node=n5&t=2")
    keys = "['laplacian', 'tau', 'compare', 'colour', 'fixed'].map((key) => at.state[key])"
    assert explore(again, keys) == ["sym", 1, "heat", "class", True]
    assert again.is_checked("#fixed")
    again.focus(".skip")
    again.keyboard.press("Enter")
    until(again, "location.hash.includes('laplacian=sym')")
    assert explore(again, keys) == ["sym", 1, "heat", "class", True], "a place on the page is no link"
    again.evaluate("location.hash = '#node=n5&t=2'")
    until(again, "at.state.time === 2")
    assert explore(again, "at.state") == explore(fresh, "at.state")
    assert not again.is_checked("#fixed")
    until(again, "location.hash.includes('data=')")
    assert explore(again, "location.hash") == explore(fresh, "location.hash")
    again.check("#fixed")
    until(again, "location.hash.includes('fixed=true')")
    again.close()
    fresh.close()


def test_every_id_comes_back_from_the_address(visit: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GWN_CACHE", str(tmp_path / "cache"))
    odd = ("node 7", "7", " padded", "padded", "two ", "a & b")
    graph = toy_graph(nodes=20)
    named = replace(graph, node_ids=(*odd, *(f"n{i}" for i in range(len(odd), 20))))
    page = visit(write_explorer(Subject(graph=named, name="named"), tmp_path / "named"), fragment="#t=0")
    for node, name in enumerate(odd):
        page.click("#picture", position=explore(page, "(([x, y]) => ({ x, y }))(at.pictures[0].positionOf(it))", node))
        page.evaluate("history.replaceState(null, '', '#'); GWN.explorer.pause()")
        assert explore(page, "at.state.node") == node
        assert page.input_value("#node") == name
        until(page, "location.hash.includes('&t=')")
        page.reload()
        page.wait_for_selector("body[data-ready]")
        assert explore(page, "at.state.node") == node, name
    assert explore(page, "at.graph.find(' a & b ')") == odd.index("a & b")
    plain = visit(write_explorer(Subject(graph=graph, name="plain"), tmp_path / "plain"), fragment="#node=7&t=0")
    assert explore(plain, "[at.state.node, at.graph.find('node 7')]") == [7, 7]


def test_light_and_dark_differ_and_neither_has_a_barrier(page: Any) -> None:
    page.evaluate("window.light = GWN.explorer.pictures[0].canvases[0].toDataURL()")
    assert violations(page) == []
    page.emulate_media(color_scheme="dark")
    until(page, "at.pictures[0].canvases[0].toDataURL() !== window.light")
    assert explore(page, "getComputedStyle(document.body).backgroundColor") == "rgb(11, 15, 19)"
    page.click("#view-network")
    page.evaluate("GWN.explorer.pause()")
    page.select_option("#compare", "sym")
    page.select_option("#colour", "prediction")
    page.click("summary")
    assert violations(page) == []
    page.emulate_media(color_scheme="light")


def test_the_keyboard_is_enough(page: Any) -> None:
    page.keyboard.press("Space")
    until(page, "at.state.playing")
    page.keyboard.press("Space")
    until(page, "!at.state.playing")
    page.evaluate("GWN.explorer.show(0)")
    page.keyboard.press(".")
    until(page, "at.state.time === 0.25")
    page.keyboard.press(",")
    until(page, "at.state.time === 0")
    page.keyboard.press("/")
    page.keyboard.type("n7")
    page.keyboard.press("Enter")
    until(page, "at.graph.name(at.state.node) === 'n7'")
    page.focus("#picture")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    until(page, "at.graph.name(at.state.node) !== 'n7'")
    near = "at.pictures[0].positionOf(at.graph.find('n7'))[0]"
    before = explore(page, near)
    page.keyboard.press("+")
    until(page, f"{near} !== {before}")
    page.evaluate("GWN.explorer.pause()")
    page.focus("#time")
    page.keyboard.press("Home")
    until(page, "at.state.time === 0")
    page.keyboard.press("ArrowRight")
    until(page, "Math.abs(at.state.time - 0.02) < 1e-9")
    page.keyboard.press("Space")
    until(page, "at.state.playing")  # with the slider in focus too
    page.keyboard.press(".")
    until(page, "!at.state.playing")
    page.fill("#node", "nobody")
    page.keyboard.press("Enter")
    assert page.inner_text("#told") == "no node of that name is drawn"


def test_keys_stay_at_their_node_when_the_picture_is_close(page: Any) -> None:
    within = """(([x, y], [width, height]) => x > 0 && y > 0 && x < width && y < height)(
        at.pictures[0].positionOf(it), at.pictures[0].size())"""
    page.focus("#picture")
    for _ in range(8):
        page.keyboard.press("+")
    start = explore(page, "at.state.node")
    until(page, "at.pictures[0].positionOf(0)[0] ** 2 + at.pictures[0].positionOf(0)[1] ** 2 > 4e6")
    assert explore(page, within, start)
    page.keyboard.press("ArrowRight")
    walked = page.inner_text("#told").split(" ")[0]
    assert walked
    assert explore(page, within, explore(page, "at.graph.find(it)", walked))
    away = explore(page, f"[...at.graph.x.keys()].find((it) => !({within}))")
    page.fill("#node", f"n{away}")
    page.keyboard.press("Enter")
    until(page, f"at.state.node === {away} && ((it) => {within})({away})")
    page.keyboard.press("Space")


def test_charts_are_dragged_through_time(page: Any) -> None:
    box = page.locator("#energy").bounding_box()
    page.mouse.move(box["x"] + 150, box["y"] + 50)
    page.mouse.down()
    early = explore(page, "at.state.time")
    page.mouse.move(box["x"] + 250, box["y"] + 50)
    assert explore(page, "at.state.time") > early > 0
    page.mouse.up()
    late = explore(page, "at.state.time")
    page.mouse.move(box["x"] + 150, box["y"] + 50)
    assert explore(page, "at.state.time") == late, "only while a button is down"


def test_a_tip_covers_no_control_below_the_picture(page: Any) -> None:
    lowest = (
        """[...at.graph.x.keys()].map((i) => at.pictures[0].positionOf(i)).reduce((a, b) => (a[1] > b[1] ? a : b))"""
    )
    x, y = explore(page, lowest)
    box = page.locator("#picture").bounding_box()
    page.mouse.move(box["x"] + x, box["y"] + y)
    tip = page.locator("#tip").bounding_box()
    assert tip["y"] + tip["height"] <= box["y"] + box["height"]
    page.mouse.move(5, 5)


def test_the_end_of_the_colours_is_never_cut(explorer: Path, visit: Open) -> None:
    page = visit(explorer, fragment="#view=network&compare=sym&t=2")
    for width in (1440, 1320, 1280, 1024, 768, 700, 390, 320):
        page.set_viewport_size({"width": width, "height": 800})
        for k in (0, 1):
            end, panel = (
                page.locator(place).bounding_box() for place in (f"#title-{k} span:last-child", f"#panel-{k}")
            )
            assert end["x"] + end["width"] <= panel["x"] + panel["width"] + 0.5, (width, k)
            title = page.locator(f"#title-{k} span:first-child")
            assert title.evaluate("(part) => part.scrollWidth <= part.clientWidth + 1"), (width, "nor what it is of")
            assert page.locator(f"#title-{k}").evaluate("(it) => it.scrollHeight <= it.clientHeight"), (width, k)
    page.close()


def test_a_node_without_edges_keeps_its_pulse_and_its_energy(visit: Open, tmp_path: Path) -> None:
    graph = toy_graph(nodes=20)
    apart = replace(graph, edge_index=graph.edge_index[:, (graph.edge_index < 19).all(0)])
    page = visit(untrained(apart, 2, tmp_path), fragment="#node=19&t=4&laplacian=random-walk")
    assert page.inner_text("#words").endswith("At t = 4 it stays there, as no edge leads on.")
    energy = explore(page, "at.panels[0].wave.energy")
    np.testing.assert_allclose(energy, energy[0], rtol=1e-9)
    assert energy[0] > 0.5
    assert sum(explore(page, "Array.from(at.panels[0].wave.spectrum(0))")) == pytest.approx(1)


def test_numbers_to_predict_are_colours_and_facts(visit: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GWN_CACHE", str(tmp_path / "cache"))
    known = torch.linspace(100, 200, NODES)
    known[7] = torch.nan
    graph = replace(toy_graph(nodes=NODES), y=known, class_names=None)
    subject = Subject(graph=graph, name="numbers", predicted=torch.linspace(90, 210, NODES, dtype=torch.float64))
    page = visit(write_explorer(subject, tmp_path / "page"), fragment="#t=0&node=0")
    assert page.locator("#colour option").all_text_contents() == ["amplitude", "number", "prediction", "mistake"]
    assert explore(page, "at.graph.facts(0).slice(0, 2)") == ["number 100", "predicted 90"]
    assert explore(page, "at.graph.facts(7)[0]") == "number unknown"
    assert "node 0 (number 100, " in page.inner_text("#words")
    shown = {"number": ("90", "210"), "prediction": ("90", "210"), "mistake": ("−10", "10")}
    for colour, (low, high) in shown.items():
        before = explore(page, "at.pictures[0].canvases[0].toDataURL()")
        page.select_option("#colour", colour)
        assert explore(page, "at.pictures[0].canvases[0].toDataURL()") != before
        said = page.evaluate("[...document.getElementById('legend').childNodes].map((each) => each.textContent)")
        assert [said[0], said[2]] == [low, high]
        assert ("number unknown" in said) == (colour != "prediction")
    assert violations(page) == []


def test_names_are_only_ever_text(page: Any) -> None:
    page.fill("#node", WICKED)
    page.keyboard.press("Enter")
    page.select_option("#colour", "class")
    assert WICKED in page.inner_text("#words")
    assert page.locator("main img, h1 b, option i, .legend i i").count() == 0
    assert page.inner_text("h1") == "Waves on toy & <b>co</b>"


def test_a_picture_and_a_film_are_saved(page: Any, tmp_path: Path) -> None:
    with page.expect_download() as picture:
        page.click("#save-picture")
    assert picture.value.suggested_filename == "wave-toy-b-co-b-.png"
    picture.value.save_as(tmp_path / "wave.png")
    assert (tmp_path / "wave.png").read_bytes()[:4] == b"\x89PNG"
    saved = Image.open(tmp_path / "wave.png").convert("RGB")
    foot = saved.crop((0, saved.height - 30, saved.width, saved.height))
    above = explore(page, "GWN.theme().above")
    assert (np.asarray(foot) == ImageColor.getrgb(above)).all(-1).any(), "what colours mean"
    with page.expect_download() as film:
        page.click("#save-film")
        until(page, "at.state.time > 1")
        page.click("#save-film")
    film.value.save_as(tmp_path / "wave.webm")
    assert (tmp_path / "wave.webm").read_bytes()[:4] == b"\x1a\x45\xdf\xa3"
    assert (tmp_path / "wave.webm").stat().st_size > 1000


RECORDER = """window.MediaRecorder = class {
    static isTypeSupported(type) { return type === "%s"; }
    constructor(stream, { mimeType }) {
        if (!MediaRecorder.isTypeSupported(mimeType)) throw new DOMException("NotSupportedError");
    }
    start() { this.ondataavailable({ data: new Blob(["film"]) }); }
    stop() { this.onstop(); }
};"""


def test_a_browser_without_webm_saves_another_film_or_says_that_it_cannot(explorer: Path, visit: Open) -> None:
    page = visit(explorer, script=RECORDER % "video/none", fragment="#t=0")
    page.click("#save-film")
    assert "records no films" in page.inner_text("#saved")
    assert not explore(page, "at.state.playing")
    page = visit(explorer, script=RECORDER % "video/mp4", fragment="#t=0")
    with page.expect_download() as film:
        page.click("#save-film")
        page.click("#save-film")
    assert film.value.suggested_filename.endswith(".mp4")


def test_motion_is_not_forced_on_anyone(explorer: Path, browser: Any) -> None:
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    page.goto(explorer.resolve().as_uri())
    page.wait_for_selector("body[data-ready]")
    assert not explore(page, "at.state.playing")
    context.close()


ANSWER = """(() => {
    const slider = document.getElementById("tau"), times = { page: [], floor: [] };
    const { nodes, start, other, symmetric } = at.op;
    slider.value = 0.05;
    const wave = () => {  // what is least: the same steps in plain loops, and nothing kept
        let before = new Float64Array(nodes), now = new Float64Array(nodes);
        now[at.state.node] = 1;
        for (let n = 0; n < 400; n++) {
            for (let i = 0; i < nodes; i++) {
                let sum = -now[i];
                for (let k = start[i]; k < start[i + 1]; k++) sum += symmetric[k] * now[other[k]];
                before[i] = 2 * now[i] - before[i] + 0.0025 * sum;
            }
            [before, now] = [now, before];
        }
    };
    const waves = () => { for (let k = 0; k < 4; k++) wave(); };  // as long as an answer: both meet the same load
    for (let k = 0; k < 7; k++) {
        for (const [what, act] of [["floor", waves], ["page", () => slider.dispatchEvent(new Event("input"))]]) {
            const from = performance.now();
            act();
            times[what].push(performance.now() - from);
        }
    }
    return { page: Math.min(...times.page), floor: Math.min(...times.floor) };
})()"""
"""Milliseconds until the page has answered a new tau, and what four waves alone take."""


def test_three_thousand_nodes_and_ten_thousand_edges_move_smoothly(desktop: Any, visit: Open, tmp_path: Path) -> None:
    """Beside discs on a plain canvas, in turns: how fast that is depends on the machine and its load, the ratio hardly.

    `python -m benchmarks explorer` prints the frames a second.
    """
    desktop.evaluate("GWN.explorer.pause()")
    page = visit(crowd(tmp_path))
    page.set_viewport_size({"width": 1440, "height": 900})
    page.wait_for_selector("body[data-spectra=done]")
    found = frame_rate(page, 5.0)
    assert found["page"] > 0.5 * found["floor"], found
    answer = explore(page, ANSWER)
    assert answer["page"] < 4 * answer["floor"], answer
    slider = slider_milliseconds(page)
    assert slider["page"] < max(50.0, 4 * slider["floor"]), (slider, found)
