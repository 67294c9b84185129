"""Anyone's own graph from files: a table of edges and a table of nodes, or one file that holds both."""

from __future__ import annotations

import re
import shlex
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import torch
from torch import Tensor

from gwn.data.cells import short
from gwn.data.dataset import Dataset, usual_metric
from gwn.data.edge_columns import choose_ends, named_ends
from gwn.data.headers import require_edge_header, require_node_header
from gwn.data.node_ids import different_ids, leading_zeros, row_numbers
from gwn.data.schema import FeatureSchema, NodeTable
from gwn.data.splits import Split, splits_from_masks
from gwn.data.structural import bound_to, require_bound, structural_features
from gwn.data.tables import Table, first_line, read_head, read_table
from gwn.errors import GWNError
from gwn.graph import Graph, as_targets, count_self_loops, undirected, undirected_edges, whole_numbers
from gwn.io import file_sha256
from gwn.registry import require_known

MOST_UNPACKED = 1 << 30
MASKS = ("train_mask", "val_mask", "test_mask")


def load_graph_file(path: Path, *, directed: bool = False, task: str = "classification") -> Dataset:
    """A graph from .npz or .pt.

    Keys of an .npz, or attributes of the `Data` in a .pt:

    x            [N, f] features
    edge_index   [2, E] node numbers (source, target)
    y            [N] class numbers, -1 to be predicted; for the task "regression" numbers, NaN to be predicted; may be
                 left out
    edge_weight  [E]; may be left out
    node_ids     [N] and class_names [C], text; may be left out
    train_mask, val_mask, test_mask   [N] or [N, splits], the file's own splits: then they are the default
    """
    path = Path(path)
    readers = {".npz": _read_npz, ".pt": _read_pt}
    if path.is_dir():
        advice = f"name a file in it that ends in {' or '.join(readers)}, or give a graph folder without --graph"
        raise GWNError(f"{path} is a folder; {advice}")
    if path.suffix.lower() not in readers:
        raise GWNError(f"{path} is not a graph file; its name must end in {' or '.join(readers)}")
    read_head(path)
    parts = readers[path.suffix.lower()](path)
    for key in ("x", "edge_index"):
        if parts.get(key) is None:
            raise GWNError(f"{path} has no {key!r}; it holds {', '.join(sorted(parts)) or 'nothing'}")
    graph = _graph(path, parts, task)
    published = _published(parts, graph.num_nodes)
    return Dataset(
        name=graph.name,
        graph=(graph if directed else undirected(graph)).compact(),
        metric=usual_metric(graph),
        default_split=next(iter(published), "stratified"),
        directed=directed,
        published=published,
        files={path.name: file_sha256(path)},
    )


def _graph(path: Path, parts: Mapping[str, Any], task: str) -> Graph:
    try:
        names = {key: tuple(str(name) for name in parts[key]) for key in ("node_ids", "class_names") if key in parts}
        y, weight = parts.get("y"), parts.get("edge_weight")
        x = _real("x", parts["x"])
        return Graph(
            x=x,
            edge_index=whole_numbers("edge_index", torch.as_tensor(parts["edge_index"])),
            y=None if y is None else as_targets(y, task),
            edge_weight=None if weight is None else _real("edge_weight", weight).float(),
            name=path.stem,
            **names,
        )
    except (TypeError, ValueError, RuntimeError, AttributeError) as error:
        raise GWNError(f"{path.name}: {first_line(error)}") from error


def _real(what: str, given: Any) -> torch.Tensor:
    """Real numbers that float32 can hold."""
    values = torch.as_tensor(given)
    if values.is_complex():
        raise GWNError(f"{what} must be real numbers; got {values.dtype}")
    values = values if values.dtype in (torch.float32, torch.float64) else values.float()
    if values.layout == torch.sparse_coo:
        values = values.coalesce()
    stored = values if values.layout == torch.strided else values.values()
    if stored.numel() > 0 and bool((stored.abs() > torch.finfo(torch.float32).max).any() & stored.isfinite().all()):
        raise GWNError(f"{what} has values up to {float(stored.abs().max()):.3g}; float32 ends at 3.4e38: scale them")
    return values


