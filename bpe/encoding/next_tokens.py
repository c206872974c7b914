r"""``NextTokens``: which ids may come next, so that some text is still encoded to all of them.

What is read so far may have been cut into pieces in several ways, as the end of a piece depends on what
follows. Each way is a *hypothesis*::

    pattern  \s+(?!\S)|\s+|\w+|\s\w+       ids  ' '
    hypothesis                           what may follow
    the piece goes on                    a space, or a letter: tokens that merges do not join with ' '
    the piece has ended                  what begins a piece after a match of \s+(?!\S): a letter may not

A hypothesis has the number of a configuration (:mod:`bpe.splitting.compiled.configurations`), the bytes of a
character that has begun, the last id of the piece, and the beginning of the piece where it may become one
that is looked up whole.

1. Tokens of a merged piece are what merges make of their bytes, and each pair of neighbors is what merges
   make of its bytes (:mod:`bpe.encoding.kernels.pair_edges`). The converse holds, too: if all pairs are, so
   is the piece. For if not, some merge is the first that crosses the end of a token. Until then, the tokens
   on both sides of this end were merged as each by itself, so this merge would also join these two alone.
2. Some text continues each hypothesis. If a piece may end, its configuration tells this alone. Otherwise more
   tokens are sought until a piece may end.
"""

from __future__ import annotations

