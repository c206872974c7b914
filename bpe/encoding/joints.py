"""Joints: the pairs of tokens where merges of tokens may join something, as a set of bits.

What merges are made of at the beginning are *first tokens*. Merge (left, right) joins the last first token of
`left` to the first one of `right`: only where such a pair stands can anything be joined. Each of these pairs,
the *joints*, has a bit::

    bits       ... 0 0 1 0 0 0 0 1 0 ...      one of 32 is set at most
    bit of     the top bits of the product of the pair and two secret numbers

Another pair may have the same bit by chance. Then a place is not cut where it could be, and nothing is wrong.
A hash of the pair by itself would be less work. But whoever writes a text could choose such pairs.
"""

from __future__ import annotations

import secrets
from typing import NamedTuple

import numpy as np

from structures.kernels import inner, multiply_fold, quiet

_BITS_A_JOINT = 32
_FEWEST_BITS = 10


class Joints(NamedTuple):
    """Where tokens can be joined, as kernels read it."""

    words: np.ndarray
    shift: int
    secret: tuple[int, int]
    is_part: np.ndarray

    @classmethod
    def of(cls, pairs: np.ndarray, made: np.ndarray, n_ids: int, *, is_loose: bool) -> Joints:
        """Return the joints of merges."""
        is_part = np.zeros(n_ids if is_loose else 0, bool)
        if is_loose:
            is_part[pairs] = True
        n_bits = _FEWEST_BITS if is_loose else max(_FEWEST_BITS, (_BITS_A_JOINT * len(made)).bit_length())
        secret = secrets.randbits(63), secrets.randbits(63) | 1
        joints = cls(np.zeros(1 << n_bits - 6, np.int64), 64 - n_bits, secret, is_part)
        if not is_loose:
            set_bits(pairs, made, np.stack([np.arange(n_ids)] * 2), joints)
        return joints


@inner
def bit_of(joints, left, right):
    """Return which bit a pair has."""
    pair = np.int64(left) << np.int64(32) | np.int64(right)  # any numbers: what is tied is not an id
    folded = multiply_fold(pair ^ joints.secret[0], joints.secret[1])
    return np.int64(np.uint64(folded) >> np.uint64(joints.shift))


@quiet
def set_bits(pairs, made, edges, joints):
    """Set the bits of all joints."""
    for rank in range(made.size):
        left, right = pairs[rank, 0], pairs[rank, 1]
        bit = bit_of(joints, edges[1, left], edges[0, right])
        joints.words[bit >> 6] |= np.int64(1) << (bit & 63)
        edges[0, made[rank]] = edges[0, left]
        edges[1, made[rank]] = edges[1, right]
    return True


@inner
def may_join(joints, left, right):
    """Return 1 if something may be joined where two ids stand side by side, 0 if nothing can be."""
    n = joints.is_part.size
    if n > 0:
        return np.int64(left < n and right < n and joints.is_part[left] and joints.is_part[right])
    bit = bit_of(joints, left, right)
    return joints.words[bit >> 6] >> (bit & 63) & 1
