"""What a model on the shelf is: its network, where it comes from, which settings it takes and which are searched."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from gwn.dimension import Dimension
from gwn.errors import GWNError, require_between
from gwn.registry import require_known, resolve

if TYPE_CHECKING:
    from torch import nn

ROW_NORMALIZE = "row_normalize"
_ON_INPUT = inspect.Parameter(ROW_NORMALIZE, inspect.Parameter.KEYWORD_ONLY, default=False, annotation="bool")
"""Every model that looks at features can have them row-normalised; the wave networks do it themselves."""


@dataclass(frozen=True, kw_only=True)
class ModelSpec:
    """A model on the shelf. Its network, and with it PyTorch, is imported when it is first asked for.

    network  where its class is, "package.module:Class"
    kind     "wave", "mainstream", "differential equation", or "baseline": for comparisons on anyone's graph, and in no
             table of the reproduction
    origin   what is PyTorch Geometric's and what is ours
    fixed    constructor arguments that the name stands for, such as the Laplacian
    preset   other defaults than the network's own
    training the published learning rate and weight decay, where other than usual
    ignores  what the network does not look at: "features", "edges" or both
    gradients      whether it learns by gradients, with a learning rate and a weight decay; trees do not
    transductive   it has weights for every node of the graph it is trained on, and knows no other graph
    local          whether a node is answered from what its edges lead to alone; not so where all nodes are compared
    equivariant    whether renumbering the nodes only renumbers the answers; not so behind an embedding that is unique
                   only up to rotations
    space          the search space that `gwn tune` takes unless another is named
    search         the dimensions that are the model's own in the space "peers"
    heterophilic   its authors' settings for a small heterophilic graph, where the defaults are for another: a search
                   of its own dimensions begins there too
    with_decay     what a start with a strong weight decay has beside it
    starts         what a search begins with after the defaults, in the place of `heterophilic` and a strong decay
    classic        what makes its blocks those of a tuned classic, by the classic's convolution, and variants of it:
                   where settings were published for a dataset, a search begins with them, see `gwn.tuning.classics`
    former_names   what it was called in earlier versions, in commands and in what they wrote
    former_defaults   what a setting was where earlier versions did not name it: before there was a choice, or with
                   another default; for all that they stored, see `stored`
    of_numbers     its title where it predicts numbers, if that is another
    """

    name: str
    network: str
    title: str
    paper: str
    year: int
    kind: str
    origin: str
    fixed: Mapping[str, Any] = field(default_factory=dict)
    preset: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)
    gradients: bool = True
    ignores: tuple[str, ...] = ()
    transductive: bool = False
    local: bool = True
    equivariant: bool = True
    space: str = "standard"
    search: tuple[Dimension, ...] = ()
    heterophilic: Mapping[str, Any] = field(default_factory=dict)
    with_decay: Mapping[str, Any] = field(default_factory=dict)
    starts: tuple[Mapping[str, Any], ...] = ()
    classic: Mapping[str, tuple[Mapping[str, Any], ...]] = field(default_factory=dict)
    former_names: tuple[str, ...] = ()
    former_defaults: Mapping[str, Any] = field(default_factory=dict)
    of_numbers: str = ""

    def for_task(self, task: str) -> ModelSpec:
        """The same model with the title that it has for this task."""
        return replace(self, title=self.of_numbers) if task == "regression" and self.of_numbers else self

    @cached_property
    def network_class(self) -> type[nn.Module]:
        """The class that `network` names."""
        found: type[nn.Module] = resolve(self.network)
        return found

    @cached_property
    def _parameters(self) -> Mapping[str, inspect.Parameter]:
        return inspect.signature(self.network_class).parameters

    def settings(self) -> dict[str, inspect.Parameter]:
        """Everything that can be set, with type and default: also what only some Laplacians and schemes have."""
        further = getattr(self.network_class, "further_settings", None)
        return {**self._own_settings(), **(further(**self.fixed) if further else {})}

    def defaults(self) -> dict[str, Any]:
        """The settings that every network of this name has, with their values unless set otherwise."""
        found = {name: parameter.default for name, parameter in self._own_settings().items()}
        return {**found, **self._width(), **self.preset}

    def stored(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Settings that were read from a run, a record or a tuned table: what they do not name is as it was then.

        Every reader of stored settings asks this, so that what was trained stays the function that it was.
        """
        return {**self.former_defaults, **settings}

    def _width(self) -> dict[str, int]:
        """The usual width, for the networks that have a hidden layer."""
        return {"hidden_channels": 64} if "hidden_channels" in self._own_settings() else {}

    def _own_settings(self) -> dict[str, inspect.Parameter]:
        skip = {"in_channels", "out_channels", *self.fixed}
        found = {
            name: parameter
            for name, parameter in self._parameters.items()
            if name not in skip and parameter.kind is not inspect.Parameter.VAR_KEYWORD
        }
        return found if "features" in self.ignores else {**found, ROW_NORMALIZE: found.get(ROW_NORMALIZE, _ON_INPUT)}

    def build(self, in_channels: int, out_channels: int, **settings: Any) -> nn.Module:
        """The network with these settings; a setting it does not have is refused by name."""
        from gwn.networks.feedforward import normalize_input

        known = self.settings()
        for name in settings:
            require_known(f"setting of {self.name}", name, known)
        arguments = {**self._width(), **self.preset, **settings, **self.fixed}
        _check_ranges(arguments)
        itself = ROW_NORMALIZE in self._parameters
        on_input = False if itself else arguments.pop(ROW_NORMALIZE, False)
        network = self.network_class(in_channels=in_channels, out_channels=out_channels, **arguments)
        return normalize_input(network) if on_input else network


MOST_CHANNELS = 1 << 16
MOST_LAYERS = 1000
LARGEST = 1e12


def _check_ranges(settings: Mapping[str, Any]) -> None:
    """What holds for every model, checked here once rather than in every file of the shelf."""
    for name, value in settings.items():
        if isinstance(value, (int, float)) and name not in ("time", "tau") and not abs(value) <= LARGEST:
            raise GWNError(f"{name} must be a number between {-LARGEST:g} and {LARGEST:g}; got {str(value)[:40]}")
        if name.endswith("channels"):
            require_between(name, value, 1, MOST_CHANNELS)
        if name.endswith("layers") and value < 1:
            raise GWNError(f"a network needs at least one layer; got {name}={value}")
        if name.endswith("layers") or name == "heads":
            require_between(name, value, 1, MOST_LAYERS)
        if name.endswith("dropout") and value is not None and not 0.0 <= value < 1.0:
            raise GWNError(f"{name} must be in [0, 1); got {value}")
