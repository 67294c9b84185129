"""Propagation from file to file: the same numbers as in memory, within the memory stated, whole after any kill."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

import gwn.memory
import gwn.outofcore.propagate
from gwn.cli.main import main
from gwn.data.folders.folder import GraphFolder
from gwn.data.folders.generate import BlockModel, generate_folder
from gwn.data.splits import without_test
from gwn.errors import GWNError
from gwn.memory import parse_memory
from gwn.models import model_spec
from gwn.networks import GWN
from gwn.networks.precomputed import propagated_features
from gwn.outofcore.adjacency import file_adjacency
from gwn.outofcore.experiment import predict_to_csv
from gwn.outofcore.fit import RowReader, fit_files, logits_of_rows, predict_files
from gwn.outofcore.propagate import _write_block, find_blocks, propagate
from gwn.training import Experiment, TrainConfig, fit, load_trained, predict, run_experiment
from gwn.training.config import effective_settings
from seeds import reseed

PLENTY = 4 * 10**9
MODEL = BlockModel(nodes=500, edges=2500, features=9, classes=3, homophily=0.8, signal=2.0)
DYNAMICS: list[dict[str, Any]] = [
    {"laplacian": "sym"},
    {"laplacian": "sym", "scheme": "leapfrog-rescaled"},
    {"laplacian": "physical", "scheme": "damped"},
    {"laplacian": "physical", "scheme": "bessel", "tau": 2.0},
    {"laplacian": "physical", "scheme": "newmark", "tau": 2.0},
    {"laplacian": "klein-gordon", "mass": 0.7},
    {"laplacian": "random-walk"},
    {"laplacian": "random-walk", "scheme": "bessel"},
    {"laplacian": "sym", "scheme": "heat"},
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> GraphFolder:
    return generate_folder(MODEL, tmp_path_factory.mktemp("graphs") / "small")


def network(graph: GraphFolder, **settings: Any) -> GWN:
    reseed(0)
    return GWN(
        graph.num_features, 16, graph.num_classes, precompute=True, **{"laplacian": "sym", "time": 4.0, **settings}
    )


def in_memory(graph: GraphFolder, model: GWN) -> torch.Tensor:
    data = graph.dataset().graph
    operator = model.laplacian.on(model.adjacency(data.x, data.edge_index))
    return propagated_features(operator, model.scheme, data.x, model.num_steps)


@pytest.mark.parametrize("settings", DYNAMICS, ids=lambda s: "-".join(map(str, s.values())))
def test_same_numbers_as_in_memory(
    folder: GraphFolder, tmp_path: Path, settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gwn.outofcore.adjacency, "BLOCK_ARCS", 300)
    monkeypatch.setattr(gwn.outofcore.adjacency, "BLOCK_ROWS", 200)
    monkeypatch.setattr(gwn.outofcore.propagate, "columns_at_once", lambda graph, model, memory: 4)
    model = network(folder, **settings)
    found = propagate(folder, model, tmp_path, memory=PLENTY)
    assert len(found.blocks) == 3
    expected = in_memory(folder, model)
    assert torch.allclose(found.rows(0, 500), expected, rtol=1e-4, atol=1e-5 * float(expected.abs().max()))


def test_a_split_without_a_test_has_no_test_score(folder: GraphFolder, tmp_path: Path) -> None:
    model, split = network(folder), without_test(folder.labels().graph.labels, 0, 20)
    features = propagate(folder, model, tmp_path, memory=PLENTY)
    found = fit_files(model, folder, features, split, TrainConfig(epochs=2), memory=PLENTY)
    assert np.isnan(found.test)
    assert 0 <= found.val <= 1


def test_logits_are_those_of_the_network(folder: GraphFolder, tmp_path: Path) -> None:
    model, data = network(folder).eval(), folder.dataset().graph
    features = propagate(folder, model, tmp_path, memory=PLENTY)
    assert torch.allclose(torch.cat(list(predict_files(model, features))), model(data.x, data.edge_index), atol=1e-3)


def test_training_from_files_learns_as_in_memory(folder: GraphFolder, tmp_path: Path) -> None:
    data = folder.dataset()
    split, config = data.published["time"][0], TrainConfig(epochs=30, stopping="none", batch_size=64)
    model = network(folder, scheme="leapfrog-rescaled", dropout=0.0)
    features = propagate(folder, model, tmp_path, memory=PLENTY)
    from_files = fit_files(model, folder, features, split, config, memory=PLENTY)
    whole = fit(network(folder, scheme="leapfrog-rescaled", dropout=0.0), data.graph, split, config)
    assert from_files.test > 0.8
    assert abs(from_files.test - whole.test) < 0.1
    again = fit_files(
        network(folder, scheme="leapfrog-rescaled", dropout=0.0),
        folder,
        features,
        split,
        config,
        memory=gwn.memory.resident_bytes() + gwn.outofcore.fit.SPARE + 2**23,
    )
    assert abs(again.test - from_files.test) < 0.05


def test_memory_does_not_change_the_outcome(
    folder: GraphFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    split, config = folder.dataset().published["time"][0], TrainConfig(epochs=3, batch_size=50)
    weights = []
    for kept in (PLENTY, 0):
        model = network(folder)
        features = propagate(folder, model, tmp_path, memory=PLENTY)
        monkeypatch.setattr(gwn.outofcore.fit, "require_left", lambda *given, kept=kept: kept + gwn.outofcore.fit.SPARE)
        reseed(5)
        weights.append(fit_files(model, folder, features, split, config, memory=PLENTY).weights)
    assert all(torch.equal(a, b) for a, b in zip(weights[0].values(), weights[1].values(), strict=True))


@pytest.mark.parametrize("harm", ["cut", "changed", "no record", "half written"])
def test_a_block_that_is_not_whole_is_computed_again(
    folder: GraphFolder, tmp_path: Path, harm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gwn.outofcore.propagate, "columns_at_once", lambda graph, model, memory: 4)
    model = network(folder)
    expected = propagate(folder, model, tmp_path, memory=PLENTY).rows(0, 500)
    (place,) = tmp_path.iterdir()
    file, record = place / "columns-00004-00008.npy", place / "columns-00004-00008.json"
    others = {path: path.stat().st_mtime_ns for path in place.glob("columns-00000*")}
    if harm == "cut":
        file.write_bytes(file.read_bytes()[:-40])
    elif harm == "changed":
        values = np.load(file)
        values[7, 1] += 1
        np.save(file, values)
    elif harm == "no record":
        record.unlink()
    else:
        record.unlink()
        (place / "columns-00004-00008.part-1").write_bytes(file.read_bytes()[:1000])
        file.unlink()
    seen: list[float] = []
    found = propagate(folder, model, tmp_path, memory=PLENTY, on_columns=lambda done, total: seen.append(done))
    assert torch.equal(found.rows(0, 500), expected)
    assert (seen[0], seen[-1]) == (6, 10)
    assert seen == sorted(set(seen))
    assert others == {path: path.stat().st_mtime_ns for path in others}


KILLED = """
import sys
from pathlib import Path
import gwn.outofcore.propagate as p
from gwn.data.folders.folder import GraphFolder
from gwn.networks import GWN
graph = GraphFolder.open(sys.argv[1])
model = GWN(graph.num_features, 16, graph.num_classes, laplacian="sym", time=4.0, precompute=True)
p.columns_at_once = lambda graph, model, memory: 1
def slow(done, total):
    print(done, flush=True)
    if done == 4:
        import time
        time.sleep(3600)
