"""Training of trees: no optimiser, and the number of iterations is chosen on validation as an epoch is elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor

from gwn.errors import GWNError
from gwn.graph import Graph
from gwn.models.peers.boosted import BoostedTrees
from gwn.training.checkpoint import Curves, Fit
from gwn.training.config import TrainConfig
from gwn.training.loss import NodeLoss, Scaling, balanced_weights, plain_loss
from gwn.training.metrics import Metric
from gwn.training.outputs import FALLEN, Outputs
from gwn.training.stopping import SELECT, STOPPING


class NodeTask(Protocol):
    """What is asked of a graph in memory, a split and a metric; see `gwn.training.loop.GraphTask`."""

    graph: Graph
    train: Tensor
    val: Tensor
    test: Tensor
    evaluated: Tensor
    loss: NodeLoss
    score: Metric
    scaling: Scaling | None
    on_validation: Callable[[Tensor], None] | None

    def answers(self, said: Tensor) -> tuple[Tensor, Tensor]: ...
    def outputs_of(self, said: Tensor) -> Outputs: ...


@torch.no_grad()
def fit_trees(
    model: BoostedTrees,
    task: NodeTask,
    config: TrainConfig,
    on_epoch: Callable[[int, float], bool | None] | None = None,
) -> Fit:
    """Grow trees, keep as many iterations as are best on validation, as `config.select` says.

    An epoch is an iteration. `epochs` limits them, `lr` and `weight_decay` are not used, and no checkpoint is written.
    """
    if config.partitions > 0:
        raise GWNError("boosted trees learn from all training nodes at once; leave partitions out")
    started = time.perf_counter()
    graph, y = task.graph, task.graph.labels
    columns = model.columns(graph.x, graph.edge_index, graph.edge_weight)
    known, asked = columns[task.train], columns[task.evaluated]
    y_train, y_val, y_test = y[task.train], y[task.val], y[task.test]
    of_class = balanced_weights(y_train, graph.num_classes, config)
    weights = None if of_class is None else of_class[y_train]
    stopping, merit = STOPPING[config.stopping](config.patience, config.select), SELECT[config.select]
    curves = Curves(train_loss=[], val_loss=[], val=[])
    best, kept, best_epoch = (-torch.inf, -torch.inf), (torch.inf, -torch.inf), 0
    seed = torch.initial_seed() % 2**32
    grown = model.grow(known, y_train, asked, weights=weights, most=config.epochs, seed=seed)
    for epoch, (learnt, said) in enumerate(grown, start=1):
        val = task.answers(said)[0]
        if task.on_validation is not None:
            task.on_validation(val if task.scaling is None else task.scaling.undo(val).unsqueeze(1))
        loss, score = plain_loss(val, y_val).item(), task.score(val, y_val)
        for curve, number in zip(curves, (task.loss(learnt, y_train).item(), loss, score), strict=True):
            curve.append(number)
        if epoch == 1 or merit(loss, score) > best:
            best, kept, best_epoch, answers = merit(loss, score), (loss, score), epoch, said
        ended = on_epoch is not None and on_epoch(epoch, score)
        if stopping.should_stop(loss, score) or ended:
            break
    done = len(curves.val)
    model.used.clamp_(max=best_epoch)
    outputs = task.outputs_of(answers)
    return Fit(
        val=kept[1],
        test=task.score(outputs.test, y_test) if y_test.numel() else torch.nan,
        val_loss=kept[0],
        best_epoch=best_epoch,
        epochs=done,
        seconds=time.perf_counter() - started,
        weights={name: tensor.detach().clone() for name, tensor in model.state_dict().items()},
        outputs=outputs,
        loss_fell=done == 1 or min(curves.val_loss) < FALLEN * curves.val_loss[0],
        curves=curves,
    )


@torch.no_grad()
def grow_trees(model: BoostedTrees, task: NodeTask, config: TrainConfig) -> None:
    """`epochs` iterations, all of which are kept: nothing is left to choose on."""
    graph, y = task.graph, task.graph.labels[task.train]
    columns = model.columns(graph.x, graph.edge_index, graph.edge_weight)[task.train]
    of_class = balanced_weights(y, graph.num_classes, config)
    weights = None if of_class is None else of_class[y]
    seed = torch.initial_seed() % 2**32
    for _ in model.grow(columns, y, weights=weights, most=config.epochs, seed=seed):
        pass
