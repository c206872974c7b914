"""Intrinsics on words of arrays: products, two int32 a word, float64 values, the first of four entries.

Each has a twin in Python, so that kernels run with the JIT switched off.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from structures.compiling.jit import twin
from structures.primitives.simd import NONE

_I32, _I64, _I128 = ir.IntType(32), ir.IntType(64), ir.IntType(128)
_SIGN = -(2**63)
_ALL_BITS = 2**64 - 1
_FOUR = 4


def _py_multiply_high(word: int, factor: int) -> int:
    return (int(word) & _ALL_BITS) * (int(factor) & _ALL_BITS) >> 64


def _py_halves_at(words: Any, start: int) -> Any:
    return words[start:].view(np.int32)


def _py_ask_for(pointer: Any, i: int) -> None:
    """Ask for a cache line."""


def _py_word_of(number: Any) -> Any:
    return np.float64(number).view(np.int64) if isinstance(number, (float, np.floating)) else number


def _py_number_in(word: Any, zero: Any) -> Any:
    return float(np.int64(word).view(np.float64)) if isinstance(zero, (float, np.floating)) else word


def _py_first_of_four(words: Any, start: int, to_ties: int) -> int:
    return min(range(_FOUR), key=lambda lane: (words[start + lane], words[start + to_ties + lane]))


def _address(context: Any, builder: Any, typ: Any, value: Any, start: Any) -> Any:
    """Emit the address of an element of an array, or of what a pointer points to."""
    if isinstance(typ, types.Array):
        value = cgutils.create_struct_proxy(typ)(context, builder, value=value).data
    return builder.gep(value, [start])


@twin(_py_multiply_high)
@intrinsic
def multiply_high(typingctx, word, factor):
    """Multiply two words as unsigned numbers; return the high half of the product."""

    def codegen(context, builder, signature, values):
        product = builder.mul(*(builder.zext(value, _I128) for value in values))
        return builder.trunc(builder.lshr(product, _I128(64)), _I64)

    return types.int64(types.int64, types.int64), codegen


@twin(_py_halves_at)
@intrinsic
def halves_at(typingctx, words, start):
    """Return a pointer to the int32 that are stored, two a word, from ``words[start]`` on."""

    def codegen(context, builder, signature, values):
        return builder.bitcast(_address(context, builder, words, *values), _I32.as_pointer())

    return types.CPointer(types.int32)(words, types.int64), codegen


@twin(_py_ask_for)
@intrinsic
def ask_for(typingctx, pointer, i):
    """Ask for the cache line of ``pointer[i]``, which a write will need soon."""

    def codegen(context, builder, signature, values):
        prefetch_type = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, _I32, _I32, _I32])
        instruction = cgutils.get_or_insert_function(builder.module, prefetch_type, "llvm.prefetch.p0")
        address = builder.bitcast(_address(context, builder, pointer, *values), cgutils.voidptr_t)
        builder.call(instruction, [address, _I32(1), _I32(3), _I32(1)])  # for a write, keep it, data
        return NONE

    return types.none(pointer, types.int64), codegen


@twin(_py_word_of)
@intrinsic
def word_of(typingctx, number):
    """Return the bits of an int64 or a float64 as an int64."""
    wide = types.float64 if isinstance(number, types.Float) else types.int64
    return types.int64(wide), lambda context, builder, signature, values: builder.bitcast(values[0], _I64)


@twin(_py_number_in)
@intrinsic
def number_in(typingctx, word, zero):
    """Return the number, of the type of `zero`, whose bits :func:`word_of` gave."""

    def codegen(context, builder, signature, values):
        return builder.bitcast(values[0], context.get_value_type(signature.return_type))

    return types.unliteral(zero)(types.int64, zero), codegen


@twin(_py_first_of_four)
@intrinsic
def first_of_four(typingctx, words, start, to_ties):
    """Return the lane of ``words[start : start + 4]`` with the least number.

    Of equal ones, the lane is first whose word `to_ties` further on is less, then the lower lane. There is no
    branch, which the processor could not predict; the minimum of a vector would take longer.
    """

    def codegen(context, builder, signature, values):
        numbers = _address(context, builder, words, values[0], values[1])
        ties = builder.gep(numbers, [values[2]])
        entries = []
        for lane in range(_FOUR):
            high, low = (builder.load(builder.gep(pointer, [_I64(lane)])) for pointer in (numbers, ties))
            low = builder.zext(builder.xor(low, _I64(_SIGN)), _I128)  # as unsigned words in the same order
            high = builder.shl(builder.sext(high, _I128), _I128(64))
            entries.append((builder.or_(high, low), _I64(lane)))
        while len(entries) > 1:
            (one, lane), (other, other_lane), *rest = entries
            precedes = builder.icmp_signed("<", other, one)
            winner = builder.select(precedes, other, one), builder.select(precedes, other_lane, lane)
            entries = [*rest, winner]
        return entries[0][1]

    return types.int64(words, types.int64, types.int64), codegen
