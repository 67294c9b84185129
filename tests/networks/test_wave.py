"""GWN against the paper's printed equations, and everything else the class promises."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from torch import Tensor

import dense
import gwn.adjacency
from dense import close
from graphs import (
    AWKWARD_NODES,
    AWKWARD_WEIGHTS,
    NO_EDGES,
    awkward,
    edge_lists,
    edges,
    normal,
    random_edges,
)
from gwn import GWN, GWNError
from gwn.adjacency import Adjacency
from seeds import reseed

N, F, D, C = AWKWARD_NODES, 5, 4, 3


def network(laplacian: str = "sym", **options: Any) -> GWN:
    """A network in float64 and evaluation mode, the same one every time."""
    reseed(3)
    return GWN(F, D, C, laplacian=laplacian, **{"time": 4.0, "tau": 0.7, **options}).double().eval()


def parameters_of(model: GWN) -> tuple[np.ndarray, np.ndarray]:
    """g as [n, 2d] and eps as [n - 1], read from the state and put through the paper's constraint here."""
    state = model.state_dict()
    g = state["laplacian.g"].reshape(model.num_steps, 2 * D).numpy()
    return g, 1 / (1 + np.exp(-state["laplacian.raw_epsilon"].numpy()))


def by_the_paper(model: GWN, x: Tensor, S: np.ndarray) -> np.ndarray:
    """X(0) ... X(n), straight from the equations."""
    phi0, phi1 = dense.linear(model.phi0, x), dense.linear(model.phi1, x)
    if model.laplacian.state_dict():
        g, eps = parameters_of(model)
        return dense.fa(S, phi0, phi1, g, eps, model.scheme.tau, model.num_steps)[0]
    return dense.sym(S, phi0, phi1, model.scheme.tau, model.num_steps)


@pytest.mark.parametrize("laplacian", ["sym", "fa"])
@pytest.mark.parametrize(("time", "tau"), [(0.5, 1.0), (2.0, 1.0), (4.0, 0.7), (1.0, 0.1), (6.0, 2.0), (5.0, 0.25)])
def test_follows_the_paper(kernels: str, laplacian: str, time: float, tau: float) -> None:
    model, x = network(laplacian, time=time, tau=tau), normal(N, F)
    S = dense.normalise(dense.adjacency(awkward(), N))
    X = by_the_paper(model, x, S)
    assert len(X) == int(np.ceil(time / tau)) + 1
    close(model.trajectory(x, awkward()), X)
    close(model(x, awkward()), dense.linear(model.head, torch.from_numpy(X[-1])))


@pytest.mark.parametrize("laplacian", ["sym", "fa"])
def test_follows_the_paper_on_a_weighted_graph(laplacian: str) -> None:
    model, x = network(laplacian), normal(N, F)
    S = dense.normalise(dense.adjacency(awkward(), N, AWKWARD_WEIGHTS.tolist()))
    close(model.trajectory(x, awkward(), AWKWARD_WEIGHTS), by_the_paper(model, x, S))
    assert not torch.allclose(model(x, awkward(), AWKWARD_WEIGHTS), model(x, awkward()))


@settings(max_examples=20)
@given(edge_lists())
def test_follows_the_paper_on_any_graph(graph: tuple[int, Tensor]) -> None:
    nodes, edge_index = graph
    x, S = normal(nodes, F), dense.normalise(dense.adjacency(edge_index, nodes))
    for laplacian in ("sym", "fa"):
        model = network(laplacian, time=3.0, tau=1.0)
        close(model.trajectory(x, edge_index), by_the_paper(model, x, S))


def test_first_state_and_first_step_as_printed() -> None:
    """X(0) = phi0 and X(1) = tau phi1 + (I + tau²/2 L_a(0)) phi0, with L_a(0) = alpha(0) ⊙ S and no eps."""
    model, x = network("fa"), normal(N, F)
    with torch.no_grad():
        model.laplacian.raw_epsilon.fill_(8.0)
    S = dense.normalise(dense.adjacency(awkward(), N))
    phi0, phi1, tau = model.phi0(x).detach().numpy(), model.phi1(x).detach().numpy(), 0.7
    alpha = dense.attention(parameters_of(model)[0][0], phi0)
    X = model.trajectory(x, awkward())
    close(X[0], phi0, 0.0)
    close(X[1], tau * phi1 + phi0 + tau**2 / 2 * (alpha * S) @ phi0, 1e-14)


