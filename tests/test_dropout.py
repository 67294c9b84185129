"""Dropout with cheap random numbers: still zero or 1 / (1 - p), independent, and right on average."""

from __future__ import annotations

import pytest
import torch

from dense import close
from graphs import normal
from gwn.dropout import dropout, dropout_mask, numbered_mask
from seeds import reseed


def test_nothing_happens_outside_training_or_with_p_zero() -> None:
    x = normal(5, 3)
    assert dropout(x, 0.5, training=False) is x
    assert dropout(x, 0.0, training=True) is x


@pytest.mark.parametrize("p", [0.1, 0.5, 0.75, 0.999])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_entries_are_zero_or_scaled_and_keep_their_expectation(p: float, dtype: torch.dtype) -> None:
    reseed(0)
    mask = dropout_mask(torch.empty(400, 501, dtype=dtype), p)
    assert mask.shape == (400, 501)
    assert mask.dtype == dtype
    zero, scale = mask.unique().tolist()
    kept = (mask != 0).double().mean().item()
    assert zero == 0.0
    assert scale == pytest.approx(1 / (1 - p), rel=1e-2)
    assert scale * round((1 - p) * 65536) == pytest.approx(65536, rel=1e-6), "the scale is that of the rounded p"
    assert kept == pytest.approx(1 - p, abs=6 * (p * (1 - p) / mask.numel()) ** 0.5 + 1e-5)


def test_neighbours_are_independent() -> None:
    """Four entries share one draw; knowing one must say nothing about the next."""
    reseed(0)
    kept = (dropout_mask(torch.empty(400_000), 0.5) != 0).double()
    for distance in range(1, 9):
        assert abs(torch.corrcoef(torch.stack([kept[:-distance], kept[distance:]]))[0, 1].item()) < 6 / 400_000**0.5
    for place in range(4):
        assert kept[place::4].mean().item() == pytest.approx(0.5, abs=6 * 0.5 / 100_000**0.5)


def test_p_too_small_to_round_drops_nothing() -> None:
    assert torch.equal(dropout_mask(torch.empty(100), 1e-9), torch.ones(100))


def test_any_shape() -> None:
    for shape in ((0,), (1,), (3,), (2, 3), (0, 4), (5, 1, 2)):
        assert dropout(torch.ones(shape), 0.5, training=True).shape == shape
    x = normal(6, 4).t()
    assert dropout(x, 0.5, training=True).shape == x.shape


def test_the_seed_decides() -> None:
    x = torch.ones(100)
    reseed(3)
    first, second = dropout(x, 0.5, True), dropout(x, 0.5, True)
    reseed(3)
    assert torch.equal(dropout(x, 0.5, True), first)
    assert not torch.equal(first, second)
    masks = [dropout_mask(x, 0.5, torch.Generator().manual_seed(seed)) for seed in (1, 1, 2)]
    assert torch.equal(masks[0], masks[1])
    assert not torch.equal(masks[0], masks[2])


def test_the_gradient_passes_where_the_entry_did() -> None:
    x = normal(50, 4).requires_grad_()
    out = dropout(x, 0.3, training=True)
    (gradient,) = torch.autograd.grad(out.sum(), x)
    close(gradient * x, out, 1e-14)


def test_numbered_masks_do_not_depend_on_the_rows_at_hand() -> None:
    whole, numbers = torch.ones(4000, 30), torch.arange(4000)
    reseed(0)
    mask = numbered_mask(whole, 0.3, numbers)
    assert abs(float(mask.mean()) - 1) < 0.01
    assert float(mask.mean(0).std()) < 0.03  # columns and rows are alike
    assert set(mask.unique().tolist()) == {0.0, mask.max().item()}
    rows = torch.tensor([3999, 5, 17])
    reseed(0)
    assert torch.equal(numbered_mask(whole[rows], 0.3, numbers[rows]), mask[rows])
    assert not torch.equal(numbered_mask(whole, 0.3, numbers), mask)  # every call draws anew
    neighbours = (mask[1:] > 0) == (mask[:-1] > 0)
    assert abs(float(neighbours.float().mean()) - 0.58) < 0.01  # 0.7² + 0.3²: independent


def test_dropout_draws_by_the_numbers_it_is_given() -> None:
    x, numbers = torch.ones(6, 5), torch.tensor([4, 2, 9, 0, 1, 7])
    reseed(0)
    drawn = dropout(x, 0.5, training=True, numbers=numbers)
    reseed(0)
    assert torch.equal(drawn, numbered_mask(x, 0.5, numbers))
    assert torch.equal(dropout(x, 0.5, training=False, numbers=numbers), x)
