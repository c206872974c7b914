"""Portable intrinsics: 64 lanes of bytes at a time, on any processor.

Each has a twin in Python, so that kernels run with the JIT switched off. A set of lanes is an int64:
bit ``i`` says that lane ``i`` is in the set.
"""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

from structures.compiling.jit import twin
from structures.primitives.constants import Constant, ConstantType
from structures.primitives.simd import NONE, spread

BYTE_LANES = 64
"""Number of bytes that the intrinsics take at a time."""

_I64 = ir.IntType(64)
_BYTES = ir.VectorType(ir.IntType(8), BYTE_LANES)
_ALL_BITS = 2**64 - 1
_NOTHING = ir.Constant(_BYTES, [0] * BYTE_LANES)


def _py_byte_lanes_with(pointer: Any, i: int, bits: int) -> np.int64:
    lanes = sum(1 << lane for lane in range(BYTE_LANES) if int(pointer[i + lane]) & int(bits) & 0xFF)
    return np.int64(np.uint64(lanes))


def _py_byte_lanes_in_products(pointer: Any, i: int, products: Any, places: int) -> np.int64:
    if isinstance(products, Constant):
        rows = products.value
    else:
        sets, first, after = products
        rows = [sets[places * product : places * (product + 1)] for product in range(first, after)]
    lanes = 0
    for row in rows:
        in_all = _ALL_BITS
        for k, members in enumerate(row):
            if members is not None:
                in_all &= int(_py_byte_lanes_with(pointer, i + k, members))
        lanes |= in_all
    return np.int64(np.uint64(lanes))


def _py_translate_byte_lanes(source: Any, i: int, ranges: Any, target: Any, j: int) -> None:
    if isinstance(ranges, Constant):
        pairs = ranges.value
    else:
        starts, changes, n = ranges
        pairs = [(int(starts[k]) & 0xFF, int(changes[k]) & 0xFF) for k in range(n)]
    for lane in range(BYTE_LANES):
        reached = [change for start, change in pairs if start <= source[i + lane] < 128]
        target[j + lane] = functools.reduce(operator.xor, reached, 0)


def _py_count_lanes(lanes: int) -> int:
    return (int(lanes) & _ALL_BITS).bit_count()


def _splat(builder: Any, quad: Any) -> Any:
    """Emit a vector that repeats the four bytes of `quad`, an int32."""
    quads = ir.VectorType(ir.IntType(32), BYTE_LANES // 4)
    return builder.bitcast(spread(builder, quad, quads), _BYTES)


def _splat_at(builder: Any, quads: Any, i: Any) -> Any:
    return _splat(builder, builder.load(builder.gep(quads, [i])))


def _bytes_at(builder: Any, pointer: Any, i: Any) -> Any:
    return builder.bitcast(builder.gep(pointer, [i]), _BYTES.as_pointer())


def _check_pointers(element: Any, *pointers: Any) -> None:
    if any(pointer != types.CPointer(element) for pointer in pointers):
        raise TypingError(f"pointers must be to {element}, not {pointers}")


@twin(_py_byte_lanes_with)
@intrinsic
def byte_lanes_with(typingctx, pointer, i, bits):
    """Return the lanes of the 64 bytes at ``pointer[i]`` that have any of `bits` set."""
    _check_pointers(types.uint8, pointer)

    def codegen(context, builder, signature, values):
        vector = builder.load(_bytes_at(builder, values[0], values[1]), align=1)
        quad = builder.mul(builder.trunc(values[2], ir.IntType(32)), ir.IntType(32)(0x01010101))
        common = builder.and_(vector, _splat(builder, quad))
        nonzero = builder.icmp_unsigned("!=", common, _NOTHING)
        return builder.bitcast(nonzero, _I64)

    return types.int64(pointer, types.int64, types.int64), codegen


def _all_lanes(bit: int) -> Any:
    return ir.Constant(ir.VectorType(ir.IntType(1), BYTE_LANES), [bit] * BYTE_LANES)


def _in_constant_products(builder: Any, rows: list[Any], products: Any) -> Any:
    """Emit the lanes in some product; equal conditions are shared, conditions that always hold left out."""
    condition_of: dict[tuple[int, int], Any] = {}
    result = _all_lanes(0)
    for product in products:
        in_all = _all_lanes(1)
        for k, members in enumerate(product):
            if members is None:
                continue
            if (k, members) not in condition_of:
                common = builder.and_(rows[k], ir.Constant(_BYTES, [members] * BYTE_LANES))
                condition_of[k, members] = builder.icmp_unsigned("!=", common, _NOTHING)
            in_all = builder.and_(in_all, condition_of[k, members])
        result = builder.or_(result, in_all)
    return result


def _in_listed_products(builder: Any, rows: list[Any], products: Any) -> Any:
    sets, first, after = (builder.extract_value(products, part) for part in range(3))
    result = cgutils.alloca_once_value(builder, _all_lanes(0))
    with cgutils.for_range(builder, builder.sub(after, first)) as loop:
        at = builder.mul(builder.add(first, loop.index), _I64(len(rows)))
        in_all = _all_lanes(1)
        for k, row in enumerate(rows):
            members = _splat_at(builder, sets, builder.add(at, _I64(k)))
            common = builder.icmp_unsigned("!=", builder.and_(row, members), _NOTHING)
            in_all = builder.and_(in_all, common)
        builder.store(builder.or_(builder.load(result), in_all), result)
    return builder.load(result)


@twin(_py_byte_lanes_in_products)
@intrinsic(prefer_literal=True)
def byte_lanes_in_products(typingctx, pointer, i, products, places):
    """Return the lanes of the 64 bytes at ``pointer[i]`` where a row of bytes is in some product.

    A row has `places` bytes, a constant number. A product has a set of bits for each of them. The row is in
    it if each byte has a bit of its set. Products are either a ``Constant``, a tuple of tuples of sets, where
    None stands for any byte; or ``(sets, first, after)``, those from `first` to `after`, where a set is an
    int32 at a pointer, the byte repeated four times: processors spread four bytes faster than one.
    """
    _check_pointers(types.uint8, pointer)
    if not isinstance(places, types.IntegerLiteral):
        raise TypingError("the number of places must be a constant")

    def codegen(context, builder, signature, values):
        rows = [
            builder.load(_bytes_at(builder, values[0], builder.add(values[1], _I64(k))), align=1)
            for k in range(places.literal_value)
        ]
        if isinstance(products, ConstantType):
            lanes = _in_constant_products(builder, rows, products.value)
        else:
            lanes = _in_listed_products(builder, rows, values[2])
        return builder.bitcast(lanes, _I64)

    return types.int64(pointer, types.int64, products, places), codegen


def can_permute(context: Any) -> bool:
    """Return whether the target processor looks up each of 64 bytes in 128 in one instruction."""
    _, _, features = context.codegen().magic_tuple()
    return "+avx512vbmi" in features.split(",")


def _permuted(builder: Any, vector: Any, pairs: Any) -> Any:
    """Emit a translation as a lookup in a table of 128 bytes."""
    table = [functools.reduce(operator.xor, (c for s, c in pairs if s <= byte), 0) for byte in range(128)]
    low, high = (ir.Constant(_BYTES, table[i : i + BYTE_LANES]) for i in (0, BYTE_LANES))
    permute = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(_BYTES, [_BYTES] * 3), "llvm.x86.avx512.vpermi2var.qi.512"
    )
    is_ascii = builder.icmp_signed(">=", vector, _NOTHING)
    return builder.select(is_ascii, builder.call(permute, [low, vector, high]), _NOTHING)