def test_eps_of_step_n_multiplies_x0_in_step_n() -> None:
    """Changing eps(k) alone leaves X(0) ... X(k) and changes X(k+1) by (eps' - eps) X(0)."""
    model, x = network("fa", time=5.0, tau=1.0), normal(N, F)
    before = model.trajectory(x, awkward())
    for k in range(1, 5):
        other = copy.deepcopy(model)
        with torch.no_grad():
            other.laplacian.raw_epsilon[k - 1] += 1.0
        after = other.trajectory(x, awkward())
        assert torch.equal(after[: k + 1], before[: k + 1])
        change = (other.epsilon[k - 1] - model.epsilon[k - 1]) * before[0]
        close(after[k + 1] - before[k + 1], change, 1e-12)


@pytest.mark.parametrize("steps", [1, 2, 6])
def test_epsilon_is_one_number_in_zero_one_for_each_step_but_the_first(steps: int) -> None:
    model = network("fa", time=float(steps), tau=1.0)
    assert model.epsilon.shape == (steps - 1,)
    assert bool(((model.epsilon > 0) & (model.epsilon < 1)).all())


def test_attention_is_what_the_steps_used() -> None:
    """The trajectory can be rebuilt from attention(), the edges it comes with and epsilon alone."""
    model, x, tau = network("fa", time=4.0, tau=0.8), normal(N, F), 0.8
    edge_index, alpha = model.attention(x, awkward())
    assert alpha.shape == (model.num_steps, edge_index.shape[1])
    source, target = edge_index.tolist()
    degree = np.bincount(target, minlength=N)
    X = [model.phi0(x).detach().numpy()]
    for n in range(model.num_steps):
        operator = np.zeros((N, N))
        for j, i, a in zip(source, target, alpha[n].tolist(), strict=True):
            operator[i, j] = a / np.sqrt(degree[i] * degree[j])
        if n == 0:
            X.append(tau * model.phi1(x).detach().numpy() + X[0] + tau**2 / 2 * operator @ X[0])
        else:
            X.append(model.epsilon[n - 1].item() * X[0] + 2 * X[n] + tau**2 * operator @ X[n] - X[n - 1])
    close(model.trajectory(x, awkward()), np.stack(X))


def test_attention_comes_with_the_edges_of_the_simple_undirected_graph() -> None:
    edge_index, alpha = network("fa").attention(normal(N, F), awkward())
    wanted = {(int(j), int(i)) for i, j in np.argwhere(dense.adjacency(awkward(), N))}
    found = list(map(tuple, edge_index.t().tolist()))
    assert set(found) == wanted
    assert len(found) == len(wanted) == alpha.shape[1]


def test_attention_columns_are_source_and_target() -> None:
    """alpha_ij belongs to the message j -> i: tanh(g^T [x_i || x_j]) in the column (j, i)."""
    model, x = network("fa", directed=True), normal(N, F)
    edge_index, alpha = model.attention(x, edges((0, 1), (2, 1), (1, 3)))
    assert sorted(map(tuple, edge_index.t().tolist())) == [(0, 1), (1, 3), (2, 1)]
    g, _ = parameters_of(model)
    X = model.trajectory(x, edges((0, 1), (2, 1), (1, 3))).numpy()
    for n in range(model.num_steps):
        for column, (j, i) in enumerate(edge_index.t().tolist()):
            assert alpha[n, column].item() == pytest.approx(np.tanh(g[n] @ np.concatenate([X[n, i], X[n, j]])))


def test_inspection_is_in_evaluation_mode_and_leaves_the_mode_alone() -> None:
    for training in (True, False):
        model = network("fa", dropout=0.9, attention_dropout=0.9).train(training)
        x = normal(N, F)
        assert torch.equal(model.trajectory(x, awkward()), model.trajectory(x, awkward()))
        assert torch.equal(model.attention(x, awkward())[1], model.attention(x, awkward())[1])
        assert model.training is training
        assert model.laplacian.training is training
        assert not model.trajectory(x, awkward()).requires_grad
    model.train().phi0.eval()  # a part that is frozen stays so
    model.trajectory(x, awkward())
    assert (model.training, model.phi0.training, model.phi1.training) == (True, False, True)


def test_gwn_sym_has_neither_attention_nor_epsilon() -> None:
    with pytest.raises(GWNError, match="no attention; use laplacian='fa'"):
        network("sym").attention(normal(N, F), awkward())
    with pytest.raises(GWNError, match="no epsilon; use laplacian='fa'"):
        _ = network("sym").epsilon


