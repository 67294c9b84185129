"""The search spaces by name: each is data, so that a study can say exactly what it searched."""

from __future__ import annotations

from typing import Any

from gwn.models import ModelSpec
from gwn.networks import GWN
from gwn.registry import lookup
from gwn.tuning.dimension import Dimension
from gwn.tuning.extended import EXTENDED_DIMENSIONS, EXTENDED_STARTS
from gwn.tuning.peers import HETEROPHILIC, PEER_DIMENSIONS, PEER_STARTS, SHARED_DIMENSIONS
from gwn.tuning.space import Space

_PAPER = (
    Dimension(setting="hidden_channels", values=(32, 64, 128, 256)),
    Dimension(setting="tau", values=(0.2, 0.5, 1.0, 2.0, 5.0)),
    Dimension(setting="time", low=1.0, high=20.0),
    Dimension(setting="dropout", low=0.0, high=0.8),
    Dimension(setting="lr", low=0.001, high=0.25, log=True),
)
_SMALL_WEIGHT_DECAY = Dimension(setting="weight_decay", low=1e-6, high=0.1, log=True, or_zero=True)

# One step of a wave is an ego path, which heterophilic graphs often want: only one in twenty random draws has it.
_STANDARD_STARTS: tuple[dict[str, Any], ...] = (
    {"time": 1.0, "tau": 1.0},
    {"time": 1.0, "tau": 1.0, "lr": 0.05, "weight_decay": 5e-3},
    {"time": 3.0, "tau": 1.0},
)
_STANDARD = Space(
    name="standard",
    # Uniform in [0, 0.1], 99 % of all draws are above 0.001, and what works is mostly below.
    title="the paper's, with weight decay 0 or log-uniform in [1e-6, 0.1]; layers of an MLP or a GCN",
    dimensions=(*_PAPER, _SMALL_WEIGHT_DECAY, Dimension(setting="num_layers", values=(1, 2, 3))),
    starts=_STANDARD_STARTS,
)
_EXTENDED = Space(
    name="extended",
    title="GWN+: also Laplacian, scheme, read-out, activation, layers and learned speed; n = 1 within reach",
    dimensions=(*EXTENDED_DIMENSIONS, _SMALL_WEIGHT_DECAY),
    starts=EXTENDED_STARTS,
)
_PEERS = Space(
    name="peers",
    title="small: what a peer's own paper searched, dropout, learning rate, weight decay; its defaults first",
    dimensions=SHARED_DIMENSIONS,
    own=PEER_DIMENSIONS,
    starts=({},),
    own_starts=PEER_STARTS,
)
# Row-normalised features are small: what learns from them is fast and decays little.
_FAST = {"lr": 0.05, "weight_decay": 5e-4}

SHORT_TIME = 5.0
"""T on large graphs: five steps of the paper's tau = 1, a quarter of the paper's range and of its cost."""

SPACES: dict[str, Space] = {
    space.name: space
    for space in (
        Space(
            name="paper",
            title="the paper's: width, tau, T, dropout, learning rate; weight decay uniform in [0, 0.1]",
            dimensions=(*_PAPER, Dimension(setting="weight_decay", low=0.0, high=0.1)),
        ),
        _STANDARD,
        _STANDARD.shortened(SHORT_TIME),
        _EXTENDED,
        _EXTENDED.shortened(SHORT_TIME),
        _PEERS,
        _STANDARD.normalized([{**start, **_FAST} for start in _STANDARD_STARTS[1:]]),
        _EXTENDED.normalized([{**start, **_FAST} for start in EXTENDED_STARTS]),
        _PEERS.normalized([_FAST], {model: (HETEROPHILIC.get(model, {}),) for model in PEER_DIMENSIONS}),
    )
}


def choose_space(model: ModelSpec, name: str | None) -> Space:
    """The space `name`; by default "standard", and "extended" where the model leaves the Laplacian open."""
    if name is None:
        name = "extended" if issubclass(model.network, GWN) and "laplacian" not in model.fixed else "standard"
    return lookup("search space", name, SPACES)
