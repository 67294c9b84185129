"""One training loop, its results on disk, and trained models back from there."""

from gwn.training.config import TrainConfig
from gwn.training.experiment import Experiment, fixed_threads, run_experiment, run_one
from gwn.training.label_input import build_network
from gwn.training.loop import Fit, fit, seed_everything
from gwn.training.predict import TrainedModel, ensemble, find_run_folder, load_trained, predict, refit
from gwn.training.result import Gain, RunResult, Summary, paired_gain, summarise

__all__ = [
    "Experiment",
    "Fit",
    "Gain",
    "RunResult",
    "Summary",
    "TrainConfig",
    "TrainedModel",
    "build_network",
    "ensemble",
    "find_run_folder",
    "fit",
    "fixed_threads",
    "load_trained",
    "paired_gain",
    "predict",
    "refit",
    "run_experiment",
    "run_one",
    "seed_everything",
    "summarise",
]
