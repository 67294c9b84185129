"""Pass or miss is a pure function of what was measured."""

from __future__ import annotations

import json
import math

import pytest

from benchmarks.targets import Verdict, speed_verdicts
from benchmarks.timing import slope

GOOD = {"gwn-sym": 1.0, "gwn-fa": 2.0, "mp-sym": 10.0, "mp-fa": 12.0, "gcn": 1.5, "gat": 3.0, "floor-sym": 0.7}
GOOD["floor-fa"] = 1.5


def words(dataset: str, milliseconds: dict[str, float]) -> dict[str, str]:
    return {verdict.what: verdict.word for verdict in speed_verdicts(dataset, milliseconds)}


def test_bars_depend_on_the_dataset() -> None:
    assert set(words("cora", GOOD).values()) == {"pass"}
    assert words("cs", GOOD)["GWN-sym, times faster than message passing"] == "MISS"
    assert words("cs", GOOD)["GWN-fa, times faster than message passing"] == "MISS"
    elsewhere = words("actor", GOOD)
    assert "GWN-sym, times faster than message passing" not in elsewhere
    assert elsewhere["GWN-sym, times faster than GCN"] == "pass"


@pytest.mark.parametrize(
    ("slower", "target"),
    [
        ({"mp-sym": 9.99}, "GWN-sym, times faster than message passing"),
        ({"gcn": 1.0}, "GWN-sym, times faster than GCN"),
        ({"gat": 2.0}, "GWN-fa, times faster than GAT"),
        ({"floor-sym": 0.6}, "GWN-sym, times its raw products"),
        ({"floor-fa": 1.3}, "GWN-fa, times its raw products"),
        ({"gwn-sym-precomputed": 0.5}, "precomputed GWN-sym, times faster than message passing"),
        ({"gwn-sym-ten-runs": 3.0}, "ten runs as one, times a single run"),
    ],
)
def test_each_target_can_be_missed(slower: dict[str, float], target: str) -> None:
    found = words("cora", {**GOOD, **slower})
    assert found[target] == "MISS"
    assert list(found.values()).count("MISS") == 1


def test_what_was_not_measured_is_not_judged() -> None:
    assert words("cora", {"gwn-sym": 1.0}) == {}


def test_not_a_number_reaches_no_bar() -> None:
    for sign in (">=", ">", "<=", "<"):
        verdict = Verdict(subject="a", what="b", value=math.nan, sign=sign, bar=1)
        assert not verdict.passed
        assert json.loads(json.dumps(verdict.to_json(), allow_nan=False))["value"] is None


def test_slope_is_the_exponent() -> None:
    x = [25, 50, 100, 200]
    assert slope(x, [3 * value**0.5 for value in x]) == pytest.approx(0.5)
    assert math.isnan(slope(x, [0, 1, 2, 3]))
    assert math.isnan(slope([1], [1]))
