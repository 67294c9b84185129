"""Your own graph from two tables: fit on the wines whose cultivar is known, predict the others, check how good it is.

The same by commands:  gwn compare --edges cellar-edges.csv --nodes cellar-nodes.csv --label-column cultivar
                       gwn predict runs/cellar-nodes-… --out predictions.csv
"""

from pathlib import Path

import pandas as pd
from sklearn.model_selection import cross_val_score

from gwn import WaveClassifier

FOLDER = Path(__file__).parent / "data"
nodes = pd.read_csv(FOLDER / "cellar-nodes.csv", dtype={"stock_number": str})
edges = pd.read_csv(FOLDER / "cellar-edges.csv", dtype=str)

model = WaveClassifier("gwn-sym", runs=3)  # model="auto" compares a dozen models first
model.fit(nodes, edges, label="cultivar")
print(model.columns_[["column", "role", "missing"]].to_string(index=False))  # what every column became
print(f"{model.graph_.num_nodes} wines, {model.graph_.num_edges} edges, classes {list(model.classes_)}")

unknown = nodes.stock_number[nodes.cultivar.isna()]
answers = pd.DataFrame(model.predict_proba(unknown), index=unknown, columns=model.classes_)
print(answers.round(3).head())

# Five times, a fifth of the known wines is taken for unknown: fit and predict get stock numbers, the graph stays whole.
known = nodes[nodes.cultivar.notna()]
fresh = WaveClassifier("gwn-sym", graph=(nodes.drop(columns="cultivar"), edges))
scores = cross_val_score(fresh, known.stock_number, known.cultivar, cv=5)
print(f"cross-validation: {scores.mean():.0%} right, {scores.min():.0%} to {scores.max():.0%}")
