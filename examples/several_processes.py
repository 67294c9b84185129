"""One graph shared by several processes: the same command, the same numbers.

Each process owns some of the nodes and asks the others for the rows at its boundary. Without dropout the outcome is the
one that a single process computes, up to the order of sums. On several machines `torchrun` starts the processes:

    torchrun --nnodes 4 --nproc-per-node 8 --rdzv-backend c10d --rdzv-endpoint HOST:29500 -m gwn train GRAPH …
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

WINE = Path(__file__).parent / "data"
GRAPH = ["--edges", f"{WINE / 'wine-edges.csv'}", "--nodes", f"{WINE / 'wine-nodes.csv'}", "--label-column", "cultivar"]


def train(processes: int, folder: str) -> dict[str, Any]:
    """Twenty epochs of GWN-fa by this many processes; `--json` prints everything that is known about the run."""
    command = [sys.executable, "-m", "gwn", "train", *GRAPH, "--model", "gwn-fa", "--runs", "1", "--json", "--quiet"]
    settings = ["--set", "epochs=20", "--set", "dropout=0", "--out", folder]
    shared = ["--processes", str(processes)] if processes > 1 else []
    finished = subprocess.run([*command, *settings, *shared], capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(finished.stdout)["runs"][0]
    return result


for processes in (1, 2):
    with tempfile.TemporaryDirectory() as folder:
        run = train(processes, folder)
    print(f"{processes} process(es): validation loss {run['val_loss']:.6f}, test accuracy {run['test']:.4f}")
