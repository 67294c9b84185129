"""Precomputed training: the same function in another order of multiplication, and nothing stale in its cache."""

from __future__ import annotations

import copy
import pickle

import pytest
import torch

import gwn.networks.precomputed
import gwn.networks.wave
from graphs import normal, random_edges, toy_dataset
from gwn import GWN, GWNError
from gwn.adjacency import adjacency_of
from gwn.data import make_splits
from gwn.networks.bank import BankGWN
from gwn.networks.precomputed import FeatureCache
from gwn.sparse import TensorCache, dense_to_csr
from gwn.training import TrainConfig, fit
from seeds import reseed

N, F_IN = 30, 7


def pair(**settings: object) -> tuple[GWN, GWN]:
    reseed(0)
    plain = GWN(F_IN, 8, 3, time=3.0, dropout=0.0, **settings).double()  # type: ignore[arg-type]
    fast = GWN(F_IN, 8, 3, time=3.0, dropout=0.0, precompute=True, **settings).double()  # type: ignore[arg-type]
    fast.load_state_dict(plain.state_dict())
    return plain, fast


@pytest.fixture(params=["features", "classes"])
def order(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(gwn.networks.wave, "prefers_features", lambda *_: request.param == "features")
    return str(request.param)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    "settings",
    [
        {"laplacian": "sym"},
        {"laplacian": "physical", "scheme": "bessel"},
        {"laplacian": "klein-gordon", "scheme": "newmark"},
        {"laplacian": "random-walk", "scheme": "damped"},
        {"laplacian": "sym", "scheme": "heat"},
    ],
    ids=lambda s: f"{s['laplacian']}-{s.get('scheme', 'leapfrog')}",
)
def test_same_function_and_same_gradients(settings: dict[str, str], sparse: bool, order: str) -> None:
    plain, fast = pair(**settings)
    x, edges = normal(N, F_IN), random_edges(N, 60)
    given = dense_to_csr(x) if sparse else x
    rows = torch.tensor([3, 1, 20])
    torch.testing.assert_close(fast(given, edges), plain(given, edges), rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(fast(given, edges, rows=rows), plain(given, edges)[rows], rtol=1e-9, atol=1e-9)
    for model in (plain, fast):
        model(given, edges, rows=rows).square().sum().backward()
    for name, parameter in plain.named_parameters():
        torch.testing.assert_close(fast.get_parameter(name).grad, parameter.grad, rtol=1e-8, atol=1e-8)


def test_a_new_graph_or_a_changed_one_is_propagated_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gwn.networks.wave, "prefers_features", lambda *_: True)
    plain, fast = pair()
    x, edges, rows = normal(N, F_IN), random_edges(N, 60), torch.arange(5)
    fast(x, edges, rows=rows)
    other = random_edges(N, 40)
    torch.testing.assert_close(fast(x, other, rows=rows), plain(x, other, rows=rows))
    x[0] += 1.0
    torch.testing.assert_close(fast(x, edges, rows=rows), plain(x, edges, rows=rows))


def test_features_that_want_a_gradient_are_refused() -> None:
    plain, fast = pair()
    x, edges = normal(N, F_IN).requires_grad_(), random_edges(N, 60)
    with pytest.raises(GWNError, match=r"x requires a gradient; .* detach it, or set precompute=False"):
        fast(x, edges)
    torch.testing.assert_close(fast(x.detach(), edges), plain(x, edges))
    with torch.no_grad():  # nothing is lost where no gradient is taken
        torch.testing.assert_close(fast(x, edges), plain(x, edges))


def test_a_bank_that_could_precompute_gives_its_input_a_gradient() -> None:
    reseed(0)
    bank = BankGWN(F_IN, 8, 3, num_layers=1, encoder=False, ego=False, dropout=0.0, precompute=True).double()
    x = normal(N, F_IN).requires_grad_()
    bank(x, random_edges(N, 60)).square().sum().backward()
    assert x.grad is not None
    assert x.grad.abs().sum() > 0


