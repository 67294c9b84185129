"""Figures of the paper, drawn from their `CurveData`: SVG, PDF or PNG."""

from gwn.paper.drawing.figure import FORMATS, draw_figure

__all__ = ["FORMATS", "draw_figure"]
