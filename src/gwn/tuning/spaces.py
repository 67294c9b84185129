"""The search spaces by name: each is data, so that a study can say exactly what it searched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gwn.models import ModelSpec
from gwn.networks import GWN
from gwn.registry import lookup
from gwn.tuning.space import Dimension, Space, Value

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


SHARED_DIMENSIONS = (
    Dimension(setting="dropout", low=0.0, high=0.8),
    Dimension(setting="lr", low=0.002, high=0.05, log=True),
    Dimension(setting="weight_decay", low=1e-6, high=0.01, log=True, or_zero=True),
)


def _lists(**settings: tuple[Value, ...]) -> tuple[Dimension, ...]:
    """One dimension a setting, each a list of values."""
    return tuple(Dimension(setting=setting, values=values) for setting, values in settings.items())


_BOTH = (False, True)
_TUNED = _lists(num_layers=(2, 3, 4, 5), norm=("batch", "layer", "none"), residual=_BOTH, hidden_channels=(64, 128))
_FILTER = _lists(filter_dropout=(0.0, 0.5, 0.7, 0.9))
_MIXING = (*_lists(acmii=_BOTH, layer_norm=_BOTH), Dimension(setting="lr", low=0.005, high=0.1, log=True))
_DIFFUSION = _lists(time=(1.0, 2.0, 5.0), num_terms=(5, 10))

PEER_DIMENSIONS: dict[str, tuple[Dimension, ...]] = {
    "mlp": _lists(num_layers=(1, 2, 3)),
    "gcn": _lists(num_layers=(1, 2, 3)),
    "gat": _lists(num_layers=(2, 3), attention_dropout=(0.0, 0.3, 0.6)),
    "graphsage": _lists(num_layers=(1, 2, 3), normalize=_BOTH),
    # Logistic regression: its authors' learning rate is twenty times that of the networks.
    "sgc": (*_lists(hops=(1, 2, 3, 4)), Dimension(setting="lr", low=0.01, high=0.5, log=True)),
    "appnp": _lists(alpha=(0.1, 0.2, 0.5, 0.9), hops=(2, 5, 10), edge_dropout=(0.0, 0.5)),
    "jk-net": _lists(mode=("cat", "max"), num_layers=(2, 3, 4, 6), hidden_channels=(16, 32, 64)),
    "resgcn": _lists(num_layers=(2, 4, 8)),
    "gcnii": _lists(num_layers=(4, 8, 16), alpha=(0.1, 0.2, 0.5), theta=(0.5, 1.0, 1.5), variant=_BOTH),
    "fagcn": (*_lists(num_layers=(1, 2, 3, 4, 6, 8)), Dimension(setting="eps", low=0.1, high=1.0)),
    "gpr-gnn": (
        *_lists(start=("ppr", "random"), hops=(5, 10), filter_dropout=(0.0, 0.5, 0.7)),
        Dimension(setting="alpha", values=(0.1, 0.2, 0.5, 0.9, 1.0), when={"start": ("ppr",)}),
    ),
    "air": _lists(num_layers=(2, 4, 6, 8)),
    "mixhop": _lists(hops=(1, 2, 3), num_layers=(1, 2)),
    "geom-gcn": _lists(num_layers=(1, 2), hidden_channels=(16, 32)),
    "h2gcn": _lists(rounds=(1, 2)),
    "linkx": _lists(num_layers=(1, 2, 3), num_node_layers=(1, 2), hidden_channels=(32, 64, 128)),
    "wrgat": _lists(relations=(1, 3), hidden_channels=(64, 128)),
    "ggcn": _lists(num_layers=(2, 4, 6, 8), decay=(0.5, 0.7, 0.9, 1.2), hidden_channels=(16, 32)),
    "nlmlp": _lists(kernel_size=(3, 5, 7), hidden_channels=(16, 32, 48), conv_dropout=(0.0, 0.5)),
    "glognn": _lists(
        num_layers=(1, 2, 3),
        powers=(2, 3, 4, 6),
        gamma=(0.0, 0.3, 0.6, 0.8),
        beta1=(0.0, 1.0, 10.0),
        beta2=(0.1, 1.0, 10.0, 1000.0),
        delta=(0.0, 0.5, 0.9, 1.0),
        row_normalize=_BOTH,
    ),
    "nsd": _lists(
        maps=("diagonal", "orthogonal"),
        stalk=(2, 3, 4),
        num_layers=(2, 3, 4),
        hidden_channels=(16, 20, 32),
        input_dropout=(0.0, 0.5, 0.8),
    ),
    "acm-gcn": _MIXING,
    "acm-gcn-plus": _MIXING,
    "ordered-gnn": _lists(
        num_layers=(2, 4, 8), hidden_channels=(64, 128), shared_gate=_BOTH, input_dropout=(0.0, 0.1, 0.3)
    ),
    # Every pair of these is a diffusion to compute beforehand.
    "gdc": _lists(alpha=(0.05, 0.15), k=(64, 128)),
    "cgnn": _lists(
        weighted=_BOTH, time=(1.0, 3.0, 6.0), alpha=(0.5, 0.8, 0.95), hidden_channels=(16, 64), input_dropout=(0.2, 0.5)
    ),
    "adc": (*_DIFFUSION, *_lists(per_channel=_BOTH)),
    "gadc": _DIFFUSION,
    "grand": _lists(
        variant=("linear", "nonlinear"),
        time=(1.0, 2.0, 4.0, 8.0),
        heads=(1, 4),
        attention_dim=(16, 64),
        input_dropout=(0.2, 0.5),
    ),
    "graphcon": _lists(
        coupling=("gcn", "gat"),
        num_layers=(1, 2, 3, 5, 8),
        alpha=(0.0, 0.5, 1.0),
        gamma=(0.0, 0.5, 1.0),
        residual=_BOTH,
    ),
    "jacobi": (
        Dimension(setting="a", low=-0.75, high=2.0),
        Dimension(setting="b", low=-0.75, high=2.0),
        *_lists(gamma=(0.5, 1.0, 1.5, 2.0)),
        *_FILTER,
    ),
    "chebnet2": _FILTER,
    "bernnet": _FILTER,
    "gcn-tuned": _TUNED,
    "sage-tuned": _TUNED,
    "gat-tuned": _TUNED,
}
"""By model; dropout, learning rate and weight decay are searched for all (`SHARED_DIMENSIONS`)."""

_REGULARISED = {"dropout": 0.5, "lr": 0.01, "weight_decay": 5e-3}
"""What keeps a network with a few thousand parameters from learning the 87 training nodes of Texas by heart."""

# Weights for features of a few thousandths are large: a strong decay would leave nothing of them.
_WITH_DECAY: dict[str, Mapping[str, Any]] = {"glognn": {"row_normalize": False}}

# Defaults are mostly the authors' for Cora. These are theirs for a small heterophilic graph, with where they stand.
HETEROPHILIC: dict[str, Mapping[str, Any]] = {
    # Reproduce_GPRGNN.sh, Texas: it starts as an MLP
    "gpr-gnn": {"start": "ppr", "alpha": 1.0, "lr": 0.05, "weight_decay": 5e-4},
    # run_glognn_sota_reproduce_small.sh, Texas
    "glognn": {
        "num_layers": 1,
        "powers": 2,
        "gamma": 0.0,
        "beta1": 10.0,
        "beta2": 0.01,
        "delta": 1.0,
        "dropout": 0.0,
        "lr": 0.01,
        "weight_decay": 5e-5,
    },
    # full.sh of chennnM/GCNII, Cornell
    "gcnii": {"num_layers": 16, "alpha": 0.5, "theta": 1.0, "weight_decay": 1e-3},
    # best_params of OrderedGNN, Texas
    "ordered-gnn": {"shared_gate": True, "input_dropout": 0.3, "dropout": 0.1},
    # best_params.py of tk-rusch/GraphCON, Wisconsin
    "graphcon": {
        "num_layers": 2,
        "alpha": 0.0,
        "gamma": 0.0,
        "residual": True,
        "dropout": 0.23,
        "lr": 0.00356,
        "weight_decay": 0.0081,
    },
    # table_1_GGCN.sh, Texas
    "ggcn": {"num_layers": 2, "dropout": 0.4, "weight_decay": 1e-3},
    # Chien et al. 2021 search alpha up to 0.9 for it
    "appnp": {"alpha": 0.9},
    # bestHyperparams.py of GraphPKU/JacobiConv, Texas; the authors have three learning rates, this is the map's
    "jacobi": {
        "a": -0.5,
        "b": 0.0,
        "gamma": 0.5,
        "dropout": 0.8,
        "filter_dropout": 0.7,
        "lr": 0.05,
        "weight_decay": 1e-3,
    },
    # H2GCN-1, which the authors report beside H2GCN-2
    "h2gcn": {"rounds": 1},
}

PEER_STARTS: dict[str, tuple[Mapping[str, Any], ...]] = {
    model: (HETEROPHILIC[model], {**HETEROPHILIC[model], **_REGULARISED, **_WITH_DECAY.get(model, {})})
    if model in HETEROPHILIC
    else (_REGULARISED,)
    for model in PEER_DIMENSIONS
}
"""By model, what is tried after its defaults: its authors' settings for heterophilic graphs, and a strong decay."""


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