@pytest.mark.parametrize(("time", "tau", "n"), [(4.0, 1.0, 4), (0.6000000000000001, 0.2, 3), (0.5, 1.0, 1)])
def test_parameter_counts_are_the_papers_plus_biases(time: float, tau: float, n: int) -> None:
    """sym: 2fd + dc. fa: 2fd + (2d + 1) T/tau + dc, less one: the paper counts an eps(0) that no equation uses.

    So g has 2d numbers in each of the n steps and eps one in each step but the first: n - 1 of them.
    """
    f, d, c = 11, 6, 3
    biases = 2 * d + c

    def count(laplacian: str) -> int:
        return sum(p.numel() for p in GWN(f, d, c, laplacian=laplacian, time=time, tau=tau).parameters())

    assert count("sym") == 2 * f * d + d * c + biases
    assert count("fa") == 2 * f * d + (2 * d + 1) * n - 1 + d * c + biases


@settings(max_examples=20)
@given(edge_lists())
def test_gwn_sym_is_affine_in_its_input(graph: tuple[int, Tensor]) -> None:
    nodes, edge_index = graph
    model, x, y, zero = network("sym"), normal(nodes, F), normal(nodes, F, seed=1), torch.zeros(nodes, F).double()
    rest = model(zero, edge_index)
    combined = model(2 * x - 3 * y, edge_index) - rest
    close(combined, 2 * (model(x, edge_index) - rest) - 3 * (model(y, edge_index) - rest), 1e-9)


@settings(max_examples=20)
@given(edge_lists())
def test_renumbering_the_nodes_renumbers_the_result(graph: tuple[int, Tensor]) -> None:
    nodes, edge_index = graph
    order = torch.randperm(nodes, generator=torch.Generator().manual_seed(nodes))
    place = torch.argsort(order)
    x = normal(nodes, F)
    for laplacian in ("sym", "fa"):
        for reference in (False, True):
            model = network(laplacian, reference=reference)
            close(model(x[order], place[edge_index]), model(x, edge_index)[order], 1e-9)


@pytest.mark.parametrize("laplacian", ["sym", "fa"])
def test_direction_duplicates_and_loops_do_not_matter_by_default(laplacian: str) -> None:
    model, x = network(laplacian), normal(4, F)
    simple = model(x, edges((0, 1), (1, 0), (1, 2), (2, 1)))
    close(model(x, edges((0, 1), (2, 1))), simple, 1e-13)
    close(model(x, edges((1, 0), (1, 0), (0, 1), (1, 2), (3, 3), (0, 0))), simple, 1e-13)


@pytest.mark.parametrize("laplacian", ["sym", "fa"])
def test_gradients_of_the_whole_network(laplacian: str) -> None:
    model, x = network(laplacian, time=3.0, tau=1.0, activation="tanh", encoder_layers=2, head_layers=2), normal(N, F)
    names, values = zip(*model.named_parameters(), strict=True)

    def loss(*parameters: Tensor) -> Tensor:
        result: Tensor = torch.func.functional_call(model, dict(zip(names, parameters, strict=True)), (x, awkward()))
        return result.square().mean()

    assert torch.autograd.gradcheck(loss, values, fast_mode=True)


@pytest.mark.parametrize("laplacian", ["sym", "fa"])
def test_gradient_with_respect_to_dense_features(laplacian: str) -> None:
    x = normal(N, F).requires_grad_()
    model = network(laplacian, time=2.0, tau=1.0)
    assert torch.autograd.gradcheck(lambda x: model(x, awkward()), (x,), fast_mode=True)


@pytest.mark.parametrize("laplacian", ["sym", "fa"])
def test_float32_is_float64_rounded(laplacian: str) -> None:
    model, x = network(laplacian), normal(N, F)
    exact = model(x, awkward())
    rounded = model.float()(x.float(), awkward())
    assert exact.dtype == torch.float64
    assert rounded.dtype == torch.float32
    close(rounded.double(), exact, 1e-5)


