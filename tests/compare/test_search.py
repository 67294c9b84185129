"""The search of one model: what is tried again when there is more time."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from gwn.compare.comparison import _effort
from gwn.compare.course import Course
from gwn.compare.search import ModelSearch, Trial
from gwn.compare.worker import OUT_OF_TIME
from gwn.models import model_spec
from gwn.tuning import SPACES


def test_settings_that_the_time_cut_are_tried_again_with_all_their_epochs() -> None:
    search = ModelSearch(model_spec("mlp"), SPACES["peers"], {"epochs": 200}, splits=2, limit=2)
    cut = {"val": 0.5, "epochs": 12, "seconds": 1.0, "curve": {}, "ended": OUT_OF_TIME}
    found = search.next()
    assert found is not None
    search.take(*found, cut)
    assert found[0].training["epochs"] == 12

    search.lengthen()
    search.lengthen()  # the second one is still to be trained
    again = search.next()
    assert again is not None
    assert again[0].training["epochs"] == 200
    assert again[0].settings == found[0].settings
    search.take(*again, {**cut, "val": 0.9, "epochs": 200, "ended": ""})
    assert search.best is again[0]
    search.lengthen()
    assert len(search.trials) == 2


CUT = {"val": 0.5, "epochs": 12, "seconds": 1.0, "curve": {}, "ended": OUT_OF_TIME}
LIMIT = 12


def after_lengthening() -> ModelSearch:
    """Two trials that the time cut, the better one to be tried again."""
    search = ModelSearch(model_spec("gwn-bank"), SPACES["peers"], {"epochs": 200}, splits=1, limit=LIMIT)
    for _ in range(2):
        found = search.next()
        assert found is not None
        search.take(*found, CUT)
    search.lengthen()
    return search


def finish(search: ModelSearch) -> None:
    while (found := search.next()) is not None:
        search.take(*found, {**CUT, "epochs": 200, "ended": ""})


@pytest.mark.parametrize("stopped", ["", "this", "before"])
def test_what_is_tried_again_takes_the_place_of_no_start_and_of_no_trial(stopped: str) -> None:
    """Also where the search goes on from its record, even from one that does not say which trials those are."""
    search = after_lengthening()
    starts = len(search.space.starts_of(search.model))
    assert 2 < starts < LIMIT
    if stopped:
        kept = [trial.to_json() for trial in search.trials]
        if stopped == "before":
            kept = [{name: value for name, value in trial.items() if name != "again"} for trial in kept]
        trials = [Trial.from_json(trial) for trial in kept]
        search = ModelSearch(search.model, search.space, search.fixed, splits=1, limit=LIMIT, trials=trials)
    if stopped == "this":
        search.lengthen()
        assert len(search.trials) == 3, "what is to be tried again is known"
    finish(search)
    assert search.trials[2].training["epochs"] == 200
    new = [trial.start for trial in search.trials if trial.number != 2]
    assert new[:starts] == list(range(starts))
    assert new[starts:] == [None] * (LIMIT - starts - (stopped == "before"))


def test_the_limit_that_was_asked_for_is_said() -> None:
    search = after_lengthening()
    finish(search)
    assert len(search.trials) == LIMIT + 1
    course = SimpleNamespace(specs=[search.model], searches={search.model.name: search}, narrowed=False)
    said = f"At most {LIMIT} trials a model, besides cut ones that were tried again, in equal shares of the time."
    assert _effort(cast(Course, course))[0] == said


def test_a_start_that_an_older_search_left_out_is_made_up_for() -> None:
    """It took the number of a trial for that of the start."""
    search = after_lengthening()
    finish(search)
    trials = [trial for trial in search.trials if trial.start != 2]
    for number, trial in enumerate(trials):
        trial.number = number
    search = ModelSearch(search.model, search.space, search.fixed, splits=1, limit=LIMIT, trials=trials)
    found = search.next()
    assert found is not None
    assert (found[0].start, found[0].number) == (2, len(trials))
