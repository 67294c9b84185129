"""What every registered model must do; a new line in `gwn.models.MODELS` is covered without an edit here."""

from __future__ import annotations

import io
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from torch import Tensor, nn

import gwn
from dense import close
from graphs import AWKWARD_NODES, NO_EDGES, awkward, edge_lists, normal, random_edges, toy_graph
from gwn import GWNError
from gwn.models import FORMER_NAMES, MODELS, ModelSpec, model_spec
from seeds import reseed

IN, OUT, N = 6, 3, AWKWARD_NODES

every_model = pytest.mark.parametrize("spec", MODELS.values(), ids=list(MODELS))


by_gradients = pytest.mark.parametrize(
    "spec", [spec for spec in MODELS.values() if spec.gradients], ids=[n for n, s in MODELS.items() if s.gradients]
)


def narrow(spec: ModelSpec) -> dict[str, int]:
    """Eight hidden channels and five trees, if the model has any."""
    return {name: small for name, small in (("hidden_channels", 8), ("iterations", 5)) if name in spec.settings()}


def build(spec: ModelSpec, in_channels: int = IN, out_channels: int = OUT, draw: int = 1, **options: Any) -> nn.Module:
    """With weights that are drawn; what learns without gradients has learnt random answers."""
    reseed(draw)
    model = spec.build(in_channels, out_channels, **narrow(spec), **options).double().eval()
    if not spec.gradients:
        x, edge_index = torch.randn(200, in_channels, dtype=torch.float64), random_edges(200, 500)
        for _ in model.grow(model.columns(x, edge_index, None), torch.arange(200) % out_channels):  # type: ignore[operator]
            pass
    return model


def without_dropout(spec: ModelSpec, **options: Any) -> nn.Module:
    off = {name: 0.0 for name in spec.defaults() if "dropout" in name}
    return build(spec, **{**off, **options})


@every_model
def test_shape_type_and_evaluation_mode(spec: ModelSpec) -> None:
    model, x = build(spec), normal(N, IN)
    logits = model(x, awkward())
    assert logits.shape == (N, OUT)
    assert logits.dtype == torch.float64
    assert bool(torch.isfinite(logits).all())
    assert torch.equal(logits, model(x, awkward())), "no chance in evaluation mode"
    single = model.float()(x.float(), awkward())
    assert single.dtype == torch.float32
    close(single.double(), logits, 1e-4)


SILENT = {"gwn-heat": "phi1.", "gwn-twin": ".norms.1.weight"}
"""What is there so that only one thing differs from a wave network: an initial velocity that the heat equation does not
have, and the norm of a channel that is zero without edges."""


@by_gradients
def test_gradients_reach_every_parameter(spec: ModelSpec) -> None:
    unreached = {name for name, _ in build(spec).named_parameters() if SILENT.get(spec.name, "-") not in name}
    for draw in range(1, 9):  # of the first weights, since a few channels of relu may all be silent in one of them
        model = without_dropout(spec, draw=draw).train()
        model(normal(30, IN), random_edges(30, 100)).square().sum().backward()
        for name, parameter in model.named_parameters():
            assert parameter.grad is not None, name
            assert bool(torch.isfinite(parameter.grad).all()), name
            if bool(parameter.grad.any()):
                unreached.discard(name)
        if not unreached:
            break
    assert not unreached


@every_model
@settings(max_examples=15)
@given(graph=edge_lists())
def test_renumbering_the_nodes_renumbers_the_result(spec: ModelSpec, graph: tuple[int, Tensor]) -> None:
    if spec.transductive:
        pytest.skip("its weights belong to numbered nodes: its own test renumbers them along")
    if not spec.equivariant:
        pytest.skip("what it computes beforehand is not unique")
    nodes, edge_index = graph
    order = torch.randperm(nodes, generator=torch.Generator().manual_seed(nodes))
    place = torch.argsort(order)
    model, x = build(spec), normal(nodes, IN)
    close(model(x[order], place[edge_index]), model(x, edge_index)[order], 1e-10)


@every_model
def test_the_order_of_the_edges_does_not_matter(spec: ModelSpec) -> None:
    model, x, edge_index = build(spec), normal(N, IN), awkward()
    order = torch.randperm(edge_index.shape[1], generator=torch.Generator().manual_seed(0))
    close(model(x, edge_index[:, order]), model(x, edge_index), 1e-12)


