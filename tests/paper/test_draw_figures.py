"""Every kind of panel is drawn, in every format, and the figures that are kept can be drawn."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Annotation, Text

from colours import TOLD_APART, USUAL, as_seen, distance
from gwn.errors import GWNError
from gwn.paper.curve_data import KINDS, Axis, CurveData, Panel, Series, read_figure
from gwn.paper.drawing import FORMATS, draw_figure
from gwn.paper.drawing import names as label
from gwn.paper.drawing.figure import _figure as _figure_of
from gwn.paper.drawing.figure import _limit
from gwn.paper.drawing.names import FAR, PLACES, place_names, spread
from gwn.paper.drawing.panels import STRIP, draw_panel, labels, name_panel
from gwn.paper.drawing.style import PALETTE, SIGNED, STYLES, contrast_on_white, house_style, ink, style_of
from gwn.paper.exhibits import EXHIBITS

KEPT = sorted((Path(__file__).parents[2] / "results" / "figures").glob("*.json"))
LARGEST = 700_000


def _series(label: str, key: str = "") -> Series:
    return Series(
        label=label, key=key, x=(1.0, 2.0, 4.0), y=(1.0, 2.0, None), low=(0.5, None, None), high=(1.5, None, None),
        marks=("a", "", "diverged"),
    )  # fmt: skip


def _figure(kind: str, names: tuple[str, ...] = ()) -> CurveData:
    series = tuple(_series(f"series {place}") for place in range(5))
    if kind == "graph":
        return _graph_figure()
    panels = [
        Panel(title="p", kind=kind, x=Axis(label="x", scale=scale, names=names), y=Axis(label="y"), series=part)
        for scale, part in (("linear", series), ("log", series[:2]), ("symlog", series[:1]))
    ]
    return CurveData(
        name="test", title="figure of the test", place="figure 0", caption="word " * 60, panels=tuple(panels), columns=2
    )


def _graph_figure() -> CurveData:
    edges = Series(label="edges", x=(0.0, 1.0, None), y=(0.0, 1.0, None))
    nodes = Series(label="nodes", x=(0.0, 1.0), y=(0.0, 1.0), z=(-1.0, 0.5))
    axis = Axis(label="")
    panel = Panel(title="p", kind="graph", x=axis, y=axis, z=Axis(label="shade"), series=(edges, nodes))
    caption = "word " * 60
    return CurveData(name="test", title="figure of the test", place="figure 0", caption=caption, panels=(panel,))


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
    """But for the curves behind, which have their names at their ends."""
    styles = [(style.colour, str(style.line), style.marker) for style in STYLES.values() if not style.behind]
    assert len(set(styles)) == len(styles)
    assert style_of("gwn-sym measured", 0).line == ""


def test_colours_in_front_are_told_apart_under_deuteranopia() -> None:
    """All pairs of colours, so that a new one cannot join unseen; and the simulation does something."""
    assert distance("#ff0000", "#7f7f00") < distance("#ff0000", "#7f7f00", USUAL) / 3
    colours = sorted({style.colour for style in STYLES.values()} | {*PALETTE[:7]})
    near = {(a, b): distance(a, b) for a, b in combinations(colours, 2)}
    greys = {"#444444", "#777777", "#b5b5b5"}  # lines behind, which differ in dashes or have a name
    assert {pair: d for pair, d in near.items() if d < TOLD_APART and not greys & {*pair}} == {}


@pytest.mark.parametrize("colour", sorted({style.colour for style in STYLES.values() if not style.behind}))
def test_small_letters_have_the_contrast_that_they_need(colour: str) -> None:
    """The colours themselves do not: names in the purple of a wave network were pale."""
    assert contrast_on_white(np.array(to_rgb(ink(colour)))) >= 4.5
    assert contrast_on_white(np.ones(3)) == pytest.approx(1.0)
    assert ink("#000000") == "#000000"


def test_signed_shades_are_light_at_zero_and_dark_at_both_ends_with_two_hues() -> None:
    shades = colormaps[SIGNED]
    low, middle, high = (to_hex(shades(place)) for place in (0.1, 0.5, 0.9))
    assert as_seen(middle)[0] > 90
    assert distance(low, high) > 3 * TOLD_APART
    assert max(as_seen(low)[0], as_seen(high)[0]) < 60


@pytest.mark.parametrize("kind", KINDS)
def test_text_in_svg_stays_text(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "test.svg"
    draw_figure(_figure(kind, ("a", "b", "c") if kind == "heat" else ()), path)
    words = [
        text
        for element in ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text")
        for text in element.itertext()
    ]
    said = " ".join(words)
    assert "figure of the test" in said
    assert "word word" in said
    if kind == "path":
        assert "a" in words


def test_a_place_where_every_run_diverged_is_marked_in_the_panel(tmp_path: Path) -> None:
    """In a strip with its name; without such a place there is none."""
    path = tmp_path / "test.svg"
    draw_figure(_figure("lines"), path)
    assert ">diverged</text>" in path.read_text()
    fine = _figure("lines")
    fine = replace(
        fine, panels=tuple(replace(p, series=tuple(replace(s, marks=()) for s in p.series)) for p in fine.panels)
    )
    draw_figure(fine, path)
    assert ">diverged</text>" not in path.read_text()


def test_the_strip_of_diverged_runs_has_no_scale() -> None:
    """A tick in it named a height at which nothing was measured."""
    figure = Figure()
    axes = figure.subplots()
    series = Series(label="", x=(2.0, 4.0, 8.0), y=(1.0, 0.005, None), marks=("", "", "diverged"))
    y = Axis(label="y", scale="log")
    panel = Panel(title="", kind="lines", x=Axis(label="layers", scale="log"), y=y, series=(series,))
    draw_panel(axes, panel, 1.0)
    figure.draw_without_rendering()
    for ticks in (axes.get_yticks(), axes.get_yticks(minor=True)):
        heights = axes.transAxes.inverted().transform(axes.transData.transform([(2.0, tick) for tick in ticks]))[:, 1]
        assert len(ticks)
        assert heights.min() >= STRIP


def _over_depth() -> Panel:
    short = Series(label="GRAND", key="grand", x=(2.0, 4.0, 8.0), y=(1.0, None, 2.0))
    long = Series(label="GWN-sym", key="gwn-sym", x=(2.0, 4.0, 8.0, 256.0), y=(1.0, 2.0, 3.0, 2.0))
    return Panel(title="", kind="lines", x=Axis(label="layers", scale="log"), y=Axis(label="y"), series=(short, long))


def test_a_value_without_neighbours_is_a_dot() -> None:
    """A line through one point is nothing: its name stood alone in the panel."""
    axes = Figure().subplots()
    draw_panel(axes, _over_depth(), 1.0)
    dots = [line for line in axes.lines if line.get_marker() == "."]
    assert [np.asarray(line.get_xdata()).tolist() for line in dots] == [[2.0, 8.0]]


def test_names_of_curves_stand_right_of_the_longest_one() -> None:
    """At the end of a shorter curve they covered those in front."""
    figure = Figure()
    axes = figure.subplots()
    draw_panel(axes, _over_depth(), 1.0)
    figure.draw_without_rendering()
    name_panel(axes, _over_depth())
    figure.draw_without_rendering()
    (name,) = (text for text in axes.texts if text.get_text() == "GRAND")
    box, end = Text.get_window_extent(name), axes.transData.transform((256.0, 2.0))[0]
    assert end < box.x0
    assert box.x1 <= axes.bbox.x1
    assert isinstance(name, Annotation)
    assert name.arrow_patch is not None
    assert name.arrow_patch.get_linestyle() != "-", "the line that ties it would look like more of the curve"


def _named(panel: Panel) -> tuple[Axes, dict[str, Text]]:
    figure = Figure(figsize=(3, 2.5))
    axes = figure.subplots()
    draw_panel(axes, panel, 1.0)
    figure.draw_without_rendering()
    name_panel(axes, panel)
    figure.draw_without_rendering()
    return axes, {text.get_text(): text for text in axes.texts}


def test_the_longest_name_of_a_curve_ends_within_its_panel() -> None:
    """It was cut at the edge of the picture."""
    long = tuple(
        replace(one, label="GraphCON with a name") if one.key == "grand" else one for one in _over_depth().series
    )
    axes, names = _named(replace(_over_depth(), series=long))
    assert Text.get_window_extent(names["GraphCON with a name"]).x1 <= axes.bbox.x1


def test_the_name_of_a_curve_that_diverged_has_a_cross() -> None:
    """The strip has one grey cross for all curves behind, which told nobody whose it is."""
    short, long = _over_depth().series
    assert {"GRAND"} <= {*_named(_over_depth())[1]}
    lost = replace(short, y=(1.0, 2.0, None), marks=("", "", "diverged"))
    assert {"GRAND ×"} <= {*_named(replace(_over_depth(), series=(lost, long)))[1]}


def test_powers_of_ten_are_written_out() -> None:
    figure = Figure()
    axes = figure.subplots()
    series = Series(label="", x=(0.1234, 130.0), y=(1e-9, 1.0))
    panel = Panel(
        title="", kind="lines", x=Axis(label="s", scale="log"), y=Axis(label="y", scale="log"), series=(series,)
    )
    draw_panel(axes, panel, 1.0)
    figure.draw_without_rendering()
    assert {"1", "10", "100"} <= {text.get_text() for text in axes.get_xticklabels()}
    assert any("10^" in text.get_text() for text in axes.get_yticklabels()), "too many decades to write out"


def test_what_lies_outside_of_the_limits_changes_no_label() -> None:
    """A zero that is drawn far below the panel turned 0.1 into a power of ten."""
    figure = Figure()
    axes = figure.subplots()
    y = Axis(label="y", scale="log", limits=(0.01, 40.0))
    series = Series(label="", x=(0.0, 1.0, 2.0), y=(20.0, 1e-6, 0.2))
    draw_panel(axes, Panel(title="", kind="lines", x=Axis(label="x"), y=y, series=(series,)), 1.0)
    figure.draw_without_rendering()
    assert {"0.1", "1", "10"} <= {text.get_text() for text in axes.get_yticklabels()}


def test_no_kept_curve_lies_on_a_floor_that_it_does_not_have() -> None:
    """Values below the end of a logarithmic axis were drawn on it, as if they were measured there."""
    for path in KEPT:
        for panel in read_figure(path).panels:
            if panel.kind == "lines" and panel.y.scale == "log":
                low = panel.y.limits[0] if panel.y.limits else 0.0
                for series in panel.series:
                    least = min((y for y in series.y if y is not None), default=0.0)
                    flat = sum(y == least for y in series.y) > 2
                    assert not flat or least < low or least == 1.0, (path.stem, panel.title, series.label)


def test_panels_with_one_meaning_share_their_shades() -> None:
    small, large = (replace(_panel_of_shades(size), title=str(size)) for size in (1.0, 8.0))
    other = replace(_panel_of_shades(3.0), z=Axis(label="something else"))
    data = replace(_figure("heat", ("a", "b", "c")), panels=(small, large, other))
    assert [_limit(data, panel) for panel in data.panels] == [8.0, 8.0, 3.0]
    fixed = replace(other, z=Axis(label="fixed", limits=(-2.0, 2.0)))
    assert _limit(replace(data, panels=(fixed,)), fixed) == 2.0


def _panel_of_shades(size: float) -> Panel:
    row = Series(label="row", x=(0.0, 1.0), y=(-size, None))
    return Panel(title="", kind="heat", x=Axis(label=""), y=Axis(label=""), z=Axis(label="shade"), series=(row, row))


def test_names_at_the_ends_of_curves_keep_their_distance_and_order() -> None:
    assert spread([10.0, 50.0], 8.0, 0.0, 100.0) == [10.0, 50.0]
    heights = spread([90.0, 89.0, 95.0, 10.0], 8.0, 0.0, 96.0)
    assert sorted(range(4), key=lambda place: heights[place]) == [3, 1, 0, 2]
    ordered = sorted(heights)
    assert min(b - a for a, b in pairwise(ordered)) >= 8.0 - 1e-9
    assert ordered[-1] <= 96.0


@pytest.mark.parametrize(
    "path", [p for p in KEPT if p.stem in ("attention", "roots", "spectrum")], ids=lambda p: p.stem
)
def test_legends_and_titles_stay_within_their_panels(path: Path) -> None:
    """The legend of Texas's attention lay across the axis of its panel."""
    with house_style():
        figure = _figure_of(read_figure(path), False)
        figure.draw_without_rendering()
        (panels, _) = figure.subfigs
        for axes in panels.axes:
            if (legend := axes.get_legend()) is not None:
                box, frame = legend.get_window_extent(), axes.get_window_extent()
                assert frame.x0 <= box.x0, axes.get_title(loc="left")
                assert box.x1 <= frame.x1 + 1
        said = {axes.get_title(loc="left") for axes in panels.axes} - {""}
        titles = [text for text in panels.findobj(Text) if isinstance(text, Text) and text.get_text() in said]
        boxes = [Text.get_window_extent(title) for title in titles]
        assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_the_kept_figures_are_whole(path: Path) -> None:
    data = read_figure(path)
    assert data.name == path.stem
    assert f"figure-{path.stem}" in EXHIBITS
    assert path.stat().st_size < LARGEST
    assert not data.provenance["quick"]


