"""Columns of a node table by kind: how each becomes features, what it learns for that, and how it says so.

What a column is, and how many features it gives, is decided on the whole table. The numbers that encode it (medians,
means, spreads, quantiles, which categories there are) are learnt on the nodes that `learn` is told.
"""

from __future__ import annotations

import shlex
from dataclasses import MISSING, asdict, dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import ndtri

from gwn.data.cells import (
    COMPACT,
    DATES,
    MOSTLY,
    NOTATIONS,
    Floats,
    Mask,
    are_codes,
    are_compact_dates,
    begins_with_zero,
    choose_date,
    days_of,
    says_nothing,
    short,
    the_other_way_round,
    units_of,
)
from gwn.data.tables import Table
from gwn.errors import GWNError, require_between
from gwn.io import require_fields
from gwn.registry import require_known

Rows = NDArray[np.int64]

MANY = 1000
"""Cells that are looked at first: mostly they decide what millions more could not change."""

FEW = 10
"""A text column of more different values than this, and than half the rows, is prose or an identifier."""

KNOTS = 129
"""Quantiles that describe a skewed column."""

EXACT = 2.0**53
"""Up to here a float holds every whole number."""

HUGE = 1e30
LARGEST = 1e6
"""Larger features than this are cut: no network learns from them, and float32 must hold their products."""

WORDS = 512
"""Features of a column of text."""

FAR = 10.0
"""Standard deviations from the mean of the training, beyond which half the numbers of a table hardly are by chance."""

PARTS = ("month", "weekday", "hour")
"""Circles of dates."""

