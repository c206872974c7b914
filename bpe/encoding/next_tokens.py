r"""``NextTokens``: which ids keep it possible that some text gives all ids.

What is read so far may have been cut into pieces in several ways, as the end of a piece depends on what
follows. Each way is a *hypothesis*::

    pattern  \s+(?!\S)|\s+|\w+|\s\w+       ids  ' '
    hypothesis                           what may follow
    the piece goes on                    a space, or a letter: tokens that merges do not join with ' '
    the piece has ended                  what begins a piece after a match of \s+(?!\S): a letter may not

A hypothesis has the number of a configuration (:mod:`bpe.splitting.compiled.configurations`), the bytes of a
character that has begun, the last id of the piece, and the beginning of the piece where it may become one
that is looked up whole.

1. Tokens of a piece that is merged are made by merges of their bytes, and so is each pair of neighbors
   (:mod:`bpe.encoding.kernels.pair_edges`). Conversely, such tokens are the ids of their bytes: look at the
   first merge that would cross the end of a token. Until then, the two tokens at this end have been merged as
   each by itself, so that the merge would also join the two alone.
2. Some text continues each hypothesis. If a piece may end, its configuration tells this alone. Otherwise more
   tokens are sought until a piece may end.
"""

from __future__ import annotations

import codecs
import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bpe.encoding.encoder import Encoder
from bpe.encoding.kernels.pair_edges import (
    PairEdges,
    configurations_after,
    find_splits,
    fits,
    fits_any,
    number_left_edges,
    read_characters,
    remove_joined,
)
from bpe.splitting.compiled.automaton import compile_automaton
from bpe.splitting.compiled.classes import N_CODE_POINTS
from bpe.splitting.compiled.configurations import Configurations, joint_symbols
from bpe.splitting.compiled.syntax import UnsupportedError
from bpe.splitting.pattern import Pattern
from bpe.support.text import codes_beginning_with
from bpe.vocabulary.vocabulary import NO_ID

if TYPE_CHECKING:
    from bpe.encoding.engine import Engine
    from bpe.vocabulary.vocabulary import Vocabulary

_NO_LAST = -1  # the piece has no id yet
_WAS_WHOLE = -2  # the piece was looked up whole: it ends here
_FEW = 4  # tokens that are tried first
_REMEMBERED = 24  # masks, each of as many bytes as there are ids
_NOT_UTF8 = (0xC0, 0xC1, *range(0xF5, 0x100))


class Hypothesis(NamedTuple):
    """One way in which a text may have been cut into pieces."""

    configuration: int
    begun: bytes  # of a character
    last: int  # the last id of the piece; _NO_LAST, _WAS_WHOLE
    word: bytes | None  # the bytes of the piece, if it may become one that is looked up; else None


Hypotheses = frozenset[Hypothesis]


