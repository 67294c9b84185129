"""How a series looks: colour, line and marker by its key, so that a model looks the same in every figure."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import matplotlib as mpl
from cycler import cycler

# Okabe and Ito's palette, from dark to light so that grey prints keep the order.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")


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
        "grid.color": "#dddddd",
        "grid.linewidth": 0.6,
        "axes.axisbelow": True,
        "figure.dpi": 100,
        "savefig.dpi": 160,
        "font.size": 10,
        "svg.hashsalt": "gwn",
    }
    with mpl.rc_context(settings):
        yield


BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK, _ = PALETTE
GREY = "#777777"
PLAIN = 2.0
"""The layer of everything that is not a wave network; those lie above."""


@dataclass(frozen=True, kw_only=True)
class Look:
    """Colour, line style and marker: any one of the three tells two series of a panel apart."""

    colour: str
    line: Any = "-"
    marker: str = ""
    width: float = 1.1
    order: float = PLAIN

    def line_settings(self, points: int) -> dict[str, Any]:
        """For matplotlib's `plot`; a dense curve has its markers at every eighth of it."""
        settings: dict[str, Any] = {
            "color": self.colour,
            "linestyle": self.line,
            "linewidth": self.width,
            "marker": self.marker,
            "markersize": 4.2,
            "zorder": self.order,
        }
        return settings if points <= 24 else {**settings, "markevery": max(1, points // 8)}


DASHES = {"-.": (0, (5, 1.5, 1, 1.5)), "--": (0, (4, 1.5)), ":": (0, (1, 1.2))}
_WAVE = {"width": 1.9, "order": 4.0}

LOOKS: dict[str, Look] = {
    "gwn-sym": Look(colour=BLUE, marker="o", **_WAVE),
    "gwn-sym-rescaled": Look(colour=BLUE, line=DASHES["--"], marker="", **_WAVE),
    "gwn-fa": Look(colour=VERMILION, marker="s", **_WAVE),
    "physical": Look(colour=GREEN, marker="^", **_WAVE),
    "physical-newmark": Look(colour=GREEN, line=DASHES["--"], marker="v", **_WAVE),
    "physical-bessel": Look(colour=GREEN, line=DASHES[":"], marker="d", **_WAVE),
    "klein-gordon": Look(colour=SKY, line=DASHES["-."], marker="D", **_WAVE),
    "fa-symmetric": Look(colour=VERMILION, line=DASHES["--"], marker="D", **_WAVE),
    "heat": Look(colour=BLACK, line=DASHES[":"], marker=""),
    "gcn": Look(colour=BLACK, line="-", marker="x"),
    "gat": Look(colour=PURPLE, line="-", marker="+"),
    "sgc": Look(colour=ORANGE, line="-", marker="v"),
    "jk-net": Look(colour=GREY, line="-", marker="<"),
    "resgcn": Look(colour=BLACK, line=DASHES["--"], marker=">"),
    "gcnii": Look(colour=PURPLE, line=DASHES["--"], marker="D"),
    "air": Look(colour=ORANGE, line=DASHES["--"], marker="P"),
    "grand": Look(colour=SKY, line="-", marker="X"),
    "graphcon": Look(colour=GREY, line=DASHES["--"], marker="*"),
    "peer": Look(colour="#555555", line="", marker="."),
    "gwn-plus": Look(colour=GREEN, marker="^", line=DASHES["-."], **_WAVE),
    "reference": Look(colour=GREY, line=DASHES[":"], width=0.9, order=1.0),
    "first": Look(colour=BLUE, line="-", width=1.5),
    "second": Look(colour=VERMILION, line=DASHES["--"], width=1.5),
    "larger": Look(colour=BLACK, line=DASHES["-."], width=2.2, order=5.0),
    "measured": Look(colour=BLACK, line="", marker="o"),
}

_ANY = (
    Look(colour=BLUE, line="-", marker="o"),
    Look(colour=VERMILION, line=DASHES["--"], marker="s"),
    Look(colour=GREEN, line=DASHES["-."], marker="^"),
    Look(colour=PURPLE, line=DASHES[":"], marker="D"),
    Look(colour=ORANGE, line="-", marker="v"),
    Look(colour=SKY, line=DASHES["--"], marker="P"),
    Look(colour=BLACK, line=DASHES["-."], marker="x"),
)


def look_of(key: str, place: int) -> Look:
    """The look of this key; of none, that of its place in the panel. "KEY predicted" is KEY without a marker, "KEY
    measured" without a line."""
    base, _, part = key.partition(" ")
    look = LOOKS.get(base, _ANY[place % len(_ANY)])
    if part == "measured":
        return replace(look, line="", marker=look.marker or "o")
    return replace(look, marker="") if part == "predicted" else look
