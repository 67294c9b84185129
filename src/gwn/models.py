"""Every model by name: what it is, where it comes from, and which settings it takes."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import nn

from gwn.baselines.gcn import GCN
from gwn.baselines.mlp import MLP
from gwn.laplacians import LAPLACIANS
from gwn.networks import GWN
from gwn.networks.wave import laplacian_options
from gwn.registry import lookup, require_known


@dataclass(frozen=True, kw_only=True)
class ModelSpec:
    """A model on the shelf.

    kind     "wave", "mainstream" or "differential equation"
    origin   what is PyTorch Geometric's and what is ours
    fixed    constructor arguments that the name stands for, such as the Laplacian
    """

    name: str
    network: type[nn.Module]
    title: str
    paper: str
    year: int
    kind: str
    origin: str
    fixed: Mapping[str, Any] = field(default_factory=dict)

    def settings(self) -> dict[str, inspect.Parameter]:
        """What can be set, with defaults and types: the keyword arguments of the network's constructor."""
        skip = {"in_channels", "out_channels", *self.fixed}
        found = {
            name: parameter
            for name, parameter in inspect.signature(self.network).parameters.items()
            if name not in skip and parameter.kind is not inspect.Parameter.VAR_KEYWORD
        }
        if "laplacian" in self.fixed:
            found.update(laplacian_options(LAPLACIANS[self.fixed["laplacian"]]))
        return found

    def build(self, in_channels: int, out_channels: int, **settings: Any) -> nn.Module:
        """The network with these settings; a setting it does not have is refused by name."""
        known = self.settings()
        for name in settings:
            require_known(f"setting of {self.name}", name, known)
        arguments = {"hidden_channels": 64, **settings, **self.fixed}
        return self.network(in_channels=in_channels, out_channels=out_channels, **arguments)


_GWN_PAPER = "Yue et al., Graph Wave Networks, WWW 2025"

MODELS: dict[str, ModelSpec] = {
    spec.name: spec
    for spec in (
        ModelSpec(
            name="gwn-sym",
            network=GWN,
            title="GWN-sym",
            paper=_GWN_PAPER,
            year=2025,
            kind="wave",
            origin="ours",
            fixed={"laplacian": "sym"},
        ),
        ModelSpec(
            name="gwn-fa",
            network=GWN,
            title="GWN-fa",
            paper=_GWN_PAPER,
            year=2025,
            kind="wave",
            origin="ours",
            fixed={"laplacian": "fa"},
        ),
        ModelSpec(
            name="mlp",
            network=MLP,
            title="MLP",
            paper="no graph: what the features alone are worth",
            year=1986,
            kind="mainstream",
            origin="ours",
        ),
        ModelSpec(
            name="gcn",
            network=GCN,
            title="GCN",
            paper="Kipf and Welling, Semi-Supervised Classification with Graph Convolutional Networks, ICLR 2017",
            year=2017,
            kind="mainstream",
            origin="PyG's GCNConv",
        ),
    )
}


def model_spec(name: str) -> ModelSpec:
    """The model `name`, or an error that suggests the nearest one."""
    return lookup("model", name, MODELS)
