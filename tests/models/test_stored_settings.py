"""A peer has the form of its authors' code by default; what was stored before keeps the paper's form."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import gwn.paper.measure
from dense import close
from graphs import awkward, normal, toy_dataset
from gwn.data import make_splits
from gwn.io import read_json, write_json, write_toml
from gwn.models import MODELS, model_spec
from gwn.paper.cell import BUDGETS, Budget, Cell, recipe_of
from gwn.paper.measure import repeat_cell
from gwn.paper.records import Workplace, read_cell, write_cell
from gwn.paper.shipped import settings_tables
from gwn.settings import find_tuned
from gwn.training import Experiment, TrainConfig, load_trained, run_experiment
from gwn.training.config import effective_settings
from gwn.tuning.spaces import SPACES
from seeds import reseed

TWO_FORMS = [
    *("acm-gcn", "cgnn", "fagcn", "gadc", "geom-gcn", "ggcn", "grand", "jacobi", "nlmlp", "nsd", "ordered-gnn"),
    *("sage-tuned", "wrgat"),
]
ACM = Cell(dataset="csbm", split="stratified", row="acm-gcn")


def test_the_peers_with_two_forms() -> None:
    """Those whose authors' code differs from their paper; the wave networks' own `reference` is another setting."""
    assert sorted(name for name, spec in MODELS.items() if spec.defaults().get("reference")) == TWO_FORMS
    assert sorted(name for name, spec in MODELS.items() if "reference" in spec.former_defaults) == TWO_FORMS
    assert not any(MODELS[name].stored({})["reference"] for name in TWO_FORMS)
    assert model_spec("acm-gcn").stored({"reference": True, "dropout": 0.1}) == {"reference": True, "dropout": 0.1}


def test_the_default_of_acm_gcn_has_the_factor_of_its_authors_code() -> None:
    """One layer of three channels: three times the paper's."""
    logits = []
    for settings in ({}, {"reference": False}):
        reseed(0)
        model = model_spec("acm-gcn").build(4, 3, num_layers=1, **settings).double().eval()
        logits.append(model(normal(8, 4), awkward()))
    close(logits[0], 3 * logits[1].detach().numpy())


@pytest.mark.parametrize("name", ["acm-gcn", "sage-tuned"])
def test_a_run_that_does_not_name_the_form_predicts_what_it_did(tmp_path: Path, name: str) -> None:
    dataset, spec = toy_dataset(), model_spec(name)
    experiment = Experiment(
        dataset=dataset,
        model=spec,
        settings=effective_settings(spec, {"hidden_channels": 8, "reference": False}),
        config=TrainConfig(epochs=2, device="cpu"),
        splits=make_splits(dataset, None, 1),
    )
    _, folder = run_experiment(experiment, tmp_path)
    before = load_trained(folder).network.eval()
    config = read_json(folder / "config.json")
    del config["settings"]["reference"]  # as it was written before there was a choice
    write_json(folder / "config.json", config)
    trained = load_trained(folder)
    graph = dataset.graph
    found = trained.network.eval()(graph.x, graph.edge_index)
    assert torch.equal(found, before(graph.x, graph.edge_index))
    assert trained.config["settings"]["reference"] is False
    other = spec.build(8, 2, **config["settings"])
    other.load_state_dict(trained.network.state_dict())
    assert not torch.allclose(other.eval()(graph.x, graph.edge_index), found), "the defaults are another function"


def record(**settings: Any) -> dict[str, Any]:
    return {
        "recipe": vars(recipe_of(ACM)),
        "search": {"space": "peers"},
        "dataset": {"hash": "hash"},
        "settings": {"hidden_channels": 8, **settings},
        "training": {"epochs": 1, "lr": 0.1},
    }


@pytest.mark.parametrize(("named", "form"), [({}, False), ({"reference": True}, True), ({"reference": False}, False)])
def test_a_record_is_repeated_and_shipped_with_the_form_it_was_measured_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: dict[str, bool], form: bool
) -> None:
    monkeypatch.setitem(BUDGETS, "csbm", Budget(trials=1, splits=1))
    write_cell(tmp_path, ACM, record(**named))
    stored = read_cell(tmp_path, ACM)
    assert stored is not None
    assert stored["settings"]["reference"] is form
    repeated: list[Experiment] = []
    monkeypatch.setattr(gwn.paper.measure, "run_experiment", lambda experiment, *_, **__: repeated.append(experiment))
    with pytest.raises(TypeError):  # there is no result
        repeat_cell(ACM, Workplace(results=tmp_path, runs=tmp_path))
    assert repeated[0].settings["reference"] is form
    tables = settings_tables(tmp_path)
    write_toml(tmp_path / "acm-gcn.toml", tables["acm-gcn"])
    tuned = find_tuned(model_spec("acm-gcn"), "csbm", "stratified", "hash", [tmp_path])
    assert tuned is not None
    assert effective_settings(model_spec("acm-gcn"), tuned.merge(model_spec("acm-gcn"), {}, {})[0])["reference"] is form
    assert tuned.merge(model_spec("acm-gcn"), {"reference": True}, {})[0]["reference"], "what is given wins"


def test_a_search_of_another_form_is_another_search() -> None:
    spec = model_spec("acm-gcn")
    former = replace(spec, preset=spec.former_defaults)
    assert SPACES["peers"].key(former) != SPACES["peers"].key(spec)
    plain = model_spec("gcn")
    assert SPACES["peers"].key(plain) == SPACES["peers"].key(replace(plain, preset={"hidden_channels": 32}))
