"""``RunCounts``: words, and the runs of words that superwords are learned from, counted before any training.

A run is a maximal sequence of at least two words that may be joined, such as those with a letter. Which words
are one token is known only when a vocabulary is learned, and depends on its size and on weights. So the runs
here are those of all words. Training cuts them at words that are not one token each.

Therefore these counts can be added: nothing in them depends on a vocabulary, and no run goes from one text
into the next. The same counts serve trainings of any size and with any weights, as with
:class:`bpe.WordCounts`. The alternative, runs of the tokens of a given vocabulary, would require another pass
over the text for each vocabulary, and files that must not be mixed. The price is size: most runs are
distinct, so a file grows with the text.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from functools import partial
from operator import add
from typing import Any

import numpy as np

from bpe.corpus import Corpus, CorpusLike
from bpe.corpus.reading import FilePart
from bpe.counting.clusters import Plan, on_cluster, reporter
from bpe.counting.pieces import must_hold_text
from bpe.counting.word_counts import INT64_MAX, WordCounts
from bpe.splitting.pattern import Pattern
from bpe.superwords import runs_file
from bpe.superwords.piece_ids import GAP, batches_of_ids
from bpe.superwords.run_counts import (
    ID_BYTES,
    PARTS,
    add_runs,
    cut_between_runs,
    joins,
    runs_of_rows,
    unpacked_runs,
)
from bpe.superwords.runs_file import Counted
from bpe.support.files import atomic_write
from bpe.support.integers import as_integer
from bpe.support.memory import free_memory_kept
from bpe.support.progress import Progress, progress_bar
from bpe.training.state import Runs
from bpe.vocabulary.vocabulary import check_specials
from structures import ByteCounter, kernel


@kernel
def number_words(words, data, offsets, ids):
    """Write the ids of words in a counter; word i is ``data[offsets[i]:offsets[i + 1]]``."""
    for i in range(ids.size):
        ids[i] = words.id_of(data, offsets[i], offsets[i + 1])


def _ids_in(words: ByteCounter, data: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    ids = np.empty(len(offsets) - 1, np.int32)
    number_words(words, data, offsets, ids)
    return ids


class _Counter:
    """Counts the words and the runs of a text, one batch at a time."""

    def __init__(self, parts: str) -> None:
        self.words, self.runs = ByteCounter(), ByteCounter()
        self._may_join = joins(parts)
        self._joins = np.zeros(0, bool)  # whether a word may be joined, by its id
        self._open: list[np.ndarray] = []  # the ids since the last gap

    def ids_of(self, data: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """Count words; return their ids, with a gap in place of each word that is not joined."""
        self.words.add_many(data, offsets)
        ids = _ids_in(self.words, data, offsets)
        new = range(len(self._joins), len(self.words))
        self._joins = np.append(self._joins, [self._may_join(self.words.word(i)) for i in new]).astype(bool)
        ids[~self._joins[ids]] = GAP
        return ids

    def add(self, ids: np.ndarray) -> None:
        """Count the runs in an array of ids; the run after its last gap continues in the next array."""
        gaps = np.flatnonzero(ids == GAP)
        if not len(gaps):
            self._open.append(ids)
            return
        after = int(gaps[-1]) + 1
        add_runs(np.concatenate([*self._open, ids[:after]]), self.runs)
        self._open = [ids[after:]]


class RunCounts:
    """Words, and runs of words that may be joined -> how often each occurs.

    :func:`bpe.count_runs` makes them, :func:`bpe.train` learns tokens that join words from them.

    * :meth:`load`, :meth:`save`
    * :attr:`words`, ``len(counts)`` (distinct runs), iteration over (run, count) in the order of appearance
    * ``counts += other``, ``counts + other``, :meth:`prune`
    * :attr:`pattern`, :attr:`special_tokens`, :attr:`parts`; ``==``, which ignores the order; pickle, copy

    Counts of several texts add up to exactly those of all of them, whatever is trained on them later.

    Raises
    ------
    TypeError
        They are constructed directly.

    Examples
    --------
    >>> counts = count_runs(["of the sea, of the sea"])
    >>> counts += count_runs(["of the way"])
    >>> dict(counts)
    {(b'of', b' the', b' sea'): 1, (b' of', b' the', b' sea'): 1, (b'of', b' the', b' way'): 1}
    """

    __module__ = "bpe"  # where pickles look for it
    __slots__ = ("_parts", "_runs", "_words")
    __hash__ = None  # type: ignore[assignment]  # counts change

    _words: WordCounts
    _runs: ByteCounter
    _parts: str

    def __init__(self) -> None:
        raise TypeError("RunCounts cannot be constructed: count a text with bpe.count_runs, or load a file")

    @classmethod
    def _of_parts(cls, words: WordCounts, runs: ByteCounter, parts: str) -> RunCounts:
        """Return counts that own `words` and `runs`, which must be valid."""
        self = cls.__new__(cls)
        self._words, self._runs, self._parts = words, runs, parts
        return self

    # ------------------------------------------------------------------------------------------- lookups
    @property
    def words(self) -> WordCounts:
        """A copy of the counts of all words, including those that are in no run."""
        return copy(self._words)

    @property
    def pattern(self) -> Pattern:
        """The pattern by which the words were split."""
        return self._words.pattern

    @property
    def special_tokens(self) -> tuple[str, ...]:
        """The tokens that were cut out of the text before splitting."""
        return self._words.special_tokens

    @property
    def parts(self) -> str:
        """The regular expression that must match in a word, so that it can be in a run."""
        return self._parts

    def __len__(self) -> int:
        return len(self._runs)

    def __iter__(self) -> Iterator[tuple[tuple[bytes, ...], int]]:
        word = self._words._counter.word
        for run, count in self._runs.items():
            yield tuple(word(number) for number in np.frombuffer(run, np.int32).tolist()), count

    def __repr__(self) -> str:
        return f"<RunCounts of {len(self)} runs of {len(self._words)} words, pattern {self.pattern.spec!r}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RunCounts):
            return NotImplemented
        if self._parts != other._parts or self._words != other._words or len(self) != len(other):
            return False
        counter = ByteCounter()
        self._add_runs(counter, other, self._words)
        return counter == self._runs

    def rows(self) -> Runs:
        """Return the runs as flat arrays; the tokens are the positions of their words in :attr:`words`.

        Returns
        -------
        Runs
            A tuple of tokens, offsets and counts.

        Complexity
        ----------
        O(n) for n words in runs.

        Examples
        --------
        >>> count_runs(["of the sea"]).rows().tokens
        array([0, 1, 2], dtype=int32)
        """
        return unpacked_runs(self._runs)

    # --------------------------------------------------------------------------------------------- changes
    @staticmethod
    def _add_runs(counter: ByteCounter, other: RunCounts, words: WordCounts) -> None:
        """Add the runs of `other` to a counter; their words become ids in `words`, which hold all of them."""
        tokens, offsets, counts = other.rows()
        data, starts, _ = other._words.to_arrays()
        tokens = _ids_in(words._counter, data, starts)[tokens]
        counter.add_many(tokens.view(np.uint8), offsets * ID_BYTES, counts)

    def __iadd__(self, other: RunCounts) -> RunCounts:
        if not isinstance(other, RunCounts):
            return NotImplemented
        if self._parts != other._parts:
            raise ValueError(
                f"counts with different parts cannot be added: {self._parts!r} and {other._parts!r}"
            )
        words = self._words + other._words  # the ids of the words that were there stay
        self._add_runs(self._runs, other, words)  # all or nothing
        self._words = words
        return self

    def __add__(self, other: RunCounts) -> RunCounts:
        if not isinstance(other, RunCounts):
            return NotImplemented
        total = self.__copy__()
        total += other
        return total

    def __copy__(self) -> RunCounts:
        return self._of_parts(self.words, self._runs.copy(), self._parts)

    def __deepcopy__(self, memo: dict[int, Any]) -> RunCounts:
        return self.__copy__()

    def __reduce__(self) -> Any:
        return RunCounts._of_parts, (self._words, self._runs, self._parts)

    def prune(self, min_count: int) -> RunCounts:
        """Return the counts with runs cut between words that follow each other fewer than `min_count` times.

        For a training whose merges all count at least `min_count`, this changes nothing. But sums of pruned
        counts are not exact: a pair loses up to `min_count` - 1 in each of them. So add first, then prune.

        Parameters
        ----------
        min_count : int

        Returns
        -------
        RunCounts
            With all words.

        Raises
        ------
        TypeError
            `min_count` is not an integer.

        Complexity
        ----------
        O(n) for n words in runs.

        Examples
        --------
        >>> counts = count_runs(["the sea, the sea of the way"])
        >>> dict(counts.prune(2)), dict(count_runs(["at sea, at sea at sea"]).prune(2))
        ({}, {(b' at', b' sea'): 2})
        """
        tokens, offsets, counts = runs_of_rows(
            self.rows(), min(as_integer(min_count, "min_count"), INT64_MAX)
        )
        runs = ByteCounter.from_arrays(tokens.view(np.uint8), offsets * ID_BYTES, counts)
        return self._of_parts(self.words, runs, self._parts)

    # ----------------------------------------------------------------------------------------------- files
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the counts to a file.

        Parameters
        ----------
        path : path
            An old file is replaced only when the new one is complete, as with :meth:`bpe.WordCounts.save`.

        Complexity
        ----------
        O(size): on disk, 2 or 4 bytes for each word of a distinct run, and 2 or more for the run.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     count_runs(["of the sea"]).save(Path(folder, "sea.runs"))
        ...     RunCounts.load(Path(folder, "sea.runs"))
        <RunCounts of 1 runs of 3 words, pattern 'gpt2'>
        """
        words = self._words
        counted = Counted(words._counter, self._runs, words.pattern, words.special_tokens, self._parts)
        atomic_write(path, runs_file.dump(counted))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> RunCounts:
        """Read counts that :meth:`save` wrote.

        Parameters
        ----------
        path : path

        Returns
        -------
        RunCounts
            As they were saved, the order included.

        Raises
        ------
        ValueError, OSError
            As :meth:`bpe.WordCounts.load`.

        Complexity
        ----------
        O(size of the file).

        Examples
        --------
        >>> RunCounts.load("tests/data/treasure_island.txt")
        Traceback (most recent call last):
        ValueError: tests/data/treasure_island.txt: not a file of counts of runs: it begins with other bytes
        """
        with open(path, "rb") as file:
            try:
                words, runs, pattern, special_tokens, parts = runs_file.read(file)
                joins(parts)  # raises
            except ValueError as error:
                raise ValueError(f"{os.fspath(path)}: {error}") from None
        return cls._of_parts(WordCounts._of_counter(words, pattern, special_tokens), runs, parts)


