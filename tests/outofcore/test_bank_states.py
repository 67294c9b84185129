"""A bank of waves on states in files: the network of the whole graph, on some rows."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest
import torch

import gwn.outofcore.states
from gwn.cli.main import main
from gwn.data.folders.folder import GraphFolder, new_folder
from gwn.data.folders.generate import BlockModel, generate_folder
from gwn.errors import GWNError
from gwn.models import model_spec
from gwn.networks.bank import BankGWN
from gwn.outofcore.fit import fit_files, logits_of_rows, predict_files
from gwn.outofcore.states import propagate_states
from gwn.training import TrainConfig, fit
from seeds import reseed

PLENTY = 4 * 10**9
ONE_BANK = {"num_layers": 1, "encoder": False, "ego": False}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> GraphFolder:
    model = BlockModel(nodes=500, edges=2500, features=9, classes=3, homophily=0.8, signal=2.0)
    return generate_folder(model, tmp_path_factory.mktemp("graphs") / "small")


def network(graph: GraphFolder, **settings: Any) -> BankGWN:
    reseed(3)
    return BankGWN(graph.num_features, 16, graph.num_classes, precompute=True, **{**ONE_BANK, **settings})


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"states": "last", "laplacian": "sym", "self_loops": "none", "time": 3.0},
        {"gate": "own", "laplacian": "physical", "scheme": "bessel"},
        {"head": False},
    ],
    ids=["default", "last", "own gate", "no head"],
)
def test_rows_say_what_the_network_says(
    folder: GraphFolder, tmp_path: Path, settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of all nodes, of some, and in half precision; columns in three blocks, rows of S in many."""
    monkeypatch.setattr(gwn.outofcore.adjacency, "BLOCK_ARCS", 300)
    monkeypatch.setattr(gwn.outofcore.states, "columns_at_once", lambda graph, bank, memory: 4)
    model, graph = network(folder, **settings).eval(), folder.dataset().graph
    with torch.no_grad():
        expected = model(graph.x, graph.edge_index)
        features = propagate_states(folder, model, tmp_path, memory=PLENTY)
        bound = 1e-4 * float(expected.abs().max())
        assert torch.allclose(torch.cat(list(predict_files(model, features))), expected, atol=bound)
        nodes = np.array([3, 5, 40, 333, 499])
        for stored, error in (("float32", 1.0), ("float16", 100.0)):
            some = propagate_states(folder, model, tmp_path, memory=PLENTY, nodes=nodes, stored=stored)
            assert some.nodes == 5
            assert some.states == features.states
            assert torch.allclose(logits_of_rows(model, some.rows(0, 5)), expected[nodes], atol=error * bound)


def test_what_is_whole_is_found_again_and_the_rest_is_not(folder: GraphFolder, tmp_path: Path) -> None:
    model = network(folder)
    first = propagate_states(folder, model, tmp_path, memory=PLENTY).rows(0, 500)
    (place,) = tmp_path.iterdir()
    (last,) = place.glob("state-02-*.npy")
    last.write_bytes(last.read_bytes()[:-4])
    seen: list[float] = []
    again = propagate_states(folder, model, tmp_path, memory=PLENTY, on_columns=lambda done, total: seen.append(done))
    assert torch.equal(again.rows(0, 500), first)
    assert seen[-1] == 9
    seen.clear()
    propagate_states(folder, model, tmp_path, memory=PLENTY, on_columns=lambda done, total: seen.append(done))
    assert seen == []


def test_mini_batches_learn_as_the_whole_graph_does(folder: GraphFolder, tmp_path: Path) -> None:
    data = folder.dataset()
    split, config = data.published["time"][0], TrainConfig(epochs=30, stopping="none")
    few = torch.cat([split.train[:60], split.val, split.test]).sort().values
    part = type(split)(train=split.train[:60], val=split.val, test=split.test, kind="time", seed=0)
    model = network(folder, dropout=0.2)
    states = propagate_states(folder, model, tmp_path, memory=PLENTY, nodes=few.numpy())
    from_files = fit_files(model, folder, states, part, config, memory=PLENTY)
    whole = fit(network(folder, dropout=0.2), data.graph, part, config)
    assert from_files.test > 0.75
    assert abs(from_files.test - whole.test) < 0.12


