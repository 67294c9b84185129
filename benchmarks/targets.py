"""What has to be reached, as data, and whether it is: pure functions of what was measured."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

SIGNS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    ">": operator.gt,
    "<=": operator.le,
    "<": operator.lt,
}


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """A measured value beside its bar; a value that is not a number reaches nothing."""

    subject: str
    what: str
    value: float
    sign: str
    bar: float

    @property
    def passed(self) -> bool:
        return SIGNS[self.sign](self.value, self.bar)

    @property
    def word(self) -> str:
        return "pass" if self.passed else "MISS"

    def to_json(self) -> dict[str, Any]:
        value = self.value if abs(self.value) < float("inf") else None  # JSON has no NaN
        return {**asdict(self), "value": value, "passed": self.passed}


@dataclass(frozen=True, kw_only=True)
class RatioTarget:
    """`milliseconds of a case / milliseconds of another`, with one bar for all datasets or one for each named one."""

    what: str
    of: str
    to: str
    sign: str
    bar: float | Mapping[str, float]

    def judge(self, dataset: str, milliseconds: Mapping[str, float]) -> Verdict | None:
        """None where one of the two was not measured, or this dataset has no bar."""
        bar = self.bar if isinstance(self.bar, (int, float)) else self.bar.get(dataset)
        if bar is None or self.of not in milliseconds or self.to not in milliseconds:
            return None
        value = milliseconds[self.of] / milliseconds[self.to]
        return Verdict(subject=dataset, what=self.what, value=value, sign=self.sign, bar=bar)


SPEED_TARGETS = (
    RatioTarget(
        what="GWN-sym, times faster than message passing",
        of="mp-sym",
        to="gwn-sym",
        sign=">=",
        bar={"cora": 10, "photo": 10, "computers": 10, "pubmed": 5, "cs": 25},
    ),
    RatioTarget(
        what="GWN-fa, times faster than message passing",
        of="mp-fa",
        to="gwn-fa",
        sign=">=",
        bar={"cora": 6, "photo": 6, "computers": 6, "pubmed": 4, "cs": 25},
    ),
    RatioTarget(what="GWN-sym, times faster than GCN", of="gcn", to="gwn-sym", sign=">", bar=1),
    RatioTarget(what="GWN-sym, times faster than GAT", of="gat", to="gwn-sym", sign=">", bar=1),
    RatioTarget(what="GWN-fa, times faster than GAT", of="gat", to="gwn-fa", sign=">", bar=1),
    RatioTarget(what="GWN-sym, times its raw products", of="gwn-sym", to="floor-sym", sign="<=", bar=1.5),
    RatioTarget(what="GWN-fa, times its raw products", of="gwn-fa", to="floor-fa", sign="<=", bar=1.5),
    RatioTarget(
        what="precomputed GWN-sym, times faster than message passing",
        of="mp-sym",
        to="gwn-sym-precomputed",
        sign=">=",
        bar={"cora": 30, "cs": 30},
    ),
)


def speed_verdicts(dataset: str, milliseconds: Mapping[str, float]) -> list[Verdict]:
    """Every target that says something about this dataset."""
    judged = (target.judge(dataset, milliseconds) for target in SPEED_TARGETS)
    return [verdict for verdict in judged if verdict is not None]
