"""`gwn compare` as a user runs it on tables of their own, against what they would try otherwise.

Of each pair of tables in `own_tables.py` a fifth of the labels is blanked. `gwn compare` sees the blanked tables and
nothing else, for a stated time; `gwn predict` fills in the labels with what it saved. The others see the same features
of the same nodes, as `gwn` encoded them, and the same labels: logistic regression and gradient-boosted trees
(scikit-learn) on features, means over neighbours and means of these, and PyG's GCN with the settings of its examples.
Where they have something to choose they hold out a fifth of the labelled nodes. All are judged on the blanked labels.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from benchmarks.harness import Result, Row, Settings, Verdict
from benchmarks.own_tables import OWN_TABLES, OwnTable
from benchmarks.worker import process_environment
from gwn.data.files import load_files
from gwn.errors import GWNError
from gwn.graph import Graph
from gwn.io import content_key, read_json, write_json
from gwn.registry import require_known
from gwn.training.result import summarise

BLANKED = 0.2
HELD_OUT = 0.2
SEEDS = 3
"""Of the networks among the baselines: the mean of so many."""

Predict = Callable[[Graph, NDArray[np.int64], int], NDArray[np.int64]]


def own_tables(settings: Settings) -> Result:
    """Every pair of tables that can be made here: the accuracy of all on the blanked labels, and what was promised."""
    rows, notes = [], []
    for name in settings.tables or ():
        require_known("pair of tables", name, OWN_TABLES)
    for name, table in OWN_TABLES.items():
        folder = settings.work / "tables" / name
        stored = folder / f"row-{settings.time}.json"
        if settings.tables is not None and name not in settings.tables:
            if stored.is_file():
                rows.append(read_json(stored))
            continue
        settings.say(name)
        try:
            answers = prepare(table, folder)
        except GWNError as error:
            notes.append(f"{name} left out: {error}")
            continue
        found = compare_and_predict(table, folder, answers, settings)
        others = baselines(name, table, folder, answers, settings)
        rows.append({"tables": name, **found, **others})
        write_json(stored, rows[-1])
    facts = {"blanked_share": BLANKED, "time": settings.time}
    shown = ("tables", "winner", "blanked", "reported", "low", "high", "compare", *BASELINES, "runs", "seconds")
    return Result(facts=facts, rows=rows, verdicts=own_tables_verdicts(rows), notes=notes, shown=shown)


def own_tables_verdicts(rows: Sequence[Row]) -> list[Verdict]:
    """At least as good as the best of the others; and the reported accuracy is what the blanked labels say.

    The second is the difference of two shares that both vary, so its bar is what both intervals make together.
    """
    verdicts = []
    for row in rows:
        best = max(row[name] for name in BASELINES)
        verdicts.append(
            Verdict(
                subject=row["tables"],
                what="gwn compare less the best of the others on blanked labels, points",
                value=100 * (row["compare"] - best),
                sign=">=",
                bar=0.0,
            )
        )
        reach = math.hypot((row["high"] - row["low"]) / 2, (row["blanked_high"] - row["blanked_low"]) / 2)
        verdicts.append(
            Verdict(
                subject=row["tables"],
                what="reported less blanked accuracy, points",
                value=100 * abs(row["reported"] - row["compare"]),
                sign="<=",
                bar=round(100 * reach, 2),
            )
        )
    return verdicts


def prepare(table: OwnTable, folder: Path) -> pd.Series:
    """Write `nodes.csv`, with a fifth of the labels blanked, and `edges.csv`; the blanked labels by row."""
    nodes, edges = table.make()
    rows = np.random.default_rng(0).permutation(len(nodes))[: round(BLANKED * len(nodes))]
    answers = nodes[table.label].iloc[np.sort(rows)].astype(str)
    nodes.loc[answers.index, table.label] = ""
    folder.mkdir(parents=True, exist_ok=True)
    for name, frame in (("nodes", nodes), ("edges", edges)):
        text = frame.to_csv(index=False)
        path = folder / f"{name}.csv"
        if not path.is_file() or path.read_text(encoding="utf-8") != text:  # a comparison goes on where it stopped
            path.write_text(text, encoding="utf-8")
    return answers


def compare_and_predict(table: OwnTable, folder: Path, answers: pd.Series, settings: Settings) -> dict[str, Any]:
    """What `gwn compare` reports, and how its winner does on the blanked labels."""
    files = ("--edges", "edges.csv", "--nodes", "nodes.csv", "--label-column", table.label)
    said = gwn(folder, "compare", *files, *table.options, "--time", settings.time, "--json", "--quiet")
    found = json.loads(said)
    predictor = found["predictor"]
    gwn(folder, "predict", str(found["folder"]), "--raw-cells", "--out", "predictions.csv")
    predicted = pd.read_csv(folder / "predictions.csv", dtype=str, keep_default_na=False)["predicted"]
    right = (predicted.iloc[answers.index].to_numpy() == answers.to_numpy()).mean()
    blanked = summarise([float(right)] * 2, [len(answers) // 2] * 2)
    assert blanked is not None
    return {
        "blanked": len(answers),
        "winner": predictor["title"],
        "reported": predictor["together"]["mean"],
        "low": predictor["together"]["low"],
        "high": predictor["together"]["high"],
        "compare": float(right),
        "blanked_low": blanked.low,
        "blanked_high": blanked.high,
        "seconds": found["seconds"],
        "runs": found["runs"],
        "weights": {member["model"]: member["weight"] for member in predictor["members"]},
        "validation": {row["model"]: row["val"]["mean"] for row in found["rows"] if row["val"]},
        "test": {row["model"]: row["test"]["mean"] for row in found["rows"] if row["test"]},
    }


def gwn(folder: Path, *arguments: str) -> str:
    """What the command prints; its last line of complaint where it fails."""
    command = [sys.executable, "-m", "gwn", *arguments]
    done = subprocess.run(command, cwd=folder, env=process_environment(1), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise GWNError(f"gwn {arguments[0]} failed in {folder.name}: {' '.join(done.stderr.strip().splitlines()[-1:])}")
    return done.stdout


def baselines(name: str, table: OwnTable, folder: Path, answers: pd.Series, settings: Settings) -> dict[str, float]:
    """The accuracy of each on the blanked labels, computed once for the same features."""
    options: dict[str, Any] = {"label_column": table.label, "drop_columns": table.drops()}
    words = {"--id-column": "id_column", "--source-column": "source_column", "--target-column": "target_column"}
    words["--features"] = "structural"
    given = dict(zip(table.options, table.options[1:], strict=False))
    options.update({words[option]: value for option, value in given.items() if option in words})
    graph = load_files(edges=folder / "edges.csv", nodes=folder / "nodes.csv", **options)[0].graph
    assert graph.class_names is not None
    key = content_key({"graph": graph.content_hash(), "seeds": SEEDS})
    stored = folder / f"baselines-{key}.json"
    known: dict[str, Any] = read_json(stored) if stored.is_file() else {}
    labelled = np.flatnonzero((graph.labels >= 0).numpy())
    rows = answers.index.to_numpy()
    for baseline, predict in BASELINES.items():
        if baseline in known:
            continue
        settings.say(f"{name}: {baseline}")
        scores = []
        for seed in range(SEEDS if baseline == "gcn" else 1):
            found = predict(graph, labelled, seed)
            names = np.array(graph.class_names, dtype=object)[found[rows]]
            scores.append(float((names == answers.to_numpy()).mean()))
        known[baseline] = float(np.mean(scores))
        write_json(stored, known)
    return {baseline: known[baseline] for baseline in BASELINES}


def with_means(graph: Graph) -> NDArray[np.float32]:
    """Features [x, P x, P² x], P the mean over the neighbours."""
    weight = np.ones(graph.num_edges) if graph.edge_weight is None else graph.edge_weight.numpy()
    shape = (graph.num_nodes, graph.num_nodes)
    adjacency = sp.csr_array((weight.astype(np.float32), tuple(graph.edge_index.numpy())), shape=shape)
    strength = np.maximum(np.asarray(adjacency.sum(axis=1)).reshape(-1, 1), 1e-12)
    hops = [dense(graph).numpy()]
    for _ in range(2):
        hops.append(adjacency @ hops[-1] / strength)
    return np.concatenate(hops, axis=1)


def dense(graph: Graph) -> Tensor:
    return graph.x.to_dense() if graph.is_sparse else graph.x


def halves(graph: Graph, labelled: NDArray[np.int64], seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Labelled nodes to learn from and to choose by."""
    order = np.random.default_rng(seed).permutation(labelled)
    held = round(HELD_OUT * len(order))
    return order[held:], order[:held]