def test_the_name_of_a_lone_point_takes_the_first_place() -> None:
    assert place_names([(0.0, 0.0)], ["GCN"]) == [PLACES[0]]


def test_names_that_choose_again_cover_less_of_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    frame, names = (0.0, 0.0, 180.0, 180.0), [f"a model ({place}x)" for place in range(10, 18)]
    crowds = np.random.default_rng(0).uniform(40, 140, (20, 8, 2)).tolist()

    def covered() -> float:
        found = 0.0
        for points in crowds:
            places = place_names(points, names, frame)
            boxes = [label._box(x, y, name, *at) for (x, y), name, at in zip(points, names, places, strict=True)]
            found += sum(label._overlap(one, other) for one, other in combinations(boxes, 2))
        return found

    again = covered()
    monkeypatch.setattr(label, "ROUNDS", 1)
    assert again < 0.5 * covered()


def test_lines_that_tie_names_run_through_fewer_names(monkeypatch: pytest.MonkeyPatch) -> None:
    frame, names = (0.0, 0.0, 180.0, 180.0), [f"a model ({place}x)" for place in range(10, 18)]
    crowds = np.random.default_rng(0).uniform(60, 120, (20, 8, 2)).tolist()

    def crossed() -> int:
        found = 0
        for points in crowds:
            places = place_names(points, names, frame)
            boxes = [label._box(x, y, name, *at) for (x, y), name, at in zip(points, names, places, strict=True)]
            for place, (point, box) in enumerate(zip(points, boxes, strict=True)):
                if abs(places[place][1]) > FAR:
                    line = (*point, (box[0] + box[2]) / 2, (box[1] + box[3]) / 2)
                    found += sum(label._crossed(line, other) > 0 for other in boxes[:place] + boxes[place + 1 :])
        return found

    with_care = crossed()
    monkeypatch.setattr(label, "CROSSED", 1e-9)
    assert with_care < 0.5 * crossed()


