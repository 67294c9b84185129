"""The raw kernels: what one training step of a GWN cannot avoid, as bare PyTorch calls on buffers that already exist.

    forward    features x [W0 | W1];  n sparse products with 2I + tau² S;  the training rows through the head
    backward   two products for the head;  n sparse products;  features^T x gradient
    GWN-fa     beside these, in each step: the scores X g, the sampled dense-dense product for the gradient of alpha,
               and two thin products for the gradient of the scores

No dropout, no loss, no optimiser, no tanh, no bias: a step can only be slower than this sum.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from benchmarks.problem import Problem
from benchmarks.timing import Clock, Timing, measure
from gwn.adjacency import adjacency_of
from gwn.sparse import SparseMatrix

LARGE = 1 << 24
"""Numbers that no cache holds: 64 MiB in single precision."""


@dataclass(frozen=True)
class Kernel:
    """A product, and how often a training step needs it."""

    call: Callable[[], object]
    count: int = 1


def floor_kernels(problem: Problem, laplacian: str) -> dict[str, Kernel]:
    """The products of one training step on this graph, by name."""
    graph, width, steps = problem.graph, problem.width, problem.steps
    nodes, features, classes = graph.num_nodes, graph.num_features, graph.num_classes
    rows = problem.rows.numel()
    fill = torch.Generator().manual_seed(0)
    buffer = partial(torch.randn, generator=fill, dtype=graph.x.dtype)

    adjacency = adjacency_of(graph.edge_index, graph.edge_weight, nodes, dtype=graph.x.dtype)
    wave = adjacency.affine(2.0, problem.tau**2).csr
    x, grad = buffer(nodes, width), buffer(nodes, width)
    encoded, weights = buffer(nodes, 2 * width), buffer(features, 2 * width)
    state, head, grad_logits = buffer(rows, width), buffer(width, classes), buffer(rows, classes)
    logits, grad_head, grad_state = buffer(rows, classes), buffer(width, classes), buffer(rows, width)
    values, transposed = _both_ways(graph.x)
    kernels = {
        "features": Kernel(partial(_product, encoded, values, weights)),
        # Always from the same two buffers: out <- M x - out stays bounded, however often it is repeated.
        "wave": Kernel(partial(grad.addmm_, wave, x, beta=-1.0), 2 * steps),
        "head": Kernel(partial(torch.mm, state, head, out=logits)),
        "head weights": Kernel(partial(torch.mm, state.t(), grad_logits, out=grad_head)),
        "head state": Kernel(partial(torch.mm, grad_logits, head.t(), out=grad_state)),
        "feature gradient": Kernel(partial(_product, weights.clone(), transposed, encoded.clone())),
    }
    if laplacian == "fa":
        g, scores, grad_scores = buffer(width, 2), buffer(nodes, 2), buffer(2, nodes)
        places, sampled = wave.clone(), wave.clone()
        kernels |= {
            "scores": Kernel(partial(torch.mm, x, g, out=scores), steps),
            "alpha gradient": Kernel(
                partial(torch.sparse.sampled_addmm, places, grad, x.t(), beta=0.0, out=sampled), steps
            ),
            "g gradient": Kernel(partial(torch.mm, grad_scores, x, out=buffer(2, width)), steps),
            "score gradient": Kernel(partial(torch.mm, grad_scores.t(), g.t(), out=buffer(nodes, width)), steps),
        }
    return kernels


def _product(out: Tensor, a: Tensor, b: Tensor) -> Tensor:
    return out.addmm_(a, b, beta=0.0)


def _both_ways(x: Tensor) -> tuple[Tensor, Tensor]:
    """The features and their transpose, each ready for its product: both as CSR, or both dense."""
    if x.layout != torch.sparse_csr:
        return x, x.t()
    matrix = SparseMatrix.from_tensor(x.detach())
    return matrix.csr, matrix.t.csr


def run(kernels: Mapping[str, Kernel]) -> None:
    """All products, one after another, as often as a step needs them."""
    for kernel in kernels.values():
        for _ in range(kernel.count):
            kernel.call()


def bandwidth(problem: Problem, seconds: float = 0.2, clock: Clock = time.perf_counter) -> dict[str, float]:
    """GB/s: what the sparse product of one step asks for, beside a plain copy of the state and one of main memory.

    A product asks for a row of the state for every entry of S, most of them from the caches; so it may well be above
    what a copy from main memory reaches.
    """
    graph, width = problem.graph, problem.width
    wave = floor_kernels(problem, "sym")["wave"].call
    entries = adjacency_of(graph.edge_index, graph.edge_weight, graph.num_nodes, dtype=graph.x.dtype).matrix.pattern.nnz
    size = graph.x.element_size()
    state, large = torch.zeros(graph.num_nodes, width), torch.zeros(LARGE)
    moved = {
        "wave": entries * (size * width + size + 4) + 2 * graph.num_nodes * width * size,
        "copy": 2 * state.nbytes,
        "memory copy": 2 * large.nbytes,
    }
    copies = {"copy": partial(state.clone().copy_, state), "memory copy": partial(large.clone().copy_, large)}
    timed = measure({"wave": wave, **copies}, seconds=seconds, clock=clock)
    return {f"{name} GB/s": 1e-6 * moved[name] / timing.best for name, timing in timed.items()}


def breakdown(kernels: Mapping[str, Kernel], seconds: float = 0.2) -> dict[str, float]:
    """Milliseconds of each kernel times its count: where the floor lies. Each alone, so the sum is a little lower."""
    alone: dict[str, Timing] = measure({name: kernel.call for name, kernel in kernels.items()}, seconds=seconds)
    return {name: timing.best * kernels[name].count for name, timing in alone.items()}
