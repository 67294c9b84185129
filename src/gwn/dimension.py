"""A setting that a search may choose, and where its values come from; plain data, so that models can say it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from optuna.trial import BaseTrial

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

    def suggest(self, trial: BaseTrial) -> Value:
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


def choices(**settings: tuple[Value, ...]) -> tuple[Dimension, ...]:
    """One dimension a setting, each a list of values."""
    return tuple(Dimension(setting=setting, values=values) for setting, values in settings.items())
