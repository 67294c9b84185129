from __future__ import annotations

import math

import numpy as np

from dense import close
from peer import EYE, feed_forward, normalised, output, peer, weights


def test_bernstein_polynomials_by_hand() -> None:
    """Compared with the paper's sum on dense matrices, which the authors' code computes too."""
    model = peer("bernnet", degree=5)
    w, L = weights(model), EYE - normalised("none")
    power = np.linalg.matrix_power
    filtered = sum(
        max(theta, 0.0) * math.comb(5, k) / 2**5 * power(2 * EYE - L, 5 - k) @ power(L, k)
        for k, theta in enumerate(w["theta"])
    )
    close(output(model), filtered @ feed_forward(w))


def test_equal_values_are_no_filter() -> None:
    model = peer("bernnet")
    model.theta.data.fill_(1.0)
    close(output(model), feed_forward(weights(model)))
