"""What is written is what is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwn import GWNError
from gwn.io import read_toml, to_toml, tomllib, write_toml  # type: ignore[attr-defined]

SURROGATES: tuple[Literal["Cs"]] = ("Cs",)
NAMES = st.text(st.characters(exclude_categories=SURROGATES), max_size=8)
NUMBERS = st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
PLAIN = NUMBERS | NAMES
TABLES = st.recursive(
    st.dictionaries(NAMES, PLAIN | st.lists(PLAIN, max_size=3), max_size=4),
    lambda inner: st.dictionaries(NAMES, inner | PLAIN, max_size=3),
    max_leaves=6,
)


@given(TABLES)
def test_round_trip(tables: dict[str, Any]) -> None:
    assert tomllib.loads(to_toml(tables)) == tables


def test_looks_as_a_person_would_write_it() -> None:
    tables = {"cora": {"per-class": {"data": "ab", "settings": {"tau": 0.5, "directed": None, "a b": [1, 2]}}}}
    assert to_toml(tables) == '[cora.per-class]\ndata = "ab"\n\n[cora.per-class.settings]\ntau = 0.5\n"a b" = [1, 2]\n'


def test_files(tmp_path: Path) -> None:
    file = tmp_path / "new" / "a.toml"
    write_toml(file, {"x": 1}, "Why.")
    assert file.read_text() == "# Why.\n\nx = 1\n"
    assert read_toml(file) == {"x": 1}
    file.write_text("x = = 1")
    with pytest.raises(GWNError, match=r"a\.toml cannot be read as TOML"):
        read_toml(file)
    with pytest.raises(GWNError, match="cannot be read"):
        read_toml(tmp_path)
    with pytest.raises(GWNError, match="does not belong"):
        to_toml({"x": float("nan")})
