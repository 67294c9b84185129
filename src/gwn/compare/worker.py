"""A worker of a comparison: `python -m gwn.compare.worker` reads tasks as lines of JSON and answers in lines of JSON.

A process of its own rather than one of `multiprocessing`, so that nothing is pickled and a script that compares needs
no `if __name__ == "__main__"`. It ends when its input does, and so with whoever started it.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from gwn.data import Dataset, make_splits
from gwn.errors import GWNError
from gwn.graph import Graph
from gwn.models import model_spec
from gwn.registry import resolve
from gwn.training import Experiment, TrainConfig, build_network, fit, run_experiment, seed_everything
from gwn.training.loop import former_determinism

Answer = dict[str, Any]
OUT_OF_TIME = "out of time"
"""How a training ends that is cut at its share of the time; its score until then counts."""

OWN_FAILURES = (GWNError, RuntimeError, MemoryError, ArithmeticError, ValueError)
"""What a model may fail with, which is then told of the model and ends nothing else."""


class Workshop:
    """The data of a comparison and what can be done with it: train on a search split, or measure over final splits.

    kind      of the splits
    splits    how many search splits there are
    seed      of the first of them
    """

    def __init__(
        self,
        dataset: Dataset,
        kind: str,
        splits: int,
        seed: int,
        root: Path,
        origin: Mapping[str, Any] | None,
    ) -> None:
        self.dataset, self.kind, self.seed, self.root, self.origin = dataset, kind, seed, root, origin
        self.splits = make_splits(dataset, kind, splits, seed)
        self._seen: dict[tuple[int, str, str], Graph] = {}

    @former_determinism()
    def do(self, task: Mapping[str, Any]) -> Answer:
        """The answer to a task, which may be that its model failed."""
        started = time.perf_counter()
        try:
            return self.search(task) if task["do"] == "search" else self.measure(task)
        except OWN_FAILURES as error:
            reason = " ".join(str(error).split())[:300] or type(error).__name__
            return {"failed": reason, "seconds": time.perf_counter() - started}

    def search(self, task: Mapping[str, Any]) -> Answer:
        """Train on one search split until it is done, falls behind the others, or its time is over."""
        number, behind, limit = int(task["split"]), task["behind"], float(task["limit"])
        config, split = TrainConfig(**task["training"]), self.splits[number]
        started = time.perf_counter()
        graph = self._graph(number, config)
        best, reached, curve, ended = -float("inf"), 0, dict[str, float](), ""

        def on_epoch(epoch: int, score: float) -> bool:
            nonlocal best, reached, ended
            best, reached = max(best, score), epoch
            if epoch in task["checkpoints"]:
                curve[str(epoch)] = best
                if best < behind.get(str(epoch), best):
                    ended = f"behind in epoch {epoch}"
            if not ended and epoch < config.epochs and time.perf_counter() - started > limit:
                ended = OUT_OF_TIME
            return bool(ended)

        seed_everything(self.seed + number, config.deterministic)
        model = build_network(model_spec(task["model"]), task["settings"], config, graph, split)
        model.to(graph.x.device, config.torch_dtype)
        val = fit(model, graph, split, config, self.dataset.metric, on_epoch).val
        seconds = time.perf_counter() - started
        return {"val": val, "epochs": reached, "seconds": seconds, "curve": curve, "ended": ended}

    def measure(self, task: Mapping[str, Any]) -> Answer:
        """The settings over the first `runs` final splits; those that are on the disk are not computed again."""
        started = time.perf_counter()
        experiment = Experiment(
            dataset=self.dataset,
            model=model_spec(task["model"]),
            settings=task["settings"],
            config=TrainConfig(**task["training"]),
            splits=make_splits(self.dataset, self.kind, int(task["runs"])),
            origin=self.origin,
            settings_from=task["settings_from"],
        )
        result, folder = run_experiment(experiment, self.root)
        keys = ("status", "reason", "val", "test", "val_loss", "seconds", "epochs", "split_hash", "parameters")
        runs = [{"shift": run.get("shift"), **{key: run[key] for key in keys}} for run in result["runs"]]
        return {"runs": runs, "folder": folder.name, "seconds": time.perf_counter() - started}

    def _graph(self, number: int, config: TrainConfig) -> Graph:
        """The graph as a training on this search split sees it; kept, because every trial asks for it."""
        key = number, config.device, config.dtype
        if key not in self._seen:
            self._seen[key] = self.dataset.on(self.splits[number]).to(config.torch_device, config.torch_dtype)
        return self._seen[key]


def open_workshop(start: Mapping[str, Any]) -> Workshop:
    """The workshop that the first line of a worker's input describes."""
    reopen: Callable[[Mapping[str, Any]], Dataset] = resolve(start["reopen"])
    dataset = reopen(start["origin"])
    if dataset.graph.content_hash() != start["data"]:
        raise GWNError(f"the files of {dataset.name} changed while they were compared; start again")
    workshop = Workshop(dataset, start["split"], start["splits"], start["seed"], Path(start["root"]), start["origin"])
    task = {"do": "search", "settings": {}, "training": {"epochs": 1}, "split": 0, "limit": 1.0, "behind": {}}
    workshop.search({**task, "model": "majority", "checkpoints": ()})  # what fails here, fails for every model
    workshop.do({**task, "model": "logistic", "checkpoints": ()})  # PyTorch and PyG load parts of themselves
    return workshop


def main() -> None:
    """Answer tasks until there are no more."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints is no answer
    torch.set_num_threads(1)
    tasks: queue.Queue[str] = queue.Queue()

    def read() -> None:
        for line in sys.stdin:
            tasks.put(line)
        os._exit(0)  # whoever gave the tasks is gone; in the middle of one too

    def answer(said: Answer) -> None:
        answers.write(json.dumps(said) + "\n")
        answers.flush()

    threading.Thread(target=read, daemon=True).start()
    try:
        workshop = open_workshop(json.loads(tasks.get()))
    except (GWNError, OSError) as error:
        answer({"refused": str(error)})
        return
    answer({"ready": True})
    while True:
        answer(workshop.do(json.loads(tasks.get())))


if __name__ == "__main__":
    main()