p.propagate(graph, model, Path(sys.argv[2]), memory=4 * 10**9, on_columns=slow)
"""


def test_killed_and_resumed(folder: GraphFolder, tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLED, str(folder.path), str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    while process.stdout.readline().strip() != "4":
        assert process.poll() is None
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    (place,) = tmp_path.iterdir()
    assert len(find_blocks(place, check=True)) == 4
    model, seen = network(folder), []
    found = propagate(folder, model, tmp_path, memory=PLENTY, on_columns=lambda done, total: seen.append(done))
    assert seen[0] == 4
    expected = in_memory(folder, model)
    assert torch.allclose(found.rows(0, 500), expected, rtol=1e-4, atol=1e-5 * float(expected.abs().max()))


BOUNDED = """
import sys
from pathlib import Path
import torch
from gwn.data.folders.folder import GraphFolder
from gwn.networks import GWN
from gwn.memory import PeakMemory, give_back_freed_blocks, resident_bytes
from gwn.outofcore.fit import fit_files
from gwn.outofcore.propagate import propagate
from gwn.training import TrainConfig

torch.set_num_threads(1)
def train(path, root, memory):
    graph = GraphFolder.open(path)
    model = GWN(graph.num_features, 8, graph.num_classes, laplacian="sym", time=2.0, precompute=True)
    features = propagate(graph, model, Path(root), memory=memory)
    fit_files(model, graph, features, graph.time_split(), TrainConfig(epochs=1, threads=1), memory=memory)
    return len(features.blocks)

