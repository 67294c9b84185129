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


class Entry:
    """Something that has to say its size."""

    traits = ("size",)
    size: int


class Sized(Entry):
    size = 3


def test_an_entry_that_does_not_say_what_it_must_is_named() -> None:
    assert lookup("thing", "sized", {"sized": Sized, "entry": Entry}) is Sized
    with pytest.raises(GWNError) as error:
        lookup("thing", "entry", {"sized": Sized, "entry": Entry})
    assert str(error.value) == "thing 'entry' does not say what its 'size' is; set size in its class"


def test_nothing_near() -> None:
    with pytest.raises(GWNError) as error:
        require_known("colour", "zzz", ["red"])
    assert str(error.value) == "unknown colour 'zzz' (known: red)"
    with pytest.raises(GWNError, match="known: none"):
        require_known("colour", "red", [])
