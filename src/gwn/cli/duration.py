"""Durations as people write them."""

from __future__ import annotations

import re

from gwn.errors import GWNError

_SECONDS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([dhms])\s*")


def parse_duration(option: str, text: str) -> float:
    """`90s`, `30m`, `2h` or `1h30m` in seconds."""
    parts = _PART.findall(text)
    if not parts or _PART.sub("", text.strip()):
        raise GWNError(f"{option} takes a duration such as 90s, 30m, 2h or 1h30m; got {text!r}")
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in parts)
    if not 0 < seconds < 1e9:
        raise GWNError(f"{option} must be longer than nothing and shorter than thirty years; got {text!r}")
    return seconds
