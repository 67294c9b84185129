"""A comparison from Python: equal limits, failures as rows, continued where it stopped, finished ones at once."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
import torch

from graphs import toy_graph
from gwn.compare import Comparison, Snapshot, compare
from gwn.compare.blend import BLEND
from gwn.compare.course import Course
from gwn.compare.worker import Workshop
from gwn.data import Dataset
from gwn.data.origin import open_origin
from gwn.data.splits import Split, stratified
from gwn.errors import Diverged, GWNError
from gwn.io import read_json
from gwn.training import Gain, fit
from gwn.training.loop import Evaluation, GraphTask

SMALL = ("epochs=12", "hidden_channels=4")


@pytest.fixture
def dataset() -> Dataset:
    return Dataset(
        name="toy",
        graph=toy_graph(60, classes=2),
        metric="accuracy",
        default_split="stratified",
        directed=False,
        published={},
        files={},
    )


def run(dataset: Dataset, root: Path, **given: Any) -> Comparison:
    """In this process, with time enough: what ends the search is the number of trials."""
    usual = {"models": ("majority", "mlp", "gwn-fa"), "seconds": 600.0, "trials": 3, "runs": 3, "settings": SMALL}
    return compare(dataset, root=root, **{**usual, **given})


def test_every_model_has_the_same_limits_and_the_winner_is_saved(dataset: Dataset, tmp_path: Path) -> None:
    snapshots: list[Snapshot] = []
    found = run(dataset, tmp_path, on_snapshot=snapshots.append)
    rows = {row.model: row for row in found.rows if row.model != BLEND}
    assert {name: row.trials for name, row in rows.items()} == {"majority": 1, "mlp": 3, "gwn-fa": 3}
    assert all(row.complete >= 1 for row in rows.values()), "the settings that are measured were scored on every split"
    assert all(row.status == "ok" and row.val["count"] == found.runs == 3 for row in found.rows if row.val)
    best = max(found.rows, key=lambda row: row.val["mean"] if row.val else 0.0)
    assert found.rows[0].model == found.best
    assert best.model in (found.best, found.best_model.model)
    ahead = "is best on validation (" if best.val == found.rows[0].val else "is taken ("
    assert found.verdict.startswith(f"{found.rows[0].title} {ahead}")
    assert Path(found.folder) == Path(found.record).parent
    assert found.predictor is not None
    result = read_json(tmp_path / found.predictor["members"][0]["folder"] / "result.json")
    assert (result["model"], len(result["runs"])) == (found.predictor["members"][0]["model"], 3)
    assert result["settings_from"]["comparison"] == Path(found.record).parent.name
    assert {snapshot.phase for snapshot in snapshots} == {"searching", "final runs", "trying known labels", "blending"}
    assert sum(" on validation (95 % interval " in note for note in found.notes) == 2


def test_known_labels_are_kept_where_validation_gains_more_than_its_interval(
    dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gains = iter([Gain(mean=0.1, low=0.05, high=0.15, count=2), Gain(mean=-0.2, low=-0.5, high=0.1, count=2)])
    monkeypatch.setattr("gwn.compare.course.paired_gain", lambda changed, usual: next(gains))
    found = run(dataset, tmp_path, models=("mlp",))
    (row,) = found.rows
    assert (row.title, row.training["labels"]) == ("MLP + labels", "masked")
    assert read_json(tmp_path / row.folder / "config.json")["training"]["labels"] == "masked"
    kept, refused = found.notes[-2:]
    assert kept == "MLP with known labels as input: 10.0 more on validation (95 % interval 5.0 to 15.0), kept."
    assert refused.startswith("MLP with correct-and-smooth: 20.0 less on validation")
    assert refused.endswith(", not kept.")


def test_changes_are_not_tried_where_too_few_runs_could_judge_them(dataset: Dataset, tmp_path: Path) -> None:
    found = run(dataset, tmp_path, models=("mlp",), runs=2)
    assert found.runs == 2
    assert found.notes[-1].startswith("Known labels as input and correct-and-smooth were not tried: ")


def test_a_comparison_that_another_process_makes_is_refused(dataset: Dataset, tmp_path: Path) -> None:
    refused: list[str] = []

    def meanwhile(_: Snapshot) -> None:
        if not refused:
            with pytest.raises(GWNError) as raised:
                run(dataset, tmp_path)
            refused.append(str(raised.value))

    run(dataset, tmp_path, on_snapshot=meanwhile)
    assert refused == [
        f"this comparison is being made in {tmp_path} by another process; wait for it, or take another --out"
    ]
    assert run(dataset, tmp_path).best, "and the lock is free again"


def test_a_finished_comparison_is_not_computed_again(
    dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = run(dataset, tmp_path, models=("majority", "mlp"))

    def nothing(*_: Any) -> None:
        raise AssertionError("trained again")

    monkeypatch.setattr(Workshop, "do", nothing)
    assert run(dataset, tmp_path, models=("majority", "mlp")) == found


@pytest.mark.parametrize("more", [{"trials": 4}, {"runs": 4}])
def test_more_trials_or_runs_than_a_finished_comparison_had_are_computed(
    dataset: Dataset, tmp_path: Path, more: dict[str, int]
) -> None:
    run(dataset, tmp_path, models=("mlp",))
    found = run(dataset, tmp_path, models=("mlp",), **more)
    assert {"trials": found.rows[0].trials, "runs": found.runs} == {"trials": 3, "runs": 3, **more}
    assert run(dataset, tmp_path, models=("mlp",)) == found, "fewer are not asked for again"


def published(dataset: Dataset, *seeds: int) -> Dataset:
    splits = tuple(replace(stratified(dataset.graph.labels, seed), kind="published") for seed in seeds)
    return replace(dataset, published={"published": splits}, default_split="published")


def test_runs_on_one_published_split_are_judged(dataset: Dataset, tmp_path: Path) -> None:
    found = run(published(dataset, 0), tmp_path, models=("majority", "mlp"))
    rows = {row.model: row for row in found.rows}
    assert rows["mlp"].against is None
    assert rows["mlp"].test is not None
    assert rows["majority"].against is not None, "three runs on the same nodes are three runs"
    assert rows["majority"].test is not None
    gap = rows["majority"].test["mean"] - rows["mlp"].test["mean"]
    assert rows["majority"].against["mean"] == pytest.approx(gap)
    said = "published has one split, so 3 runs repeat it with other seeds: the interval is not that of 3 splits."
    assert said in found.notes


def test_what_a_label_shift_costs_the_best_model_is_said(dataset: Dataset, tmp_path: Path) -> None:
    graph = toy_graph(400, classes=2)
    first, second = ((graph.labels == label).nonzero().flatten() for label in (0, 1))
    split = Split(
        train=torch.cat([first[:80], second[:20]]),
        val=torch.cat([first[80:100], second[20:100]]),
        test=torch.cat([first[100:], second[100:]]),
        seed=0,
        kind="published",
    )
    skewed = replace(dataset, graph=graph, published={"published": (split,)}, default_split="published")
    found = run(skewed, tmp_path, models=("mlp",), trials=1)
    (said,) = [note for note in found.notes if "label shift" in note]
    assert said.startswith("MLP, label shift: ")
    assert "60% would have to change" in said
    assert "of validation instead of" in said
    balanced = run(published(replace(dataset, graph=graph), 0), tmp_path, models=("mlp",), trials=1)
    assert not [note for note in balanced.notes if "label shift" in note]


def test_a_comparison_on_other_published_splits_is_another_one(dataset: Dataset, tmp_path: Path) -> None:
    first = run(published(dataset, 0), tmp_path, models=("majority",), settings=("epochs=2",))
    second = run(published(dataset, 5), tmp_path, models=("majority",), settings=("epochs=2",))
    assert first.folder != second.folder


def test_a_worker_has_loaded_what_networks_need_before_its_first_task(tmp_path: Path) -> None:
    """Its time was that of the first model, of which too few epochs then fitted into its share."""
    digits = {"dataset": "digits", "directed": False}
    start: dict[str, Any] = {"reopen": "gwn.data.origin:open_origin", "origin": digits, "root": str(tmp_path)}
    start |= {"data": open_origin(digits).graph.content_hash(), "split": "stratified", "splits": 1, "seed": 0}
    code = f"""if True:
        import sys
        from gwn.compare.worker import open_workshop
        open_workshop({start!r})
        print("torch_geometric" in sys.modules)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def test_a_comparison_in_double_precision_searches_in_double_precision(dataset: Dataset, tmp_path: Path) -> None:
    """A worker has trained once in single precision before its first task."""
    workshop = Workshop(dataset, "stratified", 1, 0, tmp_path, None)
    task = {"do": "search", "model": "mlp", "settings": {}, "split": 0, "limit": 60.0, "behind": {}, "checkpoints": ()}
    for dtype in ("float32", "float64"):
        answer = workshop.do({**task, "training": {"epochs": 1, "dtype": dtype}})
        assert "failed" not in answer, answer


