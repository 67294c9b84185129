"""Many runs as one: the same results as one by one, whatever stops when."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from graphs import toy_dataset, toy_graph
from gwn import GWN, Diverged, Graph, GWNError
from gwn.data import make_splits
from gwn.sparse import dense_to_csr
from gwn.training import Fit, TrainConfig, fit, seed_everything
from gwn.training.together import fit_together

SEEDS = (0, 1, 2, 3)


def one_by_one_and_together(graph: Graph, config: TrainConfig, **settings: object) -> tuple[list[Fit], list[Fit]]:
    splits = make_splits(toy_dataset(graph), "stratified", len(SEEDS))

    def build() -> GWN:
        return GWN(graph.num_features, 8, graph.num_classes, **{"time": 2.0, **settings})  # type: ignore[arg-type]

    single = []
    for seed, split in zip(SEEDS, splits, strict=True):
        seed_everything(seed)
        single.append(fit(build(), graph, split, config))
    return single, fit_together(build, graph, splits, SEEDS, config)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    "settings",
    [{}, {"dropout": 0.0}, {"laplacian": "physical", "scheme": "damped", "activation": "relu"}, {"tau": 0.5}],
)
def test_same_as_one_by_one(sparse: bool, settings: dict[str, object]) -> None:
    graph = toy_graph()
    if sparse:
        graph = replace(graph, x=dense_to_csr(graph.x.relu()))
    single, together = one_by_one_and_together(graph, TrainConfig(epochs=25, stopping="none"), **settings)
    for alone, shared in zip(single, together, strict=True):
        assert (shared.val, shared.test, shared.best_epoch, shared.epochs) == (
            alone.val,
            alone.test,
            alone.best_epoch,
            alone.epochs,
        )
        for name, tensor in alone.weights.items():
            torch.testing.assert_close(shared.weights[name], tensor, rtol=1e-3, atol=1e-4)


def test_a_run_that_stops_leaves_and_the_others_go_on_unchanged() -> None:
    config = TrainConfig(epochs=60, stopping="patience", patience=4)
    single, together = one_by_one_and_together(toy_graph(), config)
    assert len({run.epochs for run in single}) > 1, "the example should stop at different epochs"
    assert [run.epochs for run in together] == [run.epochs for run in single]
    assert [run.test for run in together] == [run.test for run in single]


def test_weights_load_into_a_plain_network() -> None:
    graph = toy_graph()
    _, together = one_by_one_and_together(graph, TrainConfig(epochs=5))
    model = GWN(graph.num_features, 8, graph.num_classes, time=2.0)
    model.load_state_dict(together[0].weights)


@pytest.mark.parametrize("settings", [{"laplacian": "fa"}, {"readout": "trajectory"}, {"encoder_layers": 2}])
def test_refused_where_runs_cannot_share_a_pass(settings: dict[str, object]) -> None:
    with pytest.raises(GWNError, match="one by one"):
        one_by_one_and_together(toy_graph(), TrainConfig(epochs=1), **settings)


def test_divergence_is_named() -> None:
    graph = toy_graph()
    splits = make_splits(toy_dataset(graph), "stratified", 2)
    with pytest.raises(Diverged, match="smaller time or tau"):
        fit_together(lambda: GWN(graph.num_features, 8, 2, time=200.0), graph, splits, (0, 1), TrainConfig(epochs=3))
