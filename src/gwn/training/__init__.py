"""One training loop, its results on disk, and trained models back from there."""

from gwn.training.config import TrainConfig
from gwn.training.experiment import Experiment, run_experiment
from gwn.training.loop import Fit, fit, seed_everything
from gwn.training.predict import TrainedModel, find_run_folder, load_trained, predict
from gwn.training.result import RunResult, Summary, summarise

__all__ = [
    "Experiment",
    "Fit",
    "RunResult",
    "Summary",
    "TrainConfig",
    "TrainedModel",
    "find_run_folder",
    "fit",
    "load_trained",
    "predict",
    "run_experiment",
    "seed_everything",
    "summarise",
]
