"""A search in one process: what is counted, what is recorded, what is continued and what is refused."""

from __future__ import annotations

import math
import sqlite3
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.trial import FrozenTrial, TrialState

import gwn.tuning.workers
from graphs import toy_dataset
from gwn import GWNError
from gwn.cli.progress import TuneProgress
from gwn.data import Dataset, make_splits
from gwn.training.loop import OnEpoch
from gwn.tuning import Search, SearchJob, plan_search, run_search
from gwn.tuning import plan as planning
from gwn.tuning.objective import SETTINGS
from gwn.tuning.storage import default_url, open_storage, silent_optuna
from gwn.tuning.study import BEGAN, PLACE, count, is_finished, next_place, release_lost

MakeSearch = Callable[..., Search]
MakeJob = Callable[..., SearchJob]


def run(job: SearchJob, search: Search) -> list[FrozenTrial]:
    return run_search(job, search, on_trial=lambda *_: None, say=lambda _: None)


def params(trials: list[FrozenTrial]) -> list[dict[str, Any]]:
    return [trial.params for trial in trials if is_finished(trial)]


def test_continues_to_the_same_trials(
    make_search: MakeSearch, make_job: MakeJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = make_search()
    heard: list[tuple[int, float]] = []
    said: list[str] = []

    def on_trial(trial: FrozenTrial, finished: int, best: FrozenTrial | None) -> None:
        assert best is not None
        assert best.value is not None
        heard.append((finished, best.value))

    monkeypatch.setattr("gwn.tuning.study.STARTUP", 4)  # the last trials are those of a sampler that has learned
    run_search(make_job(search, 3), search, on_trial=on_trial, say=said.append)
    trials = run_search(make_job(search, 6), search, on_trial=on_trial, say=said.append)
    assert [finished for finished, _ in heard] == list(range(1, 7))
    assert said == ["continuing: 3 of 6 trials are there"]
    best = [value for _, value in heard]
    assert best == sorted(best)
    whole = run(make_job(search, 6, name="whole"), search)
    assert params(whole) == params(trials)
    assert [trial.value for trial in whole] == [trial.value for trial in trials]
    assert len({str(one) for one in params(whole)}) == 6

    again = run(make_job(search, 3), search)
    assert len(again) == 6  # fewer asked for than there are: nothing is run


def test_trials_record_what_they_did(make_search: MakeSearch, make_job: MakeJob) -> None:
    search = make_search()
    (trial,) = run(make_job(search, 1), search)
    settings, training, splits = (trial.user_attrs[name] for name in ("settings", "training", "splits"))
    assert settings["tau"] == trial.params["tau"]
    assert settings["readout"] == "last"  # defaults too
    assert training["epochs"] == 3
    assert training["lr"] == trial.params["lr"]
    assert trial.value == pytest.approx(sum(split["val"] for split in splits) / 2)
    assert "hidden_channels" not in trial.params


def test_search_never_sees_final_seeds(make_search: MakeSearch) -> None:
    search = make_search()
    finals = make_splits(search.dataset, search.plan.split, 10)
    assert not {split.content_hash() for split in finals} & {split.content_hash() for split in search.splits}
    assert [split.seed for split in search.splits] == list(search.plan.search_seeds) == [1000, 1001]


def test_published_splits_are_shared_and_that_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = toy_dataset()
    splits = tuple(replace(split, kind="geom") for split in make_splits(drawn, "uniform", 2))

    def load(name: str) -> Dataset:
        return replace(drawn, published={"geom": splits}, default_split="geom")

    monkeypatch.setattr(planning, "load_dataset", load)
    search = plan_search("texas", "mlp", search_splits=3)
    assert search.plan.published
    assert [split.content_hash() for split in search.splits] == [splits[n].content_hash() for n in (0, 1, 0)]
    assert list(search.plan.search_seeds) == [1000, 1001, 1002]


def test_diverged_trials_fail_with_their_reason(make_search: MakeSearch, make_job: MakeJob) -> None:
    search = make_search("time=400", "tau=1")
    trials = run(make_job(search, 3), search)
    assert [trial.state for trial in trials] == [TrialState.FAIL] * 3
    for trial in trials:
        assert "diverged in epoch" in trial.user_attrs["reason"]
        assert trial.value is None
        assert not any(map(math.isnan, trial.intermediate_values.values()))


def test_refused_combinations_are_pruned_with_their_reason(make_search: MakeSearch, make_job: MakeJob) -> None:
    search = make_search("laplacian=physical", "scheme=leapfrog", "tau=5", model="gwn")
    trials = run(make_job(search, 2), search)
    assert [trial.state for trial in trials] == [TrialState.PRUNED] * 2
    assert all("above the stability bound" in trial.user_attrs["reason"] for trial in trials)


def test_hopeless_trials_are_pruned_while_they_train(
    make_search: MakeSearch, make_job: MakeJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = iter([0.9] * 8 + [0.1] * 20)

    def train(search: Search, settings: object, config: object, number: int, on_epoch: OnEpoch) -> dict[str, float]:
        score = next(scores)
        for epoch in range(1, 70):
            on_epoch(epoch, score)
        return {"val": score}

    monkeypatch.setattr("gwn.tuning.objective.train_on_split", train)
    search = make_search()
    trials = run(make_job(search, 6), search)
    assert [trial.state for trial in trials] == [TrialState.COMPLETE] * 4 + [TrialState.PRUNED] * 2
    assert trials[-1].user_attrs["reason"] == "behind the best in epoch 30 of split 1"
    assert [*trials[0].intermediate_values] == [30, 60, 1030, 1060]


def test_no_trial_after_the_deadline(make_search: MakeSearch, make_job: MakeJob) -> None:
    search = make_search()
    assert run(make_job(search, 5, deadline=time.time() - 1), search) == []


def test_study_of_another_search_is_refused(make_search: MakeSearch, make_job: MakeJob) -> None:
    first, other_space, other_splits = make_search(), make_search(space="paper"), make_search(search_splits=1)
    assert len({search.plan.name for search in (first, other_space, other_splits)}) == 3
    run(make_job(first, 1, name="mine"), first)
    with pytest.raises(GWNError, match="study 'mine' was made with another search space"):
        run(make_job(other_space, 1, name="mine"), other_space)
    with pytest.raises(GWNError, match="study 'mine' was made with another search_splits"):
        run(make_job(other_splits, 1, name="mine"), other_splits)
    changed = replace(first.plan, space_key="the same name, other numbers")
    assert changed.name == first.plan.name
    with pytest.raises(GWNError, match="another search space"):
        run(replace(make_job(first, 1, name="mine"), plan=changed), first)


def test_interrupted_trial_is_neither_counted_nor_lost(
    make_search: MakeSearch, make_job: MakeJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = make_search()
    whole = run(make_job(search, 3, name="whole"), search)

    def interrupt(search: Search, trial: optuna.Trial) -> float:
        raise KeyboardInterrupt

    job = make_job(search, 3)
    with monkeypatch.context() as patch:
        patch.setattr(gwn.tuning.workers, "score_trial", interrupt)
        with pytest.raises(KeyboardInterrupt):
            run(job, search)
    trials = run(job, search)
    assert len(trials) == 4
    assert params(trials) == params(whole)


@pytest.mark.filterwarnings("ignore:Heartbeat of storage")
def test_trial_of_a_dead_worker_is_tried_again(make_search: MakeSearch, make_job: MakeJob) -> None:
    """As kill -9 leaves it: running, with settings, its last sign of life long ago."""
    search = make_search()
    job = make_job(search, 2, heartbeat=1)
    study = job.open_study()
    trial = study.ask()
    trial.set_user_attr(BEGAN, trial.number)
    chosen = search.space.sample(trial, search.model, search.fixed)
    trial.set_user_attr(SETTINGS, {})
    storage = open_storage(job.url, 1)
    storage.record_heartbeat(trial._trial_id)
    with sqlite3.connect(f"studies/{job.name}.db") as connection:
        connection.execute("UPDATE trial_heartbeats SET heartbeat = datetime('now', '-1 hour')")
    trials = run(job, search)
    assert [trial.state for trial in trials] == [TrialState.FAIL, TrialState.COMPLETE, TrialState.COMPLETE]
    assert trials[1].params == trials[0].params
    assert trials[1].params["tau"] == chosen["tau"]
    assert count(study).finished == 2


@pytest.mark.filterwarnings("ignore:Heartbeat of storage")
def test_trial_killed_before_its_first_sign_of_life_is_ended(make_search: MakeSearch, make_job: MakeJob) -> None:
    search = make_search()
    job = make_job(search, 1, heartbeat=1)
    study = job.open_study()
    study.ask()
    with silent_optuna():
        release_lost(study, 1)
    assert count(study).running == 1  # perhaps it is about to begin
    with sqlite3.connect(f"studies/{job.name}.db") as connection:
        connection.execute("UPDATE trials SET datetime_start = datetime('now', '-2 days')")
    trials = run(job, search)
    assert [trial.state for trial in trials] == [TrialState.FAIL, TrialState.COMPLETE]


def test_worker_that_slept_goes_on(make_search: MakeSearch, make_job: MakeJob, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its trial was given to another one meanwhile."""
    search = make_search()
    job = make_job(search, 2)
    original = gwn.tuning.workers.score_trial  # type: ignore[attr-defined]
    slept: list[int] = []

    def sleep_once(search: Search, trial: optuna.Trial) -> float:
        value = original(search, trial)
        if not slept:
            slept.append(trial.number)
            job.open_study().tell(trial.number, state=TrialState.FAIL)
        return value

    monkeypatch.setattr(gwn.tuning.workers, "score_trial", sleep_once)
    trials = run(job, search)
    assert sum(map(is_finished, trials)) == 2
    assert len(trials) == 3


def test_locked_storage_is_tried_again(
    make_search: MakeSearch, make_job: MakeJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = make_search()
    original = gwn.tuning.workers.count  # type: ignore[attr-defined]
    calls: list[int] = []

    def locked_once(study: optuna.Study) -> Any:
        calls.append(1)
        if len(calls) == 1:
            raise optuna.exceptions.StorageInternalError from sqlite3.OperationalError("database is locked")
        return original(study)

    monkeypatch.setattr(gwn.tuning.workers, "count", locked_once)
    assert len(run(make_job(search, 1), search)) == 1

    def always(study: optuna.Study) -> Any:
        raise optuna.exceptions.StorageInternalError from sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(gwn.tuning.workers, "count", always)
    with pytest.raises(GWNError, match="cannot be used: database or disk is full"):
        run(make_job(search, 2), search)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("nonsense", "not a database URL"),
        ("nosuch://host/name", "nosuch"),
        ("sqlite:////no/such/folder/study.db", "unable to open"),
        ("postgresql://me:secret@localhost:1/studies", "psycopg"),
    ],
)
def test_bad_urls(url: str, said: str) -> None:
    with pytest.raises(GWNError, match=said) as raised:
        open_storage(url, 10)
    assert "secret" not in str(raised.value)
    assert "\n" not in str(raised.value)


def test_corrupt_study_file(make_search: MakeSearch, make_job: MakeJob) -> None:
    search = make_search()
    job = make_job(search, 1)
    run(job, search)
    file = Path(f"studies/{job.name}.db")
    whole = file.read_bytes()
    file.write_bytes(b"no database at all" * 100)
    with pytest.raises(GWNError, match="not a database"):
        run(replace(job, trials=2), search)
    file.write_bytes(whole[: len(whole) // 3])
    with pytest.raises(GWNError, match="cannot be used"):
        run(replace(job, trials=2), search)


def test_unwritable_folder(tmp_path: Path) -> None:
    (tmp_path / "studies").write_text("a file where a folder should be")
    with pytest.raises(GWNError, match="cannot write studies"):
        default_url("x")


def test_no_name_of_a_study_leads_out_of_its_folder() -> None:
    assert default_url("../../x") == "sqlite:///studies/_.._x.db"
    assert default_url("a" * 90 + "-mlp-stratified-0123456789ab").endswith("-0123456789ab.db")


@pytest.mark.filterwarnings("ignore:Heartbeat of storage")
def test_a_killed_trial_keeps_its_place(make_search: MakeSearch, make_job: MakeJob) -> None:
    """Whatever was killed before it said its place, the same trials are tried in the end."""
    study = make_job(make_search(), 2).open_study()
    trial = study.ask()
    assert next_place(study) == 1
    study.tell(trial, state=TrialState.FAIL)
    assert next_place(study) == 0


@pytest.mark.filterwarnings("ignore:Heartbeat of storage")
def test_a_trial_that_is_killed_three_times_is_given_up_and_that_is_said(
    make_search: MakeSearch, make_job: MakeJob, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each time as kill -9 leaves it; `--quiet` does not hide it."""
    search = make_search()
    job = make_job(search, 2, heartbeat=1)
    study, storage = job.open_study(), open_storage(job.url, 1)
    for _ in range(3):
        with silent_optuna():
            release_lost(study, 1)
        trial = study.ask()
        trial.set_user_attr(PLACE, 0)
        trial.set_user_attr(BEGAN, trial.number)
        storage.record_heartbeat(trial._trial_id)
        with sqlite3.connect(f"studies/{job.name}.db") as connection:
            connection.execute("UPDATE trial_heartbeats SET heartbeat = datetime('now', '-1 hour')")
    progress = TuneProgress(2, quiet=True)
    trials = run_search(job, search, on_trial=progress.on_trial, say=progress.say)
    assert [trial.state for trial in trials] == [*[TrialState.FAIL] * 3, TrialState.COMPLETE]
    assert capsys.readouterr().err == "gwn: warning: trial 0 is not tried again: its worker was killed 3 times\n"
