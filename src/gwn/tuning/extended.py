"""GWN+: the whole wave family as one space, without the combinations that make no sense.

Laplacians whose spectrum is bounded refuse a tau above the stability bound of an explicit scheme, implicit and exact
schemes refuse most Laplacians: such choices are not offered. What is refused all the same is recorded as pruned.
"""

from __future__ import annotations

from typing import Any

from gwn.tuning.dimension import Dimension

_EXPLICIT = ("leapfrog", "leapfrog-rescaled", "damped", "heat")
_BOUNDED = ("physical", "klein-gordon", "fa-symmetric", "random-walk")
_EVERY_STATE = ("trajectory", "weighted")

EXTENDED_DIMENSIONS = (
    Dimension(
        setting="laplacian",
        values=("physical", "sym", "fa", "klein-gordon", "fa-symmetric", "random-walk", "polynomial"),
    ),
    Dimension(setting="scheme", values=_EXPLICIT, when={"laplacian": ("sym", "fa", "fa-symmetric")}),
    Dimension(
        setting="scheme",
        values=(*_EXPLICIT, "newmark", "bessel"),
        when={"laplacian": ("physical",)},
        label="scheme of physical",
    ),
    Dimension(
        setting="scheme",
        values=("leapfrog", "leapfrog-rescaled", "damped", "newmark"),
        when={"laplacian": ("klein-gordon",)},
        label="scheme of klein-gordon",
    ),
    Dimension(
        setting="scheme",
        values=(*_EXPLICIT, "bessel"),
        when={"laplacian": ("random-walk",)},
        label="scheme of random-walk",
    ),
    Dimension(
        setting="scheme",
        values=("leapfrog", "damped", "newmark", "heat"),
        when={"laplacian": ("polynomial",)},
        label="scheme of polynomial",
    ),
    Dimension(
        setting="speed",
        values=("none", "scalar", "channel"),
        when={"scheme": (*_EXPLICIT, "newmark")},
    ),
    Dimension(
        setting="tau",
        values=(0.2, 0.5, 1.0),
        when={"laplacian": _BOUNDED, "scheme": ("leapfrog", "damped", "heat")},
        label="tau below the bound",
    ),
    Dimension(setting="tau", values=(0.2, 0.5, 1.0, 2.0, 5.0)),
    Dimension(setting="readout", values=("trajectory", "last", "weighted", "with-encoder")),
    # At most 32 states to keep side by side; otherwise T reaches from one step (n = 1, an ego path) to the paper's 20.
    Dimension(
        setting="time",
        low=0.2,
        high=6.4,
        log=True,
        when={"readout": _EVERY_STATE, "tau": (0.2,)},
        label="time of a kept trajectory",
    ),
    Dimension(setting="time", low=0.2, high=20.0, log=True),
    Dimension(setting="epsilon", values=("bounded", "free", "none"), when={"laplacian": ("fa",)}),
    Dimension(setting="mass", low=0.1, high=1.4, log=True, when={"laplacian": ("klein-gordon",)}),
    Dimension(setting="degree", values=(2, 3, 4), when={"laplacian": ("polynomial",)}),
    Dimension(setting="damping", low=0.01, high=0.4, log=True, when={"scheme": ("damped",)}),
    Dimension(setting="activation", values=("relu", "none", "elu")),
    Dimension(setting="encoder_layers", values=(1, 2)),
    Dimension(setting="head_layers", values=(1, 2)),
    Dimension(setting="norm", values=("none", "layer", "batch")),
    Dimension(setting="hidden_channels", values=(32, 64, 128, 256)),
    Dimension(setting="dropout", low=0.0, high=0.8),
    Dimension(setting="input_dropout", low=0.0, high=0.8),
    Dimension(setting="lr", low=0.001, high=0.25, log=True),
)

_EGO: dict[str, Any] = {"laplacian": "sym", "readout": "last", "time": 1.0, "tau": 1.0}
EXTENDED_STARTS: tuple[dict[str, Any], ...] = (
    {},  # the physical wave with its whole trajectory
    {**_EGO, "lr": 0.05, "weight_decay": 5e-3},  # one step, where phi1 is an ego path
    {"laplacian": "sym", "readout": "last", "activation": "none", "time": 3.0},  # GWN-sym
    {"laplacian": "fa", "readout": "with-encoder", "time": 2.0},
    {"scheme": "heat", "norm": "batch", "hidden_channels": 256, "time": 3.0, "input_dropout": 0.2},  # as tuned GNNs
    {"readout": "weighted", "norm": "layer", "encoder_layers": 2, "time": 3.0, "lr": 0.005},
)
"""What small searches found to be good somewhere, so that a search of this size need not find it again."""
