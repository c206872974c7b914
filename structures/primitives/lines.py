"""Portable intrinsics: a cache line at a time, as eight words or as sixteen int32.

Each has a twin in Python, so that kernels run with the JIT switched off. A set of lanes is an int64:
bit ``i`` says that lane ``i`` is in the set.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

from structures.compiling.jit import twin
from structures.primitives.simd import LANES, NONE, spread

SIXTEEN = 16
"""Number of int32 that the intrinsics take at a time."""

_LINE = 64  # bytes
_BIT, _I32, _I64 = ir.IntType(1), ir.IntType(32), ir.IntType(64)
_WORDS = ir.VectorType(_I64, LANES)
_NUMBERS = ir.VectorType(_I32, SIXTEEN)
_WORD_BITS = 64


def _py_lanes_with_top(words: Any, i: int, top: int, shift: int) -> int:
    mask = (1 << (_WORD_BITS - shift)) - 1
    return sum(1 << lane for lane in range(LANES) if int(words[i + lane]) >> shift & mask == top)


def _py_highest_lane(lanes: int) -> int:
    return (int(lanes) & (1 << _WORD_BITS) - 1).bit_length() - 1


def _py_local_numbers(n: int) -> Any:
    return np.empty(n, np.int32)


def _py_fill_sixteen(numbers: Any, i: int, number: int) -> None:
    numbers[i : i + SIXTEEN] = number


def _py_put_in_sixteen(numbers: Any, i: int, lanes: int, number: int) -> None:
    for lane in range(SIXTEEN):
        if int(lanes) >> lane & 1:
            numbers[i + lane] = number


def _py_least_of_sixteen(numbers: Any, i: int) -> tuple[int, int]:
    row = [int(number) for number in numbers[i : i + SIXTEEN]]
    return min(row), sum(1 << lane for lane in range(SIXTEEN) if row[lane] == min(row))


@twin(_py_lanes_with_top)
@intrinsic
def lanes_with_top(typingctx, words, i, top, shift):
    """Return the lanes of the eight words at ``words[i]`` whose bits from `shift` on are `top`.

    The words start with a cache line, and `i` is a multiple of eight.
    """
    if words != types.CPointer(types.int64):
        raise TypingError(f"words must be read from a pointer to int64, not from {words}")

    def codegen(context, builder, signature, values):
        pointer = builder.bitcast(builder.gep(values[0], [values[1]]), _WORDS.as_pointer())
        tops = builder.lshr(builder.load(pointer, align=8), spread(builder, values[3], _WORDS))
        equal = builder.icmp_unsigned("==", tops, spread(builder, values[2], _WORDS))
        return builder.zext(builder.bitcast(equal, ir.IntType(LANES)), _I64)

    return types.int64(words, types.int64, types.int64, types.int64), codegen


@twin(_py_highest_lane)
@intrinsic
def highest_lane(typingctx, lanes):
    """Return the highest of `lanes`; -1 if there is none."""

    def codegen(context, builder, signature, values):
        return builder.sub(_I64(_WORD_BITS - 1), builder.ctlz(values[0], _BIT(0)))

    return types.int64(types.int64), codegen


@twin(_py_local_numbers)
@intrinsic(prefer_literal=True)
def local_numbers(typingctx, n):
    """Return a pointer to `n` int32, not initialised, which exist until the kernel returns.

    The number `n` is a constant. They start with a cache line.
    """
    if not isinstance(n, types.IntegerLiteral):
        raise TypingError("the number of elements must be a constant")

    def codegen(context, builder, signature, values):
        with builder.goto_entry_block():
            memory = builder.alloca(ir.ArrayType(_I32, n.literal_value))
            memory.align = _LINE
        return builder.bitcast(memory, _I32.as_pointer())

    return types.CPointer(types.int32)(n), codegen


def _row(builder: Any, numbers: Any, i: Any) -> Any:
    return builder.bitcast(builder.gep(numbers, [i]), _NUMBERS.as_pointer())


def _check(numbers: Any) -> None:
    if numbers != types.CPointer(types.int32):
        raise TypingError(f"the numbers must be at a pointer to int32, not at {numbers}")


@twin(_py_fill_sixteen)
@intrinsic
def fill_sixteen(typingctx, numbers, i, number):
    """Set the sixteen int32 at ``numbers[i]`` to a number."""
    _check(numbers)

    def codegen(context, builder, signature, values):
        row = spread(builder, builder.trunc(values[2], _I32), _NUMBERS)
        builder.store(row, _row(builder, *values[:2]), align=4)
        return NONE

    return types.none(numbers, types.int64, types.int64), codegen


@twin(_py_put_in_sixteen)
@intrinsic
def put_in_sixteen(typingctx, numbers, i, lanes, number):
    """Set those of the sixteen int32 at ``numbers[i]`` that are in `lanes` to a number.

    All are written at once: a read of all sixteen need not wait for a write of one.
    """
    _check(numbers)

    def codegen(context, builder, signature, values):
        pointer = _row(builder, *values[:2])
        chosen = builder.trunc(values[2], ir.IntType(SIXTEEN))
        chosen = builder.bitcast(chosen, ir.VectorType(_BIT, SIXTEEN))
        number = spread(builder, builder.trunc(values[3], _I32), _NUMBERS)
        row = builder.select(chosen, number, builder.load(pointer, align=4))
        builder.store(row, pointer, align=4)
        return NONE

    return types.none(numbers, types.int64, types.int64, types.int64), codegen


@twin(_py_least_of_sixteen)
@intrinsic
def least_of_sixteen(typingctx, numbers, i):
    """Return the least of the sixteen int32 at ``numbers[i]``, and the lanes that hold it."""
    _check(numbers)

    def codegen(context, builder, signature, values):
        row = builder.load(_row(builder, *values), align=4)
        reduce = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(_I32, [_NUMBERS]), f"llvm.vector.reduce.smin.v{SIXTEEN}i32"
        )
        least = builder.call(reduce, [row])
        equal = builder.icmp_signed("==", row, spread(builder, least, _NUMBERS))
        lanes = builder.zext(builder.bitcast(equal, ir.IntType(SIXTEEN)), _I64)
        return cgutils.pack_array(builder, [builder.sext(least, _I64), lanes])

    return types.UniTuple(types.int64, 2)(numbers, types.int64), codegen
