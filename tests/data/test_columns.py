"""Tables as people have them: missing cells, dates, money, codes, prose; each choice is said, stored and repeated."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from gwn.data import Dataset
from gwn.data.cells import choose_date, choose_notation, days_of, numbers_of
from gwn.data.columns import Category, Date, Number, normal_scores
from gwn.data.files import load_files
from gwn.data.schema import FeatureSchema, column_summary
from gwn.data.splits import Split
from gwn.data.tables import Table
from gwn.errors import GWNError

Read = Callable[..., tuple[Dataset, FeatureSchema]]
COUNT = 40


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """A graph whose node table has the columns that are given, as text; `schema` reads it as an earlier one."""

    def read(schema: FeatureSchema | None = None, **columns: list[Any]) -> tuple[Dataset, FeatureSchema]:
        options: dict[str, Any] = {
            name: columns.pop(name) for name in ("text_columns", "structural", "task") if name in columns
        }
        rows = len(next(iter(columns.values())))
        table = {"id": [f"n{row}" for row in range(rows)], **columns}
        table.setdefault("label", ["xy"[row % 2] for row in range(rows)])
        pq.write_table(
            pa.table({k: v if isinstance(v, pa.Array) else pa.array(v) for k, v in table.items()}),
            tmp_path / "n.parquet",
        )
        (tmp_path / "e.csv").write_text("source,target\nn0,n1\n")
        return load_files(
            edges=tmp_path / "e.csv", nodes=tmp_path / "n.parquet", label_column="label", schema=schema, **options
        )

    return read


def features(data: Dataset) -> dict[str, list[float]]:
    """Feature name -> its column."""
    assert data.graph.feature_names is not None
    x = data.graph.x.to_dense().double()
    return {name: x[:, at].tolist() for at, name in enumerate(data.graph.feature_names)}


def split(train: list[int], count: int = COUNT) -> Split:
    rest = [row for row in range(count) if row not in train]
    return Split(train=torch.tensor(train), val=torch.tensor(rest[:1]), test=torch.tensor(rest[1:]), kind="x", seed=0)


def test_a_missing_number_is_the_median_of_the_training_nodes_and_flagged(read: Read) -> None:
    cells = [str(row % 7) for row in range(COUNT)]
    cells[3], cells[4], cells[5] = "", "NA", "inf"
    data, schema = read(f=cells)
    assert list(features(data)) == ["f", "f=(missing)"]
    assert [row for row, flag in enumerate(features(data)["f=(missing)"]) if flag] == [3, 4, 5]
    assert schema.decisions() == ["column 'f': 1 infinite cell is missing therefore"]
    train = [0, 1, 2, 3, 7, 8]  # 0 1 2 . 0 1: the median is 1
    seen = data.on(split(train)).x.to_dense()
    assert torch.equal(seen[3, 0], seen[1, 0])
    cells[20] = "100000"
    assert torch.equal(read(f=cells)[0].on(split(train)).x.to_dense()[train], seen[train]), "no other node has a say"


def test_a_flag_that_no_training_node_has_stays_zero(read: Read) -> None:
    data, _ = read(f=["", *(str(row % 5) for row in range(COUNT - 1))])
    assert data.on(split([1, 2, 3, 4])).x.to_dense()[:, 1].tolist() == [0] * COUNT


@pytest.mark.parametrize("usual", [0.1, 0.7, 0.0, 1e9 + 0.1])
def test_a_number_that_all_training_nodes_share_has_the_spread_of_the_whole_column(read: Read, usual: float) -> None:
    """What rounding leaves as the spread of equal numbers would make millions of the others."""
    cells = [usual] * (COUNT - 2) + [usual + 1, usual + 2]
    data, _ = read(a=cells)
    x = data.on(split(list(range(30)))).x.to_dense()[:, 0].double()
    assert x[:30].abs().max() < 1e-6
    assert x[-2:].tolist() == pytest.approx([1 / np.std(cells), 2 / np.std(cells)], rel=1e-5)


def test_a_word_among_numbers_counts_as_missing_and_is_said(read: Read) -> None:
    data, schema = read(f=["?", *(str(row) for row in range(COUNT - 1))])
    assert [column.kind for column in schema.columns] == ["number"]
    assert schema.decisions() == ["column 'f': '?' in row 1 is no number and missing therefore"]
    assert features(data)["f=(missing)"][0] == 1


def test_columns_without_information_are_left_out_and_named(read: Read) -> None:
    data, schema = read(
        f=list(range(COUNT)),
        same=["7"] * COUNT,
        none=[""] * COUNT,
        lists=[[1.0]] * COUNT,
        bio=[f"I am number {row}" for row in range(COUNT)],
        notes=["a", *[""] * (COUNT - 1)],
    )
    assert list(features(data)) == ["f", "notes=a", "notes=(missing)"]
    assert schema.decisions() == [
        "column 'same': every cell is '7': left out",
        "column 'none': it is empty: left out",
        "column 'lists': it holds list<element: double>: left out",
        "column 'bio': it has 40 different texts: left out; --text-column bio uses its words",
    ]
    again, _ = read(schema, f=[1, 2, 3], notes=["a", "", "b"])
    assert features(again)["notes=a"] == [1, 0, 0], "what was left out need not be there again"


def test_the_words_of_a_text_column_are_features(read: Read) -> None:
    bio = [f"{'wave' if row % 2 else 'heat'} number {row}" for row in range(COUNT)]
    data, schema = read(bio=bio, text_columns=["bio"])
    assert data.graph.num_features == 512
    x = data.graph.x.to_dense()
    assert float(x[1] @ x[3]) > float(x[1] @ x[2]) > 0
    again, _ = read(schema, bio=["wave number 1", ""])
    assert torch.equal(again.graph.x.to_dense()[0], x[1])
    assert again.graph.x.to_dense()[1].tolist() == [0] * 512


def test_rare_categories_are_pooled_and_new_ones_join_them(read: Read) -> None:
    city = [["Rome", "Oslo"][row % 2] for row in range(1000)]
    city[:6] = ["Ulm", "Bonn", "Ulm", "Kiel", "", "Bonn"]
    data, schema = read(city=city)
    assert list(features(data)) == ["city=Oslo", "city=Rome", "city=(missing)", "city=(other)"]
    assert schema.decisions() == ["column 'city': 3 rare categories are one"]
    again, _ = read(schema, city=["Oslo", "Atlantis", ""])
    assert again.graph.x.to_dense().tolist() == [[1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]
    seen = data.on(split(list(range(1, 1000, 2)), 1000)).x.to_dense()  # no Rome in training: it goes to the others
    assert seen[10].tolist() == [0, 0, 0, 1]
    column = Category(name="c", categories=("a", "b"), unseen=("b",))
    assert column.feature_names == ("c=a", "c=b")


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["yes", "No", "", "YES"], [1, 0, 2 / 3, 1]),
        (["t", "f", "", "t"], [1, 0, 2 / 3, 1]),
        ([True, False, None, True], [1, 0, 2 / 3, 1]),
        (["1.0", "0.0", "", "1.0"], [1, 0, 2 / 3, 1]),
        ([1, 0, None, 1], [1, 0, 2 / 3, 1]),
    ],
)
def test_two_words_for_true_and_false(read: Read, cells: list[Any], expected: list[float]) -> None:
    data, schema = read(member=cells)
    assert [column.kind for column in schema.columns] == ["boolean"]
    assert features(data)["member"] == pytest.approx(expected, abs=1e-6)
    assert features(data)["member=(missing)"] == [0, 0, 1, 0]
    with pytest.raises(GWNError, match="column 'member' has 'maybe' in row 2; true or false is needed, or an empty"):
        read(schema, member=["yes", "maybe"])
    read(schema, member=["yes", ""])


def test_codes_that_begin_with_zero_stay_text(read: Read) -> None:
    data, schema = read(zip=[["01583", "99084", "01587"][row % 3] for row in range(COUNT)])
    assert list(features(data)) == ["zip=01583", "zip=01587", "zip=99084"]
    assert schema.columns[0].kind == "category"
    assert schema.decisions() == ["column 'zip': '01583' begins with a zero: read as codes"]


def test_one_cell_that_begins_with_zero_does_not_make_codes_of_ages(read: Read) -> None:
    ages = [str(18 + row) for row in range(COUNT)]
    _, schema = read(age=[*ages[1:], "05"], plz=[*(str(80331 + row) for row in range(1, COUNT)), "01067"])
    assert [column.kind for column in schema.columns] == ["number", "dropped"]
    assert schema.decisions() == [
        "column 'age': '05' begins with a zero and is read as a number",
        "column 'plz': '01067' begins with a zero: read as codes; it has 40 different texts: left out; --text-column "
        "plz uses its words",
    ]
    _, schema = read(age=[*ages[1:], "05"], month=[f"{1 + row % 12:02}" for row in range(COUNT)])
    assert [column.kind for column in schema.columns] == ["number", "category"]


@pytest.mark.parametrize("cells", [[2**62 + row for row in range(COUNT)], [str(2**62 + row) for row in range(COUNT)]])
def test_numbers_that_no_float_tells_apart_are_not_called_equal(read: Read, cells: list[Any]) -> None:
    _, schema = read(big=cells, size=list(range(COUNT)))
    assert schema.decisions() == [
        "column 'big': they differ by less than a float of this size holds: left out; subtract their smallest to use "
        "them"
    ]


@pytest.mark.parametrize(
    ("cells", "decimal_comma", "notation", "values"),
    [
        (["$1,200", "$3.50", "-$ 2"], False, "1,234.5", [1200, 3.5, -2]),
        (["1,5", "2,25", "7"], False, "1.234,5", [1.5, 2.25, 7]),
        (["1,500", "2,250"], False, "1,234.5", [1500, 2250]),
        (["1.234,5", "7"], True, "1.234,5", [1234.5, 7]),
        ([*(f"{n}.500" for n in range(1, 20)), "1.234,5"], True, "1.234,5", [*range(1500, 20000, 1000), 1234.5]),
        ([*map(str, range(980, 999)), "1,234"], False, "1,234.5", [*range(980, 999), 1234]),
        (["1 234,5 €", "7"], False, "1.234,5", [1234.5, 7]),
        (["12%", "7%"], False, "1,234.5", [12, 7]),
        (["1.234", "987,5", "2.500", "450"], True, "1.234,5", [1234, 987.5, 2500, 450]),
        (["1,234", "987.5", "2,500"], True, "1,234.5", [1234, 987.5, 2500]),
        (["1.234", "987,5", "1,5e3"], True, "1.234,5", [1234, 987.5, 1500]),
        (["1.5", "2,5"], True, "", [1.5, 2.5]),
        (["0.500", "2,5"], True, "", [0.5, 2.5]),
        (["1.234", "2.500"], True, "", [1.234, 2.5]),
        (["1e3", "+.5", "-2."], False, "", [1000, 0.5, -2]),
        (["one", "two"], False, None, []),
    ],
)
def test_numbers_as_people_write_them(
    cells: list[str], decimal_comma: bool, notation: str | None, values: list[float]
) -> None:
    text = pa.array(cells)
    assert choose_notation(text, decimal_comma) == notation
    if notation is not None:
        found, wrong = numbers_of(text, notation, decimal_comma)
        assert found.tolist() == values
        assert not wrong.any()


@pytest.mark.parametrize(
    ("cells", "written", "days"),
    [
        (["1970-01-02", "1971-01-01"], "year-month-day", [1, 365]),
        (["1970-01-01T12:00:00Z", "1970-01-01 12:00:00.0+06:00"], "year-month-day", [0.5, 0.25]),
        (["02.01.1970", "1.2.1970"], "day.month.year", [1, 31]),
        (["13/01/1970", "01/02/1970"], "day/month/year", [12, 31]),
        (["01/13/1970", "01/02/1970"], "month/day/year", [12, 1]),
        (["2 January 1970", "1 Feb 1970"], "day month year", [1, 31]),
        (["Jan 2, 1970", "Feb 1, 1970"], "month day, year", [1, 31]),
        (["1970-02", "1970-03"], "year-month", [31, 59]),
        (["1/2/70", "1/13/70"], "month/day/yy", [1, 12]),
        (["13-01-1970", "01-02-1970"], "day-month-year", [12, 31]),
        (["01-13-1970", "02-01-1970"], "month-day-year", [12, 31]),
        (["2/1/70 6:00", "13/1/70 18:00"], "day/month/yy", [1.25, 12.75]),
        (["02.01.70", "01.02.70"], "day.month.yy", [1, 31]),
        (["1/1/1970 12:00 AM", "1/2/1970 6:00:00 pm"], "month/day/year", [0, 1.75]),
        (["1970-01-02 06:00 p.m. +06:00", "1970-01-01"], "year-month-day", [1.5, 0]),
        (["1970-02-30", "1970-13-01"], None, []),
        (["1/1/1970 13:00 PM", "2/2/1970 0:30 AM"], None, []),
        (["1.2.10", "1.3.2"], None, []),
        (["1234", "5678"], None, []),
    ],
)
def test_dates_as_people_write_them(cells: list[str], written: str | None, days: list[float]) -> None:
    text = pa.array(cells)
    assert choose_date(text) == written
    if written is not None:
        assert days_of(text, written)[0].tolist() == days


def test_whole_numbers_that_are_days_of_the_calendar_are_dates(read: Read) -> None:
    days = [int(f"2024{1 + row % 12:02}{1 + row % 28:02}") for row in range(COUNT)]
    _, schema = read(when=days, size=[20240000 + row for row in range(COUNT)])
    assert [column.kind for column in schema.columns] == ["date", "number"]
    assert schema.decisions() == ["column 'when': dates are read as yearmonthday"]


@pytest.mark.parametrize("typed", [False, True])
def test_a_date_is_a_number_and_points_of_circles(read: Read, typed: bool) -> None:
    first = datetime.date(2020, 1, 6)  # a Monday
    days: list[Any] = [first + datetime.timedelta(days=row) for row in range(COUNT)]
    days[2] = None
    cells = days if typed else ["" if day is None else day.isoformat() for day in days]
    data, schema = read(when=pa.array(cells))
    found = features(data)
    circles = [f"when {part} {axis}" for part in ("month", "weekday") for axis in ("sin", "cos")]
    assert list(found) == ["when", "when=(missing)", *circles]
    assert found["when"][1] - found["when"][0] == pytest.approx(found["when"][11] - found["when"][10], abs=1e-6)
    assert (found["when weekday sin"][0], found["when weekday cos"][0]) == (0, 1)
    assert found["when weekday cos"][7] == pytest.approx(1)
    assert [found[name][2] for name in list(found)[1:]] == [1, 0, 0, 0, 0]
    assert isinstance(schema.columns[0], Date)
    again, _ = read(schema, when=["2020-01-06", "2020-01-07"])
    assert again.graph.x.to_dense()[0].tolist() == pytest.approx(data.graph.x.to_dense()[0].tolist(), abs=1e-6)
    with pytest.raises(GWNError, match="date column 'when' has 'soon' in row 2; write it as a date"):
        read(schema, when=["2020-01-06", "soon"])


def test_a_date_that_can_be_read_in_two_ways_is_said(read: Read) -> None:
    _, schema = read(when=[f"{1 + row % 12:02}/{1 + row % 9:02}/2020" for row in range(COUNT)])
    assert schema.decisions() == [
        "column 'when': dates are read as month/day/year, which no cell proves: month and day may be the other way "
        "round"
    ]


@pytest.mark.parametrize("scale", [1.0, 1e300])
def test_a_heavy_tail_is_brought_to_normal_scores(read: Read, scale: float) -> None:
    values = (np.exp(3 * np.random.default_rng(0).standard_normal(300)) * scale / 1e4).tolist()
    data, schema = read(income=values)
    z = np.array(features(data)["income"])
    assert np.abs(z).max() < 4
    assert abs(z.mean()) < 0.01
    assert z.std() == pytest.approx(1, abs=0.01)
    assert (np.argsort(z, kind="stable") == np.argsort(values, kind="stable")).all()
    assert schema.decisions() == ["column 'income': skewed: by its quantiles"]
    again, _ = read(schema, income=[1e308, -1e308, 0.0])
    assert np.isfinite(features(again)["income"]).all()


def test_ties_share_a_score_and_plain_numbers_stay_plain(read: Read) -> None:
    knots, scores = normal_scores(np.array([0.0, 0.0, 0.0, 5.0]))
    assert knots == (0.0, 5.0)
    assert scores == pytest.approx((-0.3186, 1.1503), abs=1e-3)
    _, schema = read(f=[float(row) for row in range(COUNT)])
    column = schema.columns[0]
    assert isinstance(column, Number)
    assert (column.mean, column.knots) == (19.5, ())
    assert features(read(schema, f=[1e300, 0.0])[0])["f"][0] == 1e6


def test_a_number_to_predict_where_it_is_a_regression(read: Read) -> None:
    with pytest.raises(GWNError, match="it looks like a number, classes are needed: say --task regression"):
        read(f=list(range(COUNT)), label=[row / 7 for row in range(COUNT)])
    table = table_of(f=[1, 2, 3, 4], label=["1,5", "2,25", "", "3"])
    schema = FeatureSchema.fit(table, label_column="label", task="regression")
    assert (schema.task, schema.class_names, schema.label_notation) == ("regression", (), "1.234,5")
    found = schema.labels(table)
    assert found is not None
    assert found.tolist() == pytest.approx([1.5, 2.25, float("nan"), 3], nan_ok=True)
    for cells, says in (
        (["x", "y"], "holds words, 'x' for example, and a regression predicts numbers"),
        (["1", "1"], "has no two different numbers"),
        (["1", "1e99"], "has '1e99' in row 2; finite numbers are needed, or an empty cell"),
    ):
        with pytest.raises(GWNError, match=f"label column 'label' {says}"):
            FeatureSchema.fit(table_of(f=[1, 2], label=cells), label_column="label", task="regression")


def table_of(**columns: list[Any]) -> Table:
    return Table.from_arrow(Path("n.csv"), pa.table(columns))


def test_labels_of_any_length_and_as_floats(read: Read) -> None:
    long = "1" * 5000
    data, _ = read(f=[1, 2, 3], label=[long, "2", long])
    assert data.graph.class_names == (long, "2")
    data, schema = read(f=[1, 2, 3], label=["1.0", "2.0", "1.0"])
    assert data.graph.class_names == ("1", "2")
    assert read(schema, f=[1, 2], label=["1", "2"])[0].graph.labels.tolist() == [0, 1]
    assert read(f=[1, 2, 3], label=["art ", "sport", " art"])[0].graph.class_names == ("art", "sport")


def test_every_choice_survives_json_and_the_summary_tells_it(read: Read) -> None:
    columns: dict[str, list[Any]] = {
        "age": [*(str(row) for row in range(COUNT - 1)), ""],
        "income": [str(10.0**row) for row in range(COUNT)],
        "member": ["yes", "no"] * (COUNT // 2),
        "city": [["Rome", "Oslo"][row % 2] for row in range(COUNT)],
        "when": [f"2020-01-{1 + row % 28:02}" for row in range(COUNT)],
        "bio": [f"word{row} words" for row in range(COUNT)],
        "same": ["7"] * COUNT,
    }
    data, schema = read(**columns, text_columns=["bio"])
    stored = FeatureSchema.from_json(json.loads(json.dumps(schema.to_json())))
    assert stored == schema
    assert read(stored, **columns)[0].graph.content_hash() == data.graph.content_hash()
    assert data.tables is not None
    rows = column_summary(schema, data.tables.table)
    assert [(row["column"], row["role"], row["missing"], row["features"]) for row in rows] == [
        ("id", "id", 0, 0),
        ("age", "number", 1, 2),
        ("income", "number", 0, 1),
        ("member", "boolean", 0, 1),
        ("city", "category", 0, 2),
        ("when", "date", 0, 3),
        ("bio", "text", 0, 512),
        ("same", "dropped", 0, 0),
        ("label", "label", 0, 0),
    ]
    assert sum(row["features"] for row in rows) == data.graph.num_features


@pytest.mark.parametrize(
    ("name", "first", "step", "said"),
    [
        ("Unnamed: 0", 0, 1, "it counts the rows: left out; rename it to use it"),
        ("index", 1, 1, "it counts the rows: left out; rename it to use it"),
        ("node_id", 1, 1, "it counts the rows: left out; rename it to use it"),
        ("ID", 7, 3, "its name and its cells, all different, are those of an id: left out; rename it to use it"),
        ("index", 7, 3, ""),
        ("year", 1, 1, ""),
    ],
)
def test_a_column_that_only_names_the_rows_is_no_feature(
    name: str, first: int, step: int, said: str, tmp_path: Path
) -> None:
    """Sorted by class, the number of a row told the class, and nobody noticed."""
    rows = [f"{first + step * row},u{row},{row % 7},{'xy'[row // 15]}" for row in range(30)]
    (tmp_path / "nodes.csv").write_text("\n".join([f"{name},user,size,topic", *rows]))
    (tmp_path / "edges.csv").write_text("source,target\nu1,u2\nu3,u4\n")
    edges, nodes = tmp_path / "edges.csv", tmp_path / "nodes.csv"
    data, schema = load_files(edges=edges, nodes=nodes, label_column="topic")
    assert schema.id_column == "user"
    assert data.graph.feature_names == (("size",) if said else (name, "size"))
    assert schema.decisions() == ([f"column {name!r}: {said}"] if said else [])
    data, _ = load_files(edges=edges, nodes=nodes, label_column="topic", drop_columns=[name])
    assert data.graph.feature_names == ("size",)


@pytest.mark.parametrize(("sign", "written"), [("-", "day-month-year"), ("/", "month/day/year")])
def test_dates_that_can_be_read_in_two_ways_are_pointed_out(sign: str, written: str, read: Read) -> None:
    """Of those with dashes nothing was said."""
    cells = [sign.join((f"{row % 9 + 1:02}", f"{row % 5 + 1:02}", "2020")) for row in range(COUNT)]
    said = f"column 'f': dates are read as {written}, which no cell proves: month and day may be the other way round"
    _, schema = read(f=cells)
    assert schema.decisions() == [said]
    with pytest.raises(GWNError, match=rf"'2020-01-05' in row 1 and .* write it as a date, {written}, as in the"):
        read(schema, f=[f"2020-01-{row % 9 + 5:02}" for row in range(COUNT)])
    first, second = ("31", "01") if sign == "-" else ("01", "31")
    _, schema = read(f=[*cells[1:], sign.join((first, second, "2020"))])
    assert schema.decisions() == [f"column 'f': dates are read as {written}"]


def test_dots_and_names_of_months_leave_no_doubt(read: Read) -> None:
    _, schema = read(f=[f"{row % 9 + 1:02}.0{row % 5 + 1}.2020" for row in range(COUNT)])
    assert schema.decisions() == ["column 'f': dates are read as day.month.year"]


@pytest.mark.parametrize(
    ("columns", "others", "said"),
    [
        ([{"kind": "text", "name": "a", "width": 10**10}], {}, "at most 512; got 10000000000"),
        ([{"kind": "date", "name": "a", "written": "backwards"}], {}, "unknown way to write dates 'backwards'"),
        ([{"kind": "date", "name": "a", "parts": ["month"] * 1000}], {}, "parts of dates month, month"),
        ([{"kind": "number", "name": "a", "notation": "1'2"}], {}, "unknown notation of numbers"),
        ([{"kind": "number", "name": "a", "knots": [1.0, 2.0], "scores": [1.0]}], {}, "2 knots and 1 scores"),
        ([{"kind": "text", "name": "a"}] * 2, {}, "a column is there twice"),
        ([], {"task": "guess"}, "unknown task 'guess'"),
        ([], {"weight_notation": "1'2"}, "unknown weight_notation"),
    ],
)
def test_a_description_from_elsewhere_is_refused_where_it_describes_nothing(
    columns: list[dict[str, Any]], others: dict[str, Any], said: str
) -> None:
    """Ten thousand million features of words took all memory, for their names alone; the others were odd crashes."""
    with pytest.raises(GWNError, match=re.escape(said)):
        FeatureSchema.from_json({"columns": columns, **others})
