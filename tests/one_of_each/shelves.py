"""The one line each. As a plugin of pytest, it fills the shelves before tests are collected."""

from __future__ import annotations

from typing import Any

from gwn.data import DATASETS
from gwn.laplacians import LAPLACIANS
from gwn.models import MODELS
from gwn.paper.exhibits import EXHIBITS
from gwn.schemes import SCHEMES
from one_of_each import dataset, figure, model
from one_of_each.laplacian import Repelling
from one_of_each.scheme import SymplecticEuler

LINES: tuple[tuple[dict[str, Any], str, Any], ...] = (
    (LAPLACIANS, "repelling", Repelling),
    (SCHEMES, "symplectic-euler", SymplecticEuler),
    (MODELS, "averaged-mlp", model.SPEC),
    (DATASETS, "ring-of-thirds", dataset.SPEC),
    (EXHIBITS, "figure-thirds", figure.EXHIBIT),
)


def pytest_configure() -> None:
    for shelf, name, entry in LINES:
        shelf[name] = entry
