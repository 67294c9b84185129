"""Your own graph from two CSV files: train on the wines whose cultivar is known, predict the others.

The same by commands:  gwn train --edges wine-edges.csv --nodes wine-nodes.csv --label-column cultivar \
                           --weight-column weight --model gwn-fa
                       gwn predict runs/wine-nodes-gwn-fa-… --out predictions.csv
"""

from pathlib import Path

import torch
from sklearn.datasets import load_wine
from torch.nn.functional import cross_entropy

from gwn import GWN
from gwn.data import make_splits
from gwn.data.files import load_files

FOLDER = Path(__file__).parent / "data"

dataset, schema = load_files(
    edges=FOLDER / "wine-edges.csv",
    nodes=FOLDER / "wine-nodes.csv",
    label_column="cultivar",
    weight_column="weight",
)
graph = dataset.graph  # features standardised, edges in both directions, class -1 where the cell was empty
split = make_splits(dataset, "stratified", runs=1)[0]
print(f"{graph.num_nodes} wines, {graph.num_edges} edges, {graph.num_features} features, classes {graph.class_names}")

torch.manual_seed(0)
model = GWN(graph.num_features, 16, graph.num_classes, laplacian="fa", time=2.0)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=1e-3)
for _ in range(100):
    optimizer.zero_grad()
    logits = model.train()(graph.x, graph.edge_index, graph.edge_weight)
    cross_entropy(logits[split.train], graph.y[split.train]).backward()
    optimizer.step()

predicted = model.eval()(graph.x, graph.edge_index, graph.edge_weight).argmax(dim=1)
correct = predicted == torch.as_tensor(load_wine().target)
empty = graph.y < 0
print(f"test wines: {correct[split.test].float().mean():.0%} right")
print(f"wines without a cultivar: {int(correct[empty].sum())} of {int(empty.sum())} right")