ALL_EMPTY = "every cell is empty"
TRUE, FALSE = ("true", "yes", "y", "t", "1"), ("false", "no", "n", "f", "0")
OTHER, EMPTY = "(other)", "(missing)"


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column and how it is encoded; `note` says what a person should know about that."""

    kind: ClassVar[str]
    name: str
    note: str = ""

    @property
    def feature_names(self) -> tuple[str, ...]:
        """One name a feature."""
        raise NotImplementedError

    def learn(self, table: Table, rows: Rows) -> Column:
        """The same column with its numbers learnt on these rows alone; its features stay as many."""
        return self

    def encode(self, table: Table) -> Any:
        """Its features, [rows, features], as an array or a SciPy CSR matrix."""
        raise NotImplementedError

    def unlike(self, table: Table) -> str:
        """Why another table's column may not mean what the training's did; "" where nothing speaks for that."""
        return ""

    def lost_cells(self, table: Table) -> str:
        """Which cells of this table are not read, and count as missing; "" for none."""
        return ""

    def to_json(self) -> dict[str, Any]:
        """As a plain dictionary: what differs from the defaults."""
        defaults = {field.name: field.default for field in fields(self) if field.default is not MISSING}
        learnt = {key: value for key, value in asdict(self).items() if value != defaults.get(key, MISSING)}
        return {"kind": self.kind, **learnt}


@dataclass(frozen=True, kw_only=True)
class LeftOut(Column):
    """A column that is no feature; `note` says why."""

    kind = "dropped"

    @property
    def feature_names(self) -> tuple[str, ...]:
        return ()

    def encode(self, table: Table) -> Any:
        return np.zeros((table.rows, 0))


@dataclass(frozen=True, kw_only=True)
class Number(Column):
    """(f(v) - mean) / std, where f is the identity, or a map to normal scores where the column is skewed.

    fill            stands for a missing cell: the median; None in runs of version 0.1.0, which take the mean
    flag            whether a second feature is one where the cell is missing
    flag_learnt     whether a training node has a missing cell: else the flag stays zero, as the network knows it
    notation        how the numbers are written, see `gwn.data.cells.NOTATIONS`
    knots, scores   f goes through these points, straight in between and level outside
    plain           numbers as they are
    units           signs of money or of per cent that the training's cells had; () in runs that did not keep them
    """

    kind = "number"
    mean: float = 0.0
    std: float = 1.0
    fill: float | None = None
    flag: bool = False
    flag_learnt: bool = True
    notation: str = ""
    knots: tuple[float, ...] = ()
    scores: tuple[float, ...] = ()
    plain: bool = False
    units: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require_known("notation of numbers", self.notation, ("", *NOTATIONS))
        if len(self.knots) != len(self.scores):
            raise ValueError(f"{len(self.knots)} knots and {len(self.scores)} scores of column {self.name!r}")

    @property
    def feature_names(self) -> tuple[str, ...]:
        return (self.name, f"{self.name}={EMPTY}") if self.flag else (self.name,)

    @property
    def form(self) -> str:
        """What a cell may hold, in words."""
        return f"a number such as {self.notation}" if self.notation else "a number"

    def read(self, table: Table) -> tuple[Floats, Mask]:
        """The numbers, NaN where there is none, and which filled cells hold none."""
        return table.numbers(self.name, self.notation)

    def values(self, table: Table) -> Floats:
        """The numbers, NaN where there is none; a column of mostly other things is refused."""
        values, wrong = self.read(table)
        odd = wrong & ~np.asarray(says_nothing(table.text(self.name))) if wrong.any() else wrong
        filled = ~np.isnan(values) | odd
        if odd.any() and _different(table, self.name, odd) > (1 - MOSTLY) * _different(table, self.name, filled):
            row = int(np.flatnonzero(odd)[0])
            also = f" and {int(odd.sum()) - 1} more" if odd.sum() > 1 else ""
            raise GWNError(
                f"{table.path.name}: {self.kind} column {self.name!r} has {table.cell(self.name, row)!r} in row "
                f"{row + 1}{also}; write it as {self.form}, or leave the cell empty"
            )
        return np.where(np.isfinite(values), values, np.nan)

    def learn(self, table: Table, rows: Rows) -> Number:
        values = self.values(table)[rows]
        known = values[~np.isnan(values)]
        if known.size == 0:
            return replace(self, mean=0.0, std=1.0, fill=0.0, knots=(), scores=())
        knots, scores = normal_scores(known) if is_skewed(known) and not self.plain else ((), ())
        learnt = replace(
            self,
            fill=float(np.median(known)),
            flag_learnt=known.size < values.size,
            knots=knots,
            scores=scores,
        )
        if self.plain:
            return learnt
        curve = learnt.curve(known)
        spread = float(curve.std()) if curve.min() < curve.max() else 0.0  # of equal numbers rounding leaves 1e-17
        return replace(learnt, mean=float(curve.mean()), std=spread or self.std)

    def unlike(self, table: Table) -> str:
        values = self.values(table)
        known = values[~np.isnan(values)]
        if known.size == 0:
            return ALL_EMPTY
        found = units_of(table.text(self.name)) if self.units else []
        if self.units and not set(self.units) >= set(found) > set():
            had, have = " and ".join(self.units), " and ".join(found) or "none"
            return f"its numbers had {had} in the training and have {have} here: see that they mean the same"
        middle, far = float(np.median(known)), FAR * self.std
        low, high = (self.knots[0], self.knots[-1]) if self.knots else (self.mean - far, self.mean + far)
        if self.plain or low <= middle <= high:
            return ""
        usual = f"{low:.4g} to {high:.4g}" if self.knots else f"{self.mean:.4g} ± {self.std:.4g}"
        return f"its numbers are about {middle:.4g}, far from those of the training ({usual})"

    def lost_cells(self, table: Table) -> str:
        return _numbers_and_notes(self, table)[1]

    def curve(self, values: Floats) -> Floats:
        """f: beyond the knots it is level, and a quarter of the numbers keeps their differences finite."""
        return np.interp(0.25 * values, 0.25 * np.array(self.knots), self.scores) if self.knots else values

    def encode(self, table: Table) -> Any:
        values = self.values(table)
        missing = np.isnan(values)
        fill = self.fill
        if fill is None:
            fill = float(np.interp(self.mean, self.scores, self.knots)) if self.knots else self.mean
        z = ((self.curve(np.where(missing, fill, values)) - self.mean) / self.std).clip(-LARGEST, LARGEST)
        return np.column_stack([z, missing & self.flag_learnt]) if self.flag else z[:, None]


@dataclass(frozen=True, kw_only=True)
class Date(Number):
    """Days since 1970 as a number, and where they vary the month, the weekday and the hour as points of a circle.

    written   how the dates are written, see `gwn.data.cells.DATES`; "" for a column of Arrow's dates
    parts     which circles there are
    """

    kind = "date"
    written: str = ""
    parts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        require_known("way to write dates", self.written, ("", *DATES))
        if tuple(part for part in PARTS if part in self.parts) != self.parts:
            raise ValueError(f"parts of dates {', '.join(self.parts)[:60]} of column {self.name!r}")

    @property
    def feature_names(self) -> tuple[str, ...]:
        circles = tuple(f"{self.name} {part} {axis}" for part in self.parts for axis in ("sin", "cos"))
        return super().feature_names + circles

    def unlike(self, table: Table) -> str:
        return ALL_EMPTY if np.isnan(self.values(table)).all() else ""  # later ones are what is to be expected

    @property
    def form(self) -> str:
        return f"a date, {self.written or 'year-month-day'}, as in the training"

    def read(self, table: Table) -> tuple[Floats, Mask]:
        return table.days(self.name, self.written or "year-month-day")

    def encode(self, table: Table) -> Any:
        days = self.values(table)
        circles = []
        for part in self.parts:
            angle = 2 * np.pi * np.nan_to_num(date_part(days, part))
            circles += [np.where(np.isnan(days), 0.0, np.sin(angle)), np.where(np.isnan(days), 0.0, np.cos(angle))]
        return np.column_stack([super().encode(table), *circles])


@dataclass(frozen=True, kw_only=True)
class Boolean(Column):
    """One for true; a missing cell has the share of true ones among the training nodes, `mean`."""

    kind = "boolean"
    mean: float = 0.0
    flag: bool = False
    flag_learnt: bool = True

    @property
    def feature_names(self) -> tuple[str, ...]:
        return (self.name, f"{self.name}={EMPTY}") if self.flag else (self.name,)

    def values(self, table: Table) -> Floats:
        """One, zero, or NaN for a missing cell; anything else is refused."""
        text = pc.utf8_lower(pc.replace_substring_regex(table.text(self.name), r"^([01])\.0+$", r"\1"))
        yes, no, empty = (np.asarray(pc.is_in(text, value_set=pa.array(words))) for words in (TRUE, FALSE, ("",)))
        wrong = np.flatnonzero(~(yes | no | empty))
        if wrong.size:
            row = int(wrong[0])
            raise GWNError(
                f"{table.path.name}: column {self.name!r} has {table.cell(self.name, row)!r} in row {row + 1}; "
                "true or false is needed, or an empty cell"
            )
        return np.where(empty, np.nan, yes.astype(np.float64))

    def unlike(self, table: Table) -> str:
        return ALL_EMPTY if np.isnan(self.values(table)).all() else ""

    def learn(self, table: Table, rows: Rows) -> Boolean:
        values = self.values(table)[rows]
        known = values[~np.isnan(values)]
        return replace(self, mean=float(known.mean()) if known.size else 0.0, flag_learnt=known.size < values.size)

    def encode(self, table: Table) -> Any:
        values = self.values(table)
        missing = np.isnan(values)
        found = np.where(missing, self.mean, values)
        return sp.csr_matrix(np.column_stack([found, missing & self.flag_learnt]) if self.flag else found[:, None])


@dataclass(frozen=True, kw_only=True)
class Category(Column):
    """One feature a category; missing cells and rare categories have one of their own where there are any.

    unseen   features that no training node has: their nodes go to the other ones, or have only zeros
    """

    kind = "category"
    categories: tuple[str, ...] = ()
    flag: bool = False
    other: bool = False
    unseen: tuple[str, ...] = ()

    @property
    def features(self) -> tuple[str, ...]:
        """The categories, missing and other among them."""
        return (*self.categories, *([EMPTY] if self.flag else []), *([OTHER] if self.other else []))

    @property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(f"{self.name}={feature}" for feature in self.features)

    def codes(self, table: Table) -> NDArray[np.int64]:
        """The number of each row's feature, -1 for none."""
        text = table.text(self.name)
        at = np.array(pc.fill_null(pc.index_in(text, value_set=pa.array(self.categories, pa.string())), -1), np.int64)
        if self.flag:
            at[np.asarray(pc.equal(text, ""))] = len(self.categories)
        other = len(self.features) - 1 if self.other else -1
        at[np.isin(at, [place for place, feature in enumerate(self.features) if feature in self.unseen])] = other
        at[at < 0] = other
        return np.where(at == other, -1, at) if OTHER in self.unseen else at

    def unlike(self, table: Table) -> str:
        text = table.text(self.name)
        filled = text.filter(pc.not_equal(text, ""))
        if len(filled) == 0:
            return "" if self.flag else ALL_EMPTY
        strange = filled.filter(pc.invert(pc.is_in(filled, value_set=pa.array(self.categories, pa.string()))))
        if len(strange) <= (MOSTLY if self.other else 0.5) * len(filled):
            return ""
        return (
            f"{len(strange):,} of {len(filled):,} cells are no category of the training, {short(strange[0].as_py())} "
            f"for example; {short(self.categories[0]) if self.categories else OTHER} was one"
        )

    def learn(self, table: Table, rows: Rows) -> Category:
        codes = replace(self, unseen=()).codes(table)[rows]
        counts = np.bincount(codes[codes >= 0], minlength=len(self.features))
        return replace(self, unseen=tuple(f for f, count in zip(self.features, counts, strict=True) if count == 0))

    def encode(self, table: Table) -> Any:
        at = self.codes(table)
        rows = np.flatnonzero(at >= 0)
        return sp.csr_matrix((np.ones(rows.size), (rows, at[rows])), shape=(table.rows, len(self.features)))


