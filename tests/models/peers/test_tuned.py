from __future__ import annotations

import numpy as np
import pytest
import torch

from dense import Matrix, close
from gwn import GWNError
from gwn.models import model_spec
from peer import X, attend, graph, normalised, output, peer, relu, walk, weights


def convolve(kind: str, w: dict[str, Matrix], layer: int, h: Matrix, loops: str = "none") -> Matrix:
    place = f"convs.{layer}."
    if kind == "gcn":
        return normalised() @ h @ w[place + "lin.weight"]
    if kind == "sage":
        return walk(loops) @ h @ w[place + "lin_l.weight"] + h @ w[place + "lin_r.weight"]
    projected = h @ w[place + "projection.weight"]
    return attend(graph(), projected, w[place + "att_src"][0, 0], w[place + "att_dst"][0, 0])


@pytest.mark.parametrize("kind", ["gcn", "sage", "gat"])
@pytest.mark.parametrize("norm", ["batch", "layer", "none"])
def test_residual_normalised_layers_by_hand(kind: str, norm: str) -> None:
    """Compared with the paper's formula on dense matrices."""
    model = peer(f"{kind}-tuned", norm=norm, dropout=0.0, reference=False).train()
    out = output(model)
    w, h = weights(model), X.numpy()
    for layer in range(3):
        z = convolve(kind, w, layer, h) + h @ w[f"residuals.{layer}.weight"]
        if norm != "batch":
            z = z + w[f"residuals.{layer}.bias"]
        if norm != "none":
            axis, place = (0, f"norms.{layer}.module.") if norm == "batch" else (1, f"norms.{layer}.")
            z = (z - z.mean(axis, keepdims=True)) / np.sqrt(z.var(axis, keepdims=True) + 1e-5)
            z = z * w[place + "weight"] + w[place + "bias"]
        h = relu(z)
    close(out, h @ w["head.weight"] + w["head.bias"])


@pytest.mark.parametrize("kind", ["gcn", "sage", "gat"])
def test_without_residual_and_norm_it_is_the_classic(kind: str) -> None:
    """Compared with the formulas of GCN, GraphSAGE and GAT on dense matrices."""
    model = peer(f"{kind}-tuned", norm="none", residual=False, reference=False)
    w, h = weights(model), X.numpy()
    for layer in range(3):
        bias = w[f"convs.{layer}.lin_r.bias" if kind == "sage" else f"convs.{layer}.bias"]
        h = relu(convolve(kind, w, layer, h) + bias)
    close(output(model), h @ w["head.weight"] + w["head.bias"])


def test_published_width_and_unknown_norms() -> None:
    assert model_spec("gcn-tuned").defaults()["hidden_channels"] == 256
    with pytest.raises(GWNError, match="norm"):
        model_spec("gat-tuned").build(2, 2, norm="instance")
    assert torch.is_tensor(output(peer("gcn-tuned")))


def test_the_mean_of_graphsage_has_the_node_itself_in_the_published_code() -> None:
    """Compared with the formula of the authors' code: self-loops are added before the mean."""
    model = peer("sage-tuned", norm="none", residual=False, num_layers=1)
    w = weights(model)
    h = relu(convolve("sage", w, 0, X.numpy(), loops="add") + w["convs.0.lin_r.bias"])
    close(output(model), h @ w["head.weight"] + w["head.bias"])
