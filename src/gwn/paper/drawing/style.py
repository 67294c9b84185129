"""How a series is drawn: colour, line and marker by its key, so that a model looks the same in every figure."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import matplotlib as mpl
import numpy as np
from cycler import cycler
from matplotlib.colors import to_hex, to_rgb

# Okabe and Ito's palette, from dark to light so that grey prints keep the order.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")

SIGNED = "RdBu_r"
"""The shades of signed quantities, white at zero: blue and red are told apart without green, and both are dark in
grey, where the printed sign helps."""


@contextmanager
def house_style() -> Iterator[None]:
    """Matplotlib's settings for one picture."""
    settings = {
        "axes.prop_cycle": cycler(color=PALETTE),
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.titlesize": "medium",
        "axes.titlelocation": "left",
        "axes.grid": True,
        "grid.color": "#e4e4e4",
        "grid.linewidth": 0.6,
        "axes.axisbelow": True,
        "figure.dpi": 100,
        "savefig.dpi": 160,
        "font.size": 10,
        "svg.hashsalt": "gwn",
        "svg.fonttype": "none",  # text that can be searched, copied and read aloud
        "pdf.fonttype": 42,
    }
    with mpl.rc_context(settings):
        yield


BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK, _ = PALETTE
GREY = "#777777"
BEHIND = "#b5b5b5"
"""Of curves that are there to compare with: they carry their names at their ends, not in the legend."""

READABLE = 4.5
"""The contrast on white that small letters need (WCAG 2, level AA)."""


def ink(colour: str) -> str:
    """The colour for small letters: darker until they are read on white."""
    parts = np.array(to_rgb(colour))
    while contrast_on_white(parts) < READABLE:
        parts = 0.97 * parts
    return to_hex(parts.tolist())


def contrast_on_white(parts: Any) -> float:
    """Of red, green and blue from 0 to 1: the ratio of luminances that WCAG 2 defines."""
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return 1.05 / (float(linear @ np.array([0.2126, 0.7152, 0.0722])) + 0.05)


PLAIN = 2.0
"""The layer of everything that is not a wave network; those lie above."""


@dataclass(frozen=True, kw_only=True)
class SeriesStyle:
    """Colour, line style and marker: any one of the three tells two series of a panel apart, but for those behind."""

    colour: str
    line: Any = "-"
    marker: str = ""
    width: float = 1.1
    order: float = PLAIN
    behind: bool = False

    def line_settings(self, points: int) -> dict[str, Any]:
        """For matplotlib's `plot`; a dense curve has its markers at every eighth of it."""
        settings: dict[str, Any] = {
            "color": self.colour,
            "linestyle": self.line,
            "linewidth": self.width,
            "marker": self.marker,
            "markersize": 4.6,
            "zorder": self.order,
        }
        return settings if points <= 24 else {**settings, "markevery": max(1, points // 8)}


DASHES = {"-.": (0, (5, 1.5, 1, 1.5)), "--": (0, (4, 1.5)), ":": (0, (1, 1.2))}
_WAVE: dict[str, Any] = {"width": 2.0, "order": 4.0}
_BEHIND = SeriesStyle(colour=BEHIND, width=1.1, order=1.5, behind=True)

STYLES: dict[str, SeriesStyle] = {
    "gwn-sym": SeriesStyle(colour=BLUE, marker="o", **_WAVE),
    "gwn-sym-rescaled": SeriesStyle(colour=BLUE, line=DASHES["--"], marker="", **_WAVE),
    "gwn-fa": SeriesStyle(colour=VERMILION, marker="s", **_WAVE),
    "physical": SeriesStyle(colour=GREEN, marker="^", **_WAVE),
    "physical-newmark": SeriesStyle(colour=GREEN, line=DASHES["--"], marker="v", **_WAVE),
    "physical-bessel": SeriesStyle(colour=GREEN, line=DASHES[":"], marker="d", **_WAVE),
    "klein-gordon": SeriesStyle(colour=SKY, line=DASHES["-."], marker="D", **_WAVE),
    "fa-symmetric": SeriesStyle(colour=VERMILION, line=DASHES["--"], marker="D", **_WAVE),
    "gwn-plus": SeriesStyle(colour=GREEN, marker="^", line=DASHES["-."], **_WAVE),
    "gwn-bank-plus": SeriesStyle(colour=PURPLE, marker="P", line=DASHES["--"], **_WAVE),
    "heat": SeriesStyle(colour=BLACK, line=DASHES[":"], marker="", width=1.5),
    "gcn": SeriesStyle(colour=BLACK, line="-", marker="x", width=1.5, order=3.0),
    **dict.fromkeys(
        ("gat", "sgc", "jk-net", "resgcn", "gcnii", "air", "grand", "graphcon", "peer", "neighbour"), _BEHIND
    ),
    "best-peer": SeriesStyle(colour="#444444", line=DASHES[":"], width=1.4, order=1.8),
    "mean": SeriesStyle(colour=BLACK, line=DASHES["--"], width=1.3, order=3.0),
    "front": SeriesStyle(colour=GREY, line=DASHES["--"], width=1.0, order=1.2),
    "reference": SeriesStyle(colour=GREY, line=DASHES[":"], width=0.9, order=1.0),
    "first": SeriesStyle(colour=BLUE, line="-", width=1.5),
    "second": SeriesStyle(colour=VERMILION, line=DASHES["--"], width=1.5),
    "larger": SeriesStyle(colour=BLACK, line=DASHES["-."], width=2.2, order=5.0),
    "measured": SeriesStyle(colour=BLACK, line="", marker="o"),
}

_ANY = (
    SeriesStyle(colour=BLUE, line="-", marker="o"),
    SeriesStyle(colour=VERMILION, line=DASHES["--"], marker="s"),
    SeriesStyle(colour=GREEN, line=DASHES["-."], marker="^"),
    SeriesStyle(colour=PURPLE, line=DASHES[":"], marker="D"),
    SeriesStyle(colour=ORANGE, line="-", marker="v"),
    SeriesStyle(colour=SKY, line=DASHES["--"], marker="P"),
    SeriesStyle(colour=BLACK, line=DASHES["-."], marker="x"),
)


def style_of(key: str, place: int) -> SeriesStyle:
    """The style of this key; of none, that of its place in the panel. "KEY predicted" is KEY without a marker, "KEY
    measured" without a line."""
    base, _, part = key.partition(" ")
    style = STYLES.get(base, _ANY[place % len(_ANY)])
    if part == "measured":
        return replace(style, line="", marker=style.marker or "o")
    return replace(style, marker="") if part == "predicted" else style
