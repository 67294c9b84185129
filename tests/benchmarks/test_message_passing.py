"""The message-passing version is the same function as ours: otherwise dividing by it would mean nothing."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from benchmarks.competitors import PeerGAT, PeerGCN, csr_adjacency
from benchmarks.message_passing import from_gwn, renamed
from benchmarks.problem import uniform_graph
from gwn import GWN
from gwn.errors import GWNError
from gwn.graph import Graph
from seeds import reseed


def with_isolated_nodes() -> Graph:
    """Undirected and simple; forty edges between fifty nodes leave some alone."""
    return uniform_graph(50, 40, features=12).to(dtype=torch.float64)


def gradients(model: torch.nn.Module, graph: Graph) -> tuple[Tensor, dict[str, Tensor]]:
    logits = model(graph.x, graph.edge_index)
    F.cross_entropy(logits[::2], graph.labels[::2]).backward()  # type: ignore[no-untyped-call]
    return logits.detach(), {name: p.grad for name, p in model.named_parameters() if p.grad is not None}


@pytest.mark.parametrize("laplacian", ["sym", "fa"])
@pytest.mark.parametrize(("time", "tau"), [(1.0, 1.0), (5.0, 1.0), (2.0, 0.4)])
def test_same_function_and_same_gradients_as_ours(laplacian: str, time: float, tau: float) -> None:
    graph = with_isolated_nodes()
    assert graph.edge_index.unique().numel() < graph.num_nodes  # type: ignore[no-untyped-call]
    reseed(0)
    ours = GWN(12, 8, 4, laplacian=laplacian, time=time, tau=tau, dropout=0.0).double()
    plain = from_gwn(ours)
    (expected, ours_grad), (found, plain_grad) = gradients(ours, graph), gradients(plain, graph)
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-10)
    expected_grad = {name: grad for name, grad in renamed(ours_grad).items() if grad.numel() > 0}  # no eps of one step
    torch.testing.assert_close(plain_grad, expected_grad, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("laplacian", ["sym", "fa"])
def test_it_drops_out_in_training_and_not_in_evaluation(laplacian: str) -> None:
    graph = with_isolated_nodes()
    ours = GWN(12, 8, 4, laplacian=laplacian, time=3.0, dropout=0.5).double().eval()
    plain = from_gwn(ours).eval()
    expected = ours(graph.x, graph.edge_index)
    torch.testing.assert_close(plain(graph.x, graph.edge_index), expected, rtol=1e-10, atol=1e-10)
    assert not torch.allclose(plain.train()(graph.x, graph.edge_index), expected)


def test_weighted_graphs_are_refused() -> None:
    graph = with_isolated_nodes()
    plain = from_gwn(GWN(12, 8, 4).double())
    with pytest.raises(GWNError, match="without edge weights"):
        plain(graph.x, graph.edge_index, torch.ones(graph.num_edges))


@pytest.mark.parametrize(("network", "heads"), [(PeerGCN, 0), (PeerGAT, 8)])
def test_peers_are_two_layers_of_the_width_asked_for(network: type[PeerGCN | PeerGAT], heads: int) -> None:
    graph = with_isolated_nodes()
    model = network(12, 64, 4).double()
    assert model(graph.x, graph.edge_index).shape == (50, 4)
    first = model.first.out_channels
    assert (first * heads if heads else first) == 64


@pytest.mark.parametrize("network", [PeerGCN, PeerGAT])
def test_the_fastest_way_of_a_peer_is_the_same_function(network: type[PeerGCN | PeerGAT]) -> None:
    graph = with_isolated_nodes()
    reseed(0)
    model = network(12, 64, 4, dropout=0.0).double()
    (expected, slow_grad) = gradients(model, graph)
    edges = csr_adjacency(graph) if network is PeerGCN else graph.edge_index
    fast = network(12, 64, 4, dropout=0.0).double()  # the normalisation of the first is cached
    fast.load_state_dict(model.state_dict())
    found = fast(graph.x.to_sparse_csr(), edges.to(torch.float64) if network is PeerGCN else edges)
    F.cross_entropy(found[::2], graph.labels[::2]).backward()  # type: ignore[no-untyped-call]
    torch.testing.assert_close(found.detach(), expected, rtol=1e-10, atol=1e-10)
    fast_grad = {name: p.grad for name, p in fast.named_parameters() if p.grad is not None}
    torch.testing.assert_close(fast_grad, slow_grad, rtol=1e-10, atol=1e-10)
