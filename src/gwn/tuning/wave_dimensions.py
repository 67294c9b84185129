"""What is searched of a wave: derived from the shelves of Laplacians and schemes, so that a new one is searched too.

A pair is tried if it can be built with the longest step of `BELOW_BOUND`. What makes no sense is refused there with a
reason (`gwn.networks.dynamics`), so the search need not know it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

import torch

from gwn.dimension import Dimension
from gwn.errors import GWNError
from gwn.laplacians import LAPLACIANS, Laplacian
from gwn.laplacians.speed import SPEEDS
from gwn.models import model_spec
from gwn.networks.dynamics import build_dynamics
from gwn.registry import lookup
from gwn.schemes import SCHEMES, Scheme

BELOW_BOUND = (0.2, 0.5, 1.0)
TAUS = (*BELOW_BOUND, 2.0, 5.0)
"""The paper's step lengths; those above 1 are for what grows anyway, or is stable for any."""

Pairs = Mapping[str, Mapping[str, tuple[Laplacian, Scheme]]]
"""By the names of Laplacian and scheme, the two as they are built together."""


def suited_pairs() -> Pairs:
    """Every Laplacian with the schemes that suit it: its own first ones, the explicit ones, then the others."""
    found = {}
    for laplacian in LAPLACIANS:
        first = lookup("laplacian", laplacian, LAPLACIANS).first_schemes
        built = {}
        for scheme in (*first, *(name for name in _explicit_first() if name not in first)):
            try:
                with torch.device("meta"):  # where building draws no random numbers
                    built[scheme] = build_dynamics(laplacian, scheme, 1, 1, max(BELOW_BOUND), options={})
            except GWNError:
                continue
        if built:
            found[laplacian] = built
    return found


def wave_dimensions(waves_only: bool = False) -> tuple[Dimension, ...]:
    """Laplacian, scheme, speed, step length, read-out and time, then what each Laplacian and scheme has of its own.

    waves_only   without the schemes that are of first order in time: the heat equation is no wave
    """
    found = _all_dimensions()
    return tuple(map(_of_waves, found)) if waves_only else found


def _of_waves(dimension: Dimension) -> Dimension:
    """The same without what is no wave."""
    if dimension.setting != "scheme":
        return dimension
    waves = tuple(name for name in dimension.values if SCHEMES[str(name)].wave)
    return replace(dimension, values=waves, label=f"{dimension.label or dimension.setting}, waves")


def _all_dimensions() -> tuple[Dimension, ...]:
    pairs, usual = suited_pairs(), model_spec("gwn-plus").preset["laplacian"]
    bounded = tuple(name for name, built in pairs.items() if all(map(_bounded, built.values())))
    limited = tuple(name for name in _explicit_first() if any(_limited(built.get(name)) for built in pairs.values()))
    return (
        Dimension(setting="laplacian", values=(usual, *(name for name in pairs if name != usual))),
        *_schemes(pairs),
        Dimension(
            setting="speed",
            values=SPEEDS,
            when={"scheme": tuple(name for name in _explicit_first() if not SCHEMES[name].exact)},
        ),
        Dimension(
            setting="tau",
            values=BELOW_BOUND,
            when={"laplacian": bounded, "scheme": limited},
            label="tau below the bound",
        ),
        Dimension(setting="tau", values=TAUS),
        Dimension(setting="readout", values=("trajectory", "last", "weighted", "with-encoder")),
        # At most 32 states are kept side by side; otherwise T reaches from one step (n = 1, an ego path) to the
        # paper's 20.
        Dimension(
            setting="time",
            low=0.2,
            high=6.4,
            log=True,
            when={"readout": ("trajectory", "weighted"), "tau": (0.2,)},
            label="time of a kept trajectory",
        ),
        Dimension(setting="time", low=0.2, high=20.0, log=True),
        *_own("laplacian", LAPLACIANS),
        *_own("scheme", SCHEMES),
    )


def _explicit_first() -> list[str]:
    """The schemes in the order of their shelf, those that need a fixed operator last."""
    return sorted(SCHEMES, key=lambda name: lookup("scheme", name, SCHEMES).needs_fixed)


def _bounded(pair: tuple[Laplacian, Scheme]) -> bool:
    """Whether the spectrum of this Laplacian is known and not positive, so that a short enough step is stable."""
    interval = pair[0].interval
    return interval is not None and interval[1] <= 0


def _limited(pair: tuple[Laplacian, Scheme] | None) -> bool:
    """Whether this scheme has a largest stable step."""
    return pair is not None and math.isfinite(pair[1].stable_limit())


def _schemes(pairs: Pairs) -> Iterator[Dimension]:
    """One list for the Laplacians that just the explicit schemes suit, and one for each of the others."""
    explicit = tuple(name for name in _explicit_first() if not SCHEMES[name].needs_fixed)
    alike = tuple(name for name, built in pairs.items() if tuple(built) == explicit)
    yield Dimension(setting="scheme", values=explicit, when={"laplacian": alike})
    for name, built in pairs.items():
        if name not in alike:
            yield Dimension(
                setting="scheme", values=tuple(built), when={"laplacian": (name,)}, label=f"scheme of {name}"
            )


def _own(setting: str, shelf: Mapping[str, type[Laplacian]] | Mapping[str, type[Scheme]]) -> Iterator[Dimension]:
    """What the entries of a shelf say that a search may try of their own settings."""
    seen = set()
    for name, kind in shelf.items():
        for dimension in kind.search:
            label = f"{dimension.setting} of {name}" if dimension.setting in seen else dimension.label
            seen.add(dimension.setting)
            yield replace(dimension, when={**dimension.when, setting: (name,)}, label=label)