def logistic(graph: Graph, labelled: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """The strength of the penalty is chosen on held-out nodes; then all labels are used."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    x, y = with_means(graph), graph.labels.numpy()
    fit_on, held = halves(graph, labelled, seed)

    def model(strength: float) -> Any:
        return make_pipeline(StandardScaler(), LogisticRegression(C=strength, max_iter=300))

    best = max((0.01, 0.1, 1.0), key=lambda strength: model(strength).fit(x[fit_on], y[fit_on]).score(x[held], y[held]))
    predicted: NDArray[np.int64] = model(best).fit(x[labelled], y[labelled]).predict(x)
    return predicted


def boosted(graph: Graph, labelled: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """With scikit-learn's defaults."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    x, y = with_means(graph), graph.labels.numpy()
    model = HistGradientBoostingClassifier(random_state=seed)
    predicted: NDArray[np.int64] = model.fit(x[labelled], y[labelled]).predict(x)
    return predicted


def gcn(graph: Graph, labelled: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """Two layers of 16, dropout 0.5, Adam at 0.01 with weight decay 5e-4, 200 epochs, the best on held-out nodes."""
    from torch_geometric.nn import GCN

    torch.manual_seed(seed)
    fit_on, held = (torch.from_numpy(part) for part in halves(graph, labelled, seed))
    x, y, edges = dense(graph), graph.labels, graph.edge_index
    model = GCN(x.shape[1], 16, num_layers=2, out_channels=graph.num_classes, dropout=0.5)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    best, answer = -1.0, y
    for _ in range(200):
        model.train()
        optimiser.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x, edges, graph.edge_weight)[fit_on], y[fit_on])
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        model.eval()
        with torch.no_grad():
            predicted = model(x, edges, graph.edge_weight).argmax(1)
        score = float((predicted[held] == y[held]).float().mean())
        if score > best:
            best, answer = score, predicted
    found: NDArray[np.int64] = answer.numpy()
    return found