@pytest.mark.parametrize("change", [{"num_layers": 2}, {"structure": "channel"}, {"laplacian": "sym", "edges": False}])
def test_networks_that_are_more_than_one_bank_are_refused(folder: GraphFolder, change: dict[str, Any]) -> None:
    with pytest.raises(GWNError, match="precompute needs one bank on the features"):
        network(folder, **change)


def test_row_normalized_features_are_refused(folder: GraphFolder, tmp_path: Path) -> None:
    """The files hold the features as they are, and rows of states are not what the network is called with."""
    model = model_spec("gwn-bank").build(9, 3, precompute=True, row_normalize=True, **ONE_BANK)
    assert isinstance(model, BankGWN)
    with pytest.raises(GWNError, match="takes features as they are stored; use row_normalize=false"):
        propagate_states(folder, model, tmp_path, memory=PLENTY)


def test_what_float16_cannot_hold_is_refused(folder: GraphFolder, tmp_path: Path) -> None:
    arrays = {**{name: folder.array(name) for name in ("indptr", "indices", "y")}, "x": 1e6 * folder.x}
    with new_folder(tmp_path / "large") as writer:
        for name, values in arrays.items():
            array = writer.array(name, values.shape[1:])
            array.append(values)
            writer.finish(name, array)
        writer.facts.update(name="large", classes=3)
    large, model = GraphFolder.open(tmp_path / "large"), network(folder)
    with pytest.raises(GWNError, match=r"float16 ends at 65504, and a state has .*; scale the features, or use --sto"):
        propagate_states(large, model, tmp_path / "out", memory=PLENTY, stored="float16")
    assert torch.isfinite(propagate_states(large, model, tmp_path / "out", memory=PLENTY).rows(0, 500)).all()


def test_a_second_process_waits_for_the_first(folder: GraphFolder, tmp_path: Path) -> None:
    """It would take the states of a block that is being written for those of a killed process, and remove them."""
    model, begun, go_on = network(folder), Event(), Event()

    def first(done: float, total: int) -> None:
        begun.set()
        assert go_on.wait(60)

    with ThreadPoolExecutor(2) as pool:
        one = pool.submit(propagate_states, folder, model, tmp_path, memory=PLENTY, on_columns=first)
        assert begun.wait(60)
        heard: list[float] = []
        told: list[str] = []
        two = pool.submit(
            propagate_states,
            folder,
            model,
            tmp_path,
            memory=PLENTY,
            on_columns=lambda done, total: heard.append(done),
            on_wait=told.append,
        )
        assert not wait([two], 0.5).done
        assert [line.split(" propagates ")[0] for line in told] == ["another process"]
        assert heard == []
        go_on.set()
        assert torch.equal(one.result(60).rows(0, 500), two.result(60).rows(0, 500))
    assert heard == [9.0]  # nothing was left to do


def test_command_from_folder_to_predictions(
    folder: GraphFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = str(tmp_path / "runs")
    sets = ["num_layers=1", "encoder=false", "ego=false", "epochs=3"]
    train = ["train", str(folder.path), "--model", "gwn-bank", "--precompute", "--memory", "4GB", "--runs", "1"]
    train += [text for one in sets for text in ("--set", one)]
    with pytest.raises(SystemExit) as stop:
        main([*train, "--stored", "float16", "--out", runs, "--quiet"])
    assert stop.value.code == 0, capsys.readouterr().err
    (run,) = (path.parent for path in (tmp_path / "runs").glob("*/config.json"))
    with pytest.raises(SystemExit) as stop:
        main(["predict", str(run), "--out", str(tmp_path / "p.csv"), "--memory", "4GB", "--runs", runs, "--quiet"])
    assert stop.value.code == 0, capsys.readouterr().err
    assert len((tmp_path / "p.csv").read_text().splitlines()) == 501
    with pytest.raises(SystemExit) as stop:
        main([*train, "--stored", "float8", "--out", runs, "--quiet"])
    assert stop.value.code == 2
    assert "float16" in capsys.readouterr().err
