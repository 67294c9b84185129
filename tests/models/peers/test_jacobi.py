from __future__ import annotations

import numpy as np
import pytest
from scipy.special import eval_jacobi

from dense import close
from gwn import GWNError
from gwn.models import model_spec
from peer import X, normalised, output, peer, weights


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (2.0, -0.25), (-0.5, -0.5), (0.0, 0.0)])
def test_filters_in_the_eigenbasis(a: float, b: float) -> None:
    """Compared with SciPy's Jacobi polynomials; the authors' code is the same for a = b (else its sign differs)."""
    model = peer("jacobi", a=a, b=b, gamma=1.5, degree=6)
    w = weights(model)
    spectrum, U = np.linalg.eigh(normalised("none"))
    signal = U.T @ (X.numpy() @ w["linear.weight"] + w["linear.bias"])
    scale = np.concatenate([[1.0], np.cumprod(1.5 * np.tanh(w["eta"]))])
    response = sum(scale[k] * eval_jacobi(k, a, b, spectrum)[:, None] * w["beta"][k][None, :] for k in range(7))
    close(output(model), U @ (response * signal))


def test_what_the_polynomials_need() -> None:
    with pytest.raises(GWNError, match="above -1"):
        model_spec("jacobi").build(2, 2, a=-1.0)
