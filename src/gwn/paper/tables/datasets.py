"""The paper's table of datasets, against what the files hold."""

from __future__ import annotations

from pathlib import Path

from gwn.data import DATASETS, load_dataset
from gwn.errors import GWNError
from gwn.paper.exhibit import Exhibit
from gwn.paper.printed import dataset_counts, place
from gwn.paper.table import TableCell, TableData, words

NAME = "table-datasets"
_HOMOPHILIC = ("cora", "citeseer", "pubmed", "computers", "photo", "cs")
SHOWN = (*_HOMOPHILIC, "actor", "texas", "cornell", "wisconsin", "deezer-europe", "ogbn-arxiv")
COUNTS = ("nodes", "edges", "features", "classes")


def tables(results: Path) -> tuple[TableData, ...]:
    """Counted in the files: edges of the simple undirected graph, and the share of them within a class."""
    rows, records = [], []
    for name in SHOWN:
        printed = dict(zip(COUNTS, dataset_counts(name), strict=True))
        try:
            graph = load_dataset(name).graph
        except GWNError:
            rows.append((words(DATASETS[name].title), *(_beside(None, printed[what]) for what in COUNTS), words("")))
            continue
        labelled = graph.labels
        source, target = graph.edge_index
        known = (labelled[source] >= 0) & (labelled[target] >= 0)
        same = float((labelled[source] == labelled[target])[known].float().mean())
        found = {
            "nodes": graph.num_nodes,
            "edges": graph.num_edges // 2,
            "features": graph.num_features,
            "classes": graph.num_classes,
        }
        cells = (_beside(found[what], printed[what]) for what in COUNTS)
        rows.append((words(DATASETS[name].title), *cells, words(f"{same:.3f}", same)))
        records.append({"dataset": name, **found, **{f"paper_{k}": v for k, v in printed.items()}, "homophily": same})
    return (
        TableData(
            name=NAME,
            title="The datasets, counted in the files",
            caption="Edges of the simple undirected graph: both directions once, no loops, no duplicates. Where the "
            "paper prints another number it stands below ours. Homophily: the share of edges within a class.",
            columns=("dataset", *COUNTS, "homophily"),
            rows=tuple(rows),
            command=f"gwn reproduce {NAME}",
            records=tuple(records),
        ),
    )


def _beside(ours: int | None, printed: int) -> TableCell:
    if ours is None:
        return TableCell(lines=("not at hand", f"paper {printed:,}"))
    return TableCell(
        lines=(f"{ours:,}",) if ours == printed else (f"{ours:,}", f"paper {printed:,}"), value=float(ours)
    )


EXHIBIT = Exhibit(name=NAME, title="the datasets, counted", place=place("datasets"), cells=(), tables=tables)
