"""How a model is trained, as one frozen record; and from `--set name=value` to it and to the model's settings."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import torch

from gwn.errors import GWNError
from gwn.graph import Graph
from gwn.laplacians import LAPLACIANS
from gwn.models import ModelSpec
from gwn.registry import keyword_options, require_known
from gwn.schemes import SCHEMES
from gwn.training.prior import PRIORS
from gwn.training.stopping import SELECT, STOPPING

DTYPES = {"float32": torch.float32, "float64": torch.float64}
CLASS_WEIGHTS = ("none", "balanced")
DEVICES = ("auto", "cpu", "cuda", "mps")
LABELS = ("none", "masked")
SMOOTH = ("none", "correct")
MOST = {
    "epochs": 10_000_000,
    "lr": 1e30,  # a run with too large a rate diverges, and says so
    "weight_decay": 1e6,
    "group_lr": 1e30,
    "group_weight_decay": 1e6,
    "batch_size": 2**31,
    "partitions": 1_000_000,
    "partitions_per_step": 1_000_000,
    "patience": 10_000_000,
    "threads": 1024,
}
"""Beyond reason: a slip of the finger, said at once."""

LATER = ("labels", "smooth", "class_weights", "prior", "select", "group_lr", "group_weight_decay")
"""Settings that came after the first runs had been named."""

SMALL_GRAPH = 200_000
"""Stored feature values plus edges; below that one epoch is a few milliseconds of one thread's work."""


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """Adam on the cross-entropy of the training nodes, full batch.

    epochs          at most this many
    lr              Adam's learning rate
    weight_decay    Adam's L2 penalty
    group_lr        Adam's learning rate for the parameters that a network has as a group apart (`parameter_group`: the
                    filter of a spectral network, encoder and head of Ordered GNN); None for that of the others
    group_weight_decay   Adam's L2 penalty for them; None for that of the others
    batch_size      training nodes in one step; 0 for all of them. Mini-batches need a network with `precompute`, where
                    a step costs what its nodes cost
    partitions      cut the graph into so many parts and train on `partitions_per_step` of them at a time: for networks
                    that learn on edges, on graphs too large to train on as a whole; needs `pymetis`. 0: the whole graph
    labels          "masked": the labels of training nodes are input, a random half in each step, which is scored on the
                    other half; "none": features alone. See `gwn.training.label_input`
    smooth          "correct": what the trained network says is corrected by its errors on training nodes and smoothed,
                    as far as validation likes it; "none": as it is. See `gwn.training.smoothing`
    prior           "validation", "em" or "calibrated": answers are corrected for classes that are as frequent among
                    the training nodes as they are not elsewhere; "none": as they are. See `gwn.training.prior`
    select          "score": the epoch with the highest validation score is kept (ties: lower loss); "loss": that with
                    the lowest validation loss (ties: higher score)
    stopping        "paper": stop when the validation loss exceeds the mean of the last ten; "patience": stop after
                    `patience` epochs without a better one as `select` says; "none": run all epochs
    device, dtype   where and how precisely to compute
    threads         CPU threads; 0 takes one for a small graph, where waiting for each other costs more than it gives
                    (a factor of ten on a busy machine), and PyTorch's choice for a large one
    deterministic   refuse operations that may differ from run to run
    class_weights   "balanced": each class weighs as much as the others in the loss; "none": each node does
    """

    epochs: int = 200
    lr: float = 0.01
    weight_decay: float = 5e-4
    group_lr: float | None = None
    group_weight_decay: float | None = None
    batch_size: int = 0
    partitions: int = 0
    partitions_per_step: int = 1
    labels: str = "none"
    smooth: str = "none"
    prior: str = "none"
    select: str = "score"
    stopping: str = "patience"
    patience: int = 50
    device: str = "auto"
    dtype: str = "float32"
    threads: int = 0
    deterministic: bool = False
    class_weights: str = "none"

    def __post_init__(self) -> None:
        require_known("stopping rule", self.stopping, STOPPING)
        require_known("labels", self.labels, LABELS)
        require_known("smooth", self.smooth, SMOOTH)
        require_known("prior", self.prior, PRIORS)
        require_known("select", self.select, SELECT)
        require_known("dtype", self.dtype, DTYPES)
        require_known("class_weights", self.class_weights, CLASS_WEIGHTS)
        require_known("device", self.device.split(":")[0], DEVICES)
        given = {name: value for name, value in vars(self).items() if value is not None}
        for name in ("epochs", "lr", "patience", "group_lr"):
            if not given.get(name, 1) > 0:
                raise GWNError(f"{name} must be greater than 0; got {given[name]}")
        for name in ("weight_decay", "threads", "batch_size", "partitions", "group_weight_decay"):
            if not given.get(name, 0) >= 0:
                raise GWNError(f"{name} must not be negative; got {given[name]}")
        for name, most in MOST.items():
            if not abs(given.get(name, 0)) <= most:
                raise GWNError(f"{name} must be at most {most:,}; got {str(given[name])[:40]}")

    @property
    def torch_dtype(self) -> torch.dtype:
        return DTYPES[self.dtype]

    @property
    def torch_device(self) -> torch.device:
        """The device itself; "auto" takes CUDA where there is one, and the CPU otherwise."""
        kind = self.device.split(":")[0]
        if kind == "auto":
            return torch.device("cuda" if torch.cuda.is_available() else "cpu")
        available = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
        if not available[kind]:
            raise GWNError(f"device {self.device!r} is not available on this machine; use --device cpu")
        if kind == "mps" and self.dtype == "float64":
            raise GWNError("device mps has no float64; use dtype=float32")
        try:
            return torch.device(self.device)
        except RuntimeError:
            raise GWNError(f"{self.device!r} is no device; use cpu, cuda, cuda:1 or mps") from None

    @property
    def of_group(self) -> dict[str, float]:
        """What a network's `parameter_group` has of its own, as Adam calls it."""
        own = {"lr": self.group_lr, "weight_decay": self.group_weight_decay}
        return {name: value for name, value in own.items() if value is not None}

    def choose_threads(self, graph: Graph) -> int:
        """How many CPU threads to use on this graph."""
        stored = graph.x.values().numel() if graph.is_sparse else graph.x.numel()
        small = stored + graph.num_edges < SMALL_GRAPH
        return self.threads or (1 if small else torch.get_num_threads())

    def to_json(self) -> dict[str, Any]:
        """Everything that is set; what was added later only where it is used, so that the names of other runs stay."""
        later: dict[str, tuple[str, ...]] = {name: (name,) for name in LATER}
        later["partitions"] = ("partitions", "partitions_per_step")
        usual = {field.name: field.default for field in fields(self)}
        skipped = {setting for name in later if getattr(self, name) == usual[name] for setting in later[name]}
        return {name: value for name, value in asdict(self).items() if name not in skipped}


