"""``Symbols``: what the bytes of a piece are before merges make tokens of them.

Merging begins with a symbol for each byte, which most vocabularies have a token for. Others need more:

=================================  ======================================================================
a byte has no token                the symbol of the byte is not a token: an error, if a text has the byte
tokens are texts (SentencePiece)   *spelling merges*, before all others, join the bytes of each character that
                                   is a token
such a character is not a token    its bytes become byte tokens (``byte_fallback``), or the token for what is
                                   unknown (``unk_token``)
``end_of_word_suffix`` (CLIP)      a byte :data:`END` after each piece; a spelling merge joins it with the
                                   last character
=================================  ======================================================================

::

    vocabulary    é -> 300   no other character; <0xC3> -> 198   <0xA8> -> 171
    spelling      C3 A9 -> 300
    text          é è
    symbols       300 C3 A8        the last two are numbered after all tokens
    ids           300 198 171

So all encoders merge in one way, and a symbol that is not a token becomes ids at the end.
"""

from __future__ import annotations

from itertools import chain
from typing import NamedTuple

import numpy as np

from bpe.vocabulary.vocabulary import NO_ID, Vocabulary

END = b"\xff"  # a byte that UTF-8 never has


class ModelOptions(NamedTuple):
    """How a vocabulary of texts, not bytes, spells what is not a token."""

    unk_id: int | None = None
    fuse_unk: bool = False
    byte_ids: tuple[int, ...] = ()
    suffix: str = ""
    is_text: bool = False


BYTES = ModelOptions()


class UnknownBytesError(ValueError):
    """Bytes of a text that no token stands for; the message is their name."""


