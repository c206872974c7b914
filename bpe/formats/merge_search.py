"""Finds the tokens that the merges of a ``tokenizer.json`` name and make, for all merges at once.

The texts of all tokens and all merges are joined to one text. Its part between two places has a hash::

    codes     c[0]       c[1]       c[2]   ...     characters; B is the base, and all is modulo 2 ** 64
    total     c[0] B     + c[1] B²  + c[2] B³ ...
    hash of s:e          (total[e] - total[s]) B**(n - s)

Equal parts have equal hashes, wherever they are. A token is looked up by its hash in a few tables,
and then compared character by character, so a collision does no harm. The token that a merge makes is looked
up like its parts, because its right part directly follows its left part.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import chain
from typing import Any

import numpy as np

from bpe.support.text import code_points

MOST_CHARACTERS = 1 << 24
"""The longest joined text; it takes some 50 bytes of memory per character. Real ones have 7 million."""

_BASE = np.uint64(0x9E3779B97F4A7C15)
_BLOCK = 1 << 10  # powers that are computed at a time
_MOST_TABLES = 12
_SPACE, _LINE_END = 0x20, 0x0A


def find_merges(tokens: Collection[str], merges: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the places of each merge's parts and of the token that it makes; None if any is not found."""
    joined = _joined(merges)
    if joined is None:
        return None
    merged, edges = joined  # merge i is merged[edges[2 * i] : edges[2 * i + 2]], its parts meet at the middle
    ends = np.cumsum(np.fromiter(map(len, tokens), np.int64, len(tokens)))
    codes = np.concatenate([code_points("".join(tokens)), merged])
    if len(codes) > MOST_CHARACTERS or not len(ends):
        return None
    starts = ends - np.diff(ends, prepend=0)
    edges += ends[-1]
    hash_of = _hashes(codes)
    part_hashes = hash_of(edges[:-1], edges[1:])
    made_hashes = hash_of(edges[:-1:2], edges[2::2])
    found = _looked_up(hash_of(starts, ends), np.concatenate([part_hashes, made_hashes]))
    if found is None:
        return None
    parts, made = found[: len(part_hashes)], found[len(part_hashes) :]
    for places, cuts in ((parts, edges), (made, edges[::2])):
        lengths = np.diff(cuts)
        if not np.array_equal(ends[places] - starts[places], lengths):
            return None
        back = np.repeat((cuts[:-1] - starts[places]).astype(np.int32), lengths)
        if not np.array_equal(
            codes[np.arange(ends[-1], len(codes), dtype=np.int32) - back], codes[ends[-1] :]
        ):
            return None
    return parts.reshape(-1, 2), made


def _joined(merges: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the characters of the parts of all merges, and where parts begin and end."""
    if not isinstance(merges, list) or len(merges) > MOST_CHARACTERS:
        return None
    kinds = {*map(type, merges)}
    if kinds == {str}:
        text = "\n".join(merges)
    elif kinds == {list} and {*map(len, merges)} == {2}:
        try:
            text = " ".join(chain.from_iterable(merges))
        except TypeError:  # a part is not a str
            return None
    else:
        return None
    codes = code_points(text)
    is_separator = (codes == _SPACE) | (codes == _LINE_END) if kinds == {str} else codes == _SPACE
    cuts = np.flatnonzero(is_separator)
    # As many separators as were put in, so no part contains one.
    if len(cuts) != 2 * len(merges) - 1:
        return None
    if kinds == {str} and ((codes[cuts[::2]] != _SPACE).any() or (codes[cuts[1::2]] != _LINE_END).any()):
        return None
    edges = np.concatenate([[0], cuts - np.arange(len(cuts)), [len(codes) - len(cuts)]])
    return codes[~is_separator], edges


def _hashes(codes: np.ndarray) -> Any:
    """Return a function from places in a text to the hashes of the parts between them."""
    n = len(codes)
    in_block = np.cumprod(np.full(_BLOCK, _BASE))
    of_blocks = np.cumprod(np.full(n // _BLOCK + 1, in_block[-1]))
    powers = np.multiply.outer(of_blocks, in_block).ravel()  # B ** (i + 1), times a constant
    total = np.zeros(n + 1, np.uint64)
    np.multiply(codes, powers[:n], out=total[1:])
    np.cumsum(total, out=total)
    return lambda starts, ends: (total[ends] - total[starts]) * powers[n - starts]


def _looked_up(hashes: np.ndarray, wanted: np.ndarray) -> np.ndarray | None:
    """Return the place of each wanted hash among `hashes`; None if one is not found.

    A table maps some bits of a hash to a place. A place whose slot is taken goes into the next table.
    """
    found = np.empty(len(wanted), np.int64)
    places, left = np.arange(len(hashes)), np.arange(len(wanted))
    for _ in range(_MOST_TABLES):
        bits = len(places).bit_length() + 3
        table, shift = np.zeros(1 << bits, np.int32), np.uint64(64 - bits)
        slots = hashes[places] >> shift
        table[slots] = places
        candidates = table[wanted >> shift]
        is_right = hashes[candidates] == wanted
        found[left[is_right]] = candidates[is_right]
        left, wanted = left[~is_right], wanted[~is_right]
        if not len(left):
            return found
        places = places[table[slots] != places]
        hashes, wanted = hashes * _BASE, wanted * _BASE  # the next table takes other bits
    return None
