"""Compiled kernels: the same numbers as PyTorch's, bit for bit from run to run and whatever the number of threads."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

import gwn.kernels
from benchmarks.problem import uniform_graph
from gwn import GWN
from gwn.adjacency import adjacency_of
from gwn.dropout import kept_entries
from gwn.errors import GWNError
from gwn.graph import Graph
from gwn.networks.feedforward import drop_features
from gwn.sparse import SparseMatrix
from gwn.training.loop import node_loss
from seeds import reseed

pytest.importorskip("numba")


@pytest.fixture
def graph() -> Graph:
    """Sparse features; four nodes in a thousand are alone."""
    found = uniform_graph(1000, 2700, features=40)
    return Graph(x=F.relu(found.x - 0.7), edge_index=found.edge_index, y=found.y)


def compile_everything(monkeypatch: pytest.MonkeyPatch, on: bool) -> None:
    monkeypatch.setattr(gwn.kernels, "SMALLEST", 0 if on else 1 << 62)


def gradients(model: GWN, graph: Graph, x: Tensor) -> dict[str, Tensor]:
    """The loss and all gradients of one training step, with the same random numbers every time."""
    model.zero_grad()
    torch.manual_seed(1)
    loss = node_loss(model.train(), Graph(x=x, edge_index=graph.edge_index, y=graph.y), torch.arange(0, 1000, 3))
    loss.backward()
    return {"loss": loss.detach(), **{n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None}}


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    "options",
    [
        {"laplacian": "sym"},
        {"laplacian": "sym", "directed": True},
        {"laplacian": "fa"},
        {"laplacian": "fa", "reference": True},
        {"laplacian": "fa", "time": 0.9, "tau": 0.05},  # 18 steps: states are computed again
        {"laplacian": "fa-symmetric"},
    ],
    ids=["sym", "directed", "fa", "fa of the authors", "checkpoints", "fa-symmetric"],
)
def test_a_training_step_is_the_same(
    graph: Graph, monkeypatch: pytest.MonkeyPatch, options: dict[str, object], sparse: bool
) -> None:
    reseed(0)
    model = GWN(40, 8, 4, **{"time": 3.0, "dropout": 0.5, **options}).double()  # type: ignore[arg-type]
    x = graph.x.double()
    x = x.to_sparse_csr() if sparse else x
    compile_everything(monkeypatch, on=False)
    expected = gradients(model, graph, x)
    compile_everything(monkeypatch, on=True)
    found = gradients(model, graph, x)
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-12)


def test_the_same_bits_whatever_the_number_of_threads(graph: Graph) -> None:
    pattern = adjacency_of(graph.edge_index, None, 1000, dtype=torch.float32).matrix.pattern
    before, found = torch.get_num_threads(), []
    try:
        for threads in (1, 2, 3, 1):
            torch.set_num_threads(threads)
            torch.manual_seed(0)
            values, x = torch.rand(pattern.nnz), torch.rand(1000, 33)
            first, second = gwn.kernels.attention(pattern, values, x[:, 0].contiguous(), x[:, 1].contiguous())
            out = torch.ones_like(x)
            other = gwn.kernels.add_two_products_(pattern, first, second, x, out, beta=2.0, diagonal=0.5)
            sums = gwn.kernels.pull_back_(
                pattern, first, second, x, other, x, x[:2], out, beta=-1.0, diagonal=2.0, add=True
            )
            found.append((other, out, sums, gwn.kernels.transposed_product(pattern, values, x)))
    finally:
        torch.set_num_threads(before)
    for results in found[1:]:
        assert all(torch.equal(a, b) for a, b in zip(results, found[0], strict=True))


@pytest.mark.parametrize("laplacian", ["sym", "fa"])
@pytest.mark.parametrize("width", [3, 64])
def test_rows_that_are_asked_for_early_change_nothing(
    graph: Graph, monkeypatch: pytest.MonkeyPatch, laplacian: str, width: int
) -> None:
    """Whatever the type of the numbers, and though the last rows have nothing after them to ask for."""
    compile_everything(monkeypatch, True)
    for dtype in (torch.float32, torch.float64):
        torch.manual_seed(0)
        model = GWN(graph.num_features, width, 4, laplacian=laplacian, time=3.0, tau=1.0, dropout=0.5).to(dtype)
        plain = gradients(model, graph, graph.x.to(dtype))
        with monkeypatch.context() as patch:
            patch.setattr(gwn.kernels, "CACHED", 0)
            patch.setattr(gwn.kernels, "LONG_ROW", 1 << 20)
            assert gwn.kernels._ahead(graph.x) is not None
            early = gradients(model, graph, graph.x.to(dtype))
        assert all(torch.equal(early[name], value) for name, value in plain.items())


def test_rows_are_asked_for_where_they_may_be_far() -> None:
    assert gwn.kernels._ahead(torch.empty(1000, 64)) is None
    assert gwn.kernels._ahead(torch.empty(100_000, 64)) is not None
    assert gwn.kernels._ahead(torch.empty(100_000, 65)) is None


def test_dropped_entries_are_those_of_dropout(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same random numbers with compiled kernels and without: for dense features, and for the stored values."""
    for x in (graph.x, graph.x.to_sparse_csr()):
        compile_everything(monkeypatch, on=False)
        torch.manual_seed(2)
        expected = drop_features(x, 0.6, True)
        compile_everything(monkeypatch, on=True)
        torch.manual_seed(2)
        found = drop_features(x, 0.6, True)
        assert isinstance(found, SparseMatrix)
        dense = expected.csr.to_dense() if isinstance(expected, SparseMatrix) else expected
        assert torch.equal(found.csr.to_dense(), dense)
        assert found.pattern.nnz == int(torch.count_nonzero(dense))
    matrix = SparseMatrix.from_tensor(graph.x.to_sparse_csr())
    assert kept_entries(matrix, matrix.values, 1e-7) is matrix


