"""Training in several processes, each on its part of the graph: the same loop, the same numbers.

The loss is the mean over all training nodes, so each process has a share of it and a share of its gradient; their sum
is what one process computes. Weights and optimiser are the same everywhere and never travel.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F

from gwn.networks import GWN
from gwn.registry import lookup
from gwn.scale.parts import Part
from gwn.scale.share import Share
from gwn.scale.steps import replicated_steps, whole_steps
from gwn.scale.team import Team
from gwn.training.checkpoint import Checkpoint, save_checkpoint
from gwn.training.config import TrainConfig
from gwn.training.divergence import diverged
from gwn.training.fit import make_optimizer
from gwn.training.loop import Evaluation, Fit, OnEpoch, Progress, choose_epoch
from gwn.training.metrics import METRICS


@dataclass(frozen=True, kw_only=True, eq=False)
class Keeping:
    """Where the leader writes checkpoints, for which run, and how many seconds apart."""

    path: Path
    key: str
    seconds: float


def fit_part(
    team: Team,
    model: GWN,
    part: Part,
    share: Share,
    config: TrainConfig,
    metric: str,
    *,
    on_epoch: OnEpoch | None = None,
    checkpoint: Checkpoint | None = None,
    keeping: Keeping | None = None,
) -> Fit:
    """As `gwn.training.fit.fit`, called by all processes at the same time; each returns the same."""
    part.show_to(directed=model.directed, self_loops=model.self_loops)
    optimizer = make_optimizer(model, config)
    resumed = None if checkpoint is None else checkpoint.restore(model, optimizer)
    make_steps = replicated_steps if model.precompute else whole_steps
    steps = make_steps(team, model, part, share, config, optimizer)
    saved = time.monotonic()

    def train_epoch(epoch: int) -> None:
        for loss, stepped in steps():
            if not stepped:
                raise diverged(model, part, epoch, loss)

    def evaluate(epoch: int) -> Evaluation:
        val_loss, val, test = _evaluate(team, model, part, share, metric)
        if not math.isfinite(val_loss):
            raise diverged(model, part, epoch, val_loss)
        return Evaluation(val=val, val_loss=val_loss, test=lambda: test)

    def keep(progress: Progress) -> None:
        nonlocal saved
        if keeping is not None and time.monotonic() - saved >= keeping.seconds:
            save_checkpoint(keeping.path, keeping.key, model, optimizer, progress)
            saved = time.monotonic()

    return choose_epoch(model, config, train_epoch, evaluate, on_epoch, resumed=resumed, keep=keep)


def _evaluate(team: Team, model: GWN, part: Part, share: Share, metric: str) -> tuple[float, float, float]:
    """Validation loss, validation score and test score: computed by the leader, told to everybody."""
    model.eval()
    with torch.no_grad():
        logits = team.gather(model(part.x, part.edge_index, rows=share.evaluated))
    scores = torch.zeros(3, dtype=torch.float64, device=team.device)
    if logits is not None:
        assert share.answers is not None
        assert share.order is not None
        score, logits = lookup("metric", metric, METRICS), logits[share.order]
        (val, test), (y_val, y_test) = (
            (rows[: share.val_size], rows[share.val_size :]) for rows in (logits, share.answers)
        )
        scores[0] = F.cross_entropy(val, y_val)
        if math.isfinite(float(scores[0])):
            scores[1], scores[2] = score(val, y_val), score(test, y_test)
    found: list[float] = team.sum_(scores).tolist()
    return found[0], found[1], found[2]