def count_part(
    corpus: Corpus, pattern: Pattern, special_tokens: tuple[str, ...], parts: str, progress: Progress
) -> RunCounts:
    """Count on one thread; a part of a corpus may hold no text."""
    counter = _Counter(parts)
    with progress_bar(progress, corpus.n_bytes, "B", "counting") as advance:
        for ids in batches_of_ids(corpus.documents(advance), pattern, special_tokens, counter.ids_of):
            counter.add(ids)
    counter.add(np.array([GAP], np.int32))
    words = WordCounts._of_counter(counter.words, pattern, special_tokens)
    return RunCounts._of_parts(words, counter.runs, parts)


def count_runs(
    corpus: CorpusLike,
    pattern: str | Iterable[str] | Pattern = "gpt2",
    special_tokens: Iterable[str] = (),
    *,
    parts: str = PARTS,
    scheduler: Any = None,
    progress: Progress = False,
) -> RunCounts:
    r"""Count the words and the runs of words of a corpus, in this process or on a Dask cluster.

    :func:`bpe.train` learns tokens that join words from them, with ``superwords=bpe.Boundless()``.

    Parameters
    ----------
    corpus : Corpus, path, or iterable of path, str or bytes
        As :func:`bpe.count_words` takes it.
    pattern : str, iterable of str or Pattern
    special_tokens : iterable of str
        Cut out; no run goes across one.
    parts : str
        A regular expression; a word is in runs only if it has a match. By default, it must have a letter.
    scheduler : dask.distributed.Client or str, optional
        A client, or the address of a scheduler. Without it, one thread of this process.
    progress : bool or callable
        A bar on stderr, nothing, or ``progress(bytes done, bytes in all or None)``.

    Returns
    -------
    RunCounts
        The same for any number of workers, the order included.

    Raises
    ------
    ValueError, TypeError, OSError, ImportError
        As :func:`bpe.count_words`; or `parts` is wrong.

    Complexity
    ----------
    One pass over the corpus, shared by the workers. Memory for the distinct words and runs, on each: 4 bytes
    for each word of a distinct run, and 100 for the run. Most runs are distinct: it grows with the text.

    Examples
    --------
    >>> import bpe
    >>> counts = count_runs(["of the sea, of the sea"])
    >>> bpe.train(counts, 266, superwords=bpe.Boundless()).token_bytes(265)
    b' of the sea'
    >>> dict(count_runs(["one two, three"], parts="o"))
    {(b'one', b' two'): 1}
    """
    source, rules = Corpus.of(corpus), (Pattern.of(pattern), check_specials(special_tokens))
    if scheduler is None:
        counts = count_part(source, *rules, parts, progress)
    else:
        cut = partial(cut_between_runs, may_join=joins(parts))
        plan = Plan((*rules, parts), _count_runs_of_part, cut, add)
        counts = on_cluster(scheduler, source, plan, progress)
    must_hold_text(counts._words._counter, source)
    return counts


