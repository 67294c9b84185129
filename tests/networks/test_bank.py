from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from gwn.errors import GWNError
from gwn.models import model_spec
from gwn.models.peers.acm_gcn import ACMGCN
from gwn.models.peers.tuned import TunedGNN
from gwn.networks.bank import BankGWN, ChannelGate
from gwn.training.config import parse_settings
from seeds import reseed

NODES, FEATURES, WIDTH, CLASSES = 40, 12, 8, 4
X = torch.randn(NODES, FEATURES, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
EDGES = torch.randint(0, NODES, (2, 120), generator=torch.Generator().manual_seed(1))
LIKE_ACM = {
    "encoder": False,
    "head": False,
    "ego": False,
    "residual": False,
    "norm": "none",
    "states": "last",
    "structure": "channel",
}


def bank(**settings: object) -> BankGWN:
    torch.manual_seed(2)
    made = BankGWN(FEATURES, WIDTH, CLASSES, dropout=0.0, **settings).double()  # type: ignore[arg-type]
    made(X, EDGES)
    return made


def test_one_step_of_sqrt_two_over_the_random_walk_is_acm_gcn_plus() -> None:
    root = math.sqrt(2)
    ours = bank(time=root, tau=root, **LIKE_ACM)
    torch.manual_seed(3)
    peer = ACMGCN(FEATURES, WIDTH, CLASSES, structure=True, layer_norm=True, dropout=0.0).double()
    peer(X, EDGES)
    for mine, theirs in zip(ours.banks, peer.layers, strict=True):
        mine.linear.load_state_dict(theirs.linear.state_dict())
        mine.edges.weight.data = theirs.structure.weight.data.clone()
        mine.gate.norms.load_state_dict(theirs.norms.state_dict())
        mine.gate.score.data, mine.gate.mix.data = theirs.score.data, theirs.mix.data
    assert (ours(X, EDGES) - peer(X, EDGES)).abs().max() < 1e-12


@pytest.mark.parametrize(
    ("conv", "laplacian", "residual"),
    [("gcn", "physical", True), ("gcn", "physical", False), ("sage", "random-walk", True)],
)
@pytest.mark.parametrize("norm", ["batch", "layer", "none"])
def test_a_sum_of_one_step_and_the_own_signal_is_the_tuned_gcn_and_graphsage(
    conv: str, laplacian: str, residual: bool, norm: str
) -> None:
    root = math.sqrt(2)
    blocks = {"num_layers": 3, "norm": norm, "residual": residual}
    settings = {"gate": "sum", "encoder": False, "ego": False, "states": "last"}
    ours = bank(time=root, tau=root, laplacian=laplacian, **settings, **blocks)
    torch.manual_seed(3)
    peer = TunedGNN(FEATURES, WIDTH, CLASSES, conv=conv, dropout=0.0, reference=True, **blocks).double()  # type: ignore[arg-type]
    for mine, wave, own in zip(ours.banks, peer.convs, peer.residuals if residual else [None] * 3, strict=True):
        weights = wave.state_dict()
        carried = weights["lin.weight" if conv == "gcn" else "lin_l.weight"]
        kept = [] if own is None else [weights.get("lin_r.weight", own.weight.data)]
        mine.linear.weight.data = torch.cat([carried, *kept], 1)
        if conv == "sage":
            mine.residual.data = own.weight.data.clone()
        bias = weights.get("bias") if own is None else own.bias
        mine.bias.data = torch.zeros(WIDTH).double() if bias is None else bias.data.clone()
    ours.head.load_state_dict(peer.head.state_dict())
    for statistics in ours.norms if norm == "batch" else ():
        statistics.reset_running_stats()
    for mode in (True, False):  # training, then with the statistics that it has left
        ours.train(mode), peer.train(mode)
        assert (ours(X, EDGES) - peer(X, EDGES)).abs().max() < 1e-12
    if norm == "batch":
        return  # behind it a bias has no slope, and Adam makes whole steps of what rounding leaves
    for model in (ours, peer):  # as one course of training, too: GraphSAGE learns the node's own signal twice
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
        for _ in range(3):
            optimizer.zero_grad()
            F.cross_entropy(model(X, EDGES), torch.arange(X.shape[0]) % CLASSES).backward()
            optimizer.step()
    assert (ours(X, EDGES) - peer(X, EDGES)).abs().max() < 1e-8


def test_another_step_length_or_more_steps_are_another_network() -> None:
    root = math.sqrt(2)
    acm = bank(time=root, tau=root, **LIKE_ACM)
    for other in ({"time": 1.0, "tau": 1.0}, {"time": 2 * root, "tau": root}):
        longer = bank(**other, **LIKE_ACM)
        longer.load_state_dict(acm.state_dict())
        assert (longer(X, EDGES) - acm(X, EDGES)).abs().max() > 1e-3


def test_the_twin_without_edges_sees_each_node_alone() -> None:
    twin = bank(edges=False)
    whole = twin(X, EDGES)
    for rows in ([3], [5, 17]):
        alone = twin(X[rows], torch.empty(2, 0, dtype=torch.long))
        assert torch.allclose(alone, whole[rows], atol=1e-12)
    assert not torch.allclose(bank(edges=True)(X, EDGES), whole)


@pytest.mark.parametrize("structure", ["none", "channel", "velocity"])
@pytest.mark.parametrize("gate", ["channels", "own", "sum"])
def test_every_weight_gets_the_right_gradient(structure: str, gate: str) -> None:
    model = bank(structure=structure, gate=gate, num_layers=2)
    loss = model(X, EDGES).square().mean()
    loss.backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        place = torch.unravel_index(parameter.grad.abs().argmax(), parameter.shape)
        with torch.no_grad():
            h = 1e-6
            parameter[place] += h
            up = model(X, EDGES).square().mean()
            parameter[place] -= 2 * h
            down = model(X, EDGES).square().mean()
            parameter[place] += h
        assert torch.isclose((up - down) / (2 * h), parameter.grad[place], rtol=1e-4, atol=1e-9), name


def test_a_gate_learns_with_the_bits_that_cells_were_measured_with() -> None:
    """Scored channel by channel, five classes had other bits, and 26 measured cells could not be repeated."""
    reseed(0)
    gate, channels = ChannelGate(4, 5), [torch.randn(183, 5) for _ in range(4)]
    gate.reset_parameters()
    wanted = torch.randn(183, 4)

    def gradients(alpha: Tensor) -> tuple[Tensor, ...]:
        return torch.autograd.grad((alpha * wanted).sum(), (gate.score, gate.mix))

    stacked = torch.stack(channels, 1)
    scored = torch.stack([norm(stacked[:, c]) for c, norm in enumerate(gate.norms)], 1)
    expected = torch.softmax(torch.sigmoid((scored * gate.score).sum(-1)) @ gate.mix / 4, 1)
    for mine, theirs in zip(gradients(gate(channels)), gradients(expected), strict=True):
        assert torch.equal(mine, theirs)


def test_a_structure_belongs_to_its_graph() -> None:
    with pytest.raises(GWNError, match="weights for the 40 nodes"):
        bank(structure="velocity")(X[:10], EDGES[:, :0])


@pytest.mark.parametrize("name", ["dropout", "input_dropout"])
@pytest.mark.parametrize("share", [-0.1, 1.0, 1.5, math.nan])
def test_a_share_that_cannot_be_dropped_is_refused(name: str, share: float) -> None:
    with pytest.raises(GWNError, match=rf"^{name} must be in \[0, 1\); got {share}$"):
        BankGWN(FEATURES, WIDTH, CLASSES, **{name: share})  # type: ignore[arg-type]


def test_ego_without_an_encoder_is_refused() -> None:
    with pytest.raises(GWNError, match="set ego=false"):
        model_spec("gwn-bank").build(3, 2, encoder=False)


def test_waves_follow_the_arcs_as_they_are_told() -> None:
    stored, both = bank(direction="stored"), bank(direction="both")
    reversed_ = bank(direction="reversed")
    assert torch.equal(reversed_(X, EDGES), stored(X, EDGES.flip(0)))
    assert torch.equal(both(X, EDGES), both(X, EDGES.flip(0)))
    assert not torch.allclose(stored(X, EDGES), reversed_(X, EDGES))
    assert not torch.allclose(stored(X, EDGES), both(X, EDGES))


def test_the_structure_sees_arcs_from_nodes_without_in_arcs() -> None:
    reseed(2)
    settings = {"structure": "channel", "direction": "stored", "activation": "tanh", "dropout": 0.0}
    model = BankGWN(FEATURES, WIDTH, CLASSES, **settings).double()  # type: ignore[arg-type]
    model(X[:3], torch.tensor([[0, 1, 2], [1, 2, 1]])).square().sum().backward()  # nobody points to node 0
    assert model.first.edges is not None
    weight = model.first.edges.weight.grad
    assert weight is not None
    assert weight.abs().sum(1).min() > 0


def test_a_deep_stack_of_blocks_learns_and_keeps_its_scale() -> None:
    deep = bank(num_layers=12, time=3.0, tau=1.0, activation="elu")
    deep(X, EDGES).square().sum().backward()
    for block in deep.banks:
        assert float(block.linear.weight.grad.norm()) > 1e-6, "residuals carry the gradient through every block"


@pytest.mark.parametrize("name", ["gwn-bank", "gwn-twin"])
def test_blocks_that_learn_before_they_propagate_cannot_precompute(name: str) -> None:
    with pytest.raises(GWNError, match=r"gcn cannot precompute: .* leave it out, or use gwn-sym"):
        parse_settings(model_spec("gcn"), ["precompute=true"])
    with pytest.raises(GWNError, match=r"precompute needs one bank .* leave it out, or change these"):
        model_spec(name).build(FEATURES, CLASSES, hidden_channels=WIDTH, precompute=True)


def test_the_twin_on_the_shelf_has_no_edges_and_the_same_parts() -> None:
    twin = model_spec("gwn-twin").build(FEATURES, CLASSES, hidden_channels=WIDTH).double().eval()
    assert torch.equal(twin(X, EDGES), twin(X, EDGES[:, :0]))
    theirs = model_spec("gwn-bank").build(FEATURES, CLASSES, hidden_channels=WIDTH, states="last")
    assert {n: p.shape for n, p in twin.named_parameters()} == {n: p.shape for n, p in theirs.named_parameters()}


@pytest.mark.parametrize(
    ("conv", "laplacian", "residual"),
    [("gcn", "physical", True), ("gcn", "physical", False), ("sage", "random-walk", True)],
)
@pytest.mark.parametrize("norm", ["layer", "batch"])
def test_a_sum_begins_with_weights_like_those_of_the_classic_that_it_is(
    conv: str, laplacian: str, residual: bool, norm: str
) -> None:
    reseed(0)
    blocks = {"num_layers": 1, "norm": norm, "residual": residual}
    mine = BankGWN(300, 400, CLASSES, laplacian=laplacian, gate="sum", encoder=False, ego=False, **blocks).first  # type: ignore[arg-type]
    theirs = dict(TunedGNN(300, 400, CLASSES, conv=conv, reference=True, **blocks).named_parameters())  # type: ignore[arg-type]
    wave, *own = mine.linear.weight.split(mine.widths, 1)
    assert wave.std().item() == pytest.approx(
        theirs[f"convs.0.lin{'' if conv == 'gcn' else '_l'}.weight"].std().item(), rel=0.02
    )
    if residual:
        twice = theirs["residuals.0.weight"] + theirs.get("convs.0.lin_r.weight", 0.0)
        own_twice = own[0] + (0.0 if mine.residual is None else mine.residual)
        assert own_twice.std().item() == pytest.approx(twice.std().item(), rel=0.02)
    assert mine.bias is not None
    bias = theirs.get("residuals.0.bias", theirs.get("convs.0.bias", torch.zeros(400)))
    assert mine.bias.std().item() == pytest.approx(bias.std().item(), rel=0.3)
