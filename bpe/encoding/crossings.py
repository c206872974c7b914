"""Places that no token crosses: a long piece is cut there, and its ids do not change.

SentencePiece's tokenizers do not split a text into pieces: it is one piece, whatever its length. But merges
only make tokens of the vocabulary. If no token has the character x followed by the character y, no merge ever
joins what is on both sides of a place between x and y. So the piece may be cut there::

    text      ▁the▁cat,▁the           no token has e▁, t, or ,▁ inside
    cut       ▁the|▁cat|,|▁the        the encoder remembers ▁the

Which pairs of characters occur inside tokens, a table of bits says. The place of a pair in it is a hash, so
that a pair may be taken for another one that occurs: then a place is not cut, and nothing is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from structures.kernels import inner, pointer_to, quiet

_BITS_A_PAIR = 16
_FEWEST_BITS = 1 << 12
_CHARACTER_BITS = 21
_MULTIPLIER = 0x9E3779B1
_LAST = 0x1F, 0x0F, 0x07  # the bits of a first byte that are the character's, of 2, 3, 4 bytes


class Crossings:
    """The pairs of characters that tokens cross."""

    def __init__(self, tokens: Iterable[str]) -> None:
        texts = list(tokens)
        characters = np.frombuffer("".join(texts).encode("utf-32-le"), np.int32).astype(np.int64)
        is_last = np.zeros(len(characters), bool)  # of a token
        is_last[np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts))) - 1] = True
        pairs = np.unique((characters[:-1] << _CHARACTER_BITS | characters[1:])[~is_last[:-1]])
        n_bits = _FEWEST_BITS
        while n_bits < _BITS_A_PAIR * len(pairs):
            n_bits *= 2
        self._crossed = np.zeros(n_bits >> 6, np.int64)
        note_pairs(self._crossed, pairs)

    def cut(self, data: bytes | bytearray | np.ndarray, ends: np.ndarray) -> np.ndarray:
        """Return where the pieces of texts begin, and where the last one ends."""
        offsets = np.empty(len(data) + 1, np.int32)
        n = cut_pieces(self._crossed, np.frombuffer(data, np.uint8), np.asarray(ends, np.int64), offsets)
        return offsets[:n]


@inner
def bit_of(pair, n_words):
    """Return where the table has the bit of a pair of characters."""
    mixed = pair * _MULTIPLIER
    return (mixed ^ (mixed >> 29)) & ((n_words << 6) - 1)


@quiet
def note_pairs(crossed, pairs):
    """Set the bits of pairs."""
    for pair in pairs:
        bit = bit_of(pair, crossed.size)
        crossed[bit >> 6] |= np.int64(1) << (bit & 63)
    return 0


@inner
def n_bytes_of(first):
    """Return how many bytes the character has that begins with this one."""
    return 1 + (first >= 0xC0) + (first >= 0xE0) + (first >= 0xF0)


@inner
def character_at(text, place, n):
    """Return the character of `n` bytes at a place."""
    value = np.int64(text[place])
    if n > 1:
        value &= _LAST[n - 2]
    for i in range(1, n):
        value = value << 6 | np.int64(text[place + i]) & 0x3F
    return value


@quiet
def cut_pieces(crossed, data, ends, offsets):
    """Write where pieces begin, and where the last one ends; return how many numbers these are."""
    # With pointers, and without a branch for what is random, it takes half the time.
    text, words, out = pointer_to(data, 0), pointer_to(crossed, 0), pointer_to(offsets, 0)
    n_pieces = place = 0
    for end in ends:
        before = -1
        while place < end:
            n = n_bytes_of(np.int64(text[place]))
            character = character_at(text, place, n)
            bit = bit_of(before << _CHARACTER_BITS | character, crossed.size)
            is_inside = words[bit >> 6] >> (bit & 63) & 1
            out[n_pieces] = place  # the next one overwrites it, if no piece begins here
            n_pieces += 1 - (is_inside & (before >= 0))
            before = character
            place += n
    out[n_pieces] = place
    return n_pieces + 1
