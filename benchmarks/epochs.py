"""Where the milliseconds of a whole epoch go: the step by its parts, the evaluation, and what is left for bookkeeping.

`python -m benchmarks epochs --out results/bench/epochs.json`. Processor time of one thread, by Python's profiler; the
backward pass runs on the same thread.
"""

from __future__ import annotations

import cProfile
import pstats
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import torch

from benchmarks.competitors import adam, gwn_model
from benchmarks.harness import Result, Settings
from benchmarks.problem import problem_of
from gwn.data import load_dataset, make_splits
from gwn.training import TrainConfig
from gwn.training.loop import Evaluation, GraphTask, Loss, node_loss, train_step, train_task

DATASETS = ("cora", "pubmed", "photo", "computers", "cs")
MODELS = {"gwn-sym": "sym", "gwn-fa": "fa"}
EPOCHS = 40
PLACES = {
    "features": (("wave.py", "encode"), ("sparse.py", "backward")),
    "wave": (("integrate.py", "forward"), ("integrate.py", "backward")),
    "optimiser": (("adam.py", "step"),),
}
"""Functions whose time, with all that they call, is one column. The rest of a step is head, loss, checks and calls."""

DRAWS = "<method 'random_' of 'torch._C.TensorBase' objects>"


def epochs(settings: Settings) -> Result:
    """A row a dataset and model: milliseconds of processor time of an epoch, and of its parts."""
    names, notes = settings.at_hand(DATASETS)
    rows = []
    for name in names:
        data = load_dataset(name)
        problem, split = problem_of(data), make_splits(data, None, 1)[0]
        for called, laplacian in MODELS.items():
            settings.say(f"epochs: {called} on {name}")
            torch.manual_seed(0)
            model = gwn_model(problem, laplacian)
            config = TrainConfig(device="cpu", epochs=EPOCHS, stopping="none", threads=1)
            watched = WatchedTask(model, problem.graph, split, config)
            train_task(model, watched, config)
            step = partial(train_step, model, partial(node_loss, model, problem.graph, split.train), adam(model))
            parts = step_parts(step)
            epoch = watched.fastest()
            scale = epoch["step"] / parts.pop("all")  # the profiler itself takes time
            of_step = {part: taken * scale for part, taken in parts.items()}
            rows.append(
                {
                    "dataset": name,
                    "model": called,
                    "epoch": sum(epoch.values()),
                    "step": epoch["step"],
                    **of_step,
                    "evaluation": epoch["evaluation"],
                    "bookkeeping": epoch["bookkeeping"],
                }
            )
    facts = {"width": problem.width, "steps": problem.steps, "unit": "ms of processor time"} if names else {}
    return Result(facts=facts, rows=rows, notes=notes)


class WatchedTask(GraphTask):
    """Notes when a step begins, when it is done, and when what it led to is evaluated: in the training itself, where
    each finds the caches as the others left them."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.marks: list[float] = []

    def losses(self) -> Iterator[Loss]:
        self.marks.append(time.process_time())
        yield from super().losses()

    def evaluate(self) -> Evaluation:
        self.marks.append(time.process_time())
        seen = super().evaluate()
        self.marks.append(time.process_time())
        return seen

    def fastest(self) -> dict[str, float]:
        """The parts of the epoch that took least, in milliseconds; the last one is not whole."""
        begun, stepped, judged = (self.marks[part::3] for part in range(3))
        epochs = [
            {"step": b - a, "evaluation": c - b, "bookkeeping": d - c}
            for a, b, c, d in zip(begun, stepped, judged, begun[1:], strict=False)
        ]
        return {part: 1e3 * taken for part, taken in min(epochs, key=lambda parts: sum(parts.values())).items()}


def step_parts(step: Callable[[], Any], repeats: int = 5) -> dict[str, float]:
    """Milliseconds of a step by the functions in which they were spent; `random numbers` are part of the others."""
    profiler = cProfile.Profile(timer=time.process_time)
    profiler.runcall(lambda: [step() for _ in range(repeats)])
    spent = pstats.Stats(profiler).stats  # type: ignore[attr-defined]
    in_all = max(cumulative for _, _, _, cumulative, _ in spent.values())
    found = {"all": in_all}
    for part, functions in PLACES.items():
        found[part] = sum(
            figures[3]
            for (file, _, name), figures in spent.items()
            if any(Path(file).name == where and name == called for where, called in functions)
        )
    found["head, loss, checks"] = in_all - sum(found[part] for part in PLACES)
    found["random numbers"] = sum(figures[3] for (_, _, name), figures in spent.items() if name == DRAWS)
    return {part: 1e3 * taken / repeats for part, taken in found.items()}
