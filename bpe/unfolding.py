"""A quick check of merges: whether they make tokens that are all different, each from tokens before it.

No bytes are put together. A hash of each token is enough, because it follows from the hashes of its two
parts::

    hash(left + right) = hash(left) * power(right) + hash(right)         power(token) = BASE ** len(token)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

ORDINARY_BYTES = 1 << 26  # of all tokens
ORDINARY_TOKEN = 1 << 20  # bytes of one
ORDINARY_DEPTH = 64  # how many merges may follow from each other
_BASE = 0x9E3779B97F4A7C15


def is_ordinary(pairs: np.ndarray, ids: np.ndarray, given: Sequence[bytes]) -> bool:
    """Tell whether merges make the last of `ids`, each from tokens before it, and all tokens are different.

    Parameters
    ----------
    pairs : (merges, 2) int64
    ids : (tokens,) int64
        Those of the given tokens, then the id that each merge makes.
    given : sequence of bytes
        The tokens that no merge makes.

    Returns
    -------
    bool
        False also if tokens are unusually long, or so deep in merges that this check would be slow.

    Complexity
    ----------
    O(n log n) for n tokens.

    Examples
    --------
    >>> is_ordinary(np.array([[104, 105]]), np.arange(257), [bytes([value]) for value in range(256)])
    True
    """
    n, first = len(ids), len(given)
    if not 0 <= ids.min() <= ids.max() < 16 * n or b"" in given:
        return False
    place_of = np.full(ids.max() + 1, n)
    place_of[ids] = np.arange(n)
    if not np.array_equal(place_of[ids], np.arange(n)):  # an id occurs twice
        return False
    if pairs.size and not 0 <= pairs.min() <= pairs.max() < len(place_of):
        return False
    left, right = np.ascontiguousarray(place_of[pairs].T)
    if (np.maximum(left, right) >= np.arange(first, n)).any():  # a part is no token yet
        return False
    lengths, hashes, powers = np.ones(n), np.zeros(n, np.uint64), np.zeros(n, np.uint64)
    lengths[:first] = list(map(len, given))
    hashes[:first], powers[:first] = zip(*map(_hash_of, given), strict=True)
    is_known = np.arange(n) < first
    places = np.arange(first, n)
    for _ in range(ORDINARY_DEPTH):
        if not len(places):
            break
        is_ready = is_known[left] & is_known[right]
        now, one, two = places[is_ready], left[is_ready], right[is_ready]
        lengths[now] = lengths[one] + lengths[two]
        hashes[now] = hashes[one] * powers[two] + hashes[two]
        powers[now] = powers[one] * powers[two]
        is_known[now] = True
        places, left, right = (some[~is_ready] for some in (places, left, right))
    in_order = np.sort(hashes)
    is_short = lengths.sum() < ORDINARY_BYTES and lengths.max() <= ORDINARY_TOKEN
    return not len(places) and bool(is_short and (in_order[1:] != in_order[:-1]).all())


def _hash_of(token: bytes) -> tuple[int, int]:
    """Return the hash of a token and its power."""
    total = 0
    for value in token:
        total = (total * _BASE + value + 1) % 2**64
    return total, pow(_BASE, len(token), 2**64)
