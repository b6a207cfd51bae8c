"""Words of 64 bits, vector compares over byte lists, and moving whole records, each compiled and in a plain form.

The compiled forms are LLVM IR without machine-specific calls (but for `select`, which has a portable form too); the
plain forms serve uncompiled runs and as the tests' oracle.
"""

from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from tollero_env.jit import DISABLED, jit

ZERO = np.uint64(0)
ONE = np.uint64(1)
LANES = 64
LINE = 64  # bytes that a cache moves at once
NO_BIT = 64  # lowest(0)


def popcount_plain(word: Any) -> int:
    """Number of set bits."""
    return int(word).bit_count()


def lowest_plain(word: Any) -> int:
    """Index of the lowest set bit; NO_BIT for an empty word."""
    word = int(word)
    return (word & -word).bit_length() - 1 if word else NO_BIT


def drop_lowest_plain(word: Any) -> np.uint64:
    """The word without its lowest set bit; an empty word stays empty."""
    return np.uint64(int(word) & (int(word) - 1))


def select_plain(word: Any, k: Any) -> int:
    """Index of the k-th set bit, counted from 0; the word has more than k."""
    word = int(word)
    for _ in range(int(k)):
        word &= word - 1
    return lowest_plain(word)


def matching_plain(masks: Any, tags: Any, start: int, byte: int) -> np.uint64:
    """Bit j is set where `(byte & masks[start + j]) | 0x80 == tags[start + j]`, for 64 entries of two uint8 arrays."""
    found = ((np.uint8(byte) & masks[start : start + LANES]) | np.uint8(0x80)) == tags[start : start + LANES]
    return np.uint64(int(np.packbits(found, bitorder="little").view(np.uint64)[0]))


def equal16_plain(values: Any, start: int, value: int) -> np.uint64:
    """Bit j is set where `values[start + j] == value`, for 64 entries of an int16 array."""
    found = values[start : start + LANES] == np.int16(value)
    return np.uint64(int(np.packbits(found, bitorder="little").view(np.uint64)[0]))


def clear_plain(records: Any, i: int) -> None:
    """Set one record of a structured array to zero bytes."""
    records[i] = np.zeros((), records.dtype)


def copy_plain(target: Any, i: int, source: Any, j: int) -> None:
    """target[i] = source[j], for two structured arrays of one dtype."""
    target[i] = source[j]


def fetch_plain(array: Any, i: int) -> None:
    """Ask for array[i], a record or a row, to be brought near the core meanwhile; a hint, nothing else."""


def same_plain(records: Any, i: int, others: Any, j: int) -> bool:
    """Are the bytes of records[i] and others[j] the same? One dtype, its size a multiple of 8."""
    return bool(records[i].tobytes() == others[j].tobytes())


def _data(context: Any, builder: Any, array_type: Any, value: Any) -> Any:
    return cgutils.create_struct_proxy(array_type)(context, builder, value=value).data


def _lanes(builder: Any, data: Any, start: Any, bits: int) -> Any:
    """Load 64 numbers of that many bits, from any address."""
    vector = ir.VectorType(ir.IntType(bits), LANES)
    pointer = builder.bitcast(builder.gep(data, [start]), vector.as_pointer())
    return builder.load(pointer, align=1)


def _splat(builder: Any, value: Any, bits: int) -> Any:
    vector = ir.VectorType(ir.IntType(bits), LANES)
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    lanes = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(one, ir.Constant(vector, ir.Undefined), lanes)