BASELINES: Mapping[str, Predict] = {"logistic": logistic, "boosted": boosted, "gcn": gcn}

LARGE_NODES, LARGE_COLUMNS, LARGE_EDGES = 100_000, 30, 1_000_000


def large_table(settings: Settings) -> Result:
    """A hundred thousand rows, 30 columns and a million edges through `gwn train`: memory and time of the process."""
    folder = settings.work / "tables" / f"large-{settings.shrink}"
    nodes, edges = LARGE_NODES // settings.shrink, LARGE_EDGES // settings.shrink
    if not (folder / "edges.csv").is_file():
        write_large(folder, nodes, edges)
    command = [
        *(sys.executable, "-m", "gwn", "train", "--edges", "edges.csv", "--nodes", "nodes.csv"),
        *("--label-column", "label", "--model", "gwn-sym", "--runs", "1", "--out", "runs", "--force", "--quiet"),
    ]
    started = time.perf_counter()
    with (folder / "log").open("w+") as log:
        process = subprocess.Popen(
            command, cwd=folder, stdout=log, stderr=subprocess.STDOUT, env=process_environment(settings.threads)
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            log.seek(0)
            raise GWNError(
                f"the large tables could not be trained on: {' '.join(log.read().strip().splitlines()[-1:])}"
            )
    seconds = time.perf_counter() - started
    gigabytes = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e9
    row = {"model": "gwn-sym", "nodes": nodes, "columns": LARGE_COLUMNS, "edges": edges}
    rows = [{**row, "peak_gb": gigabytes, "seconds": seconds}]
    return Result(rows=rows, verdicts=large_table_verdicts(rows))


def large_table_verdicts(rows: Sequence[Row]) -> list[Verdict]:
    """Under 2 GB and ten minutes, reading the tables included."""
    size = "a hundred thousand rows, a million edges"
    return [
        Verdict(subject=row["model"], what=f"{size}: {what}", value=row[key], sign="<", bar=bar)
        for row in rows
        for what, key, bar in (("whole process in GB", "peak_gb", 2.0), ("seconds", "seconds", 600.0))
    ]


def write_large(folder: Path, nodes: int, edges: int) -> None:
    """Numbers, of which a few are missing, three columns of categories and one of dates; five classes in blocks."""
    rng = np.random.default_rng(0)
    label = rng.integers(0, 5, nodes)
    numbers = rng.normal(size=(nodes, LARGE_COLUMNS - 4)) + 0.3 * (np.arange(LARGE_COLUMNS - 4) % 5 == label[:, None])
    frame = pd.DataFrame(numbers.round(4), columns=[f"number_{place}" for place in range(LARGE_COLUMNS - 4)])
    frame = frame.mask(rng.random(frame.shape) < 0.02)
    for place, kinds in enumerate((4, 20, 100)):
        frame[f"category_{place}"] = [f"kind {kind}" for kind in rng.integers(0, kinds, nodes)]
    frame["since"] = (pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 2000, nodes), unit="D")).strftime(
        "%Y-%m-%d"
    )
    frame.insert(0, "id", np.arange(nodes) + 1)
    frame["label"] = [f"class {kind}" for kind in label]
    frame.loc[rng.random(nodes) < 0.3, "label"] = ""
    source = rng.integers(0, nodes, edges)
    order = np.argsort(label, kind="stable")
    first = np.searchsorted(label[order], np.arange(6))
    kind = label[source]
    inside = order[first[kind] + (rng.random(edges) * (first[kind + 1] - first[kind])).astype(int)]
    target = np.where(rng.random(edges) < 0.4, inside, rng.integers(0, nodes, edges))
    folder.mkdir(parents=True, exist_ok=True)
    frame.to_csv(folder / "nodes.csv", index=False)
    pd.DataFrame({"source": source + 1, "target": target + 1}).to_csv(folder / "edges.csv", index=False)