def _published(parts: Mapping[str, Any], nodes: int) -> dict[str, tuple[Split, ...]]:
    if not all(parts.get(mask) is not None for mask in MASKS):
        return {}
    shapes = set()
    for name in MASKS:
        try:
            mask = torch.as_tensor(parts[name])
        except (TypeError, ValueError, RuntimeError) as error:
            raise GWNError(f"{name}: {first_line(error)}") from None
        if mask.dim() not in (1, 2) or mask.shape[0] != nodes or not bool(((mask == 0) | (mask == 1)).all()):
            raise GWNError(
                f"{name} must be true or false for each of {nodes} nodes; got {tuple(mask.shape)} {mask.dtype}"
            )
        shapes.add(tuple(mask.shape[1:]))
    if len(shapes) > 1:
        raise GWNError(f"{', '.join(MASKS)} have different numbers of splits")
    return {"published": splits_from_masks("published", *(torch.as_tensor(parts[mask]) for mask in MASKS))}


def _read_npz(path: Path) -> dict[str, Any]:
    _refuse_bomb(path)
    try:
        arrays = np.load(path, allow_pickle=False)
        if isinstance(arrays, np.ndarray):
            raise ValueError("it holds a single array")
        with arrays:
            return {key: arrays[key] for key in arrays.files}
    except Exception as error:  # bytes that are no archive break NumPy's reader in any way they like
        raise GWNError(
            f"{path} is not an .npz file of plain arrays ({first_line(error)}); write it with numpy.savez"
        ) from error


def _refuse_bomb(path: Path) -> None:
    """Refuse an archive that says it holds far more than its size allows, before anything is unpacked."""
    if not zipfile.is_zipfile(path):
        return
    try:
        with zipfile.ZipFile(path) as archive:
            inside = sum(member.file_size for member in archive.infolist())
    except Exception as error:
        raise GWNError(f"{path} is a damaged archive ({first_line(error)}); write it again") from None
    if inside > max(MOST_UNPACKED, 20 * path.stat().st_size):
        raise GWNError(
            f"{path} says that it unpacks to {inside:,} bytes; at most {MOST_UNPACKED:,} are, or twenty times its own "
            f"size: write it without compression (numpy.savez) if it is really so large"
        )


def _read_pt(path: Path) -> dict[str, Any]:
    """With PyTorch's restricted unpickler, which builds tensors and the parts of a `Data`, and nothing else."""
    from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
    from torch_geometric.data.storage import GlobalStorage

    _refuse_bomb(path)
    torch.serialization.add_safe_globals([DataEdgeAttr, DataTensorAttr, GlobalStorage])  # PyG registers the rest
    try:
        data = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # bytes that are no pickle break the unpickler in any way they like
        raise GWNError(
            f"{path} is not a PyG Data that can be opened safely, without running code from the file; "
            "write it with torch.save(data, path), tensors only"
        ) from error
    if not isinstance(data, Mapping) and not hasattr(data, "to_dict"):
        raise GWNError(f"{path} holds a {type(data).__name__}; a PyG Data or a dictionary of tensors is needed")
    parts: dict[str, Any] = dict(data) if isinstance(data, Mapping) else data.to_dict()
    for key, value in parts.items():
        if isinstance(value, Tensor):
            _require_stored(path, key, value)
    return parts


def _require_stored(path: Path, key: str, value: Tensor) -> None:
    """Refuse a tensor that says it has more numbers than the file: one of stride 0 repeats a number without end."""
    members = [value] if value.layout == torch.strided else []
    if value.layout == torch.sparse_csr:
        members = [value.crow_indices(), value.col_indices(), value.values()]
    for member in members:
        claimed, stored = member.numel() * member.element_size(), member.untyped_storage().nbytes()
        if claimed > stored:
            raise GWNError(
                f"{path}: {key} says that it has {claimed:,} bytes, and {stored:,} are stored; write it with "
                f"{key}.contiguous()"
            )


