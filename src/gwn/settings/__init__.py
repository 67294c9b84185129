"""Tuned settings: one TOML file a model, one table a dataset and split, written by `gwn tune`, read by `gwn train`.

A table has the hash of its `data`, `settings` of the model and `training`. Those that `gwn tune` writes also say what
was searched and measured; those that ship say in which record of the results that is, and leave out what is the
model's default. What a table does not name and had no choice when it was written is as it was then
(`ModelSpec.stored`). Settings that were searched with the answers corrected for label shift are a table of their own,
such as [cora.per-class-em]: they need not suit answers that nobody corrects.

They are looked for in the folder `settings/` where the command runs, then beside this file, where those that ship are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from gwn.errors import GWNError
from gwn.io import read_toml, write_toml
from gwn.models import ModelSpec
from gwn.training.config import TrainConfig, effective_settings

LOCAL = Path("settings")
SHIPPED = Path(__file__).parent


@dataclass(frozen=True, kw_only=True)
class Tuned:
    """One table: the settings of model and training, what file they are from, and all that is said beside them."""

    file: Path
    place: str
    settings: Mapping[str, Any]
    training: Mapping[str, Any]
    table: Mapping[str, Any]

    def merge(
        self, model: ModelSpec, for_model: Mapping[str, Any], for_training: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Tuned values, overridden by what was given; where that names another Laplacian or scheme, the tuned options
        of the former one are dropped."""
        together = {**self.settings, **for_model}
        own = {name: value for name, value in together.items() if name in model.defaults()}
        apply = {*effective_settings(model, own), *for_model}
        return (
            {name: value for name, value in together.items() if name in apply},
            {**self.training, **for_training},
        )

    def origin(self, overridden: Sequence[str]) -> dict[str, Any]:
        """What a result says about where its settings came from."""
        return {"file": str(self.file), "table": self.place, "overridden": sorted(overridden)}


def table_name(split: str, prior: str) -> str:
    """What the table of a split is called: `SPLIT`, or `SPLIT-PRIOR` where the answers are corrected."""
    return split if prior == "none" else f"{split}-{prior}"


def find_tuned(
    model: ModelSpec,
    dataset: str,
    split: str,
    data_hash: str,
    folders: Sequence[Path] | None = None,
    *,
    prior: str = "none",
) -> Tuned | None:
    """The tuned settings of this model on this dataset and split, unless they were tuned on other data.

    data_hash   of the graph: a directed reading of the same files is other data
    prior       that the answers are corrected with: settings searched so come before those of the same file without it
    """
    places = (LOCAL, SHIPPED) if folders is None else folders
    looked_at = [folder / f"{name}.toml" for folder in places for name in (model.name, *model.former_names)]
    for file in filter(Path.is_file, looked_at):
        found = read_toml(file).get(dataset)
        for name in dict.fromkeys((table_name(split, prior), split)):
            table = found.get(name) if isinstance(found, dict) else None
            if table is not None:
                tuned = _checked(file, f"{dataset}.{name}", table, model)
                if tuned.table.get("data") == data_hash:
                    return tuned
    return None


def write_tuned(file: Path, tables: Mapping[str, Mapping[str, Any]], by: str) -> Path:
    """Write dataset -> split -> table to a model's file, which says what command it is `by`; the file."""
    write_toml(file, tables, f"Written by `{by}`, read by `gwn train`.")
    return file


def _checked(file: Path, place: str, table: Any, model: ModelSpec) -> Tuned:
    settings = table.get("settings") if isinstance(table, dict) else None
    training = table.get("training") if isinstance(table, dict) else None
    if not isinstance(settings, dict) or not isinstance(training, dict):
        raise GWNError(f"{file} has no settings and training in [{place}]; tune again, or use --no-tuned")
    try:
        unknown = training.keys() - {field.name for field in fields(TrainConfig)}
        if unknown:
            raise GWNError(f"unknown setting of training {min(unknown)!r}")
        TrainConfig(**training)
        settings = model.stored(settings)
        model.build(1, 2, **settings)
    except (GWNError, TypeError) as error:
        raise GWNError(f"{file} [{place}]: {error}; mend it, tune again, or use --no-tuned") from None
    return Tuned(file=file, place=place, settings=settings, training=training, table=table)
