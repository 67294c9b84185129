"""The space of the peers: its dimensions fit the models, and a study begins with the published settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from optuna.trial import FrozenTrial, TrialState

from gwn.dimension import Dimension
from gwn.models import MODELS, model_spec
from gwn.training import TrainConfig
from gwn.tuning import Search, SearchJob, run_search
from gwn.tuning.classics import CLASSICS
from gwn.tuning.objective import SETTINGS, SPLITS, START, TRAINING
from gwn.tuning.spaces import SPACES
from gwn.tuning.winner import final_experiment
from gwn.tuning.workers import work

MakeSearch = Callable[..., Search]
MakeJob = Callable[..., SearchJob]
SPACE = SPACES["peers"]
PEERS = [name for name, spec in MODELS.items() if spec.search]


def run(job: SearchJob, search: Search) -> list[FrozenTrial]:
    return run_search(job, search, on_trial=lambda *_: None, say=lambda _: None)


def test_every_peer_has_dimensions_of_its_own() -> None:
    assert {name for name, spec in MODELS.items() if spec.kind != "wave"} - {"majority"} <= {*PEERS}


@pytest.mark.parametrize("model", PEERS)
def test_own_dimensions_are_settings_and_come_before_the_shared_ones(model: str) -> None:
    spec, own = model_spec(model), model_spec(model).search
    names = [dimension.setting for dimension in SPACE.dimensions_of(spec)]
    assert {dimension.setting for dimension in own} <= {*spec.settings(), *TrainConfig.__dataclass_fields__}
    assert names[: len(own)] == [dimension.setting for dimension in own]
    labels = [dimension.label or dimension.setting for dimension in SPACE.dimensions_of(spec)]
    assert len({*labels}) == len(labels), "a sampler tells choices apart by their labels"
    assert ({"lr", "weight_decay"} <= {*names}) == spec.gradients


def test_other_spaces_have_no_dimensions_of_single_models() -> None:
    assert [name for name, space in SPACES.items() if space.own] == ["peers", "peers-normalized"]


@pytest.mark.parametrize("model", ["mlp", "glognn", "majority", "gwn-sym", "gwn-plus"])
@pytest.mark.parametrize("name", ["standard", "extended", "peers"])
def test_a_normalized_space_searches_the_same_on_row_normalised_features(name: str, model: str) -> None:
    spec, plain, space = model_spec(model), SPACES[name], SPACES[f"{name}-normalized"]
    free = "row_normalize" in spec.settings() and "row_normalize" not in {d.setting for d in plain.dimensions_of(spec)}
    added = [Dimension(setting="row_normalize", values=(True,))] if free else []
    assert space.dimensions_of(spec) == [*plain.dimensions_of(spec), *added]
    if added:
        assert all(start["row_normalize"] for start in space.starts_of(spec))


@pytest.mark.parametrize("model", sorted(MODELS))
def test_published_settings_are_the_defaults(model: str) -> None:
    spec = model_spec(model)
    parameters, beyond = SPACE.start(0, spec, {})
    searched = {dimension.setting: dimension for dimension in SPACE.dimensions_of(spec)}
    for name, value in {**TrainConfig().to_json(), **spec.training, **spec.defaults()}.items():
        if name in beyond:
            assert beyond[name] == value
            assert name in spec.training or not searched[name].contains(value)
        elif name in searched and searched[name].applies(spec.defaults()):
            assert {*searched[name].parameters(value).items()} <= {*parameters.items()}


@pytest.mark.parametrize("model", PEERS)
def test_starts_have_settings_of_their_model(model: str) -> None:
    spec = model_spec(model)
    for number, start in enumerate(SPACE.starts_of(spec)):
        parameters, beyond = SPACE.start(number, spec, {})
        assert {*start} <= {*spec.settings(), *TrainConfig.__dataclass_fields__}
        assert parameters or beyond
        searched = {dimension.setting for dimension in SPACE.dimensions_of(spec)}
        assert {*start} - searched - {*TrainConfig.__dataclass_fields__} <= {*beyond}, (
            "what is not searched is tried too"
        )


def test_first_trial_has_the_defaults_also_where_no_dimension_reaches(
    make_search: MakeSearch, make_job: MakeJob
) -> None:
    search = make_search(model="ordered-gnn", space="peers")
    trials = run(make_job(search, 4), search)
    first, *others = trials
    assert [trial.user_attrs.get(START) for trial in trials] == [0, 1, 2, None]
    assert others[0].user_attrs[SETTINGS]["shared_gate"]
    assert not first.user_attrs[SETTINGS]["shared_gate"]
    assert others[1].user_attrs[TRAINING]["weight_decay"] == 5e-3
    spec = search.model
    assert first.user_attrs[SETTINGS] == {**spec.defaults(), "hidden_channels": 8}
    assert first.user_attrs[TRAINING]["lr"] == spec.training["lr"]
    assert first.user_attrs[TRAINING]["weight_decay"] == spec.training["weight_decay"]
    assert len(first.user_attrs[SPLITS]) == 2
    assert first.params["num_layers"] == 8
    assert len({trial.user_attrs[TRAINING]["lr"] for trial in trials}) == 3  # the first two have the authors'


def test_a_start_may_show_the_training_labels_and_the_final_runs_do_so_too(
    make_search: MakeSearch, make_job: MakeJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks = {"num_layers": 2, "norm": "batch", "lr": 0.02, "weight_decay": 0.0}
    monkeypatch.setitem(CLASSICS, "csbm", {"gat": {}, "gcn": blocks})
    search = make_search("epochs=1", model="gwn-bank-plus", space="peers", search_splits=1)
    trials = run(make_job(search, 3), search)
    assert [trial.user_attrs[SETTINGS]["gate"] for trial in trials] == ["sum", "sum", "channels"]
    assert [trial.user_attrs[TRAINING]["lr"] for trial in trials] == [0.02, 0.02, 0.03]
    assert [trial.user_attrs[TRAINING].get("labels") for trial in trials] == [None, "masked", None]
    assert final_experiment(search, "a study", trials[1], 1).config.labels == "masked"


def test_a_filter_has_a_learning_rate_and_a_decay_of_its_own(make_search: MakeSearch, make_job: MakeJob) -> None:
    """By default those of all weights, then those of its authors on Texas, then what the sampler chooses."""
    search = make_search("epochs=1", model="bernnet", space="peers", search_splits=1)
    first, second, _, sampled = run(make_job(search, 4), search)
    assert not {"group_lr", "group_weight_decay"} & first.user_attrs[TRAINING].keys()
    assert second.user_attrs[TRAINING]["group_lr"] == 0.002
    assert second.user_attrs[TRAINING]["group_weight_decay"] == 0.0
    assert 0.001 <= sampled.user_attrs[TRAINING]["group_lr"] <= 0.1
    final = final_experiment(search, "a study", sampled, 1)
    assert final.config.group_lr == sampled.user_attrs[TRAINING]["group_lr"]


@pytest.mark.parametrize("model", sorted(MODELS))
def test_rates_of_a_group_are_searched_exactly_where_the_network_has_one(model: str) -> None:
    spec = model_spec(model)
    searched = {"group_lr", "group_weight_decay"} & {dimension.setting for dimension in spec.search}
    assert len(searched) == (2 if hasattr(spec.network_class, "parameter_group") else 0)


def test_defaults_out_of_reach_are_tried_all_the_same(make_search: MakeSearch, make_job: MakeJob) -> None:
    search = make_search(model="gcnii", space="peers")
    (first,) = run(make_job(search, 1), search)
    assert first.user_attrs[SETTINGS]["num_layers"] == 64
    assert "num_layers" not in first.params
    assert first.params["alpha"] == 0.2


def test_an_interrupted_first_trial_is_begun_again(make_search: MakeSearch, make_job: MakeJob) -> None:
    search = make_search(model="mlp", space="peers")
    job = make_job(search, 3)
    study = job.open_study()
    study.enqueue_trial({}, user_attrs={START: 0})
    study.tell(study.ask(), state=TrialState.FAIL)  # no reason: it does not count
    work(job, search)
    complete = [trial for trial in study.get_trials() if trial.state == TrialState.COMPLETE]
    assert [trial.user_attrs.get(START) for trial in complete] == [0, 1, None]


def test_more_trials_learn_from_the_first(
    make_search: MakeSearch, make_job: MakeJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gwn.tuning.study.STARTUP", 3)  # two starts and a random trial
    search = make_search("epochs=1", model="mlp", space="peers", search_splits=1)
    assert len(run(make_job(search, 5), search)) == 5


def test_other_spaces_begin_at_random(make_search: MakeSearch, make_job: MakeJob) -> None:
    search = make_search(model="mlp", space="paper")
    (first,) = run(make_job(search, 1), search)
    assert START not in first.user_attrs


def test_own_dimensions_replace_shared_ones_and_belong_to_the_key() -> None:
    without = replace(SPACE, own=False)
    sgc, wave = model_spec("sgc"), model_spec("gwn-plus")
    assert [d.high for d in SPACE.dimensions_of(sgc) if d.setting == "lr"] == [0.5]
    assert without.key(sgc) != SPACE.key(sgc)
    assert without.key(wave) == SPACE.key(wave)


@pytest.mark.parametrize("space", ["extended", "extended-short"])
def test_starts_of_the_wave_family_are_tried_in_order(space: str, make_search: MakeSearch, make_job: MakeJob) -> None:
    search = make_search("epochs=1", model="gwn-plus", space=space, search_splits=1)
    starts = SPACES[space].starts
    trials = run(make_job(search, len(starts) + 1), search)
    assert [trial.user_attrs.get(START) for trial in trials] == [*range(len(starts)), None]
    for trial, start in zip(trials, starts, strict=False):
        together = {**trial.user_attrs[SETTINGS], **trial.user_attrs[TRAINING]}
        assert {name: together[name] for name in start} == {**start, **{k: 8 for k in start if k == "hidden_channels"}}
