"""The search spaces by name: each is data, so that a study can say exactly what it searched."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from gwn.dimension import Dimension
from gwn.io import content_key
from gwn.models import ModelSpec
from gwn.registry import lookup
from gwn.training.config import TrainConfig, effective_settings
from gwn.tuning.classics import published_settings
from gwn.tuning.wave_dimensions import TAUS, wave_dimensions

if TYPE_CHECKING:
    from optuna.trial import BaseTrial

    from gwn.data import Dataset

OwnStarts = Callable[[ModelSpec], tuple[Mapping[str, Any], ...]]


def no_own_starts(model: ModelSpec) -> tuple[Mapping[str, Any], ...]:
    """Every model starts alike."""
    return ()


_DIRECTION = Dimension(setting="direction", values=("both", "stored", "reversed"))

ON_ROWS = "-normalized"
"""Ends the name of a space on row-normalised features."""


@dataclass(frozen=True, kw_only=True)
class Space:
    """Dimensions in the order they are chosen in; of several for one setting, the first that applies is taken.

    own          whether a model's own dimensions come before `dimensions`, and instead of those for the same setting
    starts       what the first trials have beside the model's published settings, one mapping a trial
    own_starts   those of one model, after `starts`
    classic      what the tuned classics were published with on the graph that is searched on, by convolution: a model
                 begins with the first that it has the blocks of
    """

    name: str
    title: str
    dimensions: tuple[Dimension, ...]
    own: bool = False
    starts: tuple[Mapping[str, Any], ...] = ()
    own_starts: OwnStarts = no_own_starts
    classic: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def sample(self, trial: BaseTrial, model: ModelSpec, fixed: Mapping[str, Any]) -> dict[str, Any]:
        """A choice for every setting that the model has and that is not fixed, and the fixed ones."""
        usual, chosen = {**model.defaults(), **model.fixed}, dict(fixed)
        for dimension in self.dimensions_of(model):
            if dimension.setting in chosen:
                continue
            if dimension.applies({**usual, **chosen}):
                chosen[dimension.setting] = dimension.suggest(trial)
        return chosen

    def dimensions_of(self, model: ModelSpec) -> list[Dimension]:
        """The model's own, then those whose setting it or its training has."""
        own = model.search if self.own else ()
        of_training = {f.name for f in fields(TrainConfig)} - (set() if model.gradients else {"lr", "weight_decay"})
        has = {*model.settings(), *of_training} - {dimension.setting for dimension in own}
        has -= {"direction"} if "edges" in model.ignores else set()
        return [*own, *(dimension for dimension in self.dimensions if dimension.setting in has)]

    def starts_of(self, model: ModelSpec) -> tuple[Mapping[str, Any], ...]:
        """What the model's first trials have, in their order."""
        on_rows = {"row_normalize": True} if self.name.endswith(ON_ROWS) else {}
        known = {*model.settings(), *(f.name for f in fields(TrainConfig))}
        begun = next((conv for conv in self.classic if conv in model.classic), None)
        variants = () if begun is None else model.classic[begun]
        classic = [{**self.classic[begun], **blocks, **on_rows} for blocks in variants] if begun else []
        every = (*classic, *self.starts, *self.own_starts(model))
        return tuple({name: value for name, value in start.items() if name in known} for start in every)

    def start(self, number: int, model: ModelSpec, fixed: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The settings of start `number` as (Optuna's parameters, settings that no dimension reaches)."""
        of_training = {f.name: f.default for f in fields(TrainConfig)}
        # with what only its Laplacian has
        chosen = effective_settings(model, {**self.starts_of(model)[number], **fixed})
        defaults = {**of_training, **model.training, **chosen, **model.fixed}
        parameters: dict[str, Any] = {}
        known = {*model.settings(), *of_training}
        given = (*model.training, *(name for name in self.starts_of(model)[number] if name in known))
        beyond = {name: defaults[name] for name in given if name not in fixed}
        seen = {*fixed}
        for dimension in self.dimensions_of(model):
            name = dimension.setting
            if name in seen or not dimension.applies(defaults):
                continue
            seen.add(name)
            beyond.pop(name, None)
            if dimension.contains(defaults[name]):
                parameters.update(dimension.parameters(defaults[name]))
            else:
                beyond[name] = defaults[name]
        return parameters, beyond

    def key(self, model: ModelSpec) -> str:
        """Equal exactly when what is searched for this model is: another model's dimensions do not matter to it.

        A default that was another one makes another network of the same choices, so it belongs to the key.
        """
        searched: dict[str, Any] = {"dimensions": [dimension.describe() for dimension in self.dimensions_of(model)]}
        if model.former_defaults:
            searched["defaults"] = {name: model.defaults()[name] for name in model.former_defaults}
        return content_key(searched)

    def normalized(self, starts: Sequence[Mapping[str, Any]], own_starts: OwnStarts = no_own_starts) -> Space:
        """The same space on row-normalised features, which want other first trials."""
        on_rows = {"row_normalize": True}
        return replace(
            self,
            name=f"{self.name}{ON_ROWS}",
            title=f"{self.title}; row-normalised features",
            dimensions=(*self.dimensions, Dimension(setting="row_normalize", values=(True,))),
            starts=tuple({**start, **on_rows} for start in starts),
            own_starts=lambda model: tuple({**start, **on_rows} for start in own_starts(model)),
        )

    def on(self, dataset: Dataset) -> Space:
        """The same space for this graph: where edges have a direction, networks that can follow it choose which."""
        dimensions = (*self.dimensions, _DIRECTION) if dataset.directed else self.dimensions
        return replace(self, dimensions=dimensions, classic=published_settings(dataset))

    def shortened(self, longest: float) -> Space:
        """The same space with waves that travel at most for the time `longest`."""
        return replace(
            self,
            name=f"{self.name}-short",
            title=f"{self.title}; T at most {longest:g}, for large graphs",
            dimensions=tuple(
                replace(dimension, high=min(dimension.high, longest)) if dimension.setting == "time" else dimension
                for dimension in self.dimensions
            ),
        )


_AROUND_A_WAVE = (
    Dimension(setting="activation", values=("relu", "none", "elu")),
    Dimension(setting="encoder_layers", values=(1, 2)),
    Dimension(setting="head_layers", values=(1, 2)),
    Dimension(setting="norm", values=("none", "layer", "batch")),
    Dimension(setting="hidden_channels", values=(32, 64, 128, 256)),
    Dimension(setting="dropout", low=0.0, high=0.8),
    Dimension(setting="input_dropout", low=0.0, high=0.8),
    Dimension(setting="lr", low=0.001, high=0.25, log=True),
)
EXTENDED_DIMENSIONS = (*wave_dimensions(), *_AROUND_A_WAVE)

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
    Dimension(setting="weight_decay", low=1e-6, high=0.1, log=True, or_zero=True),
)


_REGULARISED = {"dropout": 0.5, "lr": 0.01, "weight_decay": 5e-3}
"""What keeps a network with a few thousand parameters from learning the 87 training nodes of Texas by heart."""


def peer_starts(model: ModelSpec) -> tuple[Mapping[str, Any], ...]:
    """What is tried after a model's defaults: its own starts, or its authors' settings for heterophilic graphs and a
    strong decay."""
    if not model.search:
        return ()
    if model.starts:
        return model.starts
    if not model.gradients:
        return (model.with_decay,)
    decayed = {**model.heterophilic, **_REGULARISED, **model.with_decay}
    return (model.heterophilic, decayed) if model.heterophilic else (decayed,)


def peer_starts_on_rows(model: ModelSpec) -> tuple[Mapping[str, Any], ...]:
    return (model.heterophilic,) if model.search else ()


_PAPER = (
    Dimension(setting="hidden_channels", values=(32, 64, 128, 256)),
    Dimension(setting="tau", values=TAUS),
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
_WAVES = Space(
    name="waves",
    title="extended without the heat equation, which is no wave: what the tables search for GWN+",
    dimensions=(*wave_dimensions(waves_only=True), *_AROUND_A_WAVE, _SMALL_WEIGHT_DECAY),
    starts=tuple({k: v for k, v in start.items() if k != "scheme"} for start in EXTENDED_STARTS),
)
_PEERS = Space(
    name="peers",
    title="small: what a peer's own paper searched, dropout, learning rate, weight decay; its defaults first",
    dimensions=SHARED_DIMENSIONS,
    own=True,
    starts=({},),
    own_starts=peer_starts,
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
        _WAVES,
        _WAVES.shortened(SHORT_TIME),
        _PEERS,
        _STANDARD.normalized([{**start, **_FAST} for start in _STANDARD_STARTS[1:]]),
        _EXTENDED.normalized([{**start, **_FAST} for start in EXTENDED_STARTS]),
        _WAVES.normalized([{**start, **_FAST} for start in _WAVES.starts]),
        _PEERS.normalized([_FAST], peer_starts_on_rows),
    )
}


def choose_space(model: ModelSpec, name: str | None) -> Space:
    """The space `name`; by default the model's."""
    return lookup("search space", model.space if name is None else name, SPACES)
