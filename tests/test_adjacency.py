"""S = D^-1/2 A D^-1/2 against its definition, for every way a graph can be given; built once, kept, let go."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

import dense
import gwn.adjacency
from dense import close
from graphs import AWKWARD_NODES, AWKWARD_WEIGHTS, NO_EDGES, awkward, edge_lists, edges
from gwn import GWNError
from gwn.adjacency import Adjacency, adjacency_of, normalised_adjacency
from tolerance import rounding


def build(edge_index: Tensor, nodes: int, weight: Tensor | None = None, **options: object) -> Adjacency:
    return normalised_adjacency(edge_index, weight, nodes, dtype=torch.float64, **options)  # type: ignore[arg-type]


def matrix(adjacency: Adjacency) -> np.ndarray:
    return adjacency.matrix.csr.to_dense().numpy()


@pytest.mark.parametrize("self_loops", ["none", "keep", "add"])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_its_definition(self_loops: str, directed: bool, weighted: bool) -> None:
    weight = AWKWARD_WEIGHTS if weighted else None
    found = build(awkward(), AWKWARD_NODES, weight, directed=directed, self_loops=self_loops)
    A = dense.adjacency(awkward(), AWKWARD_NODES, weight, directed, self_loops)
    close(matrix(found), dense.normalise(A), 1e-14)
    assert found.symmetric is not directed


def test_a_triangle_by_hand() -> None:
    # degrees 2, 2, 3, 1: S_23 = 1 / sqrt(3), S_01 = 1 / 2, S_02 = 1 / sqrt(6)
    S = matrix(build(edges((0, 1), (1, 2), (0, 2), (2, 3)), 4))
    assert S[2, 3] == pytest.approx(3**-0.5)
    assert S[0, 1] == pytest.approx(0.5)
    assert S[2, 0] == pytest.approx(6**-0.5)
    assert S[0, 3] == 0


def test_directed_edges_use_the_in_degree_on_both_sides() -> None:
    # 0 -> 2, 1 -> 2, 2 -> 0: in-degrees 1, 0, 2; node 1 has none, so its message vanishes
    S = matrix(build(edges((0, 2), (1, 2), (2, 0)), 3, directed=True))
    close(S, [[0, 0, 2**-0.5], [0, 0, 0], [2**-0.5, 0, 0]])


def test_arcs_from_a_node_without_in_arcs_stay_in_plain_and_random_walk() -> None:
    # 0 -> 1, 1 -> 2, 2 -> 1: node 0 has no in-arc, so S has no entry for its arc, but A and P have
    found = build(edges((0, 1), (1, 2), (2, 1)), 3, directed=True)
    assert found.plain.csr.to_dense().tolist() == [[0, 0, 0], [1, 0, 1], [0, 1, 0]]
    assert matrix(found.random_walk).tolist() == [[0, 0, 0], [0.5, 0, 0.5], [0, 1, 0]]


@pytest.mark.parametrize("self_loops", ["none", "keep", "add"])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_plain_is_a_and_random_walk_divides_its_rows(self_loops: str, directed: bool, weighted: bool) -> None:
    weight = AWKWARD_WEIGHTS if weighted else None
    found = build(awkward(), AWKWARD_NODES, weight, directed=directed, self_loops=self_loops)
    A = dense.adjacency(awkward(), AWKWARD_NODES, weight, directed, self_loops)
    close(found.plain.csr.to_dense(), A, rounding(4))
    sums = A.sum(1, keepdims=True)
    close(matrix(found.random_walk), np.divide(A, sums, out=np.zeros_like(A), where=sums > 0), rounding(4))


def test_an_undirected_graph_keeps_no_second_copy_of_its_weights() -> None:
    assert build(awkward(), AWKWARD_NODES, AWKWARD_WEIGHTS).weight is None


def test_repeated_edges_count_once_and_their_weights_add_up() -> None:
    twice, once = edges((0, 1), (0, 1), (1, 2)), edges((0, 1), (1, 2))
    close(matrix(build(twice, 3)), matrix(build(once, 3)))
    added = build(twice, 3, torch.tensor([1.0, 2.0, 3.0]))
    close(matrix(added), matrix(build(once, 3, torch.tensor([3.0, 3.0]))))


def test_weight_one_everywhere_is_no_weight() -> None:
    pairs = edges((0, 1), (1, 0), (1, 2), (2, 1))
    close(matrix(build(pairs, 3, torch.ones(4))), matrix(build(pairs, 3)))


def test_edges_of_weight_zero_are_no_edges() -> None:
    found = build(edges((0, 1), (1, 2)), 3, torch.tensor([0.0, 1.0]))
    assert sorted(map(tuple, found.edge_index.t().tolist())) == [(1, 2), (2, 1)]
    close(matrix(found), [[0, 0, 0], [0, 0, 1], [0, 1, 0]])


def test_edge_index_is_source_target_as_the_caller_has_it() -> None:
    found = build(edges((0, 1), (2, 1), (1, 1)), 3, directed=True, self_loops="keep")
    assert sorted(map(tuple, found.edge_index.t().tolist())) == [(0, 1), (1, 1), (2, 1)]


def test_no_edges_and_a_single_node() -> None:
    for nodes in (1, 3):
        found = build(NO_EDGES, nodes)
        close(matrix(found), np.zeros((nodes, nodes)))
        assert found.edge_index.shape == (2, 0)
        close(matrix(build(NO_EDGES, nodes, self_loops="add")), np.eye(nodes))


def test_affine_is_what_it_says_and_is_kept() -> None:
    found = build(awkward(), AWKWARD_NODES, directed=True, self_loops="keep")
    close(found.affine(2.0, -0.25).csr.to_dense(), 2 * np.eye(AWKWARD_NODES) - 0.25 * matrix(found))
    assert found.affine(2.0, -0.25) is found.affine(2.0, -0.25)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_dtype(dtype: torch.dtype) -> None:
    found = normalised_adjacency(awkward(), None, AWKWARD_NODES, dtype=dtype)
    assert found.matrix.dtype == found.eye.dtype == dtype


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("weighted", [False, True])
def test_short_types_hold_the_result_and_do_not_add_it_up(dtype: torch.dtype, weighted: bool) -> None:
    """A star of 4000 rays: 256 + 1 is 256 in bfloat16, 2048 + 1 is 2048 in float16."""
    star = torch.stack([torch.zeros(4000, dtype=torch.long), torch.arange(1, 4001)])
    weight = torch.linspace(0.5, 1.5, 4000) if weighted else None
    exact = normalised_adjacency(star, weight, 4001, dtype=torch.float64)
    found = normalised_adjacency(star, weight, 4001, dtype=dtype)
    assert found.matrix.dtype == found.eye.dtype == found.degree.dtype == dtype
    torch.testing.assert_close(found.degree.double(), exact.degree, rtol=torch.finfo(dtype).eps, atol=0)
    torch.testing.assert_close(found.matrix.values.double(), exact.matrix.values, rtol=torch.finfo(dtype).eps, atol=0)


def test_int32_edges_are_the_same_edges() -> None:
    close(matrix(build(awkward().int(), AWKWARD_NODES)), matrix(build(awkward(), AWKWARD_NODES)))


def test_mistakes_are_named() -> None:
    with pytest.raises(GWNError, match="unknown self_loops 'ad'; did you mean 'add'"):
        build(awkward(), AWKWARD_NODES, self_loops="ad")
    with pytest.raises(GWNError, match="detach"):
        build(edges((0, 1)), 2, torch.ones(1, requires_grad=True))


@pytest.mark.parametrize("pair", [(0, 3), (3, 0), (-1, 0)])
def test_an_edge_to_a_node_that_is_not_there_is_refused(pair: tuple[int, int]) -> None:
    with pytest.raises(GWNError, match=r"node (3|-1), but the nodes are 0 \.\.\. 2"):
        build(edges((0, 1), pair), 3)


@pytest.mark.parametrize("weight", [[1.0, -1.0], [1.0, float("nan")], [1.0], [[1.0], [1.0]]])
def test_weights_that_make_no_operator_are_refused(weight: list[float]) -> None:
    with pytest.raises(GWNError, match=r"weight"):
        build(edges((0, 1), (1, 2)), 3, torch.tensor(weight))


# Properties of S on any graph


@given(edge_lists())
def test_s_is_symmetric_with_spectrum_between_minus_one_and_one(graph: tuple[int, Tensor]) -> None:
    nodes, edge_index = graph
    for self_loops in ("none", "keep", "add"):
        S = matrix(build(edge_index, nodes, self_loops=self_loops))
        assert np.array_equal(S, S.T)
        assert np.abs(np.linalg.eigvalsh(S)).max() <= 1 + 1e-12


@given(edge_lists())
def test_sqrt_degree_is_an_eigenvector_of_eigenvalue_one(graph: tuple[int, Tensor]) -> None:
    nodes, edge_index = graph
    S = matrix(build(edge_index, nodes))
    root = np.sqrt(dense.adjacency(edge_index, nodes).sum(1))
    close(S @ root, root)


@given(edge_lists())
def test_rows_of_isolated_nodes_are_zero(graph: tuple[int, Tensor]) -> None:
    nodes, edge_index = graph
    S = matrix(build(edge_index, nodes))
    proper = edge_index[:, edge_index[0] != edge_index[1]]
    for node in set(range(nodes)) - set(proper.flatten().tolist()):
        assert not S[node].any()
        assert not S[:, node].any()


@given(edge_lists(), st.sampled_from(["none", "keep", "add"]), st.booleans(), st.randoms(use_true_random=False))
def test_any_graph_equals_the_definition(graph: tuple[int, Tensor], loops: str, directed: bool, random) -> None:  # type: ignore[no-untyped-def]
    nodes, edge_index = graph
    weight = torch.tensor([random.uniform(0.1, 3.0) for _ in range(edge_index.shape[1])], dtype=torch.float64)
    for given_weight in (None, weight):
        found = build(edge_index, nodes, given_weight, directed=directed, self_loops=loops)
        close(matrix(found), dense.normalise(dense.adjacency(edge_index, nodes, given_weight, directed, loops)), 1e-13)


# Built once per graph


def cached(edge_index: Tensor, weight: Tensor | None, nodes: int, **options: object) -> Adjacency:
    return adjacency_of(edge_index, weight, nodes, **{"dtype": torch.float32, **options})  # type: ignore[arg-type]


def test_the_same_edges_give_the_same_operator() -> None:
    edge_index = awkward()
    first = cached(edge_index, None, AWKWARD_NODES)
    assert cached(edge_index, None, AWKWARD_NODES) is first
    for other in ({"directed": True}, {"self_loops": "add"}, {"dtype": torch.float64}):
        assert cached(edge_index, None, AWKWARD_NODES, **other) is not first
    assert cached(edge_index, None, AWKWARD_NODES + 1) is not first
    assert cached(edge_index, None, AWKWARD_NODES) is first


def test_edges_changed_in_place_give_a_new_operator() -> None:
    edge_index = edges((0, 1), (1, 2))
    before = cached(edge_index, None, 3)
    edge_index[1, 1] = 0
    after = cached(edge_index, None, 3)
    assert after is not before
    assert sorted(map(tuple, after.edge_index.t().tolist())) == [(0, 1), (1, 0)]


def test_weights_decide_too() -> None:
    edge_index, weight = edges((0, 1), (1, 2)), torch.tensor([1.0, 2.0])
    plain, weighted = cached(edge_index, None, 3), cached(edge_index, weight, 3)
    assert weighted is not plain
    assert cached(edge_index, weight, 3) is weighted
    assert cached(edge_index, None, 3) is plain
    assert cached(edge_index, torch.tensor([5.0, 1.0]), 3) is not weighted
    weight[0] = 7.0
    changed = cached(edge_index, weight, 3)
    assert changed is not weighted
    close(matrix(changed), matrix(normalised_adjacency(edge_index, torch.tensor([7.0, 2.0]), 3)), 1e-6)


def test_weights_that_come_to_want_a_gradient_are_refused_though_their_operator_is_known() -> None:
    edge_index, weight = edges((0, 1), (1, 2)), torch.tensor([1.0, 2.0])
    cached(edge_index, weight, 3)
    with pytest.raises(GWNError, match="requires a gradient"):
        cached(edge_index, weight.requires_grad_(), 3)


def test_a_loop_of_weight_zero_is_none() -> None:
    """SciPy's `setdiag(0)` stores them."""
    weight = torch.tensor([2.0, 0.0, 0.0])
    found = normalised_adjacency(edges((0, 1), (0, 0), (2, 2)), weight, 3, self_loops="add")
    expected = normalised_adjacency(edges((0, 1)), weight[:1], 3, self_loops="add")
    close(matrix(found), matrix(expected), 1e-6)
    assert matrix(found)[2][2] == 1.0


