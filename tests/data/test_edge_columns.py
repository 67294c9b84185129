"""The columns of the edges' ends follow from the ids that they hold; what could be read in two ways is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gwn.data.files import load_files
from gwn.errors import GWNError

NODES = "key,age,topic\n" + "".join(f"{i},{i % 7}.5,{'xy'[i % 2]}\n" for i in range(100, 140))
PAIRS = [(100 + i % 40, 100 + (i * 7 + 1) % 40) for i in range(120)]


def edges(heading: str, *cells: Any) -> str:
    """A table in which a and b stand for the two ends, and a function for the cells of another column."""
    lines = [heading]
    for i, (a, b) in enumerate(PAIRS):
        lines.append(",".join(str(cell(i) if callable(cell) else {"a": a, "b": b}[cell]) for cell in cells))
    return "\n".join(lines) + "\n"


def read(folder: Path, table: str, nodes: str = NODES, **options: Any) -> Any:
    (folder / "nodes.csv").write_text(nodes)
    (folder / "edges.csv").write_text(table)
    return load_files(edges=folder / "edges.csv", nodes=folder / "nodes.csv", label_column="topic", **options)


@pytest.mark.parametrize(
    "table",
    [
        edges("buyer,seller", "a", "b"),
        edges("day,buyer,seller", lambda i: f"2024-01-{1 + i % 28:02}", "a", "b"),
        edges("number,buyer,seller,sum", lambda i: i, "a", "b", lambda i: i / 3),
        edges("buyer,count,seller", "a", lambda i: 100 + i % 5, "b"),  # a few ids of nodes by chance
        edges("buyer,seller,weight", "a", "b", lambda i: 100 + i % 40),
    ],
)
def test_the_ends_are_the_columns_that_hold_ids(table: str, tmp_path: Path) -> None:
    data, schema = read(tmp_path, table)
    assert (schema.source_column, schema.target_column) == ("buyer", "seller")
    assert schema.id_column == "key"
    expected, _ = read(tmp_path, edges("source,target", "a", "b"))
    assert data.graph.edge_index.equal(expected.graph.edge_index)
    assert set(schema.unused_of_edges) == set(table.splitlines()[0].split(",")) - {"buyer", "seller"}


def test_row_numbers_are_ids_too(tmp_path: Path) -> None:
    table = edges(
        "day,buyer,seller", lambda i: f"2024-01-{1 + i % 28:02}", lambda i: i % 40, lambda i: (i * 7 + 1) % 40
    )
    _, schema = read(tmp_path, table, NODES.replace("key", "size").replace("\n1", "\n1.1"))
    assert (schema.source_column, schema.target_column, schema.id_column) == ("buyer", "seller", None)


def test_three_columns_of_ids_are_refused_with_advice_that_works(tmp_path: Path) -> None:
    table = edges("buyer,seller,agent", "a", "b", lambda i: 100 + (i * 3) % 40)
    with pytest.raises(GWNError, match=r"columns 'buyer', 'seller' and 'agent' all hold ids of nodes; say which two"):
        read(tmp_path, table)
    _, schema = read(tmp_path, table, source_column="buyer", target_column="seller")
    assert schema.unused_of_edges == ("agent",)
    again, _ = read(tmp_path, table, schema=schema)
    assert again.graph.num_edges > 0


def test_edges_of_unknown_nodes_are_refused_or_skipped_as_asked(tmp_path: Path) -> None:
    table = edges("day,buyer,seller,w", lambda i: i + 0.5, "a", "b", lambda i: i) + "0.5,100,nobody,3\n"
    with pytest.raises(GWNError, match=r"1 of 121 edges name nodes .* 'nobody' .* leave these edges out with --skip"):
        read(tmp_path, table)
    data, schema = read(tmp_path, table, skip_unknown=True, weight_column="w")
    assert data.dropped["edges of unknown nodes"] == 1
    assert (schema.id_column, schema.source_column) == ("key", "buyer"), "one mistake does not hide what is meant"
    again, _ = read(tmp_path, table, schema=schema)
    assert again.graph.content_hash() == data.graph.content_hash()
    with pytest.raises(GWNError, match="1 of 1 edges name nodes"):
        read(tmp_path, "a,b\nnobody,100\n", skip_unknown=True)


def test_a_whole_number_is_one_id_in_a_column_of_both_spellings(tmp_path: Path) -> None:
    spelt = edges("a,b", lambda i: f"{PAIRS[i][0]}{'.0' if i % 2 else ''}", "b")
    assert read(tmp_path, spelt)[0].graph.edge_index.equal(read(tmp_path, edges("a,b", "a", "b"))[0].graph.edge_index)


@pytest.mark.parametrize("mistake", ["1", ""])
def test_ids_with_a_mistake_are_not_left_for_row_numbers(mistake: str, tmp_path: Path) -> None:
    nodes = "age,user,topic\n" + "".join(f"{i % 7}.5,{39 - i},{'xy'[i % 2]}\n" for i in range(40))
    nodes = nodes.replace(",20,", f",{mistake},")
    ring = "a,b\n" + "".join(f"{i},{(i + 1) % 40}\n" for i in range(40))
    with pytest.raises(GWNError, match=r"by row number, or by column 'user', in which .*--drop-column user"):
        read(tmp_path, ring, nodes)
    data, schema = read(tmp_path, ring, nodes, drop_columns=["user"])
    assert schema.id_column is None
    assert data.graph.num_edges == 80
