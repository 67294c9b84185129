"""What Numba compiles: loops over the entries of CSR matrices, four at a time. `kernels.py` says where they are used.

Every number of a result is the sum of the same terms in the same order, whatever the number of threads. The machine
code is kept beside this file, as Python keeps its own.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

Array = NDArray[Any]

compiled = njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz", "arcp"})

LINE = 64
"""Bytes of a cache line."""


@intrinsic
def prefetch(typing: Any, x: Any, i: Any, k: Any) -> Any:
    """Ask for the cache line of `x[i, k]` and go on."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind, place = signature.args[0], list(arguments[1:])
        array = context.make_array(kind)(context, builder, arguments[0])
        pointer = cgutils.get_item_pointer(context, builder, kind, array, place, wraparound=False)
        pointer = builder.bitcast(pointer, ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        function_type = ir.FunctionType(ir.VoidType(), [pointer.type, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", [pointer.type], function_type)
        builder.call(function, [pointer, number(0), number(3), number(1)])  # to read, often, data
        return context.get_dummy_value()

    return types.void(x, i, k), generate


@njit(inline="always")
def ask_for_rows(x: Array, col: Array, first: int, count: int) -> None:
    """The rows of x that `count` entries from `first` on will want; nothing is computed."""
    for e in range(first, first + count):
        j = np.intp(col[min(e, col.size - 1)])
        for k in range(0, x.shape[1], LINE // x.itemsize):
            prefetch(x, j, k)


@compiled
def add_product(
    crow: Array,
    col: Array,
    values: Array,
    x: Array,
    out: Array,
    beta: float,
    diagonal: float,
    ahead: int | None,
    start: int,
    end: int,
) -> None:
    """`out <- beta out + diagonal x + A x`, rows `start` to `end`.

    ahead   how many entries before its turn a row of x is asked for; None: not at all, which is compiled by itself
    """
    width = x.shape[1]
    for i in range(start, end):
        row = out[i]
        scale(row, beta)
        if diagonal != 0.0:
            own = x[i]
            for k in range(width):
                row[k] += diagonal * own[k]
        e, last = crow[i], crow[i + 1]
        while e + 4 <= last:
            if ahead is not None:
                ask_for_rows(x, col, e + ahead, 4)
            v0, v1, v2, v3 = values[e], values[e + 1], values[e + 2], values[e + 3]
            x0, x1, x2, x3 = x[col[e]], x[col[e + 1]], x[col[e + 2]], x[col[e + 3]]
            for k in range(width):
                row[k] += v0 * x0[k] + v1 * x1[k] + v2 * x2[k] + v3 * x3[k]
            e += 4
        while e < last:
            if ahead is not None:
                ask_for_rows(x, col, e + ahead, 1)
            v, other = values[e], x[col[e]]
            for k in range(width):
                row[k] += v * other[k]
            e += 1


@compiled
def add_two_products(
    crow: Array,
    col: Array,
    first: Array,
    second: Array,
    x: Array,
    out: Array,
    product: Array,
    beta: float,
    diagonal: float,
    ahead: int | None,
    start: int,
    end: int,
) -> None:
    """`out <- beta out + diagonal x + A x` and `product <- B x` for two matrices on one pattern: x is read once."""
    width = x.shape[1]
    for i in range(start, end):
        row, other_row, own = out[i], product[i], x[i]
        scale(row, beta)
        for k in range(width):
            row[k] += diagonal * own[k]
            other_row[k] = 0
        e, last = crow[i], crow[i + 1]
        while e + 4 <= last:
            if ahead is not None:
                ask_for_rows(x, col, e + ahead, 4)
            a0, a1, a2, a3 = first[e], first[e + 1], first[e + 2], first[e + 3]
            b0, b1, b2, b3 = second[e], second[e + 1], second[e + 2], second[e + 3]
            x0, x1, x2, x3 = x[col[e]], x[col[e + 1]], x[col[e + 2]], x[col[e + 3]]
            for k in range(width):
                row[k] += a0 * x0[k] + a1 * x1[k] + a2 * x2[k] + a3 * x3[k]
                other_row[k] += b0 * x0[k] + b1 * x1[k] + b2 * x2[k] + b3 * x3[k]
            e += 4
        while e < last:
            if ahead is not None:
                ask_for_rows(x, col, e + ahead, 1)
            a, b, other = first[e], second[e], x[col[e]]
            for k in range(width):
                row[k] += a * other[k]
                other_row[k] += b * other[k]
            e += 1


@compiled
def pull_back(
    crow: Array,
    col: Array,
    values: Array,
    slopes: Array,
    grad_next: Array,
    slopes_x: Array,
    x: Array,
    g: Array,
    grad: Array,
    sums: Array,
    beta: float,
    diagonal: float,
    add: bool,
    ahead: int | None,
    start: int,
    end: int,
) -> None:
    """`grad <- beta grad + diagonal grad_next + A grad_next`, and while a node's rows are at hand its two sums:
    `<grad_next, slopes_x>` and `<B grad_next, x>`; with `add`, they reach `grad` by way of `g` as well."""
    width = x.shape[1]
    back = np.empty(width, x.dtype)
    for i in range(start, end):
        row, own, mine, kept = grad[i], grad_next[i], x[i], slopes_x[i]
        scale(row, beta)
        for k in range(width):
            row[k] += diagonal * own[k]
            back[k] = 0
        e, last = crow[i], crow[i + 1]
        while e + 4 <= last:
            if ahead is not None:
                ask_for_rows(grad_next, col, e + ahead, 4)
            a0, a1, a2, a3 = values[e], values[e + 1], values[e + 2], values[e + 3]
            b0, b1, b2, b3 = slopes[e], slopes[e + 1], slopes[e + 2], slopes[e + 3]
            x0, x1, x2, x3 = grad_next[col[e]], grad_next[col[e + 1]], grad_next[col[e + 2]], grad_next[col[e + 3]]
            for k in range(width):
                row[k] += a0 * x0[k] + a1 * x1[k] + a2 * x2[k] + a3 * x3[k]
                back[k] += b0 * x0[k] + b1 * x1[k] + b2 * x2[k] + b3 * x3[k]
            e += 4
        while e < last:
            if ahead is not None:
                ask_for_rows(grad_next, col, e + ahead, 1)
            a, b, other = values[e], slopes[e], grad_next[col[e]]
            for k in range(width):
                row[k] += a * other[k]
                back[k] += b * other[k]
            e += 1
        target = source = beta - beta  # zero, in the type of the others
        for k in range(width):
            target += own[k] * kept[k]
            source += back[k] * mine[k]
        sums[0, i], sums[1, i] = target, source
        if add:
            left, right = g[0], g[1]
            for k in range(width):
                row[k] += target * left[k] + source * right[k]


@compiled
def scale(row: Array, beta: float) -> None:
    """`row <- beta row`; with beta = 0 whatever it held is ignored."""
    if beta == 0.0:
        row[:] = 0
    else:
        for k in range(row.shape[0]):
            row[k] *= beta


@compiled
def transposed_product(crow: Array, col: Array, values: Array, x: Array, out: Array, start: int, end: int) -> None:
    """`out <- A^T x`, columns `start` to `end`: in the order of the rows of A, so that its transpose is not needed."""
    out[:, start:end] = 0
    for i in range(crow.shape[0] - 1):
        row = x[i, start:end]
        for e in range(crow[i], crow[i + 1]):
            v, target = values[e], out[col[e], start:end]
            for k in range(end - start):
                target[k] += v * row[k]


@compiled
def keep_entries(
    crow: Array,
    col: Array,
    values: Array,
    bits: Array,
    stride: int,
    limit: int,
    factor: float,
    new_crow: Array,
    new_col: Array,
    new_values: Array,
) -> int:
    """The entries whose 16 random bits are below `limit`, times `factor`; their number.

    stride   0: one draw a stored entry; otherwise one a place of a dense matrix with rows of this length
    """
    place = 0
    new_crow[0] = 0
    for i in range(crow.shape[0] - 1):
        for e in range(crow[i], crow[i + 1]):
            new_col[place] = col[e]
            new_values[place] = values[e] * factor
            place += 1 if bits[e if stride == 0 else i * stride + col[e]] < limit else 0
        new_crow[i + 1] = place
    return place


@compiled
def attention(
    row: Array,
    col: Array,
    weights: Array,
    of_row: Array,
    of_column: Array,
    values: Array,
    slopes: Array,
    start: int,
    end: int,
) -> None:
    """`w tanh(r_i + c_j)` and its slope `w (1 - tanh²)` for the entries (i, j) from `start` to `end`.

    In two loops, of which the second becomes vector instructions: over slices, whose places are never negative.
    """
    values, slopes, weights = values[start:end], slopes[start:end], weights[start:end]
    row, col = row[start:end], col[start:end]
    for e in range(values.size):
        values[e] = of_row[row[e]] + of_column[col[e]]
    for e in range(values.size):
        t, w = tanh(values[e]), weights[e]
        values[e] = w * t
        slopes[e] = w - w * t * t


def tanh(z: float) -> float:
    """As `math.tanh`; see `_tanh` for what is compiled."""
    return math.tanh(z)


FAR = np.float32(10.0)
"""Beyond this, tanh is 1 in single precision."""


@overload(tanh)
def _tanh(z: Any) -> Any:
    """In single precision something without a call, so that the loop becomes vector instructions: Lambert's continued
    fraction, cut off, at a quarter of the argument, and `tanh 2y = 2 tanh y / (1 + tanh² y)` twice; divided once."""

    def double(z: Any) -> Any:
        return math.tanh(z)

    def single(z: Any) -> Any:
        y = np.float32(0.25) * min(max(z, -FAR), FAR)
        s = y * y
        p = y * (np.float32(135135) + s * (np.float32(17325) + s * (np.float32(378) + s)))
        q = np.float32(135135) + s * (np.float32(62370) + s * (np.float32(3150) + s * np.float32(28)))
        p, q = np.float32(2) * p * q, q * q + p * p
        return np.float32(2) * p * q / (q * q + p * p)

    return single if z == types.float32 else double
