"""How wine-nodes.csv and wine-edges.csv were made: scikit-learn's 178 wines, each joined to its five most similar ones.

Similar means near in the 13 measurements, each divided by its standard deviation; an edge weighs 1 / (1 + distance).
Every sixth wine has an empty cultivar: these are the ones to predict.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_wine
from sklearn.neighbors import kneighbors_graph

HERE = Path(__file__).parent
wine = load_wine(as_frame=True)
ids = [f"wine-{number:03d}" for number in range(len(wine.data))]

nodes = wine.data.round(3)
nodes.insert(0, "id", ids)
nodes["cultivar"] = ["" if row % 6 == 5 else str(wine.target_names[target]) for row, target in enumerate(wine.target)]
nodes.to_csv(HERE / "wine-nodes.csv", index=False)

scaled = (wine.data / wine.data.std()).to_numpy()
near = kneighbors_graph(scaled, 5, mode="distance")
near = near.maximum(near.T).tocoo()  # an edge if either is near the other
once = near.row < near.col
pairs = {"source": np.array(ids)[near.row[once]], "target": np.array(ids)[near.col[once]]}
edges = pd.DataFrame({**pairs, "weight": (1 / (1 + near.data[once])).round(3)})
edges.sort_values(["source", "target"]).to_csv(HERE / "wine-edges.csv", index=False)