def test_points_that_have_a_name_are_covered_less_than_others(monkeypatch: pytest.MonkeyPatch) -> None:
    frame, names = (0.0, 0.0, 180.0, 180.0), [f"a model ({place}x)" for place in range(10, 18)]
    crowds = np.random.default_rng(0).uniform(40, 140, (20, 40, 2)).tolist()

    def covered() -> float:
        found = 0.0
        for points in crowds:
            places = place_names(points, names, frame)
            boxes = [label._box(x, y, name, *at) for (x, y), name, at in zip(points, names, places, strict=False)]
            named = [(x - 3.5, y - 3.5, x + 3.5, y + 3.5) for x, y in points[: len(names)]]
            found += sum(label._overlap(box, point) for box in boxes for point in named)
        return found

    with_care = covered()
    monkeypatch.setattr(label, "UNREADABLE", 1.0)
    assert with_care < 0.8 * covered()


def test_a_line_crosses_a_box_or_misses_it() -> None:
    box = (0.0, 0.0, 10.0, 10.0)
    hits = [(-5.0, 5.0, 15.0, 5.0), (5.0, -5.0, 5.0, 5.0), (-1.0, -1.0, 11.0, 11.0)]
    misses = [(-5.0, 12.0, 15.0, 12.0), (-5.0, 5.0, -1.0, 5.0), (-8.0, 5.0, 5.0, 18.0), None]
    assert [label._crossed(line, box) > 0 for line in (*hits, *misses)] == [True] * 3 + [False] * 4