@every_model
def test_isolated_nodes_are_answered_from_their_own_features(spec: ModelSpec) -> None:
    if "features" in spec.ignores:
        pytest.skip("it looks at no features")
    if not spec.local:
        pytest.skip("it compares all nodes, with or without edges")
    model, x = build(spec), normal(N, IN)
    other = x.clone()
    other[:6] += 1.0  # nodes 6 and 7 have no neighbours
    logits, changed = model(x, awkward()), model(other, awkward())
    close(changed[6:], logits[6:], 1e-14)
    assert bool((changed[:6] != logits[:6]).any())
    other[6] += 1.0
    assert not torch.allclose(model(other, awkward())[6], logits[6])


@every_model
def test_a_single_node_and_no_edges(spec: ModelSpec) -> None:
    for nodes in (4, 1):
        model, x = build(spec), normal(nodes, IN)
        logits = model(x, NO_EDGES)
        assert logits.shape == (nodes, OUT)
        alone = build(spec) if spec.transductive else model  # which would refuse another number of nodes
        if spec.local:
            close(logits, torch.cat([alone(row[None], NO_EDGES) for row in x]), 1e-12)
    model.train()
    if spec.gradients:
        model(normal(1, IN), NO_EDGES).sum().backward()
    loop = torch.tensor([[0], [0]])
    assert bool(torch.isfinite(model.eval()(normal(1, IN), loop)).all())


@every_model
def test_sparse_features_are_dense_features(spec: ModelSpec) -> None:
    model = without_dropout(spec).train()
    x = normal(N, IN).clamp_min(0.3) - 0.3
    x[4] = 0.0
    gradients = []
    for given_x in (x, x.to_sparse_csr()):
        model.zero_grad()
        logits = model(given_x, awkward())
        if spec.gradients:
            logits.square().sum().backward()
        gradients.append([logits.detach(), *(p.grad.clone() for p in model.parameters() if p.grad is not None)])
    for a, b in zip(*gradients, strict=True):
        close(b, a, 1e-11)


@by_gradients
def test_sparse_features_train_with_dropout(spec: ModelSpec) -> None:
    model = build(spec).train()
    csr = (normal(N, IN).clamp_min(0.3) - 0.3).to_sparse_csr()
    logits = model(csr, awkward())
    logits.sum().backward()
    assert bool(torch.isfinite(logits).all())
    assert logits.shape == (N, OUT)


@every_model
def test_edge_weights_are_taken(spec: ModelSpec) -> None:
    model, x, edge_index = build(spec), normal(20, IN), random_edges(20, 50)
    weight = torch.rand(50, generator=torch.Generator().manual_seed(0), dtype=torch.float64) + 0.1
    model(x, edge_index)
    with torch.no_grad():  # away from the start, where a learned filter may be the identity
        for p in model.parameters():
            p.add_(0.1 * torch.randn(p.shape, generator=torch.Generator().manual_seed(p.numel()), dtype=p.dtype))
    logits = model(x, edge_index, weight)
    assert bool(torch.isfinite(logits).all())
    if "edges" not in spec.ignores:
        assert not torch.allclose(logits, model(x, edge_index)), "weights are silently unused"


@every_model
def test_state_dict_brings_a_model_back(spec: ModelSpec) -> None:
    model, x = build(spec), normal(N, IN)
    model(x, awkward())
    buffer = io.BytesIO()
    torch.save(model.state_dict(), buffer)
    reseed(99)
    other = spec.build(IN, OUT, **narrow(spec)).double().eval()
    assert not torch.equal(other(x, awkward()), model(x, awkward()))
    fresh = spec.build(IN, OUT, **narrow(spec)).double().eval()  # never called before its weights are read
    for again in (other, fresh):
        buffer.seek(0)
        again.load_state_dict(torch.load(buffer, weights_only=True))
        assert torch.equal(again(x, awkward()), model(x, awkward()))


@every_model
def test_a_whole_model_can_be_pickled(spec: ModelSpec) -> None:
    """`torch.save(model)`, spawned workers: ordinary modules survive both."""
    model, x = build(spec), normal(N, IN)
    model(x, awkward())
    again = pickle.loads(pickle.dumps(model))
    assert torch.equal(again(x, awkward()), model(x, awkward()))


