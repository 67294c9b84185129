"""The model card: figures of the record, names that stay text, and commands that fit the folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from graphs import toy_dataset
from gwn.data import make_splits
from gwn.models import model_spec
from gwn.training import Experiment, TrainConfig, run_experiment
from gwn.training.card import model_card, plain

WICKED = "a|b\n# <script>alert(1)</script> [x](javascript:1)"


def test_the_card_says_what_the_record_says(tmp_path: Path) -> None:
    data = toy_dataset()
    data = replace(data, graph=replace(data.graph, class_names=(WICKED, *("usual",) * (data.graph.num_classes - 1))))
    experiment = Experiment(
        dataset=data,
        model=model_spec("gcn"),
        settings={"hidden_channels": 4},
        config=TrainConfig(epochs=3, device="cpu"),
        splits=make_splits(data, "stratified", 2),
    )
    result, folder = run_experiment(experiment, tmp_path)
    card = (folder / "MODEL_CARD.md").read_text()
    assert card == model_card(result, folder.name)
    test = result["summary"]["test"]
    assert f"| test | {100 * test['mean']:.2f} | {100 * test['low']:.2f} to {100 * test['high']:.2f} |" in card
    assert plain(WICKED) in card
    assert "<script>" not in card
    assert "\n# <" not in card
    assert f"gwn predict {folder.name} --out predictions.csv" in card
    assert str(tmp_path) not in card, "no path of the machine that trained it"
    assert "hidden\\_channels: 4" in card or "hidden_channels: 4" in card


def test_names_stay_text() -> None:
    assert plain("a|b") == "a\\|b"
    assert plain("x\ny\x1b[0m") == "x y \\[0m"
    assert plain("<b>&") == "\\<b\\>\\&"
