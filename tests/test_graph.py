"""Graph: validated once, the same whatever it came from."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
from torch_geometric.data import Data

from graphs import edges, normal
from gwn import Graph, GWNError
from gwn.adjacency import normalised_adjacency


def csr(crow: list[int], col: list[int]) -> torch.Tensor:
    """Features of three nodes, valid or not."""
    return torch.sparse_csr_tensor(
        torch.tensor(crow), torch.tensor(col), torch.ones(len(col)), (3, 2), check_invariants=False
    )


def graph(**changes: Any) -> Graph:
    return Graph(**{"x": normal(3, 2), "edge_index": edges((0, 1), (1, 2)), "y": torch.tensor([0, 2, -1]), **changes})


def test_counts() -> None:
    g = graph()
    assert (g.num_nodes, g.num_edges, g.num_features, g.num_classes) == (3, 2, 2, 3)
    assert not g.is_sparse
    assert graph(y=None).num_classes == 0
    assert graph(y=torch.full((3,), -1)).num_classes == 0
    assert graph(class_names=("a", "b", "c", "d")).num_classes == 4
    assert graph(class_names=("a", "b", "c")).label_name(2) == "c"
    assert g.label_name(2) == "2"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": normal(3)}, "floating-point matrix"),
        ({"x": torch.ones(3, 2, dtype=torch.long)}, "floating-point matrix"),
        ({"x": normal(3, 2).to_sparse_coo()}, "floating-point matrix"),
        ({"x": torch.tensor([[1.0, float("nan")]] * 3)}, "NaN or infinite"),
        ({"x": torch.tensor([[1.0, float("inf")]] * 3).to_sparse_csr()}, "NaN or infinite"),
        ({"x": csr([0, 1, 2, 3], [0, 1, 900_000_000])}, r"column 900000000, but the columns are 0 \.\.\. 1"),
        ({"x": csr([0, 1, 2, 3], [0, -7, 1])}, "column -7"),
        ({"x": csr([0, 1, 2, 9], [0, 1, 1])}, "row pointers must rise from 0 to 3"),
        ({"x": csr([0, 3, 1, 3], [0, 1, 1])}, "row pointers must rise"),
        ({"x": csr([1, 1, 2, 3], [0, 1, 1])}, "row pointers must rise"),
        ({"x": normal(0, 2), "edge_index": edges(), "y": None}, "no nodes"),
        ({"edge_index": edges((0, 3))}, r"names node 3, but the nodes are 0 \.\.\. 2"),
        ({"edge_index": edges((-1, 0))}, "names node -1"),
        ({"edge_index": torch.tensor([0, 1])}, r"shape \[2, E\]"),
        ({"edge_index": torch.tensor([[0.0], [1.0]])}, "integer"),
        ({"edge_weight": torch.ones(3)}, r"shape \[2\]"),
        ({"edge_weight": torch.ones(2, dtype=torch.long)}, "floating point"),
        ({"edge_weight": torch.tensor([1.0, -1.0])}, "not negative"),
        ({"edge_weight": torch.tensor([1.0, float("nan")])}, "finite"),
        ({"y": torch.tensor([0, 1])}, r"int64 classes"),
        ({"y": torch.tensor([0.0, 1.0, float("inf")])}, "infinite"),
        ({"y": torch.tensor([1j, 0, 1])}, "int64"),
        ({"y": torch.tensor([0, -2, 1])}, "label -2"),
        ({"class_names": ("a", "b")}, "label 2 found, but only 2 classes"),
        ({"node_ids": ("a", "b")}, "3 nodes but 2 node ids"),
        ({"feature_names": ("a",)}, "2 features but 1 feature names"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(change: dict[str, Any], message: str) -> None:
    with pytest.raises(GWNError, match=message) as error:
        graph(**change)
    assert "\n" not in str(error.value)


def test_entries_of_a_row_may_stand_in_any_order() -> None:
    assert graph(x=csr([0, 2, 2, 3], [1, 0, 1])).num_features == 2


def test_labels_are_there_or_their_absence_is_an_error() -> None:
    assert torch.equal(graph().labels, torch.tensor([0, 2, -1]))
    with pytest.raises(GWNError, match="no labels"):
        _ = graph(y=None).labels


@pytest.mark.parametrize("sparse", [False, True])
def test_to_another_type(sparse: bool) -> None:
    x = normal(3, 2).to_sparse_csr() if sparse else normal(3, 2)
    g = graph(x=x, edge_weight=torch.ones(2, dtype=torch.float64)).to("cpu", torch.float32)
    assert g.x.dtype == g.edge_weight.dtype == torch.float32  # type: ignore[union-attr]
    assert g.edge_index.dtype == g.labels.dtype == torch.int64
    assert g.is_sparse is sparse
    assert graph().to().x.dtype == torch.float64


def test_compact_chooses_the_cheaper_layout() -> None:
    mostly_zero, full = torch.eye(20), torch.ones(20, 20)
    one = graph(x=mostly_zero, y=None).compact()
    assert one.is_sparse
    assert torch.equal(one.x.to_dense(), mostly_zero)
    assert not graph(x=full, y=None).compact().is_sparse
    assert not graph(x=full.to_sparse_csr(), y=None).compact().is_sparse
    assert graph(x=mostly_zero.to_sparse_csr(), y=None).compact().is_sparse
    assert graph(x=full, y=None).compact(density=1.1).is_sparse


def test_content_hash_is_equal_for_equal_data() -> None:
    g = graph()
    assert graph().content_hash() == g.content_hash()
    assert graph(x=g.x.to_sparse_csr()).content_hash() == g.content_hash()
    assert graph(name="other").content_hash() == g.content_hash()
    assert graph(edge_index=g.edge_index.int()).content_hash() == g.content_hash()


@pytest.mark.parametrize(
    "change",
    [
        {"x": normal(3, 2) + 1e-6},
        {"x": torch.cat([normal(3, 2), torch.zeros(3, 1)], dim=1)},
        {"edge_index": edges((0, 1), (2, 1))},
        {"edge_index": edges((0, 1))},
        {"edge_weight": torch.ones(2)},
        {"y": torch.tensor([0, 1, -1])},
        {"y": None},
    ],
)
def test_content_hash_differs_for_other_data(change: dict[str, Any]) -> None:
    assert graph(**change).content_hash() != graph().content_hash()


# From other libraries


def test_from_pyg() -> None:
    data = Data(x=torch.ones(3, 2, dtype=torch.long), edge_index=edges((0, 1)), y=torch.tensor([[0], [1], [1]]))
    g = Graph.from_pyg(data, name="mine")
    assert g.x.dtype == torch.float32
    assert torch.equal(g.edge_index, edges((0, 1)))
    assert g.y is not None
    assert g.y.tolist() == [0, 1, 1]
    assert g.edge_weight is None
    assert g.name == "mine"


def test_from_pyg_takes_weights_from_either_place() -> None:
    x, pairs = normal(3, 2), edges((0, 1), (1, 2))
    for given in ({"edge_weight": torch.tensor([1, 2])}, {"edge_attr": torch.tensor([[1.0], [2.0]])}):
        weight = Graph.from_pyg(Data(x=x, edge_index=pairs, **given)).edge_weight
        assert weight is not None
        assert weight.tolist() == [1.0, 2.0]
    for other in (torch.ones(2, 3), torch.tensor([0, 1]), torch.tensor([[0], [1]]), torch.tensor([False, True])):
        assert Graph.from_pyg(Data(x=x, edge_index=pairs, edge_attr=other)).edge_weight is None


def test_weights_of_one_pair_are_joined_as_each_door_says() -> None:
    """The example of `undirected_edges` and of the quickstart: tables take means, tensors are a matrix."""
    ends, weights = {"source": [0, 1, 1, 1], "target": [1, 0, 2, 2]}, [1.0, 3.0, 2.0, 5.0]
    table = Graph.from_tables({"x": [0.5, 1.5, 2.5]}, {**ends, "weight": weights}, weight="weight")
    assert table.edge_weight is not None
    assert dict(zip(map(tuple, table.edge_index.t().tolist()), table.edge_weight.tolist(), strict=True)) == {
        (0, 1): 2.0,
        (1, 0): 2.0,
        (1, 2): 3.5,
        (2, 1): 3.5,
    }
    matrix = normalised_adjacency(torch.tensor(list(ends.values())), torch.tensor(weights), 3)
    assert matrix.degree.tolist() == [3.0, 10.0, 7.0]


def test_from_pyg_without_features_says_so() -> None:
    with pytest.raises(GWNError, match="no node features"):
        Graph.from_pyg(Data(edge_index=edges((0, 1)), num_nodes=2))


def test_a_zero_that_scipy_stores_is_no_edge() -> None:
    A = sp.csr_matrix(np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))
    A.setdiag(0)
    assert A.nnz == 5
    found = Graph.from_scipy(A, np.eye(3))
    assert found.edge_weight is None
    assert found.num_edges == 2


def test_from_scipy_entry_i_j_is_the_edge_from_j_to_i() -> None:
    A = sp.coo_matrix(([2.0, 1.0], ([0, 1], [2, 0])), shape=(3, 3))
    g = Graph.from_scipy(A, sp.csr_matrix(np.eye(3)), [0, 1, 0])
    assert sorted(map(tuple, g.edge_index.t().tolist())) == [(0, 1), (2, 0)]
    assert g.edge_weight is not None
    assert dict(zip(map(tuple, g.edge_index.t().tolist()), g.edge_weight.tolist(), strict=True)) == {
        (2, 0): 2.0,
        (0, 1): 1.0,
    }
    assert g.is_sparse
    assert torch.equal(g.x.to_dense(), torch.eye(3))
    assert Graph.from_scipy(sp.coo_matrix(([1, 1], ([0, 1], [2, 0])), shape=(3, 3)), np.eye(3)).edge_weight is None
    with pytest.raises(GWNError, match="2 x 3; it must be square"):
        Graph.from_scipy(sp.coo_matrix((2, 3)), np.eye(2))
    with pytest.raises(GWNError, match="2 x 2, and there are 3 nodes; it needs a row and a column for each"):
        Graph.from_scipy(sp.eye(2), np.eye(3))


def test_entries_stored_several_times_are_their_sum() -> None:
    twice = sp.coo_matrix(([1, 1, 1], ([1, 1, 2], [0, 0, 1])), shape=(3, 3))
    unsummed = sp.csr_matrix(([1, 1, 1], [0, 0, 1], [0, 0, 2, 3]), shape=(3, 3))
    for given in (twice, unsummed):
        found = Graph.from_scipy(given, np.eye(3))
        assert found.edge_index.t().tolist() == [[0, 1], [1, 2]]
        assert found.edge_weight is not None
        assert found.edge_weight.tolist() == [2.0, 1.0]
        assert given.nnz == 3, "the caller's matrix is left as it is"
        table = Graph.from_tables({"a": [0.5, 1.5, 2.5]}, given, directed=True)
        assert table.edge_weight is not None
        assert table.edge_weight.tolist() == [2.0, 1.0]


def network() -> nx.Graph:
    g = nx.Graph()
    g.add_node("ann", age=30, pay=1.5, team="red")
    g.add_node("bob", age=40, pay=2.5, team="blue")
    g.add_node("eve", age=50, pay=3.5)
    g.add_edge("ann", "bob", strength=2.0)
    g.add_edge("eve", "eve", strength=5.0)
    return g


def test_from_networkx() -> None:
    g = Graph.from_networkx(network(), ["age", "pay"], label="team", weight="strength")
    assert g.node_ids == ("ann", "bob", "eve")
    assert g.x.tolist() == [[30, 1.5], [40, 2.5], [50, 3.5]]
    assert g.feature_names == ("age", "pay")
    assert g.class_names == ("blue", "red")
    assert g.labels.tolist() == [1, 0, -1]
    assert g.edge_weight is not None
    weights = dict(zip(map(tuple, g.edge_index.t().tolist()), g.edge_weight.tolist(), strict=True))
    assert weights == {(0, 1): 2.0, (1, 0): 2.0, (2, 2): 5.0}


@pytest.mark.parametrize("unknown", [None, float("nan"), pd.NA])
def test_from_networkx_takes_what_pandas_leaves_for_an_unknown_class(unknown: Any) -> None:
    g = network()
    g.nodes["eve"]["team"] = unknown
    found = Graph.from_networkx(g, ["age"], label="team")
    assert found.class_names == ("blue", "red")
    assert found.labels.tolist() == [1, 0, -1]


def test_from_networkx_directed_keeps_the_direction() -> None:
    g = Graph.from_networkx(nx.DiGraph([("a", "b"), ("c", "b")]), x=np.eye(3))
    assert sorted(map(tuple, g.edge_index.t().tolist())) == [(0, 1), (2, 1)]
    assert g.y is None


def test_from_networkx_mistakes() -> None:
    with pytest.raises(GWNError, match="name the node attributes"):
        Graph.from_networkx(network())
    with pytest.raises(GWNError, match="node 'ann' has 'red' for feature 'team'"):
        Graph.from_networkx(network(), ["team"])
    with pytest.raises(GWNError, match="node 'ann' has None for feature 'height'"):
        Graph.from_networkx(network(), ["height"])
    with pytest.raises(GWNError, match="no node has a 'taem'"):
        Graph.from_networkx(network(), ["age"], label="taem")
    g = network()
    g.edges["ann", "bob"]["strength"] = None
    with pytest.raises(GWNError, match="edge 'ann' - 'bob' has the weight None; give a number, or none for weight one"):
        Graph.from_networkx(g, ["age"], weight="strength")