def _changed(builder: Any, vector: Any, translated: Any, start: Any, change: Any) -> Any:
    """Emit the change of all bytes from `start` on."""
    reached = builder.icmp_signed(">=", vector, start)  # cheaper than unsigned
    return builder.xor(translated, builder.select(reached, change, _NOTHING))


@twin(_py_translate_byte_lanes)
@intrinsic
def translate_byte_lanes(typingctx, source, i, ranges, target, j):
    """Translate the 64 bytes at ``source[i]`` by ranges of ASCII, and write them to ``target[j]``.

    A byte becomes the exclusive or of all changes whose start is at most the byte; 0 if it is not ASCII.
    Ranges are a ``Constant``, pairs of a start and a change; or ``(starts, changes, n)`` with pointers to
    int32, each the byte repeated four times. Starts are below 128.
    """
    _check_pointers(types.uint8, source, target)

    def codegen(context, builder, signature, values):
        vector = builder.load(_bytes_at(builder, values[0], values[1]), align=1)
        if isinstance(ranges, ConstantType) and can_permute(context):
            translated = _permuted(builder, vector, ranges.value)
        elif isinstance(ranges, ConstantType):
            translated = _NOTHING
            for pair in ranges.value:
                bytes_of_pair = (ir.Constant(_BYTES, [byte] * BYTE_LANES) for byte in pair)
                translated = _changed(builder, vector, translated, *bytes_of_pair)
        else:
            starts, changes, n = (builder.extract_value(values[2], part) for part in range(3))
            result = cgutils.alloca_once_value(builder, _NOTHING)
            with cgutils.for_range(builder, n) as loop:
                quads = (_splat_at(builder, each, loop.index) for each in (starts, changes))
                builder.store(_changed(builder, vector, builder.load(result), *quads), result)
            translated = builder.load(result)
        builder.store(translated, _bytes_at(builder, values[3], values[4]), align=1)
        return NONE

    return types.none(source, types.int64, ranges, target, types.int64), codegen


@twin(_py_count_lanes)
@intrinsic
def count_lanes(typingctx, lanes):
    """Return the number of lanes in a set."""

    def codegen(context, builder, signature, values):
        return builder.ctpop(values[0])

    return types.int64(types.int64), codegen
