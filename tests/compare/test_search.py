"""The search of one model: what is tried again when there is more time."""

from __future__ import annotations

from gwn.compare.search import ModelSearch
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
