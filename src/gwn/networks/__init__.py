"""Graph wave networks as ordinary `torch.nn.Module`s: `model(x, edge_index) -> logits`."""

from gwn.networks.conv import WaveConv
from gwn.networks.wave import GWN

__all__ = ["GWN", "WaveConv"]
