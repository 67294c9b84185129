"""NLMLP: score, sort, convolve along the order, and back."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dense import Matrix, close, linear
from graphs import NO_EDGES, normal
from gwn import GWNError
from gwn.models.peers.nlmlp import NLMLP
from seeds import reseed

N, IN, HIDDEN, OUT = 9, 5, 4, 3


def convolve(conv: torch.nn.Conv1d, line: Matrix) -> Matrix:
    weight, bias = conv.weight.detach().numpy(), conv.bias.detach().numpy()
    half = weight.shape[2] // 2
    padded = np.pad(line, ((half, half), (0, 0)))
    return np.array(
        [bias + sum(weight[:, :, k] @ padded[i + k] for k in range(weight.shape[2])) for i in range(len(line))]
    )


@pytest.mark.parametrize("reference", [True, False])
def test_sorting_brings_distant_nodes_together(reference: bool) -> None:
    """Compared with the paper's formula by hand, and with that of the authors' code, whose score has a bias."""
    reseed(0)
    model = NLMLP(IN, HIDDEN, OUT, kernel_size=3, reference=reference).double().eval()
    x = normal(N, IN)
    z = linear(model.embed.layers[1], torch.from_numpy(np.maximum(linear(model.embed.layers[0], x), 0)))
    a = z @ model.score.weight.detach().numpy()
    assert (model.score.bias is not None) is reference
    if model.score.bias is not None:
        assert float(model.score.bias.detach()) != 0.0
        a = a + model.score.bias.detach().numpy()
    order = np.argsort(a[:, 0])
    line = convolve(model.convs[1], np.maximum(convolve(model.convs[0], (a * z)[order]), 0))
    back = np.empty_like(line)
    back[order] = line
    close(model(x, NO_EDGES), linear(model.head, torch.from_numpy(np.hstack([z, back]))), 1e-11)


def test_an_even_kernel_has_no_middle() -> None:
    with pytest.raises(GWNError, match="kernel_size must be odd"):
        NLMLP(IN, HIDDEN, OUT, kernel_size=4)
