"""What a part of the scale benchmark is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gwn.benchmarks.targets import Verdict
from gwn.data.large.block_model import BlockModel
from gwn.data.large.folder import GraphFolder
from gwn.data.large.generate import generate_folder, model_like
from gwn.errors import GWNError

Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class ScaleSettings:
    """Threads and seconds as in `gwn bench`; `work` holds generated graphs; `shrink` divides all sizes, for tests."""

    work: Path
    threads: int = 1
    seconds: float = 20.0
    shrink: int = 1
    width: int = 128
    steps: int = 5
    say: Say = lambda line: None

    def arxiv(self) -> GraphFolder:
        """The graph of the shape of ogbn-arxiv."""
        full = model_like("ogbn-arxiv")
        nodes, edges = max(400, full.nodes // self.shrink), max(1000, full.edges // self.shrink)
        return self.graph("arxiv", model_like("ogbn-arxiv", nodes=nodes, edges=edges))

    def ten_million(self) -> GraphFolder:
        """Ten million undirected edges between a million nodes."""
        nodes, edges = 1_000_000 // self.shrink, 10_000_000 // self.shrink
        return self.graph("ten-million", BlockModel(nodes=nodes, edges=edges, features=64, classes=16))

    def graph(self, name: str, model: BlockModel) -> GraphFolder:
        """The graph as a folder below `work`, made where it is not there or not the same."""
        path = self.work / f"{name}-{model.nodes}-{model.edges}"
        try:
            found = GraphFolder.open(path)
            if found.meta["made"] == {"by": "block model", **vars_of(model)}:
                return found
        except GWNError:
            pass
        self.say(f"generating {model.nodes:,} nodes and {model.edges:,} edges")
        return generate_folder(model, path, force=(path / "meta.json").is_file())


def vars_of(model: BlockModel) -> dict[str, Any]:
    """Its fields, as they stand in `meta.json`."""
    from dataclasses import asdict

    return asdict(model)


@dataclass(frozen=True, kw_only=True)
class PartResult:
    """A table of what was measured, and what it says.

    facts   the sizes that all rows share
    rows    one dictionary a line of the table, all with the same keys
    """

    facts: Mapping[str, Any]
    rows: tuple[Mapping[str, Any], ...]
    verdicts: tuple[Verdict, ...]
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "facts": dict(self.facts),
            "rows": [dict(row) for row in self.rows],
            "verdicts": [verdict.to_json() for verdict in self.verdicts],
            "notes": list(self.notes),
        }


def sizes_of(graph: GraphFolder) -> dict[str, Any]:
    """What a table says about its graph."""
    return {
        "nodes": graph.num_nodes,
        "edges": graph.num_arcs // 2,
        "features": graph.num_features,
        "classes": graph.num_classes,
    }