@by_gradients
def test_reset_draws_every_parameter_anew_from_the_seed(spec: ModelSpec) -> None:
    reseed(1)
    models = [spec.build(IN, OUT, **narrow(spec)) for _ in range(2)]
    for model in models:
        model(normal(N, IN, dtype=torch.float32), awkward())
    first, second = ({name: p.detach().clone() for name, p in model.named_parameters()} for model in models)
    with torch.no_grad():
        for p in model.parameters():
            p.add_(100.0)
    draws = []
    for _ in range(2):
        reseed(7)
        model.reset_parameters()  # type: ignore[operator]
        draws.append({name: p.detach().clone() for name, p in model.named_parameters()})
    assert all(torch.equal(draws[0][name], draws[1][name]) for name in first)
    drawn = {name for name in first if not torch.equal(first[name], second[name])}
    assert all(not torch.equal(first[name], draws[0][name]) for name in drawn)
    assert all(torch.equal(first[name], draws[0][name]) for name in first.keys() - drawn), "starts where it always does"
    assert all(bool((p < 50).all()) for p in draws[0].values()), "left as it was"
    assert drawn


@by_gradients
def test_two_epochs_lower_the_loss(spec: ModelSpec) -> None:
    graph = toy_graph(60, classes=OUT)
    seen = (graph.labels != 0) | (torch.arange(60) % 3 == 0)  # unequal classes: the majority has something to learn too
    reseed(0)
    off = {name: 0.0 for name in spec.defaults() if "dropout" in name}
    model = spec.build(graph.num_features, OUT, **narrow(spec), **off)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(graph.x, graph.edge_index)[seen], graph.labels[seen])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[2] < losses[1] < losses[0]


@every_model
def test_settings_can_all_be_given_back(spec: ModelSpec) -> None:
    defaults = {**spec.defaults(), **narrow(spec)}
    assert "dropout" in defaults or "features" in spec.ignores or not spec.gradients
    assert defaults.keys() <= spec.settings().keys()
    reseed(1)
    again = build(spec, **{name: value for name, value in defaults.items() if name not in narrow(spec)})
    assert torch.equal(again(normal(N, IN), awkward()), build(spec)(normal(N, IN), awkward()))


@every_model
@pytest.mark.parametrize(
    ("setting", "value"),
    [("hidden_channels", 0), ("hidden_channels", -4), ("dropout", 1.5), ("dropout", -0.1), ("dropuot", 0.1)],
)
def test_impossible_settings_are_refused_in_one_line(spec: ModelSpec, setting: str, value: Any) -> None:
    with pytest.raises(GWNError, match=setting) as error:
        spec.build(IN, OUT, **{setting: value})
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("model", "setting"),
    [(name, setting) for name, spec in MODELS.items() for setting in spec.settings() if setting.endswith("layers")],
)
def test_numbers_of_layers_must_be_positive(model: str, setting: str) -> None:
    with pytest.raises(GWNError, match="at least one layer"):
        MODELS[model].build(IN, OUT, **{setting: 0})


@every_model
def test_what_the_name_stands_for_cannot_be_set(spec: ModelSpec) -> None:
    for name, value in spec.fixed.items():
        with pytest.raises(GWNError, match=f"unknown setting of {spec.name}"):
            spec.build(IN, OUT, **{name: value})


@every_model
def test_the_shelf_describes_it(spec: ModelSpec) -> None:
    assert MODELS[spec.name] is spec
    assert spec.title
    assert spec.paper
    assert spec.origin
    assert spec.kind in ("wave", "mainstream", "differential equation", "baseline")


def test_the_nearest_name_is_suggested() -> None:
    with pytest.raises(GWNError, match=r"unknown model 'gwn-sim'; did you mean 'gwn-sym'\?"):
        model_spec("gwn-sim")


def test_a_former_name_still_finds_its_model() -> None:
    assert model_spec("gwn") is MODELS["gwn-plus"]
    assert not {*FORMER_NAMES} & {*MODELS}
    assert {*FORMER_NAMES.values()} <= {*MODELS}


def test_the_shelf_can_be_read_without_pytorch() -> None:
    """The package itself is left out: what it imports is its own affair."""
    program = """
import sys, types
package = types.ModuleType("gwn")
package.__path__ = [sys.argv[1]]
sys.modules["gwn"] = package
from gwn.models import MODELS
assert len(MODELS) == int(sys.argv[2])
print(*sorted({"torch", "torch_geometric", "numpy", "scipy", "optuna"} & {*sys.modules}))
"""
    arguments = [str(Path(gwn.__file__).parent), str(len(MODELS))]
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr
