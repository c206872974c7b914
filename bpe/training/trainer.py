"""``Trainer``: learns merges from counted words."""

from __future__ import annotations

from collections.abc import Callable
from operator import index as as_index
from time import perf_counter
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from bpe.counting.word_counts import WordCounts
from bpe.progress import Progress, progress_bar
from bpe.tokenizer import Tokenizer
from bpe.training import selection as rules
from bpe.training.merging import (
    MAX_LENGTH,
    MIN_COUNT,
    SCRATCH_ROWS,
    count_pairs,
    discard,
    in_order,
    lower_min_count,
    narrow,
    replay,
    runs_of,
)
from bpe.training.start import Start, choice, fresh_start, start_from
from bpe.vocabulary import Alphabet, Vocabulary
from structures import CountBuckets, IntMap, MaxHeap, PairIndex, TokenList, unpack_pair

__all__ = ["Keep", "Merge", "Selection", "Ties", "Trainer"]

Ties: TypeAlias = Literal["smallest", "lexicographic", "first"]
Selection: TypeAlias = Literal["heap", "buckets"]
Keep: TypeAlias = Callable[[bytes, bytes], object]

TIES: tuple[Ties, ...] = ("smallest", "lexicographic", "first")
LONGEST = 2**30 - 1  # bytes of a token: what the token list can hold
# The pairs that a run begins with: those that count at least one part in so many of what all pairs of bytes
# count, for each merge wanted. Where they are used up, the least count is divided.
PARTS, DIVISOR = 256, 16
PATIENCE = 0.05  # seconds between two looks at the progress bar and at Ctrl-C
_QUEUES: dict[str, Any] = {"heap": MaxHeap, "buckets": CountBuckets}


class Merge(NamedTuple):
    """A learned merge.

    Attributes
    ----------
    left, right : int
        The merged pair.
    new_id : int
        What it became.
    count : int
        How often it stood in the corpus at that moment.

    Examples
    --------
    >>> Merge(104, 101, 256, 12).new_id
    256
    """

    left: int
    right: int
    new_id: int
    count: int  # type: ignore[assignment]  # the field hides tuple.count