def test_the_operator_is_built_once_for_all_layers_and_epochs(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[int] = []
    original = gwn.adjacency.normalised_adjacency

    def counted(*arguments: Any, **options: Any) -> Adjacency:
        built.append(1)
        return original(*arguments, **options)

    monkeypatch.setattr(gwn.adjacency, "normalised_adjacency", counted)
    model, other, x, edge_index = network("fa").train(), network("sym").train(), normal(N, F), awkward()
    for _ in range(3):
        model(x, edge_index).sum().backward()
        other(x, edge_index).sum().backward()
    model.trajectory(x, edge_index)
    model.attention(x, edge_index)
    assert len(built) == 1
    assert model.adjacency(x, edge_index) is other.adjacency(x, edge_index)
    edge_index[0, 0] = 7
    changed = model.eval()(x, edge_index)
    assert len(built) == 2
    close(changed, model(x, edge_index.clone()), 1e-13)


# Dropout


def test_dropout_only_in_training() -> None:
    model, x = network("fa", dropout=0.5), normal(N, F)
    assert torch.equal(model(x, awkward()), model(x, awkward()))
    model.train()
    reseed(0)
    first = model(x, awkward())
    assert not torch.equal(first, model(x, awkward()))
    reseed(0)
    assert torch.equal(first, model(x, awkward()))


def test_both_encoders_see_the_same_dropped_out_input() -> None:
    model, x = network(dropout=0.5).train(), torch.ones(N, F).double()
    with torch.no_grad():
        for phi in (model.phi0, model.phi1):
            phi.get_parameter("layers.0.weight").fill_(1.0)
            phi.get_parameter("layers.0.bias").zero_()
    phi0, phi1 = model.encode(x)
    assert torch.equal(phi0, phi1)
    assert set((phi0 / 2).unique().tolist()) <= set(range(F + 1))


def test_zero_dropout_in_training_is_evaluation() -> None:
    model, x = network("fa", dropout=0.0), normal(N, F)
    assert torch.equal(model.train()(x, awkward()), model.eval()(x, awkward()))


def test_dropout_of_the_input_can_be_its_own() -> None:
    x = normal(N, F)
    undropped = network(dropout=0.5, input_dropout=0.0).train()
    assert torch.equal(undropped.encode(x)[0], undropped.encode(x)[0])
    assert not torch.equal(undropped(x, awkward()), undropped(x, awkward()))
    dropped = network(dropout=0.0, input_dropout=0.5).train()
    assert not torch.equal(dropped.encode(x)[0], dropped.encode(x)[0])


# What can be chosen


@pytest.mark.parametrize("norm", ["layer", "batch"])
def test_norms_stand_before_activations_and_before_the_head(norm: str) -> None:
    model, x = network(norm=norm, encoder_layers=2, head_layers=2, activation="none", dropout=0.0).train(), normal(N, F)
    direction = 1 if norm == "layer" else 0
    phi0, _ = model.encode(x)
    seen = model.norm(model.readout(torch.stack([phi0])[-1] * 7 + 3, phi0, phi0))
    for normalised in (phi0, seen):
        assert torch.allclose(normalised.mean(direction), torch.zeros(()).double(), atol=1e-6)
        assert torch.allclose(normalised.var(direction, correction=0), torch.ones(()).double(), atol=0.01)
    assert len(model.head.norms) == 1
    model(x, awkward()).sum().backward()
    assert all(parameter.grad is not None for parameter in model.parameters())


def test_non_linear_encoders_and_heads_are_options() -> None:
    model, x = network(encoder_layers=2, head_layers=2, activation="tanh"), normal(N, F)
    assert [tuple(p.shape) for p in model.phi0.parameters()] == [(F, D), (D,), (D, D), (D,)]
    assert [tuple(p.shape) for p in model.head.parameters()] == [(D, D), (D,), (D, C), (C,)]
    assert bool((model.trajectory(x, awkward())[0].abs() < 1).all())
    zero = torch.zeros_like(x)
    assert not torch.allclose(
        model(2 * x, awkward()) - model(zero, awkward()), 2 * (model(x, awkward()) - model(zero, awkward()))
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"laplacian": "symm"}, "unknown laplacian 'symm'; did you mean 'sym'"),
        ({"scheme": "frog"}, "unknown scheme 'frog'"),
        ({"tau": 0}, "tau must be a finite number greater than 0; got 0"),
        ({"tau": -1}, "tau must be"),
        ({"time": 0.0}, "time must be a finite number greater than 0"),
        ({"time": float("nan")}, "time must be"),
        ({"dropout": 1.0}, r"dropout must be in \[0, 1\)"),
        ({"dropout": -0.5}, r"dropout must be in \[0, 1\)"),
        ({"hidden_channels": 0}, "hidden_channels must be at least 1"),
        ({"in_channels": 0}, "in_channels must be at least 1"),
        ({"encoder_layers": 0}, "at least one layer"),
        ({"activation": "rely"}, "did you mean 'relu'"),
        ({"norm": "batches"}, "did you mean 'batch'"),
        ({"input_dropout": 1.0}, r"input_dropout must be in \[0, 1\)"),
        ({"self_loops": "yes", "laplacian": "sym"}, "unknown self_loops 'yes'"),
        ({"epsilon": "free"}, "unknown setting of laplacian 'sym'.* 'epsilon'"),
        ({"laplacian": "fa", "epsilonn": "free"}, "did you mean 'epsilon'"),
        ({"velocity": 3}, "unknown setting"),
    ],
)
def test_mistakes_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(GWNError, match=message) as error:
        GWN(**{"in_channels": F, "hidden_channels": D, "out_channels": C, **options})
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("laplacian", ["sym", "fa"])
def test_an_isolated_node_moves_on_its_own(laplacian: str) -> None:
    """S is zero there: X(n) = phi0 + n tau phi1 for GWN-sym."""
    model, x = network(laplacian, time=3.0, tau=0.5), normal(N, F)
    X = model.trajectory(x, awkward())
    if laplacian == "sym":
        for node in (6, 7):  # 7 has a self-loop only
            for n in range(7):
                close(X[n, node], model.phi0(x)[node] + 0.5 * n * model.phi1(x)[node], 1e-12)
    other = x.clone()
    other[:6] += 1.0
    assert torch.equal(model.trajectory(other, awkward())[:, 6:], X[:, 6:])


