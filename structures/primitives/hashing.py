"""Mixing and packing of 64-bit keys, and the secret that hashes depend on.

A pair of ids ``(left, right)`` is one int64 key, ``(left << 32) + right``, so that keys sort as pairs do. It
is a bijection between pairs of int32 and int64.

A key is multiplied by a secret factor to 128 bits. The halves of the product are folded, and multiplied by
another secret factor. The home is given by the top bits. One multiplication is not enough: the homes of a
progression would be a progression, which for some factors has many keys in few places.

Two words are hashed as in UMAC, NH: the halves of each word, plus the secret, are multiplied, and the
products added. Two different pairs have equal sums with a probability of at most ``2**-32``.

The secret is three random words. Who knows the hash of a table can choose keys that share one home, and every
search walks past all of them. Nobody can do so without the secret. It is drawn when the package is imported,
and a forked process keeps it: its tables are laid out by it. A table holds a copy of the secret in the last
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

# ---------------------------------------------------------------------------------------------- the secret
SECRET_WORDS = 3
FACTOR_BITS = 1 - 2**63  # factors are odd: different words have different products; and large
_NAME = "structures_secret_of_the_process"

WORDS = np.frombuffer(os.urandom(8 * SECRET_WORDS), np.int64).copy()
"""The secret, for the tests; whoever changes it breaks every table."""
WORDS |= FACTOR_BITS
WORDS.flags.writeable = False
llvmlite.binding.add_symbol(_NAME, WORDS.ctypes.data)


def _py_secret_word(i: int) -> np.int64:
    return WORDS[i]


@twin(_py_secret_word)
@intrinsic
def secret_word(typingctx, i):
    """Return word `i` of the secret, an int64."""

    def codegen(context, builder, signature, values):
        words_type = ir.ArrayType(ir.IntType(64), SECRET_WORDS)
        words = builder.module.globals.get(_NAME) or ir.GlobalVariable(builder.module, words_type, _NAME)
        return builder.load(builder.gep(words, [ir.IntType(64)(0), values[0]]))

    return types.int64(types.int64), codegen


@inner
def put_secret(slots):
    """Write the secret to the last words of the array of a table."""
    for i in range(SECRET_WORDS):
        slots[slots.size - SECRET_WORDS + i] = secret_word(i)


# ---------------------------------------------------------------------------------------- hashes and pairs
_HALF = np.uint64(32)
_LOW_HALF = np.uint64(0xFFFFFFFF)
_LOW, _SIGN = np.int64(0xFFFFFFFF), np.int64(2**31)
MAX_ID = 2**31 - 1


@inner
def secret_of(slots):
    """Return a pointer to the secret that a table holds in the last words of its array."""
    return pointer_to(slots, slots.size - SECRET_WORDS)


@inner
def product_of_halves(word, secret_word):
    """Add the secret to the halves of a word, and multiply them: all 64 bits depend on both."""
    word, added = np.uint64(np.int64(word)), np.uint64(np.int64(secret_word))
    low = ((word & _LOW_HALF) + (added & _LOW_HALF)) & _LOW_HALF
    high = ((word >> _HALF) + (added >> _HALF)) & _LOW_HALF
    return low * high


@inner
def hash_of(key, secret):
    """Hash an int64 key to 64 bits; `secret` points to three words."""
    return np.int64(np.uint64(multiply_fold(key, secret[0])) * np.uint64(np.int64(secret[2])))


@inner
def mix(key, secret, shift):
    """Hash an int64 key to its home in a table of ``2**(64 - shift)`` places.

    `secret` points to three words. Without the secret, nobody can choose keys that share a home more often
    than chance has it, in progressions or otherwise.
    """
    return np.int64(np.uint64(hash_of(key, secret)) >> np.uint64(shift))


@inner
def mix_words(word_0, word_1, secret_0, secret_1, factor, shift):
    """Hash two words to their home with the words of the secret; a loop of these becomes vector code."""
    hashed = product_of_halves(word_0, secret_0) + product_of_halves(word_1, secret_1)
    hashed = (hashed ^ (hashed >> _HALF)) * np.uint64(np.int64(factor))
    return np.int64(hashed >> np.uint64(shift))


@inner
def mix_two(word_0, word_1, secret, shift):
    """Hash two words to their home; `secret` points to three words."""
    return mix_words(word_0, word_1, secret[0], secret[1], secret[2], shift)


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
