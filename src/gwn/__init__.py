"""Graph Wave Networks: message passing as the solution of a wave equation on the graph.

The names below are imported when they are first asked for: `gwn --help` need not wait for PyTorch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gwn._version import __version__
from gwn.errors import Diverged, GWNError
from gwn.registry import exports_on_demand

if TYPE_CHECKING:
    from gwn.estimator import WaveClassifier, WaveRegressor
    from gwn.graph import Graph
    from gwn.networks import GWN, WaveConv

__all__ = ["GWN", "Diverged", "GWNError", "Graph", "WaveClassifier", "WaveConv", "WaveRegressor", "__version__"]

__getattr__ = exports_on_demand(
    __name__,
    {
        "Graph": "gwn.graph",
        "GWN": "gwn.networks",
        "WaveClassifier": "gwn.estimator",
        "WaveConv": "gwn.networks",
        "WaveRegressor": "gwn.estimator",
    },
)


def __dir__() -> list[str]:
    return __all__
