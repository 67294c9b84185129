from __future__ import annotations

import numpy as np
import pytest
import torch

from dense import close
from gwn.models.peers.fagcn import FAGCN
from gwn.models.peers.layers import attention_product
from gwn.sparse import SparseMatrix
from peer import X, normalised, output, peer, relu, weights


@pytest.mark.parametrize("form", [{}, {"reference": False}])
def test_signed_attention_by_hand(kernels: str, form: dict[str, bool]) -> None:
    """Compared with the authors' code's formula on dense matrices, whose gates have a bias, and with the paper's."""
    model = peer("fagcn", num_layers=3, eps=0.4, **form)
    w, S = weights(model), normalised("none")
    start = h = relu(X.numpy() @ w["encoder.weight"] + w["encoder.bias"])
    for layer in range(3):
        source, target = (h @ w[f"convs.{layer}.att_{side}.weight"][0] for side in ("l", "r"))
        bias = 0.0 if form else w[f"convs.{layer}.bias"][0]
        h = 0.4 * start + (np.tanh(target[:, None] + source[None, :] + bias) * S) @ h
    close(output(model), h @ w["head.weight"] + w["head.bias"])
    assert any(name.startswith("convs.0.bias") for name in w) is not bool(form)


def test_where_the_bias_of_a_gate_starts() -> None:
    """As that of a linear map of the two ends, and again when the parameters are drawn anew."""
    model = FAGCN(4, 8, 3, reference=True)
    for _ in range(2):
        biases = torch.cat([layer.get_parameter("bias") for layer in model.convs]).detach()
        assert 0 < float(biases.abs().min()) <= float(biases.abs().max()) <= 16**-0.5
        torch.nn.init.zeros_(model.convs[0].get_parameter("bias"))
        model.reset_parameters()


def test_gradients_of_a_product_with_attention(kernels: str) -> None:
    pattern = SparseMatrix.from_tensor(torch.tensor([[0.0, 1, 1], [1, 0, 0], [0, 1, 1]]).to_sparse_csr()).pattern
    values, x = (torch.rand(s, dtype=torch.float64, requires_grad=True) for s in ((5,), (3, 2)))
    assert torch.autograd.gradcheck(lambda v, y: attention_product(pattern, v, y), (values, x))
