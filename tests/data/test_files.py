"""A person's own graph from CSV and Parquet: what they wrote is what the model gets."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from gwn.data import Dataset, load_dataset, make_splits
from gwn.data.files import load_files
from gwn.data.schema import FeatureSchema, column_summary
from gwn.errors import GWNError

NODES = """id,age,member,colour,topic
a,1,true,red,physics
b,2,false,blue,maths
c,3,True,,physics
d,6,false,red,
e,8,true,blue,maths
"""
EDGES = """source,target,w
a,b,1.5
b,a,1.5
b,c,2
d,d,9
"""

AB = "source,target\na,b\n"
Load = Callable[..., tuple[Dataset, FeatureSchema]]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    def load(nodes: str = NODES, edges: str = EDGES, **options: Any) -> tuple[Dataset, FeatureSchema]:
        (tmp_path / "nodes.csv").write_text(nodes)
        (tmp_path / "edges.csv").write_text(edges)
        options.setdefault("label_column", "topic")
        return load_files(edges=tmp_path / "edges.csv", nodes=tmp_path / "nodes.csv", **options)

    return load


def test_every_column_becomes_what_it_is(load: Load) -> None:
    dataset, schema = load(standardise=False)
    graph = dataset.graph
    assert [column.kind for column in schema.columns] == ["number", "boolean", "category"]
    assert graph.feature_names == ("age", "member", "colour=blue", "colour=red", "colour=(missing)")
    expected = [[1, 1, 0, 1, 0], [2, 0, 1, 0, 0], [3, 1, 0, 0, 1], [6, 0, 0, 1, 0], [8, 1, 1, 0, 0]]
    assert graph.x.to_dense().tolist() == expected
    assert graph.class_names == ("maths", "physics")
    assert graph.labels.tolist() == [1, 0, 1, -1, 0]
    assert graph.node_ids == ("a", "b", "c", "d", "e")
    assert graph.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert set(dataset.files) == {"nodes.csv", "edges.csv"}
    assert (dataset.default_split, dataset.directed, dataset.metric) == ("stratified", False, "accuracy")


def test_the_summary_says_what_every_column_became(load: Load) -> None:
    dataset, schema = load(drop_columns=["member"])
    assert dataset.tables is not None
    found = [tuple(row.values())[:4] for row in column_summary(schema, dataset.tables.table)]
    assert found == [
        ("id", "id", 0, 0),
        ("age", "number", 0, 1),
        ("member", "dropped", 0, 0),
        ("colour", "category", 1, 3),
        ("topic", "label", 1, 0),
    ]


def test_numbers_are_standardised(load: Load) -> None:
    age = load()[0].graph.x.to_dense()[:, 0].double()
    assert float(age.mean()) == pytest.approx(0, abs=1e-6)
    assert float(age.std(correction=0)) == pytest.approx(1, abs=1e-6)


def test_weights_and_direction(load: Load) -> None:
    graph = load(weight_column="w", directed=True)[0].graph
    assert graph.edge_index.tolist() == [[0, 1, 1, 3], [1, 0, 2, 3]]
    assert graph.edge_weight is not None
    assert graph.edge_weight.tolist() == [1.5, 1.5, 2.0, 9.0]
    both = load(weight_column="w")[0].graph
    assert both.edge_weight is not None
    assert both.edge_weight.tolist() == [1.5, 1.5, 2.0, 2.0]


def test_ids_are_text(load: Load) -> None:
    nodes = "id,f,topic\n007,1,x\n7,2,y\n7.0,3,x\n"
    graph = load(nodes, "source,target\n007,7\n7,7.0\n")[0].graph
    assert graph.node_ids == ("007", "7", "7.0")
    assert graph.num_edges == 4


def test_a_node_may_be_called_na(load: Load) -> None:
    graph = load("id,f,topic\nNA,1,x\nnull,2,y\nnan,3,NA\n", "source,target\nNA,nan\n")[0].graph
    assert graph.node_ids == ("NA", "null", "nan")
    assert graph.labels.tolist() == [0, 1, -1]


def test_the_index_that_pandas_writes_is_no_feature(load: Load) -> None:
    graph = load(",id,f,topic\n0,a,5,x\n1,b,6,y\n2,c,7,x\n", ",p,q\n0,a,b\n")[0].graph
    assert graph.feature_names == ("f",)
    assert graph.num_edges == 2


@pytest.mark.parametrize("edges", ["source,target\n1,2\n", "source,target\n1,3\n2,1\n"])
def test_row_names_that_r_writes_are_ids_where_the_edges_go_by_them_and_never_features(load: Load, edges: str) -> None:
    nodes = ',f,topic\n"1",5,x\n"2",6,y\n"3",7,x\n'
    dataset, schema = load(nodes, edges)
    assert schema.id_column == "column-1", "numbers from 1 are not row numbers from 0"
    assert dataset.graph.node_ids == ("1", "2", "3")
    dataset, schema = load(',f,id,topic\n"1",5,a,x\n"2",6,b,y\n"3",7,c,x\n', AB)
    assert dataset.graph.feature_names == ("f",)
    assert "taken for row names" in schema.decisions()[0]


def test_a_column_without_a_name_is_kept_by_its_place_unless_it_is_empty(load: Load) -> None:
    graph = load("id, f ,,topic,\na,1,9,x,\nb,2,7,y,\nc,3,5,x,\n", AB)[0].graph
    assert graph.feature_names == ("f", "column-3")


def test_a_name_over_two_lines_does_not_make_codes_numbers(load: Load) -> None:
    graph = load('id,"zip\ncode",topic\na,01583,x\nb,02583,y\nc,01583,x\n', AB)[0].graph
    assert graph.feature_names == ("zip\ncode=01583", "zip\ncode=02583")


def test_a_wide_table(load: Load) -> None:
    names = ",".join(f"{'a_rather_long_column_name_' * 5}{i}" for i in range(1000))  # a line of 130 KB
    rows = "".join(f"{node},{','.join([str(i % 7)] * 1000)},{node}\n" for i, node in enumerate("xyz"))
    assert load(f"id,{names},topic\n{rows}", "source,target\nx,y\n")[0].graph.num_features == 1000


def test_without_an_id_column_rows_are_numbered(load: Load) -> None:
    graph = load("f,topic\n1,x\n2,y\n3,x\n", "source,target\n0,2\n")[0].graph
    assert graph.node_ids == ("0", "1", "2")
    assert graph.edge_index.tolist() == [[0, 2], [2, 0]]


@pytest.mark.parametrize("header", ["src,dst,x", "From,To,x", "SOURCE,TARGET,x", "a1,a2,x", "x,source,target"])
def test_edge_columns_are_found(header: str, load: Load) -> None:
    row = "a,b" if not header.startswith("x") else "9,a,b"
    row = row if row.startswith("9") else row + ",9"
    assert load(edges=f"{header}\n{row}\n")[0].graph.edge_index.tolist() == [[0, 1], [1, 0]]


def test_edge_columns_are_chosen(load: Load) -> None:
    edges = "when,whom,who\n1,b,a\n"
    graph = load(edges=edges, source_column="who", target_column="whom", directed=True)[0].graph
    assert graph.edge_index.tolist() == [[0], [1]]


def test_semicolons_tabs_and_a_byte_order_mark(load: Load) -> None:
    expected = load()[0].graph.content_hash()
    assert load(NODES.replace(",", ";"), EDGES.replace(",", "\t"))[0].graph.content_hash() == expected
    assert load("\ufeff" + NODES, EDGES.replace("\n", "\r\n"))[0].graph.content_hash() == expected


def test_pipes_stand_between_columns_too(load: Load) -> None:
    expected = load()[0].graph.content_hash()
    assert load(NODES.replace(",", "|"), EDGES.replace(",", "|"))[0].graph.content_hash() == expected


@pytest.mark.parametrize(
    ("head", "row", "columns"),
    [
        ('id;"size, height, width";topic', "{};{},5;{}", ["size, height, width"]),
        ("id;size, height, width;topic", "{};{},5;{}", ["size, height, width"]),
        ('id|"a, b, c, d"|topic', "{}|{},5|{}", ["a, b, c, d"]),
        ('id,"a;b;c;d",topic', "{},{},{}", ["a;b;c;d"]),
        ('id,"a;\nb;c;d",topic', "{},{},{}", ["a;\nb;c;d"]),
        ("id,size;width;height;depth,topic", "{},{},{}", ["size;width;height;depth"]),
        ("id,size,said,topic", '{},{},"a\n;;;;\n|;|;|",{}', ["size", "said"]),
        ('id,size,said 5" or so,topic', '{},{},5" | long,{}', ["size", 'said 5" or so']),
    ],
)
def test_the_sign_between_columns_is_the_same_in_every_row(load: Load, head: str, row: str, columns: list[str]) -> None:
    """Signs in quoted cells counted as others did, and so did those of the first line alone."""
    rows = [row.format(f"n{place}", place, "xy"[place % 2]) for place in range(30)]
    _, schema = load("\n".join([head, *rows]), "source,target\nn0,n1\n")
    assert [column.name for column in schema.columns] == columns


def test_without_a_header_lists_in_cells_are_no_columns(load: Load) -> None:
    rows = "".join(
        f"n{place},{place},{'xy'[place % 2]},{'|'.join('abcdefgh'[: 4 + place % 3])}\n" for place in range(9)
    )
    _, schema = load(rows, "source,target\nn0,n1\n", no_header=["nodes"], label_column="column-3")
    assert schema.id_column == "column-1"


def test_decimal_commas_are_not_taken_for_the_sign_between_columns(load: Load) -> None:
    """Of a table without a header, more of them may stand in the first line."""
    rows = "".join(f"{i},0;{i},5;{i % 3},5;{i},25;{'xy'[i % 2]},5\n" for i in range(1, 30))
    edges = "".join(f"{i},0;{i + 1},0\n" for i in range(1, 29))
    data, schema = load(rows, edges, no_header=["nodes", "edges"], label_column="column-5")
    assert (schema.id_column, schema.source_column, schema.target_column) == ("column-1", "column-1", "column-2")
    assert data.graph.num_edges == 56


def test_quoted_cells_keep_commas_and_newlines(load: Load) -> None:
    nodes = 'id,f,topic\n"a,1",1,"x\ny"\nb,2,z\nc,3,z\n'
    graph = load(nodes, 'source,target\n"a,1",b\n')[0].graph
    assert graph.node_ids == ("a,1", "b", "c")
    assert graph.class_names == ("x\ny", "z")


def test_whole_number_classes_are_in_number_order(load: Load) -> None:
    graph = load("id,f,topic\na,1,10\nb,2,9\nc,3,NA\nd,4,10\n", "source,target\na,b\n")[0].graph
    assert graph.class_names == ("9", "10")
    assert graph.labels.tolist() == [1, 0, -1, 1]


def test_a_graph_without_edges_is_a_graph(load: Load) -> None:
    assert load(edges="source,target\n")[0].graph.num_edges == 0


def test_columns_can_be_dropped(load: Load) -> None:
    assert load(drop_columns=["colour", "member"])[0].graph.feature_names == ("age",)


def test_structural_features_are_appended_or_alone(load: Load) -> None:
    alone = load("id,topic\na,x\nb,y\nc,x\nd,y\n", "source,target\na,b\n", structural="constant")[0].graph
    assert alone.x.to_dense().tolist() == [[1]] * 4
    both = load(structural="degree")[0].graph
    assert both.feature_names is not None
    assert both.feature_names[4:6] == ("colour=(missing)", "log-degree")
    assert both.x.to_dense()[:, 5].tolist() == pytest.approx(np.log1p([1, 2, 1, 0, 0]).tolist())


def test_parquet_is_the_same_graph(load: Load, tmp_path: Path) -> None:
    expected = load(weight_column="w")[0].graph
    nodes = pa.table(
        {
            "id": ["a", "b", "c", "d", "e"],
            "age": pa.array([1, 2, 3, 6, 8], pa.int32()),
            "member": [True, False, True, False, True],
            "colour": pa.array(["red", "blue", None, "red", "blue"]).dictionary_encode(),
            "topic": ["physics", "maths", "physics", None, "maths"],
        }
    )
    edges = pa.table({"source": list("abbd"), "target": list("bacd"), "w": [1.5, 1.5, 2, 9]})
    pq.write_table(nodes, tmp_path / "nodes.parquet")
    pq.write_table(edges, tmp_path / "edges.parquet")
    dataset, _ = load_files(
        edges=tmp_path / "edges.parquet", nodes=tmp_path / "nodes.parquet", label_column="topic", weight_column="w"
    )
    assert dataset.graph.content_hash() == expected.content_hash()
    assert dataset.graph.feature_names == expected.feature_names


def test_parquet_numbers_as_ids_and_labels(tmp_path: Path) -> None:
    nodes = {"id": [2**60, 2**60 + 1, 5], "f": [1.0, 2.0, 3.0], "y": pa.array([1.0, 2.0, None])}
    pq.write_table(pa.table(nodes), tmp_path / "n.parquet")
    (tmp_path / "e.csv").write_text(f"source,target\n{2**60},{2**60 + 1}\n5,{2**60}\n")
    graph = load_files(edges=tmp_path / "e.csv", nodes=tmp_path / "n.parquet", label_column="y")[0].graph
    assert graph.node_ids == (str(2**60), str(2**60 + 1), "5")
    assert graph.class_names == ("1", "2")
    assert graph.num_edges == 4


def test_an_id_in_the_index_of_a_data_frame_is_not_lost(tmp_path: Path) -> None:
    import pandas as pd

    frame = pd.DataFrame({"id": ["p", "q", "r"], "f": [1.0, 2.0, 3.0], "y": ["u", "v", "u"]}).set_index("id")
    frame.to_parquet(tmp_path / "n.parquet")
    (tmp_path / "e.csv").write_text("source,target\np,q\n")
    graph = load_files(edges=tmp_path / "e.csv", nodes=tmp_path / "n.parquet", label_column="y")[0].graph
    assert graph.node_ids == ("p", "q", "r")


def test_a_schema_survives_json_and_encodes_a_new_graph_the_same_way(load: Load) -> None:
    dataset, schema = load(structural="random-walk", weight_column="w")
    read = FeatureSchema.from_json(json.loads(json.dumps(schema.to_json())))
    assert read == schema
    again, _ = load(schema=read, label_column=None)
    assert again.graph.content_hash() == dataset.graph.content_hash()
    new = "extra,id,colour,member,age\n0,z,green,false,1\n0,y,red,true,8\n"
    graph = load(new, "source,target,w\nz,y,1\n", schema=read, label_column=None)[0].graph
    assert graph.y is None
    assert graph.class_names == ("maths", "physics")
    assert graph.num_features == dataset.graph.num_features
    assert graph.x.to_dense()[0, 1:5].tolist() == [0, 0, 0, 0]  # false, and a colour never seen
    torch.testing.assert_close(graph.x.to_dense()[:, 0], dataset.graph.x.to_dense()[[0, 4], 0])


def test_a_table_for_another_feature_set_is_refused_by_name(load: Load) -> None:
    _, schema = load()
    with pytest.raises(GWNError, match=r"lacks 2 of the 3 columns.*'age', 'member'"):
        load("id,colour\na,red\nb,red\n", "source,target\na,b\n", schema=schema, label_column=None)
    with pytest.raises(GWNError, match="number column 'age' has 'old' in row 2"):
        load("id,age,member,colour\na,1,true,red\nb,old,true,red\n", "s,t\n", schema=schema, label_column=None)
    with pytest.raises(GWNError, match="column 'member' has 'maybe' in row 1"):
        load("id,age,member,colour\na,1,maybe,red\n", "s,t\n", schema=schema, label_column=None)
    with pytest.raises(GWNError, match="class 'chemistry', which the model does not know"):
        load(NODES.replace("maths", "chemistry"), schema=schema)


@pytest.mark.parametrize(
    "damage", [{}, {"columns": [{"name": "x"}]}, {"columns": [{"name": "x", "kind": "odd", "categories": []}]}]
)
def test_a_damaged_schema_is_one_line(damage: dict[str, Any]) -> None:
    with pytest.raises(GWNError, match="description of the features is damaged"):
        FeatureSchema.from_json({"class_names": [], **damage})


def test_the_result_can_be_split_and_unlabelled_nodes_stay_out(load: Load) -> None:
    (split,) = make_splits(load()[0], None, 1)
    assert 3 not in torch.cat([split.train, split.val, split.test])


def test_a_run_learns_its_encoding_on_its_training_nodes_alone(load: Load) -> None:
    """What the other nodes hold does not reach it; identity, layout and everything else are those of the whole."""
    rows = [f"{i},{i},{'xy'[i % 2]}" for i in range(20)]
    data, _ = load("id,f,topic\n" + "\n".join(rows) + "\n", "source,target\n1,2\n")
    (split,) = make_splits(data, None, 1)
    seen = data.on(split)
    on_train = seen.x.to_dense()[split.train, 0].double()
    assert float(on_train.mean()) == pytest.approx(0, abs=1e-6)
    assert float(on_train.std(correction=0)) == pytest.approx(1, abs=1e-6)
    assert seen.edge_index is data.graph.edge_index
    outside = int(split.test[0])
    rows[outside] = f"{outside},1e6,{'xy'[outside % 2]}"
    other, _ = load("id,f,topic\n" + "\n".join(rows) + "\n", "source,target\n1,2\n")
    assert other.graph.content_hash() != data.graph.content_hash()
    assert torch.equal(other.on(split).x[split.train], seen.x[split.train])
    assert load_dataset("csbm").schema_on(split) is None


def test_compressed_tables_read_as_plain_ones(load: Load, tmp_path: Path) -> None:
    plain = load()[0].graph.content_hash()
    for name, text in (("nodes", NODES), ("edges", EDGES)):
        (tmp_path / f"{name}.csv.gz").write_bytes(gzip.compress(text.encode()))
    data, _ = load_files(edges=tmp_path / "edges.csv.gz", nodes=tmp_path / "nodes.csv.gz", label_column="topic")
    assert data.graph.content_hash() == plain
    (tmp_path / "nodes.csv.gz").write_bytes(gzip.compress(NODES.encode())[:-20])
    with pytest.raises(GWNError, match="cannot be read"):
        load_files(edges=tmp_path / "edges.csv.gz", nodes=tmp_path / "nodes.csv.gz", label_column="topic")


def test_another_encoding_is_refused_with_advice_that_works(load: Load, tmp_path: Path) -> None:
    nodes = NODES.replace("red", "weiß")
    expected = load(nodes)[0].graph.content_hash()
    (tmp_path / "nodes.csv").write_bytes(nodes.encode("latin-1"))
    with pytest.raises(GWNError, match=r"is not in UTF-8; .* iconv -f latin1 -t utf-8 nodes.csv > utf8-nodes.csv"):
        load_files(edges=tmp_path / "edges.csv", nodes=tmp_path / "nodes.csv", label_column="topic")
    (tmp_path / "nodes.csv").write_bytes((tmp_path / "nodes.csv").read_bytes().decode("latin-1").encode())
    again = load_files(edges=tmp_path / "edges.csv", nodes=tmp_path / "nodes.csv", label_column="topic")
    assert again[0].graph.content_hash() == expected


@pytest.mark.parametrize(("nodes", "edges"), [("28", "28.0"), ("28.0", "28"), ("28.0", "28.00"), ("028", "028")])
def test_a_whole_number_is_one_id_however_it_is_written(load: Load, nodes: str, edges: str) -> None:
    table = f"id,f,topic\n{nodes},1,x\n{nodes.replace('28', '29')},2,y\n{nodes.replace('28', '30')},3,x\n"
    graph = load(table, f"source,target\n{edges},{edges.replace('28', '30')}\n")[0].graph
    assert graph.edge_index.tolist() == [[0, 2], [2, 0]]
    assert graph.node_ids == tuple(nodes.removesuffix(".0").replace("28", number) for number in ("28", "29", "30"))


def test_a_leading_zero_is_part_of_an_id(load: Load) -> None:
    alike = "they differ by leading zeros alone, '1583' here is '01583' there: write them alike in both tables"
    with pytest.raises(GWNError, match=alike):
        load("id,f,topic\n01583,1,x\n01584,2,y\n01585,3,x\n", "source,target\n1583,1584\n")


@pytest.mark.parametrize(
    ("head", "options"),
    [
        ("country,2010,2015,2020,topic", {}),
        ("a,2010,2015,2020,topic", {}),  # even where an edge names a node so
        ("2000,2010,2015,2020,topic", {"id_column": "2000", "drop_columns": ["2010"]}),
    ],
)
def test_a_first_line_with_a_column_that_was_asked_for_is_a_header(
    load: Load, head: str, options: dict[str, Any]
) -> None:
    rows = "".join(f"{name},{place},{2 * place},7.5,{'xy'[place % 2]}\n" for place, name in enumerate("bcde"))
    data, _ = load(edges="source,target\nb,c\nd,e\n", nodes=f"{head}\n{rows}", **options)
    assert data.graph.node_ids == ("b", "c", "d", "e")


def test_a_first_line_of_edges_with_a_column_that_was_asked_for_is_a_header(load: Load) -> None:
    ends = {"source_column": "a", "target_column": "b"}
    assert load(edges="a,b\nb,c\n", **ends)[0].graph.num_edges == 2
    with pytest.raises(GWNError, match="is an edge and not column names"):
        load(edges="a,b\nb,c\n")
    assert load(edges="a,b,size\nb,c,2\n", weight_column="size")[0].graph.num_edges == 2


def test_a_decimal_comma_is_a_number_where_another_sign_stands_between_columns(load: Load) -> None:
    data, schema = load("id;f;topic\na;1,5;x\nb;-2;y\nc;0,25;x\n", "source;target\na;b\n", standardise=False)
    assert [column.kind for column in schema.columns] == ["number"]
    assert data.graph.x.to_dense().flatten().tolist() == [1.5, -2.0, 0.25]
