"""Where an epoch goes: the parts of a step are the step. What ten runs at once cost: ten copies that share nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from benchmarks.epochs import PLACES, epochs
from benchmarks.harness import Settings
from benchmarks.performance_page import PAGE, table_of, targets_of
from benchmarks.together import joined, side_by_side
from benchmarks.wide import wide, wide_verdicts
from gwn.data import load_dataset, make_splits
from gwn.networks import GWN

ROOT = Path(__file__).parent.parent.parent


def test_the_parts_of_a_step_add_up() -> None:
    result = epochs(Settings(datasets=["csbm"], seconds=1e-3))
    assert [row["model"] for row in result.rows] == ["gwn-sym", "gwn-fa"]
    for row in result.rows:
        parts = [row[part] for part in (*PLACES, "head, loss, checks")]
        assert sum(parts) == pytest.approx(row["step"])
        assert min(row[part] for part in PLACES) > 0
        assert row["evaluation"] > 0
        assert row["step"] + row["evaluation"] + row["bookkeeping"] == pytest.approx(row["epoch"])
    table = table_of("epochs", "epochs", {"epochs": result.to_json()})
    assert table.startswith("| dataset | model | epoch | step | features | wave |")


def test_wide_networks_are_timed_with_and_without_onednn() -> None:
    result = wide(Settings(datasets=["csbm"], seconds=1e-3, shrink=8))
    assert [row["model"] for row in result.rows] == ["gcn-tuned", "sage-tuned", "gwn-bank-plus"]
    for row in result.rows:
        assert row["ratio"] == row["PyTorch's ms"] / row["ours ms"]
    assert result.verdicts == []  # only wide ones are judged, where oneDNN is asked
    (judged,) = wide_verdicts([{**result.rows[0], "width": 512, "oneDNN": True, "ratio": 1.1}])
    assert not judged.passed


def test_copies_side_by_side_are_the_graph_alone() -> None:
    data = load_dataset("csbm")
    graph, splits = data.graph, make_splits(data, "per-class", 3)
    wide, split = side_by_side(graph, 3), joined(splits, data.graph.num_nodes)
    model = GWN(graph.num_features, 4, graph.num_classes, time=2.0).eval()
    other = GWN(3 * graph.num_features, 4, graph.num_classes, time=2.0).eval()
    other.head.load_state_dict(model.head.state_dict())
    with torch.no_grad():
        for encoder in ("phi0", "phi1"):
            state = getattr(model, encoder).state_dict()
            weight = state["layers.0.weight"]
            state["layers.0.weight"] = torch.cat([weight, weight * 2, weight])
            getattr(other, encoder).load_state_dict(state)
        alone, seen = model(graph.x, graph.edge_index), other(wide.x, wide.edge_index)
        seen = seen.view(3, *alone.shape)
    assert torch.allclose(seen[0], alone, atol=1e-5)
    assert torch.equal(seen[0], seen[2])
    assert not torch.allclose(seen[1], alone, atol=1e-2)
    assert torch.equal(wide.labels[split.train], torch.cat([graph.labels[each.train] for each in splits]))


def test_the_page_is_what_the_results_say() -> None:
    page = (ROOT / PAGE.path).read_text(encoding="utf-8")
    assert page == PAGE.filled(page, PAGE.measured(ROOT))


def test_a_missed_target_is_in_bold_and_a_part_that_was_not_measured_says_how() -> None:
    shared = {"what": "times faster", "sign": ">=", "bar": 2.0}
    verdicts = [
        {"subject": "cora", "value": 2.5, "passed": True, **shared},
        {"subject": "cs", "value": 1.5, "passed": False, **shared},
    ]
    table = targets_of("speed", {"speed": {"verdicts": verdicts}})
    assert table.splitlines()[2] == "| times faster | at least 2 | 2.5 | **1.5** |"
    assert "python -m benchmarks speed --out results/bench/speed.json" in targets_of("speed", {})