def load_files(
    *,
    edges: Path | Table,
    nodes: Path | Table,
    label_column: str | None,
    id_column: str | None = None,
    weight_column: str | None = None,
    source_column: str | None = None,
    target_column: str | None = None,
    drop_columns: Sequence[str] = (),
    text_columns: Sequence[str] = (),
    structural: str | None = None,
    task: str = "classification",
    no_header: Sequence[str] = (),
    skip_unknown: bool = False,
    schema: FeatureSchema | None = None,
    directed: bool = False,
    standardise: bool = True,
) -> tuple[Dataset, FeatureSchema]:
    """A graph from an edge table and a node table, each a CSV or Parquet file or in memory, and its schema.

    Every column of the node table that is not the id, the label or dropped becomes features; rows with an empty
    label are to be predicted. Ids are compared as text: those of `id_column`, else of the column that holds the ids
    which the edges name (`gwn.data.node_ids`). With `schema`, this graph is read as an earlier one was.

    skip_unknown   leave out edges that name nodes which the node table does not have, instead of refusing them; with
                   `schema` also where it says so
    """
    no_header = no_header if schema is None else schema.no_header
    for which in no_header:
        require_known("table without a header", which, ("edges", "nodes"))
    edge_table, node_table = (
        table if isinstance(table, Table) else read_table(table, header=which not in no_header)
        for which, table in (("edges", edges), ("nodes", nodes))
    )
    given = source_column is not None
    if schema is not None and source_column is None and target_column is None:
        given = schema.endpoints_given
        source_column, target_column = schema.ends_in(edge_table.columns)
    special = {"id_column": id_column, "weight_column": weight_column} if schema is None else schema.special
    ends = choose_ends(edge_table, node_table, source_column, target_column, **special)
    if special["weight_column"] in ends:
        raise GWNError(
            f"{edge_table.path.name}: weight column {special['weight_column']!r} is an end of the edges; name another "
            f"with --weight-column, or other ends with --source-column and --target-column"
        )
    ids_of_ends = named_ends(edge_table, node_table, ends)
    known = schema is not None
    if schema is None:
        named = different_ids(*ids_of_ends)
        if "nodes" not in no_header and node_table.path.suffix:
            require_node_header(node_table, named, (label_column, id_column, *drop_columns, *text_columns))
        schema = FeatureSchema.fit(
            node_table,
            label_column=label_column,
            id_column=id_column,
            weight_column=weight_column,
            drop_columns=drop_columns,
            text_columns=text_columns,
            structural=structural,
            standardise=standardise,
            named=named,
            task=task,
        )
        schema = replace(schema, no_header=tuple(no_header), skip_unknown=skip_unknown)
    else:
        schema = _again(schema, node_table, label_column, id_column, weight_column, skip_unknown)
    schema = replace(schema, source_column=ends[0], target_column=ends[1], endpoints_given=given)
    unused = [name for name in edge_table.columns if name not in (*ends, schema.weight_column)]
    schema = replace(schema, unused_of_edges=tuple(unused))
    ids = schema.ids(node_table)
    if "edges" not in no_header and edge_table.path.suffix:  # a table that was never in a file has names of its own
        by_name = [name for name in (source_column, weight_column) if name in edge_table.columns]
        require_edge_header(edge_table.path.name, ids, ends, by_name)
    if weight_column is not None and not known:
        edge_table.require("weight column", weight_column)
        notation, note = edge_table.notation(weight_column)
        schema = replace(schema, weight_notation=notation or "", weight_note=note)
    edge_index, edge_weight, dropped = _edges(edge_table, node_table, ids, schema, ids_of_ends, directed)
    from_edges = None
    if schema.structural is not None:
        kinds = schema.structural
        its_graph = bound_to(kinds, edge_index, edge_weight, node_table.rows)
        if known:
            require_bound(kinds, schema.bound_to, its_graph)
        schema = replace(schema, bound_to=its_graph)
        from_edges = structural_features(kinds, edge_index, edge_weight, node_table.rows)
    graph = Graph(
        x=schema.features(node_table, from_edges),
        edge_index=edge_index,
        edge_weight=edge_weight,
        y=schema.labels(node_table),
        name=Path(node_table.path.stem).stem if node_table.path.suffix == ".gz" else node_table.path.stem,
        node_ids=tuple(ids.to_pylist()),
        class_names=schema.class_names or None,
        feature_names=schema.feature_names,
    )
    dataset = Dataset(
        name=graph.name,
        graph=graph.compact(),
        metric=usual_metric(graph),
        default_split="stratified",
        directed=directed,
        published={},
        files=_hashes(edge_table, node_table),
        dropped=dropped,
        tables=NodeTable(table=node_table, schema=schema, structural=from_edges),
    )
    return dataset, schema


