from __future__ import annotations

from dense import close
from gwn.models import model_spec
from peer import EDGES, X, feed_forward, normalised, output, peer, weights


def test_ten_teleporting_steps_by_hand() -> None:
    model = peer("appnp")
    start = z = feed_forward(weights(model))
    for _ in range(10):
        z = 0.9 * normalised() @ z + 0.1 * start
    close(output(model), z)


def test_every_training_step_drops_other_edges() -> None:
    model = peer("appnp", dropout=0.0, edge_dropout=0.5).train()
    assert bool((model(X, EDGES) != model(X, EDGES)).any())


def test_the_size_on_cora() -> None:
    """Cora: 1433 features, 64 hidden, 7 classes, both layers with a bias here."""
    assert sum(p.numel() for p in model_spec("appnp").build(1433, 7).parameters()) == 1434 * 64 + 65 * 7
