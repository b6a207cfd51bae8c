"""Vectors of 32 floats inside larger arrays, for small nets: each function compiled (LLVM IR on whole vectors, without
machine-specific calls) and in a plain form for uncompiled runs and as the tests' oracle.

Arrays are one-dimensional float32; a number behind an array says where in it the vector begins. Sums may be taken in
any order, so machines agree up to rounding.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from tollero_env.jit import DISABLED

WIDTH = 32
_FLOAT, _INT = ir.FloatType(), ir.IntType(64)
_VECTOR = ir.VectorType(_FLOAT, WIDTH)
_FAST = ("fast",)


def add_plain(out: Any, at: int, source: Any, start: int) -> None:
    """out += source."""
    out[at : at + WIDTH] += source[start : start + WIDTH]


def subtract_plain(out: Any, at: int, source: Any, start: int) -> None:
    """out -= source."""
    out[at : at + WIDTH] -= source[start : start + WIDTH]


def assign_plain(out: Any, at: int, source: Any, start: int) -> None:
    """out = source."""
    out[at : at + WIDTH] = source[start : start + WIDTH]


def relu_plain(out: Any, at: int, source: Any, start: int) -> None:
    """out = max(source, 0)."""
    out[at : at + WIDTH] = np.maximum(source[start : start + WIDTH], np.float32(0))


def gate_plain(out: Any, at: int, source: Any, start: int, passed: Any, first: int) -> None:
    """out = source where passed > 0, else 0."""
    out[at : at + WIDTH] = np.where(passed[first : first + WIDTH] > 0, source[start : start + WIDTH], np.float32(0))


def add_scaled_plain(out: Any, at: int, x: Any, source: Any, start: int) -> None:
    """out += x * source."""
    out[at : at + WIDTH] += np.float32(x) * source[start : start + WIDTH]


def multiply_plain(out: Any, at: int, inputs: Any, first: int, weights: Any, start: int) -> None:
    """out += inputs times 32 rows of weights."""
    matrix = weights[start : start + WIDTH * WIDTH].reshape(WIDTH, WIDTH)
    out[at : at + WIDTH] += inputs[first : first + WIDTH] @ matrix


def add_outer_plain(out: Any, at: int, inputs: Any, first: int, slopes: Any, start: int) -> None:
    """32 rows of out += each input times slopes."""
    matrix = out[at : at + WIDTH * WIDTH].reshape(WIDTH, WIDTH)
    matrix += np.outer(inputs[first : first + WIDTH], slopes[start : start + WIDTH])


def dot_plain(one: Any, first: int, two: Any, start: int) -> np.float32:
    """The scalar product."""
    return np.float32(one[first : first + WIDTH] @ two[start : start + WIDTH])


class _Code:
    """Loads and stores of vectors in the arguments of an intrinsic, which are arrays, each with a number behind it."""

    def __init__(self, context: Any, builder: Any, signature: Any, args: Any) -> None:
        self.context, self.builder, self.signature, self.args = context, builder, signature, args

    def _pointer(self, k: int, offset: int) -> Any:
        struct = cgutils.create_struct_proxy(self.signature.args[k])
        data = struct(self.context, self.builder, value=self.args[k]).data
        index = self.builder.add(self.args[k + 1], ir.Constant(_INT, offset))
        return self.builder.gep(data, [index])

    def load(self, k: int, offset: int = 0) -> Any:
        pointer = self.builder.bitcast(self._pointer(k, offset), _VECTOR.as_pointer())
        return self.builder.load(pointer, align=4)

    def store(self, k: int, value: Any, offset: int = 0) -> None:
        pointer = self.builder.bitcast(self._pointer(k, offset), _VECTOR.as_pointer())
        self.builder.store(value, pointer, align=4)

    def splat(self, value: Any) -> Any:
        one = self.builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
        lanes = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
        return self.builder.shuffle_vector(one, ir.Constant(_VECTOR, ir.Undefined), lanes)

    def splat_at(self, k: int, offset: int) -> Any:
        return self.splat(self.builder.load(self._pointer(k, offset)))

    def times(self, one: Any, two: Any) -> Any:
        return self.builder.fmul(one, two, flags=_FAST)

    def plus(self, one: Any, two: Any) -> Any:
        return self.builder.fadd(one, two, flags=_FAST)

    def where_positive(self, condition: Any, value: Any) -> Any:
        nought = ir.Constant(_VECTOR, [0.0] * WIDTH)
        return self.builder.select(self.builder.fcmp_ordered(">", condition, nought), value, nought)


def _compiled(arguments: int, write: Callable[[_Code], None]) -> Any:
    """An intrinsic of so many arrays, with a number behind each."""

    def make(*given: Any) -> Any:
        pairs = [kind for array in given[::2] for kind in (array, types.int64)]

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            write(_Code(context, builder, signature, args))
            return context.get_dummy_value()

        return types.void(*pairs), codegen

    if arguments == 2:

        @intrinsic
        def two(typingctx: Any, a: Any, i: Any, b: Any, j: Any) -> Any:
            return make(a, i, b, j)

        return two

    @intrinsic
    def three(typingctx: Any, a: Any, i: Any, b: Any, j: Any, c: Any, k: Any) -> Any:
        return make(a, i, b, j, c, k)

    return three


def _multiply(code: _Code) -> None:
    total = code.load(0)
    for i in range(WIDTH):
        total = code.plus(total, code.times(code.splat_at(2, i), code.load(4, i * WIDTH)))
    code.store(0, total)


def _add_outer(code: _Code) -> None:
    slopes = code.load(4)
    for i in range(WIDTH):
        more = code.times(code.splat_at(2, i), slopes)
        code.store(0, code.plus(code.load(0, i * WIDTH), more), i * WIDTH)


@intrinsic
def _add_scaled(typingctx: Any, out: Any, at: Any, x: Any, source: Any, start: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kinds = (signature.args[0], signature.args[1], signature.args[3], signature.args[4])
        code = _Code(context, builder, types.void(*kinds), (args[0], args[1], args[3], args[4]))
        code.store(0, code.plus(code.load(0), code.times(code.splat(args[2]), code.load(2))))
        return context.get_dummy_value()

    return types.void(out, types.int64, types.float32, source, types.int64), codegen


@intrinsic
def _dot(typingctx: Any, one: Any, first: Any, two: Any, start: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        code = _Code(context, builder, signature, args)
        product = code.times(code.load(0), code.load(2))
        width = WIDTH
        while width > 1:  # the upper half onto the lower
            width //= 2
            half = ir.VectorType(ir.IntType(32), width)
            undefined = ir.Constant(product.type, ir.Undefined)
            low = builder.shuffle_vector(product, undefined, ir.Constant(half, list(range(width))))
            high = builder.shuffle_vector(product, undefined, ir.Constant(half, list(range(width, 2 * width))))
            product = code.plus(low, high)
        return builder.extract_element(product, ir.Constant(ir.IntType(32), 0))

    return types.float32(one, types.int64, two, types.int64), codegen


if DISABLED:
    add, subtract, assign, relu, gate = add_plain, subtract_plain, assign_plain, relu_plain, gate_plain
    add_scaled, multiply, add_outer, dot = add_scaled_plain, multiply_plain, add_outer_plain, dot_plain
else:
    add = _compiled(2, lambda code: code.store(0, code.plus(code.load(0), code.load(2))))
    subtract = _compiled(2, lambda code: code.store(0, code.builder.fsub(code.load(0), code.load(2), flags=_FAST)))
    assign = _compiled(2, lambda code: code.store(0, code.load(2)))
    relu = _compiled(2, lambda code: code.store(0, code.where_positive(code.load(2), code.load(2))))
    gate = _compiled(3, lambda code: code.store(0, code.where_positive(code.load(4), code.load(2))))
    multiply, add_outer = _compiled(3, _multiply), _compiled(3, _add_outer)
    add_scaled, dot = _add_scaled, _dot
