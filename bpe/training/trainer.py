"""``Trainer``: learns merges from counted words; ``train``: from a corpus to a tokenizer in one call."""

from __future__ import annotations

from collections.abc import Iterable
from operator import index as as_index
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from bpe.corpus import CorpusLike
from bpe.counts import WordCounts
from bpe.progress import Progress, progress_bar
from bpe.split import Pattern
from bpe.tokenizer import Tokenizer
from bpe.training.merging import SCRATCH_ROWS, count_pairs
from bpe.training.selection import run_smallest, run_with_front
from structures import CountBuckets, MaxHeap, PairIndex, TokenList, unpack_pair

__all__ = ["Merge", "Selection", "Ties", "Trainer", "train"]

Ties: TypeAlias = Literal["smallest", "lexicographic"]
Selection: TypeAlias = Literal["heap", "buckets"]

N_BYTES = 256
MAX_VOCAB_SIZE = 2**31 - 1
_BATCH = 512  # merges between two looks at the progress bar and at Ctrl-C: some milliseconds
_QUEUES = {"heap": MaxHeap, "buckets": CountBuckets}


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


def _choice(value: str, name: str, choices: Iterable[str]) -> str:
    choices = list(choices)
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, not {value!r}")
    return value


class Trainer:
    """Learns merges from counted words, one by one or in a run.

    The words are never looked at as a whole again: every merge brings the counts of the pairs that it
    changes up to date. The result depends on the counts alone, not on the order of the words.

    * :meth:`step`, :meth:`run`
    * :attr:`merges`, :meth:`tokenizer`
    * :meth:`check`

    Parameters
    ----------
    counts : WordCounts
        Its pattern and special tokens become those of the tokenizer.
    ties : {"smallest", "lexicographic"}
        Which of the pairs with the greatest count is merged: the one with the smallest (left id, right
        id), or with the greatest (left bytes, right bytes).
    selection : {"heap", "buckets"}
        The container that finds it, ``MaxHeap`` or ``CountBuckets``. The merges are the same.
    min_count : int
        The least count of a pair worth a merge.

    Raises
    ------
    ValueError
        There are no words, or an option is not one of its choices.
    TypeError
        `counts` are no WordCounts.

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
    ) -> None:
        if not isinstance(counts, WordCounts):
            raise TypeError(
                f"counts must be WordCounts, not {type(counts).__name__}: WordCounts.from_corpus makes them"
            )
        if not len(counts):
            raise ValueError("there are no words to learn from")
        self._ties = _choice(ties, "ties", ("smallest", "lexicographic"))
        self._min_count = max(1, as_index(min_count))
        self._pattern, self._special_tokens = counts.pattern, counts.special_tokens
        data, offsets, self._weight_of = counts.to_arrays()
        self._tokens = TokenList(data, offsets)
        self._index = PairIndex.build(self._tokens)
        self._queue = _QUEUES[_choice(selection, "selection", _QUEUES)]()
        count_pairs(self._tokens, self._queue, self._weight_of)
        self._log = np.empty((0, 4), np.int64)  # rows: left, right, new token, count
        self._done = 0
        self._scratch = np.zeros((SCRATCH_ROWS, N_BYTES), np.int64)
        self._front, self._front_state = np.empty(0, np.int64), np.zeros(2, np.int64)
        self._token_data = np.arange(N_BYTES, dtype=np.uint8)
        self._token_start = np.arange(N_BYTES + 1)

    def __repr__(self) -> str:
        return f"<Trainer: {self._done} merges, {len(self._queue)} pairs left>"

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

    def step(self) -> Merge | None:
        """Learn one merge.

        Returns
        -------
        Merge or None
            None where no pair is left that counts `min_count`.

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

        May be called again with a larger size. Ctrl-C between two merges leaves the trainer as it is then.

        Parameters
        ----------
        vocab_size : int
            Bytes, merges and special tokens together.
        progress : bool or callable
            A bar on stderr, nothing, or ``progress(merges done, merges in all)``.

        Raises
        ------
        ValueError
            `vocab_size` is smaller than the 256 bytes and the special tokens, or than what is learned.

        Complexity
        ----------
        O(n log n) for n bytes of distinct words, usually much less.

        Examples
        --------
        >>> from bpe import WordCounts
        >>> trainer = Trainer(WordCounts({"abab": 1}))
        >>> trainer.run(vocab_size=1000)
        >>> len(trainer.merges)
        2
        """
        wanted = check_vocab_size(vocab_size, len(self._special_tokens))
        if wanted < self._done:
            raise ValueError(
                f"vocab_size {vocab_size} asks for {wanted} merges, but {self._done} are learned"
            )
        with progress_bar(progress, wanted - self._done, "merges", "merging") as advance:
            while self._done < wanted:
                before = self._done
                self._learn(min(wanted, before + _BATCH))
                advance(self._done - before)
                if self._done == before:
                    break

    def _learn(self, wanted: int) -> None:
        """Learn until `wanted` merges are done, or no pair is left."""
        self._make_room(wanted)
        state = (self._tokens, self._index, self._queue, self._weight_of, self._scratch, self._log)
        if self._ties == "smallest":
            self._done = run_smallest(*state, self._done, wanted, self._min_count)
            return
        while True:
            self._done, front_room, data_room = run_with_front(
                *state, self._done, wanted, self._min_count,
                self._front, self._front_state, self._token_data, self._token_start,
            )  # fmt: skip
            if front_room:
                self._front = _with_room(self._front, front_room)
            elif data_room:
                self._token_data = _with_room(self._token_data, data_room)
            else:
                return

    def _make_room(self, wanted: int) -> None:
        """Let every array that is indexed by token or merge reach `wanted` merges."""
        if wanted <= len(self._log):
            return
        room = max(wanted, 2 * len(self._log))
        log = np.zeros((room, 4), np.int64)
        log[: self._done] = self._log[: self._done]
        log[:, 2] = N_BYTES + np.arange(room)
        self._log = log
        self._scratch = np.zeros((SCRATCH_ROWS, N_BYTES + room), np.int64)
        self._token_start = _with_room(self._token_start, N_BYTES + room + 1)

    def tokenizer(self) -> Tokenizer:
        """Return a tokenizer of what is learned so far; special tokens take the ids after the merges.

        Returns
        -------
        Tokenizer

        Complexity
        ----------
        O(total length of the tokens).

        Examples
        --------
        >>> from bpe import WordCounts
        >>> trainer = Trainer(WordCounts({"ab": 1}, special_tokens=["<|endoftext|>"]))
        >>> trainer.run(vocab_size=258)
        >>> trainer.tokenizer().special_tokens
        {'<|endoftext|>': 257}
        """
        token_bytes = [bytes([value]) for value in range(N_BYTES)]
        pairs = self._log[: self._done, :2].tolist()
        for left, right in pairs:
            token_bytes.append(token_bytes[left] + token_bytes[right])
        return Tokenizer(
            token_bytes=token_bytes,
            merges=[(left, right) for left, right in pairs],
            pattern=self._pattern,
            special_tokens={token: len(token_bytes) + i for i, token in enumerate(self._special_tokens)},
        )

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
        counts: dict[tuple[int, int], int] = {}
        postings: dict[tuple[int, int], list[int]] = {}
        for position in self._tokens.positions().tolist():
            following = self._tokens.next(position)
            if following >= 0:
                pair = self._tokens.token(position), self._tokens.token(following)
                weight = int(self._weight_of[self._tokens.segment_at(position)])
                counts[pair] = counts.get(pair, 0) + weight
                postings.setdefault(pair, []).append(position)
        assert {unpack_pair(pair): count for pair, count in self._queue.items()} == counts, "counts"
        assert set(map(tuple, self._index.pairs().tolist())) == set(counts), "pairs that have postings"
        for pair, positions in postings.items():
            assert self._index.postings(*pair).tolist() == positions, f"postings of {pair}"
        assert not self._scratch.any(), "scratch is not empty"


def _with_room(array: np.ndarray, room: int) -> np.ndarray:
    larger = np.zeros(room, array.dtype)
    larger[: array.size] = array
    return larger


def check_vocab_size(vocab_size: int, n_special: int) -> int:
    """Return how many merges a vocabulary size asks for.

    Parameters
    ----------
    vocab_size : int
        Bytes, merges and special tokens together.
    n_special : int
        Number of special tokens.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        There is no room for the 256 bytes and the special tokens, or ids would not fit.

    Examples
    --------
    >>> check_vocab_size(32_000, 1)
    31743
    """
    vocab_size = as_index(vocab_size)
    n_merges = vocab_size - N_BYTES - n_special
    if n_merges < 0:
        raise ValueError(
            f"vocab_size must be at least {N_BYTES + n_special} "
            f"(256 bytes and {n_special} special tokens), not {vocab_size}"
        )
    if vocab_size > MAX_VOCAB_SIZE:
        raise ValueError(f"vocab_size must be at most {MAX_VOCAB_SIZE}, not {vocab_size}")
    return n_merges


def train(
    corpus: CorpusLike | WordCounts,
    vocab_size: int,
    *,
    pattern: str | Iterable[str] | Pattern = "gpt2",
    special_tokens: Iterable[str] = (),
    ties: Ties = "smallest",
    selection: Selection = "heap",
    min_count: int = 1,
    threads: int | None = None,
    progress: Progress = False,
) -> Tokenizer:
    """Train a tokenizer.

    Parameters
    ----------
    corpus : path, iterable of path, str or bytes, or WordCounts
        A path is a file of UTF-8 text, ``Path("-")`` standard input; a str or bytes in an iterable is a
        document. WordCounts bring their own pattern and special tokens.
    vocab_size : int
        Bytes, merges and special tokens together. Fewer come out where no pair is left to merge.
    pattern : str, iterable of str or Pattern
        A name of :data:`bpe.PATTERNS` or a regular expression, as :meth:`bpe.Pattern.of` takes it.
    special_tokens : iterable of str
        Never counted, never merged across; their ids follow those of the merges.
    ties, selection, min_count
        As :class:`Trainer` takes them.
    threads : int, optional
        At most so many are used. The result is the same for any number.
    progress : bool or callable
        Bars on stderr, nothing, or ``progress(done, total)``, for counting (bytes), then merging (merges).

    Returns
    -------
    Tokenizer

    Raises
    ------
    ValueError
        The corpus is empty, or an argument is out of range.
    TypeError
        The corpus is a bare str, or of another wrong type.
    OSError
        A file cannot be read.

    Complexity
    ----------
    One pass over the corpus, then the merges; memory for the distinct words only.

    Examples
    --------
    >>> tok = train(["low low low lower lowest"], vocab_size=260, special_tokens=["<|endoftext|>"])
    >>> tok.encode("lower")
    [257, 101, 114]
    """
    if threads is not None and as_index(threads) < 1:
        raise ValueError(f"threads must be at least 1, not {threads}")
    if isinstance(corpus, WordCounts):
        if special_tokens or Pattern.of(pattern) not in (Pattern.of("gpt2"), corpus.pattern):
            raise ValueError("WordCounts bring their own pattern and special tokens: give them to WordCounts")
        counts = corpus
    else:
        special_tokens = list(special_tokens)
        check_vocab_size(vocab_size, len(special_tokens))  # before the long work
        counts = WordCounts.from_corpus(corpus, pattern, special_tokens, progress=progress)
    trainer = Trainer(counts, ties=ties, selection=selection, min_count=min_count)
    trainer.run(vocab_size, progress=progress)
    return trainer.tokenizer()
