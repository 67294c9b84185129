"""alpha ⊙ S: alpha by hand, eps where it belongs, masks that come back the same on the way back."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import dense
from dense import close
from graphs import AWKWARD_NODES, awkward, normal
from gwn import GWNError
from gwn.adjacency import Adjacency, normalised_adjacency
from gwn.laplacians import FrequencyAdaptive, Step
from gwn.laplacians.attention import AttentionOperator
from seeds import reseed

N = AWKWARD_NODES


def adjacency(directed: bool = False, self_loops: str = "none") -> Adjacency:
    return normalised_adjacency(awkward(), None, N, dtype=torch.float64, directed=directed, self_loops=self_loops)


def entries(a: Adjacency, values: torch.Tensor) -> np.ndarray:
    """Values on the pattern as a dense matrix, rows are targets."""
    return a.matrix.with_values(values).csr.to_dense().numpy()


@pytest.mark.parametrize("directed", [False, True])
def test_alpha_is_tanh_of_g_on_target_then_source(directed: bool) -> None:
    a, g, x = adjacency(directed, "keep"), normal(2, 2, 3, seed=1), normal(N, 3)
    operator = AttentionOperator(a, g)
    for n in (0, 1):
        expected = dense.attention(g[n].reshape(-1).numpy(), x.numpy())
        places = entries(a, a.is_edge.double()) != 0
        assert places.any()
        close(entries(a, operator.alpha(n, x))[places], expected[places])


def test_a_step_adds_eps_x0_only_with_a_source() -> None:
    a, g, eps = adjacency(), normal(3, 2, 4, seed=1), torch.tensor([0.25, 0.75], dtype=torch.float64)
    x, before, x0 = normal(N, 4), normal(N, 4, seed=2), normal(N, 4, seed=3)
    operator = AttentionOperator(a, g, eps)
    S = dense.normalise(dense.adjacency(awkward(), N))
    for n, source, factor in ((0, 0.0, 0.0), (1, 1.0, 0.25), (2, 1.0, 0.75), (2, 0.5, 0.375)):
        alpha = dense.attention(g[n].reshape(-1).numpy(), x.numpy())
        expected = 2 * x.numpy() - before.numpy() + 0.3 * (alpha * S) @ x.numpy() + factor * x0.numpy()
        step = Step(x=2.0, x_prev=-1.0, force=0.3, source=source)
        close(operator.advance_(n, step, x, before.clone(), x0), expected)


@pytest.mark.parametrize("steps", [1, 2, 7])
def test_parameters_of_the_paper(steps: int) -> None:
    laplacian = FrequencyAdaptive(channels=5, steps=steps)
    assert laplacian.g.shape == (steps, 2, 5)  # g(n) in R^2d for every step
    assert laplacian.epsilon.shape == (steps - 1,)  # the first step has none
    assert laplacian.g.abs().max().item() <= 5**-0.5


def test_bounded_epsilon_stays_between_zero_and_one() -> None:
    laplacian = FrequencyAdaptive(channels=2, steps=400)
    assert bool(((laplacian.epsilon > 0) & (laplacian.epsilon < 1)).all())
    assert 0.4 < laplacian.epsilon.mean().item() < 0.6
    assert laplacian.epsilon.std().item() == pytest.approx(12**-0.5, abs=0.05), "uniform, not all the same"
    with torch.no_grad():
        laplacian.raw_epsilon.fill_(10.0)
    assert bool((laplacian.epsilon < 1).all())


def test_free_epsilon_starts_in_zero_one_and_may_leave_it() -> None:
    laplacian = FrequencyAdaptive(channels=2, steps=100, epsilon="free")
    assert bool(((laplacian.epsilon > 0) & (laplacian.epsilon < 1)).all())
    with torch.no_grad():
        laplacian.raw_epsilon.fill_(-3.0)
    assert laplacian.epsilon[0].item() == -3.0


def test_no_epsilon_has_no_parameter_and_no_effect() -> None:
    laplacian = FrequencyAdaptive(channels=2, steps=4, epsilon="none")
    assert sum(p.numel() for p in laplacian.parameters()) == 4 * 2 * 2
    assert laplacian.epsilon.tolist() == [0.0, 0.0, 0.0]
    assert laplacian.on(adjacency()).epsilon is None


def test_reset_draws_anew() -> None:
    laplacian = FrequencyAdaptive(channels=2, steps=4)
    before = [p.detach().clone() for p in laplacian.parameters()]
    laplacian.reset_parameters()
    assert all(bool((a != b).all()) for a, b in zip(before, laplacian.parameters(), strict=True))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epsilon": "bound"}, "did you mean 'bounded'"),
        ({"attention_start": "position"}, "unknown attention_start 'position'"),
        ({"attention_dropout": 1.0}, r"attention_dropout must be in \[0, 1\); got 1.0"),
        ({"attention_dropout": -0.1}, r"attention_dropout must be in \[0, 1\)"),
    ],
)
def test_mistakes_are_named(options: dict[str, object], message: str) -> None:
    with pytest.raises(GWNError, match=message):
        FrequencyAdaptive(4, 3, **options)  # type: ignore[arg-type]


# Dropout on alpha


def test_dropout_is_off_in_evaluation_mode() -> None:
    laplacian = FrequencyAdaptive(3, 2, attention_dropout=0.5).double()
    assert laplacian.train().on(adjacency()).dropout == 0.5
    assert laplacian.eval().on(adjacency()).dropout == 0.0


def applied(operator: AttentionOperator, n: int, x: torch.Tensor) -> torch.Tensor:
    """`alpha(n) ⊙ S` with this step's mask, read off by applying it to unit vectors: x is [N, N + d]."""
    step = Step(x=0.0, x_prev=0.0, force=1.0)
    return operator.advance_(n, step, x, torch.zeros_like(x), x)[:, :N]


