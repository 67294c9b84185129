"""Graph Wave Networks: message passing as the solution of a wave equation on the graph."""

from gwn._version import __version__
from gwn.errors import Diverged, GWNError
from gwn.graph import Graph
from gwn.networks import GWN, WaveConv

__all__ = ["GWN", "Diverged", "GWNError", "Graph", "WaveConv", "__version__"]
