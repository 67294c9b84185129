"""The rows of the accuracy tables: every model on the shelf, and the wave family as a whole."""

from __future__ import annotations

from dataclasses import dataclass

from gwn.models import MODELS

OURS = ("gwn-sym", "gwn-fa", "gwn-plus")
"""The rows that every other one is compared with."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A line of a table.

    model   the model's name on the shelf
    group   rows of one group stand together: "floor", "mainstream", "differential equation", "wave"
    full    whether it has the wave networks' own search budget; the other peers have a smaller one, all the same
    """

    name: str
    title: str
    model: str
    group: str
    full: bool = False


def _rows() -> dict[str, Row]:
    full = ("mlp", "gcn", "gwn-sym", "gwn-fa")
    floor = ("majority", "mlp")
    rows = {
        name: Row(
            name=name,
            title=spec.title,
            model=name,
            group="floor" if name in floor else spec.kind,
            full=name in full,
        )
        for name, spec in MODELS.items()
        if name != "gwn"
    }
    rows["gwn-plus"] = Row(name="gwn-plus", title="GWN+", model="gwn", group="wave", full=True)
    order = ("floor", "mainstream", "differential equation", "wave")
    return dict(sorted(rows.items(), key=lambda item: order.index(item[1].group)))


ROWS: dict[str, Row] = _rows()