def test_a_thread_gets_its_own_features_though_another_asks_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    cache, edges = FeatureCache(), random_edges(N, 60)
    adjacency = adjacency_of(edges, None, N, dtype=torch.float64)
    mine, other = normal(N, F_IN), normal(N, F_IN, seed=1)
    started: list[bool] = []

    def overtaken() -> TensorCache:
        """Stands for a switch of threads in the middle of `get`: the other one runs through."""
        if not started:
            started.append(True)
            assert cache.get(adjacency, other, None, lambda: torch.tensor(1)) == 1
        return TensorCache()

    monkeypatch.setattr(gwn.networks.precomputed, "TensorCache", overtaken)
    assert cache.get(adjacency, mine, None, lambda: torch.tensor(0)) == 0
    assert started


def test_features_changed_in_inference_mode_are_propagated_again() -> None:
    plain, fast = pair()
    edges = random_edges(N, 60)
    with torch.inference_mode():
        x = normal(N, F_IN)
        fast(x, edges)
        x[0] += 1.0
        torch.testing.assert_close(fast(x, edges), plain(x, edges))


def test_training_goes_on_after_a_first_call_in_inference_mode() -> None:
    _, fast = pair()
    x, edges, rows = normal(N, F_IN), random_edges(N, 60), torch.arange(5)
    with torch.inference_mode():
        fast(x, edges, rows=rows)
    fast(x, edges, rows=rows).square().sum().backward()
    assert fast.head.first.weight.grad is not None


def test_cache_is_not_copied_with_the_model() -> None:
    plain, fast = pair()
    x, edges = normal(N, F_IN), random_edges(N, 60)
    fast(x, edges)
    for twin in (copy.deepcopy(fast), pickle.loads(pickle.dumps(fast))):
        torch.testing.assert_close(twin(x, edges), plain(x, edges))


def test_dropout_drops_whole_features_and_keeps_the_expectation(order: str) -> None:
    _, fast = pair()
    fast.dropout = 0.5
    x, edges = normal(N, F_IN), random_edges(N, 60)
    reseed(0)
    fast.train()
    with torch.no_grad():
        mean = torch.stack([fast(x, edges) for _ in range(4000)]).mean(0)
        expected = fast.eval()(x, edges)
    assert float((mean - expected).abs().max() / expected.abs().max()) < 0.05


@pytest.mark.parametrize(
    "settings",
    [
        {"laplacian": "fa"},
        {"laplacian": "polynomial"},
        {"laplacian": "klein-gordon", "learn_mass": True},
        {"speed": "scalar", "laplacian": "physical"},
        {"activation": "relu"},
        {"head_layers": 2},
        {"readout": "trajectory"},
    ],
)
def test_refused_where_it_would_be_another_function(settings: dict[str, object]) -> None:
    with pytest.raises(GWNError, match="precompute needs"):
        GWN(F_IN, 8, 3, precompute=True, **settings)  # type: ignore[arg-type]


def test_learns_through_the_one_training_loop() -> None:
    dataset = toy_dataset()
    model = GWN(dataset.graph.num_features, 8, dataset.graph.num_classes, precompute=True)
    result = fit(model, dataset.graph, make_splits(dataset, None, 1)[0], TrainConfig(epochs=40))
    assert result.val > 0.5


def test_mini_batches_need_precomputed_features() -> None:
    dataset = toy_dataset()
    graph, split = dataset.graph, make_splits(dataset, None, 1)[0]
    config = TrainConfig(epochs=20, batch_size=5)
    assert fit(GWN(graph.num_features, 8, graph.num_classes, precompute=True), graph, split, config).val > 0.5
    with pytest.raises(GWNError, match="batch_size needs"):
        fit(GWN(graph.num_features, 8, graph.num_classes), graph, split, config)
    bank = BankGWN(graph.num_features, 8, graph.num_classes, precompute=True, num_layers=1, encoder=False, ego=False)
    with pytest.raises(GWNError, match="batch_size is for gwn-sym and gwn-plus with precompute=true; gwn-bank trains"):
        fit(bank, graph, split, config)
