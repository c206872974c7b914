"""``Trainer``: learns merges from counted words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from operator import index as as_index
from time import perf_counter
from typing import Any, NamedTuple, NoReturn, TypeAlias

import numpy as np

from bpe.counting.weights import weigh
from bpe.counting.word_counts import WordCounts
from bpe.support.progress import Progress, progress_bar
from bpe.support.threads import in_background
from bpe.tokenizer import Tokenizer
from bpe.training.learner import Learner, LengthRule, Selection, Ties, longest_token
from bpe.training.selection import ALL, NONE
from bpe.training.start import Start, bytes_left_out, fresh_start, start_from, tokenizer_of
from bpe.training.state import INT64_MAX
from bpe.vocabulary.supermerges import refuse_supermerges
from bpe.vocabulary.vocabulary import Alphabet
from structures import unpack_pair

Keep: TypeAlias = Callable[[bytes, bytes], object]

_FEW_WORDS, _FEW_BYTES = 1 << 16, 1 << 20  # to begin with so few takes some milliseconds
PATIENCE = 0.05  # seconds between two looks at the progress bar and at Ctrl-C


class Merge(NamedTuple):
    """A learned merge.

    Attributes
    ----------
    left, right : int
        The merged pair.
    new_id : int
        What it became.
    count : int
        How often the pair was in the corpus at that moment.

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

    Every merge updates the counts of the pairs that it changes; the words are not counted again. Except with
    ``ties="first"``, the result depends on the counts alone, not on the order of the words.

    An exception in `keep` or in a progress callable, and Ctrl-C, end a run between two merges. What is
    learned by then is kept: :meth:`tokenizer` returns it, and another :meth:`run` resumes.

    * :meth:`step`, :meth:`run`
    * :attr:`merges`, :attr:`log`, :meth:`tokenizer`
    * :meth:`resume`
    * :meth:`check`

    Parameters
    ----------
    counts : WordCounts, or mapping from str to WordCounts
        Its pattern and special tokens become those of the tokenizer. Several sources, by name, are added up.
    weights : mapping from str to float, optional
        How much each source counts, from 0 on. A weight is a multiple of 1 / 2**20, and the counts of the
        merges are in such parts then.
    ties : {"smallest", "lexicographic", "first", "gpt2"}
        Which of the pairs with the greatest count is merged: the one with the smallest (left id, right
        id), the one with the greatest (left bytes, right bytes), or the first one in the words, read in the
        order of `counts` with all merges done so far. ``"gpt2"`` is as ``"lexicographic"``, with the
        characters that stand for the bytes in GPT-2's alphabet.
    selection : {"heap", "buckets"}
        The container that finds this pair, ``MaxHeap`` or ``CountBuckets``. The merges are the same.
    min_count : int
        Pairs that count less are not merged; with weights, all may be merged where this is 1.
    max_token_length : int, optional
        In bytes. Pairs that would make a longer token are passed over.
    length_rule : {"at_most", "huggingface"}
        Whether a token may have `max_token_length` bytes, or must be shorter, as Hugging Face's BpeTrainer
        means it; there, two single bytes may always be merged.
    alphabet : {"bytes", "gpt2"}
        The order of the ids of single bytes: by value, or printable ones first, as in GPT-2.
    initial_alphabet : bytes, optional
        The bytes that merges start from, whether the words have them or not; all 256 by default. Further
        bytes are added if the words have them.
    limit_alphabet : int, optional
        How many bytes there are then at most: those of `initial_alphabet`, and the most frequent others. All
        other bytes are left out of the words, and what is around them is joined. In the tokenizer, they have
        the last ids, on top of the vocabulary size.
    special_first : bool
        Whether the special tokens take the first ids, or those after the merges.
    keep : callable, optional
        ``keep(left bytes, right bytes)``: a pair for which it is false is passed over. Asked once for each
        pair that is about to be merged.

    Raises
    ------
    ValueError
        There are no words, or an option is out of range or not one of its choices.
    TypeError
        `counts` are not WordCounts, or `keep` cannot be called.
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

    __module__ = "bpe"  # as for all that is imported from there

    def __init__(
        self,
        counts: WordCounts | Mapping[str, WordCounts],
        *,
        weights: Mapping[str, float] | None = None,
        ties: Ties = "smallest",
        selection: Selection = "heap",
        min_count: int = 1,
        max_token_length: int | None = None,
        length_rule: LengthRule = "at_most",
        alphabet: Alphabet = "bytes",
        initial_alphabet: bytes | None = None,
        limit_alphabet: int | None = None,
        special_first: bool = False,
        keep: Keep | None = None,
    ) -> None:
        counts, unit = weigh(counts, weights)
        _check_counts(counts)
        longest = longest_token(max_token_length, length_rule)
        left_out = bytes_left_out(counts, initial_alphabet, limit_alphabet)
        start = fresh_start(counts.special_tokens, alphabet, special_first, left_out)
        self._begin(counts, start, ties, selection, least(min_count, unit), longest, keep)

    @classmethod
    def resume(
        cls,
        tokenizer: Tokenizer,
        counts: WordCounts | Mapping[str, WordCounts],
        *,
        weights: Mapping[str, float] | None = None,
        keep_ids: bool = False,
        ties: Ties = "smallest",
        selection: Selection = "heap",
        min_count: int = 1,
        max_token_length: int | None = None,
        length_rule: LengthRule = "at_most",
        initial_alphabet: bytes | None = None,
        limit_alphabet: int | None = None,
        keep: Keep | None = None,
    ) -> Trainer:
        """Resume from a tokenizer, on the words it was trained on or on those of a new domain.

        Its merges are done again, then training goes on as if it had never stopped: with the same words and
        options, it learns what one longer run learns. :attr:`merges` has the old merges too, with their
        counts in these words, which may be 0.

        Parameters
        ----------
        tokenizer : Tokenizer
        counts : WordCounts, or mapping from str to WordCounts
            With the pattern and the special tokens of the tokenizer.
        weights
            As for :class:`Trainer`.
        keep_ids : bool
            Every id stays, also those of special tokens and left-out bytes after all other tokens: the new
            tokens come after them. Otherwise those move to the end, after the new tokens.
        ties, selection, min_count, max_token_length, length_rule, keep
            As for :class:`Trainer`; for the new merges only.
        initial_alphabet, limit_alphabet
            As for :class:`Trainer`, worked out for these words. All bytes of the old merges must be in it.

        Returns
        -------
        Trainer

        Raises
        ------
        ValueError
            The counts have another pattern or other special tokens, no training makes the tokenizer's merges
            in this order, or the alphabet leaves out a byte of them.
        TypeError
            The arguments are not a Tokenizer and WordCounts.

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
        refuse_supermerges(tokenizer.engine.vocabulary, "training goes on")
        counts, unit = weigh(counts, weights)
        _check_counts(counts)
        self = cls.__new__(cls)
        longest = longest_token(max_token_length, length_rule)
        left_out = bytes_left_out(counts, initial_alphabet, limit_alphabet)
        start = start_from(tokenizer, counts, keep_ids, left_out)
        self._begin(counts, start, ties, selection, least(min_count, unit), longest, keep)
        return self

    def _begin(
        self,
        counts: WordCounts,
        start: Start,
        ties: Ties,
        selection: Selection,
        min_count: int,
        longest: int,
        keep: Keep | None,
    ) -> None:
        if keep is not None and not callable(keep):
            raise TypeError(f"keep must be callable, not {type(keep).__name__}")
        if not len(counts):
            raise ValueError("there are no words to learn from")
        self._start, self._keep, self._pattern = start, keep, counts.pattern
        self._known = frozenset(start.other_tokens.values())  # no merge may make one of these again
        self._allowed = NONE if keep is not None or self._known else ALL
        self._refused: set[int] = set()  # packed pairs
        self._is_broken = self._has_run = False
        # Bytes that are left out are in it, too, until a new token takes their id.
        self._bytes_of = {number: bytes([value]) for value, number in enumerate(start.byte_ids)}
        self._n_named = 0  # merges whose token is in bytes_of
        is_quick = len(counts) < _FEW_WORDS and counts.n_bytes < _FEW_BYTES
        begin = Learner if is_quick else partial(in_background, Learner)
        self._learner = begin(counts, start, ties, selection)
        self._learner.min_count = max(1, as_index(min_count))
        self._learner.narrow(self._learner.min_count, longest)

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
        return Merge(*self._learner.log[before].tolist()) if self._done > before else None

    def run(self, vocab_size: int, *, progress: Progress = False) -> None:
        """Learn merges until the tokenizer has `vocab_size` tokens, or no pair is left to merge.

        May be called again with a larger size.

        Parameters
        ----------
        vocab_size : int
            Bytes, merges and special tokens together; without bytes that are left out of the alphabet.
        progress : bool or callable
            A bar on stderr, nothing (the default), or ``progress(merges done, merges in all)``.

        Raises
        ------
        ValueError
            `vocab_size` is smaller than the bytes and the special tokens, or than what is learned.

        Complexity
        ----------
        O(n log n) for n bytes of distinct words, usually much less. The first run keeps only the pairs that
        are likely to be merged; if they are used up, all are counted anew.

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
                f"vocab_size {vocab_size} asks for {wanted} merges, but {self._done} are learned already"
            )
        if not self._has_run:
            self._learner.put_off(wanted)
            self._has_run = True
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
        return self._learner.n_done

    def _learn(self, wanted: int) -> None:
        """Learn until `wanted` merges are done, or no pair is left."""
        if self._is_broken:
            raise MemoryError(
                "memory ran out during a merge: the merges before it are there, and no more can be learned"
            )
        self._learner.make_room(wanted)
        while True:
            try:
                pair = self._learner.run(wanted, self._allowed)
                if pair == NONE and (self._done == wanted or not self._fetch(wanted)):
                    return
            except MemoryError:
                self._is_broken = True
                raise
            if pair != NONE:
                self._ask(pair)

    def _fetch(self, wanted: int) -> bool:
        """Let in more pairs, for `wanted` merges in all; return whether any were left out."""
        return self._learner.fetch(self._refused)

    def _ask(self, pair: int) -> None:
        """Allow the pair that is about to be merged, or discard it."""
        self._name_tokens()
        left, right = (self._bytes_of[token] for token in unpack_pair(pair))
        if left + right not in self._known and (self._keep is None or self._keep(left, right)):
            self._allowed = pair
        else:
            self._refused.add(pair)
            self._learner.discard([pair])

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
        return [Merge(*row) for row in self._learner.log[: self._done].tolist()]

    @property
    def log(self) -> np.ndarray:
        """The merges learned so far as an array, ``(n, 4) int64``: left, right, new id, count; a copy.

        For example, ``pyplot.loglog(trainer.log[:, 3])`` plots count against rank.

        Examples
        --------
        >>> import bpe
        >>> trainer = bpe.Trainer(bpe.WordCounts({"low": 5, "lower": 2}))
        >>> trainer.run(vocab_size=258)
        >>> trainer.log
        array([[108, 111, 256,   7],
               [256, 119, 257,   7]])
        """
        return self._learner.log[: self._done].copy()

    def _name_tokens(self) -> None:
        """Note the bytes of the tokens made since the last call."""
        rows = self._learner.log[self._n_named : self._done, :3].tolist()
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
        As :meth:`bpe.vocabulary.vocabulary.Vocabulary.of_merges`.

        Examples
        --------
        >>> from bpe import WordCounts
        >>> trainer = Trainer(WordCounts({"ab": 1}, special_tokens=["<|endoftext|>"]))
        >>> trainer.run(vocab_size=258)
        >>> trainer.tokenizer().special_tokens
        {'<|endoftext|>': 257}
        """
        return tokenizer_of(self._start, self.log, self._pattern)

    def __repr__(self) -> str:
        return f"<Trainer: {self._done} merges>"

    def __reduce__(self, *_: Any) -> NoReturn:
        raise TypeError(
            "a Trainer cannot be copied or pickled: pickle trainer.tokenizer(), and go on with Trainer.resume"
        )

    __setstate__ = __reduce__  # for pickles of release 0.1.0

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
        self._learner.check(self._refused)


def least(min_count: int, unit: int) -> int:
    """Return the least count of a pair that is merged, where a count of 1 is `unit`."""
    min_count = as_index(min_count)
    return min(min_count * unit, INT64_MAX) if min_count > 1 else 1


def _check_counts(counts: object) -> None:
    if not isinstance(counts, WordCounts):
        raise TypeError(
            f"counts must be WordCounts, not {type(counts).__name__}: WordCounts.from_corpus makes them"
        )


__test__ = {"Trainer": Trainer}  # doctest passes over classes of another module
