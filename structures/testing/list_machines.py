"""The state machines of token lists and of their indexes."""

from __future__ import annotations

import copy
from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

from structures.testing.machines import _Machine, pickled, through_arrays
from structures.testing.models import PairModel, TokenModel
from structures.tokens.pair_index import PairIndex
from structures.tokens.token_list import TokenList

TOKEN = st.one_of(st.integers(0, 4), st.just(2**31 - 1))
SEGMENTS = st.lists(st.lists(TOKEN, min_size=1, max_size=10), max_size=4)
POSITION = st.integers(-1, 40)


def token_list_of(segments: list[list[int]]) -> TokenList:
    """Return a token list of segments."""
    return TokenList(list(chain.from_iterable(segments)), np.cumsum([0, *map(len, segments)]))


class TokenListMachine(_Machine):
    """:class:`~structures.TokenList` against a list of segments, each a list of (position, token)."""

    @initialize(segments=SEGMENTS)
    def start(self, segments: list[list[int]]) -> None:
        """Build list and model."""
        self.real, self.model = token_list_of(segments), TokenModel(segments)

    @rule(position=POSITION, token=TOKEN)
    def merge(self, position: int, token: int) -> None:
        """Merge anywhere, possible or not."""
        self.alike("merge", position, token)

    @rule(i=st.integers(0, 40), token=TOKEN)
    def merge_live(self, i: int, token: int) -> None:
        """Merge at a position that holds a token."""
        positions = self.model.positions()
        if positions:
            self.alike("merge", positions[i % len(positions)], token)

    @rule(position=POSITION)
    def look(self, position: int) -> None:
        """Read one position in every way."""
        for verb in ("next", "prev", "token", "segment_at"):
            self.alike(verb, position)

    @rule(number=st.integers(-1, 4))
    def segment(self, number: int) -> None:
        """Read a segment."""
        self.alike("segment", number)
        self.alike("segment_positions", number)

    @rule()
    def compact(self) -> None:
        """Remove the tombstones."""
        self.alike("compact")

    @rule(way=st.sampled_from([copy.copy, copy.deepcopy]), change_old=st.booleans())
    def continue_with_a_copy(self, way: Callable[[Any], Any], change_old: bool) -> None:
        """Continue with a copy and change the original, or the other way round."""
        other = self.copied(way, change_old)
        other.compact()
        while len(other) > other.n_segments:
            last = next(p for p in other.positions().tolist() if other.next(p) >= 0)
            other.merge(last, 3)
        other._check()

    @rule(way=st.sampled_from([pickled, through_arrays]))
    def continue_without_tombstones(self, way: Callable[[Any], Any]) -> None:
        """Replace the list by one built from its content."""
        self.real, old = way(self.real), self.real
        self.model.compact()
        assert self.real == old

    @invariant()
    def holds(self) -> None:
        """Check the list's own invariants, and compare everything."""
        self.real._check()
        assert len(self.real) == len(self.model.live())
        assert self.real.n_segments == len(self.model.segments)
        assert self.real.n_positions == self.model.n_positions
        assert list(self.real) == self.model.to_arrays()[0]
        self.alike("positions")
        self.alike("to_arrays")


class PairIndexMachine(_Machine):
    """:class:`~structures.PairIndex`, over a token list that merges, against a dict of lists."""

    @initialize(segments=SEGMENTS, full=st.booleans())
    def start(self, segments: list[list[int]], full: bool) -> None:
        """Build index and model over a token list."""
        tokens = token_list_of(segments)
        self.real = PairIndex.build(tokens) if full else PairIndex(tokens)
        self.model = PairModel(TokenModel(segments))
        if full:
            self.model.rebuild()

    @rule(i=st.integers(0, 40), token=TOKEN, post=st.booleans())
    def merge(self, i: int, token: int, post: bool) -> None:
        """Merge two tokens, and post the new pairs or do not."""
        tokens = self.model.tokens
        mergeable = [position for position in tokens.positions() if tokens.next(position) >= 0]
        if not mergeable:
            return
        position = mergeable[i % len(mergeable)]
        self.real.tokens.merge(position, token)
        tokens.merge(position, token)
        for left in (tokens.prev(position), position) if post else ():
            pair = tokens.pair_at(left)
            if pair is not None:
                self.alike("add", *pair, left)

    @rule(left=TOKEN, right=TOKEN, position=POSITION)
    def add(self, left: int, right: int, position: int) -> None:
        """Post anything, stale postings included."""
        self.alike("add", left, right, position)

    @rule(left=TOKEN, right=TOKEN, positions=st.lists(st.integers(0, 12), max_size=12))
    def add_many(self, left: int, right: int, positions: list[int]) -> None:
        """Post many."""
        self.alike("add_many", left, right, positions)

    @rule(left=TOKEN, right=TOKEN)
    def drop(self, left: int, right: int) -> None:
        """Drop a list that may be missing."""
        self.alike("drop", left, right)

    @rule(i=st.integers(0, 40))
    def drop_known(self, i: int) -> None:
        """Drop a list that is there."""
        if self.model.lists:
            self.alike("drop", *sorted(self.model.lists)[i % len(self.model.lists)])

    @rule()
    def rebuild(self) -> None:
        """Post everything again."""
        self.alike("rebuild")
        assert self.real.stale_fraction() == 0

    @rule()
    def compact(self) -> None:
        """Remove the tombstones of the token list, and rebuild."""
        assert self.real.tokens.compact().tolist() == self.model.tokens.compact()
        self.alike("rebuild")

    @rule(left=TOKEN, right=TOKEN)
    def look(self, left: int, right: int) -> None:
        """Read one pair in every way."""
        self.alike("postings", left, right)
        assert ((left, right) in self.real) == (self.alike("count", left, right) > 0)

    @rule(way=st.sampled_from([copy.copy, copy.deepcopy]), change_old=st.booleans())
    def continue_with_a_copy(self, way: Callable[[Any], Any], change_old: bool) -> None:
        """Continue with a copy and change the original, or the other way round."""
        other = self.copied(way, change_old)
        other.tokens.compact()
        other.rebuild()
        for pair in other.pairs():
            other.drop(*pair)
        other._check()
        assert (len(other), other.n_postings) == (0, 0)

    @rule(follow=st.booleans())
    def continue_without_stale_postings(self, follow: bool) -> None:
        """Continue with an index built from the content, over the same token list or a pickled one."""
        old = self.real
        self.real = pickled(old) if follow else PairIndex.from_arrays(*old.to_arrays())
        model = self.model
        model.lists = {pair: model.postings(*pair) for pair in model.lists if model.count(*pair)}
        if follow:
            place = {old: new for new, old in enumerate(model.tokens.compact())}
            model.lists = {pair: [place[p] for p in postings] for pair, postings in model.lists.items()}
        else:
            assert self.real == old

    @invariant()
    def holds(self) -> None:
        """Check the index's own invariants, and compare everything."""
        self.real._check()
        self.real.tokens._check()
        assert list(self.real.tokens) == self.model.tokens.to_arrays()[0]
        assert len(self.real) == len(self.model.lists)
        assert self.real.n_postings == self.model.n_postings
        self.alike("pairs")
        self.alike("stale_fraction")
        for pair in self.model.lists:
            self.alike("postings", *pair)
