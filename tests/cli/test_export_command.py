"""The export form computes what the network computes; a file that was written is read again and compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from commands import Command
from dense import close
from graphs import toy_graph
from gwn.export import EXPORTABLE, ExportForm
from gwn.models import MODELS, model_spec
from seeds import reseed

WAVES: list[tuple[str, dict[str, Any]]] = [
    *(("gwn-plus", {"laplacian": name}) for name in ("klein-gordon", "fa-symmetric", "random-walk", "polynomial")),
    *(("gwn-plus", {"scheme": name}) for name in ("heat", "damped", "bessel")),
    ("gwn-plus", {"speed": "channel"}),
    ("gwn-sym", {"precompute": True}),
    ("gcn", {"row_normalize": True}),
]


@pytest.mark.parametrize(("name", "settings"), [*((name, {}) for name in EXPORTABLE), *WAVES], ids=str)
def test_the_export_form_is_the_network(name: str, settings: dict[str, Any]) -> None:
    graph = toy_graph(nodes=30)
    weight = torch.linspace(0.5, 2.0, graph.num_edges)
    pair = graph.edge_index.sort(0).values
    weight = weight[(pair[0] * 30 + pair[1]).argsort().argsort() // 2]  # the same in both directions
    reseed(1)
    spec = model_spec(name)
    width = {"hidden_channels": 8} if "hidden_channels" in spec.settings() else {}
    network = spec.build(graph.num_features, 3, **width, **settings).eval().requires_grad_(False)
    form = ExportForm(network)
    for edges, weights in ((graph.edge_index, weight), (graph.edge_index[:, :0], weight[:0])):
        close(form(graph.x, edges, weights), network(graph.x, edges, weights), 1e-5)


def trained(command: Command, tables: tuple[Path, Path], model: str, *more: str) -> Path:
    edges, nodes = tables
    done = command(
        *("train", "--edges", str(edges), "--nodes", str(nodes), "--label-column", "topic", "--model", model),
        *("--runs", "1", "--set", "epochs=2", "-q", "--json", *more),
    )
    assert done.returncode == 0, done.stderr
    return Path(json.loads(done.stdout)["folder"])


def test_a_file_for_graphs_of_any_size(tables: tuple[Path, Path], command: Command, tmp_path: Path) -> None:
    run = trained(command, tables, "gwn-sym", "--set", "time=1")
    done = command("export", str(run), "--out", "mine.pt2")
    assert done.returncode == 0, done.stderr
    about = json.loads((tmp_path / "mine.json").read_text())
    assert about["classes"] == ["art", "science", "sport"]
    assert about["features"] == ["age", "city=Oslo", "city=Rome"]
    assert about["largest_relative_difference"] <= 1e-5
    assert about["temperature"] == json.loads((run / "run-00.json").read_text())["temperature"]  # as `gwn predict` does
    with (tmp_path / "mine.pt2").open("rb") as file:
        module = torch.export.load(file).module()
    logits = module(torch.randn(5, 3), torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), torch.ones(4))
    assert logits.shape == (5, 3)


def test_a_graph_of_arcs_is_fed_as_its_file_says(tables: tuple[Path, Path], command: Command, tmp_path: Path) -> None:
    """A network that reads arcs both ways was refused: the check gave its file the arcs as they are."""
    looped = tmp_path / "looped.csv"
    looped.write_text(tables[0].read_text() + "u1,u1,2.0\n")
    for directed, said in (("false", "both directions of every edge once"), ("true", "every arc once")):
        run = trained(command, (looped, tables[1]), "gwn-fa", "--directed", "--set", f"directed={directed}")
        done = command("export", str(run), "--out", f"{directed}.pt2")
        assert done.returncode == 0, done.stderr
        assert said in json.loads((tmp_path / f"{directed}.json").read_text())["inputs"]["edge_index"]
    kept = trained(command, (looped, tables[1]), "gwn-fa", "--directed", "--set", "self_loops=keep")
    refused = command("export", str(kept), "--out", "kept.pt2")
    assert "of which it takes no self-loops (1): train without them" in refused.stderr
    assert not (tmp_path / "kept.pt2").exists()


def test_what_cannot_be_exported(tables: tuple[Path, Path], command: Command, tmp_path: Path) -> None:
    run = trained(command, tables, "gat")
    refused = command("export", str(run), "--out", "mine.pt2")
    assert refused.returncode == 2
    assert refused.stderr.splitlines()[-1].startswith("gwn: gat cannot be exported; these can: gwn-sym, gwn-fa")
    assert set(EXPORTABLE) <= set(MODELS)
    refused = command("export", str(run), "--format", "onx")
    assert "did you mean 'onnx'?" in refused.stderr
    solving = trained(command, tables, "gwn-plus", "--set", "scheme=newmark")
    assert "--set scheme=leapfrog" in command("export", str(solving)).stderr
    assert not list(tmp_path.glob("*.pt2"))


@pytest.mark.slow
def test_onnx(tables: tuple[Path, Path], command: Command, tmp_path: Path) -> None:
    for module in ("onnx", "onnxscript", "onnxruntime"):
        pytest.importorskip(module)
    run = trained(command, tables, "sgc", "--set", "hops=1")
    done = command("export", str(run), "--format", "onnx", "--out", "mine.onnx", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["difference"] <= 1e-5
    assert (tmp_path / "mine.onnx").stat().st_size > 0
