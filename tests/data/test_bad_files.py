"""Everything that can be wrong with a person's files gives one line that says what, where, and what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gwn.data.files import load_files
from gwn.errors import GWNError

NODES = "id,age,topic\na,1,x\nb,2,y\nc,3,x\n"
EDGES = "source,target\na,b\nb,c\n"
MANY = "id,f,t,topic\n" + "".join(f"{i},{i},word{i},{i % 2}\n" for i in range(30))
PARQUET = pa.BufferOutputStream()
pq.write_table(pa.table({"id": ["a"], "f": [1.0]}), PARQUET)
PARQUET_BYTES = PARQUET.getvalue().to_pybytes()

CASES: dict[str, tuple[dict[str, Any], str]] = {
    "unknown nodes": (
        {"edges": "source,target\na,b\nq,b\na,r\ns,t\n"},
        r"edges\.csv: 3 of 4 edges name nodes that nodes\.csv does not have: 'q', 's', 'r', … \(first in row 2\)"
        r".*column 'id'.*--id-column",
    ),
    "an edge with an empty end": ({"edges": "source,target\na,\n"}, r"1 of 1 edges name nodes .*: ''"),
    "duplicated ids": ({"nodes": NODES + "a,4,y\n"}, r"nodes\.csv: id 'a' is given to 2 rows of column 'id'"),
    "an empty id": ({"nodes": NODES + ",4,y\n"}, r"column 'id' has no id in row 4"),
    "a missing number": ({"nodes": NODES.replace("b,2", "b,")}, r"column 'age' has no value \(NaN\) in row 2"),
    "NaN": ({"nodes": NODES.replace("b,2", "b,NaN")}, r"column 'age' has no value \(NaN\) in row 2"),
    "infinity": ({"nodes": NODES.replace("b,2", "b,-inf")}, r"column 'age' has infinity in row 2"),
    "an empty column": ({"nodes": "id,f,topic\na,,x\nb,,y\n"}, r"column 'f' is empty; drop it with --drop-column f"),
    "a word among numbers": (
        {"nodes": MANY.replace(",word", ",").replace("7,7,7,1", "7,7,seven,1")},
        r"numeric column 't' has 'seven' in row 8",
    ),
    "free text": ({"nodes": MANY}, r"text column 't' has 30 different values in 30 rows.*--drop-column t"),
    "label column": ({"label_column": "topics"}, r"nodes\.csv: unknown label column 'topics'; did you mean 'topic'\?"),
    "id column": ({"id_column": "idd"}, r"unknown id column 'idd'; did you mean 'id'\?"),
    "weight column": ({"weight_column": "sauce"}, r"edges\.csv: unknown weight column 'sauce'; did you mean 'source'"),
    "dropped column": ({"drop_columns": ["agee"]}, r"unknown column 'agee'; did you mean 'age'"),
    "source column": ({"source_column": "x", "target_column": "target"}, r"unknown source column 'x'"),
    "half of the edge columns": ({"source_column": "source"}, "both the source and the target column"),
    "structural kind": ({"structural": "degre"}, "unknown structural features 'degre'; did you mean 'degree'"),
    "a negative weight": (
        {"edges": "source,target,w\na,b,1\na,c,-2\n", "weight_column": "w"},
        r"weight column 'w' has '-2' in row 2",
    ),
    "a weight of text": ({"weight_column": "target"}, r"weight column 'target' has 'b' in row 1"),
    "no features": ({"nodes": "id,topic\na,x\nb,y\n"}, "no feature columns.*--features spectral.*--features structure"),
    "one class": ({"nodes": NODES.replace("y", "x")}, "label column 'topic' has only the class 'x'"),
    "no labels": ({"nodes": "id,f,topic\na,1,\nb,2,\n"}, "label column 'topic' has no label at all"),
    "a number to predict": (
        {"nodes": "id,f,topic\n" + "".join(f"{i},{i},{i / 7}\n" for i in range(50))},
        "label column 'topic' has 50 different values in 50 labelled rows",
    ),
    "empty nodes": ({"nodes": ""}, r"nodes\.csv is empty"),
    "blank edges": ({"edges": "\n \n"}, r"edges\.csv is empty"),
    "only a header": ({"nodes": "id,f,topic\n"}, "column names but no rows"),
    "a short row": ({"nodes": NODES + "d,1\n"}, r"nodes\.csv cannot be read: .*Expected 3 columns, got 2"),
    "a long row": ({"edges": EDGES + "a,b,c\n"}, r"edges\.csv cannot be read: .*Expected 2 columns, got 3"),
    "one column of edges": ({"edges": "source\na\n"}, r"edges\.csv has 1 column; edges need two"),
    "no header": ({"edges": "a,b\nb,c\n"}, "the first line, a,b, is an edge and not column names"),
    "the same column twice": ({"nodes": "id,f,f,topic\na,1,2,x\n"}, "two columns named 'f'"),
    "binary as CSV": ({"nodes": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"}, "is not text, so it is not a CSV file"),
    "Latin-1": ({"nodes": NODES.replace("x", "é").encode("latin-1")}, r"nodes\.csv is not in UTF-8; save it as UTF-8"),
    "Parquet as CSV": ({"nodes": PARQUET_BYTES}, r"is a Parquet file; rename it to nodes\.parquet"),
}


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize("case", CASES)
def test_one_line_says_what_is_wrong(case: str, tmp_path: Path) -> None:
    given, says = CASES[case]
    options = {"label_column": "topic", **given}
    nodes = write(tmp_path / "nodes.csv", options.pop("nodes", NODES))
    edges = write(tmp_path / "edges.csv", options.pop("edges", EDGES))
    with pytest.raises(GWNError, match=says) as caught:
        load_files(edges=edges, nodes=nodes, **options)
    assert "\n" not in str(caught.value)


def test_the_cases_start_from_files_that_load(tmp_path: Path) -> None:
    nodes, edges = write(tmp_path / "nodes.csv", NODES), write(tmp_path / "edges.csv", EDGES)
    assert load_files(edges=edges, nodes=nodes, label_column="topic")[0].graph.num_edges == 4


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("n.parquet", NODES.encode(), "named as Parquet but is not"),
        ("n.parquet", PARQUET_BYTES[: len(PARQUET_BYTES) // 2], r"n\.parquet cannot be read"),
        ("n.parquet", PARQUET_BYTES[:-9], r"n\.parquet cannot be read"),
        ("n.parquet", b"", r"n\.parquet is empty"),
        ("n.xlsx", b"PK\x03\x04", r"neither CSV nor Parquet.*\.csv, \.tsv, \.parquet"),
    ],
)
def test_files_that_are_not_what_they_say(name: str, content: bytes, says: str, tmp_path: Path) -> None:
    nodes, edges = write(tmp_path / name, content), write(tmp_path / "edges.csv", EDGES)
    with pytest.raises(GWNError, match=says) as caught:
        load_files(edges=edges, nodes=nodes, label_column=None)
    assert "\n" not in str(caught.value)


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    edges = write(tmp_path / "edges.csv", EDGES)
    with pytest.raises(GWNError, match=r"nowhere\.csv does not exist"):
        load_files(edges=edges, nodes=tmp_path / "nowhere.csv", label_column=None)
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(GWNError, match=r"folder\.csv is a folder"):
        load_files(edges=edges, nodes=tmp_path / "folder.csv", label_column=None)


def test_a_column_of_lists_is_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": ["a", "b", "c"], "emb": [[1.0], [2.0], [3.0]]}), tmp_path / "n.parquet")
    edges = write(tmp_path / "edges.csv", EDGES)
    with pytest.raises(GWNError, match=r"column 'emb' holds list.*--drop-column emb"):
        load_files(edges=edges, nodes=tmp_path / "n.parquet", label_column=None)


def test_nan_in_parquet_is_named(tmp_path: Path) -> None:
    table = pa.table({"id": ["a", "b", "c"], "f": [1.0, float("nan"), None]})
    pq.write_table(table, tmp_path / "n.parquet")
    edges = write(tmp_path / "edges.csv", EDGES)
    with pytest.raises(GWNError, match=r"column 'f' has no value \(NaN\) in row 2 and 1 more"):
        load_files(edges=edges, nodes=tmp_path / "n.parquet", label_column=None)
