"""The evidence for the rule by which an epoch is kept: both rules from the same trainings, kept and continued."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

import gwn.paper.epoch_rule as epoch_rule
from gwn.paper.cell import Cell
from gwn.paper.epoch_rule import PAGE, block, gather, measure, read_evidence, rewritten
from gwn.paper.records import write_cell
from gwn.training.metrics import cross_fitted

ROOT = Path(__file__).parents[2]
CELL = Cell(dataset="csbm", split="stratified", row="mlp")
RECORD: dict[str, Any] = {"settings": {"hidden_channels": 8}, "training": {"epochs": 5, "lr": 0.05, "stopping": None}}


def test_the_page_agrees_with_the_evidence() -> None:
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    assert rewritten(text, ROOT / "results") == text, "run: python -m gwn.paper.epoch_rule"


def test_the_lowest_loss_may_choose_another_epoch_than_the_highest_score() -> None:
    y = torch.tensor([0, 1] * 20)
    sure = torch.tensor([[2.0, -2.0], [-2.0, 2.0]])[y]
    right_but_unsure = sure * 0.001
    sure_but_wrong_once = sure.clone()
    sure_but_wrong_once[[0, 1]] *= -0.01
    epochs = torch.stack([right_but_unsure, sure_but_wrong_once])
    assert cross_fitted(epochs, y, select="score") > cross_fitted(epochs, y, select="loss")


def test_both_rules_are_scored_on_the_same_trainings() -> None:
    found = measure(CELL, RECORD, splits=1)
    assert found.keys() == {"score", "loss"}
    assert found == measure(CELL, RECORD, splits=1)


def test_what_is_measured_is_kept_and_the_time_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(epoch_rule, "small_cells", lambda _: [(CELL, RECORD)])
    assert block(tmp_path) == "Not measured yet."
    assert list(gather(tmp_path, -1.0)) == []
    (line,) = gather(tmp_path, 60.0)
    assert line.startswith(CELL.name)
    assert list(gather(tmp_path, 60.0)) == []
    assert read_evidence(tmp_path).keys() == {CELL.name}
    assert "| 1 columns |  |" in block(tmp_path)


def test_a_cell_that_was_measured_anew_is_tried_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = {**RECORD, "created": "before"}
    monkeypatch.setattr(epoch_rule, "small_cells", lambda _: [(CELL, record)])
    assert len(list(gather(tmp_path, 60.0))) == 1
    record["created"] = "after"
    assert len(list(gather(tmp_path, 60.0))) == 1
    assert len(list(gather(tmp_path, 60.0))) == 0


def test_cells_that_were_searched_anew_since_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the evidence was of settings that no table has any more, and the page did not say so."""
    tried = {**RECORD, "created": "before"}
    monkeypatch.setattr(epoch_rule, "small_cells", lambda _: [(CELL, tried)])
    assert len(list(gather(tmp_path, 60.0))) == 1
    for created, said in (("before", False), ("after", True)):
        write_cell(tmp_path, CELL, {**RECORD, "created": created})
        assert ("; 1 of 1 cells were searched anew since." in block(tmp_path)) == said