class Trainer:
    """Learns merges from counted words, one by one or in a run.

    The words are never looked at as a whole again: every merge brings the counts of the pairs that it
    changes up to date. Except with ``ties="first"``, the result depends on the counts alone, not on the
    order of the words.

    An exception in `keep` or in a progress callable, and Ctrl-C, end a run between two merges. Nothing
    that is learned is lost: :meth:`tokenizer` returns it, and another :meth:`run` goes on.

    * :meth:`step`, :meth:`run`
    * :attr:`merges`, :attr:`log`, :meth:`tokenizer`
    * :meth:`resume`
    * :meth:`check`

    Parameters
    ----------
    counts : WordCounts
        Its pattern and special tokens become those of the tokenizer.
    ties : {"smallest", "lexicographic", "first"}
        Which of the pairs with the greatest count is merged: the one with the smallest (left id, right
        id), or with the greatest (left bytes, right bytes), or the one met first when the words, as they
        now stand, are read in the order of `counts`.
    selection : {"heap", "buckets"}
        The container that finds it, ``MaxHeap`` or ``CountBuckets``. The merges are the same.
    min_count : int
        The least count of a pair worth a merge.
    max_token_length : int, optional
        In bytes. Pairs that would make a longer token are passed over.
    alphabet : {"bytes", "gpt2"}
        The order of the single bytes' ids: by value, or those that print first, as GPT-2 has them.
    special_first : bool
        Whether the special tokens take the first ids, or those behind the merges.
    keep : callable, optional
        ``keep(left bytes, right bytes)``: a pair for which it is false is passed over. Asked once for each
        pair that is about to be merged.

    Raises
    ------
    ValueError
        There are no words, or an option is out of range or not one of its choices.
    TypeError
        `counts` are no WordCounts, or `keep` cannot be called.
    OverflowError
        The count of a pair passes ``2**63 - 1``.

    Examples
    --------
    >>> from bpe import WordCounts
    >>> trainer = Trainer(WordCounts({"low": 5, "lower": 2, "newest": 6, "widest": 3}))
    >>> trainer.step()
    Merge(left=101, right=115, new_id=256, count=9)
    >>> trainer.run(vocab_size=260)
    >>> trainer.tokenizer().encode("lowest")
    [259, 257]
    """

    def __init__(
        self,
        counts: WordCounts,
        *,
        ties: Ties = "smallest",
        selection: Selection = "heap",
        min_count: int = 1,
        max_token_length: int | None = None,
        alphabet: Alphabet = "bytes",
        special_first: bool = False,
        keep: Keep | None = None,
    ) -> None:
        _check_counts(counts)
        start = fresh_start(counts.special_tokens, alphabet, special_first)
        self._begin(counts, start, ties, selection, min_count, max_token_length, keep)

    @classmethod
    def resume(
        cls,
        tokenizer: Tokenizer,
        counts: WordCounts,
        *,
        keep_ids: bool = False,
        ties: Ties = "smallest",
        selection: Selection = "heap",
        min_count: int = 1,
        max_token_length: int | None = None,
        keep: Keep | None = None,
    ) -> Trainer:
        """Go on from a tokenizer, on the words it was trained on or on those of a new domain.

        Its merges are done again, then training goes on as if it had never stopped: with the same words and
        options, it learns what one longer run learns. They stand in :attr:`merges` with the counts that
        they have in these words, which may be 0.

        Parameters
        ----------
        tokenizer : Tokenizer
        counts : WordCounts
            Of the pattern and the special tokens of the tokenizer.
        keep_ids : bool
            Every id stays what it is, also those of special tokens that follow all other tokens: new
            tokens come behind them. Otherwise those special tokens move behind the new tokens.
        ties, selection, min_count, max_token_length, keep
            As for :class:`Trainer`; they hold for the new merges.

        Returns
        -------
        Trainer

        Raises
        ------
        ValueError
            The counts are of another pattern or other special tokens, or the tokenizer's merges could not
            have been learned in the order they stand in.
        TypeError
            The arguments are no Tokenizer or no WordCounts.

        Complexity
        ----------
        As learning those merges.

        Examples
        --------
        >>> import bpe
        >>> counts = bpe.WordCounts({"low": 5, "lower": 2, "newest": 6, "widest": 3})
        >>> trainer = bpe.Trainer.resume(bpe.train(counts, vocab_size=258), counts)
        >>> trainer.run(vocab_size=260)
        >>> trainer.tokenizer() == bpe.train(counts, vocab_size=260)
        True
        """
        if not isinstance(tokenizer, Tokenizer):
            raise TypeError(f"tokenizer must be a Tokenizer, not {type(tokenizer).__name__}")
        _check_counts(counts)
        self = cls.__new__(cls)
        start = start_from(tokenizer, counts, keep_ids)
        self._begin(counts, start, ties, selection, min_count, max_token_length, keep)
        return self

    def _begin(
        self,
        counts: WordCounts,
        start: Start,
        ties: Ties,
        selection: Selection,
        min_count: int,
        max_token_length: int | None,
        keep: Keep | None,
    ) -> None:
        self._ties = choice(ties, "ties", TIES)
        queue_class = _QUEUES[choice(selection, "selection", [*_QUEUES])]
        if max_token_length is not None and as_index(max_token_length) < 1:
            raise ValueError(f"max_token_length must be at least 1, not {max_token_length}")
        if keep is not None and not callable(keep):
            raise TypeError(f"keep must be callable, not {type(keep).__name__}")
        if not len(counts):
            raise ValueError("there are no words to learn from")
        self._start, self._keep, self._pattern = start, keep, counts.pattern
        self._known = frozenset(start.other_tokens.values())  # no merge may make one of these once more
        self._refused: set[int] = set()  # packed pairs
        self._is_broken = False

        data, offsets, weight_of = counts.to_arrays()
        if ties != "first":  # which alone asks for the order of the words
            order = np.argsort(-weight_of, kind="stable")
            data, offsets = in_order(data, offsets, order)
            weight_of = weight_of[order]
        self._weights = runs_of(offsets, weight_of)
        byte_ids = np.array(start.byte_ids, np.int64)
        self._queue = queue_class()
        scratch = np.zeros(1 << 16, np.int64)
        if not count_pairs(data, offsets, weight_of, byte_ids, scratch, self._queue):
            raise OverflowError("the count of a pair passes 2**63 - 1")
        self._greatest, self._total = int(scratch.max()), float(scratch.sum(dtype=np.float64))
        is_plain = start.byte_ids == [*range(256)]
        self._tokens = TokenList(data if is_plain else byte_ids.astype(np.int32)[data], offsets)
        self._index = PairIndex.build(self._tokens)

        self._state = np.zeros(rules.STATE_WORDS, np.int64)
        self._state[rules.ALLOWED] = -1
        self._log = np.empty((0, 4), np.int64)  # rows: left, right, new token, count
        self._scratch = np.empty((SCRATCH_ROWS, 0), np.int64)  # scratch[..., token]
        self._length_of = np.zeros(start.next_id, np.int64)  # length_of[token], in bytes
        self._length_of[byte_ids] = 1
        self._front = np.empty(0, np.int64)
        self._n_stale = None if ties == "smallest" else IntMap()
        # What tokens are compared by: the words, and behind them all bytes.
        words = data if ties == "lexicographic" else data[:0]
        self._text = np.concatenate((words, np.arange(256, dtype=np.uint8)))
        self._start_of = np.zeros(start.next_id, np.int64)  # start_of[token], a place in the text
        self._start_of[byte_ids] = data.size + np.arange(256)
        self._make_room(max(1, len(start.merges)))

        self._limits = np.array([1, LONGEST])
        self._replay()
        self._min_count = max(1, as_index(min_count))  # that of the limits may be above it for some time
        self._narrow(self._min_count, min(LONGEST, max_token_length or LONGEST))
        self._has_run = False
        self._bytes_of = {number: bytes([value]) for value, number in enumerate(start.byte_ids)}
        self._n_named = 0  # merges whose token is in bytes_of

    # ----------------------------------------------------------------------------------------- learning
    def step(self) -> Merge | None:
        """Learn one merge.

        Returns
        -------
        Merge or None
            None where no pair is left that may be merged.

        Complexity
        ----------
        O(occurrences of the pair + distinct neighbours * log(pairs)).

        Examples
        --------
        >>> from bpe import WordCounts
        >>> trainer = Trainer(WordCounts({"ab": 1}))
        >>> trainer.step(), trainer.step()
        (Merge(left=97, right=98, new_id=256, count=1), None)
        """
        before = self._done
        self._learn(before + 1)
        return Merge(*self._log[before].tolist()) if self._done > before else None

    def run(self, vocab_size: int, *, progress: Progress = False) -> None:
        """Learn merges until the tokenizer has `vocab_size` tokens, or no pair is left to merge.

        May be called again with a larger size.

        Parameters
        ----------
        vocab_size : int
            Bytes, merges and special tokens together.
        progress : bool or callable
            A bar on stderr, nothing (the default), or ``progress(merges done, merges in all)``.

        Raises
        ------
        ValueError
            `vocab_size` is smaller than the 256 bytes and the special tokens, or than what is learned.

        Complexity
        ----------
        O(n log n) for n bytes of distinct words, usually much less. The first run looks at those pairs only
        that are likely to be among so many merges; where they are used up, all are counted anew.

        Examples
        --------
        >>> from bpe import WordCounts
        >>> trainer = Trainer(WordCounts({"abab": 1}))
        >>> trainer.run(vocab_size=1000)
        >>> len(trainer.merges)
        2
        """
        n_known = len(self._start.merges)
        wanted = n_known + self._start.n_new(vocab_size)
        if wanted < self._done:
            raise ValueError(
                f"vocab_size {vocab_size} asks for {wanted} merges, but {self._done} are learned"
            )
        if not self._has_run:
            self._put_off(wanted)
        batch = 1
        with progress_bar(progress, wanted - self._done, "merges", "merging") as advance:
            while self._done < wanted:
                before, began = self._done, perf_counter()
                self._learn(min(wanted, before + batch))
                if self._done == before:
                    break
                batch = 2 * batch if perf_counter() - began < PATIENCE else max(1, batch // 2)
                advance(self._done - before)

    @property
    def _done(self) -> int:
        return int(self._state[rules.DONE])

    def _learn(self, wanted: int) -> None:
        """Learn until `wanted` merges are done, or no pair is left."""
        if self._is_broken:
            raise MemoryError("memory ran out during a merge: what was learned before is all there is")
        self._make_room(wanted)
        while True:
            try:
                wants, room = self._run_kernel(wanted)
                if wants == rules.WANTS_NOTHING and self._done < wanted and self._fetch():
                    continue
            except MemoryError:
                self._is_broken = True
                raise
            if wants == rules.WANTS_ANSWER:
                self._ask()
            elif wants == rules.WANTS_FRONT:
                self._front = _with_room(self._front, room)
            else:
                return

    def _put_off(self, n_merges: int) -> None:
        """Leave out the pairs that are hardly among the first so many merges, until others are used up."""
        min_count = min(self._greatest, int(self._total / (PARTS * max(n_merges, 1))))
        if min_count > self._min_count:
            self._narrow(min_count, int(self._limits[MAX_LENGTH]))
        self._has_run = True

    def _fetch(self) -> bool:
        """Let in more pairs; return whether any were left out."""
        min_count = int(self._limits[MIN_COUNT])
        if min_count == self._min_count:
            return False
        if self._n_stale is not None:
            self._n_stale.clear()
        refused = np.array(sorted(self._refused), np.int64)
        min_count = max(self._min_count, min_count // DIVISOR)
        lower_min_count(
            self._tokens, self._index, self._queue, self._weights, self._length_of, self._limits, refused,
            min_count,
        )  # fmt: skip
        return True

    def _arrays(self) -> tuple[Any, ...]:
        """Return what every kernel that merges takes."""
        return (
            self._tokens, self._index, self._queue, self._weights, self._start_of, self._length_of,
            self._limits, self._scratch, self._log,
        )  # fmt: skip

    def _run_kernel(self, wanted: int) -> tuple[int, int]:
        arguments = (
            *self._arrays(), self._state, wanted, self._keep is not None or bool(self._known),
        )  # fmt: skip
        if self._ties == "smallest":
            return rules.run_smallest(*arguments), 0
        return rules.run_with_front(
            *arguments,
            self._front, self._n_stale, self._ties == "first", self._text,
        )  # fmt: skip

    def _ask(self) -> None:
        """Allow the pair that is about to be merged, or discard it."""
        pair = int(self._state[rules.ASKED])
        self._name_tokens()
        left, right = (self._bytes_of[token] for token in unpack_pair(pair))
        if left + right not in self._known and (self._keep is None or self._keep(left, right)):
            self._state[rules.ALLOWED] = pair
        else:
            self._refused.add(pair)
            discard(self._index, self._queue, np.array([pair]))

    def _make_room(self, wanted: int) -> None:
        """Let every array that is indexed by token or merge reach `wanted` merges."""
        if wanted <= len(self._log):
            return
        room = max(wanted, 2 * len(self._log))
        n_known, next_id = len(self._start.merges), self._start.next_id
        n_tokens = next_id + max(0, room - n_known)
        log = np.zeros((room, 4), np.int64)
        log[: self._done] = self._log[: self._done]
        log[n_known:, 2] = np.arange(next_id, next_id + room - n_known)
        self._scratch = np.zeros((SCRATCH_ROWS, n_tokens), np.int64)
        self._length_of = _with_room(self._length_of, n_tokens)
        self._start_of = _with_room(self._start_of, n_tokens)
        self._log = log  # the last, for an interrupt may come in between

    # ------------------------------------------------------------------------------------ the beginning
    def _replay(self) -> None:
        """Do the merges again that there are from the start."""
        n_known = len(self._start.merges)
        if n_known:
            self._log[:n_known, :2] = self._start.merges
            self._log[:n_known, 2] = self._start.merged_ids
            replay(*self._arrays(), n_known)
            self._state[rules.DONE] = n_known

    def _narrow(self, min_count: int, max_length: int) -> None:
        """Set limits, and take the pairs outside them out of queue and index."""
        if [min_count, max_length] == self._limits.tolist():
            return
        pairs, counts = self._queue.to_arrays()
        lengths = self._length_of[pairs >> 32] + self._length_of[pairs & 0xFFFFFFFF]
        outside = (counts < min_count) | (lengths > max_length)
        narrow(self._index, self._queue, self._limits, pairs[outside], min_count, max_length)

    # ------------------------------------------------------------------------------------------ results
    @property
    def merges(self) -> list[Merge]:
        """The merges learned so far, in order.

        Examples
        --------
        >>> import bpe
        >>> trainer = bpe.Trainer(bpe.WordCounts({"low": 2}))
        >>> trainer.run(vocab_size=257)
        >>> trainer.merges
        [Merge(left=108, right=111, new_id=256, count=2)]
        """
        return [Merge(*row) for row in self._log[: self._done].tolist()]

    @property
    def log(self) -> np.ndarray:
        """The merges learned so far as an array, ``(n, 4) int64``: left, right, new id, count; a copy.

        As for a plot of count against rank: ``pyplot.loglog(trainer.log[:, 3])``.

        Examples
        --------
        >>> import bpe
        >>> trainer = bpe.Trainer(bpe.WordCounts({"low": 5, "lower": 2}))
        >>> trainer.run(vocab_size=258)
        >>> trainer.log
        array([[108, 111, 256,   7],
               [256, 119, 257,   7]])
        """
        return self._log[: self._done].copy()

    def _name_tokens(self) -> None:
        """Write down the bytes of the tokens made since the last time."""
        rows = self._log[self._n_named : self._done, :3].tolist()
        for left, right, new_token in rows:
            self._bytes_of[new_token] = self._bytes_of[left] + self._bytes_of[right]
        self._n_named += len(rows)

    def tokenizer(self) -> Tokenizer:
        """Return a tokenizer of what is learned so far.

        Returns
        -------
        Tokenizer

        Complexity
        ----------
        As :meth:`bpe.vocabulary.Vocabulary.unfold`.

        Examples
        --------
        >>> from bpe import WordCounts
        >>> trainer = Trainer(WordCounts({"ab": 1}, special_tokens=["<|endoftext|>"]))
        >>> trainer.run(vocab_size=258)
        >>> trainer.tokenizer().special_tokens
        {'<|endoftext|>': 257}
        """
        start, log = self._start, self.log
        specials = start.special_tokens_behind(self._done - len(start.merges))
        pairs, made = log[:, :2].copy(), log[:, 2].copy()
        words = Vocabulary.unfold(pairs, specials, start.byte_ids, made, start.other_tokens)
        return Tokenizer._of(words, self._pattern)

    def __repr__(self) -> str:
        return f"<Trainer: {self._done} merges>"

    def check(self) -> None:
        """Compare counts, postings and links with what a recount from scratch gives.

        Raises
        ------
        AssertionError
            They differ: a bug in this library.

        Complexity
        ----------
        O(bytes of the distinct words), in Python: for tests.

        Examples
        --------
        >>> from bpe import WordCounts
        >>> trainer = Trainer(WordCounts({"aaaa": 1}))
        >>> trainer.step().count
        3
        >>> trainer.check()
        """
        for container in (self._tokens, self._index, self._queue):
            container._check()
        counts: dict[int, int] = {}
        postings: dict[int, list[int]] = {}
        begins, weights = self._weights
        positions = self._tokens.positions()
        weight_at = weights[np.searchsorted(begins, positions, side="right") - 1].tolist()
        for position, weight in zip(positions.tolist(), weight_at, strict=True):
            following = self._tokens.next(position)
            if following >= 0:
                pair = self._tokens.token(position) << 32 | self._tokens.token(following)
                counts[pair] = counts.get(pair, 0) + weight
                postings.setdefault(pair, []).append(position)
        min_count, max_length = self._limits.tolist()
        self._name_tokens()
        live = {
            pair: count
            for pair, count in counts.items()
            if count >= min_count
            and sum(len(self._bytes_of[token]) for token in unpack_pair(pair)) <= max_length
            and pair not in self._refused
        }
        assert dict(self._queue.items()) == live, "1: counts"
        held = {left << 32 | right for left, right in self._index.pairs().tolist()}
        assert held == set(live), "2: pairs that have postings"
        for pair in live:
            assert self._index.postings(*unpack_pair(pair)).tolist() == postings[pair], f"2, 3: {pair}"
        assert not self._scratch.any(), "scratch is not empty"


def _check_counts(counts: object) -> None:
    if not isinstance(counts, WordCounts):
        raise TypeError(
            f"counts must be WordCounts, not {type(counts).__name__}: WordCounts.from_corpus makes them"
        )


def _with_room(array: np.ndarray, room: int) -> np.ndarray:
    larger = np.zeros(room, array.dtype)
    larger[: array.size] = array
    return larger
