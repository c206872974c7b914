"""Priorities, int64, int32, float64 or float32, as int64 numbers in the same order.

An integer stays as it is. The bits of a float64 are in its order already if the sign is plus; if it is minus,
all bits but the sign are flipped. Negative zero becomes zero. A float32 is converted
to float64. Callers refuse not-a-number first.

Each function looks at the type of its argument, at compile time, and has a twin in Python.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from structures import status
from structures.compiling.jit import inner, twin
from structures.status import INT64_MAX, INT64_MIN

_I64, _I32, _F64, _F32 = ir.IntType(64), ir.IntType(32), ir.DoubleType(), ir.FloatType()


def _py_as_count(value: Any, zero: Any) -> Any:
    if isinstance(zero, np.float32):
        return np.float32(value)
    if isinstance(zero, np.int32):
        return np.int32(value)
    return float(value) if isinstance(zero, (float, np.floating)) else int(value)


def _py_to_order(priority: Any) -> Any:
    if not isinstance(priority, (float, np.floating)):
        return priority
    bits = int(np.float64(priority + 0.0).view(np.int64))
    return bits ^ ((bits >> 63) & INT64_MAX)


def _py_from_order(order: int, zero: Any) -> Any:
    if not isinstance(zero, (float, np.floating)):
        return _py_as_count(order, zero)
    number = float(np.int64(order ^ ((order >> 63) & INT64_MAX)).view(np.float64))
    return _py_as_count(number, zero)


def _py_is_past_int32(priority: Any, zero: Any) -> bool:
    return isinstance(zero, np.int32) and not -(2**31) <= priority < 2**31


def _py_sum_leaves_range(value: Any, delta: Any) -> bool:
    if isinstance(value, (float, np.floating)):
        return float(value) + float(delta) != float(value) + float(delta)
    return not INT64_MIN <= int(value) + int(delta) <= INT64_MAX


def _py_difference_leaves_range(value: Any, delta: Any) -> bool:
    if isinstance(value, (float, np.floating)):
        return float(value) - float(delta) != float(value) - float(delta)
    return not INT64_MIN <= int(value) - int(delta) <= INT64_MAX


def _flip_negative(builder: Any, bits: Any) -> Any:
    """Emit ``bits ^ ((bits >> 63) & INT64_MAX)``, its own inverse."""
    return builder.xor(bits, builder.and_(builder.ashr(bits, _I64(63)), _I64(INT64_MAX)))


@twin(_py_as_count)
@intrinsic
def as_count(typingctx, value, zero):
    """Return `value` in the type of `zero`."""
    wide = types.float64 if isinstance(value, types.Float) else types.int64

    def codegen(context, builder, signature, values):
        if signature.return_type == wide:
            return values[0]
        if isinstance(signature.return_type, types.Integer):
            is_float, returned = wide == types.float64, _I32 if signature.return_type == types.int32 else _I64
            return (builder.fptosi if is_float else builder.trunc)(values[0], returned)
        if wide == types.float64:
            return builder.fptrunc(values[0], _F32)
        return builder.sitofp(values[0], _F32 if signature.return_type == types.float32 else _F64)

    return types.unliteral(zero)(wide, zero), codegen


@twin(_py_to_order)
@intrinsic
def to_order(typingctx, priority):
    """Return the int64 of a priority: these are in the same order as the priorities."""

    def codegen(context, builder, signature, values):
        if isinstance(signature.args[0], types.Integer):
            return values[0]
        positive_zero = builder.fadd(values[0], _F64(0.0))
        return _flip_negative(builder, builder.bitcast(positive_zero, _I64))

    wide = types.int64 if isinstance(priority, types.Integer) else types.float64
    return types.int64(wide), codegen


@twin(_py_from_order)
@intrinsic
def from_order(typingctx, order, zero):
    """Return the priority, in the type of `zero`, that ``to_order`` turned into `order`."""

    def codegen(context, builder, signature, values):
        if isinstance(signature.return_type, types.Integer):
            return builder.trunc(values[0], _I32) if signature.return_type == types.int32 else values[0]
        number = builder.bitcast(_flip_negative(builder, values[0]), _F64)
        is_short = signature.return_type == types.float32
        return builder.fptrunc(number, _F32) if is_short else number

    return types.unliteral(zero)(types.int64, zero), codegen


@twin(_py_is_past_int32)
@intrinsic
def is_past_int32(typingctx, priority, zero):
    """Return whether a priority does not fit the type of `zero`, because that is int32."""

    def codegen(context, builder, signature, values):
        if types.unliteral(zero) != types.int32:
            return ir.Constant(ir.IntType(1), 0)
        narrow = builder.sext(builder.trunc(values[0], _I32), _I64)
        return builder.icmp_signed("!=", narrow, values[0])

    wide = types.int64 if isinstance(priority, types.Integer) else types.float64
    return types.boolean(wide, zero), codegen


def _leaves_range(value: Any, add: str, add_floats: str) -> Any:
    """Return the type and the code of a test whether a sum or difference is outside int64, or NaN."""

    def codegen(context, builder, signature, values):
        if isinstance(signature.args[0], types.Integer):
            return builder.extract_value(getattr(builder, add)(*values), 1)
        result = getattr(builder, add_floats)(*values)
        return builder.fcmp_unordered("uno", result, result)

    wide = types.int64 if isinstance(value, types.Integer) else types.float64
    return types.boolean(wide, wide), codegen


@twin(_py_sum_leaves_range)
@intrinsic
def sum_leaves_range(typingctx, value, delta):
    """Return whether ``value + delta`` is outside int64, or NaN for floats."""
    return _leaves_range(value, "sadd_with_overflow", "fadd")


@twin(_py_difference_leaves_range)
@intrinsic
def difference_leaves_range(typingctx, value, delta):
    """Return whether ``value - delta`` is outside int64, or NaN for floats."""
    return _leaves_range(value, "ssub_with_overflow", "fsub")


@inner
def refusal(count, leaves_range, zero):
    """Return the status of a sum that is not allowed as a count or priority, else 0."""
    if leaves_range:
        return status.OVERFLOW if count == count else status.NOT_A_NUMBER
    return status.NEGATIVE if count < zero else status.OK
