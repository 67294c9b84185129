from __future__ import annotations

import numpy as np
import torch

from dense import close
from gwn.models.peers.layers import attention_product
from gwn.sparse import SparseMatrix
from peer import X, normalised, output, peer, relu, weights


def test_signed_attention_by_hand(kernels: str) -> None:
    """Compared with the paper's formula on dense matrices, which the authors' code computes too."""
    model = peer("fagcn", num_layers=3, eps=0.4)
    w, S = weights(model), normalised("none")
    start = h = relu(X.numpy() @ w["encoder.weight"] + w["encoder.bias"])
    for layer in range(3):
        source, target = (h @ w[f"convs.{layer}.att_{side}.weight"][0] for side in ("l", "r"))
        h = 0.4 * start + (np.tanh(target[:, None] + source[None, :]) * S) @ h
    close(output(model), h @ w["head.weight"] + w["head.bias"])


def test_gradients_of_a_product_with_attention(kernels: str) -> None:
    pattern = SparseMatrix.from_tensor(torch.tensor([[0.0, 1, 1], [1, 0, 0], [0, 1, 1]]).to_sparse_csr()).pattern
    values, x = (torch.rand(s, dtype=torch.float64, requires_grad=True) for s in ((5,), (3, 2)))
    assert torch.autograd.gradcheck(lambda v, y: attention_product(pattern, v, y), (values, x))
