"""The layout: neighbours near each other, the same every time, read from the cache, and no graph too odd for it."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from graphs import cycle, path
from gwn.explore import layout
from gwn.explore.layout import force_layout, node_radius, place_nodes


@pytest.mark.parametrize(("pairs", "nodes"), [(cycle(40), 40), (path(30), 30), (cycle(3), 3)])
def test_neighbours_are_near_and_everything_is_in_the_frame(pairs: torch.Tensor, nodes: int) -> None:
    places = force_layout(pairs, nodes)
    assert places.shape == (nodes, 2)
    assert bool(torch.isfinite(places).all())
    assert float(places.abs().max()) == pytest.approx(1.0)
    joined = (places[pairs[0]] - places[pairs[1]]).norm(dim=1).mean()
    assert joined <= torch.pdist(places).mean() * (1 + 1e-5)


def test_the_leaves_of_a_hub_are_not_one_spot() -> None:
    hub = torch.stack([torch.zeros(80, dtype=torch.long), torch.arange(1, 81)])
    places = force_layout(hub, 81)
    assert float(torch.pdist(places).min()) > node_radius(81)


def test_two_separate_clusters_are_drawn_apart() -> None:
    clique = torch.combinations(torch.arange(12)).t()
    places = force_layout(torch.cat([clique, clique + 12], dim=1), 24)
    inside = torch.pdist(places[:12]).mean()
    assert (places[:12].mean(0) - places[12:].mean(0)).norm() > inside


@pytest.mark.parametrize("alone", [1, 60, 900])
def test_nodes_without_edges_stand_in_rows_below_and_leave_the_width_to_the_others(alone: int) -> None:
    order = torch.randperm(100 + alone, generator=torch.Generator().manual_seed(0))
    places = force_layout(order[cycle(100)], 100 + alone)
    joined, rows = places[order[:100]], places[order[100:]]
    assert rows[:, 1].max() < joined[:, 1].min()
    assert float(joined[:, 0].max() - joined[:, 0].min()) > 1.2
    assert float(places.abs().max()) == pytest.approx(1.0)
    assert float(torch.pdist(places).min()) > 1.7 * node_radius(100 + alone)


def test_it_is_the_same_every_time_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = place_nodes(cycle(20), 20, tmp_path)
    assert torch.equal(first, force_layout(cycle(20), 20))
    monkeypatch.setattr(layout, "force_layout", lambda *_: pytest.fail("computed again"))
    assert torch.equal(first, place_nodes(cycle(20), 20, tmp_path))


def test_a_damaged_or_unwritable_cache_is_no_obstacle(tmp_path: Path) -> None:
    first = place_nodes(cycle(10), 10, tmp_path)
    for file in tmp_path.glob("*.safetensors"):
        file.write_bytes(b"nonsense")
    assert torch.equal(first, place_nodes(cycle(10), 10, tmp_path))
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert torch.equal(first, place_nodes(cycle(10), 10, blocked))
