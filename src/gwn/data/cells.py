"""What the cells of a column of text mean as numbers and as dates; whole columns at a time."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

MOSTLY = 0.9
"""A column with more numbers than this is meant to be numeric, and its other cells count as missing."""

NOBODY_KNOWS = (
    *("?", "-", "--", ".", "unknown", "unlabeled", "unlabelled", "undefined", "missing", "none", "tbd"),
    *("n/a", "n.a.", "#n/a", "#div/0!", "#value!", "#num!", "#ref!"),
)
"""What people and spreadsheets write into a cell whose class or number nobody knows, in small letters."""

NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^[+-]?(?i:inf|infinity)$|^(?i:nan)$"
PADDED = r"^0\d+$"
UNIT = r"[$€£¥₹%]|USD|EUR|GBP|CHF"
BLANKS = " '’\u00a0\u202f"
POINT, COMMA = "1,234.5", "1.234,5"
NOTATIONS = {
    POINT: (rf"^[+-]?([1-9]\d{{0,2}}([,{BLANKS}]\d{{3}})+|\d+)(\.\d+)?([eE][+-]?\d+)?$", rf"[,{BLANKS}]", "."),
    COMMA: (rf"^[+-]?([1-9]\d{{0,2}}([.{BLANKS}]\d{{3}})+|\d+)(,\d+)?([eE][+-]?\d+)?$", rf"[.{BLANKS}]", ","),
}
"""Notation -> what a number looks like, what stands between thousands, and the decimal sign."""


def short(cell: str) -> str:
    """A cell for messages, quoted: one of a thousand letters would push the advice out of the line."""
    return repr(cell if len(cell) <= 40 else cell[:37] + "...")


def numbers_of(text: Any, notation: str = "", decimal_comma: bool = False) -> tuple[Floats, Mask]:
    """Text as numbers, NaN where a cell is empty or no number, and which cells hold something that is no number.

    notation        "" for numbers as programs write them, else one of NOTATIONS, with or without a sign of money
    decimal_comma   whether 1,5 is a number too
    """
    empty = pc.equal(text, "")
    if not notation and not decimal_comma:
        try:  # in one go; only a column with something else in it needs a look at its cells
            return np.asarray(pc.cast(pc.if_else(empty, "nan", text), pa.float64())), np.zeros(len(text), dtype=bool)
        except pa.ArrowInvalid:
            pass
    if notation:
        pattern, between, point = NOTATIONS[notation]
        text = _without_unit(text)
        right = pc.match_substring_regex(text, pattern)
        text = pc.replace_substring(pc.replace_substring_regex(text, between, ""), point, ".")
    else:
        if decimal_comma:
            text = pc.replace_substring_regex(text, r"^([+-]?\d+),(\d+)$", r"\1.\2")
        right = pc.match_substring_regex(text, NUMBER)
    values = np.asarray(pc.cast(pc.if_else(right, text, "nan"), pa.float64()))
    return values, np.asarray(pc.invert(pc.or_(right, empty)))


def choose_notation(text: Any, decimal_comma: bool) -> str | None:
    """How the filled cells write numbers; None where most of them are no numbers.

    1,234 alone could be either: it is more than a thousand unless the table writes its decimals with a comma. Where
    some cells have a point and others a comma, one of the two is the decimal sign, and the other stands between
    thousands: beside 987,5 a cell 1.234 is more than a thousand.
    """
    filled = _telling(text)
    if len(filled) == 0:
        return None
    odd = numbers_of(filled, decimal_comma=decimal_comma)[1]
    wrong = {"": odd.mean()}
    both = decimal_comma and _have_both_signs(filled.filter(pa.array(~odd)))
    if wrong[""] or both:  # cells such as 1.234,5 tell how the others, 1.234 say, are meant
        order = (COMMA, POINT) if decimal_comma else (POINT, COMMA)
        people = {notation: numbers_of(filled, notation)[1].mean() for notation in order}
        wrong = people | wrong if both else wrong | people  # of equally good ones the first is taken
    best = min(wrong, key=lambda notation: wrong[notation])
    return best if wrong[best] <= 1 - MOSTLY else None


def _have_both_signs(text: Any) -> bool:
    return all(pc.any(pc.match_substring(text, sign)).as_py() for sign in ".,")


def _telling(text: Any) -> Any:
    """The different cells that say something."""
    different = pc.unique(text)
    return different.filter(pc.invert(says_nothing(different)))


def says_nothing(text: Any) -> Any:
    """Which cells are empty, or hold a word for that; beside numbers or dates it can mean nothing else."""
    return pc.is_in(pc.utf8_lower(text), value_set=pa.array(["", *NOBODY_KNOWS]))


CODES = 0.05
"""Where more of the different whole numbers than this begin with a zero, they are names."""

CODE_WIDTH = 4
"""From so many digits on, whole numbers that all have as many are names if one of them begins with a zero."""


def begins_with_zero(text: Any) -> str | None:
    """A cell such as 05, where all numbers are whole ones."""
    numbers = text.filter(pc.match_substring_regex(text, NUMBER))
    padded = numbers.filter(pc.match_substring_regex(numbers, PADDED))
    if len(padded) == 0 or not pc.all(pc.match_substring_regex(numbers, r"^\d+$")).as_py():
        return None
    return str(padded[0])


def are_codes(text: Any) -> bool:
    """Whether digits are names here and no amounts: postal codes, say, where 01583 begins with a zero.

    One cell of many, as 05 among ages from 18 to 77, does not make names of the others.
    """
    numbers = pc.unique(text.filter(pc.match_substring_regex(text, r"^\d+$")))
    padded = pc.mean(pc.match_substring_regex(numbers, PADDED)).as_py() or 0.0
    widths = pc.unique(pc.utf8_length(numbers)).to_pylist()
    return padded > CODES or (padded > 0 and len(widths) == 1 and widths[0] >= CODE_WIDTH)


def units_of(text: Any) -> list[str]:
    """The different signs of money and of per cent in these cells, which are read as numbers without them."""
    return sorted(filter(None, pc.unique(pc.extract_regex(text, rf"(?P<unit>{UNIT})").field("unit")).to_pylist()))


def how_read(text: Any, notation: str, decimal_comma: bool) -> str:
    """What a person should know about how numbers were read; "" where there was nothing to decide.

    A cell such as 1,234 or 1.234 can be read in two ways: thousands, or decimals.
    """
    units, text = units_of(text) if notation else [], pc.unique(_without_unit(text) if notation else text)
    either = text.filter(pc.match_substring_regex(text, r"^[+-]?[1-9]\d{0,2}[.,]\d{3}$"))
    signed = text.filter(pc.match_substring_regex(text, "[.,]"))
    between = {COMMA: ".", POINT: ","}.get(notation)
    large = either.filter(pc.match_substring(either, between)) if between else either[:0]
    said = []
    if notation:
        such = f": {large[0].as_py()} is {large[0].as_py().replace(between, '')}" if len(large) else ""
        said.append(f"numbers are read as {notation}{such}")
    elif decimal_comma and _have_both_signs(signed.filter(pa.array(~numbers_of(signed, decimal_comma=True)[1]))):
        return "point and comma are both read as decimal signs"
    if decimal_comma and len(either) and len(either) == len(signed) and not len(large):
        said.append(f"{either[0].as_py()} is read with decimals, as less than a thousand, which no cell proves")
    return "; ".join([*said, *([f"{' and '.join(units)} left out"] if units else [])])


def _without_unit(text: Any) -> Any:
    before = pc.replace_substring_regex(text, rf"^([+-]?)\s*(?:{UNIT})\s*", r"\1")
    return pc.replace_substring_regex(before, rf"\s*(?:{UNIT})$", "")


TIME = (
    r"(?:[T ]+(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}(?:\.\d+)?))?"
    r"\s*(?P<half>[AaPp]\.?[Mm]\.?)?\s*(?P<zone>Z|UTC|[+-]\d{2}:?\d{2})?)?$"
)
YEAR, SHORT_YEAR, MONTH, DAY, NAMED = (
    r"(?P<year>\d{4})",
    r"(?P<year>\d{2})",
    r"(?P<month>\d{1,2})",
    r"(?P<day>\d{1,2})",
    r"(?P<named>[A-Za-z]{3})[a-z]*",
)
DATES = {
    "year-month-day": rf"^{YEAR}-{MONTH}-{DAY}{TIME}",
    "year/month/day": rf"^{YEAR}/{MONTH}/{DAY}{TIME}",
    "day.month.year": rf"^{DAY}\.{MONTH}\.{YEAR}{TIME}",
    "month/day/year": rf"^{MONTH}/{DAY}/{YEAR}{TIME}",
    "day/month/year": rf"^{DAY}/{MONTH}/{YEAR}{TIME}",
    "day-month-year": rf"^{DAY}-{MONTH}-{YEAR}{TIME}",
    "month-day-year": rf"^{MONTH}-{DAY}-{YEAR}{TIME}",
    "day month year": rf"^{DAY}[ -]{NAMED}[ -]{YEAR}{TIME}",
    "month day, year": rf"^{NAMED} {DAY}, ?{YEAR}{TIME}",
    "year-month": rf"^{YEAR}-{MONTH}$",
    "month/day/yy": rf"^{MONTH}/{DAY}/{SHORT_YEAR}{TIME}",
    "day/month/yy": rf"^{DAY}/{MONTH}/{SHORT_YEAR}{TIME}",
    "day.month.yy": rf"^(?P<day>\d{{2}})\.(?P<month>\d{{2}})\.{SHORT_YEAR}{TIME}",
    "yearmonthday": r"^(?P<year>(?:19|20)\d{2})(?P<month>\d{2})(?P<day>\d{2})$",
}
"""How dates are written; of two that fit equally well the first is taken."""

COMPACT = "yearmonthday"
FEWEST_COMPACT = 5
MAY_BE_DATE = r"\d{4}|^\d{1,2}[/.]\d{1,2}[/.]\d{2}"

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DAY_SECONDS = 86400.0
SHORT_YEARS_FROM = 1969
"""Years of two digits are in the hundred years from here, as POSIX has them."""


def days_of(text: Any, written: str) -> tuple[Floats, Mask]:
    """Days since 1970 with their fractions, NaN where there is no date, and which filled cells hold none."""
    found = pc.extract_regex(text, DATES[written])
    parts = {found.type.field(at).name: found.field(at) for at in range(found.type.num_fields)}
    fits = np.asarray(found.is_valid())
    year = _whole(parts["year"], fits)
    if written.endswith("yy"):
        year = SHORT_YEARS_FROM + (year - SHORT_YEARS_FROM) % 100
    month = _month(parts["named"], fits) if "named" in parts else _whole(parts["month"], fits)
    day = _whole(parts["day"], fits) if "day" in parts else np.ones_like(year)
    right = fits & (year > 0) & (month >= 1) & (month <= 12) & (day >= 1)
    first = np.where(right, (year - 1970) * 12 + month - 1, 0).astype("datetime64[M]")
    length = ((first + 1).astype("datetime64[D]") - first.astype("datetime64[D]")).astype(np.int64)
    right &= day <= length
    days = first.astype("datetime64[D]").astype(np.float64) + day - 1
    if "hour" in parts:
        hour, halved = _number(parts["hour"], fits), np.asarray(pc.not_equal(pc.fill_null(parts["half"], ""), ""))
        right &= ~halved | ((hour >= 1) & (hour <= 12))
        afternoon = np.asarray(pc.starts_with(pc.utf8_lower(pc.fill_null(parts["half"], "")), "p"))
        hour = np.where(halved, hour % 12 + 12 * afternoon, hour)
        seconds = hour * 3600 + _number(parts["minute"], fits) * 60
        days += (seconds + _number(parts["second"], fits)) / DAY_SECONDS - _zone(parts["zone"], fits)
        right &= (hour < 24) & (_number(parts["minute"], fits) < 60)
    return np.where(right, days, np.nan), np.asarray(pc.not_equal(text, "")) & ~right


def the_other_way_round(written: str) -> str:
    """How the same cells are written where month and day change places; "" where nobody writes dates so."""
    other = {"day": "month", "month": "day"}
    swapped = re.sub("day|month", lambda found: other[found[0]], written)
    return swapped if swapped in DATES else ""


def choose_date(text: Any) -> str | None:
    """How the filled cells write dates; None where most of them are no dates."""
    filled = _telling(text)
    if len(filled) == 0 or not pc.any(pc.match_substring_regex(filled.slice(0, 100), MAY_BE_DATE)).as_py():
        return None
    wrong = {written: days_of(filled, written)[1].mean() for written in DATES}
    best = min(DATES, key=lambda written: wrong[written])
    return best if wrong[best] <= 1 - MOSTLY else None


def are_compact_dates(text: Any) -> bool:
    """Whether whole numbers are dates, 20240131 say: there are several, and all of them are days of the calendar."""
    filled = pc.unique(text.filter(pc.not_equal(text, "")))
    return len(filled) >= FEWEST_COMPACT and not days_of(filled, COMPACT)[1].any()


def days_of_type(column: Any) -> Floats:
    """A column of Arrow's dates or timestamps as days since 1970, NaN where it is missing."""
    stamps = pc.cast(column, pa.timestamp("us", tz=getattr(column.type, "tz", None)), safe=False)
    micros = pc.cast(pc.cast(stamps, pa.int64()), pa.float64(), safe=False)
    return np.asarray(micros.to_numpy(zero_copy_only=False)) / (DAY_SECONDS * 1e6)


def _number(column: Any, fits: Mask) -> Floats:
    cells = pc.if_else(pc.and_(pa.array(fits), pc.not_equal(pc.fill_null(column, ""), "")), column, "0")
    return np.asarray(pc.cast(cells, pa.float64()))


def _whole(column: Any, fits: Mask) -> NDArray[np.int64]:
    return _number(column, fits).astype(np.int64)


def _month(column: Any, fits: Mask) -> NDArray[np.int64]:
    at = pc.index_in(pc.utf8_lower(pc.fill_null(column, "")), value_set=pa.array(MONTHS))
    return np.where(fits, np.asarray(pc.fill_null(at, -1)) + 1, 0)


def _zone(column: Any, fits: Mask) -> Floats:
    """What a written offset, +02:00 say, is ahead of universal time, in days."""
    found = pc.extract_regex(pc.fill_null(column, ""), r"^(?P<sign>[+-])(?P<hours>\d{2}):?(?P<minutes>\d{2})$")
    there = np.asarray(found.is_valid()) & fits
    ahead = (_number(found.field(1), there) * 60 + _number(found.field(2), there)) / 1440
    return np.where(np.asarray(pc.equal(pc.fill_null(found.field(0), ""), "-")), -ahead, ahead)
