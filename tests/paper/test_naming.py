"""Names of points keep clear of each other where there is room."""

from __future__ import annotations

from gwn.paper.drawing.panels import PLACES, place_names


def test_a_lone_name_takes_a_free_place() -> None:
    assert place_names([(0.0, 0.0)], ["GCN"]) == [PLACES[0]]


def test_two_names_at_one_point_part() -> None:
    first, second = place_names([(0.0, 0.0), (0.0, 0.0)], ["GCN", "GAT"])
    assert first != second
