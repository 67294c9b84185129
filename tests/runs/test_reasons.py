"""The bars of a reason: the largest by name, and the sum of the others."""

from __future__ import annotations

from gwn.runs.reasons import BARS, _with_rest


def test_one_other_row_has_its_own_name() -> None:
    """The words "1 other nodes" stood where the name of the one would."""
    rows = [(f"node {k}", "", 1.0 / (k + 1)) for k in range(BARS + 2)]
    assert _with_rest(rows[:BARS], "nodes") == rows[:BARS]
    assert _with_rest(rows[: BARS + 1], "nodes") == rows[: BARS + 1]
    *shown, (name, _, rest) = _with_rest(rows, "nodes")
    assert shown == rows[:BARS]
    assert name == "2 other nodes"
    assert rest == sum(value for *_, value in rows[BARS:])
