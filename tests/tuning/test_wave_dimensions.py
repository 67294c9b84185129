"""The wave family's search: today's list to the letter, because studies and records refer to it, and new entries."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import pytest
import torch

from gwn.adjacency import Adjacency
from gwn.dimension import Dimension
from gwn.errors import GWNError
from gwn.laplacians import LAPLACIANS, FixedOperator, Laplacian
from gwn.schemes import SCHEMES, Leapfrog
from gwn.tuning.wave_dimensions import wave_dimensions

_EXPLICIT = ("leapfrog", "leapfrog-rescaled", "damped", "heat")
_BOUNDED = ("physical", "klein-gordon", "fa-symmetric", "random-walk")
_EVERY_STATE = ("trajectory", "weighted")

KNOWN = (
    Dimension(
        setting="laplacian",
        values=("physical", "sym", "fa", "klein-gordon", "fa-symmetric", "random-walk", "polynomial"),
    ),
    Dimension(setting="scheme", values=_EXPLICIT, when={"laplacian": ("sym", "fa", "fa-symmetric")}),
    Dimension(
        setting="scheme",
        values=(*_EXPLICIT, "newmark", "bessel"),
        when={"laplacian": ("physical",)},
        label="scheme of physical",
    ),
    Dimension(
        setting="scheme",
        values=("leapfrog", "leapfrog-rescaled", "damped", "newmark"),
        when={"laplacian": ("klein-gordon",)},
        label="scheme of klein-gordon",
    ),
    Dimension(
        setting="scheme",
        values=(*_EXPLICIT, "bessel"),
        when={"laplacian": ("random-walk",)},
        label="scheme of random-walk",
    ),
    Dimension(
        setting="scheme",
        values=("leapfrog", "damped", "newmark", "heat"),
        when={"laplacian": ("polynomial",)},
        label="scheme of polynomial",
    ),
    Dimension(
        setting="speed",
        values=("none", "scalar", "channel"),
        when={"scheme": (*_EXPLICIT, "newmark")},
    ),
    Dimension(
        setting="tau",
        values=(0.2, 0.5, 1.0),
        when={"laplacian": _BOUNDED, "scheme": ("leapfrog", "damped", "heat")},
        label="tau below the bound",
    ),
    Dimension(setting="tau", values=(0.2, 0.5, 1.0, 2.0, 5.0)),
    Dimension(setting="readout", values=("trajectory", "last", "weighted", "with-encoder")),
    # At most 32 states to keep side by side; otherwise T reaches from one step (n = 1, an ego path) to the paper's 20.
    Dimension(
        setting="time",
        low=0.2,
        high=6.4,
        log=True,
        when={"readout": _EVERY_STATE, "tau": (0.2,)},
        label="time of a kept trajectory",
    ),
    Dimension(setting="time", low=0.2, high=20.0, log=True),
    Dimension(setting="epsilon", values=("bounded", "free", "none"), when={"laplacian": ("fa",)}),
    Dimension(setting="mass", low=0.1, high=1.4, log=True, when={"laplacian": ("klein-gordon",)}),
    Dimension(setting="degree", values=(2, 3, 4), when={"laplacian": ("polynomial",)}),
    Dimension(setting="damping", low=0.01, high=0.4, log=True, when={"scheme": ("damped",)}),
)


def test_todays_list() -> None:
    assert wave_dimensions() == KNOWN


def test_nothing_is_drawn_to_find_it() -> None:
    before = torch.get_rng_state()
    wave_dimensions()
    assert torch.equal(torch.get_rng_state(), before)


class Negative(Laplacian):
    """`L_a = strength (-S - I)`."""

    fixed = True
    symmetric = True
    search: ClassVar[tuple[Dimension, ...]] = (
        Dimension(setting="strength", values=(0.5, 1.0)),
        Dimension(setting="mass", low=0.5, high=1.0),
    )

    def __init__(
        self, channels: int, steps: int, sources: int | None = None, *, strength: float = 1.0, mass: float = 0.5
    ) -> None:
        super().__init__(channels, steps, sources)
        self.strength = strength

    @property
    def interval(self) -> tuple[float, float]:
        return -2.0 * self.strength, 0.0

    def on(self, adjacency: Adjacency) -> FixedOperator:
        return FixedOperator(adjacency, shift=-self.strength, scale=-self.strength)


class Half(Leapfrog):
    """Leapfrog under another name, with a setting of its own."""

    search: ClassVar[tuple[Dimension, ...]] = (Dimension(setting="ratio", low=0.1, high=0.5),)


def test_a_new_laplacian_is_searched_with_the_schemes_that_suit_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LAPLACIANS, "negative", Negative)
    found = {dimension.label or dimension.setting: dimension for dimension in wave_dimensions()}
    assert found["laplacian"].values[-1] == "negative"
    assert found["scheme of negative"].values == (*_EXPLICIT, "newmark")
    assert found["scheme of negative"].when == {"laplacian": ("negative",)}
    assert "negative" in found["tau below the bound"].when["laplacian"]
    assert found["strength"] == replace(Negative.search[0], when={"laplacian": ("negative",)})
    assert found["mass of negative"].when == {"laplacian": ("negative",)}, "klein-gordon has a mass too"
    assert found["mass"] == next(dimension for dimension in KNOWN if dimension.setting == "mass")


def test_a_new_scheme_is_searched_with_every_laplacian(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SCHEMES, "half", Half)
    found = {dimension.label or dimension.setting: dimension for dimension in wave_dimensions()}
    lists = [dimension.values for dimension in wave_dimensions() if dimension.setting == "scheme"]
    assert len(lists) == 5
    assert all("half" in values for values in lists)
    assert "half" in found["speed"].when["scheme"]
    assert "half" in found["tau below the bound"].when["scheme"]
    assert found["ratio"].when == {"scheme": ("half",)}


def test_an_entry_without_its_traits_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    class Silent(Laplacian):
        fixed = True

        def on(self, adjacency: Adjacency) -> FixedOperator:
            return FixedOperator(adjacency)

    monkeypatch.setitem(LAPLACIANS, "silent", Silent)
    with pytest.raises(GWNError, match="laplacian 'silent' does not say what its 'symmetric' is"):
        wave_dimensions()
