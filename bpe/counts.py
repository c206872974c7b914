"""``WordCounts``: the distinct pieces of a corpus with their counts, which is all that training needs.

Counts of several corpora add up to the counts of all of them, so that they can be made in parts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import ItemsView, Iterable, Iterator, Mapping
from operator import index
from typing import Any

import numpy as np

from bpe.corpus import CorpusLike, Reader, safe_cut, stretches
from bpe.progress import Progress, progress_bar
from bpe.specials import check_specials, find_special, split_special
from bpe.split import Pattern
from bpe.text import as_bytes, as_text

__all__ = ["WordCounts"]

_INT64_MAX = 2**63 - 1


class WordCounts:
    """Distinct pieces of text -> how often each occurs, in the order of first appearance.

    * :meth:`from_corpus`; ``counts += other``
    * ``counts[word]``, ``word in counts``, ``len(counts)``, :meth:`items`, iteration over the words
    * :meth:`most_common`, :attr:`total`, :attr:`n_bytes`, :meth:`to_arrays`
    * :attr:`pattern`, :attr:`special_tokens`; ``==``, pickle, copy

    A word is bytes; where one is asked for, a str stands for its UTF-8.

    Parameters
    ----------
    words : mapping from word to int, or iterable of (word, int)
        Counts of a repeated word are added. Words are pieces as they are; they are not split again.
    pattern : str, iterable of str or Pattern
        How the words were split, as :meth:`Pattern.of` takes it.
    special_tokens : iterable of str
        What was cut out of the text before splitting. No word may hold one.

    Raises
    ------
    ValueError
        A word is empty or holds a special token, a count is below 1, or pattern or special tokens are wrong.
    TypeError
        A word is neither str nor bytes, or a count no integer.
    OverflowError
        A count passes ``2**63 - 1``.

    Examples
    --------
    >>> counts = WordCounts({"low": 5, "lower": 2})
    >>> counts += WordCounts([("low", 1), ("new", 3)])
    >>> counts["low"], len(counts), counts.total
    (6, 3, 11)
    """

    __slots__ = ("_count_of", "_pattern", "_special_tokens")
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
        self._count_of: dict[bytes, int] = {}
        specials = frozenset(self._special_tokens)
        for word, count in words.items() if hasattr(words, "items") else words:
            text = as_text(word, "a word")
            if not text:
                raise ValueError("a word is empty")
            if found := find_special(text, specials):
                raise ValueError(f"word {word!r} holds the special token {found[0]!r}: cut it out first")
            try:
                count = index(count)
            except TypeError:
                raise TypeError(
                    f"the count of {word!r} must be an integer, not {type(count).__name__}"
                ) from None
            if count < 1:
                raise ValueError(f"the count of {word!r} must be at least 1, not {count}")
            key = as_bytes(text)
            self._count_of[key] = _checked(key, self._count_of.get(key, 0) + count)

    @classmethod
    def from_corpus(
        cls,
        corpus: CorpusLike,
        pattern: str | Iterable[str] | Pattern = "gpt2",
        special_tokens: Iterable[str] = (),
        *,
        progress: Progress = False,
    ) -> WordCounts:
        r"""Count the pieces of a corpus.

        Special tokens are cut out before splitting: they are not counted, and no piece goes across one.

        Parameters
        ----------
        corpus : path, or iterable of path, str or bytes
            A path is a file of UTF-8 text, read in blocks; ``Path("-")`` is standard input. A str or bytes in
            an iterable is a document. Bytes that are not UTF-8 are kept.
        pattern : str, iterable of str or Pattern
            As :meth:`Pattern.of` takes it.
        special_tokens : iterable of str
        progress : bool or callable
            A bar on stderr, nothing, or ``progress(bytes done, bytes in all or None)``.

        Returns
        -------
        WordCounts

        Raises
        ------
        ValueError
            The corpus is empty, or pattern or special tokens are wrong.
        TypeError
            The corpus is a bare str or bytes, or holds something else than paths, str and bytes.
        OSError
            A file is missing, cannot be read or is a folder.

        Complexity
        ----------
        O(n) for n bytes, with the named patterns. Memory: the distinct pieces, and the longest stretch of
        text without a place to cut at; with a pattern that has no name, the longest document.

        Examples
        --------
        >>> counts = WordCounts.from_corpus(["one two<|end|>one", b"one\n"], special_tokens=["<|end|>"])
        >>> list(counts.items())
        [(b'one', 3), (b' two', 1), (b'\n', 1)]
        """
        self = cls(pattern=pattern, special_tokens=special_tokens)
        specials = frozenset(self._special_tokens)
        reader = Reader(corpus)

        def cut(text: str) -> int:
            return safe_cut(text, self._pattern, specials)

        counts: Counter[str] = Counter()
        is_empty = True
        with progress_bar(progress, reader.n_bytes, "B", "counting") as advance:
            for document in reader.documents(advance):
                for stretch in stretches(document, cut):
                    is_empty = False
                    for is_special, part in split_special(stretch, specials):
                        if not is_special:
                            counts.update(self._pattern.split(part))
        if not counts:
            what = "is empty" if is_empty else "holds nothing but special tokens"
            raise ValueError(f"the corpus {what}: there is no text in {reader}")
        self._count_of = {as_bytes(piece): count for piece, count in counts.items()}
        return self

    # ------------------------------------------------------------------------------------------- lookups
    def __len__(self) -> int:
        return len(self._count_of)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._count_of)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, (str, bytes)) and as_bytes(as_text(word)) in self._count_of

    def __getitem__(self, word: str | bytes) -> int:
        try:
            return self._count_of[as_bytes(as_text(word, "a word"))]
        except KeyError:
            raise KeyError(word) from None

    def __repr__(self) -> str:
        return f"<WordCounts of {len(self)} words, {self.total} in all, pattern {self._pattern.spec!r}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, WordCounts):
            return NotImplemented
        return self._rules() == other._rules() and self._count_of == other._count_of

    def __iadd__(self, other: WordCounts) -> WordCounts:
        if not isinstance(other, WordCounts):
            return NotImplemented
        for name, mine, theirs in zip(
            ("patterns", "special tokens"), self._rules(), other._rules(), strict=True
        ):
            if mine != theirs:
                raise ValueError(f"counts with different {name} cannot be added: {mine!r} and {theirs!r}")
        # All sums are made, and may overflow, before any is stored.
        sums = {
            word: _checked(word, self._count_of.get(word, 0) + count)
            for word, count in other._count_of.items()
        }
        self._count_of.update(sums)
        return self

    def __copy__(self) -> WordCounts:
        return _unpickled(dict(self._count_of), *self._rules())

    def __reduce__(self) -> Any:
        return _unpickled, (self._count_of, *self._rules())

    def _rules(self) -> tuple[Pattern, tuple[str, ...]]:
        return self._pattern, self._special_tokens

    @property
    def pattern(self) -> Pattern:
        """How the words were split.

        Examples
        --------
        >>> WordCounts.from_corpus(["low low"]).pattern.name
        'gpt2'
        """
        return self._pattern

    @property
    def special_tokens(self) -> tuple[str, ...]:
        """What was cut out of the text before splitting.

        Examples
        --------
        >>> WordCounts.from_corpus(["low<|end|>"], special_tokens=["<|end|>"]).special_tokens
        ('<|end|>',)
        """
        return self._special_tokens

    @property
    def total(self) -> int:
        """The sum of all counts.

        Examples
        --------
        >>> WordCounts.from_corpus(["low low low"]).total
        3
        """
        return sum(self._count_of.values())

    @property
    def n_bytes(self) -> int:
        """The sum of the lengths of the distinct words, in bytes.

        Examples
        --------
        >>> WordCounts.from_corpus(["low low low"]).n_bytes
        7
        """
        return sum(map(len, self._count_of))

    # --------------------------------------------------------------------------------------------- views
    def items(self) -> ItemsView[bytes, int]:
        """Return a view of (word, count), in the order of first appearance.

        Returns
        -------
        view of (bytes, int)

        Complexity
        ----------
        O(1).

        Examples
        --------
        >>> list(WordCounts({"low": 5}).items())
        [(b'low', 5)]
        """
        return self._count_of.items()

    def most_common(self, k: int | None = None) -> list[tuple[bytes, int]]:
        """Return the words with the greatest counts, of equal ones the first to appear.

        Parameters
        ----------
        k : int, optional
            How many; all by default.

        Returns
        -------
        list of (bytes, int)
            Greatest count first.

        Complexity
        ----------
        O(n log k) for n words.

        Examples
        --------
        >>> WordCounts({"low": 5, "new": 6, "old": 5}).most_common(2)
        [(b'new', 6), (b'low', 5)]
        """
        return Counter(self._count_of).most_common(k)

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
        data = np.frombuffer(bytearray().join(self._count_of), np.uint8)
        offsets = np.zeros(len(self) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, self._count_of), np.int64, len(self)), out=offsets[1:])
        return data, offsets, np.fromiter(self._count_of.values(), np.int64, len(self))


def _checked(word: bytes, count: int) -> int:
    if count > _INT64_MAX:
        raise OverflowError(f"the count of {word!r} passes 2**63 - 1")
    return count


def _unpickled(count_of: dict[bytes, int], pattern: Pattern, special_tokens: tuple[str, ...]) -> WordCounts:
    self = WordCounts(pattern=pattern, special_tokens=special_tokens)
    self._count_of = count_of
    return self
