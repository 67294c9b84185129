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
    """Compared with SciPy's Jacobi polynomials, the paper's."""
    model = peer("jacobi", a=a, b=b, gamma=1.5, degree=6, reference=False)
    w = weights(model)
    spectrum, U = np.linalg.eigh(normalised("none"))
    signal = U.T @ (X.numpy() @ w["linear.weight"] + w["linear.bias"])
    scale = np.concatenate([[1.0], np.cumprod(1.5 * np.tanh(w["eta"]))])
    response = sum(scale[k] * eval_jacobi(k, a, b, spectrum)[:, None] * w["beta"][k][None, :] for k in range(7))
    close(output(model), U @ (response * signal))


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (2.0, -0.25), (-0.5, 0.0)])
def test_the_basis_of_the_authors_code(a: float, b: float) -> None:
    """Compared with their recurrence on the spectrum, in which a² - b² has the other sign: the default."""
    model = peer("jacobi", a=a, b=b, degree=6)
    w = weights(model)
    spectrum, U = np.linalg.eigh(normalised("none"))
    basis = [np.ones_like(spectrum), (a - b) / 2 + (a + b + 2) / 2 * spectrum]
    for k in range(2, 7):
        first = 2 * k * (k + a + b) * (2 * k - 2 + a + b)
        slope = (2 * k + a + b - 1) * (2 * k + a + b) * (2 * k + a + b - 2) / first
        shift = (2 * k + a + b - 1) * (a**2 - b**2) / first
        back = 2 * (k - 1 + a) * (k - 1 + b) * (2 * k + a + b) / first
        basis.append((slope * spectrum - shift) * basis[-1] - back * basis[-2])
    scale = np.concatenate([[1.0], np.cumprod(np.tanh(w["eta"]))])
    response = sum(scale[k] * basis[k][:, None] * w["beta"][k][None, :] for k in range(7))
    signal = U.T @ (X.numpy() @ w["linear.weight"] + w["linear.bias"])
    close(output(model), U @ (response * signal))
    same = [np.allclose(basis[k], eval_jacobi(k, a, b, spectrum)) for k in range(2, 7)]
    assert all(same) if a == b else not any(same)


def test_what_the_polynomials_need() -> None:
    with pytest.raises(GWNError, match="above -1"):
        model_spec("jacobi").build(2, 2, a=-1.0)