@pytest.mark.parametrize("laplacian", ["sym", "fa"])
def test_without_edges_every_node_is_alone(laplacian: str) -> None:
    model, x = network(laplacian), normal(5, F)
    together = model(x, NO_EDGES)
    close(together, torch.cat([model(row[None], NO_EDGES) for row in x]), 1e-13)
    if laplacian == "fa":
        edge_index, alpha = model.attention(x, NO_EDGES)
        assert edge_index.shape == (2, 0)
        assert alpha.shape == (model.num_steps, 0)


def test_far_away_nodes_are_not_reached_in_fewer_steps() -> None:
    """A wave front moves one edge a step."""
    line = edges(*((i, i + 1) for i in range(7)))
    for laplacian in ("sym", "fa"):
        model, x = network(laplacian, time=5.0, tau=1.0), normal(8, F)
        other = x.clone()
        other[0] += 1.0
        moved = (model.trajectory(other, line) - model.trajectory(x, line)).abs().amax(2) > 0
        for n in range(6):
            assert moved[n].tolist() == [node <= n for node in range(8)]


def test_a_deep_run_keeps_its_gradients_right_in_the_network() -> None:
    model, x = network("fa", time=4.0, tau=0.2), normal(20, F)
    assert model.num_steps == 20
    edge_index = random_edges(20, 40)
    S = torch.from_numpy(dense.normalise(dense.adjacency(edge_index, 20)))
    model(x, edge_index).square().sum().backward()
    found = {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
    model.zero_grad()
    g, eps = model.laplacian.get_parameter("g"), torch.sigmoid(model.laplacian.get_parameter("raw_epsilon"))
    X = dense.torch_waves(S, model.phi0(x), model.phi1(x), 0.2, 20, g, eps)
    model.head(X[-1]).square().sum().backward()
    assert len(found) == len(list(model.parameters()))
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None
        close(found[name], parameter.grad, 1e-10)


@pytest.mark.parametrize("laplacian", ["sym", "physical", "random-walk"])
@pytest.mark.parametrize("sparse", [False, True])
def test_evaluation_on_the_classes_is_the_same_function(laplacian: str, sparse: bool) -> None:
    """Without dropout the head and the wave commute; training mode with dropout 0 takes the long way."""
    reseed(0)
    model = GWN(6, 8, 3, laplacian=laplacian, time=4.0, dropout=0.0).double()
    assert model.evaluates_classes
    assert not GWN(6, 8, 9).evaluates_classes  # more classes than channels
    assert not GWN(6, 8, 3, laplacian="fa").evaluates_classes
    assert not GWN(6, 8, 3, activation="relu").evaluates_classes
    x, edges = normal(20, 6).double(), torch.randint(20, (2, 50))
    x = x.to_sparse_csr() if sparse else x
    for rows in (None, torch.tensor([3, 1])):
        expected = model.train()(x, edges, rows=rows)
        torch.testing.assert_close(model.eval()(x, edges, rows=rows), expected, rtol=1e-12, atol=1e-12)


def test_hooks_fire_in_evaluation_as_in_training() -> None:
    model, seen = GWN(6, 8, 3, dropout=0.0), []
    x, edges = normal(20, 6).float(), torch.randint(20, (2, 50))
    plain = model.eval()(x, edges)
    handle = model.head.register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    torch.testing.assert_close(model(x, edges), plain, rtol=1e-4, atol=1e-5)
    assert [state.shape for state in seen] == [(20, 8)]
    handle.remove()
    torch.testing.assert_close(model(x, edges), plain, rtol=0, atol=0)
