"""Joints: the pairs of tokens where merges of tokens may join something, in one table of words.

What merges are made of at the beginning are *first tokens*. Merge (left, right) joins the last first token of
`left` to the first one of `right`: only where such a pair stands can anything be joined. A word of the table
is such a pair and its rank, if it is a merge itself::

    slots      -1 | left, right, rank | -1 | ...      21 bits each; a word is after its home, with no gap
    home       the top bits of the product of the pair and two secret numbers

A hash of the pair by itself would be less work. But whoever makes a vocabulary could choose pairs that share
a home, and a search would take long.
"""

from __future__ import annotations

import secrets
from typing import NamedTuple

import numpy as np

from bpe.encoding.linked_pieces import NO_RANK
from structures.kernels import inner, multiply_fold, quiet

MOST_IDS = 1 << 21
"""How large ids may be, and how many merges there may be, for a table of words."""

_BITS = 21
_LAST_RANK = (1 << _BITS) - 1  # of a pair that is no merge itself
_FEWEST_BITS = 10


class Joints(NamedTuple):
    """Where tokens can be joined, as kernels read it.

    Attributes
    ----------
    slots : (2**n,) int64
        At least three of four are empty, -1.
    shift : int
        64 - n.
    secret : (int, int)
    is_loose : bool
        Whether anything may be joined; then the table is empty.
    """

    slots: np.ndarray
    shift: int
    secret: tuple[int, int]
    is_loose: bool

    @classmethod
    def of(cls, pairs: np.ndarray, made: np.ndarray, n_ids: int, *, is_loose: bool) -> Joints:
        """Return the joints of merges.

        Parameters
        ----------
        pairs : (merges, 2) int64
        made : (merges,) int64
            The id that each merge makes.
        n_ids : int
            Ids are below it.
        is_loose : bool
            Whether a token can be made in several ways, or a merge comes before one that makes its parts.
        """
        is_loose = is_loose or n_ids > MOST_IDS or len(made) >= _LAST_RANK
        n_bits = _FEWEST_BITS if is_loose else max(_FEWEST_BITS, (4 * len(made)).bit_length())
        slots = np.full(1 << n_bits, -1)
        joints = cls(slots, 64 - n_bits, (secrets.randbits(63), secrets.randbits(63) | 1), is_loose)
        if not is_loose:
            put_joints(pairs, made, np.stack([np.arange(n_ids)] * 2), joints)
        return joints


@inner
def place_of(joints, pair):
    """Return where a pair is in the table, or the empty place where it belongs."""
    folded = multiply_fold(pair ^ joints.secret[0], joints.secret[1])
    place = np.int64(np.uint64(folded) >> np.uint64(joints.shift))
    while joints.slots[place] >= 0 and joints.slots[place] >> _BITS != pair:
        place = (place + 1) & (joints.slots.size - 1)
    return place


@quiet
def put_joints(pairs, made, edges, joints):
    """Fill the table of joints, which is empty.

    Parameters
    ----------
    pairs : (merges, 2) int64
    made : (merges,) int64
    edges : (2, n_ids) int64
        By id, the first and the last of its first tokens: itself, at the beginning. Updated.
    joints : Joints
    """
    for rank in range(made.size):
        left, right = pairs[rank, 0], pairs[rank, 1]
        is_merge = edges[1, left] == left and edges[0, right] == right  # the pair itself
        pair = edges[1, left] << _BITS | edges[0, right]
        edges[0, made[rank]] = edges[0, left]
        edges[1, made[rank]] = edges[1, right]
        place = place_of(joints, pair)
        if joints.slots[place] < 0:
            joints.slots[place] = pair << _BITS | _LAST_RANK
        if is_merge:
            joints.slots[place] = pair << _BITS | rank
    return True


@inner
def ranks_of(joints, ids, start, n, ranks):
    """Write the ranks of `n` pairs, from ``ids[start]`` on: -1 where nothing is joined."""
    for i in range(n):
        pair = np.int64(ids[start + i]) << _BITS | np.int64(ids[start + i + 1])
        word = joints.slots[place_of(joints, pair)]
        rank = word & _LAST_RANK
        ranks[i] = -1 if word < 0 else NO_RANK if rank == _LAST_RANK else rank