@dataclass(frozen=True, kw_only=True)
class Text(Column):
    """How often each word is in the cell, words hashed to `width` features, each row of length one."""

    kind = "text"
    width: int = WORDS

    def __post_init__(self) -> None:
        require_between(f"features of the words of column {self.name!r}", self.width, 1, WORDS)

    @property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(f"{self.name} words {number}" for number in range(self.width))

    def encode(self, table: Table) -> Any:
        from sklearn.feature_extraction.text import HashingVectorizer

        words = HashingVectorizer(n_features=self.width, alternate_sign=False)
        return words.transform(table.text(self.name).to_pylist())


KINDS: dict[str, type[Column]] = {kind.kind: kind for kind in (Number, Boolean, Category, Date, Text, LeftOut)}
FORMER = {"mean", "std", "categories"}
"""What version 0.1.0 wrote for every kind of column."""


def column_from_json(data: dict[str, Any]) -> Column:
    """Back from `to_json`."""
    kind = KINDS[data["kind"]]
    known = {field.name for field in fields(kind)}
    require_fields(data, kind, "a column's description")
    given: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in data.items()}
    del given["kind"]
    return kind(**{key: value for key, value in given.items() if key in known or key not in FORMER})


def normal_scores(values: Floats) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Points through which an increasing curve brings these numbers to a normal distribution; ties share a rank."""
    distinct, counts = np.unique(values, return_counts=True)
    upper = np.cumsum(counts)
    middle = (upper - counts / 2) / values.size
    if distinct.size > KNOTS:
        at = np.unique(np.searchsorted(middle, np.linspace(0, 1, KNOTS)).clip(0, distinct.size - 1))
        distinct, middle = distinct[at], middle[at]
    return tuple(distinct.tolist()), tuple(ndtri(middle).tolist())


def is_skewed(values: Floats) -> bool:
    """Whether mean and spread say little of these numbers: some are eight robust deviations from the median, or huge.

    Few different numbers are never skewed; numbers most of which are equal are, as counts of rare things are.
    """
    if np.abs(values).max() > HUGE:
        return True
    if np.unique(values[:MANY]).size <= FEW and np.unique(values).size <= FEW:
        return False
    low, median, high = np.percentile(values, [25, 50, 75])
    return bool(high == low or np.abs(values - median).max() > 8 * (high - low) / 1.349)


def date_part(days: Floats, part: str) -> Floats:
    """Where in the year, the week or the day each date is, from 0 to 1; NaN for none."""
    if part == "hour":
        return days % 1
    if part == "weekday":
        return ((np.floor(days) + 3) % 7) / 7  # 1970 began on a Thursday
    whole = np.floor(np.nan_to_num(days)).astype("datetime64[D]")
    months = whole.astype("datetime64[M]").astype(np.int64) % 12
    return np.where(np.isnan(days), np.nan, months / 12)


def infer_column(table: Table, name: str, *, standardise: bool = True, text: bool = False) -> Column:
    """What a column is, from its cells, with its numbers learnt on the whole table.

    text   use its words, whatever else it might be
    """
    if text:
        return Text(name=name, note=f"its words, hashed to {WORDS} features")
    return _decide(table, name, standardise).learn(table, np.arange(table.rows))


def _decide(table: Table, name: str, standardise: bool) -> Column:
    kind = table.columns[name].type
    if not table.is_readable(name):
        return LeftOut(name=name, note=f"it holds {kind}: left out")
    declared = table.is_category(name)
    if not declared and (pa.types.is_date(kind) or pa.types.is_timestamp(kind)):
        return _date(table, name, "")
    if not declared and table.holds_numbers(name) and _differs_at_once(table.columns[name]):
        return _number(table, name, "", "", standardise)
    cells = table.text(name)
    filled = cells.filter(pc.not_equal(cells, ""))
    missing = len(filled) < table.rows
    distinct = pc.unique(filled)
    if len(filled) == 0:
        return LeftOut(name=name, note="it is empty: left out")
    if len(distinct) == 1:
        if missing:
            return Category(name=name, categories=tuple(distinct.to_pylist()), flag=True)
        return LeftOut(name=name, note=f"every cell is {short(distinct[0].as_py())}: left out")
    if _is_boolean(table, name, distinct):
        return Boolean(name=name, flag=missing)
    if declared:
        return _category(table, name, filled, missing, "")
    if not pa.types.is_floating(kind) and are_compact_dates(distinct):
        return _date(table, name, COMPACT)
    zero = begins_with_zero(distinct)
    codes = zero is not None and are_codes(distinct)
    notation, how = (None, "") if codes else table.notation(name)
    if notation is not None:
        zeros = "" if zero is None else f"{zero!r} begins with a zero and is read as a number"
        return _number(table, name, notation, "; ".join(filter(None, [how, zeros])), standardise)
    written = choose_date(cells)
    if written is not None:
        return _date(table, name, written)
    return _category(table, name, filled, missing, f"{zero!r} begins with a zero: read as codes" if codes else "")


def _number(table: Table, name: str, notation: str, how: str, standardise: bool) -> Column:
    units = tuple(units_of(table.text(name))) if notation else ()
    column = Number(name=name, notation=notation, plain=not standardise, units=units)
    values, odd = _numbers_and_notes(column, table)
    notes = [how, odd]
    known = values[~np.isnan(values)]
    if known.size == 0 or known.min() == known.max():
        too_close = known.size > 0 and abs(known[0]) >= EXACT and _different(table, name, ~np.isnan(values)) > 1
        differ = "they differ by less than a float of this size holds: left out; subtract their smallest to use them"
        return LeftOut(name=name, note=differ if too_close else "no two finite numbers differ: left out")
    if standardise and is_skewed(known):
        notes.append("skewed: by its quantiles")
    return replace(column, flag=known.size < values.size, note="; ".join(filter(None, notes)))


def _numbers_and_notes(column: Number, table: Table) -> tuple[Floats, str]:
    values, wrong = column.read(table)
    infinite = int(np.isinf(values).sum())
    notes = []
    if wrong.any():
        row, count = int(np.flatnonzero(wrong)[0]), int(wrong.sum())
        what = f"{short(table.cell(column.name, row))} in row {row + 1}"
        more = f" and {count - 1} more are" if count > 1 else " is"
        notes.append(f"{what}{more} no {column.kind} and missing therefore")
    if infinite:
        notes.append(f"{infinite} infinite cell{'s are' if infinite > 1 else ' is'} missing therefore")
    return np.where(np.isfinite(values), values, np.nan), "; ".join(notes)


def _different(table: Table, name: str, rows: Mask) -> int:
    """How many different cells there are in these rows, as a column's kind is decided."""
    return len(pc.unique(table.text(name).filter(pa.array(rows))))


