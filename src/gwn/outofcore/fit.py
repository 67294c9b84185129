"""Training from propagated features on disk, in mini-batches: an epoch reads the files once, from front to back.

The rows are cut into chunks, and the rows of a chunk are shuffled when it is read, always in the same way. An epoch
takes the chunks in random order and cuts each into batches from a random row on: close to a random order of all rows,
without jumping about in the files, and the same whether a chunk is read again or was kept because memory allowed it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from gwn.data.folders.arrays import read_ahead
from gwn.data.folders.folder import GraphFolder
from gwn.data.splits import Split
from gwn.errors import Diverged, GWNError
from gwn.memory import require_left
from gwn.networks import GWN
from gwn.networks.bank import BankGWN
from gwn.networks.precomputed import class_weights, features_times_weights
from gwn.outofcore.propagate import PropagatedFeatures
from gwn.outofcore.states import StoredStates
from gwn.training.checkpoint import Checkpoints, Fit
from gwn.training.config import TrainConfig
from gwn.training.loop import Evaluation, Loss, OnEpoch, Task, train_task
from gwn.training.loss import NodeLoss, balanced_weights, loss_for

CHUNK_BYTES = 1 << 23
SPARE = 12 * CHUNK_BYTES
"""Kept free in training: two chunks on their way from the files, and a batch with its gradients."""

BESIDE, OF_A_NODE = 1 << 25, 32
"""Bytes that a process takes on between the start of a command and training, and how many of them for each node."""

HOLES = 64
"""One part in so many of what is kept is lost between its blocks."""

BATCH = 8192
"""Rows of one step where `batch_size` is 0: a chunk is the most there could be."""


Features = PropagatedFeatures | StoredStates
Network = GWN | BankGWN


@dataclass(frozen=True, kw_only=True, eq=False)
class Chunk:
    """Rows `first` ... `last - 1` of the files, and which of them are in one part of the split."""

    first: int
    last: int
    chosen: NDArray[np.int32]


class RowReader:
    """The rows of one part of a split, chunk by chunk, kept in memory as far as `room` bytes go."""

    def __init__(self, features: Features, y: NDArray[np.int32], nodes: Tensor, room: int = 0) -> None:
        self.features, self.y = features, y
        self.chunks = list(_chunks(features, nodes.numpy()))
        self.count = int(nodes.numel())
        self.room = room
        self._kept: dict[int, tuple[Tensor, Tensor]] = {}

    def __getitem__(self, number: int) -> tuple[Tensor, Tensor]:
        """Features and classes of a chunk's rows."""
        if number in self._kept:
            return self._kept[number]
        chunk = self.chunks[number]
        order = torch.randperm(chunk.chosen.size, generator=torch.Generator().manual_seed(number))
        rows = self.features.rows(chunk.first, chunk.last, chunk.chosen)[order]
        nodes = self.features.nodes_of(chunk.first, chunk.last)[chunk.chosen]
        labels = torch.from_numpy(self.y[nodes].astype(np.int64))
        found = rows, labels[order]
        size = sum(part.nbytes for part in found)
        if size <= self.room:
            self.room -= size
            self._kept[number] = found
        return found

    def in_order(self, numbers: Iterable[int]) -> Iterator[tuple[Tensor, Tensor]]:
        """These chunks; while one is worked on, the next is read."""
        return read_ahead(partial(self.__getitem__, number) for number in numbers)

    def __len__(self) -> int:
        return len(self.chunks)

    @property
    def nbytes(self) -> int:
        """Of all its rows and their classes."""
        return (4 * self.features.columns + 8) * self.count


def require_room_to_train(graph: GraphFolder, memory: int) -> None:
    """Refuse, before anything is propagated, a memory in which training could not begin afterwards."""
    require_left(f"training on {graph.path} from files", SPARE + BESIDE + OF_A_NODE * graph.num_nodes, memory)


