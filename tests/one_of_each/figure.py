"""A figure of one's own."""

from __future__ import annotations

from gwn.paper.curve_data import Axis, CurveData, Panel, Series
from gwn.paper.exhibit import Context, Exhibit


def compute(context: Context) -> tuple[CurveData]:
    """Three points on a line."""
    line = Series(label="thirds", x=(1.0, 2.0, 3.0), y=(1 / 3, 2 / 3, 1.0))
    panel = Panel(title="thirds", kind="lines", x=Axis(label="n"), y=Axis(label="n / 3"), series=(line,))
    return EXHIBIT.figure(caption="A line.", panels=(panel,), columns=1, provenance={"source": "a formula"})


EXHIBIT = Exhibit(name="figure-thirds", title="Thirds", place="nowhere", compute=compute)
