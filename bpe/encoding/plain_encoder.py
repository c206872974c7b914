"""``PlainEncoder``: encodes the first texts of a process in plain Python, while nothing is compiled.

To compile an encoder takes seconds, and to load it from disk tenths of a second. In less time, a few short
texts are encoded by a dict and the slow twins of :mod:`bpe.reference`::

    texts so far      short ones            one too many, or a long one
    encoded by        regex and a dict      :class:`bpe.encoding.encoder.Encoder`, and so are all later ones

What plain Python does is counted as *work*, for the whole process: a byte of a text is 1, and a piece that
was not met before the square of its length. When :data:`MOST_WORK` is done, which takes some tenths of a
second, compiled code takes over. So hard texts gain nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from bpe.reference import encode_by_rank, encode_by_ranks_of_bytes
from bpe.splitting.pattern import Pattern, is_plain_allowed, plain_splitter
from bpe.vocabulary.vocabulary import NO_ID, Vocabulary

if TYPE_CHECKING:
    from bpe.encoding.encoder import Encoder, Room

MOST_WORK = 1 << 20
LONGEST_TEXT = 1 << 17  # bytes
MOST_MERGES = 1 << 18  # a dict of more takes longer than to load compiled code
LONGEST_PIECE = 64  # bytes

_done = 0  # how much work this process has done


class PlainEncoder:
    """An encoder that begins in plain Python, and has the methods of the compiled one from some text on."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        split: Callable[[bytes], list[bytes]],
        make_encoder: Callable[[], Encoder],
    ) -> None:
        self._split, self._make_encoder = split, make_encoder
        self._ids_of: dict[bytes, list[int]] = {}  # of pieces that were met
        self._vocabulary: Vocabulary | None = vocabulary  # None: compiled code has taken over
        self._merge: Callable[[bytes], list[int]] | None = None  # made for the first text that is short

    @classmethod
    def of(
        cls, vocabulary: Vocabulary, pattern: Pattern, make_encoder: Callable[[], Encoder]
    ) -> PlainEncoder | None:
        """Return what encodes the first texts, or None if compiled code has to encode all of them."""
        split = plain_splitter(pattern)
        is_large = "pairs" not in vocabulary.lazy and len(vocabulary.pairs) > MOST_MERGES
        if split is None or _done >= MOST_WORK or is_large:
            return None
        if vocabulary.n_super or NO_ID in vocabulary.byte_ids:
            return None
        return cls(vocabulary, split, make_encoder)

    def encode(self, data: bytes) -> list[int]:
        """Encode a text, as :meth:`bpe.encoding.encoder.Encoder.encode`."""
        ids = self._plain(data)
        return self._compiled().encode(data) if ids is None else ids

    def encode_to_numpy(self, data: bytes | bytearray) -> np.ndarray:
        """Encode a text to an array."""
        ids = self._plain(data)
        return self._compiled().encode_to_numpy(data) if ids is None else np.array(ids, np.uint32)

    def count(self, data: bytes | bytearray) -> int:
        """Return the number of ids of a text."""
        ids = self._plain(data)
        return self._compiled().count(data) if ids is None else len(ids)

    def encode_segments(
        self, data: bytes | bytearray | np.ndarray, ends: np.ndarray, room: Room | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Encode concatenated texts, each by itself."""
        edges, offsets, all_ids = [0, *ends.tolist()], [0], list[int]()
        if edges != sorted(edges) or edges[-1] != len(data) or len(data) > LONGEST_TEXT:
            return self._compiled().encode_segments(data, ends, room)
        row = bytes(data)
        for start, end in pairwise(edges):
            ids = self._plain(row[start:end])
            if ids is None:
                return self._compiled().encode_segments(data, ends, room)
            all_ids += ids
            offsets.append(len(all_ids))
        return np.array(all_ids, np.uint32), np.array(offsets)

    def __getattr__(self, name: str) -> Any:
        """Return any other attribute of the compiled encoder."""
        if name.startswith("__"):  # copy and pickle look for some
            raise AttributeError(name)
        return getattr(self._compiled(), name)

    def _plain(self, data: bytes | bytearray) -> list[int] | None:
        """Encode a text in plain Python; None if that is too much work."""
        global _done
        ids: list[int] = []
        known, vocabulary, work = self._ids_of, self._vocabulary, len(data)
        if vocabulary is None or work > LONGEST_TEXT or _done + work > MOST_WORK or not is_plain_allowed():
            return None
        merge = self._merge = self._merge or _merger_of(vocabulary)
        for piece in self._split(bytes(data)):
            found = known.get(piece)
            if found is None:
                more = len(piece) ** 2
                if len(piece) > LONGEST_PIECE or _done + work + more > MOST_WORK:
                    _done += work  # it was done in vain
                    return None
                work += more
                found = known[piece] = merge(piece)
            ids += found
        _done += work
        return ids

    def _compiled(self) -> Encoder:
        """Return the compiled encoder; from now on, its methods are those of this object."""
        encoder = vars(self).get("_encoder") or self._make_encoder()
        for name in ("encode", "encode_to_numpy", "count", "encode_segments"):
            vars(self)[name] = getattr(encoder, name)
        vars(self)["_encoder"], vars(self)["_compiled"] = encoder, lambda: encoder
        self._vocabulary, self._merge, self._ids_of = None, None, {}  # which releases memory
        return encoder


def _merger_of(vocabulary: Vocabulary) -> Callable[[bytes], list[int]]:
    """Return what encodes a piece."""
    if "pairs" in vocabulary.lazy:  # ranks alone encode it
        rank_of = vocabulary.id_of

        def by_ranks(piece: bytes) -> list[int]:
            rank = rank_of.get(piece)
            return encode_by_ranks_of_bytes(piece, rank_of) if rank is None else [rank]

        return by_ranks
    merges = list(zip(*vocabulary.pairs.T.tolist(), strict=True))
    ranks = dict(zip(merges, range(len(merges)), strict=True))
    ids = {"byte_ids": vocabulary.byte_ids, "new_ids": vocabulary.made.tolist()}
    if "atomic_ids" in vocabulary.lazy:  # those that merges do not reach; others are merged to what they are
        atomic = vocabulary.id_of
    else:
        atomic = {vocabulary.bytes_of[token_id]: token_id for token_id in vocabulary.atomic_ids}

    def by_pairs(piece: bytes) -> list[int]:
        token_id = atomic.get(piece)
        return encode_by_rank(piece, ranks, **ids) if token_id is None else [token_id]

    return by_pairs
