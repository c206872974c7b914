"""Intrinsics on words: the high half of a product, float64 values as words.

Each has a twin in Python, so that kernels run with the JIT switched off.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from structures.compiling.jit import twin

_I64, _I128 = ir.IntType(64), ir.IntType(128)
_ALL_BITS = 2**64 - 1


def _py_multiply_high(word: int, factor: int) -> int:
    return (int(word) & _ALL_BITS) * (int(factor) & _ALL_BITS) >> 64


def _py_word_of(number: Any) -> Any:
    return np.float64(number).view(np.int64) if isinstance(number, (float, np.floating)) else number


def _py_number_in(word: Any, zero: Any) -> Any:
    return float(np.int64(word).view(np.float64)) if isinstance(zero, (float, np.floating)) else word


@twin(_py_multiply_high)
@intrinsic
def multiply_high(typingctx, word, factor):
    """Multiply two words as unsigned numbers; return the high half of the product."""

    def codegen(context, builder, signature, values):
        product = builder.mul(*(builder.zext(value, _I128) for value in values))
        return builder.trunc(builder.lshr(product, _I128(64)), _I64)

    return types.int64(types.int64, types.int64), codegen


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
