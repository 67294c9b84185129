"""Mean, deviation and interval against SciPy; results that survive JSON."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from gwn import GWNError
from gwn.training.result import RunResult, Summary, environment, summarise, summary_of_runs


def run(**changes: Any) -> RunResult:
    given = {"run": 0, "seed": 3, "split_hash": "ab", "split_sizes": (6, 2, 2), "status": "ok", "val": 0.5, "test": 0.4}
    return RunResult(**{**given, **changes})


@given(st.lists(st.floats(0, 1), min_size=2, max_size=12).filter(lambda values: np.std(values) > 1e-6))
def test_interval_is_students(values: list[float]) -> None:
    found = summarise(values)
    assert found is not None
    low, high = stats.t.interval(0.95, len(values) - 1, loc=np.mean(values), scale=stats.sem(values))
    assert found.low == pytest.approx(low, abs=1e-12)
    assert found.high == pytest.approx(high, abs=1e-12)
    assert found.mean == pytest.approx(np.mean(values))
    assert found.sd == pytest.approx(stats.tstd(values))
    assert found.count == len(values)


def test_an_interval_of_shares_stays_within_zero_and_one() -> None:
    for values in ([1.0, 1.0, 1.0], [0.0, 0.0], [1.0, 0.9, 1.0], [0.99, 0.2]):
        found = summarise(values, [10] * len(values))
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        assert 0 <= found.low < found.high <= 1
        assert found.low <= found.mean <= found.high
    perfect = summarise([1.0] * 4, [25] * 4)
    assert perfect is not None
    z = stats.norm.ppf(0.975)
    assert perfect.low == pytest.approx(1 / (1 + z**2 / 100))  # Wilson's, for 100 of 100


def test_the_interval_of_shares_covers_their_mean() -> None:
    rng = np.random.default_rng(0)
    for mean, runs, nodes in ((0.8, 5, 200), (0.99, 3, 20), (0.998, 10, 50)):
        hits = 0
        for _ in range(200):
            found = summarise(list(rng.binomial(nodes, mean, runs) / nodes), [nodes] * runs)
            assert found is not None
            assert found.low is not None
            assert found.high is not None
            hits += found.low <= mean <= found.high
        assert hits >= 180


def test_many_runs_far_from_the_bounds_have_students_interval() -> None:
    values = list(0.6 + 0.02 * np.sin(np.arange(10)))
    shares, plain = summarise(values, [10**6] * 10), summarise(values)
    assert shares is not None
    assert plain is not None
    assert (shares.low, shares.high) == pytest.approx((plain.low, plain.high), abs=2e-4)


def test_interval_by_hand() -> None:
    found = summarise([0.8, 0.9])  # sd = 0.0707, t(0.975, 1) = 12.706
    assert found is not None
    assert found.high == pytest.approx(0.85 + 12.7062 * 0.0707107 / 2**0.5, abs=1e-5)


def test_one_value_has_no_interval_and_none_no_summary() -> None:
    assert summarise([0.7]) == Summary(mean=0.7, sd=None, low=None, high=None, count=1)
    assert summarise([]) is None


def test_summary_leaves_out_diverged_runs_and_counts_them() -> None:
    runs = [run(test=0.4), run(run=1, test=0.6), run(run=2, status="diverged", reason="grew", val=None, test=None)]
    found = summary_of_runs(runs)
    assert found["test"]["mean"] == pytest.approx(0.5)
    assert found["test"]["count"] == 2
    assert (found["finished"], found["diverged"]) == (2, 1)
    nothing = summary_of_runs(runs[2:])
    assert nothing["test"] is None
    assert nothing["val"] is None


def test_there_and_back_through_json() -> None:
    result = run(peak_memory_mib=12.5, best_epoch=7, weights_sha256="ff")
    assert RunResult.from_json(json.loads(json.dumps(result.to_json()))) == result


@pytest.mark.parametrize(
    "change", [{"split_sizes": None}, {"nonsense": 1}, {"status": ...}, {"run": 999_999_999}, {"run": -1}], ids=str
)
def test_an_edited_result_is_refused_in_one_line(change: dict[str, Any]) -> None:
    data = {**run().to_json(), **change}
    data = {key: value for key, value in data.items() if value is not ...}
    with pytest.raises(GWNError, match="train again") as error:
        RunResult.from_json(data)
    assert "\n" not in str(error.value)


def test_environment_names_what_can_change_a_figure() -> None:
    found = environment(torch.device("cpu"))
    assert found["versions"]["torch"] == torch.__version__
    assert found["versions"]["graph-wave-networks"] != "not installed"
    assert found["device"] == "cpu"
    assert found["processor"].endswith(torch.backends.cpu.get_cpu_capability())
    json.dumps(found)