def test_no_name_stands_on_the_note_of_its_panel() -> None:
    note = (0.0, 0.0, 100.0, 12.0)
    ((right, up, _),) = place_names([(40.0, 8.0)], ["GraphSAGE"], (0.0, 0.0, 100.0, 100.0), [note])
    assert 8.0 + up >= 12.0, f"it stands at {right}, {up}"


def test_no_name_is_struck_through_by_the_front() -> None:
    """Beside its point, where it would stand otherwise, runs a tread of the staircase."""
    front = Series(label="", key="front", x=(1.0, 100.0), y=(80.4, 90.0))
    point = Series(label="GCN", key="peer", x=(5.0,), y=(80.2,), marks=("GCN (1.0x)",))
    boxes = []
    for series in ((point,), (front, point)):
        figure = Figure(figsize=(4.4, 3.4))
        axes = figure.subplots()
        axis = Axis(label="test", limits=(70.0, 92.0))
        panel = Panel(title="", kind="path", x=Axis(label="s", scale="log", limits=(0.5, 200.0)), y=axis, series=series)
        draw_panel(axes, panel, 1.0)
        figure.draw_without_rendering()
        name_panel(axes, panel)
        figure.draw_without_rendering()
        (name,) = (text for text in axes.texts if text.get_text() == "GCN (1.0x)")
        boxes.append((Text.get_window_extent(name), axes.transData.transform((5.0, 80.4))[1]))
    (alone, height), (beside, same) = boxes
    assert alone.y0 < height < alone.y1, "the place it takes alone"
    assert not beside.y0 < same < beside.y1


