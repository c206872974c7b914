"""Portable intrinsics: vectors of int64 and int32, unaligned words, local memory.

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

LANES, ROW, QUAD = 8, 32, 4  # int64 that intrinsics take at a time
SIXTEEN = 16
"""Number of int32 that the intrinsics take at a time."""

_LINE = 64  # bytes
_WORD_BITS = 64
_BIT, _I8, _I32, _I64, _I128 = (ir.IntType(width) for width in (1, 8, 32, 64, 128))
_VECTOR = ir.VectorType(_I64, LANES)
_ROW = ir.VectorType(_I64, ROW)
_NUMBERS = ir.VectorType(_I32, SIXTEEN)
_GREATEST = 2**63 - 1
_ALL_BITS = 2**64 - 1
NONE = ir.Constant(cgutils.voidptr_t, None)  # None in compiled code


# -------------------------------------------------------------------------------------- lanes of int64
def _load_lanes(context: Any, builder: Any, arguments: Any, values: Any, vector_type: Any) -> Any:
    """Emit the load of the vector that starts at an element of an array."""
    data = cgutils.create_struct_proxy(arguments[0])(context, builder, value=values[0]).data
    pointer = builder.bitcast(builder.gep(data, [values[1]]), vector_type.as_pointer())
    return builder.load(pointer, align=8)


def spread(builder: Any, number: Any, vector_type: Any) -> Any:
    """Emit a vector with the number in all of its lanes."""
    undefined = ir.Constant(vector_type, ir.Undefined)
    lane_0 = builder.insert_element(undefined, number, _I32(0))
    everywhere = ir.Constant(ir.VectorType(_I32, vector_type.count), [0] * vector_type.count)
    return builder.shuffle_vector(lane_0, undefined, everywhere)


def _least(builder: Any, vector: Any) -> tuple[Any, Any]:
    """Emit the minimum of a vector, and the set of lanes that equal it."""
    n = vector.type.count
    reduce_type = ir.FunctionType(_I64, [vector.type])
    reduce = cgutils.get_or_insert_function(builder.module, reduce_type, f"llvm.vector.reduce.smin.v{n}i64")
    least = builder.call(reduce, [vector])
    equal = builder.icmp_signed("==", vector, spread(builder, least, vector.type))
    return least, builder.zext(builder.bitcast(equal, ir.IntType(n)), _I64)


def _least_among(builder: Any, vector: Any, lanes: Any) -> tuple[Any, Any]:
    """Emit the same for some lanes of a vector."""
    n = vector.type.count
    chosen = builder.bitcast(builder.trunc(lanes, ir.IntType(n)), ir.VectorType(_BIT, n))
    vector = builder.select(chosen, vector, ir.Constant(vector.type, [_GREATEST] * n))
    least, equal = _least(builder, vector)
    # A lane that was not chosen may equal the minimum where that is the greatest int64.
    return least, builder.and_(equal, lanes)


def _py_least_of_row(array: Any, start: int, lanes: int) -> tuple[int, int]:
    chosen = [lane for lane in range(ROW) if lanes >> lane & 1]
    least = min(array[start + lane] for lane in chosen)
    return least, sum(1 << lane for lane in chosen if array[start + lane] == least)


@twin(_py_least_of_row)
@intrinsic
def least_of_row(typingctx, array, start, lanes):
    """Return the least element of ``array[start : start + 32]`` among `lanes`, and the lanes that hold it.

    There is at least one lane.
    """

    def codegen(context, builder, signature, values):
        vector = _load_lanes(context, builder, signature.args, values, _ROW)
        return cgutils.pack_array(builder, _least_among(builder, vector, values[2]))

    return types.UniTuple(types.int64, 2)(array, types.int64, types.int64), codegen


def _py_lanes_with(array: Any, start: int, one: int, other: int) -> int:
    return sum(1 << lane for lane in range(QUAD) if array[start + lane] in (one, other))


@twin(_py_lanes_with)
@intrinsic
def lanes_with(typingctx, array, start, one, other):
    """Return the lanes of ``array[start : start + 4]`` that hold one of two numbers."""

    def codegen(context, builder, signature, values):
        data = cgutils.create_struct_proxy(array)(context, builder, value=values[0]).data
        quad = ir.VectorType(_I64, QUAD)
        vector = builder.load(builder.bitcast(builder.gep(data, [values[1]]), quad.as_pointer()), align=8)
        equal = [builder.icmp_signed("==", vector, spread(builder, value, quad)) for value in values[2:]]
        return builder.zext(builder.bitcast(builder.or_(*equal), ir.IntType(QUAD)), _I64)

    return types.int64(array, types.int64, types.int64, types.int64), codegen


def _py_lanes_with_top(words: Any, i: int, top: int, shift: int) -> int:
    mask = (1 << (_WORD_BITS - shift)) - 1
    return sum(1 << lane for lane in range(LANES) if int(words[i + lane]) >> shift & mask == top)


@twin(_py_lanes_with_top)
@intrinsic
def lanes_with_top(typingctx, words, i, top, shift):
    """Return the lanes of the eight words at ``words[i]`` whose bits from `shift` on are `top`.

    The words start with a cache line, and `i` is a multiple of eight.
    """
    if words != types.CPointer(types.int64):
        raise TypingError(f"words must be read from a pointer to int64, not from {words}")

    def codegen(context, builder, signature, values):
        pointer = builder.bitcast(builder.gep(values[0], [values[1]]), _VECTOR.as_pointer())
        tops = builder.lshr(builder.load(pointer, align=8), spread(builder, values[3], _VECTOR))
        equal = builder.icmp_unsigned("==", tops, spread(builder, values[2], _VECTOR))
        return builder.zext(builder.bitcast(equal, ir.IntType(LANES)), _I64)

    return types.int64(words, types.int64, types.int64, types.int64), codegen


def _py_lowest_lane(lanes: int) -> int:
    lanes = int(lanes)
    return (lanes & -lanes).bit_length() - 1 if lanes else 64


@twin(_py_lowest_lane)
@intrinsic
def lowest_lane(typingctx, lanes):
    """Return the lowest of `lanes`; 64 if there is none."""

    def codegen(context, builder, signature, values):
        return builder.cttz(values[0], _BIT(0))

    return types.int64(types.int64), codegen


def _py_highest_lane(lanes: int) -> int:
    return (int(lanes) & (1 << _WORD_BITS) - 1).bit_length() - 1


@twin(_py_highest_lane)
@intrinsic
def highest_lane(typingctx, lanes):
    """Return the highest of `lanes`; -1 if there is none."""

    def codegen(context, builder, signature, values):
        return builder.sub(_I64(_WORD_BITS - 1), builder.ctlz(values[0], _BIT(0)))

    return types.int64(types.int64), codegen


# --------------------------------------------------------------------------------------- sixteen int32
def _sixteen_at(builder: Any, numbers: Any, i: Any) -> Any:
    return builder.bitcast(builder.gep(numbers, [i]), _NUMBERS.as_pointer())


def _check_numbers(numbers: Any) -> None:
    if numbers != types.CPointer(types.int32):
        raise TypingError(f"the numbers must be at a pointer to int32, not at {numbers}")


def _py_fill_sixteen(numbers: Any, i: int, number: int) -> None:
    numbers[i : i + SIXTEEN] = number


@twin(_py_fill_sixteen)
@intrinsic
def fill_sixteen(typingctx, numbers, i, number):
    """Set the sixteen int32 at ``numbers[i]`` to a number."""
    _check_numbers(numbers)

    def codegen(context, builder, signature, values):
        row = spread(builder, builder.trunc(values[2], _I32), _NUMBERS)
        builder.store(row, _sixteen_at(builder, *values[:2]), align=4)
        return NONE

    return types.none(numbers, types.int64, types.int64), codegen


def _py_put_in_sixteen(numbers: Any, i: int, lanes: int, number: int) -> None:
    for lane in range(SIXTEEN):
        if int(lanes) >> lane & 1:
            numbers[i + lane] = number


@twin(_py_put_in_sixteen)
@intrinsic
def put_in_sixteen(typingctx, numbers, i, lanes, number):
    """Set those of the sixteen int32 at ``numbers[i]`` that are in `lanes` to a number.

    All are written at once: a read of all sixteen need not wait for a write of one.
    """
    _check_numbers(numbers)

    def codegen(context, builder, signature, values):
        pointer = _sixteen_at(builder, *values[:2])
        chosen = builder.trunc(values[2], ir.IntType(SIXTEEN))
        chosen = builder.bitcast(chosen, ir.VectorType(_BIT, SIXTEEN))
        number = spread(builder, builder.trunc(values[3], _I32), _NUMBERS)
        row = builder.select(chosen, number, builder.load(pointer, align=4))
        builder.store(row, pointer, align=4)
        return NONE

    return types.none(numbers, types.int64, types.int64, types.int64), codegen


def _py_least_of_sixteen(numbers: Any, i: int) -> tuple[int, int]:
    row = [int(number) for number in numbers[i : i + SIXTEEN]]
    return min(row), sum(1 << lane for lane in range(SIXTEEN) if row[lane] == min(row))


@twin(_py_least_of_sixteen)
@intrinsic
def least_of_sixteen(typingctx, numbers, i):
    """Return the least of the sixteen int32 at ``numbers[i]``, and the lanes that hold it."""
    _check_numbers(numbers)

    def codegen(context, builder, signature, values):
        row = builder.load(_sixteen_at(builder, *values), align=4)
        reduce = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(_I32, [_NUMBERS]), f"llvm.vector.reduce.smin.v{SIXTEEN}i32"
        )
        least = builder.call(reduce, [row])
        equal = builder.icmp_signed("==", row, spread(builder, least, _NUMBERS))
        lanes = builder.zext(builder.bitcast(equal, ir.IntType(SIXTEEN)), _I64)
        return cgutils.pack_array(builder, [builder.sext(least, _I64), lanes])

    return types.UniTuple(types.int64, 2)(numbers, types.int64), codegen


# ----------------------------------------------------------------------- words, pointers, local memory
def _chosen_where(comparison: str) -> Any:
    """Return the type and the code of the first of two int64 where the comparison holds, else the second."""

    def codegen(context, builder, signature, values):
        return builder.select(builder.icmp_signed(comparison, *values), *values)

    return types.int64(types.int64, types.int64), codegen


@twin(min)
@intrinsic
def smaller(typingctx, one, other):
    """Return the smaller of two int64; ``min`` takes 40 ms to compile."""
    return _chosen_where("<")


@twin(max)
@intrinsic
def larger(typingctx, one, other):
    """Return the larger of two int64; ``max`` takes 40 ms to compile."""
    return _chosen_where(">")


def _py_rarely(condition: bool) -> bool:
    return condition


@twin(_py_rarely)
@intrinsic
def rarely(typingctx, condition):
    """Return a condition that is seldom true: its branch is moved out of the hot path."""

    def codegen(context, builder, signature, values):
        expect = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(_BIT, [_BIT, _BIT]), "llvm.expect.i1"
        )
        return builder.call(expect, [values[0], _BIT(0)])

    return types.boolean(types.boolean), codegen


def _py_prefetch(array: Any, i: int) -> None:
    """Ask for a cache line."""


@twin(_py_prefetch)
@intrinsic
def prefetch(typingctx, array, i):
    """Ask for the cache line of ``array[i]``, which will be read soon; `i` may be any number."""

    def codegen(context, builder, signature, values):
        data = cgutils.create_struct_proxy(array)(context, builder, value=values[0]).data
        prefetch_type = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, _I32, _I32, _I32])
        instruction = cgutils.get_or_insert_function(builder.module, prefetch_type, "llvm.prefetch.p0")
        address = builder.bitcast(builder.gep(data, [values[1]]), cgutils.voidptr_t)
        builder.call(instruction, [address, _I32(0), _I32(3), _I32(1)])  # read; all caches; data
        return NONE

    return types.none(array, types.int64), codegen


def _py_pointer_to(array: Any, i: int) -> Any:
    return array[i:]


@twin(_py_pointer_to)
@intrinsic
def pointer_to(typingctx, array, i):
    """Return a pointer to ``array[i]``, to read and to write; no references are counted.

    Writable and read-only arrays give pointers of the same type.
    """
    if not (isinstance(array, types.Array) and array.layout == "C"):
        raise TypingError(f"the elements must be in a C-contiguous array, not in {array}")

    def codegen(context, builder, signature, values):
        data = cgutils.create_struct_proxy(array)(context, builder, value=values[0]).data
        return builder.gep(data, [values[1]])

    return types.CPointer(array.dtype)(array, types.int64), codegen


def _py_after(pointer: Any, n: int) -> Any:
    return pointer[n:]


@twin(_py_after)
@intrinsic
def after(typingctx, pointer, n):
    """Return a pointer to the element `n` places after the one that `pointer` points to."""
    if not isinstance(pointer, types.CPointer):
        raise TypingError(f"this must be a pointer, not {pointer}")

    def codegen(context, builder, signature, values):
        return builder.gep(values[0], [values[1]])

    return pointer(pointer, types.int64), codegen


def _py_load_word(array: Any, i: int) -> int:
    return int.from_bytes(bytes(array[i : i + 8]), "little", signed=True)


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


def _py_store_word(pointer: Any, i: int, word: int) -> None:
    pointer[i : i + 8] = np.frombuffer(np.int64(word).tobytes(), np.uint8)


@twin(_py_store_word)
@intrinsic
def store_word(typingctx, pointer, i, word):
    """Write an int64 to the 8 bytes at ``pointer[i]``, as :func:`load_word` reads it."""
    if pointer != types.CPointer(types.uint8):
        raise TypingError(f"bytes must be written to a pointer to uint8, not to {pointer}")

    def codegen(context, builder, signature, values):
        place = builder.bitcast(builder.gep(values[0], [values[1]]), _I64.as_pointer())
        builder.store(values[2], place, align=1)
        return NONE

    return types.none(pointer, types.int64, types.int64), codegen


def _py_multiply_fold(word: int, factor: int) -> np.int64:
    product = (int(word) & _ALL_BITS) * (int(factor) & _ALL_BITS)
    return np.int64(np.uint64((product & _ALL_BITS) ^ (product >> 64)))


@twin(_py_multiply_fold)
@intrinsic
def multiply_fold(typingctx, word, factor):
    """Multiply two words as unsigned numbers; return the low half of the product xor the high half."""

    def codegen(context, builder, signature, values):
        product = builder.mul(*(builder.zext(value, _I128) for value in values))
        high = builder.trunc(builder.lshr(product, _I128(64)), _I64)
        return builder.xor(builder.trunc(product, _I64), high)

    return types.int64(types.int64, types.int64), codegen


def _local(n: Any, element: Any, width: Any, alignment: int | None = None) -> Any:
    if not isinstance(n, types.IntegerLiteral):
        raise TypingError("the number of elements must be a constant")

    def codegen(context, builder, signature, values):
        with builder.goto_entry_block():  # `alloca_once` would write zeros, which takes as long as the work
            memory = builder.alloca(ir.ArrayType(width, n.literal_value))
            memory.align = alignment
        return builder.bitcast(memory, width.as_pointer())

    return types.CPointer(element)(n), codegen


def _py_local_bytes(n: int) -> Any:
    return np.empty(n, np.uint8)


@twin(_py_local_bytes)
@intrinsic(prefer_literal=True)
def local_bytes(typingctx, n):
    """Return a pointer to `n` bytes, not initialized, which exist until the kernel returns.

    The number `n` is a constant.
    """
    return _local(n, types.uint8, _I8)


def _py_local_words(n: int) -> Any:
    return np.empty(n, np.int64)


@twin(_py_local_words)
@intrinsic(prefer_literal=True)
def local_words(typingctx, n):
    """Return a pointer to `n` int64, not initialized, which exist until the kernel returns.

    The number `n` is a constant.
    """
    return _local(n, types.int64, _I64)


def _py_local_numbers(n: int) -> Any:
    return np.empty(n, np.int32)


@twin(_py_local_numbers)
@intrinsic(prefer_literal=True)
def local_numbers(typingctx, n):
    """Return a pointer to `n` int32, not initialized, which exist until the kernel returns.

    The number `n` is a constant. They are aligned to a cache line.
    """
    return _local(n, types.int32, _I32, _LINE)
