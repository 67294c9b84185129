"""A large graph on disk: `meta.json` and one `.npy` file an array, all of them memory-mapped when read.

    indptr   [N + 1] int64   } row i has the columns indices[indptr[i]:indptr[i + 1]], sorted, each once, no self-loops
    indices  [A] int32       } A arcs: both directions of every undirected edge
    x        [N, f] float32  features
    y        [N] int32       class, -1 where unknown
    year     [N] int16       only where there is a split by time
    ids      [N] text        only where nodes have names: `ids.parquet`

`meta.json` is written last and the folder is renamed into place, so a half-written graph is never seen. It is sealed
and has the SHA-256 of every other file; an array is compared with it once, when a process first asks for it, and node
numbers in it are looked at.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from gwn.data.dataset import Dataset
from gwn.data.folders.arrays import ArrayReader, ArrayWriter, as_tensor, check_array, open_array
from gwn.data.splits import Split
from gwn.data.tables import SUFFIXES, suffix_of
from gwn.errors import GWNError, refuse_newer
from gwn.graph import MOST_CLASSES, Graph
from gwn.io import (
    content_key,
    file_sha256,
    publish,
    read_json,
    remove_abandoned_folders,
    require_shape,
    require_writable,
    safe_name,
    sync,
    write_json,
)

_CHECKED: set[tuple[int, int, int, int, str]] = set()
"""Versions of array files, and of how many nodes they are, that this process has looked through."""

FORMAT = "gwn-graph-1"
ARRAYS: dict[str, Any] = {"indptr": "<i8", "indices": "<i4", "x": "<f4", "y": "<i4", "year": "<i2"}
REQUIRED = ("indptr", "indices", "x", "y")


def _require_record(meta: dict[str, Any]) -> None:
    """Refuse a `meta.json` that is not built as ours are; names of arrays become file names, so they must be known."""
    record = {"dtype": str, "shape": [int], "bytes": int, "sha256": str}
    shape: dict[str, Any] = {"name": str, "classes": int, "arrays": dict.fromkeys(meta["arrays"], record)}
    if "class_names" in meta:
        shape["class_names"] = [str]
    if "year" in meta["arrays"]:
        shape["time_split"] = [int]
    if "files" in meta:
        shape["files"] = {name: {"sha256": str} for name in meta["files"]}
    if unknown := [name for name in meta["arrays"] if name not in ARRAYS]:
        raise ValueError(f"an array {str(unknown[0])[:40]!r}")
    require_shape(meta, shape, "meta.json")
    for name, its in meta["arrays"].items():
        if its["dtype"] != ARRAYS[name]:
            raise ValueError(f"{name} of type {its['dtype'][:40]!r} instead of {ARRAYS[name]!r}")
    if "year" in meta["arrays"] and len(meta["time_split"]) != 2:
        raise ValueError("time_split must be two years")


def is_folder(path: str | Path) -> bool:
    """Whether this looks like a graph folder rather than the name of a dataset."""
    return Path(path).is_dir()


@dataclass(frozen=True, eq=False)
class GraphFolder:
    """An open folder; its arrays are mapped when first asked for."""

    path: Path
    meta: Mapping[str, Any]

    @classmethod
    def open(cls, path: str | Path) -> GraphFolder:
        """Refuse anything that is not a finished graph folder with whole files."""
        path = Path(path)
        if not path.is_dir():
            remove_abandoned_folders(path)
        if not path.is_dir():
            raise GWNError(f"{path} is not a folder; make one with `gwn data generate` or `gwn data convert`")
        if not (path / "meta.json").is_file():
            tables = sorted(file.name for file in path.iterdir() if suffix_of(file) in SUFFIXES)
            again = f"name its tables ({', '.join(tables[:4])}) with --edges and --nodes" if tables else "make it again"
            raise GWNError(f"{path} has no meta.json, so it is not a finished graph folder; {again}")
        try:
            meta = read_json(path / "meta.json", again="make the folder again")
            family, _, number = str(meta["format"]).rpartition("-")
            if family == "gwn-graph" and number.isdigit():
                refuse_newer(path, int(number), 1)
            if meta["format"] != FORMAT or not meta["finished"] or any(n not in meta["arrays"] for n in REQUIRED):
                raise ValueError(f"format {meta['format']!r}")
            _require_record(meta)
            found = cls(path, meta)
            mapped = {name: open_array(path / f"{name}.npy", meta["arrays"][name]) for name in meta["arrays"]}
            nodes, features = meta["arrays"]["x"]["shape"]
            expected = {"indptr": [nodes + 1], "y": [nodes], "year": [nodes], "x": [nodes, features]}
            wrong = [n for n, shape in expected.items() if n in meta["arrays"] and meta["arrays"][n]["shape"] != shape]
            if not isinstance(meta["classes"], int) or not 0 <= meta["classes"] <= MOST_CLASSES:
                raise ValueError(f"classes is {str(meta['classes'])[:40]}, at most {MOST_CLASSES:,} are told apart")
            names = meta.get("class_names")
            if names is not None and len(names) != len(set(names)):
                raise ValueError("class_names must be a list of different names")
            arcs = meta["arrays"]["indices"]["shape"]
            if wrong or mapped["indptr"][[0, -1]].tolist() != [0, *arcs]:
                raise ValueError(f"the shapes of {', '.join(wrong) or 'indptr and indices'} do not fit together")
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, GWNError):
                raise
            raise GWNError(f"{path} is not a finished graph folder ({error}); make it again") from None
        return found

    def array(self, name: str) -> NDArray[Any]:
        """One array, memory-mapped and read-only, once its bytes were found to be those that were written."""
        return open_array(*self._checked(name))

    def reader(self, name: str) -> ArrayReader:
        """The same to be read row by row, without mapping it."""
        return ArrayReader(*self._checked(name))

    def _checked(self, name: str) -> tuple[Path, dict[str, Any]]:
        path, record = self.path / f"{name}.npy", self.meta["arrays"][name]
        open_array(path, record)
        state = path.stat()
        version = (state.st_dev, state.st_ino, state.st_mtime_ns, self.num_nodes, record["sha256"])
        if version not in _CHECKED:
            self._look_through(name)
            _CHECKED.add(version)
        return path, record

    def _look_through(self, name: str) -> None:
        """Compare an array with its hash; pointers and node numbers must lie within the graph as well.

        The hash says who wrote them, not that they are sound, and products of S follow them without looking.
        """
        path, record = self.path / f"{name}.npy", self.meta["arrays"][name]
        most = {"indptr": self.num_arcs, "indices": self.num_nodes - 1}.get(name)
        faults, before = list[str](), 0

        def look(chunk: NDArray[Any]) -> None:
            nonlocal before
            if most is None or chunk.size == 0 or faults:
                return
            low, high = int(chunk.min()), int(chunk.max())
            if low < 0 or high > most:
                faults.append(f"it has {low if low < 0 else high}, and 0 ... {most} are allowed")
            elif name == "indptr":
                if int(chunk[0]) < before or bool((chunk[1:] < chunk[:-1]).any()):
                    faults.append("its numbers must not fall")
                before = int(chunk[-1])

        check_array(path, record, look)
        if faults:
            raise GWNError(f"{path} is not that of a graph: {faults[0]}; make the folder again")

    @cached_property
    def indptr(self) -> NDArray[np.int64]:
        return self.array("indptr")

    @cached_property
    def indices(self) -> NDArray[np.int32]:
        return self.array("indices")

    @cached_property
    def x(self) -> NDArray[np.float32]:
        return self.array("x")

    @cached_property
    def y(self) -> NDArray[np.int32]:
        return self.array("y")

    @property
    def name(self) -> str:
        return str(self.meta["name"])

    @property
    def num_nodes(self) -> int:
        return int(self.meta["arrays"]["x"]["shape"][0])

    @property
    def num_arcs(self) -> int:
        return int(self.meta["arrays"]["indices"]["shape"][0])

    @property
    def num_features(self) -> int:
        return int(self.meta["arrays"]["x"]["shape"][1])

    @property
    def num_classes(self) -> int:
        return int(self.meta["classes"])

    @property
    def class_names(self) -> tuple[str, ...]:
        return tuple(self.meta.get("class_names") or (str(c) for c in range(self.num_classes)))

    @property
    def hashes(self) -> dict[str, str]:
        """SHA-256 of every array: what the graph is, whatever folder it is in."""
        return {name: record["sha256"] for name, record in sorted(self.meta["arrays"].items())}

    @property
    def encoding(self) -> str:
        """Hash of how the columns of a table became features; "" where no table did."""
        return content_key({"columns": self.meta["schema"]["columns"]}) if "schema" in self.meta else ""

    def facts(self) -> dict[str, Any]:
        """What the graph is, without reading it."""
        return {
            "name": self.name,
            "hash": content_key(self.hashes),
            "files": self.hashes,
            "directed": False,
            "nodes": self.num_nodes,
            "edges": self.num_arcs,
            "features": self.num_features,
            "classes": self.num_classes,
        }

    def verify(self) -> None:
        """Read everything once and compare it with what was written."""
        for name in self.meta["arrays"]:
            self._look_through(name)
        for name in self.meta.get("files", {}):
            self._check_file(name)

    def _check_file(self, name: str) -> None:
        path, record = self.path / safe_name(name), self.meta.get("files", {}).get(name)
        try:
            changed = record is not None and file_sha256(path) != record["sha256"]
        except OSError as error:
            raise GWNError(f"{path} cannot be read: {error.strerror}; make the folder again") from None
        if changed:
            raise GWNError(f"{path} is not what was written (SHA-256 differs); make the folder again")

    def time_split(self) -> Split | None:
        """Train up to one year, validate up to another, test on what is later; None where nodes have no year."""
        if "year" not in self.meta["arrays"]:
            return None
        year, (first, second) = self.array("year"), self.meta["time_split"]
        labelled = np.asarray(self.y) >= 0
        parts = (year <= first, (year > first) & (year <= second), year > second)
        train, val, test = (torch.from_numpy(np.flatnonzero(part & labelled)) for part in parts)
        return Split(train=train, val=val, test=test, kind="time", seed=0)

    def dataset(self) -> Dataset:
        """The whole graph in memory, as any other dataset."""
        target = torch.repeat_interleave(torch.arange(self.num_nodes), as_tensor(np.diff(self.indptr)))
        graph = Graph(
            x=torch.from_numpy(np.array(self.x)),
            edge_index=torch.stack([torch.from_numpy(self.indices.astype(np.int64)), target]),
            y=torch.from_numpy(self.y.astype(np.int64)),
            name=self.name,
            node_ids=self.node_ids(),
            class_names=self.class_names,
        )
        return self._dataset(graph)

    def labels(self) -> Dataset:
        """The labels and splits alone: a graph without edges, with one empty feature."""
        y = torch.from_numpy(self.y.astype(np.int64))
        none = torch.empty(2, 0, dtype=torch.int64)
        x = torch.zeros(y.numel(), 1)
        return self._dataset(Graph(x=x, edge_index=none, y=y, name=self.name, class_names=self.class_names))

    def _dataset(self, graph: Graph) -> Dataset:
        split = self.time_split()
        return Dataset(
            name=self.name,
            graph=graph,
            metric="accuracy",
            default_split="stratified" if split is None else "time",
            directed=False,
            published={} if split is None else {"time": (split,)},
            files=self.hashes,
            caveat=str(self.meta.get("caveat", "")),
        )

    def node_ids(self) -> tuple[str, ...] | None:
        """The names of the nodes, where they have any."""
        if not self.meta.get("ids"):
            return None
        import pyarrow.parquet as pq

        self._check_file("ids.parquet")
        return tuple(pq.read_table(self.path / "ids.parquet")["id"].to_pylist())

    def id_batches(self, rows: int) -> Iterator[Any]:
        """The names of the nodes, or their numbers, as Arrow arrays of `rows` nodes; the last one is shorter."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        if not self.meta.get("ids"):
            for first in range(0, self.num_nodes, rows):
                yield pa.array(np.arange(first, min(first + rows, self.num_nodes)))
            return
        self._check_file("ids.parquet")
        with pq.ParquetFile(self.path / "ids.parquet") as file:
            for batch in file.iter_batches(batch_size=rows):
                yield batch.column(0)


