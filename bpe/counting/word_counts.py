"""``WordCounts``: the distinct pieces of a corpus with their counts, which is all that training needs.

Counts of several corpora add up to the counts of all of them: they can be made in parts, kept in files and
weighted. A :class:`structures.ByteCounter` holds them: compiled code counts into it, training takes arrays.

Invariant: the words are not empty and hold no special token, and every count is at least 1.
"""

from __future__ import annotations

import os
from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping
from fractions import Fraction
from numbers import Rational
from operator import index, mul
from typing import Any

import numpy as np

from bpe.counting import counts_file
from bpe.splitting.pattern import Pattern
from bpe.splitting.special_search import SpecialSearch, search_for
from bpe.support.files import atomic_write
from bpe.support.integers import as_integer
from bpe.support.text import as_bytes, as_text
from bpe.vocabulary.vocabulary import check_specials
from structures import ByteCounter

INT64_MAX = 2**63 - 1


def scaled(counter: ByteCounter, factor: float | Rational) -> ByteCounter:
    """Return a counter with all counts times a factor, as :meth:`bpe.WordCounts.scale` does."""
    if isinstance(factor, bool) or not isinstance(factor, (float, Rational)):
        raise TypeError(f"factor must be an int, a float or a Fraction, not {type(factor).__name__}")
    try:
        exact = Fraction(repr(float(factor))) if isinstance(factor, float) else Fraction(factor)
    except ValueError:
        exact = Fraction(0)  # not a number, or infinite
    if exact <= 0:
        raise ValueError(f"factor must be a finite number above 0, not {factor}")
    data, offsets, counts = counter.to_arrays()
    products = [max(1, count * exact.numerator // exact.denominator) for count in counts.tolist()]
    if (greatest := max(products, default=0)) > INT64_MAX:
        word = counter.word(products.index(greatest))
        raise OverflowError(f"the count of {word!r} times {factor} passes 2**63 - 1")
    return ByteCounter.from_arrays(data, offsets, products)


def filtered(counter: ByteCounter, keep: np.ndarray) -> ByteCounter:
    """Return a counter of the words for which `keep`, a boolean for each word, is true."""
    data, offsets, counts = counter.to_arrays()
    lengths = np.diff(offsets)
    starts = np.concatenate([[0], np.cumsum(lengths[keep])])
    return ByteCounter.from_arrays(data[np.repeat(keep, lengths)], starts, counts[keep])


def checked(word: Any, count: Any, specials: SpecialSearch) -> tuple[bytes, int]:
    """Return a word as bytes and its count as int, or raise what :class:`bpe.WordCounts` raises."""
    text = as_text(word, "a word")
    if not text:
        raise ValueError("a word is empty")
    data = as_bytes(text)
    for start, end in specials.find_all(data):
        token = data[start:end].decode()
        raise ValueError(f"word {word!r} holds the special token {token!r}: cut it out first")
    try:
        number = index(count)
    except TypeError:
        raise TypeError(f"the count of {word!r} must be an integer, not {type(count).__name__}") from None
    if number < 1:
        raise ValueError(f"the count of {word!r} must be at least 1, not {number}")
    if number > INT64_MAX:
        raise OverflowError(f"the count of {word!r} passes 2**63 - 1")
    return data, number


class WordCounts:
    """Distinct pieces of text -> how often each occurs, in the order of first appearance.

    * :meth:`load`, :meth:`save`; :func:`bpe.count_words` counts a text
    * ``counts[word]``, ``word in counts``, ``len(counts)``, :meth:`items`, iteration over the words
    * :meth:`most_common`, :attr:`total`, :attr:`n_bytes`, :attr:`n_text_bytes`, :meth:`to_arrays`
    * :meth:`add`, ``counts += other``, ``counts + other``
    * :meth:`scale`, :meth:`filter`, :meth:`prune`, which return new counts
    * :attr:`pattern`, :attr:`special_tokens`; ``==``, which ignores the order, as with a dict; pickle, copy

    A word is bytes; where one is asked for, a str stands for its UTF-8.

    Parameters
    ----------
    words : mapping from word to int, or iterable of (word, int)
        Counts of a repeated word are added. Words are taken as they are, and not split.
    pattern : str, iterable of str or Pattern
        How the words were split, as :meth:`Pattern.of` takes it.
    special_tokens : iterable of str
        What was cut out of the text before splitting. No word may hold one.

    Raises
    ------
    ValueError
        A word is empty or holds a special token, a count is below 1, or pattern or special tokens are wrong.
    TypeError
        A word is neither str nor bytes, or a count is not an integer.
    OverflowError
        A count passes ``2**63 - 1``.

    Examples
    --------
    >>> counts = WordCounts({"low": 5, "lower": 2})
    >>> counts += WordCounts([("low", 1), ("new", 3)])
    >>> counts["low"], len(counts), counts.total
    (6, 3, 11)
    """

    __module__ = "bpe"  # where pickles look for it
    __slots__ = ("_counter", "_pattern", "_special_tokens")
    __hash__ = None  # type: ignore[assignment]  # counts change

    def __init__(
        self,
        words: Mapping[Any, int] | Iterable[tuple[Any, int]] = (),
        *,
        pattern: str | Iterable[str] | Pattern = "gpt2",
        special_tokens: Iterable[str] = (),
    ) -> None:
        self._pattern = Pattern.of(pattern)
        self._special_tokens = check_specials(special_tokens)
        specials = search_for(frozenset(self._special_tokens))
        pairs = words.items() if hasattr(words, "items") else words
        self._counter = ByteCounter([checked(word, count, specials) for word, count in pairs])

    @classmethod
    def _of_counter(
        cls, counter: ByteCounter, pattern: Pattern, special_tokens: tuple[str, ...]
    ) -> WordCounts:
        """Return counts that own `counter`, whose words and counts are right already."""
        self = cls.__new__(cls)
        self._counter, self._pattern, self._special_tokens = counter, pattern, special_tokens
        return self

    # ------------------------------------------------------------------------------------------- lookups
    def __len__(self) -> int:
        return len(self._counter)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._counter)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, (str, bytes)) and as_bytes(as_text(word)) in self._counter

    def __getitem__(self, word: str | bytes) -> int:
        try:
            return self._counter[as_bytes(as_text(word, "a word"))]
        except KeyError:
            raise KeyError(word) from None

    def __repr__(self) -> str:
        return f"<WordCounts of {len(self)} words, {self.total} in all, pattern {self._pattern.spec!r}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, WordCounts):
            return NotImplemented
        return self._rules() == other._rules() and self._counter == other._counter

    def __iadd__(self, other: WordCounts) -> WordCounts:
        if not isinstance(other, WordCounts):
            return NotImplemented
        names = "patterns", "special tokens"
        for name, mine, theirs in zip(names, self._rules(), other._rules(), strict=True):
            if mine != theirs:
                raise ValueError(f"counts with different {name} cannot be added: {mine!r} and {theirs!r}")
        self._counter.merge(other._counter)  # all or nothing
        return self

    def __add__(self, other: WordCounts) -> WordCounts:
        if not isinstance(other, WordCounts):
            return NotImplemented
        total = self.__copy__()
        total += other
        return total

    def __copy__(self) -> WordCounts:
        return self._of_counter(self._counter.copy(), *self._rules())

    def __deepcopy__(self, memo: dict[int, Any]) -> WordCounts:
        return self.__copy__()

    def __reduce__(self) -> Any:
        return WordCounts._of_counter, (self._counter, *self._rules())

    def _rules(self) -> tuple[Pattern, tuple[str, ...]]:
        return self._pattern, self._special_tokens

    @property
    def pattern(self) -> Pattern:
        """How the words were split."""
        return self._pattern

    @property
    def special_tokens(self) -> tuple[str, ...]:
        """What was cut out of the text before splitting."""
        return self._special_tokens

    @property
    def total(self) -> int:
        """The sum of all counts."""
        counts = self.to_arrays()[2]
        # The sum may not fit int64; the sums of the upper and of the lower halves do.
        return (int((counts >> 32).sum()) << 32) + int((counts & 0xFFFFFFFF).sum())

    @property
    def n_bytes(self) -> int:
        """The sum of the lengths of the distinct words, in bytes."""
        return self.to_arrays()[0].size

    @property
    def n_text_bytes(self) -> int:
        """The sum of the lengths of all words, in bytes: that of the text, without its special tokens."""
        _, offsets, counts = self.to_arrays()
        lengths = np.diff(offsets)
        is_small = lengths.astype(float) @ counts.astype(float) < 2**62
        return int(lengths @ counts) if is_small else sum(map(mul, lengths.tolist(), counts.tolist()))

    # --------------------------------------------------------------------------------------------- views
    def items(self) -> ItemsView[bytes, int]:
        """Return a view of (word, count), in the order of first appearance: O(1), to iterate over it O(n)."""
        return _Items(self)  # the view uses no other method of a mapping

    def most_common(self, k: int | None = None) -> list[tuple[bytes, int]]:
        """Return the words with the greatest counts; among equals, the first to appear.

        Parameters
        ----------
        k : int, optional
            How many; all by default.

        Returns
        -------
        list of (bytes, int)
            Greatest count first.

        Raises
        ------
        ValueError
            `k` is negative.

        Complexity
        ----------
        O(n) for n words, and O(m log m) for the m words that count at least as much as the last one returned.

        Examples
        --------
        >>> WordCounts({"low": 5, "new": 6, "old": 5}).most_common(2)
        [(b'new', 6), (b'low', 5)]
        """
        return self._counter.most_common(k)

    def to_arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return words and counts as flat arrays.

        Returns
        -------
        data : (n_bytes,) uint8
            The words, one after the other.
        offsets : (n + 1,) int64
            Word i is ``data[offsets[i]:offsets[i + 1]]``.
        counts : (n,) int64

        Complexity
        ----------
        O(n_bytes).

        Examples
        --------
        >>> data, offsets, counts = WordCounts({"low": 5, "lower": 2}).to_arrays()
        >>> bytes(data), offsets, counts
        (b'lowlower', array([0, 3, 8]), array([5, 2]))
        """
        return self._counter.to_arrays()

    # --------------------------------------------------------------------------------------------- changes
    def add(self, word: str | bytes, n: int = 1) -> None:
        """Add `n` to the count of a word, from 0 where it is missing.

        Parameters
        ----------
        word : str or bytes
        n : int

        Raises
        ------
        ValueError
            The word is empty or holds a special token, or `n` is below 1.
        TypeError
            The word is neither str nor bytes, or `n` is not an integer.
        OverflowError
            The sum passes ``2**63 - 1``; the counts are unchanged.

        Complexity
        ----------
        O(length), and some microseconds: for many words, add whole counts.

        Examples
        --------
        >>> counts = WordCounts({"low": 5})
        >>> counts.add("low", 2)
        >>> counts["low"]
        7
        """
        self._counter.add(*checked(word, n, search_for(frozenset(self._special_tokens))))

    def scale(self, factor: float | Rational) -> WordCounts:
        """Return all counts times a factor, rounded down, but at least 1: no word is lost.

        Scale counts to weight corpora before adding them.

        Parameters
        ----------
        factor : int, float or Fraction
            Above 0. A float stands for the decimal number as it is written: 0.3 is exactly 3/10.

        Returns
        -------
        WordCounts
            Words in the same order.

        Raises
        ------
        ValueError
            The factor is not above 0, or not finite.
        TypeError
            It is not a number.
        OverflowError
            A count would pass ``2**63 - 1``.

        Complexity
        ----------
        O(n) for n words, in exact integers.

        Examples
        --------
        >>> list(WordCounts({"low": 10, "new": 1}).scale(0.3).items())
        [(b'low', 3), (b'new', 1)]
        """
        return self._of_counter(scaled(self._counter, factor), *self._rules())

    def filter(self, keep: Callable[[bytes, int], object]) -> WordCounts:
        """Return the words that a function keeps.

        Parameters
        ----------
        keep : callable
            ``keep(word, count)`` says whether to keep it.

        Returns
        -------
        WordCounts
            Words in the same order. There may be none.

        Complexity
        ----------
        One call a word.

        Examples
        --------
        >>> counts = WordCounts({"low": 5, "lowest": 1})
        >>> list(counts.filter(lambda word, count: len(word) <= 3).items())
        [(b'low', 5)]
        """
        keeps = np.fromiter((bool(keep(*item)) for item in self.items()), bool, len(self))
        return self._of_counter(filtered(self._counter, keeps), *self._rules())

    def prune(self, min_count: int) -> WordCounts:
        """Return the words that count at least `min_count`: most of the text in a fraction of the memory.

        Training on them is no longer exact: each pair loses what it counts in the words that are dropped, at
        most `min_count` - 1 for each place in one of them. Frequent pairs hardly change. Merges that count
        little more than `min_count` may come in another order, or not at all. Compare ``total`` before and
        after to see how much of the text is gone.

        Parameters
        ----------
        min_count : int

        Returns
        -------
        WordCounts
            Words in the same order. There may be none.

        Raises
        ------
        TypeError
            `min_count` is not an integer.

        Complexity
        ----------
        O(n_bytes).

        Examples
        --------
        >>> list(WordCounts({"low": 5, "lowest": 1}).prune(2).items())
        [(b'low', 5)]
        """
        min_count = min(as_integer(min_count, "min_count"), INT64_MAX)
        keeps = self.to_arrays()[2] >= max(min_count, 1)
        return self._of_counter(filtered(self._counter, keeps), *self._rules())

    # ----------------------------------------------------------------------------------------------- files
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the counts to a file, with pattern and special tokens.

        Parameters
        ----------
        path : path
            Written under another name, then renamed: there is never half a file.

        Raises
        ------
        OSError
            It cannot be written; an older file is unchanged.

        Complexity
        ----------
        O(n_bytes); on disk, 13 bytes for each English word, 28 where words are long.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     WordCounts({"low": 5}).save(Path(folder, "low.counts"))
        ...     WordCounts.load(Path(folder, "low.counts"))["low"]
        5
        """
        atomic_write(path, counts_file.dump(*self.to_arrays(), *self._rules()))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> WordCounts:
        """Read counts that :meth:`save` wrote.

        Parameters
        ----------
        path : path

        Returns
        -------
        WordCounts
            As it was saved, the order included.

        Raises
        ------
        ValueError
            The file is of another kind, damaged or cut off; the message says where.
        OSError
            It cannot be read.

        Complexity
        ----------
        O(size of the file).

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     WordCounts({"low": 5}, pattern="o200k").save(Path(folder, "low.counts"))
        ...     WordCounts.load(Path(folder, "low.counts")).pattern.name
        'o200k'
        """
        with open(path, "rb") as file:
            try:
                return cls._of_counter(*counts_file.read(file))
            except ValueError as error:
                raise ValueError(f"{os.fspath(path)}: {error}") from None


class _Items(ItemsView[bytes, int]):
    """The view of (word, count), which iterates without a look-up for each word."""

    def __iter__(self) -> Iterator[tuple[bytes, int]]:
        return self._mapping._counter.items()  # type: ignore[attr-defined]


__test__ = {"WordCounts": WordCounts}  # doctest ignores classes of another module
