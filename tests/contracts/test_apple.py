"""What a run does after training, with tensors that refuse float64 as Apple's devices do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from apple import MPS, Apple, Machine
from graphs import toy_graph
from gwn import Diverged, GWNError
from gwn.networks import GWN
from gwn.training import TrainConfig
from gwn.training.label_input import KnownLabels, fingerprint
from gwn.training.loop import diverged
from gwn.training.loss import Scaling, balanced_weights, weighted_loss
from gwn.training.metrics import cross_fitted, r2, roc_auc
from gwn.training.outputs import Outputs, probabilities
from gwn.training.prior import train_shares


@pytest.fixture(autouse=True)
def machine() -> Iterator[None]:
    with Machine():
        yield


LOGITS, NUMBERS = torch.linspace(-1, 2, 20).sin().reshape(10, 2), torch.linspace(0, 3, 10).cos()
Y, TRAIN = torch.arange(10) % 2, torch.arange(5)
BALANCED = TrainConfig(class_weights="balanced")
SCALE = Scaling(2.0, 3.0)


def outputs(logits: Tensor, y: Tensor, scaling: Scaling | None = None) -> Outputs:
    return Outputs(val=logits, y_val=y, test=logits, y_test=y, scaling=scaling)


def weights(y: Tensor) -> Tensor:
    found = balanced_weights(y, 3, BALANCED)
    assert found is not None
    return found


WORK: dict[str, Callable[[Tensor, Tensor, Tensor], Any]] = {
    "temperature": lambda z, y, numbers: outputs(z, y).temperature(),
    "details of classes": lambda z, y, numbers: outputs(z, y).details(1.5),
    "details of numbers": lambda z, y, numbers: outputs(numbers[:, None] + 0.1, numbers, SCALE).details(None),
    "probabilities": lambda z, y, numbers: probabilities(z, 2.0).tolist(),
    "roc-auc": lambda z, y, numbers: roc_auc(z, y),
    "r2": lambda z, y, numbers: r2(numbers + 0.1, numbers),
    "cross-fitted classes": lambda z, y, numbers: cross_fitted(torch.stack([z, -z]), y),
    "cross-fitted numbers": lambda z, y, numbers: cross_fitted(
        torch.stack([SCALE.undo(numbers[:, None]).unsqueeze(1)]), numbers, "r2"
    ),
    "weighted loss": lambda z, y, numbers: weighted_loss(z.cpu().new_ones(10, 3), y.cpu(), weights(y).cpu()).item(),
    "training shares": lambda z, y, numbers: train_shares(y, 3, weights(y)).tolist(),
    "scaling": lambda z, y, numbers: Scaling.of(numbers, TRAIN),
    "scaled": lambda z, y, numbers: SCALE.apply(numbers, torch.float32).tolist(),
    "restored": lambda z, y, numbers: SCALE.restore(numbers).tolist(),
}


@pytest.mark.parametrize("work", WORK.values(), ids=WORK.keys())
def test_no_float64_on_the_device(work: Callable[[Tensor, Tensor, Tensor], Any]) -> None:
    assert work(*(tensor.as_subclass(Apple) for tensor in (LOGITS, Y, NUMBERS))) == work(LOGITS, Y, NUMBERS)


def test_what_is_scaled_and_weighed_stays_on_the_device() -> None:
    numbers, y = NUMBERS.as_subclass(Apple), Y.as_subclass(Apple)
    assert SCALE.apply(numbers, torch.float32).device == MPS
    assert weights(y).device == MPS
    assert weights(Y).dtype == torch.float64  # elsewhere as precise as before


def test_a_diverged_wave_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, model = toy_graph(), GWN(toy_graph().num_features, 4, 2)
    whole = model.trajectory(graph.x, graph.edge_index, None).detach()
    monkeypatch.setattr(model, "trajectory", lambda *inputs: whole.as_subclass(Apple))
    assert isinstance(diverged(model, graph, 3, float("inf")), Diverged)


def test_known_labels_of_another_graph_keep_their_type() -> None:
    graph = toy_graph()
    network = nn.Linear(2, 2)
    model = KnownLabels(network, TRAIN, Y[TRAIN], 2, shown=False, graph=torch.zeros(32, dtype=torch.uint8))
    model.to("cpu", torch.float32)
    other, _ = model.on(graph, ["0", "1"])
    assert other is not model
    assert torch.equal(other.graph, fingerprint(graph))
    assert other.strength.dtype == torch.float32
    assert other.strength is not model.strength
    assert network.weight.dtype == torch.float32


def test_float64_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert TrainConfig(device="mps").torch_device == MPS
    with pytest.raises(GWNError, match="device mps has no float64; use dtype=float32"):
        _ = TrainConfig(device="mps", dtype="float64").torch_device