def fit_files(
    model: Network,
    graph: GraphFolder,
    features: Features,
    split: Split,
    config: TrainConfig,
    *,
    memory: int,
    on_epoch: OnEpoch | None = None,
    checkpoints: Checkpoints | None = None,
) -> Fit:
    """Train the linear maps of `model` on propagated features; the same function as the network with `precompute`."""
    if config.dtype != "float32":
        raise GWNError(f"propagated features on disk are float32; got dtype {config.dtype}")
    labels = torch.from_numpy(graph.y[split.train.numpy()].astype(np.int64))
    loss = loss_for(balanced_weights(labels, graph.num_classes, config))
    del labels
    parts = train, val, test = [RowReader(features, graph.y, nodes) for nodes in (split.train, split.val, split.test)]
    room = require_left("training in mini-batches", SPARE, memory) - SPARE
    room -= room // HOLES
    for reader in parts:
        reader.room = min(room, reader.nbytes)
        room -= reader.room
    task = FileTask(model, train, val, test, batch=config.batch_size or BATCH, loss=loss)
    resumed = None if checkpoints is None else checkpoints.load()
    return train_task(model, task, config, on_epoch, resumed=resumed, checkpoints=checkpoints)


class FileTask(Task):
    """Propagated features in files: an epoch takes the chunks in random order, `batch` rows at a time."""

    keeps_freed_memory = False

    def __init__(
        self, model: Network, train: RowReader, val: RowReader, test: RowReader, *, batch: int, loss: NodeLoss
    ) -> None:
        self.model, self.train, self.val, self.test, self.batch, self.loss = model, train, val, test, batch, loss

    def losses(self) -> Iterator[Loss]:
        for x, y in self.train.in_order(torch.randperm(len(self.train)).tolist()):
            for rows in _slices(len(y), self.batch):
                yield partial(row_loss, self.model, x[rows], y[rows], self.loss)

    def evaluate(self) -> Evaluation:
        score, loss = _score(self.model, self.val)
        return Evaluation(val=score, val_loss=loss, test=lambda: _score(self.model, self.test)[0])

    def diverged(self, epoch: int, loss: float) -> Diverged:
        return Diverged(f"training diverged in epoch {epoch}: the loss is {loss:.4g}; use a smaller lr")


def row_loss(model: Network, x: Tensor, y: Tensor, loss: NodeLoss) -> Tensor:
    """The loss of some rows of propagated features."""
    return loss(logits_of_rows(model, x), y)


def _slices(count: int, size: int) -> Iterator[slice]:
    """Batches of `size` rows in a row, from a random one on, so that their borders move from epoch to epoch."""
    first = int(torch.randint(min(count, size), ()))
    edges = [0, *range(first, count, size), count] if first > 0 else [*range(0, count, size), count]
    for start, stop in pairwise(edges):
        yield slice(start, stop)


def logits_of_rows(model: Network, x: Tensor) -> Tensor:
    """Logits from propagated features, or from the states of a bank."""
    if isinstance(model, BankGWN):
        return model.of_states(x.view(len(x), model.first.steps + 1, -1).transpose(0, 1))
    p = model.input_dropout if model.training else 0.0
    return features_times_weights(x, class_weights(model.phi0.first, model.phi1.first, model.head.first, p))


@torch.no_grad()
def _score(model: Network, rows: RowReader) -> tuple[float, float]:
    """Accuracy and mean loss, summed up chunk by chunk; neither where there are no rows."""
    if rows.count == 0:
        return math.nan, math.nan
    model.eval()
    right, loss = 0, 0.0
    for x, y in rows.in_order(range(len(rows))):
        logits = logits_of_rows(model, x)
        right += int((logits.argmax(1) == y).sum())
        loss += F.cross_entropy(logits, y, reduction="sum").item()
    return right / rows.count, loss / rows.count


def chunk_rows(features: Features) -> int:
    """Rows that are read together."""
    return max(1, CHUNK_BYTES // (4 * features.columns))


def _chunks(features: Features, nodes: NDArray[np.int64]) -> Iterator[Chunk]:
    """The stretches of rows that hold any of these (sorted) nodes."""
    size, rows = chunk_rows(features), features.rows_of(nodes)
    for first in range(0, features.nodes, size):
        last = min(first + size, features.nodes)
        inside = rows[np.searchsorted(rows, first) : np.searchsorted(rows, last)]
        if inside.size:
            yield Chunk(first=first, last=last, chosen=(inside - first).astype(np.int32))


@torch.no_grad()
def predict_files(model: Network, features: Features) -> Iterator[Tensor]:
    """Logits of all nodes in order, chunk by chunk."""
    model.eval()
    size = chunk_rows(features)
    starts = range(0, features.nodes, size)
    for rows in read_ahead(partial(features.rows, first, min(first + size, features.nodes)) for first in starts):
        yield logits_of_rows(model, rows)