train(sys.argv[1], sys.argv[3], 10**10)  # libraries are loaded before anything is counted
give_back_freed_blocks()
memory = resident_bytes() + int(sys.argv[4])
with PeakMemory(torch.device("cpu")) as peak:
    blocks = train(sys.argv[2], sys.argv[3], memory)
print(blocks, peak.mebibytes * 2**20 / memory)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the peak of a part of the work")
@pytest.mark.parametrize("unused", ["goes back", "is held"])
def test_data_larger_than_the_memory(folder: GraphFolder, tmp_path: Path, unused: str) -> None:
    """The process as a whole, as the system counts it, stays within what was allowed, and uses most of it.

    Whether the C library holds on to freed blocks depends on where they lie; here it is told to hold on to all.
    """
    held = {f"MALLOC_{name}_THRESHOLD_": "1000000000" for name in ("MMAP", "TRIM")} if unused == "is held" else {}
    sizes = BlockModel(nodes=100_000, edges=300_000, features=150, classes=3)
    large = generate_folder(sizes, tmp_path / "large")
    allowed = 140 * 10**6
    stored = sum(path.stat().st_size for path in large.path.iterdir())
    propagated = 4 * 2 * 151 * 100_000
    assert stored + propagated > 1.3 * allowed
    command = [sys.executable, "-c", BOUNDED, str(folder.path), str(large.path), str(tmp_path / "p"), str(allowed)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **held}
    finished = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert finished.returncode == 0, finished.stderr
    blocks, peak = finished.stdout.split()
    assert int(blocks) > 2
    assert 0.8 < float(peak) <= 1.0


def test_rows_are_kept_as_far_as_they_fit_with_their_classes(folder: GraphFolder, tmp_path: Path) -> None:
    features, split = propagate(folder, network(folder), tmp_path, memory=PLENTY), folder.time_split()
    assert split is not None
    nodes = split.train
    whole = RowReader(features, folder.y, nodes)
    for room, kept in ((whole.nbytes, True), (whole.nbytes - 1, False)):
        reader = RowReader(features, folder.y, nodes, room)
        assert len(reader) == 1
        assert (reader[0][0] is reader[0][0]) == kept
        assert reader.room == (0 if kept else room)


def test_too_little_memory_is_said(folder: GraphFolder, tmp_path: Path) -> None:
    with pytest.raises(GWNError, match=r"one column of 500 nodes needs .* use --memory"):
        propagate(folder, network(folder), tmp_path, memory=1000)


