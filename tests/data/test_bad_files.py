"""Everything that can be wrong with a person's files gives one line that says what, where, and what to do."""

from __future__ import annotations

import gzip
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gwn.cli.main import main
from gwn.data import Dataset
from gwn.data.files import load_files
from gwn.data.tables import read_table
from gwn.errors import GWNError

NODES = "id,age,topic\na,1,x\nb,2,y\nc,3,x\n"
EDGES = "source,target\na,b\nb,c\n"
PARQUET = pa.BufferOutputStream()
pq.write_table(pa.table({"id": ["a"], "f": [1.0]}), PARQUET)
PARQUET_BYTES = PARQUET.getvalue().to_pybytes()

NUMBERS = "id,f,g,topic\n" + "".join(f"{i},{i % 9},{i},{i / 7}\n" for i in range(50))
SEVERAL = "id,f,topic\n" + "".join(f"{i},{i % 9},{'a;b' if i % 3 else 'b;c;a'}\n" for i in range(50))
LINKS = "source,target\n1,2\n"
RING = "a,b\n" + "".join(f"{i},{(i + 1) % 40}\n" for i in range(40))

Case = tuple[dict[str, Any], str, dict[str, Any]]
CASES: dict[str, Case] = {
    "unknown nodes": (
        {"edges": "source,target\na,b\nq,b\na,r\ns,t\n"},
        r"edges\.csv: 3 of 4 edges name nodes that nodes\.csv does not have: 'q', 's', 'r', … \(first in row 2\)"
        r".*column 'id'.*--id-column",
        {"nodes": "id,key,age,topic\na,q,1,x\nb,r,2,y\nc,s,3,x\n", "edges": "s,t\nq,r\n", "id_column": "key"},
    ),
    "a few unknown nodes": (
        {"edges": EDGES + "a,q\n"},
        r"1 of 3 edges name nodes .* 'q' \(first in row 3\); add them, or leave these edges out with --skip-unknown",
        {"edges": EDGES + "a,q\n", "skip_unknown": True},
    ),
    "ids with a mistake that row numbers hide": (
        {"nodes": "f,user,topic\n" + "".join(f"{i}.5,{39 - i or 1},{'xy'[i % 2]}\n" for i in range(40)), "edges": RING},
        r"by row number, or by column 'user', in which some id is missing or there twice; .*--drop-column user",
        {
            "nodes": "f,user,topic\n" + "".join(f"{i}.5,{39 - i or 1},{'xy'[i % 2]}\n" for i in range(40)),
            "edges": RING,
            "drop_columns": ["user"],
        },
    ),
    "two columns of ids": (
        {"nodes": "key,other,age,topic\na,c,1,x\nb,a,2,y\nc,b,3,x\n"},
        "columns 'key' and 'other' each hold every id .* for example --id-column key",
        {"nodes": "key,other,age,topic\na,c,1,x\nb,a,2,y\nc,b,3,x\n", "id_column": "key"},
    ),
    "three columns of ends": (
        {"edges": "x,y,z\na,b,c\nb,c,a\nc,a,b\n"},
        "columns 'x', 'y' and 'z' all hold ids of nodes; .*--source-column x --target-column y",
        {"edges": "x,y,z\na,b,c\nb,c,a\nc,a,b\n", "source_column": "x", "target_column": "y"},
    ),
    "ids for classes": (
        {"label_column": "id"},
        "label column 'id' holds the ids that the edges name.*--label-column, for example 'topic'",
        {"label_column": "topic"},
    ),
    "a number to predict": (
        {"nodes": NUMBERS, "edges": LINKS},
        "it looks like a number, classes are needed: say --task regression",
        {"nodes": NUMBERS, "edges": LINKS, "task": "regression"},
    ),
    "words to predict as numbers": (
        {"task": "regression"},
        "label column 'topic' holds words, 'x' for example, .* or leave out --task regression",
        {},
    ),
    "one number to predict": (
        {"nodes": NODES.replace("x", "7").replace("y", "7"), "task": "regression"},
        "has no two different numbers to learn from; name another column with --label-column",
        {"task": "regression", "label_column": "age", "structural": "degree"},
    ),
    "an infinite number to predict": (
        {"nodes": NUMBERS.replace("0.0\n", "1e300\n"), "edges": LINKS, "task": "regression"},
        r"label column 'topic' has '1e300' in row 1; finite numbers are needed, or an empty cell",
        {"nodes": NUMBERS.replace("0.0\n", "\n"), "edges": LINKS, "task": "regression"},
    ),
    "an edge with an empty end": (
        {"edges": "source,target\na,\n"},
        r"1 of 1 edges name nodes .*: ''",
        {"edges": "source,target\na,b\n"},
    ),
    "duplicated ids": (
        {"nodes": NODES + "a,4,y\n"},
        r"nodes\.csv: id 'a' is given to 2 rows of column 'id'; .*own",
        {"nodes": NODES + "d,4,y\n"},
    ),
    "an empty id": ({"nodes": NODES + ",4,y\n"}, r"column 'id' has no id in row 4", {"nodes": NODES + "d,4,y\n"}),
    "label column": (
        {"label_column": "topics"},
        r"nodes\.csv: unknown label column 'topics'; did you mean 'topic'\?",
        {"label_column": "topic"},
    ),
    "id column": ({"id_column": "idd"}, r"unknown id column 'idd'; did you mean 'id'\?", {"id_column": "id"}),
    "weight column": (
        {"weight_column": "sauce"},
        r"edges\.csv: unknown weight column 'sauce'; did you mean 'source'",
        {"weight_column": None},
    ),
    "dropped column": (
        {"drop_columns": ["agee"]},
        r"unknown column 'agee'; did you mean 'age'",
        {"drop_columns": ["age"], "structural": "degree"},
    ),
    "text column": ({"text_columns": ["agee"]}, r"unknown text column 'agee'; did you", {"text_columns": ["age"]}),
    "source column": (
        {"source_column": "x", "target_column": "target"},
        r"unknown source column 'x'",
        {"source_column": "source", "target_column": "target"},
    ),
    "half of the edge columns": (
        {"source_column": "source"},
        "both --source-column and --target-column",
        {"source_column": "source", "target_column": "target"},
    ),
    "structural kind": (
        {"structural": "degre"},
        "unknown structural features 'degre'; did you mean 'degree'",
        {"structural": "degree"},
    ),
    "task": ({"task": "regresion"}, "unknown task 'regresion'; did you mean 'regression'", {"task": "classification"}),
    "a table without a header": (
        {"no_header": ["edge"]},
        "unknown table without a header 'edge'; did you mean 'edges'",
        {"no_header": ["edges"], "edges": "a,b\n"},
    ),
    "a negative weight": (
        {"edges": "source,target,w\na,b,1\na,c,-2\n", "weight_column": "w"},
        r"weight column 'w' has '-2' in row 2",
        {"edges": "source,target,w\na,b,1\na,c,2\n", "weight_column": "w"},
    ),
    "a weight of text": (
        {"edges": "source,target,w\na,b,x\na,c,2\n", "weight_column": "w"},
        r"weight column 'w' has 'x' in row 1",
        {"edges": "source,target,w\na,b,1\na,c,2\n", "weight_column": "w"},
    ),
    "an end as a weight": (
        {"weight_column": "target"},
        r"weight column 'target' is an end of the edges; name another with --weight-column, or other ends",
        {"edges": "source,target,w\na,b,1\na,c,2\n", "weight_column": "w"},
    ),
    "one column for both ends": (
        {"source_column": "source", "target_column": "source"},
        "both name 'source'; an edge has two ends: name two",
        {"source_column": "source", "target_column": "target"},
    ),
    "a dropped column of text": (
        {"drop_columns": ["age"], "text_columns": ["age"]},
        "--drop-column and --text-column both name 'age'; leave one of them out",
        {"text_columns": ["age"]},
    ),
    "an id of text": (
        {"id_column": "id", "text_columns": ["id"]},
        "--id-column and --text-column both name 'id'; leave one of them out",
        {"id_column": "id"},
    ),
    "no features": (
        {"nodes": "id,topic\na,x\nb,y\nc,x\n"},
        "no feature columns; .*--features spectral.*--features structure",
        {"nodes": "id,topic\na,x\nb,y\nc,x\n", "structural": "structure"},
    ),
    "only a column that says nothing": (
        {"nodes": "id,f,topic\na,7,x\nb,7,y\nc,7,x\n"},
        r"no feature columns \('f': every cell is '7': left out\); .*--features spectral.*--features structure",
        {"nodes": "id,f,topic\na,7,x\nb,7,y\nc,7,x\n", "structural": "structure"},
    ),
    "one class": (
        {"nodes": NODES.replace("y", "x")},
        "label column 'topic' has only the class 'x'; .*--label-column",
        {"nodes": NODES.replace("y", "x").replace("age", "kind"), "label_column": "kind", "structural": "degree"},
    ),
    "no labels": ({"nodes": "id,f,topic\na,1,\nb,2,\n"}, "label column 'topic' has no label at all", {}),
    "a name to predict": (
        {"nodes": NUMBERS.replace("\n", "!\n"), "edges": LINKS, "label_column": "topic!"},
        "it looks like an identifier or free text, classes are needed: name another column with --label-column",
        {"nodes": NUMBERS.replace("\n", "!\n"), "edges": LINKS, "label_column": "f"},
    ),
    "several classes in a cell": (
        {"nodes": SEVERAL.replace("0,0,a;b", "0,0,a"), "edges": LINKS},
        r"several classes in one cell, '[abc;]+' for example; .* keep one of them in each cell",
        {"nodes": SEVERAL.replace("a;b", "a").replace("b;c;a", "b"), "edges": LINKS},
    ),
    "empty nodes": ({"nodes": ""}, r"nodes\.csv is empty", {}),
    "a byte order mark and nothing else": ({"nodes": b"\xef\xbb\xbf"}, r"nodes\.csv is empty", {}),
    "blank edges": ({"edges": "\n \n"}, r"edges\.csv is empty", {}),
    "only a header": ({"nodes": "id,f,topic\n"}, "column names but no rows", {}),
    "a short row": ({"nodes": NODES + "d,1\n"}, r"nodes\.csv: a row has 2 cells and the first line 3: d,1; delete", {}),
    "a long row": ({"edges": EDGES + "a,b,c\n"}, r"edges\.csv: a row has 3 cells and the first line 2: a,b,c; ", {}),
    "an open quotation mark": (
        {"nodes": NODES + 'd,1,"x\ne,1,x\nf,2,y\n'},
        r"a quotation mark that is never closed and swallows what follows; close it",
        {"nodes": NODES + 'd,1,"x"\n'},
    ),
    "an empty line in one column": (
        {"nodes": "topic\nx\n\ny\ny\n", "edges": "source,target\n0,1\n", "structural": "degree"},
        r"nodes\.csv has one column, and line 3 is empty: write \"\" there where it is a row with an empty cell",
        {"nodes": '\n\ntopic\n"x\n\n1"\n""\ny\ny\n\n', "edges": "source,target\n0,3\n", "structural": "degree"},
    ),
    "one column of edges": ({"edges": "source\na\n"}, r"edges\.csv has 1 column; edges need two", {}),
    "edges without a header": (
        {"edges": "a,b\nb,c\n"},
        "the first line, a,b, is an edge and not column names; say --no-header edges",
        {"edges": "a,b\nb,c\n", "no_header": ["edges"]},
    ),
    "nodes without a header": (
        {"nodes": "a,1.5,x\nb,2,y\nc,3,x\n"},
        r"nodes\.csv: the first line, a,1\.5,x, is a node .*; say --no-header nodes .*--label-column column-3",
        {"nodes": "a,1.5,x\nb,2,y\nc,3,x\n", "no_header": ["nodes"], "label_column": "column-3"},
    ),
    "nodes that no edge names, without a header": (
        {"nodes": "q,1.5,x\na,1,x\nb,2,y\nc,3,x\n"},
        r"the first line, q,1\.5,x, is a node",
        {"nodes": "q,1.5,x\na,1,x\nb,2,y\nc,3,x\n", "no_header": ["nodes"], "label_column": "column-3"},
    ),
    "the same column twice": (
        {"nodes": "id,f,f,topic\na,1,2,x\n"},
        "two columns named 'f'; rename one$",
        {"nodes": "id,f,g,topic\na,1,2,x\nb,3,1,y\nc,3,4,x\n"},
    ),
    "the same number twice, without a header": (
        {"nodes": "a,1,1,x\nb,2,3,y\nc,3,4,x\n"},
        "two columns named '1'; rename one, or say --no-header edges or nodes",
        {"nodes": "a,1,1,x\nb,2,3,y\nc,3,4,x\n", "no_header": ["nodes"], "label_column": "column-4"},
    ),
    "binary as CSV": ({"nodes": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"}, "is not text, so it is not a CSV file", {}),
    "Latin-1": (
        {"nodes": NODES.replace("x", "é").encode("latin-1")},
        r"nodes\.csv is not in UTF-8; save it as UTF-8, .* iconv -f latin1 -t utf-8 nodes.csv > utf8-nodes.csv",
        {"nodes": NODES.replace("x", "é")},
    ),
    "a Latin-1 header": (
        {"nodes": NODES.replace("age", "âge").encode("latin-1")},
        r"nodes\.csv is not in UTF-8",
        {"nodes": NODES.replace("age", "âge")},
    ),
    "Parquet as CSV": ({"nodes": PARQUET_BYTES}, r"is a Parquet file; rename it to nodes\.parquet", {}),
}
"""What is given, what is said of it, and what is given when the advice was followed: by default, files in order."""


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def read(folder: Path, given: dict[str, Any]) -> Dataset:
    options = {"label_column": "topic", **given}
    nodes = write(folder / "nodes.csv", options.pop("nodes", NODES))
    edges = write(folder / "edges.csv", options.pop("edges", EDGES))
    return load_files(edges=edges, nodes=nodes, **options)[0]


def describe(folder: Path, given: dict[str, Any]) -> int | str | None:
    """`gwn data describe` of these tables: its exit code."""
    options = {"label_column": "topic", **given}
    arguments = ["data", "describe"]
    for which, content in (("nodes", NODES), ("edges", EDGES)):
        arguments += [f"--{which}", str(write(folder / f"{which}.csv", options.pop(which, content)))]
    words = {"drop_columns": "drop-column", "text_columns": "text-column", "structural": "features"}
    for name, value in options.items():
        option = f"--{words.get(name, name.replace('_', '-'))}"
        if value is True:
            arguments.append(option)
        for one in value if isinstance(value, list) else [] if value in (None, True) else [value]:
            arguments += [option, one]
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    return stop.value.code


@pytest.mark.parametrize("case", CASES)
def test_one_line_says_what_is_wrong_and_following_it_works(
    case: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    given, says, followed = CASES[case]
    assert describe(tmp_path, given) == 2
    (line,) = capfd.readouterr().err.splitlines()
    assert line.startswith("gwn: ")
    assert re.search(says, line), line
    assert describe(tmp_path, followed) == 0, capfd.readouterr().err
    data = read(tmp_path, followed)
    assert data.graph.num_edges >= 2
    assert data.graph.y is not None
    assert len(data.graph.y[data.graph.labelled].unique()) >= 2


def test_a_row_that_is_too_long_is_said_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gwn.data.tables.CSV_BLOCK_BYTES", 64)
    with pytest.raises(GWNError, match="a row of more than 64 bytes; shorten the cell"):
        read(tmp_path, {"nodes": NODES + f"d,1,{'x' * 300}\n" + "e,1,x\n"})
    assert read(tmp_path, {"nodes": NODES + "d,1,x\n"}).graph.num_nodes == 4


@pytest.mark.parametrize("compressed", [False, True])
def test_the_command_that_makes_latin1_readable_does(tmp_path: Path, compressed: bool) -> None:
    text = NODES.replace("x", "é").encode("latin-1")
    nodes = write(
        tmp_path / ("my nodes.csv.gz" if compressed else "my nodes.csv"), gzip.compress(text) if compressed else text
    )
    edges = write(tmp_path / "edges.csv", EDGES)
    with pytest.raises(GWNError, match="is not in UTF-8") as caught:
        load_files(edges=edges, nodes=nodes, label_column="topic")
    subprocess.run(str(caught.value).partition("for example with ")[2], shell=True, cwd=tmp_path, check=True)
    data, _ = load_files(edges=edges, nodes=tmp_path / "utf8-my nodes.csv", label_column="topic")
    assert data.graph.class_names == ("y", "é")


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


@pytest.mark.parametrize("name", ["edges.parquet", "edges.csv.gz"])
def test_a_small_file_that_unpacks_to_more_than_there_is_memory_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of it is unpacked into memory before; with room for it the file is read."""
    path, rows = tmp_path / name, 200_000
    if name.endswith("parquet"):
        cells = np.zeros(rows, dtype=np.int64)
        pq.write_table(pa.table({"source": cells, "target": cells}), path)
    else:
        path.write_bytes(gzip.compress(b"source,target\n" + rows * b"a,bcd\n"))
    assert path.stat().st_size < 10_000
    monkeypatch.setattr("gwn.data.tables.free_bytes", lambda: 3_000_000)
    with pytest.raises(GWNError, match=r"MB of memory or more, and 3 MB are free; make a graph folder with"):
        read_table(path)
    monkeypatch.setattr("gwn.data.tables.free_bytes", lambda: 6_000_000)
    assert read_table(path).rows == rows