class Symbols(NamedTuple):
    r"""Merges from bytes on, and what symbols that are not tokens stand for."""

    pairs: np.ndarray
    made: np.ndarray
    byte_ids: list[int]
    first: int
    spelled: list[bytes]
    ids_of: list[tuple[int, ...] | None]
    fused: np.ndarray  # which of them have one id together with those before them

    @classmethod
    def of(cls, vocabulary: Vocabulary, options: ModelOptions = BYTES) -> Symbols:
        """Return the symbols of a vocabulary."""
        return _Speller(vocabulary, options).symbols()

    @property
    def are_tokens(self) -> bool:
        """Whether all symbols are tokens."""
        return not self.spelled

    def ids(self, symbols: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Replace symbols that are not tokens; texts end at the offsets."""
        return self._replaced(symbols, offsets)[:2]

    def ids_with_lengths(
        self, symbols: np.ndarray, offsets: np.ndarray, n_bytes: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return also how many bytes of the text each id stands for, given those of each symbol."""
        ids, id_offsets, n_ids = self._replaced(symbols, offsets)
        lengths = np.repeat(np.where(n_ids == n_bytes, 1, n_bytes), n_ids)
        rest = np.flatnonzero(n_ids == 0)  # of what is unknown
        np.add.at(lengths, np.cumsum(n_ids)[rest] - 1, n_bytes[rest])
        return ids, id_offsets, lengths

    def _replaced(
        self, symbols: np.ndarray, offsets: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return ids, where those of texts end, and how many ids each symbol has."""
        places = np.flatnonzero(symbols >= self.first)
        n_ids = np.ones(len(symbols), np.int64)
        if not len(places):
            return symbols, offsets, n_ids
        found, which = np.unique(symbols[places], return_inverse=True)
        ids_of = [self._ids_of(symbol) for symbol in found.tolist()]
        lengths = np.array([*map(len, ids_of)])
        row, begins = np.array([*chain(*ids_of)], np.uint32), np.cumsum(lengths) - lengths
        n_of_each = np.where(self._have_none(symbols, offsets)[places], 0, lengths[which])
        n_ids[places] = n_of_each
        ends = np.cumsum(n_ids)
        ids = np.repeat(symbols, n_ids)
        # Of id i of all: how many are before it of its symbol, and where those of the symbol are in the row.
        is_new = np.repeat(symbols >= self.first, n_ids)
        nth = np.arange(len(ids)) - np.repeat(ends - n_ids, n_ids)
        ids[is_new] = row[np.repeat(begins[which], n_of_each) + nth[is_new]]
        return ids, np.append(0, ends)[offsets], n_ids

    def _have_none(self, symbols: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """Return whether symbols have no id of their own, as that of the symbol before stands for both."""
        is_fused = np.zeros(len(symbols), bool)
        is_new = symbols >= self.first
        is_fused[is_new] = self.fused[symbols[is_new] - self.first]
        have_none = is_fused.copy()
        have_none[1:] &= is_fused[:-1]
        have_none[:1] = False
        have_none[offsets[offsets < len(symbols)]] = False  # the first of a text
        return have_none

    def _ids_of(self, symbol: int) -> tuple[int, ...]:
        ids = self.ids_of[symbol - self.first]
        if ids is None:
            spelled = self.spelled[symbol - self.first]
            hexadecimal = " ".join(f"0x{value:02X}" for value in spelled)
            raise UnknownBytesError(f"the byte{'s' * (len(spelled) > 1)} {hexadecimal}")
        return ids


class _Speller:
    """Makes the symbols of a vocabulary."""

    def __init__(self, vocabulary: Vocabulary, options: ModelOptions) -> None:
        self._vocabulary, self._options = vocabulary, options
        self._suffix = options.suffix.encode()
        self._spelled: list[bytes] = []
        self._merges: dict[tuple[int, int], int] = {}

    def symbols(self) -> Symbols:
        """Return the symbols."""
        options, vocabulary = self._options, self._vocabulary
        byte_ids = vocabulary.byte_ids
        if NO_ID in byte_ids or options.is_text or self._suffix:
            symbol_of = {bytes([value]): self._symbol_of_byte(value) for value in range(256)}
            byte_ids = [*symbol_of.values()]
            if options.is_text:
                self._spell_characters(symbol_of)
            if self._suffix:
                self._spell_ends(symbol_of)
        pairs, made = vocabulary.pairs, vocabulary.made
        if self._merges:
            pairs = np.concatenate([np.array([*self._merges], np.int64), pairs])
            made = np.concatenate([np.fromiter(self._merges.values(), np.int64, len(self._merges)), made])
        ids_of = [self._ids(spelled) for spelled in self._spelled]
        unknown = ((), (options.unk_id,)) if options.fuse_unk else ()
        fused = np.array([ids in unknown for ids in ids_of], bool)
        return Symbols(pairs, made, byte_ids, vocabulary.size, self._spelled, ids_of, fused)

    def _symbol_of_byte(self, value: int) -> int:
        known = self._vocabulary.byte_ids[value]
        is_part = self._options.is_text and value >= 0x80
        is_end = bool(self._suffix) and value == END[0]
        return self._new(bytes([value])) if known == NO_ID or is_part or is_end else known

    def _new(self, spelled: bytes) -> int:
        self._spelled.append(spelled)
        return self._vocabulary.size + len(self._spelled) - 1

    def _spell_characters(self, symbol_of: dict[bytes, int]) -> None:
        """Join the bytes of every character that is a token, or is one at the end of a piece."""
        known = self._vocabulary.id_of
        tokens = [*known, *(token.removesuffix(self._suffix) for token in known if self._suffix)]
        for token in tokens:
            if not 1 < len(token) <= 4 or len(token.decode(errors="replace")) != 1:
                continue
            for end in range(2, len(token) + 1):
                spelled = token[:end]
                if spelled not in symbol_of:
                    symbol_of[spelled] = known.get(spelled, NO_ID)
                    if symbol_of[spelled] == NO_ID:
                        symbol_of[spelled] = self._new(spelled)
                    pair = symbol_of[spelled[:-1]], symbol_of[spelled[-1:]]
                    self._merges[pair] = symbol_of[spelled]

    def _spell_ends(self, symbol_of: dict[bytes, int]) -> None:
        """Join the end of a piece with whatever is before it."""
        for spelled, symbol in [*symbol_of.items()]:
            token_id = self._vocabulary.id_of.get(spelled + self._suffix, NO_ID)
            self._merges[symbol, symbol_of[END]] = self._new(spelled) if token_id == NO_ID else token_id

    def _ids(self, spelled: bytes) -> tuple[int, ...] | None:
        """Return what a symbol stands for."""
        options = self._options
        if options.byte_ids:
            token_ids = tuple(options.byte_ids[value] for value in spelled)
            if NO_ID not in token_ids:
                return token_ids
        if options.unk_id is None:
            return None
        # A character has one id, at its first byte.
        return () if options.is_text and 0x80 <= spelled[0] < 0xC0 else (options.unk_id,)