def test_a_name_is_not_nearer_to_another_point_than_to_its_own() -> None:
    """The end of one curve was written beside a point of the front, which is another one."""
    points, names = [(50.0, 50.0), (76.0, 53.0)], ["GCN"]
    ((right, up, side),) = place_names(points, names)
    box = label._box(50.0, 50.0, "GCN", right, up, side)
    assert abs(up) > FAR or label._distance(box, points[0]) <= label._distance(box, points[1])
    beside = label._box(50.0, 50.0, "GCN", *PLACES[0])
    assert label._mistaken(beside, [(50.0, 50.0), (beside[2] + 1, 53.0)], 0) > 0
    assert label._mistaken(beside, [(50.0, 50.0), (beside[2] + 9, 53.0)], 0) == 0


def test_the_names_of_points_in_front_are_in_the_legend_once(tmp_path: Path) -> None:
    """In every panel the longest of them covered points, and the front."""
    wave = Series(label="GWN-sym", key="gwn-sym", x=(5.0,), y=(80.0,), marks=("GWN-sym (2.0x)",))
    taus = replace(wave, x=(4.0, 9.0), y=(79.0, 81.0), marks=("τ=0.2", "τ=5"))
    peer = Series(label="GCN", key="peer", x=(2.5,), y=(79.0,), marks=("GCN (1.0x)",))
    axis = Axis(label="test")
    panel = Panel(title="", kind="path", x=Axis(label="s", scale="log"), y=axis, series=(taus, wave, peer))
    assert labels(panel) == ["GWN-sym"]
    path = tmp_path / "two.svg"
    draw_figure(replace(_figure("path"), panels=(panel, panel), columns=2), path, caption=False)
    words = [
        text for one in ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text") for text in one.itertext()
    ]
    assert sorted(set(words) & {"GWN-sym", "(2.0x)", "GCN (1.0x)", "τ=0.2"}) == [
        "(2.0x)",
        "GCN (1.0x)",
        "GWN-sym",
        "τ=0.2",
    ]
    assert words.count("GWN-sym") == 1
    assert words.count("(2.0x)") == 2


def test_two_names_at_one_point_part() -> None:
    first, second = place_names([(0.0, 0.0), (0.0, 0.0)], ["GCN", "GAT"])
    assert first != second
