"""A graph in memory is read as its files would be, whatever holds it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
import torch
from torch_geometric.data import Data

from gwn import Graph, WaveClassifier
from gwn.data.files import load_files
from gwn.data.in_memory import load_tables
from gwn.errors import GWNError

NODES = pd.DataFrame(
    {
        "id": ["a", "b", "c", "d", "e"],
        "age": [1.0, 2.0, 3.0, 6.0, 8.0],
        "colour": ["red", "blue", "red", "red", "blue"],
        "topic": ["physics", "maths", "physics", None, "maths"],
    }
)
EDGES = pd.DataFrame({"source": ["a", "b", "d"], "target": ["b", "c", "c"], "w": [1.5, 2.0, 1.0]})
A = sp.csr_array(([1.5, 2.0, 1.0], ([1, 2, 2], [0, 1, 3])), shape=(5, 5))


def polars(frame: pd.DataFrame) -> Any:
    module = pytest.importorskip("polars", reason="polars is not installed")
    return module.from_arrow(pa.Table.from_pandas(frame, preserve_index=False))


def with_categories(frame: pd.DataFrame) -> pd.DataFrame:
    texts = {name: "category" for name in frame.columns if frame[name].dtype != float}
    return frame.astype(texts)


@pytest.mark.parametrize(
    "held",
    [
        lambda frame: frame,
        with_categories,
        polars,
        lambda frame: pa.Table.from_pandas(frame),
        lambda frame: {name: frame[name].tolist() for name in frame},
    ],
    ids=["pandas", "categorical", "polars", "arrow", "dictionary"],
)
def test_every_table_is_read_as_its_csv_file(held: Callable[[pd.DataFrame], Any], tmp_path: Path) -> None:
    NODES.to_csv(tmp_path / "nodes.csv", index=False)
    EDGES.to_csv(tmp_path / "edges.csv", index=False)
    nodes, edges = tmp_path / "nodes.csv", tmp_path / "edges.csv"
    expected, schema = load_files(nodes=nodes, edges=edges, label_column="topic", weight_column="w")
    found, found_schema = load_tables(held(NODES), held(EDGES), label="topic", weight="w")
    assert found.graph.content_hash() == expected.graph.content_hash()
    assert found_schema == schema
    assert found.graph.node_ids == ("a", "b", "c", "d", "e")
    assert Graph.from_tables(nodes, edges, label="topic", weight="w").content_hash() == found.graph.content_hash()


@pytest.mark.parametrize(
    "edges",
    [
        EDGES,
        EDGES.set_index(pd.Index([7, 8, 9])),
        [("a", "b"), ("b", "c"), ("d", "c")],
        [*zip(("a", "b"), ("b", "c"), ("d", "c"), strict=True)],
        np.array([["a", "b", "d"], ["b", "c", "c"]]),
        np.array([["a", "b"], ["b", "c"], ["d", "c"]]),
        nx.Graph([("a", "b"), ("b", "c"), ("d", "c")]),
        A.sign(),
    ],
    ids=["table", "indexed", "pairs", "zipped", "[2, E]", "[E, 2]", "networkx", "adjacency"],
)
def test_edges_come_in_many_shapes(edges: Any) -> None:
    graph = Graph.from_tables(NODES, edges, label="topic", drop="id" if sp.issparse(edges) else ())
    assert graph.edge_index.tolist() == [[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]]
    assert graph.feature_names == ("age", "colour=blue", "colour=red")


@pytest.mark.parametrize("held", [lambda frame: frame, lambda frame: pa.Table.from_pandas(frame)])
@pytest.mark.parametrize("freq", ["D", "W", "M", "Q", "Y"])
def test_periods_are_dates_and_intervals_texts(held: Callable[[pd.DataFrame], Any], freq: str) -> None:
    """Arrow has them as types of its own, in which it finds no different values."""
    when: Any = pd.Series(pd.period_range("2020-01", periods=5, freq=freq))
    when[1] = pd.NaT
    span = pd.arrays.IntervalArray.from_breaks([0, 1, 2, 3, 4, 5]).take([0, 1, 0, 1, 0])
    nodes = NODES.assign(when=when, span=span, bin=pd.cut(NODES["age"], 2)).drop(columns="topic")
    read, schema = load_tables(held(nodes), EDGES)
    kinds = {column.name: column.kind for column in schema.columns}
    assert (kinds["when"], kinds["span"]) == ("date", "category")
    assert kinds["bin"] == "category"
    assert read.graph.num_nodes == 5
    model = WaveClassifier("gcn", epochs=1).fit(held(nodes), NODES["topic"], edges=EDGES[["source", "target"]])
    assert model.columns_.set_index("column").loc["when", "role"] == "date"


def test_weights_of_an_adjacency_matrix_are_kept() -> None:
    weight = Graph.from_tables(NODES, A, drop=["id", "topic"]).edge_weight
    assert weight is not None
    assert weight.tolist() == [1.5, 1.5, 2.0, 2.0, 1.0, 1.0]


def test_the_index_of_a_data_frame_may_hold_the_ids_and_is_never_a_feature() -> None:
    expected = Graph.from_tables(NODES, EDGES, label="topic")
    by_index = Graph.from_tables(NODES.set_index("id"), EDGES, label="topic")
    assert by_index.content_hash() == expected.content_hash()
    assert by_index.node_ids == expected.node_ids
    shuffled = Graph.from_tables(NODES.set_index(pd.Index([9, 4, 3, 1, 0])), EDGES, label="topic")
    assert shuffled.feature_names == expected.feature_names
    assert shuffled.node_ids == expected.node_ids


def test_rows_of_a_matrix_are_named_by_their_numbers() -> None:
    x = np.array([[3.0, 0.0], [2.0, 5.0], [1.0, 7.0], [0.0, 1.0]])  # the first column could be taken for ids
    dataset, schema = load_tables(x, np.array([[0, 1, 2], [1, 2, 3]]))
    assert dataset.graph.edge_index.tolist() == [[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]]
    assert dataset.graph.feature_names == ("x0", "x1")
    assert schema.id_column == "node"
    sparse = Graph.from_tables(sp.csr_array(x), np.array([[0, 1, 2], [1, 2, 3]]))
    assert sparse.content_hash() == dataset.graph.content_hash()


def test_networkx_and_pyg_bring_their_edges() -> None:
    club = Graph.from_tables(nx.karate_club_graph(), None, label="club", features="degree")
    assert (club.num_nodes, club.num_edges, club.class_names) == (34, 156, ("Mr. Hi", "Officer"))
    edge_index, y = torch.tensor([[0, 1, 2], [1, 2, 3]]), torch.tensor([0, 1, 0, 1])
    train = torch.tensor([True, True, False, False])
    data = Data(x=torch.eye(4), edge_index=edge_index, y=y, train_mask=train, val_mask=train, test_mask=~train)
    assert Graph.from_tables(data, None).labels.tolist() == [0, 1, -1, -1]
    with pytest.raises(GWNError, match="leave edges out"):
        Graph.from_tables(data, edge_index)
    data.train_mask = data.val_mask = train[:, None]
    assert Graph.from_tables(data, None).labels.tolist() == [0, 1, -1, -1], "one split is one, as a column too"
    data.train_mask = data.val_mask = torch.stack([train, ~train], dim=1)
    with pytest.warns(UserWarning, match=r"several splits, \(4, 2\), so the labels of all nodes are learnt"):
        assert Graph.from_tables(data, None).labels.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("nodes", "edges", "said"),
    [
        (NODES, np.array([[0, 1], [1, 2]]), "2 x 2 array of edges can be read in two ways"),
        (NODES, np.zeros((5, 5)), "SciPy sparse adjacency matrix"),
        (NODES, A[:4, :4], "4 x 4, and there are 5 nodes"),
        (NODES, 3, "edges of type int"),
        (NODES.to_numpy()[:, 1], EDGES, "one row a node"),
        (NODES.set_index(["id", "age"]), EDGES, "reset_index"),
        (pd.concat([NODES, NODES], axis=1), EDGES, "two columns named 'id'"),
        (NODES.drop(columns=["age", "colour"]), EDGES, "features='structure'"),
    ],
)
def test_what_cannot_be_read_is_refused_in_the_words_of_python(nodes: Any, edges: Any, said: str) -> None:
    with pytest.raises(GWNError, match=r".*") as refused:
        Graph.from_tables(nodes, edges, label="topic")
    assert said in str(refused.value)
    assert "--" not in str(refused.value)


def test_advice_in_the_words_of_python_works() -> None:
    nodes = NODES[["age", "topic"]].assign(other=list("abcde"), second=list("edcba"))
    with pytest.raises(GWNError, match=r"id='other'$"):
        Graph.from_tables(nodes, EDGES, label="topic")
    assert Graph.from_tables(nodes, EDGES, label="topic", id="other", drop="second").num_features == 1


@pytest.mark.parametrize("held", ["pandas", "arrow", "file"])
def test_a_declared_category_of_digits_is_a_category(held: str, tmp_path: Path) -> None:
    """The number of a district is no amount; whoever declares it a category has said so."""
    frame = pd.DataFrame({"id": [f"u{i}" for i in range(30)], "size": range(30), "district": np.arange(30) % 3 * 10})
    frame = frame.assign(district=frame.district.astype("category"), topic=["a", "b"] * 15)
    edges = pd.DataFrame({"source": ["u1"], "target": ["u2"]})
    frame.to_parquet(tmp_path / "nodes.parquet")
    nodes = {"pandas": frame, "arrow": pa.Table.from_pandas(frame), "file": tmp_path / "nodes.parquet"}[held]
    names = ("size", "district=0", "district=10", "district=20")
    assert load_tables(nodes, edges, label="topic")[0].graph.feature_names == names
    if held == "file":
        edges.to_csv(tmp_path / "edges.csv", index=False)
        read, _ = load_files(edges=tmp_path / "edges.csv", nodes=tmp_path / "nodes.parquet", label_column="topic")
        assert read.graph.feature_names == names


def test_an_index_in_another_order_may_be_what_sampling_left() -> None:
    """Pairs of numbers went by the index, a SciPy matrix by row, and nothing was said."""
    frame = pd.DataFrame({"size": np.arange(10) % 4, "topic": ["a", "b"] * 5}).sample(frac=1, random_state=1)
    pairs = np.array([[0, 1], [1, 2], [2, 3]])
    with pytest.raises(GWNError, match=r"different nodes here; say id='index' to go by the index, or call nodes.reset"):
        load_tables(frame, pairs, label="topic")
    by_index, _ = load_tables(frame, pairs, label="topic", id="index")
    assert by_index.graph.node_ids == tuple(map(str, frame.index))
    by_row, _ = load_tables(frame.reset_index(drop=True), pairs, label="topic")
    matrix = sp.coo_matrix((np.ones(3), (pairs[:, 0], pairs[:, 1])), shape=(10, 10))
    assert by_row.graph.edge_index.tolist() == load_tables(frame, matrix, label="topic")[0].graph.edge_index.tolist()
    assert load_tables(frame.rename_axis("node"), pairs, label="topic")[1].id_column == "node"
    assert load_tables(frame.sort_index(), pairs, label="topic")[0].graph.num_edges == 6, "both are the same"
    with pytest.raises(GWNError, match=r"name the index, nodes\.rename_axis"):
        load_tables(frame, pairs, schema=load_tables(frame.reset_index(drop=True), pairs, label="topic")[1])


@pytest.mark.parametrize("name", [None, "user"])
def test_an_index_that_parquet_keeps_as_a_range_is_read(name: str | None, tmp_path: Path) -> None:
    frame = pd.DataFrame({"size": np.arange(10) ** 2 % 7, "topic": ["a", "b"] * 5})
    frame.index = pd.RangeIndex(100, 120, 2, name=name)
    frame.to_parquet(tmp_path / "nodes.parquet")
    (tmp_path / "edges.csv").write_text("source,target\n100,102\n104,118\n")
    data, schema = load_files(edges=tmp_path / "edges.csv", nodes=tmp_path / "nodes.parquet", label_column="topic")
    assert schema.id_column == (name or "column-1")
    assert data.graph.node_ids is not None
    assert data.graph.node_ids[:2] == ("100", "102")
    frame.assign(key=[f"k{i}" for i in range(10)]).to_parquet(tmp_path / "nodes.parquet")
    (tmp_path / "edges.csv").write_text("source,target\nk1,k2\n")
    data, _ = load_files(edges=tmp_path / "edges.csv", nodes=tmp_path / "nodes.parquet", label_column="topic")
    assert data.graph.feature_names == ("size",), "an index that no edge goes by is no feature"