class FolderWriter:
    """The arrays of a folder while they are written; `arrays` collects what `meta.json` will say."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.arrays: dict[str, Any] = {}
        self.files: dict[str, Any] = {}
        self.facts: dict[str, Any] = {}
        self._open: list[ArrayWriter] = []

    def array(self, name: str, tail: tuple[int, ...] = ()) -> ArrayWriter:
        writer = ArrayWriter(self.path / f"{name}.npy", ARRAYS[name], tail)
        self._open.append(writer)
        return writer

    def finish(self, name: str, writer: ArrayWriter) -> None:
        self.arrays[name] = writer.finish()

    def add_file(self, name: str) -> None:
        """A file that is no array was written: it belongs to the folder as it is now."""
        sync(self.path / name)
        self.files[name] = {"sha256": file_sha256(self.path / name)}

    def abandon(self) -> None:
        for writer in self._open:
            writer.abandon()


@contextmanager
def new_folder(path: Path, *, force: bool = False) -> Iterator[FolderWriter]:
    """A folder that appears at `path` when the block ends well, and not at all otherwise."""
    if path.exists() and not force:
        raise GWNError(f"{path} exists; choose another --out, or --force to replace it")
    require_writable(path, folder=True)
    if path.exists() and not (path / "meta.json").is_file():
        raise GWNError(f"{path} is not a graph folder and is not replaced; choose another --out")
    partial = path.with_name(f".{path.name}.partial-{os.getpid()}")
    writer = None
    try:
        remove_abandoned_folders(path)
        partial.mkdir(parents=True)
        writer = FolderWriter(partial)
        yield writer
        meta = {"format": FORMAT, "finished": True, **writer.facts, "files": writer.files, "arrays": writer.arrays}
        write_json(partial / "meta.json", meta)
        publish(partial, path, replace=force)
    except OSError as error:
        reason = "the disk is full" if error.errno == errno.ENOSPC else (error.strerror or str(error))
        raise GWNError(f"cannot write {path}: {reason}; choose another --out") from None
    finally:
        if writer is not None:
            writer.abandon()
        shutil.rmtree(partial, ignore_errors=True)
