from __future__ import annotations

import numpy as np
import pytest
import torch

from dense import close
from gwn.models import model_spec
from peer import feed_forward, normalised, output, peer, weights


def test_generalised_pagerank_by_hand() -> None:
    """Compared with the paper's sum of dense powers, which the authors' code computes too."""
    model = peer("gpr-gnn")
    w = weights(model)
    power = feed_forward(w)
    expected = np.zeros_like(power)
    for gamma in w["gamma"]:
        expected, power = expected + gamma * power, normalised() @ power
    close(output(model), expected)


@pytest.mark.parametrize("start", ["ppr", "sgc", "random"])
def test_the_published_starts(start: str) -> None:
    """Compared with the starts of the authors' code, written out."""
    gamma = model_spec("gpr-gnn").build(2, 2, hops=3, alpha=0.2, start=start).gamma
    known = {"ppr": [0.2, 0.16, 0.128, 0.512], "sgc": [0, 0, 0, 1.0]}
    assert gamma.abs().sum().item() == pytest.approx(1.0)
    if start in known:
        close(gamma, torch.tensor(known[start]), 1e-6)
