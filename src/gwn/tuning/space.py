"""What is searched for a model: dimensions in an order, and where its published settings lie in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

import optuna

from gwn.io import content_key
from gwn.models import ModelSpec
from gwn.training.config import TrainConfig, effective_settings

Value = bool | int | float | str


@dataclass(frozen=True, kw_only=True)
class Dimension:
    """A setting of the model or of the training, and where its values come from.

    values      the list to choose from; empty for a range
    low, high   the range, `log` for uniform in the logarithm
    or_zero     a range of logarithms that has 0 beside it: first whether it is 0, then how large it is
    when        other settings and the values of theirs with which this dimension applies
    label       Optuna's name for it, where one setting has several lists or ranges: each is learned on its own
    """

    setting: str
    values: tuple[Value, ...] = ()
    low: float = 0.0
    high: float = 0.0
    log: bool = False
    or_zero: bool = False
    when: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    label: str = ""

    def applies(self, chosen: Mapping[str, Any]) -> bool:
        return all(chosen.get(name) in allowed for name, allowed in self.when.items())

    def suggest(self, trial: optuna.trial.BaseTrial) -> Value:
        name = self.label or self.setting
        if self.values:
            chosen = trial.suggest_categorical(name, self.values)
            assert chosen is not None
            return chosen
        if self.or_zero and trial.suggest_categorical(f"{name} is 0", (False, True)):
            return 0.0
        return trial.suggest_float(name, self.low, self.high, log=self.log)

    def contains(self, value: Any) -> bool:
        """Whether it could be chosen here."""
        if self.values:
            return value in self.values
        if value is None:
            return False
        return (self.or_zero and value == 0) or bool(self.low <= value <= self.high)

    def parameters(self, value: Any) -> dict[str, Value]:
        """What Optuna would have called the choice of `value`."""
        name = self.label or self.setting
        if not self.or_zero:
            return {name: value}
        return {f"{name} is 0": True} if value == 0 else {f"{name} is 0": False, name: value}

    def describe(self) -> dict[str, Any]:
        return asdict(self)


ON_ROWS = "-normalized"
"""Ends the name of a space on row-normalised features."""


@dataclass(frozen=True, kw_only=True)
class Space:
    """Dimensions in the order they are chosen in; of several for one setting, the first that applies is taken.

    own               by a model's name, what it searches in its own way: before `dimensions`, and instead of them
    starts            what the first trials have beside the model's published settings, one mapping a trial
    own_starts        by a model's name, those of it alone, after `starts`
    """

    name: str
    title: str
    dimensions: tuple[Dimension, ...]
    own: Mapping[str, tuple[Dimension, ...]] = field(default_factory=dict)
    starts: tuple[Mapping[str, Any], ...] = ()
    own_starts: Mapping[str, tuple[Mapping[str, Any], ...]] = field(default_factory=dict)

    def sample(self, trial: optuna.trial.BaseTrial, model: ModelSpec, fixed: Mapping[str, Any]) -> dict[str, Any]:
        """A choice for every setting that the model has and that is not fixed, and the fixed ones."""
        chosen = dict(fixed)
        for dimension in self.dimensions_of(model):
            if dimension.setting in chosen:
                continue
            if dimension.applies({**model.defaults(), **model.fixed, **chosen}):
                chosen[dimension.setting] = dimension.suggest(trial)
        return chosen

    def dimensions_of(self, model: ModelSpec) -> list[Dimension]:
        """The model's own, then those whose setting it or its training has."""
        own = self.own.get(model.name, ())
        has = {*model.settings(), *(f.name for f in fields(TrainConfig))} - {dimension.setting for dimension in own}
        return [*own, *(dimension for dimension in self.dimensions if dimension.setting in has)]

    def starts_of(self, model: ModelSpec) -> tuple[Mapping[str, Any], ...]:
        """What the model's first trials have, in their order."""
        return (*self.starts, *self.own_starts.get(model.name, ()))

    def start(self, number: int, model: ModelSpec, fixed: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The settings of start `number` as (Optuna's parameters, settings that no dimension reaches)."""
        of_training = {f.name: f.default for f in fields(TrainConfig)}
        chosen = effective_settings(
            model, {**self.starts_of(model)[number], **fixed}
        )  # with what only its Laplacian has
        defaults = {**of_training, **model.training, **chosen, **model.fixed}
        parameters: dict[str, Any] = {}
        beyond = {name: defaults[name] for name in model.training if name not in fixed}
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
        """Equal exactly when what is searched for this model is: another model's dimensions do not matter to it."""
        return content_key({"dimensions": [dimension.describe() for dimension in self.dimensions_of(model)]})

    def normalized(
        self, starts: Sequence[Mapping[str, Any]], own_starts: Mapping[str, tuple[Mapping[str, Any], ...]] | None = None
    ) -> Space:
        """The same space on row-normalised features, which want other first trials."""
        return replace(
            self,
            name=f"{self.name}{ON_ROWS}",
            title=f"{self.title}; row-normalised features",
            dimensions=(*self.dimensions, Dimension(setting="row_normalize", values=(True,))),
            starts=tuple({**start, "row_normalize": True} for start in starts),
            own_starts={
                model: tuple({**start, "row_normalize": True} for start in starts)
                for model, starts in (own_starts or {}).items()
            },
        )

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
