"""The small charts of a run's page, with numbers and names of any length."""

from __future__ import annotations

import re
from itertools import pairwise

from gwn.pages.charts import CHARACTER, WIDTH, Y_LABEL, Frame, bars


def test_long_numbers_on_the_axes_stand_beside_each_other() -> None:
    """Labels like 1.0015e+09 lay over the name of their axis, and those below could have run into each other."""
    frame = Frame((0.0, 1.0), (1.0003e9, 1.0017e9))
    assert frame.left - 6 - CHARACTER * len("1,001,500,000") >= Y_LABEL
    assert "1,001,500,000" in frame.axes("known", "predicted")
    for low, high in ((1.0003e9, 1.0017e9), (0, 1e6), (-3, 4), (1e-9, 3e-9), (7, 8)):
        frame = Frame((low, high), (low, high))
        labels = r'<text x="([\d.]+)" y="[\d.]+" text-anchor="middle">([^<]+)</text>'
        spots = re.findall(labels, str(frame.axes("", "")))
        ends = [(float(x) - CHARACTER * len(text) / 2, float(x) + CHARACTER * len(text) / 2) for x, text in spots]
        assert len(ends) >= 2
        assert ends[-1][1] <= WIDTH + 0.1
        assert all(before[1] < after[0] for before, after in pairwise(ends))


def test_a_long_name_loses_no_distance() -> None:
    """Of a node with a long id it was cut off how far away it is, and its number lay on the bar."""
    svg = bars([("u" * 60, " (2 edges away)", -1_001_250_000.0), ("v", " (itself)", 5.0)], "nodes")
    assert f">{'u' * 8}… (2 edges away)</text>" in svg
    assert f"<title>{'u' * 60} (2 edges away): -1,001,250,000</title>" in svg
    boxes = re.findall(r'<rect class="\w+" x="([\d.]+)" .*?width="([\d.]+)"', str(svg))
    assert max(float(x) + float(width) for x, width in boxes) <= WIDTH - CHARACTER * len("-1,001,250,000")