def _count_runs_of_part(
    files: list[FilePart],
    reading: dict[str, Any],
    topic: str | None,
    pattern: Pattern,
    special_tokens: tuple[str, ...],
    parts: str,
) -> RunCounts:
    corpus = Corpus(files, **reading)  # type: ignore[arg-type]  # a part stands for its file
    report = reporter(topic) if topic else False
    with free_memory_kept():
        return count_part(corpus, pattern, special_tokens, parts, report)


def check_rules(sources: Mapping[str, RunCounts]) -> None:
    """Raise a TypeError if a source is not RunCounts, a ValueError if their parts differ."""
    for name, counts in sources.items():
        if not isinstance(counts, RunCounts):
            raise TypeError(
                f"source {name!r} must be RunCounts, like the others, not {type(counts).__name__}"
            )
        first = next(iter(sources))
        if counts.parts != sources[first].parts:
            raise ValueError(
                f"sources {first!r} and {name!r} have different parts: count all texts with the same ones"
            )


def joined_rows(sources: Mapping[str, RunCounts], factors: Mapping[str, int], known: ByteCounter) -> Runs:
    """Return the runs of all sources as ids of `known` words, with counts times the factor of the source."""
    rows = []
    for name, counts in sources.items():
        if factors[name]:
            data, starts, _ = counts._words.to_arrays()
            tokens, offsets, numbers = counts.rows()
            ids = known.get_many(data, starts, GAP).astype(np.int32)[tokens]
            rows.append(Runs(ids, np.diff(offsets), numbers * np.int64(factors[name])))
    tokens, lengths, numbers = map(np.concatenate, zip(*rows, strict=True))
    return Runs(tokens, np.concatenate([[0], np.cumsum(lengths)]), numbers)


__test__ = {"RunCounts": RunCounts}  # doctest ignores classes of another module
