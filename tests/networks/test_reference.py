"""The authors' code where it differs from their text (mathematics, section 4): as a preset, and each switch alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import dense
from dense import close
from graphs import AWKWARD_NODES, AWKWARD_WEIGHTS, awkward, normal
from gwn import GWN
from seeds import reseed

N, F, D, C, TAU, STEPS = AWKWARD_NODES, 5, 4, 3, 0.7, 4


def network(laplacian: str, **options: Any) -> GWN:
    reseed(3)
    return GWN(F, D, C, laplacian=laplacian, time=STEPS * TAU, tau=TAU, **options).double().eval()


def operator(**options: Any) -> np.ndarray:
    return dense.normalise(dense.adjacency(awkward(), N, **options))


def adaptive(model: GWN, S: np.ndarray, *, velocity: bool, eps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    x = normal(N, F)
    g = model.state_dict()["laplacian.g"].reshape(STEPS, 2 * D).numpy()
    return dense.fa(S, dense.linear(model.phi0, x), dense.linear(model.phi1, x), g, eps, TAU, STEPS, velocity)


def bounded(model: GWN) -> np.ndarray:
    return 1 / (1 + np.exp(-model.state_dict()["laplacian.raw_epsilon"].numpy()))


def test_preset_of_gwn_sym_is_directed_with_in_degrees_and_its_own_self_loops() -> None:
    model, x = network("sym", reference=True), normal(N, F)
    S = operator(directed=True, loops="keep")
    assert S[5, 5] > 0
    assert S[0, 0] == 0
    X = dense.sym(S, dense.linear(model.phi0, x), dense.linear(model.phi1, x), TAU, STEPS)
    close(model.trajectory(x, awkward()), X)


def test_preset_of_gwn_fa() -> None:
    """Self-loops added and attended to, alpha(0) from phi1, directed with in-degrees, no eps, dropout on alpha."""
    model, x = network("fa", reference=True, dropout=0.3), normal(N, F)
    S = operator(directed=True, loops="add")
    assert (np.diag(S) > 0).all()
    X, alpha = adaptive(model, S, velocity=True, eps=np.zeros(STEPS - 1))
    close(model.trajectory(x, awkward()), X)
    edge_index, found = model.attention(x, awkward())
    source, target = edge_index
    assert {(i, i) for i in range(N)} <= set(map(tuple, edge_index.t().tolist()))
    close(found, alpha[:, target.numpy(), source.numpy()])
    assert model.laplacian.attention_dropout == 0.3
    assert sum(p.numel() for p in model.laplacian.parameters()) == STEPS * 2 * D
    assert model.epsilon.tolist() == [0.0] * (STEPS - 1)


def test_preset_on_a_weighted_graph() -> None:
    model, x = network("fa", reference=True), normal(N, F)
    S = operator(directed=True, loops="add", weight=AWKWARD_WEIGHTS.tolist())
    X, _ = adaptive(model, S, velocity=True, eps=np.zeros(STEPS - 1))
    close(model.trajectory(x, awkward(), AWKWARD_WEIGHTS), X)


@pytest.mark.parametrize(
    ("switch", "graph", "velocity"),
    [
        ({}, {}, False),
        ({"self_loops": "add"}, {"loops": "add"}, False),
        ({"self_loops": "keep"}, {"loops": "keep"}, False),
        ({"directed": True}, {"directed": True}, False),
        ({"attention_start": "velocity"}, {}, True),
        ({"attention_dropout": 0.5}, {}, False),  # nothing in evaluation mode
    ],
    ids=str,
)
def test_each_switch_of_gwn_fa_alone(switch: dict[str, Any], graph: dict[str, Any], velocity: bool) -> None:
    model = network("fa", **switch)
    X, _ = adaptive(model, operator(**graph), velocity=velocity, eps=bounded(model))
    close(model.trajectory(normal(N, F), awkward()), X)


@pytest.mark.parametrize("kind", ["free", "none"])
def test_epsilon_alone(kind: str) -> None:
    model = network("fa", epsilon=kind)
    if kind == "free":
        with torch.no_grad():
            model.laplacian.raw_epsilon.copy_(torch.tensor([-2.0, 0.5, 3.0]))
        assert model.epsilon.tolist() == [-2.0, 0.5, 3.0]
    X, _ = adaptive(model, operator(), velocity=False, eps=model.epsilon.detach().numpy())
    close(model.trajectory(normal(N, F), awkward()), X)


@pytest.mark.parametrize("switch", [{"directed": True}, {"self_loops": "keep"}, {"self_loops": "add"}], ids=str)
def test_each_switch_of_gwn_sym_alone(switch: dict[str, Any]) -> None:
    model, x = network("sym", **switch), normal(N, F)
    S = operator(directed=switch.get("directed", False), loops=switch.get("self_loops", "none"))
    X = dense.sym(S, dense.linear(model.phi0, x), dense.linear(model.phi1, x), TAU, STEPS)
    close(model.trajectory(x, awkward()), X)


def test_a_named_option_wins_over_the_preset() -> None:
    model = network("fa", reference=True, directed=False, self_loops="none", epsilon="bounded", attention_dropout=0.1)
    X, _ = adaptive(model, operator(), velocity=True, eps=bounded(model))
    close(model.trajectory(normal(N, F), awkward()), X)
    assert model.laplacian.attention_dropout == 0.1


def test_dropout_on_alpha_changes_training_only() -> None:
    plain, dropped = network("fa", dropout=0.0), network("fa", dropout=0.0, attention_dropout=0.5)
    x = normal(N, F)
    assert torch.equal(plain(x, awkward()), dropped(x, awkward()))
    assert torch.equal(plain.train()(x, awkward()), plain.eval()(x, awkward()))
    assert not torch.equal(dropped.train()(x, awkward()), dropped.eval()(x, awkward()))


def test_the_preset_trains_every_parameter_it_has() -> None:
    model = network("fa", reference=True).train()
    model(normal(N, F), awkward()).square().sum().backward()
    for name, parameter in model.named_parameters():
        if parameter.numel():
            assert parameter.grad is not None, name
            assert bool(parameter.grad.any()), name