def parse_settings(model: ModelSpec, assignments: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """`["tau=0.5", "lr=0.01"]` as (model settings, training settings), each of the type its default has."""
    of_model = {name: _type_name(parameter) for name, parameter in model.settings().items()}
    of_training = {field.name: str(field.type) for field in fields(TrainConfig)}
    for_model: dict[str, Any] = {}
    for_training: dict[str, Any] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        name = name.strip().replace("-", "_")
        if not equals:
            raise GWNError(f"--set takes name=value; got {assignment!r}")
        if name == "precompute" and name not in of_model:
            raise GWNError(
                f"{model.name} cannot precompute: it learns before it propagates, or does not propagate, so nothing "
                f"can be done once beforehand; leave it out, or use gwn-sym or gwn-plus with one linear encoder"
            )
        require_known(f"setting of {model.name}", name, {**of_model, **of_training})
        if name in of_model:
            for_model[name] = parse_value(name, text.strip(), of_model[name])
        else:
            for_training[name] = parse_value(name, text.strip(), of_training[name])
    return for_model, for_training


def parse_value(name: str, text: str, kind: str) -> Any:
    """`text` as the annotated type: "int", "float", "bool" or "str", each possibly with "| None"."""
    kinds = {part.strip() for part in kind.split("|")}
    if "None" in kinds and text.lower() in ("none", "null"):
        return None
    try:
        if "bool" in kinds and text.lower() in ("true", "false"):
            return text.lower() == "true"
        if "int" in kinds:
            return int(text)
        if "float" in kinds:
            return float(text)
    except ValueError:
        pass
    if "str" in kinds:
        return text
    allowed = {"bool": "true or false", "int": "a whole number", "float": "a number", "None": "none"}
    raise GWNError(f"{name} takes {' or '.join(allowed[k] for k in sorted(kinds) if k in allowed)}; got {text[:60]!r}")


def effective_settings(model: ModelSpec, given: Mapping[str, Any]) -> dict[str, Any]:
    """The given settings and all defaults, so that a result names every one of them.

    Except under `reference`, which has other defaults for what only some Laplacians have: there the given ones stand
    alone.
    """
    chosen = {**model.defaults(), **model.fixed, **given}
    options = {}
    if "laplacian" in chosen and not chosen.get("reference"):
        of_dynamics = (LAPLACIANS.get(chosen["laplacian"]), SCHEMES.get(chosen["scheme"]))
        options = {n: p.default for kind in of_dynamics if kind for n, p in keyword_options(kind).items()}
    return {name: value for name, value in {**options, **chosen}.items() if name not in model.fixed}


def _type_name(parameter: inspect.Parameter) -> str:
    annotation = parameter.annotation
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "str")