import codecs
import functools
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bpe.encoding.encoder import Encoder
from bpe.encoding.kernels.pair_edges import (
    AT_END,
    IN_CHARACTER,
    IN_PIECE,
    NOWHERE,
    PairEdges,
    configurations_after,
    find_splits,
    fits,
    fits_each,
    look_after,
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
_WAS_LOOKED_UP = -2  # the piece was looked up whole: it ends here
_FEW = 4  # tokens that are tried first
_MANY = 256  # tokens, for which a mask of all is made
_MOST_KNOWN = 20_000  # hypotheses of which is remembered whether their piece may end
# What is remembered: masks by configuration, a bit for each id; by hypotheses, a byte for each id; rows of
# configurations. All tables of o200k take 29 MB (asv_benchmarks/ids_table.py memory).
_BASES, _MASKS, _ROWS = 128, 8, 24
_CONTINUING = bytes(range(0x80, 0xC0))
_NOT_UTF8 = (0xC0, 0xC1, *range(0xF5, 0x100))


class Hypothesis(NamedTuple):
    """One way in which a text may have been cut into pieces."""

    configuration: int
    begun: bytes  # of a character
    last: int  # the last id of the piece; _NO_LAST, _WAS_LOOKED_UP
    word: bytes | None  # the bytes of the piece, if it may become one that is looked up; else None


Hypotheses = frozenset[Hypothesis]


class _Fits:
    """Which tokens may stand side by side in a piece."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        pairs, made, n = vocabulary.pairs, vocabulary.made, vocabulary.size
        self._vocabulary = vocabulary
        ranks = np.arange(len(made))
        last_rank = np.full(n, -1)
        last_rank[made] = ranks  # of several merges that make a token, the last one decides
        bytes_ids = np.array([i for i in vocabulary.byte_ids if i != NO_ID], np.int64)
        self.merges_in_order = not len(made) or bool((last_rank[pairs].max(axis=1) < ranks).all())
        self.is_made = np.zeros(n, bool)
        if self.merges_in_order:
            self._edges = self._find_edges(pairs, made, bytes_ids, n)
            return
        # Another order of merges is not known to be that of their ranks: pairs are merged.
        self._encoder = Encoder(vocabulary.replace(atomic_ids=()), Pattern.of("none"))
        self._ids = np.array(sorted(vocabulary.id_of.values()), np.int64)
        self._tokens = [vocabulary.bytes_of[token_id] for token_id in self._ids.tolist()]
        ids, offsets = self._merged(self._tokens)
        is_one = np.diff(offsets) == 1
        one = np.flatnonzero(is_one)
        self.is_made[self._ids[one[ids[offsets[one]] == self._ids[one]]]] = True

    def _find_edges(self, pairs: np.ndarray, made: np.ndarray, bytes_ids: np.ndarray, n: int) -> PairEdges:
        order = np.lexsort((np.arange(len(made)), *pairs.T[::-1])) if len(made) else np.empty(0, np.int64)
        lefts = pairs[order, 0] if len(made) else order
        self.is_made[bytes_ids] = True
        split_rank = np.full(n, -1, np.int32)
        edges = PairEdges(
            merges_of=np.searchsorted(lefts, np.arange(n + 1)),
            right_part=(pairs[order, 1] if len(made) else order).astype(np.int32),
            rank=order.astype(np.int32),
            is_made=self.is_made,
            left=np.full(n, -1, np.int32),
            right=np.full(n, -1, np.int32),
            split_rank=split_rank,
            place_of=np.zeros(n, np.int32),
            id_at=np.zeros(n, np.int32),
            stop_of=np.zeros(n, np.int32),
        )
        find_splits(edges, np.ascontiguousarray(pairs, np.int64), np.ascontiguousarray(made, np.int64))
        whole = np.flatnonzero(self.is_made)
        by_rank = whole[np.argsort(split_rank[whole], kind="stable")]
        number_left_edges(edges, by_rank, np.zeros(n, np.int64))
        return edges

    def _merged(self, tokens: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
        ends = np.cumsum([len(token) for token in tokens], dtype=np.int32)
        offsets = np.append(np.int32(0), ends).astype(np.int32)
        return self._encoder.encode_pieces(bytearray().join(tokens), offsets, ends)

    def fits(self, left: int, right: int) -> bool:
        """Return whether a token may stand after another in a piece."""
        if self.merges_in_order:
            return bool(fits(self._edges, left, right))
        return bool(self.fits_each(np.array([left]), np.array([right]))[0])

    def fits_each(self, lefts: np.ndarray, rights: np.ndarray) -> np.ndarray:
        """Return, for each of `rights`, whether it may stand after that of `lefts` in a piece."""
        if self.merges_in_order:
            out = np.zeros(len(rights), bool)
            fits_each(self._edges, lefts, rights, out)
            return out
        bytes_of, pairs = self._vocabulary.bytes_of, zip(lefts.tolist(), rights.tolist(), strict=True)
        ids, offsets = self._merged([bytes_of[left] + bytes_of[right] for left, right in pairs])
        is_pair = np.diff(offsets) == 2
        first = offsets[:-1][is_pair]
        is_pair[is_pair] = (ids[first] == lefts[is_pair]) & (ids[first + 1] == rights[is_pair])
        return is_pair

    def remove(self, left: int, mask: np.ndarray) -> None:
        """Set the mask to False for tokens that may not stand after another."""
        if self.merges_in_order:
            remove_joined(self._edges, left, mask)
            return
        mask[self._ids[~self.fits_each(np.full(len(self._ids), left), self._ids)]] = False


class NextTokens:
    """Which ids may follow others; for one engine."""

    def __init__(self, engine: Engine) -> None:
        vocabulary = engine.vocabulary
        vocabulary.refuse_far_ids("a mask of ids")
        self._symbol_of, self._configurations = _configurations_of(engine)
        self._fits = _Fits(vocabulary)
        self._bytes_of, self._id_of, self.size = vocabulary.bytes_of, vocabulary.id_of, vocabulary.size
        added_ids = {*vocabulary.added_tokens.values()}
        self.end_ids = engine.special_id_set | added_ids
        """Special and added tokens, which end a text."""
        self.end_ids_array = np.array(sorted(self.end_ids), np.int64)
        self.is_exact = (
            engine.is_lossless and not added_ids and engine.special_id_set.isdisjoint(self._id_of.values())
        )
        whole = self._fits.is_made
        atomic = (token_id for token_id in vocabulary.atomic_ids if not whole[token_id])
        self._looked_up = {self._bytes_of[token_id]: token_id for token_id in atomic}
        self._beginnings = {word[:n] for word in self._looked_up for n in range(len(word) + 1)}
        self._read_tokens()
        inside = {i: t for i in np.flatnonzero(whole).tolist() if (t := self._bytes_of[i])[0] & 0xC0 == 0x80}
        n_first = {i: len(t) - len(t.lstrip(_CONTINUING)) for i, t in inside.items()}
        # By the number of missing bytes: the tokens that are exactly these; all tokens that may follow.
        self._completing = [[i for i, t in inside.items() if len(t) == n_first[i] == n] for n in range(4)]
        self._fitting_in = [
            np.array([i for i, t in inside.items() if n_first[i] == n or len(t) == n_first[i] < n], np.int64)
            for n in range(4)
        ]
        self._completions_of = functools.lru_cache(maxsize=1024)(self._find_completions_of)
        self._find_completions()
        word = self._beginning_of(b"")
        self.first = frozenset(Hypothesis(c, b"", _NO_LAST, word) for c in self._configurations.first)
        self._goes_on = dict[Hypothesis, bool]()
        self._after_nodes_of = functools.lru_cache(maxsize=_ROWS)(self._find_after_nodes)
        self.steps = functools.lru_cache(maxsize=128)(self._find_steps)  # some texts repeat themselves
        self._base_of = functools.lru_cache(maxsize=_BASES)(self._find_base)
        self.mask = functools.lru_cache(maxsize=_MASKS)(self._find_mask)
        self._may_begin_of = functools.lru_cache(maxsize=1024)(self._find_may_begin)
        self._quick = functools.lru_cache(maxsize=1 << 14)(self._find_quick)
        for configuration in range(min(len(self._configurations.may_cut), _BASES)):
            self._base_of(configuration, b"")  # now, so that no mask takes long

    def _read_tokens(self) -> None:
        tokens = [self._bytes_of.get(token_id, b"") for token_id in range(self.size)]
        offsets = np.zeros(self.size + 1, np.int64)
        np.cumsum([len(token) for token in tokens], out=offsets[1:])
        self.longest = max(map(len, tokens), default=0)
        data = np.frombuffer(b"".join(tokens) or b"\0", np.uint8)
        symbols, symbol_offsets = np.empty(len(data), np.uint16), np.zeros(self.size + 1, np.int32)
        self._n_begun = np.zeros(self.size, np.int8)
        read_characters(data.copy(), offsets, self._symbol_of, symbols, symbol_offsets, self._n_begun)
        self._make_trie(symbols, symbol_offsets)
        self._ends_inside = np.flatnonzero((self._n_begun > 0) & self._fits.is_made)
        begun_of = {i: tokens[i][-int(self._n_begun[i]) :] for i in self._ends_inside.tolist()}
        self._all_begun = sorted({*begun_of.values()})
        number_of = {begun: number for number, begun in enumerate(self._all_begun)}
        self._begun_of = np.zeros(self.size, np.int16)
        self._begun_of[self._ends_inside] = [number_of[begun] for begun in begun_of.values()]

    def _make_trie(self, symbols: np.ndarray, offsets: np.ndarray) -> None:
        """Make the trie of the symbols of tokens, without an unfinished last character."""
        n_symbols, lengths = self._configurations.next_of.shape[1], np.diff(offsets)
        parents, node_symbols, n_nodes = [np.zeros(1, np.int64)], [np.zeros(1, np.int64)], 1
        self._node_of = np.zeros(self.size, np.int32)
        depth, left = 0, np.flatnonzero((lengths > 0) & (self._n_begun >= 0))
        while len(left):
            keys = self._node_of[left].astype(np.int64) * n_symbols + symbols[offsets[left] + depth]
            used, number_of = np.unique(keys, return_inverse=True)
            parents.append(used // n_symbols)
            node_symbols.append(used % n_symbols)
            self._node_of[left] = n_nodes + number_of
            depth, n_nodes = depth + 1, n_nodes + len(used)
            left = left[lengths[left] > depth]
        self._parents = np.concatenate(parents).astype(np.int32)
        self._node_symbols = np.concatenate(node_symbols).astype(np.uint16)
        self._node_of[self._n_begun < 0] = n_nodes  # no configuration is after it
        # The tokens that merges make, by their first symbols, then those that only begin a character.
        first = np.full(self.size, n_symbols)
        first[lengths > 0] = symbols[offsets[:-1][lengths > 0]]
        whole = np.flatnonzero(self._fits.is_made & (self._n_begun >= 0))
        self._made = whole[np.lexsort((self._node_of[whole], first[whole]))]
        self._starts = np.searchsorted(first[self._made], np.arange(n_symbols + 2))

    def _find_completions(self) -> None:
        """Find which symbols complete the characters that tokens begin, and the tokens that do."""
        next_of, symbol_of = self._configurations.next_of, self._symbol_of
        self._ends_piece = (next_of >= 0) & self._configurations.may_cut[next_of]
        shape = next_of.shape[1:]
        # By token that ends inside one, (n, symbols) bool: what it may begin; what one more token completes.
        self._begins = np.zeros((len(self._ends_inside), *shape), bool)
        self._completed = np.zeros_like(self._begins)
        number_of = self._begun_of[self._ends_inside]
        found = [(np.empty(0, np.int64),) * 3]
        for number, begun in enumerate(self._all_begun):
            codes = codes_beginning_with(begun)
            if codes is None:
                continue
            rights, symbols = self._completions_of(begun)
            rows = np.flatnonzero(number_of == number)
            some = np.bincount(symbol_of[codes.start : codes.stop] + 1, minlength=shape[0] + 1)[1:]
            self._begins[rows] = some > 0
            found.append(
                (np.repeat(rows, len(rights)), np.tile(rights, len(rows)), np.tile(symbols, len(rows)))
            )
        rows, rights, symbols = map(np.concatenate, zip(*found, strict=True))
        fitting = self._fits.fits_each(self._ends_inside[rows], rights)
        self._completed[rows[fitting], symbols[fitting]] = True
        # A few tokens of one character for each symbol.
        one = self._made[(self._n_begun[self._made] == 0) & (self._node_of[self._made] > 0)]
        one = one[self._parents[self._node_of[one]] == 0]
        symbols = self._node_symbols[self._node_of[one]]
        few = [one[symbols == symbol][:_FEW] for symbol in range(*shape)]
        self._characters = np.concatenate(few), np.repeat(np.arange(len(few)), [*map(len, few)])

    def _find_completions_of(self, begun: bytes) -> tuple[np.ndarray, np.ndarray]:
        """Return the tokens that complete a character and end, and the symbols of the characters."""
        codes, n_missing = codes_beginning_with(begun) or range(0), _n_missing(begun)
        rights = np.array(self._completing[n_missing], np.int64)
        first = codes.start >> 6 * n_missing << 6 * n_missing
        ends = first + np.array([_code_of(self._bytes_of[i]) for i in rights.tolist()], np.int64)
        is_one = (ends >= codes.start) & (ends < codes.stop)
        rights, symbols = rights[is_one], self._symbol_of[ends[is_one]]
        return rights[symbols >= 0], symbols[symbols >= 0]

    # ------------------------------------------------------------------------------------- one token
    @staticmethod
    def is_inside(hypotheses: Hypotheses) -> bool:
        """Return whether a character has begun."""
        return any(hypothesis.begun for hypothesis in hypotheses)

    def after(self, hypotheses: Hypotheses, token_id: int, may_end: bool) -> Hypotheses:
        """Return the hypotheses after one more id; none if no text gives all ids."""
        found = set[Hypothesis]()
        if may_end and token_id in self.end_ids:
            found |= self.first
        if self._id_of.get(self._bytes_of.get(token_id, b"")) == token_id:
            for hypothesis in hypotheses:
                found.update(self._follow(hypothesis, token_id))
        return frozenset(found)

    def _find_steps(
        self, hypotheses: Hypotheses, token_ids: tuple[int, ...], may_end: bool
    ) -> list[tuple[int, Hypotheses]]:
        """Return which of some ids may follow, each with the hypotheses after it."""
        each = ((token_id, self.after(hypotheses, token_id, may_end)) for token_id in token_ids)
        return [(token_id, after) for token_id, after in each if after]

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
            and (is_merged or hypothesis.last == _WAS_LOOKED_UP)
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
        is_merged = self._fits.is_made[token_id] and (
            last == _NO_LAST or (last >= 0 and self._fits.fits(last, token_id))
        )
        if not (is_looked_up or is_merged):
            return
        after = self._step(configuration, begun + token)
        if after is None:
            return
        if is_looked_up:
            yield Hypothesis(*after, _WAS_LOOKED_UP, None)
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
            few = self._quick(start.configuration, start.begun)
            if self._fits.fits_each(np.full(len(few), start.last), few).any():
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
        if len(self._goes_on) > _MOST_KNOWN:
            self._goes_on.clear()
        self._goes_on.update(dict.fromkeys([start] if found else known, found))
        return found

    def _find_quick(self, configuration: int, begun: bytes) -> np.ndarray:
        """Return a few tokens after which the piece may end: nearly always, one of them fits."""
        ids, symbols = self._completions_of(begun) if begun else self._characters
        return ids[self._ends_piece[configuration, symbols]]

    def _tokens_within(self, hypothesis: Hypothesis) -> Iterator[Hypothesis]:
        """Yield the hypotheses after all tokens that continue a piece."""
        if hypothesis.last == _WAS_LOOKED_UP:
            return
        if hypothesis.begun:
            yield from self._after_each(hypothesis, self._fitting_in[_n_missing(hypothesis.begun)])
            return
        yield from self._after_each(hypothesis, self._characters[0])  # nearly always, this is enough
        tokens = self._beginning_after(hypothesis.configuration)
        ends = self._ends_after(hypothesis.configuration, tokens)
        yield from self._after_each(hypothesis, tokens[ends != NOWHERE])

    def _after_each(self, hypothesis: Hypothesis, tokens: np.ndarray) -> Iterator[Hypothesis]:
        """Yield the hypotheses after those of some tokens that continue a piece."""
        configuration, begun, last, word = hypothesis
        fitting = self._fits.fits_each(np.full(len(tokens), last), tokens)
        for token_id in tokens[fitting].tolist():
            token = self._bytes_of[token_id]
            after = self._step(configuration, begun + token)
            if after is not None:
                yield Hypothesis(*after, token_id, None if word is None else self._beginning_of(word + token))

    # ------------------------------------------------------------------------------------- all tokens
    def beginning_with(self, hypotheses: Hypotheses, data: bytes) -> np.ndarray:
        """Return which ids of ordinary tokens may follow that begin with some bytes, in ascending order."""
        start = bisect_left(self._sorted, data)
        among = self._sorted_ids[start : self._n_up_to(data)].astype(np.int64)
        if len(among) <= _FEW:
            few = sorted(i for i in among.tolist() if self.after(hypotheses, i, False))
            return np.array(few, np.int64)
        if len(among) <= _MANY:
            found = np.zeros(len(among), bool)
            for hypothesis in hypotheses:
                found |= self._may_follow(hypothesis, among)
            return np.sort(among[found])
        mask = np.zeros(self.size, bool)
        mask[among] = True
        return np.flatnonzero(mask & self.mask(hypotheses))

    def beginnings_of(self, data: bytes) -> tuple[int, ...]:
        """Return the ids of the ordinary tokens that some bytes begin with, the shortest first."""
        n = bisect_right(self._sorted, data)
        # The last token that is not greater has all of them as beginnings, so that none is longer.
        longest = len(self._sorted[n - 1]) if n else 0
        found = (self._id_of.get(data[:n]) for n in range(1, min(longest, len(data)) + 1))
        return tuple(token_id for token_id in found if token_id is not None)

    def _n_up_to(self, data: bytes) -> int:
        """Return how many tokens are less than some bytes, or begin with them."""
        return bisect_left(self._sorted, data + b"\xff" * (self.longest + 1))

    @functools.cached_property
    def _sorted(self) -> list[bytes]:
        return sorted(self._id_of)

    @functools.cached_property
    def _sorted_ids(self) -> np.ndarray:
        return np.array([self._id_of[token] for token in self._sorted], np.uint32)

    def _find_mask(self, hypotheses: Hypotheses) -> np.ndarray:
        """Return which ids of ordinary tokens may follow; not to be written to."""
        mask = np.zeros(self.size, bool)
        for hypothesis in hypotheses:
            mask |= self._mask_after(hypothesis)
        mask.flags.writeable = False
        return mask

    def _mask_after(self, hypothesis: Hypothesis) -> np.ndarray:
        """Return which ordinary ids may follow a hypothesis."""
        configuration, begun, last, word = hypothesis
        if last == _WAS_LOOKED_UP:
            return np.zeros(self.size, bool)
        mask = np.unpackbits(self._base_of(configuration, begun), count=self.size).view(bool)
        if last >= 0:
            self._fits.remove(last, mask)
        if word is not None:  # the tokens with which the piece may still become one that is looked up
            for beginning in self._beginnings:
                token_id = self._id_of.get(beginning[len(word) :]) if beginning.startswith(word) else None
                if token_id is not None:
                    mask[token_id] = any(True for _ in self._follow(hypothesis, token_id))
        return mask

    def _may_follow(self, hypothesis: Hypothesis, tokens: np.ndarray) -> np.ndarray:
        """Return, for each of some tokens, whether it may follow a hypothesis."""
        configuration, begun, last, word = hypothesis
        if last == _WAS_LOOKED_UP:
            return np.zeros(len(tokens), bool)
        found = self._fits.is_made[tokens]
        if last >= 0:
            found &= self._fits.fits_each(np.full(len(tokens), last), tokens)
        found[found] = self._are_possible(configuration, begun, tokens[found])
        if word is not None:
            for place, token_id in enumerate(tokens.tolist()):
                if word + self._bytes_of[token_id] in self._beginnings:
                    found[place] = any(True for _ in self._follow(hypothesis, token_id))
        return found

    def _find_base(self, configuration: int, begun: bytes) -> np.ndarray:
        """Return, as bits, which tokens may follow a configuration, whatever the last token is.

        Tokens that are looked up whole are not among them.
        """
        mask = np.zeros(self.size, bool)
        tokens = self._fitting_in[_n_missing(begun)] if begun else self._beginning_after(configuration)
        mask[tokens] = self._are_possible(configuration, begun, tokens)
        return np.packbits(mask)

    def _are_possible(self, configuration: int, begun: bytes, tokens: np.ndarray) -> np.ndarray:
        """Return, for each of some tokens that merges make, whether it may follow a configuration."""
        if begun:
            start = Hypothesis(configuration, begun, _NO_LAST, None)
            return np.array([any(True for _ in self._follow(start, i)) for i in tokens.tolist()], bool)
        after_nodes, ends = self._after_nodes_of(configuration), self._ends_after(configuration, tokens)
        possible, undecided = ends == AT_END, list[tuple[np.ndarray, np.ndarray]]()
        inside = np.flatnonzero(ends == IN_CHARACTER)
        after = after_nodes[self._node_of[tokens[inside]]]
        rows = np.searchsorted(self._ends_inside, tokens[inside])
        may_follow = self._configurations.next_of[after] >= 0
        possible[inside] = (self._completed[rows] & self._ends_piece[after]).any(axis=1)
        is_undecided = (self._begins[rows] & may_follow).any(axis=1) & ~possible[inside]
        undecided.append((inside[is_undecided], after[is_undecided]))
        between = np.flatnonzero(ends == IN_PIECE)
        after = after_nodes[self._node_of[tokens[between]]]
        for here in np.unique(after).tolist():
            left = between[after == here]
            for token_id in self._quick(here, b"").tolist():
                fitting = self._fits.fits_each(tokens[left], np.full(len(left), token_id))
                possible[left] = fitting
                left = left[~fitting]
                if not len(left):
                    break
            undecided.append((left, np.full(len(left), here)))
        for places, configurations in undecided:
            for place, here in zip(places.tolist(), configurations.tolist(), strict=True):
                token_id = int(tokens[place])
                begun = self._all_begun[self._begun_of[token_id]] if ends[place] == IN_CHARACTER else b""
                possible[place] = self._may_go_on(Hypothesis(here, begun, token_id, None))
        return possible

    def _beginning_after(self, configuration: int) -> np.ndarray:
        """Return the tokens that merges make, without those whose first character may not follow."""
        may_follow = np.append(self._configurations.next_of[configuration] >= 0, True)
        stretches = (self._made[slice(*self._starts[i : i + 2])] for i in np.flatnonzero(may_follow))
        return np.concatenate([*stretches])

    def _ends_after(self, configuration: int, tokens: np.ndarray) -> np.ndarray:
        """Return, for each of some tokens, where it ends."""
        ends = np.empty(len(tokens), np.int8)
        tables = self._node_of, self._n_begun, self._configurations.may_cut
        look_after(self._after_nodes_of(configuration), *tables, tokens, ends)
        return ends

    def _find_after_nodes(self, configuration: int) -> np.ndarray:
        """Return the configuration after each node of the trie; the last is after no node."""
        after = np.full(len(self._parents) + 1, -1, np.int16)
        tables = self._parents, self._node_symbols
        configurations_after(self._configurations.next_of, configuration, *tables, after)
        return after


def _configurations_of(engine: Engine) -> tuple[np.ndarray, Configurations]:
    """Return the symbols of an engine's pattern and its configurations.

    Raises a ValueError if what may follow ids is not known.
    """
    if engine.vocabulary.n_super:
        why = "its supermerges join pieces"
    elif engine.changes_texts == "otherwise":
        why = "a normalizer or a pre-tokenizer of its file changes texts, not only to a Unicode normal form"
    else:
        try:
            return _compiled(engine.pattern.sources, _bytes_without_token(engine.vocabulary))
        except UnsupportedError as error:
            why = f"its pattern is not compiled: {error}"
    raise ValueError(f"which ids may follow is not known for this tokenizer: {why}")


@functools.lru_cache(maxsize=16)
def _compiled(sources: tuple[str, ...], without_token: tuple[int, ...]) -> tuple[np.ndarray, Configurations]:
    automata = [compile_automaton(source) for source in sources]
    symbol_of, symbols = joint_symbols(automata, _has_tokens(without_token) if without_token else None)
    return symbol_of, Configurations(automata, symbols)


def _n_missing(begun: bytes) -> int:
    """Return how many bytes a character lacks."""
    return 2 + (begun[0] >= 0xE0) + (begun[0] >= 0xF0) - len(begun)


def _code_of(end: bytes) -> int:
    """Return the bits that the last bytes of a character are for."""
    return functools.reduce(lambda code, byte: code << 6 | byte & 0x3F, end, 0)


def _bytes_without_token(vocabulary: Vocabulary) -> tuple[int, ...]:
    """Return the bytes of UTF-8 that have no token."""
    without = (value for value, token_id in enumerate(vocabulary.byte_ids) if token_id == NO_ID)
    return tuple(value for value in without if value not in _NOT_UTF8)


def _has_tokens(without_token: tuple[int, ...]) -> np.ndarray:
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
