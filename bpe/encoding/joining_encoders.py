"""Encoders with two steps: pieces are merged to tokens, then :mod:`bpe.encoding.kernels.joining` joins these.

Which encoder a vocabulary needs, :func:`encoder_of` says.

``RunEncoder`` encodes with supermerges: the pieces first, then the runs of them::

    bytes     of the sea, of course
    pieces    of| the| sea|,| of| course        encoded by :mod:`bpe.encoding.encoder`
    ids       7 | 12 | 31 | 9 | 7 | 40 41       a piece of two tokens is in no run
    runs      7   12   31 | 9 | 7 | 40 | 41     joined

``WideEncoder`` encodes wide pieces, such as whole sentences. A piece of many words is seldom met again, and
to merge it from its bytes takes long. But the first merges of SuperBPE stay inside words. So a wide piece is
cut at every place that none of these merges crosses; what lies between is a word or less, and remembered.
Then the other merges join the tokens::

    bytes        by the way, by the sea
    cut          by| the| way|,| by| the| sea        no first merge joins "y" to " "
    ids          7 | 12 | 31 |9| 15 | 12 | 44        encoded by :mod:`bpe.encoding.encoder`
    joined       900      31  9  901      44

``FinerEncoder`` is the first step alone, which is all there is to encode by merges that stay inside words.

The first merges are those before many join a word to a space after it. (A few do in every vocabulary: they
join kinds of spaces.) This is exact for merges that are in order, wherever the line is drawn: all first
merges are done before any of the others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from bpe.encoding.encoder import Encoder, Room
from bpe.encoding.kernels.joining import MOST_IDS, TIED, Joiner
from bpe.encoding.kernels.linked_pieces import are_in_order
from bpe.splitting.pattern import Pattern
from bpe.vocabulary.supermerges import with_first_merges
from bpe.vocabulary.vocabulary import NO_ID, Vocabulary
from structures.kernels import BYTE_LANES, count_lanes, inner, lowest_lane, pointer_to, quiet, smaller

Encode: TypeAlias = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]

_SPACE = 0x20
_AT_ONCE = 16
_LEAST_SHARE = 8  # at least one merge in 8 must be a first merge; of those after it, one in 8 joins words
_NEXT = 256  # merges that are looked at to see that


def encoder_of(vocabulary: Vocabulary, pattern: Pattern) -> Encoder:
    """Return the encoder of a vocabulary: one that joins words in a second step, if merges join them."""
    if vocabulary.n_super:
        return RunEncoder(vocabulary, pattern)
    joined = bytes_joined_by(vocabulary)
    if joined is not None and (n_first := n_first_merges(joined)):
        return WideEncoder(vocabulary, pattern, joined, n_first)
    return Encoder(vocabulary, pattern)


def encoder_by_piece(vocabulary: Vocabulary, pattern: Pattern) -> Encode:
    """Return what encodes wide pieces, and says where the ids of each end."""
    joined = bytes_joined_by(vocabulary)
    if joined is None:
        encoder = Encoder(vocabulary, pattern)
    elif n_first := n_first_merges(joined):
        encoder = WideEncoder(vocabulary, pattern, joined, n_first)
    else:
        encoder = FinerEncoder(vocabulary, pattern, joined)

    def encode(data: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        data = data[: offsets[-1]]
        ids, id_offsets = encoder.encode_pieces(data, offsets.astype(np.int32, copy=False), offsets[1:])
        return ids, id_offsets[1:]

    return encode


# --------------------------------------------------------------------------------------------- runs of pieces
class RunEncoder(Encoder):
    """Encodes ordinary text, with merges that join pieces."""

    _tie = TIED

    def __init__(self, vocabulary: Vocabulary, pattern: Pattern) -> None:
        first = len(vocabulary.pairs) - vocabulary.n_super
        super().__init__(with_first_merges(vocabulary, first), pattern)
        self._tables = None  # no text is encoded in one call
        self._joiner = Joiner(vocabulary, vocabulary.n_super)

    def _encode(
        self,
        data: bytes | bytearray | np.ndarray,
        ends: np.ndarray,
        *,
        by_piece: bool = False,
        given: np.ndarray | None = None,
        spelled: bool = False,
        room: Room | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Do as :class:`Encoder`; ids end with texts only, as those of a piece may be joined to others."""
        ends = ends[np.searchsorted(ends, 0, side="right") :].astype(np.int32)
        symbols, _, id_ends = super()._encode(data, ends, given=given, spelled=True)
        segment_ends, segment_of = np.unique(id_ends, return_inverse=True)  # a text may be empty
        joined, joined_ends = self._joiner.joined(symbols, segment_ends)
        joined_ends = joined_ends[segment_of]
        if not (spelled or self._symbols.are_tokens):
            joined, joined_ends = self._symbols.ids(joined, joined_ends)
        return joined, ends, joined_ends


