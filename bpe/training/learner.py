"""``Learner``: the containers and arrays of a training. ``Training``: what it learns, and until when."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from bpe.counting.word_counts import WordCounts
from bpe.support.progress import Progress, progress_bar
from bpe.support.threads import Uninterrupted, in_background
from bpe.training import selection as loops
from bpe.training.merging import discard, lower_min_count, narrow, replay
from bpe.training.options import LONGEST, Options, Selection, Ties
from bpe.training.selection import ALL, NONE, make_tie_heap
from bpe.training.start import Start
from bpe.training.state import (
    DONE,
    LENGTH,
    MAX_LENGTH,
    MIN_COUNT,
    N_TOKENS,
    START,
    TOKEN_ROWS,
    WEIGHT,
    Runs,
    State,
    count_pairs,
    fill_queue,
    in_order,
    leave_out,
    set_room,
    spelled,
    stretches_of,
)
from bpe.vocabulary.vocabulary import ALPHABETS, Vocabulary
from structures import CountBuckets, IntMap, MaxHeap, PairIndex, TokenList, unpack_pair

# A run of n merges begins with the pairs whose count is at least 1 / (PARTS * n) of that of all pairs of
# bytes together. When they are used up, the minimum count is divided by DIVISOR.
PARTS, DIVISOR = 256, 16
_QUEUES: dict[str, Any] = {"heap": MaxHeap, "buckets": CountBuckets}

_FEW_WORDS, _FEW_BYTES = 1 << 16, 1 << 20  # with fewer, to begin takes some milliseconds
PATIENCE = 0.05  # seconds between two updates of the progress bar, and checks for Ctrl-C


class Learner:
    """Learns merges, as ids, from counted pieces: owns the containers and arrays of :class:`State`."""

    def __init__(self, counts: WordCounts, start: Start, ties: Ties, selection: Selection) -> None:
        self._choose(ties, selection)
        data, offsets, weight_of = counts.to_arrays()
        if start.left_out:
            data, offsets, weight_of = leave_out(data, offsets, weight_of, start.left_out)
        data, offsets, weight_of = self._in_order(data, offsets, weight_of)
        byte_ids = np.array(start.byte_ids, np.int64)
        of_bytes = np.zeros(1 << 16, np.int64)
        if not count_pairs(data, offsets, weight_of, byte_ids, of_bytes, self.queue):
            raise OverflowError("the count of a pair passes 2**63 - 1")
        self._greatest, self._total = int(of_bytes.max()), float(of_bytes.sum(dtype=np.float64))
        is_plain = start.byte_ids == [*range(256)]
        tokens = TokenList(data if is_plain else byte_ids.astype(np.int32)[data], offsets)

        # Tokens are compared by their bytes in this text: the pieces, and after them all byte values.
        is_by_bytes = ties in ("lexicographic", "gpt2")
        text = np.concatenate((data if is_by_bytes else data[:0], np.arange(256, dtype=np.uint8)))
        of_token = np.zeros((TOKEN_ROWS, start.next_id), np.int64)
        alphabet = np.array([value for value in range(256) if value not in start.left_out])
        of_token[START, byte_ids[alphabet]] = text.size - 256 + alphabet
        of_token[LENGTH, byte_ids[alphabet]] = 1
        self._n_known, self._next_id = len(start.merges), start.next_id
        self._make_state(tokens, offsets, weight_of, text, of_token, False)
        self.make_room(max(1, self._n_known))
        if self._n_known:
            self.log[: self._n_known, :2] = start.merges
            self.log[: self._n_known, 2] = start.merged_ids
            replay(self.state, self._n_known)

    @classmethod
    def in_runs(
        cls,
        runs: Runs,
        bytes_of: dict[int, bytes],
        next_id: int,
        log: np.ndarray,
        ties: Ties,
        selection: Selection,
    ) -> Learner:
        """Return a learner that continues in runs of tokens: the merges of `log` are already done in them."""
        self = cls.__new__(cls)
        self._choose(ties, selection)
        tokens, offsets, weight_of = self._in_order(*runs)
        fill_queue(tokens, offsets, weight_of, self.queue)
        self._greatest, self._total = 0, 0.0
        self._n_known, self._next_id = 0, next_id
        text, of_token = spelled(bytes_of, next_id + len(log))
        self._make_state(TokenList(tokens, offsets), offsets, weight_of, text, of_token, True)
        self.log, self.numbers[DONE] = log, len(log)
        self.make_room(max(1, len(log)))
        return self

    def _choose(self, ties: Ties, selection: Selection) -> None:
        """Set the rules, and make an empty queue."""
        self._ties, self._selection = ties, selection
        self.queue = _QUEUES[selection]()

    def _in_order(
        self, data: np.ndarray, offsets: np.ndarray, weight_of: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the pieces in descending order of their counts; with ties="first", in the given order."""
        if self._ties == "first":
            return data, offsets, weight_of
        order = np.argsort(-weight_of, kind="stable")
        return *in_order(data, offsets, order), weight_of[order]

    def _make_state(
        self,
        tokens: TokenList,
        offsets: np.ndarray,
        weight_of: np.ndarray,
        text: np.ndarray,
        of_token: np.ndarray,
        spells: bool,
    ) -> None:
        """Make the state of the tokens; the queue has been filled before."""
        if self._ties == "gpt2":
            text = np.argsort(ALPHABETS["gpt2"]).astype(np.uint8)[text]  # bytes as positions in the alphabet
        self.weights, self.tokens, self.of_token = stretches_of(offsets, weight_of), tokens, of_token
        self.index = PairIndex.build(tokens)
        self._n_stale = self.tie_heap = None
        if self._ties != "smallest":
            self._n_stale = IntMap()
            self.tie_heap = make_tie_heap(self._ties == "first", 1, self._n_stale, text, spells)
        self.log = np.empty((0, 4), np.int64)
        with np.errstate(over="ignore"):
            n_tokens = np.diff(offsets) @ weight_of
        self.numbers = np.array([1, LONGEST, 0, n_tokens])
        self.min_count, self._room = 1, 0
        self._including: Uninterrupted | None = None
        parts = self.tokens, self.index, self.queue, self.weights, self.of_token, self.log, self.numbers
        self.state = State(*parts)

    @property
    def n_done(self) -> int:
        """How many merges are done."""
        return int(self.numbers[DONE])

    def make_room(self, wanted: int) -> None:
        """Enlarge every array that is indexed by token or merge to have room for `wanted` merges."""
        self.settle()
        if wanted <= self._room:
            return
        room = max(wanted, 2 * len(self.log))
        n_tokens = self._next_id + max(0, room - self._n_known)
        log = np.zeros((room, 4), np.int64)
        log[: self.n_done] = self.log[: self.n_done]
        log[self._n_known :, 2] = np.arange(self._next_id, self._next_id + room - self._n_known)
        of_token = np.zeros((TOKEN_ROWS, n_tokens), np.int64)
        of_token[:, : self.of_token.shape[1]] = self.of_token
        self._room = 0  # after an interrupt before the end, all of this is repeated
        set_room(self.state, of_token, log)
        self.log, self.of_token = log, of_token  # in this order: the log says how much room there is at least
        self._room = room

    def run(self, wanted: int, allowed: int) -> int:
        """Learn until `wanted` merges are done; return NONE, or the next pair if it is not `allowed` yet."""
        if self.tie_heap is None:
            return loops.run_smallest(self.state, wanted, allowed)
        return loops.run_with_tie_heap(self.state, self.tie_heap, wanted, allowed)

    # -------------------------------------------------------------------------------- pairs within limits
    def narrow(self, min_count: int, max_length: int) -> None:
        """Set the limits, and remove the pairs outside of them from queue and index."""
        if [min_count, max_length] == self.numbers[[MIN_COUNT, MAX_LENGTH]].tolist():
            return
        pairs, counts = self.queue.to_arrays()
        lengths = self.of_token[LENGTH, pairs >> 32] + self.of_token[LENGTH, pairs & 0xFFFFFFFF]
        outside = (counts < min_count) | (lengths > max_length)
        narrow(self.state, pairs[outside], min_count, max_length)

    def leave_out_rare(self, n_merges: int) -> None:
        """Leave out the pairs that are too rare for the first `n_merges`, until all others are used up."""
        min_count = min(self._greatest, int(self._total / (PARTS * max(n_merges, 1))))
        if min_count > self.min_count:
            self.narrow(min_count, int(self.numbers[MAX_LENGTH]))

    def include_rarer(self, refused: Collection[int]) -> bool:
        """Include rarer pairs, except the `refused`; return whether any were left out."""
        min_count = int(self.numbers[MIN_COUNT])
        if min_count == self.min_count:
            return False
        if self._n_stale is not None:
            self._n_stale.clear()
        min_count = max(self.min_count, min_count // DIVISOR)
        pairs = np.array(sorted(refused), np.int64)
        self._including = Uninterrupted(lower_min_count, self.state, pairs, min_count)
        in_background(self._including)  # many pieces take long
        self._including = None
        return True

    def settle(self) -> None:
        """Wait until the containers are consistent: after an interrupt, a thread may still work on them."""
        if self._including is not None:
            self._including.finish()
            self._including = None

    def discard(self, pairs: Sequence[int]) -> None:
        """Remove packed pairs from queue and index."""
        discard(self.state, np.array(pairs, np.int64))

    def check(self, refused: Collection[int]) -> None:
        """Compare counts, postings and links with a recount from scratch."""
        self.settle()
        for container in (self.tokens, self.index, self.queue):
            container._check()
        counts: dict[int, int] = {}
        postings: dict[int, list[int]] = {}
        begins, weights = self.weights
        positions = self.tokens.positions()
        weight_at = weights[np.searchsorted(begins, positions, side="right") - 1].tolist()
        for position, weight in zip(positions.tolist(), weight_at, strict=True):
            following = self.tokens.next(position)
            if following >= 0:
                pair = self.tokens.token(position) << 32 | self.tokens.token(following)
                counts[pair] = counts.get(pair, 0) + weight
                postings.setdefault(pair, []).append(position)
        length_of = self.of_token[LENGTH].tolist()
        within = {
            pair: count
            for pair, count in counts.items()
            if count >= self.numbers[MIN_COUNT]
            and length_of[pair >> 32] + length_of[pair & 0xFFFFFFFF] <= self.numbers[MAX_LENGTH]
            and pair not in refused
        }
        assert dict(self.queue.items()) == within, "1: counts"
        indexed = {left << 32 | right for left, right in self.index.pairs().tolist()}
        assert indexed == set(within), "2: pairs that have postings"
        for pair in within:
            found = self.index.postings(pair >> 32, pair & 0xFFFFFFFF).tolist()
            assert found == postings[pair], f"2, 3: {pair}"
        assert not self.of_token[WEIGHT:].any(), "4: scratch"
        assert (sum(weight_at) - int(self.numbers[N_TOKENS])) % 2**64 == 0, "5: tokens"


# ------------------------------------------------------------------------------------------------ training
class Training:
    """Learns merges from counted words, except those that `keep` refuses; :class:`bpe.Trainer` wraps it."""

    def __init__(self, counts: WordCounts, start: Start, options: Options, unit: int = 1) -> None:
        if not len(counts):
            raise ValueError("there are no words to learn from")
        self.start, self.pattern, self._keep = start, counts.pattern, options.keep
        self._known = frozenset(start.other_tokens.values())  # no merge may make one of these again
        self._allowed = NONE if options.keep is not None or self._known else ALL
        self._refused: set[int] = set()  # packed pairs
        self._is_broken = self._has_run = False
        # Bytes that are left out are in it, too, until their id becomes that of a new token.
        self._bytes_of = {token_id: bytes([value]) for value, token_id in enumerate(start.byte_ids)}
        self._n_named = 0  # merges whose token is in bytes_of
        is_quick = len(counts) < _FEW_WORDS and counts.n_bytes < _FEW_BYTES
        begin = Learner if is_quick else partial(in_background, Learner)
        self.learner = begin(counts, start, options.ties, options.selection)
        self.learner.min_count = options.least(unit)
        self.learner.narrow(self.learner.min_count, options.longest)

    @property
    def n_done(self) -> int:
        """How many merges are done, those of the start included."""
        return self.learner.n_done

    @property
    def log(self) -> np.ndarray:
        """The merges, as in :attr:`bpe.Trainer.log`."""
        return self.learner.log[: self.n_done].copy()

    def vocabulary(self) -> Vocabulary:
        """Return the vocabulary learned so far."""
        return self.start.vocabulary(self.log)

    def run(self, wanted: int, progress: Progress = False) -> None:
        """Learn until `wanted` merges are done, or no pair is left."""
        if not self._has_run:
            self.learner.leave_out_rare(wanted)
            self._has_run = True
        in_batches(self, self.learn, wanted, progress)

    def learn(self, wanted: int) -> None:
        """Learn until `wanted` merges are done, or no pair is left, without a progress bar."""
        if self._is_broken:
            raise MemoryError(
                "memory ran out during a merge: the merges before it are kept, but no more can be learned"
            )
        self.learner.make_room(wanted)
        while True:
            try:
                pair = self.learner.run(wanted, self._allowed)
                if pair == NONE and (self.n_done == wanted or not self._include_rarer(wanted)):
                    return
            except MemoryError:
                self._is_broken = True
                raise
            if pair != NONE:
                self._ask(pair)

    def _include_rarer(self, wanted: int) -> bool:
        """Include rarer pairs, for `wanted` merges in all; return whether any were left out."""
        return self.learner.include_rarer(self._refused)

    def _ask(self, pair: int) -> None:
        """Allow the pair that is merged next, or refuse and discard it."""
        self._name_tokens()
        left, right = (self._bytes_of[token] for token in unpack_pair(pair))
        if left + right not in self._known and (self._keep is None or self._keep(left, right)):
            self._allowed = pair
        else:
            self._refused.add(pair)
            self.learner.discard([pair])

    def _name_tokens(self) -> None:
        """Add the bytes of the tokens made since the last call."""
        rows = self.learner.log[self._n_named : self.n_done, :3].tolist()
        for left, right, new_token in rows:
            self._bytes_of[new_token] = self._bytes_of[left] + self._bytes_of[right]
        self._n_named += len(rows)

    def check(self) -> None:
        """Compare counts, postings and links with a recount from scratch."""
        self.learner.check(self._refused)


def in_batches(learned: Any, learn: Callable[[int], None], wanted: int, progress: Progress) -> None:
    """Call `learn` in batches until `wanted` merges are done, with progress and Ctrl-C between them."""
    batch = 1
    with progress_bar(progress, wanted - learned.n_done, "merges", "merging") as advance:
        while learned.n_done < wanted:
            before, began = learned.n_done, perf_counter()
            learn(min(wanted, before + batch))
            if learned.n_done == before:
                break
            batch = 2 * batch if perf_counter() - began < PATIENCE else max(1, batch // 2)
            advance(learned.n_done - before)