@intrinsic
def _popcount(typingctx: Any, word: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


@intrinsic
def _lowest(typingctx: Any, word: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), codegen


@intrinsic
def _deposit(typingctx: Any, source: Any, mask: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word = ir.IntType(64)
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(word, [word, word]), "llvm.x86.bmi.pdep.64"
        )
        return builder.call(function, args)

    return types.uint64(types.uint64, types.uint64), codegen


@intrinsic
def _matching(typingctx: Any, masks: Any, tags: Any, start: Any, byte: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        masks_type, tags_type, _, _ = signature.args
        mask = _lanes(builder, _data(context, builder, masks_type, args[0]), args[2], 8)
        tag = _lanes(builder, _data(context, builder, tags_type, args[1]), args[2], 8)
        byte = _splat(builder, builder.trunc(args[3], ir.IntType(8)), 8)
        seen = builder.and_(byte, mask)
        seen = builder.or_(seen, ir.Constant(seen.type, [0x80] * LANES))
        return builder.bitcast(builder.icmp_unsigned("==", seen, tag), ir.IntType(64))

    return types.uint64(masks, tags, types.int64, types.int64), codegen


@intrinsic
def _equal16(typingctx: Any, values: Any, start: Any, value: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        lanes = _lanes(builder, _data(context, builder, signature.args[0], args[0]), args[1], 16)
        wanted = _splat(builder, builder.trunc(args[2], ir.IntType(16)), 16)
        return builder.bitcast(builder.icmp_unsigned("==", lanes, wanted), ir.IntType(64))

    return types.uint64(values, types.int64, types.int64), codegen


def _record_pointer(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> tuple[Any, int]:
    size = array_type.dtype.size
    data = builder.bitcast(_data(context, builder, array_type, array), ir.IntType(8).as_pointer())
    return builder.gep(data, [builder.mul(index, ir.Constant(ir.IntType(64), size))]), size


@intrinsic
def _clear(typingctx: Any, records: Any, i: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer, size = _record_pointer(context, builder, signature.args[0], args[0], args[1])
        cgutils.memset(builder, pointer, ir.Constant(ir.IntType(64), size), 0)
        return context.get_dummy_value()

    return types.void(records, types.int64), codegen


@intrinsic
def _copy(typingctx: Any, target: Any, i: Any, source: Any, j: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        to, size = _record_pointer(context, builder, signature.args[0], args[0], args[1])
        origin, _ = _record_pointer(context, builder, signature.args[2], args[2], args[3])
        cgutils.raw_memcpy(builder, to, origin, ir.Constant(ir.IntType(64), size), 1)
        return context.get_dummy_value()

    return types.void(target, types.int64, source, types.int64), codegen


@intrinsic
def _fetch(typingctx: Any, array: Any, i: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        number, word = ir.IntType(32), ir.IntType(64)
        struct = cgutils.create_struct_proxy(signature.args[0])(context, builder, value=args[0])
        stride = builder.extract_value(struct.strides, 0)
        data = builder.bitcast(struct.data, ir.IntType(8).as_pointer())
        first = builder.gep(data, [builder.mul(args[1], stride)])
        kind = ir.FunctionType(ir.VoidType(), [first.type, number, number, number])
        prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        how = [ir.Constant(number, value) for value in (1, 2, 1)]  # to be written, into the second cache, data
        with cgutils.for_range(builder, builder.udiv(stride, ir.Constant(word, LINE))) as loop:
            builder.call(prefetch, [builder.gep(first, [builder.mul(loop.index, ir.Constant(word, LINE))]), *how])
        return context.get_dummy_value()

    return types.void(array, types.int64), codegen


@intrinsic
def _same(typingctx: Any, records: Any, i: Any, others: Any, j: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word = ir.IntType(64)
        one, size = _record_pointer(context, builder, signature.args[0], args[0], args[1])
        two, _ = _record_pointer(context, builder, signature.args[2], args[2], args[3])
        one, two = builder.bitcast(one, word.as_pointer()), builder.bitcast(two, word.as_pointer())
        difference = cgutils.alloca_once_value(builder, ir.Constant(word, 0))
        with cgutils.for_range(builder, ir.Constant(word, size // 8)) as loop:
            left, right = (builder.load(builder.gep(pointer, [loop.index])) for pointer in (one, two))
            builder.store(builder.or_(builder.load(difference), builder.xor(left, right)), difference)
        return builder.icmp_unsigned("==", builder.load(difference), ir.Constant(word, 0))

    return types.boolean(records, types.int64, others, types.int64), codegen


def _has_deposit() -> bool:
    """Is the code made for this very machine, and does it have pdep?"""
    return not config.CPU_NAME and not config.CPU_FEATURES and binding.get_host_cpu_features().get("bmi2", False)


if DISABLED:
    popcount, lowest, select, drop_lowest = popcount_plain, lowest_plain, select_plain, drop_lowest_plain
    matching, equal16 = matching_plain, equal16_plain
    clear, copy, same, fetch = clear_plain, copy_plain, same_plain, fetch_plain
else:
    popcount, lowest, matching, equal16 = _popcount, _lowest, _matching, _equal16
    clear, copy, same, fetch = _clear, _copy, _same, _fetch

    @jit(inline=True)
    def drop_lowest(word):
        return word & (word - ONE)

    if _has_deposit():

        @jit(inline=True)
        def select(word, k):
            return _lowest(_deposit(ONE << np.uint64(k), word))
    else:

        @jit(inline=True)
        def select(word, k):
            for _ in range(k):
                word = drop_lowest(word)
            return _lowest(word)


@jit(inline=True)
def bit(k):
    """The word with bit k alone."""
    return ONE << np.uint64(k)