@pytest.mark.parametrize("model", ["mlp", "boosted-hops"])
@pytest.mark.parametrize("select", ["score", "loss"])
def test_a_trial_that_is_cut_is_worth_what_a_training_of_so_many_epochs_is(
    dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, select: str
) -> None:
    """By the epoch of the lowest loss where that chooses: its highest score was too good beside the others."""
    if model == "mlp":  # score and loss that both rise, so that the one chooses the last epoch and the other the first
        epochs = cycle(range(1, 26))
        seen = (Evaluation(val=epoch / 100, val_loss=epoch, test=lambda: 0.0) for epoch in epochs)
        monkeypatch.setattr(GraphTask, "evaluate", lambda task: next(seen))
    workshop = Workshop(dataset, "stratified", 1, 0, tmp_path, None)
    task = {"do": "search", "model": model, "settings": {}, "split": 0, "checkpoints": (), "behind": {}, "limit": 60.0}
    training = {"select": select, "stopping": "none"}
    behind = {"checkpoints": (25,), "behind": {"25": 2.0}}
    cut = workshop.do({**task, **behind, "training": {**training, "epochs": 40}})
    whole = workshop.do({**task, "training": {**training, "epochs": 25}})
    assert (cut["ended"], cut["epochs"]) == ("behind in epoch 25", whole["epochs"])
    assert cut["val"] == whole["val"]
    if model == "mlp":
        assert whole["val"] == (0.01 if select == "loss" else 0.25)


