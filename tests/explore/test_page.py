"""What the explorer writes: one file that nothing can be smuggled into, the network's wave, and the drawn part."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
import torch

from graphs import NO_EDGES, cycle, normal, toy_graph
from gwn.errors import GWNError
from gwn.explore.layout import MOST_EDGES, choose_nodes
from gwn.explore.page import FULL, MOST_VALUES, loopback_server, page_data, write_explorer
from gwn.explore.signals import attention_on, network_signals
from gwn.explore.subject import Subject
from gwn.graph import Graph, find_node
from gwn.networks import GWN
from gwn.training.loop import predict_logits
from gwn.training.loss import Scaling
from seeds import reseed

GRAPH = toy_graph(nodes=40)
WICKED = '</script><script>alert("x")</script>'


def network(**settings: object) -> GWN:
    reseed(0)
    return GWN(GRAPH.num_features, 6, 2, time=3.0, **settings)  # type: ignore[arg-type]


def test_signals_of_the_papers_networks_end_in_their_scores() -> None:
    for laplacian in ("sym", "fa"):
        model = network(laplacian=laplacian)
        signals = network_signals(model, GRAPH)
        logits = predict_logits(model, GRAPH.to(dtype=torch.float64))
        scores = logits - logits.mean(1, keepdim=True)
        for column, name in enumerate(signals.names):
            offset = scores[:, int(name.split()[-1])] - signals.states[-1, :, column]
            torch.testing.assert_close(offset, signals.zeros[column].expand_as(offset), atol=1e-8, rtol=0)


def test_a_predicted_number_is_in_the_units_of_its_table() -> None:
    """Zero was what the head adds to every node, in deviations of the training nodes; nobody said which number."""
    graph = replace(GRAPH, y=GRAPH.x[:, 0].double(), class_names=None)
    reseed(0)
    model = GWN(GRAPH.num_features, 6, 1, laplacian="sym", time=3.0)
    scaling = Scaling(mean=500.0, spread=20.0)
    subject = Subject(graph=graph, name="n", network=model, model="gwn-sym", laplacian="sym", scaling=scaling)
    drawn = choose_nodes(graph, 40)
    data = page_data(subject, drawn, torch.zeros(40, 2))["network"]
    (signal,) = data["signals"]
    last = np.frombuffer(base64.b64decode(signal["states"]), "<i2")[-40:] * signal["scales"][-1] / FULL
    said = scaling.undo(predict_logits(model, graph.to(dtype=torch.float64)))
    np.testing.assert_allclose(last + data["zero"], said.numpy(), atol=1e-2)


def test_attention_of_an_undirected_edge_is_the_mean_of_both_directions() -> None:
    model = network(laplacian="fa").double()
    pairs = choose_nodes(GRAPH, 40).pairs
    found = attention_on(model, GRAPH, pairs)
    edges, alpha = model.attention(GRAPH.x.double(), GRAPH.edge_index)
    value = {(int(a), int(b)): alpha[:, k] for k, (a, b) in enumerate(edges.t())}
    for column, (a, b) in enumerate(pairs.t().tolist()):
        torch.testing.assert_close(found[:, column], (value[a, b] + value[b, a]) / 2)


def test_the_networks_wave_survives_its_encoding() -> None:
    model = network(laplacian="fa")
    drawn = choose_nodes(GRAPH, 20, centre=3)
    subject = Subject(graph=GRAPH, name="toy", network=model, model="gwn-fa", laplacian="fa")
    data = page_data(subject, drawn, torch.zeros(20, 2))
    signal = data["network"]["signals"][1]
    whole = np.frombuffer(base64.b64decode(signal["states"]), dtype="<i2").reshape(4, 20)
    expected = network_signals(model, GRAPH).states[:, drawn.nodes, 1].numpy()
    scales = np.array(signal["scales"])[:, None]
    np.testing.assert_allclose(whole * scales / 32767, expected, atol=float(scales.max()) * 2e-5)
    assert data["network"]["attention"]["steps"] == 3
    json.dumps(data, allow_nan=False)


def test_a_long_run_is_thinned_out(monkeypatch: pytest.MonkeyPatch) -> None:
    model = network(laplacian="sym")
    subject = Subject(graph=GRAPH, name="toy", network=model, model="gwn-sym", laplacian="sym")
    states = network_signals(model, GRAPH).states[:, choose_nodes(GRAPH, 40).nodes, 0].numpy()
    for values, at in ((320, [0, 1, 2, 3]), (250, [0, 2, 3]), (200, [0, 3]), (10, [0, 3])):
        monkeypatch.setattr("gwn.explore.page.MOST_VALUES", values)
        assert values < MOST_VALUES
        data = page_data(subject, choose_nodes(GRAPH, 40), torch.zeros(40, 2))["network"]
        assert (data["tau"], data["at"]) == (1.0, at), "the last state is always one of them"
        signal = data["signals"][0]
        scales = np.array(signal["scales"])[:, None]
        kept = np.frombuffer(base64.b64decode(signal["states"]), dtype="<i2").reshape(len(at), 40) * scales / 32767
        np.testing.assert_allclose(kept, states[at], atol=float(scales.max()) * 2e-5)
        assert data["attention"] is None


def test_one_file_with_a_strict_policy_into_which_no_name_can_break(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GWN_CACHE", str(tmp_path / "cache"))
    graph = replace(GRAPH, node_ids=(WICKED, *map(str, range(1, 40))), class_names=(WICKED, "b"))
    page = write_explorer(Subject(graph=graph, name=WICKED, about=WICKED, command=WICKED), tmp_path / "page")
    assert [file.name for file in page.parent.iterdir()] == ["index.html"]
    html = page.read_text(encoding="utf-8")
    assert WICKED not in html
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', html)
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert "http" not in html.replace("http-equiv", "")
    for kind in ("style", "script"):
        (text,) = re.findall(rf"<{kind}>(.*?)</{kind}>", html, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert not re.findall(r"\b(?:eval|new Function|innerHTML|insertAdjacentHTML)\b", html)
    assert not re.findall(r"<[^>]+\s(?:on\w+|style)=", html), "what the policy would forbid"


def test_the_server_answers_to_its_own_name_alone(tmp_path: Path) -> None:
    """A page elsewhere may have its own name lead to this machine; the browser would let it read the graph."""
    (tmp_path / "index.html").write_text("a private graph")
    with loopback_server(tmp_path, 0) as server:
        port = server.server_address[1]
        Thread(target=server.serve_forever, daemon=True).start()
        found = {}
        for name in (f"127.0.0.1:{port}", f"localhost:{port}", "evil.example", f"evil.example:{port}", "127.0.0.1", ""):
            connection = HTTPConnection("127.0.0.1", port, timeout=10)
            connection.request("GET", "/", headers={"Host": name})
            answer = connection.getresponse()
            found[name] = (answer.status, b"private" in answer.read())
            connection.close()
        server.shutdown()
    assert [status for status, _ in found.values()] == [200, 200, 403, 403, 403, 403]
    assert [told for _, told in found.values()] == [True, True, False, False, False, False]


def test_a_sample_is_a_neighbourhood() -> None:
    ring = Graph(x=normal(50, 2, dtype=torch.float32), edge_index=cycle(50))
    drawn = choose_nodes(ring, 7, centre=0)
    assert sorted(drawn.nodes.tolist()) == [0, 1, 2, 3, 47, 48, 49]
    assert drawn.pairs.shape[1] == drawn.shown.numel() == 6
    assert choose_nodes(ring, 60).nodes.numel() == 50


def test_a_pulse_needs_an_edge_at_its_node() -> None:
    ring = torch.arange(8)
    edges = torch.stack([ring, (ring + 1) % 8])
    graph = Graph(x=normal(10, 1, dtype=torch.float32), edge_index=edges)
    for limit in (5, 60):
        with pytest.raises(GWNError, match=r"node 9 has no edges, .* choose another with --centre"):
            choose_nodes(graph, limit, centre=9)


def test_edges_without_weights_weigh_one_exactly() -> None:
    assert (choose_nodes(GRAPH, 40).weights == 1).all()


def test_of_too_many_edges_the_strongest_are_drawn() -> None:
    dense = torch.combinations(torch.arange(200)).t()
    leaf = torch.tensor([[0], [200]])
    drawn = choose_nodes(Graph(x=normal(201, 1, dtype=torch.float32), edge_index=torch.cat([dense, leaf], 1)), 201)
    assert drawn.shown.numel() == MOST_EDGES < drawn.pairs.shape[1]
    assert (drawn.pairs[:, drawn.shown] == leaf).all(0).any(), "the only edge of a node"


def test_what_cannot_be_drawn_is_refused() -> None:
    bare = Graph(x=normal(5, 2, dtype=torch.float32), edge_index=NO_EDGES, name="bare")
    with pytest.raises(GWNError, match="'bare' has no edges"):
        choose_nodes(bare, 100)
    with pytest.raises(GWNError, match="--limit must be from 2 to"):
        choose_nodes(GRAPH, 100_000)
    with pytest.raises(GWNError, match="its nodes are 0 to 39"):
        find_node(GRAPH, "40", "--centre")
    assert find_node(GRAPH, "39", "--centre") == 39
