"""The figures of the paper by name: data first, as `CurveData`; `gwn.paper.drawing` draws them."""

from gwn.paper.figures import attention, depth, node_view, roots, runtime, spectrum, stability, time_view, waveform
from gwn.paper.figures.curve_data import Axis, CurveData, Panel, Series, figure_from_json, read_figure
from gwn.paper.figures.exhibit import FigureContext, FigureExhibit, figure_data, figure_path

FIGURES: dict[str, FigureExhibit] = {
    "spectrum": spectrum.EXHIBIT,
    "attention": attention.EXHIBIT,
    "depth": depth.EXHIBIT,
    "stability": stability.EXHIBIT,
    "waveform": waveform.EXHIBIT,
    "time-view": time_view.EXHIBIT,
    "node-view": node_view.EXHIBIT,
    "roots": roots.EXHIBIT,
    "runtime": runtime.EXHIBIT,
}
"""In the order of the paper; `gwn reproduce figure-NAME` computes and draws one."""

__all__ = [
    "FIGURES",
    "Axis",
    "CurveData",
    "FigureContext",
    "FigureExhibit",
    "Panel",
    "Series",
    "figure_data",
    "figure_from_json",
    "figure_path",
    "read_figure",
]
