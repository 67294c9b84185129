"""`gwn explore`'s page printed, scrolled past and moved by a finger, and the energy of a network of a single step."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphs import toy_graph
from gwn.explore.page import write_explorer
from gwn.explore.subject import Subject
from gwn.networks import GWN
from seeds import reseed

Open = Callable[..., Any]


@pytest.fixture(scope="module")
def one_step(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a network of one step."""
    folder, graph = tmp_path_factory.mktemp("one-step"), toy_graph(nodes=30)
    reseed(0)
    network = GWN(graph.num_features, 8, 2, laplacian="sym", time=1.0)
    subject = Subject(graph=graph, name="toy", network=network, model="gwn-sym", laplacian="sym")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GWN_CACHE", str(folder / "cache"))
        return write_explorer(subject, folder / "page")


COLOURS = """(() => {
    const canvas = document.getElementById("energy"), copy = document.createElement("canvas"), found = new Set();
    Object.assign(copy, { width: canvas.width, height: canvas.height });
    const pen = copy.getContext("2d", { willReadFrequently: true });
    pen.drawImage(canvas, 0, 0);
    const { data } = pen.getImageData(0, 0, copy.width, copy.height);
    for (let k = 0; k < data.length; k += 4) {
        const colour = [0, 1, 2].map((c) => data[k + c].toString(16).padStart(2, "0")).join("");
        if (data[k + 3] === 255) found.add("#" + colour);
    }
    return ["above", "below", "ink"].map((name) => found.has(GWN.theme()[name]));
})()"""


def test_the_one_energy_of_a_single_step_is_seen(one_step: Path, visit: Open) -> None:
    """A line through one point is nothing: the chart was empty."""
    page = visit(one_step, fragment="#view=network&t=1")
    assert page.evaluate(COLOURS) == [True, True, True], "kinetic, potential and their sum"
    assert page.inner_text("#energy-title") == "Energy: kinetic orange, potential blue, and their sum"
    page.select_option("#compare", "sym")
    assert page.evaluate(COLOURS) == [True, False, True], "of both waves"
    assert page.inner_text("#energy-title") == "Energy: of the second orange"


def test_powers_of_ten_on_an_axis_are_written_alike(one_step: Path, visit: Open) -> None:
    page = visit(one_step, fragment="#t=0")
    assert page.evaluate("GWN.powers([2, 3, 4, 5])") == ["10²", "10³", "10⁴", "10⁵"]
    assert page.evaluate("GWN.powers([-4, -2, 0])") == ["10⁻⁴", "10⁻²", "1"]
    assert page.evaluate("GWN.powers([-1, 1, 3])") == ["0.1", "10", "1000"]


WHEEL = """(down) => {
    const wheel = new WheelEvent("wheel", { deltaY: down, clientX: 300, clientY: 300, cancelable: true });
    return document.getElementById("picture").dispatchEvent(wheel);
}"""
"""Whether the page itself scrolls, as the picture does nothing."""


def test_the_page_scrolls_past_a_picture_that_cannot_shrink(one_step: Path, visit: Open) -> None:
    page = visit(one_step, fragment="#t=0")
    assert page.evaluate(WHEEL, 120)
    assert not page.evaluate(WHEEL, -120), "it comes nearer"
    assert not page.evaluate(WHEEL, 120), "and goes farther away again"
    assert page.evaluate(WHEEL, 120)


def test_a_finger_moves_what_is_near_in_every_direction(one_step: Path, visit: Open) -> None:
    """Downwards it scrolled the page, and there was no other way to what is below."""
    page = visit(one_step, phone=True, fragment="#t=0")
    for button, action in (("closer", "none"), ("whole", "pan-y")):
        page.tap(f"#{button}")
        page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert page.evaluate("getComputedStyle(document.getElementById('picture')).touchAction") == action


def images_of(pdf: bytes) -> list[tuple[float, float]]:
    """Width over height of every image of a PDF: as it is stored, and as it is printed."""
    objects = {int(number): body for number, body in re.findall(rb"(\d+) 0 obj(.*?)endobj", pdf, re.DOTALL)}
    stored = {
        number: int(re.search(rb"/Width (\d+)", body)[1]) / int(re.search(rb"/Height (\d+)", body)[1])  # type: ignore[index]
        for number, body in objects.items()
        if b"/Subtype /Image" in body
    }
    found = []
    for body in objects.values():
        if not re.search(rb"/Type\s*/Page\b", body):
            continue
        names = {name: int(number) for name, number in re.findall(rb"/(X\d+) (\d+) 0 R", body)}
        contents = objects[int(re.search(rb"/Contents (\d+)", body)[1])]  # type: ignore[index]
        stream = contents.split(b"stream", 1)[1].lstrip(b"\r\n").rsplit(b"endstream", 1)[0]
        kept, now = [], np.eye(3)
        for line in zlib.decompressobj().decompress(stream).split(b"\n"):
            *numbers, operator = line.split() or [b""]
            if operator == b"q":
                kept.append(now)
            elif operator == b"Q":
                now = kept.pop()
            elif operator == b"cm":
                a, b, c, d, e, f = map(float, numbers)
                now = np.array([[a, b, 0], [c, d, 0], [e, f, 1]]) @ now
            elif operator == b"Do" and names.get(numbers[0][1:]) in stored:
                found.append((stored[names[numbers[0][1:]]], abs(float(now[0, 0] / now[1, 1]))))
    return found


def test_on_paper_discs_stay_round_and_keep_their_ground(one_step: Path, visit: Open) -> None:
    """What was drawn for the screen was stretched over the sheet, in one direction by half."""
    page = visit(one_step, fragment="#t=3&compare=sym")
    found = images_of(page.pdf(format="A4"))
    assert len(found) >= 8, "two pictures of two layers, and four charts"
    for stored, printed in found:
        assert printed == pytest.approx(stored, rel=0.02)
    page.emulate_media(color_scheme="dark")
    page.reload()
    page.wait_for_selector("body[data-ready]")
    page.emulate_media(media="print", color_scheme="dark")
    for canvas in (".still", "#energy"):
        style = f"getComputedStyle(document.querySelector('{canvas}'))"
        found = page.evaluate(f"[{style}.backgroundColor, {style}.printColorAdjust]")
        assert found == ["rgb(18, 23, 29)", "exact"], canvas
