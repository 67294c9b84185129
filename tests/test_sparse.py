"""The sparse products against dense ones, on CSR kernels and on the fallback, and what is remembered of a tensor."""

from __future__ import annotations

import gc
import weakref

import pytest
import torch
from torch import Tensor

from dense import close
from graphs import normal
from gwn.sparse import (
    Pattern,
    SparseMatrix,
    TensorCache,
    addmm_,
    dense_to_csr,
    edge_dot,
    has_csr_kernels,
    matmul,
    row_sums,
    sparse_linear,
)


def some_matrix(rows: int = 6, cols: int = 9, dtype: torch.dtype = torch.float64) -> tuple[Tensor, SparseMatrix]:
    """A rectangular matrix with an empty row and an empty column, dense and sparse."""
    dense = normal(rows, cols, dtype=dtype)
    dense[normal(rows, cols, seed=1) < 0.2] = 0.0
    dense[2], dense[:, 3] = 0.0, 0.0
    return dense, SparseMatrix.from_tensor(dense.to_sparse_csr())


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 1e-5)])
@pytest.mark.parametrize(("beta", "alpha"), [(0.0, 1.0), (1.0, 1.0), (-1.0, 0.5)])
def test_addmm(kernels: str, dtype: torch.dtype, tolerance: float, beta: float, alpha: float) -> None:
    dense, a = some_matrix(dtype=dtype)
    x, out = normal(9, 4, seed=2, dtype=dtype), normal(6, 4, seed=3, dtype=dtype)
    expected = beta * out + alpha * dense @ x
    result = addmm_(out, a, x, beta=beta, alpha=alpha)
    assert result is out
    close(out, expected, tolerance)


def test_products_take_inputs_that_are_not_contiguous(kernels: str) -> None:
    dense, a = some_matrix()
    x = normal(4, 9, seed=2).t()
    close(matmul(a, x), dense @ x)
    close(edge_dot(a.pattern, normal(4, 6).t(), x), (normal(4, 6).t() @ x.t())[dense != 0])


def test_transpose_and_row_sums(kernels: str) -> None:
    dense, a = some_matrix()
    close(a.t.csr.to_dense(), dense.t())
    close(a.t.t.csr.to_dense(), dense)
    close(row_sums(a), dense.sum(1))
    close(row_sums(a.t), dense.sum(0))
    close(matmul(a.t, normal(6, 2)), dense.t() @ normal(6, 2))


def test_edge_dot_is_the_gradient_of_the_values(kernels: str) -> None:
    dense, a = some_matrix()
    x, grad = normal(9, 4, seed=2), normal(6, 4, seed=3)
    dense.requires_grad_()
    (dense @ x).backward(grad)
    assert dense.grad is not None
    close(edge_dot(a.pattern, grad, x), dense.grad[dense != 0])


def test_a_matrix_without_entries(kernels: str) -> None:
    none = torch.empty(0, dtype=torch.long)
    empty = SparseMatrix(Pattern.from_sorted(none, none, (3, 2)), torch.empty(0, dtype=torch.float64))
    close(addmm_(normal(3, 2), empty, normal(2, 2), beta=2.0), 2 * normal(3, 2))
    close(matmul(empty, normal(2, 5)), torch.zeros(3, 5))
    close(row_sums(empty.t), torch.zeros(2))
    assert edge_dot(empty.pattern, normal(3, 2), normal(2, 2)).shape == (0,)


def test_the_transpose_of_a_pattern_is_computed_once() -> None:
    _, a = some_matrix()
    assert a.with_values(a.values * 2).t.pattern is a.t.pattern


def test_kernels_by_device() -> None:
    assert has_csr_kernels(torch.device("cpu"))
    assert has_csr_kernels(torch.device("cuda"))
    assert not has_csr_kernels(torch.device("mps"))


@pytest.mark.parametrize("bias", [True, False])
def test_sparse_linear_has_the_gradients_of_a_dense_one(kernels: str, bias: bool) -> None:
    dense, a = some_matrix()
    weight, offset = normal(9, 4, seed=2).requires_grad_(), normal(4, seed=3).requires_grad_()
    given = offset if bias else None
    wanted = torch.nn.functional.linear(dense, weight.t(), given)
    close(sparse_linear(a, weight, given), wanted)
    leaves = (weight, offset) if bias else (weight,)
    upstream = normal(4, 6, seed=4).t()
    expected = torch.autograd.grad(wanted, leaves, upstream)
    found = torch.autograd.grad(sparse_linear(a, weight, given), leaves, upstream)
    for ours, right in zip(found, expected, strict=True):
        close(ours, right)
    assert torch.autograd.gradcheck(lambda w, b: sparse_linear(a, w, b), (weight, offset))


def test_dense_to_csr_keeps_the_matrix() -> None:
    dense, _ = some_matrix()
    csr = dense_to_csr(dense)
    assert csr.layout == torch.sparse_csr
    assert csr.values().numel() == int(torch.count_nonzero(dense))
    assert torch.equal(csr.to_dense(), dense)


class Thing:
    """Something a weak reference can point at."""


def test_cache_builds_once_for_a_tensor_and_a_key() -> None:
    cache, anchor = TensorCache(), torch.zeros(3)
    first = cache.get(anchor, "a", Thing)
    assert cache.get(anchor, "a", Thing) is first
    assert cache.get(anchor, "b", Thing) is not first
    assert cache.get(anchor, "a", Thing) is first
    assert cache.get(torch.zeros(3), "a", Thing) is not first, "equal tensors are still different tensors"


def test_cache_notices_a_change_in_place() -> None:
    cache, anchor = TensorCache(), torch.zeros(3)
    first = cache.get(anchor, "a", Thing)
    anchor[1] = 5.0
    second = cache.get(anchor, "a", Thing)
    assert second is not first
    assert cache.get(anchor, "a", Thing) is second


def test_cache_lets_go_with_the_tensor() -> None:
    cache, anchor = TensorCache(), torch.zeros(3)
    value = weakref.ref(cache.get(anchor, "a", Thing))
    assert value() is not None
    del anchor
    gc.collect()
    assert value() is None
    assert cache._entries == {}


def test_cache_is_not_fooled_by_many_short_lived_tensors() -> None:
    cache = TensorCache()
    for number in range(200):  # ids are reused as soon as a tensor dies
        anchor = torch.tensor([number])
        assert cache.get(anchor, "a", lambda here=anchor: int(here)) == number  # type: ignore[misc]
    assert len(cache._entries) == 1


def test_cache_keeps_nothing_for_tensors_made_in_inference_mode() -> None:
    cache = TensorCache()
    with torch.inference_mode():
        anchor = torch.zeros(3)
        assert cache.get(anchor, "a", lambda: int(anchor[0])) == 0
        anchor[0] = 5.0  # nobody can see that it was changed
        assert cache.get(anchor, "a", lambda: int(anchor[0])) == 5
    assert cache._entries == {}


def test_what_is_kept_in_inference_mode_may_be_trained_with() -> None:
    cache, anchor = TensorCache(), torch.ones(3)
    with torch.inference_mode():
        kept = cache.get(anchor, "a", lambda: anchor * 2)
        assert torch.is_inference_mode_enabled()
    assert not kept.is_inference()
    with torch.no_grad():
        cache.get(anchor, "b", lambda: anchor * 2)
        assert not torch.is_grad_enabled()
