"""One lookup for every shelf of the package, one error message when a name is not on it, and imports that can wait."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any, TypeVar

from gwn.errors import GWNError

T = TypeVar("T")


def lookup(kind: str, name: str, shelf: Mapping[str, T]) -> T:
    """The entry `name` of `shelf`, or an error that lists what exists and suggests the nearest name."""
    require_known(kind, name, shelf)
    entry = shelf[name]
    for trait in getattr(entry, "traits", ()):
        if not hasattr(entry, trait):
            raise GWNError(f"{kind} {name!r} does not say what its {trait!r} is; set {trait} in its class")
    return entry


def require_known(kind: str, name: str, known: Iterable[str]) -> None:
    """Refuse a name that is not among `known`."""
    names = sorted(known)
    if name in names:
        return
    close = get_close_matches(str(name).lower(), names, n=1, cutoff=0.5)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    raise GWNError(f"unknown {kind} {name!r}{hint} (known: {', '.join(names) or 'none'})")


def keyword_options(kind: type[Any]) -> dict[str, inspect.Parameter]:
    """The keyword-only arguments of a class: what a user may set."""
    parameters = inspect.signature(kind).parameters
    return {name: p for name, p in parameters.items() if p.kind is inspect.Parameter.KEYWORD_ONLY}


def resolve(reference: str) -> Any:
    """The thing that "package.module:name" names, imported now."""
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)


def exports_on_demand(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """A package's `__getattr__`: each public name is imported from its home when it is first asked for.

    homes   name -> the module it lives in
    """

    def look_up(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, found)
        return found

    return look_up
