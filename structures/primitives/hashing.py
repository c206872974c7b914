"""Hashing of 64-bit keys with a random seed, and packing of two ids into one key.

A pair of ids ``(left, right)`` is one int64 key, ``(left << 32) + right``, so that keys sort as pairs do. It
is a bijection between pairs of int32 and int64.

A key is multiplied by a random factor to 128 bits. The halves of the product are folded, and multiplied by
another random factor. The top bits give the slot. One multiplication is not enough: the slots of keys in a
progression would be a progression, which for some factors puts many keys into few slots.

Two words are hashed as in UMAC, NH: the halves of each word, plus the seed, are multiplied, and the products
added. Two different pairs have equal sums with a probability of at most ``2**-32``.

The seed is three random words. Whoever knows the hash of a table can choose keys that share one slot, so that
every search passes all of them. Without the seed nobody can. It is drawn when the package is imported, and a
forked process keeps it, because its tables are laid out by it. A table holds a copy of the seed in the last
words of its array. A new table takes it from an address that compiled code finds by name. A global variable
would not do: numba writes its value into the code on disk.

In numba, unsigned arithmetic silently becomes signed if one operand is signed: every constant is cast.

Source: NH, Black, Halevi, Krawczyk, Krovetz and Rogaway, UMAC, 1999; the last step of both, Dietzfelbinger,
Hagerup, Katajainen and Penttonen, A Reliable Randomized Algorithm for the Closest-Pair Problem, 1997; the
folded product, wyhash (Wang Yi).
"""

from __future__ import annotations

import os

import llvmlite.binding
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from structures.compiling.jit import inner, twin
from structures.primitives.simd import multiply_fold, pointer_to
from structures.status import INT64_MIN, int64

# ---------------------------------------------------------------------------------------------- the seed
SEED_WORDS = 3
FACTOR_BITS = 1 - 2**63  # factors are odd, so that different words have different products, and large
_NAME = "structures_seed_of_the_process"

SEED = np.frombuffer(os.urandom(8 * SEED_WORDS), np.int64).copy()
"""The seed, for the tests; a change breaks every table."""
SEED |= FACTOR_BITS
SEED.flags.writeable = False
llvmlite.binding.add_symbol(_NAME, SEED.ctypes.data)


def _py_seed_word(i: int) -> np.int64:
    return SEED[i]


@twin(_py_seed_word)
@intrinsic
def seed_word(typingctx, i):
    """Return word `i` of the seed, an int64."""

    def codegen(context, builder, signature, values):
        words_type = ir.ArrayType(ir.IntType(64), SEED_WORDS)
        words = builder.module.globals.get(_NAME) or ir.GlobalVariable(builder.module, words_type, _NAME)
        return builder.load(builder.gep(words, [ir.IntType(64)(0), values[0]]))

    return types.int64(types.int64), codegen


@inner
def put_seed(slots):
    """Write the seed to the last words of the array of a table."""
    for i in range(SEED_WORDS):
        slots[slots.size - SEED_WORDS + i] = seed_word(i)


# ---------------------------------------------------------------------------------------- hashes and pairs
_HALF = np.uint64(32)
_LOW_HALF = np.uint64(0xFFFFFFFF)
_LOW, _SIGN = np.int64(0xFFFFFFFF), np.int64(2**31)
MAX_ID = 2**31 - 1


@inner
def seed_of(slots):
    """Return a pointer to the seed that a table holds in the last words of its array."""
    return pointer_to(slots, slots.size - SEED_WORDS)


@inner
def product_of_halves(word, seed_word):
    """Add the seed to the halves of a word, and multiply them: all 64 bits depend on both."""
    word, added = np.uint64(np.int64(word)), np.uint64(np.int64(seed_word))
    low = ((word & _LOW_HALF) + (added & _LOW_HALF)) & _LOW_HALF
    high = ((word >> _HALF) + (added >> _HALF)) & _LOW_HALF
    return low * high


@inner
def hash_of(key, seed):
    """Hash an int64 key to 64 bits; `seed` points to three words."""
    return np.int64(np.uint64(multiply_fold(key, seed[0])) * np.uint64(np.int64(seed[2])))


@inner
def mix(key, seed, shift):
    """Hash an int64 key to a slot of a table of ``2**(64 - shift)`` slots; `seed` points to three words.

    Whoever does not know the seed cannot choose keys that share slots more often than random ones.
    """
    return np.int64(np.uint64(hash_of(key, seed)) >> np.uint64(shift))


@inner
def mix_words(word_0, word_1, seed_0, seed_1, factor, shift):
    """Hash two words to a slot, given the words of the seed; a loop of these becomes vector code."""
    hashed = product_of_halves(word_0, seed_0) + product_of_halves(word_1, seed_1)
    hashed = (hashed ^ (hashed >> _HALF)) * np.uint64(np.int64(factor))
    return np.int64(hashed >> np.uint64(shift))


@inner
def mix_two(word_0, word_1, seed, shift):
    """Hash two words to a slot; `seed` points to three words."""
    return mix_words(word_0, word_1, seed[0], seed[1], seed[2], shift)


@inner
def _pack(left, right):
    return (left << np.int64(32)) + right


@inner
def _unpack(key):
    right = ((key + _SIGN) & _LOW) - _SIGN
    return (key - right) >> np.int64(32), right


def pack_pair(left: int, right: int) -> int:
    """Pack two ids into one int64 key; keys sort as the pairs do.

    Parameters
    ----------
    left, right : int
        Ids that fit int32.

    Returns
    -------
    int
        ``(left << 32) + right``, not negative if no id is. It leaves int64, and wraps around, for a `left` of
        ``-2**31`` and a negative `right`: these keys alone do not sort as the pairs do.

    Raises
    ------
    ValueError
        An id does not fit int32. Inside ``@njit`` nothing is checked.

    Complexity
    ----------
    O(1); usable inside ``@njit``.

    Examples
    --------
    >>> unpack_pair(pack_pair(7, 9)), unpack_pair(pack_pair(3, -1))
    ((7, 9), (3, -1))
    """
    left, right = int64(left, "left"), int64(right, "right")
    if not (-_SIGN <= left < _SIGN and -_SIGN <= right < _SIGN):
        raise ValueError(f"pair ids must be in [-2**31, 2**31), not ({left}, {right})")
    key = (left << 32) + right
    return key if key >= INT64_MIN else key + 2**64


def unpack_pair(key: int) -> tuple[int, int]:
    """Split a key made by :func:`pack_pair` into its two ids.

    Parameters
    ----------
    key : int
        Any int64 is a packed pair.

    Returns
    -------
    (left, right) : tuple of int

    Complexity
    ----------
    O(1); usable inside ``@njit``.

    Examples
    --------
    >>> unpack_pair(4294967298)
    (1, 2)
    """
    key = int64(key)
    right = ((key + 2**31) & 0xFFFFFFFF) - 2**31
    left = (key - right) >> 32
    return left if left <= MAX_ID else -(2**31), right


@overload(pack_pair)
def _pack_typed(left, right):
    return lambda left, right: _pack(left, right)


@overload(unpack_pair)
def _unpack_typed(key):
    return lambda key: _unpack(key)