def with_unit_vectors(channels: int) -> torch.Tensor:
    """[I || random]: the first N channels are unit vectors, which g ignores below."""
    return torch.cat([torch.eye(N, dtype=torch.float64), normal(N, channels, seed=1)], dim=1)


def ignoring_unit_vectors(steps: int, channels: int) -> torch.Tensor:
    return torch.cat([torch.zeros(steps, 2, N, dtype=torch.float64), normal(steps, 2, channels)], dim=2)


def test_the_mask_of_a_step_is_drawn_again_but_steps_and_passes_differ() -> None:
    reseed(0)
    a, g, x = adjacency(self_loops="add"), ignoring_unit_vectors(3, 3), with_unit_vectors(3)
    operator, other = AttentionOperator(a, g, dropout=0.5), AttentionOperator(a, g, dropout=0.5)
    first = applied(operator, 1, x)
    assert torch.equal(first, applied(operator, 1, x))
    assert not torch.equal(first == 0, applied(operator, 2, x) == 0)
    assert not torch.equal(first == 0, applied(other, 1, x) == 0)


def test_the_mask_keeps_the_expectation() -> None:
    a, g, x = adjacency(self_loops="add"), ignoring_unit_vectors(1, 3), with_unit_vectors(3)
    operator = AttentionOperator(a, g, dropout=0.3)
    full = applied(AttentionOperator(a, g), 0, x)
    edges, dropped = full != 0, []
    plain = full[edges]
    for seed in range(2000):
        operator.seed = seed
        dropped.append(applied(operator, 0, x)[edges])
    values = torch.stack(dropped)
    kept = values != 0
    close(values[kept], (plain / 0.7).expand_as(values)[kept], 2e-5)  # p is rounded to 1 / 65536
    assert float(kept.double().mean()) == pytest.approx(0.7, abs=0.01)
    assert bool(((values.mean(0) / plain - 1).abs() < 0.08).all())
