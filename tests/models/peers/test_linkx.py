from __future__ import annotations

import pytest
import torch

from dense import close
from graphs import normal
from gwn import GWNError
from gwn.models import model_spec
from peer import EDGES, IN, N, X, graph, output, peer, relu, weights


def test_adjacency_and_features_by_hand() -> None:
    """Compared with the paper's formula on dense matrices, which the authors' code computes too."""
    model = peer("linkx", num_layers=1)
    w = {name.removeprefix("network."): value for name, value in weights(model).items()}
    a = graph("none") @ w["edge_lin.weight"] + w["edge_lin.bias"]
    x = X.numpy() @ w["node_mlp.lins.0.weight"] + w["node_mlp.lins.0.bias"]
    joined = a @ w["cat_lin1.weight"].T + w["cat_lin1.bias"] + x @ w["cat_lin2.weight"].T + w["cat_lin2.bias"]
    close(output(model), relu(joined + a + x) @ w["final_mlp.lins.0.weight"].T + w["final_mlp.lins.0.bias"])


@pytest.mark.parametrize("name", ["linkx", "acm-gcn-plus"])
def test_renumbering_the_nodes_and_their_weights_renumbers_the_result(name: str) -> None:
    model, other = peer(name), peer(name)
    order = torch.randperm(N, generator=torch.Generator().manual_seed(0))
    found = 0
    with torch.no_grad():
        for part, parameter in other.named_parameters():
            if part.endswith(("edge_lin.weight", "structure.weight")):
                assert parameter.shape[0] == N
                parameter.copy_(parameter[order].clone())
                found += 1
    assert found == (1 if name == "linkx" else 2)
    close(other(X[order], torch.argsort(order)[EDGES]), output(model)[order])


@pytest.mark.parametrize("name", ["linkx", "acm-gcn-plus"])
def test_another_number_of_nodes_is_refused(name: str) -> None:
    with pytest.raises(GWNError, match=r"weights for the 8 nodes .* a graph of 5"):
        peer(name)(normal(5, IN), torch.tensor([[0], [1]]))


def test_more_layers_and_one_node() -> None:
    model = model_spec("linkx").build(IN, 2, num_layers=3, num_edge_layers=2, num_node_layers=2).train()
    assert model(normal(1, IN, dtype=torch.float32), torch.empty(2, 0, dtype=torch.long)).isfinite().all()