def test_features_that_stay_many_stay_dense(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_everything(monkeypatch, on=True)
    assert isinstance(drop_features(graph.x, 0.1, True), Tensor)
    assert isinstance(drop_features(graph.x, 0.5, False), Tensor)


def test_tanh_in_single_precision() -> None:
    z = np.linspace(-30, 30, 200_001, dtype=np.float32)
    pattern = SparseMatrix.from_tensor(torch.ones(z.size, 1).to_sparse_csr()).pattern
    values, slopes = gwn.kernels.attention(pattern, torch.ones(z.size), torch.from_numpy(z), torch.zeros(1))
    expected = np.tanh(z.astype(np.float64))
    np.testing.assert_allclose(values.numpy(), expected, rtol=5e-7, atol=0)
    np.testing.assert_allclose(slopes.numpy(), 1 - expected**2, rtol=0, atol=5e-7)


def test_what_cannot_be_compiled_is_left_to_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    compile_everything(monkeypatch, on=True)
    x = torch.rand(4, 6)
    assert gwn.kernels.usable(1, 1, x)
    assert not gwn.kernels.usable(1, 1, x.t())
    assert not gwn.kernels.usable(1, 1, x.half())
    assert not gwn.kernels.usable(1, 1, x, x.double())
    assert not gwn.kernels.usable(1, 1, x.to("meta"))


@pytest.mark.parametrize(("chosen", "there"), [("auto", True), ("torch", False)])
def test_they_can_be_switched_off(monkeypatch: pytest.MonkeyPatch, chosen: str, there: bool) -> None:
    monkeypatch.setenv("GWN_KERNELS", chosen)
    assert gwn.kernels._installed.__wrapped__() is there


def test_an_unknown_choice_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GWN_KERNELS", "fast")
    with pytest.raises(GWNError, match="GWN_KERNELS must be one of auto, torch; got 'fast'"):
        gwn.kernels._installed.__wrapped__()
