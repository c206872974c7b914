r"""Where a text can be cut that a :class:`bpe.pipeline.engine.PipelineEngine` encodes.

Both parts of the text, encoded each by itself, have the ids of the whole, whatever comes after them. A text
is cut right after an added token, or where all of these allow it:

===============  ====================================================================================
added tokens     none is across the place (:mod:`bpe.pipeline.added_tokens`), as it was given or normalized
normalizer       the parts are normalized as the whole is (``Normalizer.last_cut``)
pre-tokenizer    a piece ends there, whatever is around the two characters: the tables of compiled patterns
                 tell this of each step that cuts
tokens           or no piece ends there, but no token has both characters (:class:`CrossedPairs`)
===============  ====================================================================================

::

    given         ab abé<end>ab c          a token, and text after it
    cut           ab abé<end>|ab| c        the rest begins as :attr:`Begins.SEGMENT`, or :attr:`Begins.INSIDE`

What a step puts before a segment, it does not put before a rest that begins inside. So a text is cut there
only after the first character that is left of the segment.

No place is known inside a segment with a normalizer that strips white space at the end, with a ``Replace`` of
most expressions, or where the pre-tokenizer is ``FixedLength`` alone, or a ``Split`` whose expression is not
compiled.

Pairs of characters that tokens cross
-------------------------------------
SentencePiece's tokenizers do not split a text into pieces: it is one piece, whatever its length. But merges
only make tokens of the vocabulary. If no token has the character x followed by the character y, no merge ever
joins what is on both sides of a place between x and y. So the piece may be cut there::

    text      ▁the▁cat,▁the           no token has e▁, t, or ,▁ inside
    cut       ▁the|▁cat|,|▁the        the encoder remembers ▁the

Which pairs of characters occur inside tokens, a table of bits says. The place of a pair in it is a hash, so
that a pair may be taken for another one that occurs: then a place is not cut, and nothing is wrong.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable

import numpy as np

from bpe.encoding.streams import Begins
from bpe.pipeline.added_tokens import AddedTokens, Part, TokenCuts
from bpe.pipeline.patterns import source_like
from bpe.pipeline.pre_tokenizers import Cut, CutByLength, Put, Replace, WriteBytes
from bpe.pipeline.preparation import Preparation
from bpe.splitting.compiled.cuts import Cuts
from bpe.splitting.compiled.scanner import scanner_of
from bpe.splitting.compiled.syntax import UnsupportedError
from bpe.splitting.pattern import Pattern
from bpe.vocabulary.byte_level import text_of
from bpe.vocabulary.vocabulary import Vocabulary
from structures.kernels import inner, pointer_to, quiet

_MOST_KNOWN = 10_000  # pairs of characters of which it is remembered whether a text can be cut between
_BITS_A_PAIR = 16
_FEWEST_BITS = 1 << 12
_CHARACTER_BITS = 21
_MULTIPLIER = 0x9E3779B1
_LAST = 0x1F, 0x0F, 0x07  # the bits of a first byte that are the character's, of 2, 3, 4 bytes


class PipelineCuts:
    """Finds places where texts can be cut."""

    def __init__(
        self,
        preparation: Preparation,
        pattern: Pattern,
        vocabulary: Vocabulary,
        crossed_pairs: CrossedPairs | None,
    ) -> None:
        self._normalizer, self._pattern = preparation.normalizer, pattern
        self._crossed_pairs, self._vocabulary, self._options = crossed_pairs, vocabulary, preparation.options
        pre_tokenizer = preparation.pre_tokenizer
        self._operations = None if pre_tokenizer is None else pre_tokenizer.operations
        self._is_cut: dict[tuple[str, str], bool] = {}

    def last_cut(
        self,
        text: str,
        begins: Begins,
        searches: tuple[AddedTokens, AddedTokens],
        only_inside: bool = False,
    ) -> tuple[int, Begins]:
        """Return the last place that is known where a text can be cut, and what the rest begins with."""
        cuts = TokenCuts(searches[0], text)
        following = len(text)
        for part in reversed(cuts.parts):
            if part.token is None:
                is_inside = begins is Begins.INSIDE and part.start == 0
                found = self._last_cut_in(text, part, is_inside, cuts, searches[1])
                if found:
                    return part.start + found, Begins.INSIDE
            elif not only_inside and part.end <= following and cuts.is_free(part.end):  # two may overlap
                return part.end, Begins.SEGMENT
            following = part.start
        return 0, begins

    def _last_cut_in(
        self, whole: str, part: Part, is_inside: bool, given: TokenCuts, search: AddedTokens
    ) -> int:
        """Return how far a segment can be cut from its beginning, or the rest of one that begins inside."""
        text = whole[part.start : part.end]
        first, later = self._normalizer, self._normalizer.later
        stop = later.last_cut(text)
        size, cuts = 0, None  # of what is normalized
        if search.token_of:
            normalized = (later if is_inside else first)(text[:stop])
            size, cuts = len(normalized), TokenCuts(search, normalized)
        after = ""
        while stop > max(0, given.lowest - part.start):
            start = later.last_cut(text, stop - 1)
            piece = (first if start == 0 and not is_inside else later)(text[start:stop])
            if (
                piece
                and after
                and self._can_cut(piece[-1], after)
                and given.is_free(part.start + stop)
                and (cuts is None or cuts.is_in_segment(size))
            ):
                return stop if is_inside or first.last_cut(text, stop) == stop else 0
            after, size, stop = piece[:1] or after, size - len(piece), start
        return 0

    def _can_cut(self, before: str, after: str) -> bool:
        """Return whether all normalized texts can be cut between two characters."""
        pair = before, after
        if pair not in self._is_cut:
            if len(self._is_cut) >= _MOST_KNOWN:
                self._is_cut.clear()
            self._is_cut[pair] = self._is_cut_between(before, after)
        return self._is_cut[pair]

    def _is_cut_between(self, before: str, after: str) -> bool:
        if self._operations is None:
            return len(self._pattern.cuts(before + after)) > 0
        n_cuts = 0
        for operation in self._operations:
            match operation:
                case Replace(old, new):
                    before, after = before.replace(old, new), after.replace(old, new)
                case WriteBytes():
                    before, after = text_of(before.encode())[-1], text_of(after.encode())[0]
                case CutByLength():
                    return False
                case Put() if n_cuts:  # the first piece after the place may be another one
                    return False
                case Cut(split):
                    if _between(source_like(split), before, after):
                        return True
                    # The matches are the same on both sides: the piece is cut in two, if there is one.
                    ends = _between(split.source, before, after)
                    if ends is None or (ends and split.rule in ("Removed", "Kept")):
                        return ends is not None
                    n_cuts += 1
        return self._is_between_tokens(before, after)

    def _is_between_tokens(self, before: str, after: str) -> bool:
        """Return whether a word can be cut between two characters."""
        if self._crossed_pairs is None:
            return False
        data = (before + after).encode()
        if len(self._crossed_pairs.cut(data, np.array([len(data)]))) == 2:
            return False
        # What is unknown on both sides has one id together.
        known = self._vocabulary.id_of
        return not self._options.fuse_unk or before.encode() in known or after.encode() in known


def _between(source: str, before: str, after: str) -> bool | None:
    """Return whether an expression ends a piece between two characters, as ``Cuts.between``."""
    cuts = _cuts_of(source)
    return None if cuts is None else cuts.between(before, after)


@functools.lru_cache(maxsize=64)
def _cuts_of(source: str) -> Cuts | None:
    """Return where an expression cuts; None if it is not known."""
    try:
        return scanner_of((source,)).cuts if source else None
    except UnsupportedError:
        return None


# ---------------------------------------------------------------------- pairs that tokens cross
class CrossedPairs:
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
        set_bits(self._crossed, pairs)

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
def set_bits(crossed, pairs):
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