@contextmanager
def as_trained(schema: FeatureSchema) -> Iterator[None]:
    """Advice about other tables without the options that choose how tables are read: the model has chosen."""
    try:
        yield
    except GWNError as error:
        ends = f"rename those of the ends to {schema.source_column!r} and {schema.target_column!r}, as in the training"
        said = _CHOSEN.sub("", str(error))
        said = re.sub(r"say which two are the ends of an edge, .*", lambda _: ends, said)
        said = re.sub(r"go by row number with --drop-column .*?(?=, or )", "subtract 1 from them", said)
        raise type(error)(said) from None


_CHOSEN = re.compile(
    r", choose another with --id-column|, choose others with --source-column and --target-column"
    r"|(?<=; )say --no-header (?:edges|nodes) \(.*\), or "
)


def _hashes(edges: Table, nodes: Table) -> dict[str, str]:
    """SHA-256 by file name; two files of one name, in different folders, are told apart by what they hold."""
    same = edges.path.name == nodes.path.name
    return {
        f"{table.path.name} of {what}" if same else table.path.name: table.sha256()
        for what, table in (("edges", edges), ("nodes", nodes))
    }


def _again(
    schema: FeatureSchema,
    nodes: Table,
    label_column: str | None,
    id_column: str | None,
    weight_column: str | None,
    skip_unknown: bool,
) -> FeatureSchema:
    """How an earlier graph was read, with the columns that are named anew."""
    schema = replace(
        schema,
        skip_unknown=schema.skip_unknown or skip_unknown,
        label_column=label_column or schema.label_column,
        id_column=id_column or schema.id_column,
        weight_column=weight_column or schema.weight_column,
    )
    if schema.id_column is not None and schema.id_column not in nodes.columns:
        raise GWNError(
            f"{nodes.path.name} has no column {schema.id_column!r}, which held the ids where the model was trained; "
            f"rename the column of its ids to that"
        )
    return schema


