"""The bars of a reason: the largest by name, and the sum of the others."""

from __future__ import annotations

import pytest

from gwn.runs.reasons import BARS, _reasons, _with_rest


def test_one_other_row_has_its_own_name() -> None:
    """The words "1 other nodes" stood where the name of the one would."""
    rows = [(f"node {k}", "", 1.0 / (k + 1)) for k in range(BARS + 2)]
    assert _with_rest(rows[:BARS], "nodes") == rows[:BARS]
    assert _with_rest(rows[: BARS + 1], "nodes") == rows[: BARS + 1]
    *shown, (name, _, rest) = _with_rest(rows, "nodes")
    assert shown == rows[:BARS]
    assert name == "2 other nodes"
    assert rest == sum(value for *_, value in rows[BARS:])


@pytest.mark.parametrize("numbers", [False, True])
def test_a_predicted_number_is_made_larger_or_smaller(numbers: bool) -> None:
    """What made a small number smaller was said to speak against it."""
    record = {
        "node": "a",
        "class": None if numbers else "left",
        "against": None if numbers else "right",
        "predicted": "1.5" if numbers else "left",
        "known": None,
        "probability": None,
        "margin": 1.5,
        "start": 2.5,
        "baseline": "the mean of the training nodes",
        "rings": {"itself": -1.0, "neighbours": 0.0, "farther": 0.0},
        "columns": [{"column": "x", "own": -1.0, "others": 0.0}],
        "nodes": [{"node": "a", "hops": 0, "contribution": -1.0}],
    }
    said = _reasons([record])
    assert ("makes the number larger</li>" in said) == ("makes it smaller</li>" in said) == numbers
    assert ("speaks against it</li>" in said) == (not numbers)
    assert f"the difference of the two {'numbers' if numbers else 'margins'};" in said