# ------------------------------------------------------------------------------------------------ wide pieces
class FinerEncoder(Encoder):
    """Encodes wide pieces, cut where no merge crosses: what lies between is short, and remembered."""

    def __init__(self, vocabulary: Vocabulary, pattern: Pattern, joined: np.ndarray) -> None:
        super().__init__(vocabulary, pattern)
        self._tables = None  # no text is encoded in one call
        self._is_cut = np.ones(1 << 16, np.int8)
        self._is_cut[joined[:, 0] << 8 | joined[:, 1]] = 0

    def _finer(self, data: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """Cut wide pieces where no merge crosses."""
        out = np.empty(int(offsets[-1] - offsets[0]) + 1, np.int32)
        return out[: cut_finer(data, offsets, self._is_cut, out) + 1]


class WideEncoder(FinerEncoder):
    """Encodes ordinary text by the first merges, then by the others."""

    def __init__(self, vocabulary: Vocabulary, pattern: Pattern, joined: np.ndarray, n_first: int) -> None:
        super().__init__(with_first_merges(vocabulary, n_first), pattern, joined[:n_first])
        self._joiner = Joiner(vocabulary, len(vocabulary.pairs) - n_first)

    def _encode(
        self,
        data: bytes | bytearray | np.ndarray,
        ends: np.ndarray,
        *,
        by_piece: bool = False,
        given: np.ndarray | None = None,
        spelled: bool = False,
        room: Room | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Do as :class:`Encoder`."""
        ends = ends[np.searchsorted(ends, 0, side="right") :].astype(np.int32)
        ids, piece_ends, id_ends = super()._encode(data, ends, by_piece=True, given=given, spelled=spelled)
        joined, joined_ends = self._joiner.joined(ids, id_ends)
        if by_piece:
            return joined, piece_ends, joined_ends
        return joined, ends, joined_ends[np.searchsorted(piece_ends, ends)] if len(ends) else joined_ends[:0]


@inner
def put_places(found, first, out, n, has_room):
    """Write the places of a set of lanes to `out`, from `n` on; return the new `n`.

    Where there is room, :data:`_AT_ONCE` are written in any case: no branch that is hard to predict.
    """
    k, n_found = 0, count_lanes(found)
    if has_room:
        for k in range(_AT_ONCE):
            out[n + k] = first + lowest_lane(found)
            found &= found - 1
        k = _AT_ONCE
    while k < n_found:
        out[n + k] = first + lowest_lane(found)
        found &= found - 1
        k += 1
    return n + n_found


@quiet
def cut_finer(data, offsets, is_cut, out):
    """Cut pieces between every two bytes that no first merge joins; return how many there are."""
    text, end_at = pointer_to(data, 0), pointer_to(offsets, 0)
    cut_at, out_at = pointer_to(is_cut, 0), pointer_to(out, 0)
    place, stop, piece = np.int64(offsets[0]) + 1, np.int64(offsets[offsets.size - 1]), 1
    n, out[0] = 1, offsets[0]
    while place <= stop:
        n_lanes, found = smaller(BYTE_LANES, stop - place), 0  # the last piece ends at `stop`
        before = np.int64(text[place - 1])
        for eighth in range(0, n_lanes - 7, 8):
            some = 0
            for lane in range(8):
                byte = np.int64(text[place + eighth + lane])
                some |= np.int64(cut_at[before << 8 | byte]) << lane
                before = byte
            found |= some << eighth
        for lane in range(n_lanes & -8, n_lanes):
            byte = np.int64(text[place + lane])
            found |= np.int64(cut_at[before << 8 | byte]) << lane
            before = byte
        while piece < offsets.size and end_at[piece] < place + BYTE_LANES:
            found |= np.int64(1) << (np.int64(end_at[piece]) - place)
            piece += 1
        n = put_places(found, place, out_at, n, n + _AT_ONCE <= out.size)
        place += BYTE_LANES
    return n - 1


# ----------------------------------------------------------------------------------------------- first merges
def bytes_joined_by(vocabulary: Vocabulary) -> np.ndarray | None:
    """Return the two bytes that each merge joins; None where the two steps would not be exact."""
    pairs, made, byte_ids = vocabulary.pairs, vocabulary.made, vocabulary.byte_ids
    n = len(pairs)
    if NO_ID in byte_ids or vocabulary.atomic_ids:
        return None
    if vocabulary.size > min(4 * n + (1 << 16), MOST_IDS):
        return None
    edges = np.full((2, vocabulary.size), -1)
    edges[:, byte_ids] = np.arange(256)
    found = np.empty((n, 2), np.int64)
    if not edges_of_merges(pairs, made, edges, found) or not are_in_order(pairs, made):
        return None
    return found


def n_first_merges(joined: np.ndarray) -> int:
    """Return how many merges come before those that join words to spaces; 0 where two steps do not help."""
    n = len(joined)
    if n == 0:
        return 0
    is_wide = (joined[:, 0] > _SPACE) & (joined[:, 1] == _SPACE)
    n_wide = np.concatenate([[0], np.cumsum(is_wide)])  # before each merge
    soon = n_wide[np.minimum(np.arange(n) + _NEXT, n)] - n_wide[:-1]
    are_many = is_wide & (soon * _LEAST_SHARE >= min(_NEXT, n // _LEAST_SHARE))
    first = int(are_many.argmax())
    return first if are_many[first] and first * _LEAST_SHARE >= n else 0


@quiet
def edges_of_merges(pairs, made, edges, bytes_joined):
    """Write the two bytes that each merge joins; return whether all parts are bytes or made before."""
    for rank in range(made.size):
        left, right = pairs[rank, 0], pairs[rank, 1]
        if edges[1, left] < 0 or edges[0, right] < 0:
            return False
        bytes_joined[rank, 0] = edges[1, left]
        bytes_joined[rank, 1] = edges[0, right]
        edges[0, made[rank]] = edges[0, left]
        edges[1, made[rank]] = edges[1, right]
    return True
