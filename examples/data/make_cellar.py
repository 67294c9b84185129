"""How cellar-nodes.csv and cellar-edges.csv were made: the wines of make_wine.py as a cellar would list them.

The measurements, the classes and who is similar to whom are those of scikit-learn's wine data. The rest is dirt of the
kind that real lists have, drawn from a fixed seed: one measurement in twelve is missing, stock numbers may begin with
zeros, `tasted` is a date, `region` a category with empty cells and a rare value, `organic` says true or false. None of
these says anything about the grape. Every fourth wine has an empty cultivar: these are the ones to predict.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_wine
from sklearn.neighbors import kneighbors_graph

HERE = Path(__file__).parent
rng = np.random.default_rng(13)
wine = load_wine(as_frame=True)
rows = len(wine.data)
stock = np.array([f"{number:05d}" for number in rng.choice(99_999, rows, replace=False)])

measured = wine.data[["alcohol", "malic_acid", "ash", "magnesium", "flavanoids", "color_intensity", "proline"]].round(2)
days = pd.Timestamp("2023-01-09") + pd.to_timedelta(rng.integers(0, 700, rows), unit="D")
nodes = measured.mask(rng.random(measured.shape) < 1 / 12)
nodes.insert(0, "stock_number", stock)
nodes.insert(1, "tasted", days.strftime("%Y-%m-%d"))
nodes.insert(2, "region", rng.choice(["north", "hills", "valley", "", "island"], rows, p=[0.4, 0.3, 0.2, 0.08, 0.02]))
nodes.insert(3, "organic", rng.choice(["true", "false"], rows))
nodes["cultivar"] = ["" if row % 4 == 3 else str(wine.target_names[target]) for row, target in enumerate(wine.target)]
order = rng.permutation(rows)
nodes.iloc[order].to_csv(HERE / "cellar-nodes.csv", index=False)

near = kneighbors_graph((wine.data / wine.data.std()).to_numpy(), 4)
near = near.maximum(near.T).tocoo()  # an edge if either is near the other
once = near.row < near.col
edges = pd.DataFrame({"wine": stock[near.row[once]], "similar_to": stock[near.col[once]]})
edges.sort_values(["wine", "similar_to"]).to_csv(HERE / "cellar-edges.csv", index=False)