def test_autocast_is_refused_in_one_line() -> None:
    with torch.autocast("cpu", torch.bfloat16), pytest.raises(GWNError, match=r"^torch.autocast is on.*leave it out"):
        cached(edges((0, 1)), None, 2)


def test_weights_changed_in_inference_mode_give_a_new_operator() -> None:
    edge_index = edges((0, 1), (1, 2))
    with torch.inference_mode():
        weight = torch.tensor([1.0, 2.0])
        cached(edge_index, weight, 3)
        weight[0] = 7.0
        assert cached(edge_index, weight, 3).degree.tolist() == [7.0, 9.0, 2.0]


@pytest.mark.parametrize("directed", [False, True])
def test_what_was_first_asked_for_in_inference_mode_may_be_trained_with(directed: bool) -> None:
    found = cached(awkward(), None, AWKWARD_NODES, directed=directed)
    pair = edges((0, 1))
    with torch.inference_mode():
        made = cached(pair, None, 2)
        walk, plain, affine = found.random_walk.matrix, found.plain, found.affine(2.0, 0.5)
        row, (_, order) = found.matrix.pattern.row, found.matrix.pattern.transpose
    for tensor in (made.degree, walk.values, plain.values, affine.values, row, order):
        assert not tensor.is_inference()


@pytest.mark.parametrize("weighted", [False, True])
def test_the_operator_is_freed_with_the_edges(weighted: bool) -> None:
    edge_index, weight = awkward(), AWKWARD_WEIGHTS.clone() if weighted else None
    gc.collect()
    before = len(gwn.adjacency._CACHE._entries)
    operator = weakref.ref(cached(edge_index, weight, AWKWARD_NODES))
    assert len(gwn.adjacency._CACHE._entries) == before + 1
    assert operator() is not None
    del edge_index
    gc.collect()
    assert operator() is None
    assert len(gwn.adjacency._CACHE._entries) == before


def test_the_operator_of_dead_weights_is_freed_though_the_edges_live() -> None:
    edge_index, weight = awkward(), AWKWARD_WEIGHTS.clone()
    operator = weakref.ref(cached(edge_index, weight, AWKWARD_NODES))
    del weight
    gc.collect()
    assert operator() is None