def test_the_memory_that_is_asked_for_is_enough(folder: GraphFolder, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "gwn", "train", str(folder.path), "--model", "gwn-sym", "--precompute", "-q"]
    command += ["--no-tuned", "--runs", "1", "--set", "epochs=2", "--out", str(tmp_path / "runs"), "--memory"]
    refused = subprocess.run([*command, "1MB"], capture_output=True, text=True)
    assert refused.returncode == 2
    asked = re.search(r"use --memory (\d+MB) or more", refused.stderr)
    assert asked is not None
    finished = subprocess.run([*command, asked.group(1)], capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr


@pytest.mark.parametrize("text", ["", "4 potatoes", "-1GB", "0"])
def test_memory_that_is_none(text: str) -> None:
    with pytest.raises(GWNError, match="4GB or 512MiB"):
        parse_memory(text)


def test_units() -> None:
    assert [parse_memory(t) for t in ("4GB", "512MiB", "1.5 gb", "1000")] == [4 * 10**9, 2**29, 1_500_000_000, 1000]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("{folder}", "--memory", "1MB", "--precompute"), "from files needs about"),
        (("{folder}", "--memory", "10kB", "--model", "gwn-fa"), "to train as a whole"),
        (("{folder}", "--memory", "much", "--precompute"), "4GB or 512MiB"),
        (("csbm", "--memory", "1GB"), "--memory goes with a graph folder"),
        (("{folder}/..", "--precompute"), "not a finished graph folder"),
        (("{folder}", "--directed"), "leave --directed out"),
        (("{folder}", "--memory", "4GB", "--precompute", "--set", "self_loops=add"), "self_loops=none"),
        (("{folder}", "--memory", "4GB", "--precompute", "--set", "time=400"), "overflows"),
    ],
)
def test_mistakes_on_the_command_line(
    folder: GraphFolder, tmp_path: Path, arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [argument.format(folder=folder.path) for argument in arguments]
    with pytest.raises(SystemExit) as stop:
        main(["train", *given, "--runs", "1", "--set", "epochs=1", "--quiet", "--out", str(tmp_path)])
    printed = capsys.readouterr().err.strip()
    assert stop.value.code == 2, printed
    assert said in printed
    assert len(printed.splitlines()) == 1


def test_command_from_folder_to_predictions(
    folder: GraphFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train = ["train", str(folder.path), "--precompute", "--memory", "4GB", "--runs", "1", "--set", "epochs=3"]
    for _ in range(2):  # the second time everything is found
        with pytest.raises(SystemExit) as stop:
            main([*train, "--out", str(tmp_path / "runs"), "--quiet"])
        assert stop.value.code == 0, capsys.readouterr().err
    (run,) = (path.parent for path in (tmp_path / "runs").glob("*/config.json"))
    with pytest.raises(SystemExit) as stop:
        main(["predict", str(run), "--out", str(tmp_path / "p.csv")])
    assert stop.value.code == 0, capsys.readouterr().err
    in_memory_lines = (tmp_path / "p.csv").read_text().splitlines()
    assert len(in_memory_lines) == 501
    with pytest.raises(SystemExit) as stop:
        main(
            ["predict", str(run), "--out", str(tmp_path / "q.csv"), "--memory", "4GB", "--runs", str(tmp_path / "runs")]
        )
    assert stop.value.code == 0, capsys.readouterr().err
    lines = (tmp_path / "q.csv").read_text().splitlines()
    assert lines[0] == in_memory_lines[0]
    assert [line.split(",")[:2] for line in lines] == [line.split(",")[:2] for line in in_memory_lines]


@pytest.mark.parametrize("options", [{"prior": "validation"}, {"dtype": "float64"}], ids=["prior", "float64"])
def test_predictions_of_a_run_in_memory_are_the_same_from_files(
    folder: GraphFolder, tmp_path: Path, options: dict[str, Any]
) -> None:
    """Of a run that corrects its answers for a prior, and of one whose weights are no float32."""
    data, spec = folder.dataset(), model_spec("gwn-sym")
    split = data.published["time"][0]
    rare = data.graph.labels[split.train] == 0
    rare[:90] = False  # classes are not as frequent among the training nodes as elsewhere
    experiment = Experiment(
        dataset=data,
        model=spec,
        settings=effective_settings(spec, {"hidden_channels": 8, "precompute": True}),
        config=TrainConfig(epochs=5, device="cpu", **options),
        splits=[replace(split, train=split.train[~rare])],
    )
    trained = load_trained(run_experiment(experiment, tmp_path / "runs")[1])
    expected = predict(trained, data.graph, device="cpu")
    predict_to_csv(trained, folder, tmp_path / "files", tmp_path / "p.csv", memory=PLENTY)
    found = pd.read_csv(tmp_path / "p.csv")
    assert list(found) == list(expected)
    shares = list(found.columns[4:])
    np.testing.assert_allclose(found[shares].to_numpy(), expected[shares].to_numpy(), atol=1e-5)


def test_another_width_at_the_same_time_leaves_no_gap(
    folder: GraphFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process on another machine, where the lock is not seen, writes columns 0 ... 2, and this one 0 ... 4."""
    monkeypatch.setattr(gwn.outofcore.propagate, "columns_at_once", lambda graph, model, memory: 5)
    model = network(folder)

    def other(done: float, total: int) -> None:
        (place,) = (tmp_path / "shared").iterdir()
        if not list(place.glob("columns-00000-00003.json")):
            operator = model.scheme.prepare(model.laplacian.on(file_adjacency(folder)))
            with torch.no_grad():
                _write_block(folder, model, operator, place, 0, 3, lambda: None)

    with pytest.raises(GWNError, match=r"has no columns 3 \.\.\. 4: another process wrote .* give the command again"):
        propagate(folder, model, tmp_path / "shared", memory=PLENTY, on_columns=other)
    again = propagate(folder, model, tmp_path / "shared", memory=PLENTY)
    assert torch.equal(again.rows(0, 500), propagate(folder, model, tmp_path / "alone", memory=PLENTY).rows(0, 500))


def test_logits_of_rows_match_predictions(folder: GraphFolder, tmp_path: Path) -> None:
    model = network(folder).eval()
    features = propagate(folder, model, tmp_path, memory=PLENTY)
    chosen = np.array([3, 5, 40])
    assert torch.allclose(
        logits_of_rows(model, features.rows(10, 90, chosen)), logits_of_rows(model, features.rows(10, 90))[chosen]
    )
