from __future__ import annotations

import numpy as np

from dense import close
from peer import EYE, feed_forward, normalised, output, peer, weights


def test_the_filter_takes_the_learned_values_at_the_chebyshev_nodes() -> None:
    """Compared with the paper's interpolation in the eigenbasis, which the authors' code computes too."""
    model = peer("chebnet2")
    w = weights(model)
    nodes = np.cos((np.arange(11) + 0.5) * np.pi / 11)
    through = np.polynomial.Chebyshev.fit(nodes, np.maximum(w["gamma"], 0), 10, domain=[-1, 1])
    shifted, U = np.linalg.eigh(EYE - normalised("none") - EYE)  # L - I
    close(output(model), U @ (through(shifted)[:, None] * (U.T @ feed_forward(w))), 1e-8)


def test_equal_values_are_no_filter() -> None:
    model = peer("chebnet2")
    model.gamma.data.fill_(1.0)
    close(output(model), feed_forward(weights(model)))
