"""A wave network in a PyTorch Geometric training loop: it takes the place of a GCN, nothing else changes."""

import torch
from torch.nn.functional import cross_entropy
from torch_geometric.datasets import KarateClub
from torch_geometric.nn import GCN

from gwn import GWN

data = KarateClub()[0]  # 34 members, four of them with a known community


def train(model: torch.nn.Module, epochs: int = 100) -> float:
    """The accuracy on the members whose community the model was not told."""
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    for _ in range(epochs):
        model.train()
        optimizer.zero_grad()
        logits = model(data.x, data.edge_index)
        cross_entropy(logits[data.train_mask], data.y[data.train_mask]).backward()
        optimizer.step()
    model.eval()
    unknown = ~data.train_mask
    return float((model(data.x, data.edge_index).argmax(dim=1) == data.y)[unknown].float().mean())


torch.manual_seed(0)
inputs, classes = data.num_features, int(data.y.max()) + 1
print(f"GCN                {train(GCN(inputs, 16, num_layers=2, out_channels=classes)):.2f}")
print(f"the paper's wave   {train(GWN(inputs, 16, classes, laplacian='sym', time=3.0)):.2f}")
print(f"the physical wave  {train(GWN(inputs, 16, classes, laplacian='physical', time=3.0)):.2f}")
