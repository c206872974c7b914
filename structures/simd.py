"""Portable intrinsics: eight int64 lanes at a time, whatever the processor has, and words of eight bytes.

Each has a twin in Python, so that kernels run with the JIT switched off. A set of lanes is an int64
whose bit ``i`` stands for lane ``i``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

from structures.jit import twin

__all__ = [
    "LANES",
    "least_lanes",
    "least_lanes_among",
    "load_word",
    "lowest_lane",
    "multiply_fold",
    "pointer_to",
    "prefetch",
]

LANES = 8
_I64 = ir.IntType(64)
_I128 = ir.IntType(128)
_VECTOR = ir.VectorType(_I64, LANES)
_GREATEST = 2**63 - 1
_ALL_BITS = 2**64 - 1


def _py_least_lanes(array: Any, start: int) -> int:
    return _py_least_lanes_among(array, start, (1 << LANES) - 1)


def _py_least_lanes_among(array: Any, start: int, lanes: int) -> int:
    chosen = [lane for lane in range(LANES) if lanes >> lane & 1]
    least = min(array[start + lane] for lane in chosen)
    return sum(1 << lane for lane in chosen if array[start + lane] == least)


def _py_lowest_lane(lanes: int) -> int:
    return (int(lanes) & -int(lanes)).bit_length() - 1


def _py_prefetch(array: Any, i: int) -> None:
    pass


def _py_pointer_to(array: Any, i: int) -> Any:
    return array[i:]


def _py_load_word(array: Any, i: int) -> int:
    return int.from_bytes(bytes(array[i : i + 8]), "little", signed=True)


def _py_multiply_fold(word: int, factor: int) -> np.int64:
    product = (int(word) & _ALL_BITS) * (int(factor) & _ALL_BITS)
    return np.int64(np.uint64((product & _ALL_BITS) ^ (product >> 64)))


def _load_lanes(context: Any, builder: Any, array_type: Any, array: Any, start: Any) -> Any:
    data = context.make_array(array_type)(context, builder, value=array).data
    pointer = builder.bitcast(builder.gep(data, [start]), _VECTOR.as_pointer())
    return builder.load(pointer, align=8)


def _equal_to_least(builder: Any, vector: Any) -> Any:
    """Emit the set of lanes that equal the minimum of `vector`."""
    reduce_type = ir.FunctionType(_I64, [_VECTOR])
    reduce = cgutils.get_or_insert_function(
        builder.module, reduce_type, f"llvm.vector.reduce.smin.v{LANES}i64"
    )
    undefined = ir.Constant(_VECTOR, ir.Undefined)
    lane_0 = builder.insert_element(undefined, builder.call(reduce, [vector]), ir.IntType(32)(0))
    everywhere = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    least = builder.shuffle_vector(lane_0, undefined, everywhere)
    equal = builder.icmp_signed("==", vector, least)
    return builder.zext(builder.bitcast(equal, ir.IntType(LANES)), _I64)


@twin(_py_least_lanes)
@intrinsic
def least_lanes(typingctx, array, start):
    """Return the lanes of ``array[start : start + 8]`` that hold its least element."""

    def codegen(context, builder, signature, values):
        return _equal_to_least(builder, _load_lanes(context, builder, array, values[0], values[1]))

    return types.int64(array, types.int64), codegen


@twin(_py_least_lanes_among)
@intrinsic
def least_lanes_among(typingctx, array, start, lanes):
    """Return those of `lanes` (at least one) that hold the least element among them."""

    def codegen(context, builder, signature, values):
        vector = _load_lanes(context, builder, array, values[0], values[1])
        narrow = builder.trunc(values[2], ir.IntType(LANES))
        chosen = builder.bitcast(narrow, ir.VectorType(ir.IntType(1), LANES))
        vector = builder.select(chosen, vector, ir.Constant(_VECTOR, [_GREATEST] * LANES))
        # A lane that was not chosen may equal the minimum where that is the greatest int64.
        return builder.and_(_equal_to_least(builder, vector), values[2])

    return types.int64(array, types.int64, types.int64), codegen


@twin(_py_lowest_lane)
@intrinsic
def lowest_lane(typingctx, lanes):
    """Return the lowest of `lanes` (at least one)."""

    def codegen(context, builder, signature, values):
        return builder.cttz(values[0], ir.IntType(1)(1))

    return types.int64(types.int64), codegen


@twin(_py_prefetch)
@intrinsic
def prefetch(typingctx, array, i):
    """Ask for the cache line of ``array[i]``, which a write will need soon."""

    def codegen(context, builder, signature, values):
        data = context.make_array(array)(context, builder, value=values[0]).data
        i32 = ir.IntType(32)
        prefetch_type = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, i32, i32, i32])
        instruction = cgutils.get_or_insert_function(builder.module, prefetch_type, "llvm.prefetch.p0")
        address = builder.bitcast(builder.gep(data, [values[1]]), cgutils.voidptr_t)
        builder.call(instruction, [address, i32(1), i32(3), i32(1)])  # for a write, keep it, data
        return context.get_dummy_value()

    return types.none(array, types.int64), codegen


@twin(_py_pointer_to)
@intrinsic
def pointer_to(typingctx, array, i):
    """Return a pointer to ``array[i]``, for kernels to read from: there are no references to count.

    One type serves arrays that are writable and those that are not.
    """
    if not (isinstance(array, types.Array) and array.layout == "C"):
        raise TypingError(f"the elements must be in a C-contiguous array, not in {array}")

    def codegen(context, builder, signature, values):
        data = context.make_array(array)(context, builder, value=values[0]).data
        return builder.gep(data, [values[1]])

    return types.CPointer(array.dtype)(array, types.int64), codegen


@twin(_py_load_word)
@intrinsic
def load_word(typingctx, pointer, i):
    """Return the 8 bytes at ``pointer[i]`` as an int64, the first byte lowest."""
    if pointer != types.CPointer(types.uint8):
        raise TypingError(f"bytes must be read from a pointer to uint8, not from {pointer}")

    def codegen(context, builder, signature, values):
        word = builder.bitcast(builder.gep(values[0], [values[1]]), _I64.as_pointer())
        return builder.load(word, align=1)

    return types.int64(pointer, types.int64), codegen


@twin(_py_multiply_fold)
@intrinsic
def multiply_fold(typingctx, word, factor):
    """Multiply two words taken as unsigned; return the low half of the product xor the high one."""

    def codegen(context, builder, signature, values):
        product = builder.mul(*(builder.zext(value, _I128) for value in values))
        high = builder.trunc(builder.lshr(product, _I128(64)), _I64)
        return builder.xor(builder.trunc(product, _I64), high)

    return types.int64(types.int64, types.int64), codegen