def test_changes_are_not_tried_where_a_run_diverged(
    dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def second_run_diverges(model: Any, graph: Any, split: Any, *given: Any, **also: Any) -> Any:
        if split.seed == 1:
            raise Diverged("training diverged in epoch 1")
        return fit(model, graph, split, *given, **also)

    monkeypatch.setattr("gwn.training.experiment.fit", second_run_diverges)
    found = run(dataset, tmp_path, models=("mlp",))
    assert found.rows[0].reason == "1 of 3 runs diverged"
    assert found.notes[-1].endswith(" were not tried: a run of MLP diverged.")


def test_an_interrupted_comparison_goes_on(dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    do = Workshop.do
    done: list[Any] = []
    lost: list[Any] = []

    def interrupted(self: Workshop, task: Any) -> Any:
        done.append(task)
        if len(done) == 7 and not lost:
            lost.append(done.pop())
            raise KeyboardInterrupt
        return do(self, task)

    monkeypatch.setattr(Workshop, "do", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(dataset, tmp_path)
    found = run(dataset, tmp_path)
    searched = [(t["model"], str(t["settings"]), str(t["training"]), t["split"]) for t in done if t["do"] == "search"]
    assert lost[0] in done
    assert len({*searched}) == len(searched), "no trial is computed twice"
    assert {row.model: row.trials for row in found.rows if row.model != BLEND} == {"majority": 1, "mlp": 3, "gwn-fa": 3}


def test_final_runs_of_a_call_that_was_stopped_count_though_the_time_is_over(
    dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as before:
        before.setattr("gwn.compare.comparison.judge", stopped)
        with pytest.raises(KeyboardInterrupt):
            run(dataset, tmp_path)
    monkeypatch.setattr(Course, "left", property(lambda self: 0.0))
    assert run(dataset, tmp_path).runs == 3


def test_a_model_that_cannot_be_trained_is_a_row(
    dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(model: Any, *rest: Any) -> Any:
        if type(model).__name__ == "GWN":
            raise GWNError("training diverged in epoch 1")
        return fit(model, *rest)

    monkeypatch.setattr("gwn.compare.worker.fit", failing)
    found = run(dataset, tmp_path)
    row = next(row for row in found.rows if row.model == "gwn-fa")
    assert (row.status, row.reason, row.val) == ("failed", "training diverged in epoch 1", None)
    assert found.best != "gwn-fa"
    assert "GWN-fa was not judged" in found.verdict


def test_a_comparison_in_which_nothing_can_be_trained_says_why(
    dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: Any) -> None:
        raise GWNError("training diverged in epoch 1")

    monkeypatch.setattr("gwn.compare.worker.fit", failing)
    with pytest.raises(GWNError, match=r"no model could be measured \(MLP: training diverged in epoch 1\)"):
        run(dataset, tmp_path, models=("mlp",))


def test_final_runs_that_all_fail_in_the_end_are_told_with_their_reason(
    dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    do = Workshop.do

    def full(self: Workshop, task: Any) -> Any:
        if task["do"] == "measure" and task["runs"] > 1:
            return {"failed": "the disk is full"}
        return do(self, task)

    monkeypatch.setattr(Workshop, "do", full)
    said = r"no model could be measured \(MLP: the disk is full\); once that is mended, the same command goes on"
    with pytest.raises(GWNError, match=said):
        run(dataset, tmp_path, models=("mlp",))


def test_a_time_in_which_nothing_trains_is_said(dataset: Dataset, tmp_path: Path) -> None:
    with pytest.raises(GWNError, match=r"no model could be measured .*; give more time with --time"):
        run(dataset, tmp_path, seconds=0.001)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"models": ()}, "no model to compare"),
        ({"models": ("mpl",)}, "did you mean 'mlp'"),
        ({"seconds": 0.0}, "seconds must be greater than 0"),
        ({"settings": ("hidden_chanels=3",)}, "did you mean 'hidden_channels'"),
        ({"split": "geom"}, "no published split"),
        ({"split": "validate-20"}, "has no node to test"),
    ],
)
def test_mistakes_are_said(dataset: Dataset, tmp_path: Path, given: dict[str, Any], said: str) -> None:
    with pytest.raises(GWNError, match=said):
        run(dataset, tmp_path, **given)
