"""What is told apart: the corrected test against its formula, Holm's correction, and the sentence."""

from __future__ import annotations

import math

import pytest
from scipy import stats

from gwn.compare.verdict import Difference, against_best, by_reason, corrected, holm, listed, sentence

TITLES = {"wave": "GWN-fa", "gcn": "GCN", "mlp": "MLP", "majority": "Majority class"}


def scores(*values: float) -> dict[int, float]:
    return dict(enumerate(values))


def test_overlapping_splits_widen_the_interval_as_nadeau_and_bengio_say() -> None:
    differences = [0.01, 0.03, 0.02, 0.04, 0.0]
    half, error, p = corrected(differences, tested=200, trained=600)
    spread = math.sqrt(sum((d - 0.02) ** 2 for d in differences) / 4)
    assert error == pytest.approx(spread * math.sqrt(1 / 5 + 1 / 3))
    assert half == pytest.approx(stats.t.ppf(0.975, 4) * error)
    assert p == pytest.approx(2 * stats.t.sf(0.02 / error, 4))
    assert p > stats.ttest_1samp(differences, 0).pvalue
    assert corrected([0.0, 0.0], 20, 60)[2] == 1.0


def test_equal_differences_on_a_few_nodes_are_no_proof() -> None:
    """Two runs in which one node of six is answered better: p was zero, because they do not differ."""
    _, error, p = corrected([1 / 6, 1 / 6], 6, 18)
    assert error == pytest.approx(math.sqrt(5 / 36 / 6) * math.sqrt(1 / 2 + 1 / 3))
    assert p == pytest.approx(2 * stats.t.sf(1 / 6 / error, 1))
    assert p > 0.4
    assert corrected([0.1, 0.1], 20, 60, shares=False)[2] == 0.0, "R² is no share of nodes"


def test_a_model_of_two_runs_borrows_the_spread_of_those_with_more() -> None:
    """The majority class 50 points behind was called a tie: one degree of freedom tells nothing apart."""
    wave, near = [0.80, 0.82, 0.81, 0.79, 0.80], [0.79, 0.83, 0.80, 0.80, 0.79]
    found = against_best(
        "wave",
        {
            "wave": scores(*wave),
            "gcn": scores(*near),
            "majority": scores(0.30, 0.32),
            "mlp": scores(0.80, 0.80),
            "gat": scores(0.40, 0.82),
        },
        tested=20000,
        trained=60000,
    )
    assert {name: one.told_apart for name, one in found.items()} == {
        "gcn": False,
        "majority": True,
        "mlp": False,
        "gat": False,
    }, "a spread of its own that is larger stays"
    borrowed = math.sqrt(stats.tvar([b - a for a, b in zip(wave, near, strict=True)]))
    half = stats.t.ppf(0.975, 4) * borrowed * math.sqrt(1 / 2 + 1 / 3)
    assert found["majority"].high - found["majority"].mean == pytest.approx(half)


def test_holm_multiplies_and_never_falls() -> None:
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03}) == pytest.approx({"a": 0.03, "c": 0.06, "b": 0.06})
    assert holm({"a": 0.9, "b": 0.8}) == {"b": 1.0, "a": 1.0}
    assert holm({}) == {}


def test_the_verdict_names_who_is_best_who_may_be_as_good_and_who_is_worse() -> None:
    found = against_best(
        "wave",
        {
            "wave": scores(0.80, 0.82, 0.81, 0.79, 0.80),
            "gcn": scores(0.79, 0.83, 0.80, 0.80, 0.79),
            "majority": scores(0.30, 0.31, 0.30, 0.29, 0.31),
            "mlp": scores(0.7),
        },
        tested=20,
        trained=60,
    )
    assert {name: one.told_apart for name, one in found.items()} == {"gcn": False, "majority": True}
    assert found["majority"].mean == pytest.approx(-0.502)
    assert found["gcn"].low < 0 < found["gcn"].high
    assert sentence("wave", "81.3", found, TITLES, ["mlp"]) == (
        "GWN-fa is best on validation (81.3); GCN cannot be told apart from it; Majority class is worse; "
        "MLP was not judged."
    )


def test_a_blend_that_is_taken_beside_a_higher_score_says_so() -> None:
    assert sentence("wave", "81.3", {}, TITLES, [], ("gcn", "81.4")) == (
        "GWN-fa is taken (81.3 on validation; GCN alone has 81.4, not told apart, and the best of many is flattered "
        "there)."
    )


def test_a_model_that_validation_missed_is_said() -> None:
    better = {"gcn": Difference(mean=0.05, low=0.04, high=0.06, p=0.001)}
    assert "on test GCN does better, which validation missed" in sentence("wave", "81.3", better, TITLES, [])


def test_lists_are_read_aloud() -> None:
    assert [listed(list("abc")[:n]) for n in (1, 2, 3)] == ["a", "a and b", "a, b and c"]


def test_models_that_were_lost_for_the_same_reason_share_a_line() -> None:
    lost = [("MLP", "no time was left"), ("GCN", "training diverged"), ("SIGN", "no time was left")]
    assert by_reason(lost) == ["MLP and SIGN: no time was left", "GCN: training diverged"]