class _Fits:
    """Which tokens may stand side by side in a piece."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        pairs, made, n = vocabulary.pairs, vocabulary.made, vocabulary.size
        self._vocabulary = vocabulary
        ranks = np.arange(len(made))
        last_rank = np.full(n, -1)
        last_rank[made] = ranks  # the last of several counts
        bytes_ids = np.array([i for i in vocabulary.byte_ids if i != NO_ID], np.int64)
        self.is_fast = not len(made) or bool((last_rank[pairs].max(axis=1) < ranks).all())
        self.is_whole = np.zeros(n, bool)
        if self.is_fast:
            self._edges = self._find_edges(pairs, made, bytes_ids, n)
            return
        # Another order of merges is not known to be that of their ranks: pairs are merged.
        self._encoder = Encoder(vocabulary.replace(atomic_ids=()), Pattern.of("none"))
        self._ids = np.array(sorted(vocabulary.id_of.values()), np.int64)
        self._tokens = [vocabulary.bytes_of[token_id] for token_id in self._ids.tolist()]
        ids, offsets = self._merged(self._tokens)
        is_one = np.diff(offsets) == 1
        one = np.flatnonzero(is_one)
        self.is_whole[self._ids[one[ids[offsets[one]] == self._ids[one]]]] = True

    def _find_edges(self, pairs: np.ndarray, made: np.ndarray, bytes_ids: np.ndarray, n: int) -> PairEdges:
        order = np.lexsort((np.arange(len(made)), *pairs.T[::-1])) if len(made) else np.empty(0, np.int64)
        lefts = pairs[order, 0] if len(made) else order
        self.is_whole[bytes_ids] = True
        split_rank = np.full(n, -1, np.int32)
        edges = PairEdges(
            merges_of=np.searchsorted(lefts, np.arange(n + 1)),
            right_part=(pairs[order, 1] if len(made) else order).astype(np.int32),
            rank=order.astype(np.int32),
            is_whole=self.is_whole,
            left=np.full(n, -1, np.int32),
            right=np.full(n, -1, np.int32),
            split_rank=split_rank,
            place_of=np.zeros(n, np.int32),
            id_at=np.zeros(n, np.int32),
            stop_of=np.zeros(n, np.int32),
        )
        find_splits(edges, np.ascontiguousarray(pairs, np.int64), np.ascontiguousarray(made, np.int64))
        whole = np.flatnonzero(self.is_whole)
        by_rank = whole[np.argsort(split_rank[whole], kind="stable")]
        number_left_edges(edges, by_rank, np.zeros(n, np.int64))
        return edges

    def _merged(self, tokens: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
        ends = np.cumsum([len(token) for token in tokens], dtype=np.int32)
        offsets = np.append(np.int32(0), ends).astype(np.int32)
        return self._encoder.encode_pieces(bytearray().join(tokens), offsets, ends)

    def fits(self, left: int, right: int) -> bool:
        """Return whether a token may stand after another in a piece."""
        if self.is_fast:
            return bool(fits(self._edges, left, right))
        bytes_of = self._vocabulary.bytes_of
        return self._merged([bytes_of[left] + bytes_of[right]])[0].tolist() == [left, right]

    def fits_any(self, lefts: np.ndarray, rights: list[int]) -> np.ndarray:
        """Return of each of `lefts` whether one of `rights` may stand after it in a piece."""
        out = np.zeros(len(lefts), bool)
        if self.is_fast:
            fits_any(self._edges, lefts, np.array(rights, np.int64), out)
        return out

    def remove(self, left: int, mask: np.ndarray) -> None:
        """Set to False which tokens may not stand after another."""
        if self.is_fast:
            remove_joined(self._edges, left, mask)
            return
        before = self._vocabulary.bytes_of[left]
        ids, offsets = self._merged([before + token for token in self._tokens])
        first = np.minimum(offsets[:-1], max(len(ids) - 2, 0))
        is_pair = np.diff(offsets) == 2
        if len(ids) >= 2:
            is_pair &= (ids[first] == left) & (ids[first + 1] == self._ids)
        mask[self._ids[~is_pair]] = False


class NextTokens:
    """Which ids may follow others; for one engine."""

    def __init__(self, engine: Engine) -> None:
        vocabulary = engine.vocabulary
        self._symbol_of, self._configurations = _configurations_of(engine)
        self._fits = _Fits(vocabulary)
        self._bytes_of, self._id_of, self.size = vocabulary.bytes_of, vocabulary.id_of, vocabulary.size
        added_ids = {*vocabulary.added_tokens.values()}
        self.bounds = engine.special_id_set | added_ids
        """Special and added tokens, which end a text."""
        self.bounds_array = np.array(sorted(self.bounds), np.int64)
        self.is_exact = (
            engine.is_lossless and not added_ids and engine.special_id_set.isdisjoint(self._id_of.values())
        )
        whole = self._fits.is_whole
        atomic = (token_id for token_id in vocabulary.atomic_ids if not whole[token_id])
        self._looked_up = {self._bytes_of[token_id]: token_id for token_id in atomic}
        self._beginnings = {word[:n] for word in self._looked_up for n in range(len(word) + 1)}
        self._read_tokens()
        is_continuing = (i for i in np.flatnonzero(whole).tolist() if self._bytes_of[i][0] & 0xC0 == 0x80)
        self._continuing = sorted(is_continuing, key=lambda i: len(self._bytes_of[i]))
        self._continuing_by_length = [
            [i for i in self._continuing if len(self._bytes_of[i]) == n] for n in range(4)
        ]
        word = self._beginning_of(b"")
        self.first = frozenset(Hypothesis(c, b"", _NO_LAST, word) for c in self._configurations.first)
        self._goes_on = dict[Hypothesis, bool]()
        self._after_of = functools.lru_cache(maxsize=16)(self._configurations_after)
        self._base_of = functools.lru_cache(maxsize=_REMEMBERED)(self._find_base)
        self._mask_of = functools.lru_cache(maxsize=_REMEMBERED)(self._find_mask)
        self._may_begin_of = functools.lru_cache(maxsize=1024)(self._find_may_begin)
        self._quick = functools.lru_cache(maxsize=1 << 14)(self._find_quick)

    def _read_tokens(self) -> None:
        tokens = [self._bytes_of.get(token_id, b"") for token_id in range(self.size)]
        offsets = np.zeros(self.size + 1, np.int64)
        np.cumsum([len(token) for token in tokens], out=offsets[1:])
        data = np.frombuffer(b"".join(tokens) or b"\0", np.uint8)
        symbols, self._symbol_offsets = np.empty(len(data), np.uint8), np.zeros(self.size + 1, np.int32)
        self._n_begun = np.zeros(self.size, np.int8)
        n = read_characters(
            data.copy(),
            offsets,
            self._symbol_of,
            symbols,
            self._symbol_offsets,
            self._n_begun,
        )
        self._symbols = symbols[:n].copy()
        ends_inside = np.flatnonzero(self._n_begun > 0).tolist()
        begun_of = {token_id: tokens[token_id][-int(self._n_begun[token_id]) :] for token_id in ends_inside}
        self._all_begun = [b"", *sorted({*begun_of.values()})]
        number_of = {begun: number for number, begun in enumerate(self._all_begun)}
        self._begun_of = np.zeros(self.size, np.int16)
        self._begun_of[ends_inside] = [number_of[begun_of[token_id]] for token_id in ends_inside]

    # ------------------------------------------------------------------------------------- one token
    @staticmethod
    def is_inside(hypotheses: Hypotheses) -> bool:
        """Return whether a character has begun."""
        return any(hypothesis.begun for hypothesis in hypotheses)

    def after(self, hypotheses: Hypotheses, token_id: int, may_end: bool) -> Hypotheses:
        """Return the hypotheses after one more id; none if no text gives all ids."""
        found = set[Hypothesis]()
        if may_end and token_id in self.bounds:
            found |= self.first
        if self._id_of.get(self._bytes_of.get(token_id, b"")) == token_id:
            for hypothesis in hypotheses:
                found.update(self._follow(hypothesis, token_id))
        return frozenset(found)

    def may_end(self, hypotheses: Hypotheses) -> bool:
        """Return whether a text may end here, between characters."""
        if hypotheses == self.first:
            return True  # it is empty
        return any(
            self._configurations.may_end[each.configuration] and self._may_cut(each) for each in hypotheses
        )

    def _may_cut(self, hypothesis: Hypothesis) -> bool:
        """Return whether the piece, or the text, may end here."""
        is_merged = hypothesis.last >= 0 and hypothesis.word not in self._looked_up
        return (
            not hypothesis.begun
            and (is_merged or hypothesis.last == _WAS_WHOLE)
            and bool(self._configurations.may_cut[hypothesis.configuration])
        )

    def _follow(self, hypothesis: Hypothesis, token_id: int) -> Iterator[Hypothesis]:
        """Yield the hypotheses after a token: the piece goes on, or it has ended."""
        for after in self._within(hypothesis, token_id):
            may_cut = self._may_cut(after)
            if may_cut or self._may_go_on(after):
                yield after
            if may_cut:
                word = self._beginning_of(b"")
                for configuration in self._configurations.cuts_of[after.configuration]:
                    yield Hypothesis(configuration, b"", _NO_LAST, word)

    def _within(self, hypothesis: Hypothesis, token_id: int) -> Iterator[Hypothesis]:
        """Yield the hypotheses after a token if no piece has ended yet."""
        configuration, begun, last, word = hypothesis
        token = self._bytes_of[token_id]
        is_looked_up = last == _NO_LAST and self._looked_up.get(token) == token_id
        is_merged = self._fits.is_whole[token_id] and (
            last == _NO_LAST or (last >= 0 and self._fits.fits(last, token_id))
        )
        if not (is_looked_up or is_merged):
            return
        after = self._step(configuration, begun + token)
        if after is None:
            return
        if is_looked_up:
            yield Hypothesis(*after, _WAS_WHOLE, None)
        if is_merged:
            yield Hypothesis(*after, token_id, None if word is None else self._beginning_of(word + token))

    def _beginning_of(self, word: bytes) -> bytes | None:
        return word if self._looked_up and word in self._beginnings else None

    def _step(self, configuration: int, data: bytes) -> tuple[int, bytes] | None:
        """Return the configuration after some bytes, and those of a begun character, if there is one."""
        try:
            text, n = codecs.utf_8_decode(data, "strict", False)
        except UnicodeDecodeError:
            return None
        symbol_of, next_of = self._symbol_of, self._configurations.next_of
        for character in text:
            configuration = int(next_of[configuration, symbol_of[ord(character)]])
            if configuration < 0:
                return None
        begun = data[n:]
        return (configuration, begun) if self._may_begin(configuration, begun) else None

    def _may_begin(self, configuration: int, begun: bytes) -> bool:
        """Return whether some character that begins so may follow."""
        return not begun or bool(self._may_begin_of(begun)[configuration])

    def _find_may_begin(self, begun: bytes) -> list[bool]:
        """Return, by configuration, whether some character that begins so may follow."""
        codes = codes_beginning_with(begun)
        symbols = self._symbol_of[codes.start : codes.stop] if codes else np.empty(0, np.int64)
        symbols = np.unique(symbols[symbols >= 0])
        may_begin = np.logical_or.reduce(self._configurations.next_of[:, symbols] >= 0, axis=1)
        return may_begin.tolist()

    def _may_go_on(self, start: Hypothesis) -> bool:
        """Return whether more tokens lead to a place where the piece may end."""
        if start.last < 0:
            return False
        if start in self._goes_on:
            return self._goes_on[start]
        if start.word is None:
            for token_id in self._quick(start.configuration, start.begun):
                if self._fits.fits(start.last, token_id):
                    return True
        known, pending = {start}, [self._tokens_within(start)]
        found = False
        while pending and not found:
            hypothesis = next(pending[-1], None)
            if hypothesis is None:
                pending.pop()
            elif hypothesis not in known:
                known.add(hypothesis)
                found = self._may_cut(hypothesis) or self._goes_on.get(hypothesis, False)
                if not found and hypothesis not in self._goes_on:
                    pending.append(self._tokens_within(hypothesis))
        if len(self._goes_on) > 100_000:
            self._goes_on.clear()
        self._goes_on.update(dict.fromkeys([start] if found else known, found))
        return found

    def _find_quick(self, configuration: int, begun: bytes) -> list[int]:
        """Return a few tokens after which the piece may end: nearly always, one of them fits."""
        if not begun:
            after = self._after_of(configuration)
            is_end = self._fits.is_whole & (after >= 0) & (self._n_begun == 0)
            return np.flatnonzero(is_end & self._configurations.may_cut[after])[:_FEW].tolist()
        width = 2 + (begun[0] >= 0xE0) + (begun[0] >= 0xF0)
        found = list[int]()
        for token_id in self._continuing_by_length[width - len(begun)]:
            after_token = self._step(configuration, begun + self._bytes_of[token_id])
            if after_token and not after_token[1] and self._configurations.may_cut[after_token[0]]:
                found.append(token_id)
                if len(found) == _FEW:
                    break
        return found

    def _tokens_within(self, hypothesis: Hypothesis) -> Iterator[Hypothesis]:
        """Yield the hypotheses after all tokens that continue a piece."""
        if hypothesis.last == _WAS_WHOLE:
            return
        tokens = self._continuing
        if not hypothesis.begun:
            after = self._after_of(hypothesis.configuration)
            tokens = np.flatnonzero((after >= 0) & self._fits.is_whole).tolist()
        for token_id in tokens:
            yield from self._within(hypothesis, token_id)

    # ------------------------------------------------------------------------------------- all tokens
    def mask(self, hypotheses: Hypotheses) -> np.ndarray:
        """Return which ids of ordinary tokens may follow; not to be written to."""
        return self._mask_of(hypotheses)

    def _find_mask(self, hypotheses: Hypotheses) -> np.ndarray:
        mask = np.zeros(self.size, bool)
        for hypothesis in hypotheses:
            mask |= self._mask_after(hypothesis)
        mask.flags.writeable = False
        return mask

    def _mask_after(self, hypothesis: Hypothesis) -> np.ndarray:
        """Return which ordinary ids may follow a hypothesis."""
        configuration, begun, last, word = hypothesis
        if last == _WAS_WHOLE:
            return np.zeros(self.size, bool)
        mask = self._base_of(configuration, begun)
        if last == _NO_LAST and word is None:
            return mask
        mask = mask.copy()
        if last >= 0:
            self._fits.remove(last, mask)
        if word is not None:  # the tokens with which the piece may still become one that is looked up
            for beginning in self._beginnings:
                token_id = self._id_of.get(beginning[len(word) :]) if beginning.startswith(word) else None
                if token_id is not None:
                    mask[token_id] = any(True for _ in self._follow(hypothesis, token_id))
        return mask

    def _find_base(self, configuration: int, begun: bytes) -> np.ndarray:
        """Return which tokens may follow a configuration, whatever the last token is; none is looked up."""
        mask = np.zeros(self.size, bool)
        if begun:
            start = Hypothesis(configuration, begun, _NO_LAST, None)
            for token_id in self._continuing:
                mask[token_id] = any(True for _ in self._follow(start, token_id))
            return mask
        after = self._after_of(configuration)
        mask = (after >= 0) & self._fits.is_whole
        is_easy = mask & (self._n_begun == 0) & self._configurations.may_cut[after]
        hard = np.flatnonzero(mask & ~is_easy)
        keys = after[hard].astype(np.int64) * len(self._all_begun) + self._begun_of[hard]
        order = np.argsort(keys, kind="stable")
        hard, keys = hard[order], keys[order]
        starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]) if len(keys) else keys)
        for ids, key in zip(np.split(hard, starts[1:]), keys[starts].tolist(), strict=False):
            here, number = divmod(key, len(self._all_begun))
            begun = self._all_begun[number]
            mask[ids] = may_begin = self._may_begin(here, begun)
            if may_begin:
                left = ids[~self._fits.fits_any(ids, self._quick(here, begun))]
                for token_id in left.tolist():
                    mask[token_id] = self._may_go_on(Hypothesis(here, begun, token_id, None))
        return mask

    def _configurations_after(self, configuration: int) -> np.ndarray:
        """Return the configuration after each token, without the bytes that begin a character."""
        after = np.empty(self.size, np.int32)
        tables = self._configurations.next_of
        configurations_after(tables, configuration, self._symbols, self._symbol_offsets, self._n_begun, after)
        return after


def _configurations_of(engine: Engine) -> tuple[np.ndarray, Configurations]:
    """Return the symbols of an engine's pattern and its configurations.

    It raises if what follows ids cannot be told.
    """
    what = ""
    if engine.vocabulary.n_super:
        what = "its supermerges join pieces"
    elif engine.changes_texts == "otherwise":
        what = "a normalizer or a pre-tokenizer of its file changes texts, not only to a Unicode normal form"
    else:
        try:
            return _compiled(engine.pattern.sources, _bytes_without_token(engine.vocabulary))
        except UnsupportedError as error:
            what = f"its pattern is not compiled: {error}"
    raise ValueError(f"which ids may follow is not known for this tokenizer: {what}")


@functools.lru_cache(maxsize=16)
def _compiled(sources: tuple[str, ...], without_token: tuple[int, ...]) -> tuple[np.ndarray, Configurations]:
    automata = [compile_automaton(source) for source in sources]
    symbol_of, symbols = joint_symbols(automata, _is_encoded(without_token) if without_token else None)
    return symbol_of, Configurations(automata, symbols)


def _bytes_without_token(vocabulary: Vocabulary) -> tuple[int, ...]:
    """Return the bytes of UTF-8 that no text can have."""
    without = (value for value, token_id in enumerate(vocabulary.byte_ids) if token_id == NO_ID)
    return tuple(value for value in without if value not in _NOT_UTF8)


def _is_encoded(without_token: tuple[int, ...]) -> np.ndarray:
    """Return, by code point, whether all bytes of a character have tokens."""
    has_token = np.ones(256, bool)
    has_token[[*without_token]] = False
    codes = np.arange(N_CODE_POINTS)
    last = has_token[0x80 | codes & 0x3F]
    third = has_token[0x80 | codes >> 6 & 0x3F]
    second = has_token[0x80 | codes >> 12 & 0x3F]
    return np.select(
        [codes < 0x80, codes < 0x800, codes < 0x10000],
        [
            has_token[codes & 0x7F],
            has_token[0xC0 | codes >> 6 & 0x1F] & last,
            has_token[0xE0 | codes >> 12 & 0xF] & third & last,
        ],
        has_token[0xF0 | codes >> 18] & second & third & last,
    )
