"""Memory of containers: arrays are aligned to cache lines, and large ones ask for huge pages.

A row of eight words in one cache line takes one access; a row across two lines takes two.

The first access to a page causes a page fault. With more than some thousand pages, a random access has to
look up the address in the page table. Pages of 2 MB cause 512 times fewer faults and look-ups. numpy asks for
them when it allocates; numba's own allocator does not.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from structures.compiling.jit import inner, kernel, twin
from structures.primitives.simd import NONE

MOST_ITEMS = 1 << 48
"""A container has fewer entries: no memory is as large, and counts of bytes below do not overflow."""

_LINE = 64
_TOO_MUCH = 1 << 62  # bytes, which no allocation gives
_LARGE = 1 << 22  # bytes; numpy asks from there on
_PAGE = 4096
_MADV_HUGEPAGE = 14


def _py_ask_for_huge_pages(array: Any) -> None:
    """Ask the operating system for huge pages for this array; it may refuse."""


@twin(_py_ask_for_huge_pages)
@intrinsic
def ask_for_huge_pages(typingctx, array):
    """Ask for huge pages for an array, on Linux."""

    def codegen(context, builder, signature, values):
        if sys.platform == "linux":
            word, pointer = ir.IntType(64), cgutils.voidptr_t
            struct = cgutils.create_struct_proxy(array)(context, builder, value=values[0])
            address = builder.ptrtoint(struct.data, word)
            start = builder.and_(builder.add(address, word(_PAGE - 1)), word(-_PAGE))
            end = builder.add(address, builder.mul(struct.nitems, struct.itemsize))
            madvise_type = ir.FunctionType(ir.IntType(32), [pointer, word, ir.IntType(32)])
            madvise = cgutils.get_or_insert_function(builder.module, madvise_type, "madvise")
            arguments = [
                builder.inttoptr(start, pointer),
                builder.sub(end, start),
                ir.IntType(32)(_MADV_HUGEPAGE),
            ]
            builder.call(madvise, arguments)
        return NONE

    return types.none(array), codegen


def _py_aligned_words(n: int) -> Any:
    """Compiled code aligns it, for speed only."""
    return np.empty(n, np.int64)


def _py_aligned_bytes(n: int) -> Any:
    return np.empty(n, np.uint8)


def _py_aligned_elements(n: int, like: Any) -> Any:
    return np.empty(n, np.asarray(like).dtype)


def _allocation(dtype: Any, *others: Any) -> Any:
    """Return the type and the code of an allocation; ``np.empty`` takes 0.1 s to compile."""
    array_type = types.Array(dtype, 1, "C")

    def codegen(context, builder, signature, values):
        width = ir.IntType(64)(dtype.bitwidth // 8)
        fits = builder.icmp_unsigned("<", values[0], ir.IntType(64)(MOST_ITEMS))
        size = builder.select(fits, builder.mul(values[0], width), ir.IntType(64)(_TOO_MUCH))
        meminfo = context.nrt.meminfo_alloc_aligned(builder, size, ir.IntType(32)(_LINE))
        array = cgutils.create_struct_proxy(array_type)(context, builder)
        pointer = context.get_data_type(dtype).as_pointer()
        data = builder.bitcast(context.nrt.meminfo_data(builder, meminfo), pointer)
        array.data, array.nitems, array.itemsize = data, values[0], width
        array.shape = cgutils.pack_array(builder, values[:1])
        array.strides = cgutils.pack_array(builder, [width])
        array.meminfo, array.parent = meminfo, cgutils.get_null_value(array.parent.type)
        return array._getvalue()

    return array_type(types.int64, *others), codegen


@twin(_py_aligned_words)
@intrinsic
def aligned_words(typingctx, n):
    """Return an array of `n` int64 that is aligned to a cache line, not initialized."""
    return _allocation(types.int64)


@twin(_py_aligned_bytes)
@intrinsic
def aligned_bytes(typingctx, n):
    """Return an array of `n` uint8 that is aligned to a cache line, not initialized."""
    return _allocation(types.uint8)


@twin(_py_aligned_elements)
@intrinsic
def aligned_elements(typingctx, n, like):
    """Return an aligned array of `n` numbers of the type of `like`, not initialized."""
    return _allocation(types.unliteral(like), like)


def _py_copy_words(source: Any, start: int, target: Any, target_start: int, n: int) -> None:
    target[target_start : target_start + n] = source[start : start + n].copy()


@twin(_py_copy_words)
@intrinsic
def copy_words(typingctx, source, start, target, target_start, n):
    """Copy `n` words of an array to a place in another, or in the same; the two places may overlap."""

    def codegen(context, builder, signature, values):
        def place(array, index):
            struct = cgutils.create_struct_proxy(source)(context, builder, value=array)
            return builder.bitcast(builder.gep(struct.data, [index]), pointer)

        word, pointer, bit = ir.IntType(64), cgutils.voidptr_t, ir.IntType(1)
        memmove_type = ir.FunctionType(ir.VoidType(), [pointer, pointer, word, bit])
        memmove = cgutils.get_or_insert_function(builder.module, memmove_type, "llvm.memmove.p0.p0.i64")
        n_bytes = builder.mul(values[4], word(8))
        builder.call(memmove, [place(*values[2:4]), place(*values[:2]), n_bytes, bit(0)])
        return NONE

    return types.none(source, types.int64, source, types.int64, types.int64), codegen


@kernel
def new_words(n):
    """Return an array of `n` int64, not initialized."""
    words = aligned_words(n)
    if 8 * n >= _LARGE:
        ask_for_huge_pages(words)
    return words


@kernel
def new_elements(n, like):
    """Return an array of `n` numbers of the type of `like`, not initialized."""
    array = aligned_elements(n, like)
    if n * array.itemsize >= _LARGE:
        ask_for_huge_pages(array)
    return array


@kernel
def new_filled(n, value):
    """Return an array of `n` numbers, all of them `value`, of its type."""
    array = new_elements(n, value)
    for i in range(n):
        array[i] = value
    return array


@inner
def copy_prefix(source, n, target):
    """Copy the first `n` elements; slice assignment takes more than a second to compile."""
    for i in range(n):
        target[i] = source[i]


@inner
def are_equal(array, other):
    """Return whether two arrays have the same elements."""
    n = 0
    while n < array.size and n < other.size and array[n] == other[n]:
        n += 1
    return n == array.size == other.size