def _edges(
    table: Table, nodes: Table, ids: Any, schema: FeatureSchema, ids_of_ends: Sequence[Any], directed: bool
) -> tuple[Tensor, Tensor | None, dict[str, int]]:
    """Edges [2, E], their weights, and how many were left out, by reason."""
    edge_index, known = _endpoints(table, nodes, ids, schema, ids_of_ends)
    edge_weight = _weights(table, schema)
    dropped: dict[str, int] = {}
    if not bool(known.all()):
        dropped["edges of unknown nodes"] = int((~known).sum())
        edge_index = edge_index[:, known]
        edge_weight = None if edge_weight is None else edge_weight[known]
    if not directed:
        rows, loops = edge_index.shape[1], count_self_loops(edge_index)
        edge_index, edge_weight = undirected_edges(edge_index, edge_weight, nodes.rows)
        repeated = "repeated edges" if edge_weight is None else "repeated edges (joined, weight: mean)"
        dropped |= {"self-loops": loops, repeated: rows - loops - edge_index.shape[1] // 2}
    return edge_index, edge_weight, dropped


def _endpoints(
    table: Table, nodes: Table, ids: Any, schema: FeatureSchema, ids_of_ends: Sequence[Any]
) -> tuple[Tensor, Tensor]:
    """Edges [2, E] as node numbers, and which of them name two known nodes; others are refused unless skipped."""
    found = [pc.index_in(text, value_set=ids) for text in ids_of_ends]
    unknown = np.logical_or(*(np.asarray(column.is_null()) for column in found))
    count = int(unknown.sum())
    if count:
        _require_from_zero(table, nodes, ids, schema, ids_of_ends)
    if count and (count == table.rows or not schema.skip_unknown):
        named = [name for text, at in zip(ids_of_ends, found, strict=True) for name in _unknown(text, at)]
        named = list(dict.fromkeys(named))
        some = ", ".join(named[:3]) + (", …" if len(named) > 3 else "")
        where = "the row numbers" if schema.id_column is None else f"column {schema.id_column!r}"
        advice = "add them, or leave these edges out with --skip-unknown; " if 2 * count < table.rows else ""
        advice = leading_zeros(different_ids(*ids_of_ends), ids) or advice
        raise GWNError(
            f"{table.path.name}: {count} of {table.rows} edges name nodes that {nodes.path.name} does not "
            f"have: {some} (first in row {int(unknown.argmax()) + 1}); {advice}"
            f"node ids are {where} of {nodes.path.name}, choose another with --id-column; edges go from column "
            f"{schema.source_column!r} to {schema.target_column!r}, choose others with --source-column and "
            f"--target-column"
        )
    numbers = np.stack([np.asarray(pc.fill_null(column, 0), dtype=np.int64) for column in found])
    return torch.from_numpy(numbers), torch.from_numpy(~unknown)


def _require_from_zero(table: Table, nodes: Table, ids: Any, schema: FeatureSchema, ids_of_ends: Sequence[Any]) -> None:
    """Refuse edges that count from 1 what is counted from 0, or the other way round.

    Leaving out those of the one unknown node would move all others by one.
    """
    _require_from_one(table, nodes, ids, schema, ids_of_ends)
    if (schema.id_column in nodes.columns and schema.skip_unknown) or ids != row_numbers(nodes):
        return
    named = different_ids(*ids_of_ends)
    strange = named.filter(pc.invert(pc.is_in(named, value_set=ids))).to_pylist()
    if strange == [str(nodes.rows)] and pc.index(named, "0").as_py() < 0:
        raise GWNError(
            f"{table.path.name} counts the rows of {nodes.path.name} from 1 to {nodes.rows}, and they are counted from "
            f"0; add a column of the numbers from 1 to {nodes.path.name}, or subtract 1 in both columns of the edges"
        )


def _require_from_one(table: Table, nodes: Table, ids: Any, schema: FeatureSchema, ids_of_ends: Sequence[Any]) -> None:
    """Refuse edges from 0 to N - 1 beside ids from 1 to N; an edge of N would say that they count as the ids do."""
    named = different_ids(*ids_of_ends)
    strange = named.filter(pc.invert(pc.is_in(named, value_set=ids))).to_pylist()
    if strange != ["0"] or pc.index(named, str(nodes.rows)).as_py() >= 0:
        return
    from_one = pc.cast(pc.add(pc.cast(row_numbers(nodes), "int64"), 1), "string")
    if not pc.all(pc.is_in(from_one, value_set=ids)).as_py():
        return
    column = shlex.quote(str(schema.id_column))
    by_row = f"go by row number with --drop-column {column}" if ids == from_one else "subtract 1 from them"
    raise GWNError(
        f"{table.path.name} counts the nodes from 0 to {nodes.rows - 1}, and their ids, in column "
        f"{schema.id_column!r} of {nodes.path.name}, go from 1 to {nodes.rows}; {by_row}, or add 1 in both columns of "
        f"the edges; where 0 stands for no node, delete its edges"
    )


def _unknown(text: Any, found: Any) -> list[str]:
    """The different names that were not found, quoted."""
    return [short(name) for name in pc.unique(text.filter(pc.is_null(found))).to_pylist()]


def _weights(table: Table, schema: FeatureSchema) -> Tensor | None:
    name = schema.weight_column
    if name is None:
        return None
    table.require("weight column", name)
    values, wrong = table.numbers(name, schema.weight_notation)
    bad = np.flatnonzero(~np.isfinite(values) | wrong | (values < 0))
    if bad.size:
        row = int(bad[0])
        raise GWNError(
            f"{table.path.name}: weight column {name!r} has {table.cell(name, row)!r} in row {row + 1}; "
            "weights are finite numbers and not negative: write one there, or delete the row"
        )
    large = np.flatnonzero(values > np.finfo(np.float32).max)
    if large.size:
        row = int(large[0])
        raise GWNError(
            f"{table.path.name}: weight column {name!r} has {table.cell(name, row)!r} in row {row + 1}; float32 ends "
            f"at 3.4e38: scale them, for example by the largest"
        )
    return torch.from_numpy(values.astype(np.float32))


__all__ = ["as_trained", "load_files", "load_graph_file"]
