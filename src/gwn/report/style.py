"""One restrained look for every picture: colour-blind safe, readable in grey."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

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
