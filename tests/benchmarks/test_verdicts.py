"""Pass or miss is a pure function of what was measured; so are the verdicts of the committed results."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.growth import curve_row, curve_verdicts, large_verdicts
from benchmarks.harness import Verdict, read_report, slope
from benchmarks.hundred_million import hundred_million_verdicts, killed_verdicts
from benchmarks.memory import ATTENTION_STEPS, FLAT, FLAT_STEPS, depth_verdicts, memory_verdicts
from benchmarks.outofcore import precomputed_verdicts, ten_million_verdicts
from benchmarks.processes import process_verdicts
from benchmarks.speed import arxiv_verdicts, speed_verdicts
from benchmarks.together import together_verdicts
from benchmarks.wide import wide_verdicts

RESULTS = Path(__file__).parent.parent.parent / "results" / "bench"
GOOD = {"gwn-sym": 1.0, "gwn-fa": 2.0, "gcn-fastest": 2.0, "gat": 8.5, "gat-fastest": 8.0}
GOOD |= {"floor-sym": 0.7, "floor-fa": 1.3}


def words(dataset: str, milliseconds: dict[str, float]) -> dict[str, str]:
    return {verdict.what: verdict.word for verdict in speed_verdicts([{"dataset": dataset, **milliseconds}])}


def test_bars_depend_on_the_dataset() -> None:
    assert set(words("photo", GOOD).values()) == {"pass"}
    assert len(words("photo", GOOD)) == 6
    assert "GWN-sym, times its raw products" not in words("cora", GOOD)  # a millisecond: calling costs more than that
    assert words("texas", GOOD) == {}


@pytest.mark.parametrize(
    ("slower", "target"),
    [
        ({"gcn-fastest": 1.99, "gwn-fa": 1.9}, "GWN-sym, times faster than PyG's fastest GCN"),
        ({"gat": 7.9}, "GWN-fa, times faster than PyG's GAT"),
        ({"gat-fastest": 7.9}, "GWN-fa, times faster than PyG's fastest GAT"),
        ({"gwn-fa": 2.01, "gat": 9.0, "gat-fastest": 9.0}, "GWN-fa, times faster than PyG's fastest GCN"),
        ({"floor-sym": 0.6}, "GWN-sym, times its raw products"),
        ({"floor-fa": 1.2}, "GWN-fa, times its raw products"),
    ],
)
def test_each_target_can_be_missed(slower: dict[str, float], target: str) -> None:
    found = words("photo", {**GOOD, **slower})
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


def memory_rows(of_fa: Callable[[int], float], of_flat: Callable[[int], float]) -> list[dict[str, Any]]:
    """A machine that is invented: memory as a function of the number of steps."""
    generated = {"graph": "2 nodes, 1 edges", "tau": 0.2, "width": 64, "process_mib": 500.0, "trained": True}
    real = {"model": "gwn-fa", "steps": 100, "tau": 0.2, "width": 256, "step_mib": 1.0}
    return [
        *({**generated, "model": model, "steps": n, "step_mib": of_flat(n)} for model in FLAT for n in FLAT_STEPS),
        *({**generated, "model": "gwn-fa", "steps": n, "step_mib": of_fa(n)} for n in (1, *ATTENTION_STEPS)),
        {**real, "graph": "photo", "process_mib": 3800.0, "trained": True},
        {**real, "graph": "cs", "process_mib": 3820.0, "trained": False},
    ]


def test_memory_bars() -> None:
    rows = memory_rows(lambda n: 20 + 3 * n**0.5, lambda n: 20.0)
    found = {(verdict.subject, verdict.bar): verdict for verdict in memory_verdicts(rows)}
    assert found["gwn-sym", 10].value == pytest.approx(0)
    assert found["gwn-fa", 0.6].passed
    assert 0.5 <= found["gwn-fa", 0.6].value <= 0.6
    assert found["photo", 4].passed  # 3,800 MiB are 3.98 GB
    assert not found["cs", 4].passed
    assert found["photo", 1].passed
    assert not found["cs", 1].passed
    assert len(found) == len(FLAT) + 1 + 4


def test_memory_that_grows_with_every_step_is_a_miss() -> None:
    found = {v.subject: v for v in memory_verdicts(memory_rows(lambda n: 20.0 + n, lambda n: 20.0 + n))}
    assert not found["gwn-fa"].passed
    assert found["gwn-fa"].value == pytest.approx(1, abs=0.05)
    assert not found["gwn-sym"].passed


def test_growth_is_judged_by_its_exponent() -> None:
    sizes = {"nodes": 100, "edges": 1000, "width": 8, "steps": 5}
    points = [{"value": n, **sizes, "step_ms": n**1.2, "step_mib": 3.0 * n} for n in (10, 100, 1000)]
    row = curve_row("edges", "gwn-fa", points)
    time, memory = curve_verdicts([row])
    assert time.value == pytest.approx(1.2)
    assert not time.passed
    assert memory.value == pytest.approx(1)
    assert memory.passed
    assert row["ns_per_edge_channel_step"][0] == pytest.approx(1e6 * 10**1.2 / (1000 * 8 * 5))
    (alone,) = curve_verdicts([curve_row("edges", "gwn-fa", [{k: v for k, v in points[0].items() if k != "step_mib"}])])
    assert not alone.passed  # one point has no exponent


JUDGES = {
    "speed": speed_verdicts,
    "memory": memory_verdicts,
    "growth": curve_verdicts,
    "edges": large_verdicts,
    "arxiv": arxiv_verdicts,
    "depth": depth_verdicts,
    "precomputed": precomputed_verdicts,
    "ten-million": ten_million_verdicts,
    "hundred-million": hundred_million_verdicts,
    "killed": killed_verdicts,
    "together": together_verdicts,
    "processes": process_verdicts,
    "wide": wide_verdicts,
}


@pytest.mark.parametrize("file", ["speed", "epochs", "memory", "growth", "scale"])
def test_the_committed_verdicts_are_those_of_the_committed_rows(file: str) -> None:
    for name, part in read_report(RESULTS / f"{file}.json")["parts"].items():
        if name in ("epochs", "partitions", "bank-files"):  # statements without a bar
            assert part["verdicts"] == []
            continue
        found = [verdict.to_json() for verdict in JUDGES[name](part["rows"])]
        for verdict, written in zip(found, part["verdicts"], strict=True):
            assert verdict.pop("value") == pytest.approx(written.pop("value"), rel=1e-9)
            assert verdict == written
