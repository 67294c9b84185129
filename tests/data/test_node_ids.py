"""The column of the ids follows from the ids that the edges name; what could be read in two ways is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gwn.data import Dataset
from gwn.data.files import load_files
from gwn.data.schema import FeatureSchema
from gwn.errors import GWNError


@pytest.fixture
def read(tmp_path: Path) -> Any:
    def read(nodes: str, edges: str, **options: Any) -> tuple[Dataset, FeatureSchema]:
        (tmp_path / "nodes.csv").write_text(nodes)
        (tmp_path / "edges.csv").write_text(edges)
        return load_files(edges=tmp_path / "edges.csv", nodes=tmp_path / "nodes.csv", label_column="topic", **options)

    return read


def test_the_first_column_wins_over_row_numbers_where_it_holds_the_ids(read: Any) -> None:
    data, schema = read("user,age,topic\n2,30,x\n0,40,y\n1,50,x\n", "source,target\n0,2\n")
    assert schema.id_column == "user"
    assert data.graph.node_ids == ("2", "0", "1")
    assert data.graph.edge_index.tolist() == [[0, 1], [1, 0]], "the nodes called 0 and 2 stand in rows 1 and 0"
    assert data.graph.feature_names == ("age",)


def test_evidence_wins_over_a_name(read: Any) -> None:
    _, schema = read(
        "id,account,age,topic\nx1,a,1,x\nx2,b,2,y\nx3,c,3,x\n", "source,target\na,b\n", drop_columns=["id"]
    )
    assert schema.id_column == "account"
    _, schema = read("node,account,age,topic\n7,a,1,x\n8,b,2,y\n9,c,3,x\n", "source,target\na,c\n")
    assert schema.id_column == "account", "no edge names anything in the column that is called node"


def test_the_usual_name_decides_between_two_that_hold_all(read: Any) -> None:
    _, schema = read("rank,id,topic\n1,2,x\n2,1,y\n3,3,x\n", "source,target\n1,2\n")
    assert schema.id_column == "id"


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        ("age,a,b,topic\n9,1,2,x\n8,2,1,y\n7,3,3,x\n", "columns 'a' and 'b' each hold every id"),
        ("a,b,topic\n1,2,x\n2,1,y\n3,3,x\n", "columns 'a' and 'b' each hold every id"),
        ("age,rank,topic\n9,2,x\n8,0,y\n7,1,x\n", "by column 'rank' or by row number"),
    ],
)
def test_two_readings_are_refused_and_the_advice_works(read: Any, nodes: str, words: str) -> None:
    edges = "source,target\n1,2\n"
    with pytest.raises(GWNError, match=words) as caught:
        read(nodes, edges)
    assert "--id-column" in str(caught.value)
    column = "a" if "'a'" in str(caught.value) else "rank"
    assert read(nodes, edges, id_column=column)[1].id_column == column


def test_row_numbers_where_no_column_holds_them(read: Any) -> None:
    assert read("age,topic\n9,x\n8,y\n7,x\n", "source,target\n0,2\n")[1].id_column is None


def test_a_column_that_repeats_itself_holds_no_ids(read: Any) -> None:
    assert read("kind,topic\n0,x\n1,y\n1,x\n", "source,target\n0,1\n")[1].id_column is None


def test_the_columns_of_the_edges_are_kept_for_the_next_table(read: Any, tmp_path: Path) -> None:
    nodes = "id,age,topic\na,1,x\nb,2,y\nc,3,x\n"
    _, schema = read(nodes, "source,target,who,whom\na,b,a,c\n", source_column="who", target_column="whom")
    again = FeatureSchema.from_json(schema.to_json())
    data, _ = load_files(
        edges=tmp_path / "edges.csv", nodes=tmp_path / "nodes.csv", label_column=None, schema=again, directed=True
    )
    assert data.graph.edge_index.tolist() == [[0], [2]]
    (tmp_path / "edges.csv").write_text("source,target\na,b\n")
    with pytest.raises(GWNError, match="unknown source column 'who'"):
        load_files(edges=tmp_path / "edges.csv", nodes=tmp_path / "nodes.csv", label_column=None, schema=again)


@pytest.mark.parametrize("order", [[1, 2, 3, 4], [2, 1, 4, 3]], ids=["in order", "in another order"])
def test_ids_from_one_and_edges_from_zero_are_not_moved_by_one(read: Any, order: list[int]) -> None:
    """Without the edges of 0, as was advised, every other edge would join the wrong nodes."""
    rows = [f"{number},{10 * number},{'xy'[number % 2]}" for number in order]
    nodes = "\n".join(["id,age,topic", *rows])
    advice = "go by row number with --drop-column id" if order[0] == 1 else "subtract 1 from them"
    for skip in (False, True):
        with pytest.raises(GWNError, match=rf"counts the nodes from 0 to 3, and their ids.* 1 to 4; {advice}, or add"):
            read(nodes, "source,target\n0,1\n1,2\n2,3\n", skip_unknown=skip)
    data, _ = read(nodes, "source,target\n0,1\n1,2\n2,4\n", skip_unknown=True)
    assert data.dropped["edges of unknown nodes"] == 1, "an edge of 4 counts as the ids do"
    if order[0] == 1:
        data, _ = read(nodes, "source,target\n0,1\n1,2\n2,3\n", drop_columns=["id"])
        assert data.graph.num_edges == 6


def test_a_column_of_categories_that_is_called_node_is_named(read: Any) -> None:
    nodes = "node,age,topic\nbig,1,x\nbig,2,y\nsmall,3,x\nsmall,4,y\n"
    with pytest.raises(GWNError, match=r"row number, and column 'node' has cells .* out with --drop-column node, or"):
        read(nodes, "source,target\n0,1\n2,3\n")
    assert read(nodes, "source,target\n0,1\n2,3\n", drop_columns=["node"])[1].id_column is None
    assert read(nodes.replace("node,", "size,"), "source,target\n0,1\n2,3\n")[1].id_column is None
