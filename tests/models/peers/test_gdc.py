"""GDC: `S = alpha (I - (1 - alpha) T)^-1` by a dense inverse, the largest entries of a row, rows that sum to one."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.linalg import expm

from dense import adjacency, close, normalise
from graphs import normal, random_edges
from gwn import GWNError
from gwn.data.download import cache_root
from gwn.models.peers import gdc, precompute_cache
from gwn.models.peers.gdc import GDC
from seeds import reseed

N, IN, HIDDEN, OUT = 12, 5, 4, 3


def test_two_layers_on_the_diffused_graph() -> None:
    """Compared with the paper's formula by a dense inverse; the authors' code was read and has the same."""
    edges, x = random_edges(N, 14), normal(N, IN)
    T = normalise(adjacency(edges, N, loops="add"))
    reseed(0)
    model = GDC(IN, HIDDEN, OUT, alpha=0.1, k=4).double().eval()
    with torch.no_grad():
        for bias in model.biases:
            bias.normal_()
    S = 0.1 * np.linalg.inv(np.eye(N) - 0.9 * T)
    for i in range(N):
        least = np.sort(S[i])[-4]
        S[i, S[i] < least * (1 - 1e-9)] = 0.0
    S /= S.sum(1, keepdims=True)
    W, b = ([p.detach().numpy() for p in part] for part in ((la.weight for la in model.layers), model.biases))
    hidden = np.maximum(S @ x.numpy() @ W[0] + b[0], 0)
    close(model(x, edges), S @ hidden @ W[1] + b[1], 1e-11)


def test_heat_kernel_above_a_threshold() -> None:
    """Compared with the paper's formula by a matrix exponential."""
    edges = random_edges(N, 14)
    T = normalise(adjacency(edges, N, loops="add"))
    S = expm(-3.0 * (np.eye(N) - T))
    S[S < 0.02] = 0.0
    found = gdc.diffusion_matrix(edges, None, N, torch.float64, "heat", 3.0, 0, 0.02).csr.to_dense()
    close(found, S / S.sum(1, keepdims=True), 1e-11)


def test_a_large_graph_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gdc, "LARGEST", 10)
    with pytest.raises(GWNError, match=r"at most 10 nodes .* this one has 12"):
        GDC(IN, HIDDEN, OUT)(normal(N, IN).float(), random_edges(N, 14))


def test_what_was_slow_is_kept_and_a_damaged_file_counts_as_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv("GWN_CACHE", str(tmp_path))
    monkeypatch.setattr(precompute_cache, "SLOW_SECONDS", -1.0)
    calls = []

    def build() -> dict[str, np.ndarray]:
        calls.append(1)
        return {"a": np.arange(3)}

    inputs = [torch.arange(4)]
    for _ in range(2):
        assert precompute_cache.cached_on_disk("test", {"k": 1}, inputs, build)["a"].tolist() == [0, 1, 2]
    assert len(calls) == 1
    (file,) = (cache_root() / "beforehand").iterdir()
    file.write_bytes(file.read_bytes()[:40])
    assert precompute_cache.cached_on_disk("test", {"k": 1}, inputs, build)["a"].tolist() == [0, 1, 2]
    precompute_cache.cached_on_disk("test", {"k": 2}, inputs, build)
    assert len(calls) == 3


def test_slow_work_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(precompute_cache, "SLOW_SECONDS", -1.0)
    assert list(precompute_cache.announced("counting", range(4))) == [0, 1, 2, 3]
    assert "counting: " in capsys.readouterr().err
