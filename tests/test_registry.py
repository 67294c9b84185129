"""One lookup, one message: what was given, what exists, the nearest match."""

from __future__ import annotations

import pytest

from gwn import GWNError
from gwn.registry import lookup, require_known


def test_lookup() -> None:
    assert lookup("colour", "red", {"red": 1, "blue": 2}) == 1
    with pytest.raises(GWNError) as error:
        lookup("colour", "bleu", {"red": 1, "blue": 2})
    assert str(error.value) == "unknown colour 'bleu'; did you mean 'blue'? (known: blue, red)"


def test_nothing_near() -> None:
    with pytest.raises(GWNError) as error:
        require_known("colour", "zzz", ["red"])
    assert str(error.value) == "unknown colour 'zzz' (known: red)"
    with pytest.raises(GWNError, match="known: none"):
        require_known("colour", "red", [])
