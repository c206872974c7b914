"""What merges unfold to, and a quick check whether that is tokens that are all different.

The check puts no bytes together. A hash of each token is enough, because it follows from the hashes of its
two parts::

    hash(left + right) = hash(left) * power(right) + hash(right)         power(token) = BASE ** len(token)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

ORDINARY_BYTES = 1 << 26  # of all tokens
ORDINARY_TOKEN = 1 << 20  # bytes of one
ORDINARY_DEPTH = 64  # how many merges may follow from each other
_BASE = 0x9E3779B97F4A7C15


def is_ordinary(pairs: np.ndarray, ids: np.ndarray, given: Sequence[bytes]) -> bool:
    """Return whether merges make the last of `ids`, each from tokens before it, and all tokens differ."""
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


def assemble(
    merges: Sequence[tuple[int, int]],
    byte_ids: Sequence[int] = range(256),
    merged_ids: Sequence[int] | None = None,
    others: Mapping[int, bytes] | None = None,
) -> dict[int, bytes]:
    """Return the bytes of every id that the merges lead to."""
    token_bytes = dict(others or {})
    for value, number in enumerate(byte_ids):
        if number >= 0:
            _put(token_bytes, number, bytes([value]), "byte", value)
    numbers = range(256, 256 + len(merges)) if merged_ids is None else merged_ids
    for rank, ((left, right), number) in enumerate(zip(merges, numbers, strict=True)):
        for part in (left, right):
            if part not in token_bytes:
                raise ValueError(f"merge {rank}, {(left, right)}, names id {part}, which is no token yet")
        _put(token_bytes, number, token_bytes[left] + token_bytes[right], "merge", rank)
    return token_bytes


def _put(token_bytes: dict[int, bytes], number: int, token: bytes, what: str, which: int) -> None:
    if token_bytes.setdefault(number, token) != token:
        raise ValueError(f"{what} {which} makes id {number}, which is {token_bytes[number]!r} already")
