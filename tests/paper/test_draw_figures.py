"""Every kind of panel is drawn, in every format, and the figures that are kept can be drawn."""

from __future__ import annotations

from pathlib import Path

import pytest

from gwn.errors import GWNError
from gwn.paper.curve_data import KINDS, Axis, CurveData, Panel, Series, read_figure
from gwn.paper.drawing import FORMATS, draw_figure
from gwn.paper.drawing.figure import PLACES, place_names
from gwn.paper.drawing.style import STYLES, style_of
from gwn.paper.exhibits import EXHIBITS

KEPT = sorted((Path(__file__).parents[2] / "results" / "figures").glob("*.json"))
LARGEST = 500_000


def _series(label: str, key: str = "") -> Series:
    return Series(
        label=label, key=key, x=(1.0, 2.0, 4.0), y=(1.0, 2.0, None), low=(0.5, None, None), high=(1.5, None, None),
        marks=("a", "", "diverged"),
    )  # fmt: skip


def _figure(kind: str, names: tuple[str, ...] = ()) -> CurveData:
    series = tuple(_series(f"series {place}") for place in range(5))
    panels = [
        Panel(title="p", kind=kind, x=Axis(label="x", scale=scale, names=names), y=Axis(label="y"), series=part)
        for scale, part in (("linear", series), ("log", series[:2]), ("symlog", series[:1]))
    ]
    return CurveData(name="test", title="t", place="figure 0", caption="word " * 60, panels=tuple(panels), columns=2)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_drawn(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "test.svg"
    draw_figure(_figure(kind, ("a", "b", "c") if kind == "heat" else ()), path)
    first = path.read_bytes()
    assert first.startswith(b"<?xml")
    draw_figure(_figure(kind, ("a", "b", "c") if kind == "heat" else ()), path, caption=True)
    assert path.read_bytes() == first


@pytest.mark.parametrize("suffix", FORMATS)
def test_every_format(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"test.{suffix}"
    draw_figure(_figure("lines"), path, caption=False)
    assert path.stat().st_size > 1000


def test_another_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GWNError, match=r"svg, pdf, png; got 'test\.gif'"):
        draw_figure(_figure("lines"), tmp_path / "test.gif")


def test_no_two_styles_are_alike() -> None:
    styles = [(style.colour, str(style.line), style.marker) for style in STYLES.values()]
    assert len(set(styles)) == len(styles)
    assert style_of("gwn-sym measured", 0).line == ""


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_the_kept_figures_are_whole(path: Path) -> None:
    data = read_figure(path)
    assert data.name == path.stem
    assert f"figure-{path.stem}" in EXHIBITS
    assert path.stat().st_size < LARGEST
    assert not data.provenance["quick"]


def test_the_name_of_a_lone_point_takes_the_first_place() -> None:
    assert place_names([(0.0, 0.0)], ["GCN"]) == [PLACES[0]]


def test_two_names_at_one_point_part() -> None:
    first, second = place_names([(0.0, 0.0), (0.0, 0.0)], ["GCN", "GAT"])
    assert first != second
