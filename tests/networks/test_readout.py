"""What the head sees: the last state, a weighted sum, every state, or the encoders beside it."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.func import functional_call

from dense import close
from graphs import AWKWARD_NODES, awkward, normal
from gwn import GWN, GWNError
from gwn.networks.readout import READOUTS, Weighted
from seeds import reseed
from tolerance import rounding

N, F, D, C, STEPS = AWKWARD_NODES, 5, 4, 3, 6

every_readout = pytest.mark.parametrize("readout", READOUTS)


def network(readout: str, laplacian: str = "physical", **options: Any) -> GWN:
    reseed(3)
    settings = {"time": 3.0, "tau": 0.5, "dropout": 0.0, **options}
    return GWN(F, D, C, laplacian=laplacian, readout=readout, **settings).double()


def seen(model: GWN, x: Tensor) -> Tensor:
    """The head's input, written out for each."""
    X, phi0, phi1 = model.trajectory(x, awkward()), model.phi0(x), model.phi1(x)
    name = next(name for name, kind in READOUTS.items() if type(model.readout) is kind)
    if name == "last":
        return X[-1]
    if name == "weighted":
        return sum(w * state for w, state in zip(model.readout.weights, X, strict=True))  # type: ignore[arg-type, return-value]
    if name == "trajectory":
        return torch.cat(list(X), dim=1)
    if name == "with-encoder":
        return torch.cat([X[-1], phi0, phi1], dim=1)
    pytest.skip(f"no equation of read-out {name} here")


@every_readout
@pytest.mark.parametrize("laplacian", ["sym", "fa", "physical"])
def test_the_head_sees_what_is_promised(readout: str, laplacian: str) -> None:
    model, x = network(readout, laplacian), normal(N, F)
    with torch.no_grad():
        for parameter in model.readout.parameters():
            parameter.copy_(normal(parameter.numel()).reshape(parameter.shape))
    inputs = seen(model, x)
    assert inputs.shape == (N, model.readout.width)
    close(model(x, awkward()), model.head(inputs), 1e-12)


@pytest.mark.parametrize(
    ("readout", "width", "parameters"),
    [("last", D, 0), ("weighted", D, STEPS + 1), ("trajectory", D * (STEPS + 1), 0), ("with-encoder", 3 * D, 0)],
)
def test_widths_and_parameters(readout: str, width: int, parameters: int) -> None:
    model = network(readout)
    assert model.readout.width == width
    assert sum(p.numel() for p in model.readout.parameters()) == parameters
    assert sum(p.numel() for p in model.head.parameters()) == width * C + C


@every_readout
@pytest.mark.parametrize(
    ("laplacian", "scheme"),
    [("fa", "leapfrog"), ("physical", "bessel"), ("physical", "newmark"), ("sym", "heat"), ("fa-symmetric", "damped")],
)
@pytest.mark.parametrize("steps", [2, 18])
def test_gradients(readout: str, laplacian: str, scheme: str, steps: int) -> None:
    model, x = network(readout, laplacian, scheme=scheme, tau=0.2, time=0.2 * steps), normal(N, F)
    names, values = zip(*model.named_parameters(), strict=True)

    def logits(*parameters: Tensor) -> Tensor:
        out: Tensor = functional_call(model, dict(zip(names, parameters, strict=True)), (x, awkward()))
        return out

    assert torch.autograd.gradcheck(logits, values, fast_mode=True)


def test_weights_start_as_the_mean_and_are_reset_to_it() -> None:
    readout = Weighted(D, STEPS)
    close(readout.weights, [1 / 7] * 7, 1e-6)
    wave = normal(STEPS + 1, N, D, dtype=torch.float32)
    close(readout(wave, wave[0], wave[0]), wave.mean(0), rounding(STEPS + 1, dtype=torch.float32))
    with torch.no_grad():
        readout.weights.zero_()
    readout.reset_parameters()
    close(readout.weights, [1 / 7] * 7, 1e-6)


def test_one_weight_alone_is_the_last_state() -> None:
    weighted, last, x = network("weighted"), network("last"), normal(N, F)
    weighted.load_state_dict({**last.state_dict(), "readout.weights": torch.eye(STEPS + 1)[-1].double()})
    close(weighted(x, awkward()), last(x, awkward()), 1e-13)


def test_a_read_out_that_does_not_exist() -> None:
    with pytest.raises(GWNError, match="unknown readout 'trajectories'; did you mean 'trajectory'"):
        network("trajectories")