def _date(table: Table, name: str, written: str) -> Column:
    column = Date(name=name, written=written)
    days, odd = _numbers_and_notes(column, table)
    known = days[~np.isnan(days)]
    if known.size == 0 or np.unique(known).size == 1:
        return LeftOut(name=name, note="no two dates differ: left out")
    parts = tuple(part for part in PARTS if np.unique(date_part(known, part)).size > 1)
    notes = [f"dates are read as {written}"] if written else []
    other = the_other_way_round(written)
    if other and not days_of(table.text(name), other)[1].any():  # no cell that can be read in one way alone
        notes[0] += ", which no cell proves: month and day may be the other way round"
    note = "; ".join([*notes, *([odd] if odd else [])])
    return replace(column, flag=known.size < days.size, parts=parts, note=note)


def _category(table: Table, name: str, filled: Any, missing: bool, why: str) -> Column:
    counted = pc.value_counts(filled)
    names, counts = counted.field("values"), np.asarray(counted.field("counts"))
    frequent = counts >= max(1, min(10, table.rows // 200))
    if (~frequent).sum() == 1:
        frequent[:] = True
    pooled = int((~frequent).sum())
    if len(names) > max(FEW, table.rows // 2) or counts[~frequent].sum() > MOSTLY * len(filled):
        left_out = f"it has {len(names):,} different texts: left out; --text-column {shlex.quote(name)} uses its words"
        return LeftOut(name=name, note="; ".join(filter(None, [why, left_out])))
    return Category(
        name=name,
        categories=tuple(sorted(names.filter(pa.array(frequent)).to_pylist())),
        flag=missing,
        other=pooled > 0,
        note="; ".join(filter(None, [why, f"{pooled:,} rare categories are one" if pooled else ""])),
    )


def _differs_at_once(column: Any) -> bool:
    """Whether the first cells of a column of numbers are more than a pair, which might be yes and no, and no dates such
    as 20240131: then the others need not be written as text to know what it is."""
    first = pc.unique(column.slice(0, MANY).drop_null())
    dates = pa.types.is_integer(column.type) and are_compact_dates(pc.cast(first, pa.string()))
    return len(first) > 4 and not dates


def _is_boolean(table: Table, name: str, distinct: Any) -> bool:
    """Whether the two different cells are a pair such as yes and no, or 0 and 1."""
    if len(distinct) > 4:
        return False
    words = {cell.lower().removesuffix(".0") for cell in distinct.to_pylist()}
    return any(words == {yes, no} for yes, no in zip(TRUE, FALSE, strict=True))
