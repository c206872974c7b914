"""``ByteCounter``: byte strings counted and numbered, each distinct one stored once.

A hash table with linear probing. A slot is half a cache line, so that counting a short word again accesses
only one line::

    slots      word 0    word 1         id   count    4 int64 per slot
    "the"      "the"     "", 3           0      12    up to 15 bytes, and their number
    (empty)    0         0               0       0
    longer     hash      length          1       3    over 15 bytes, which are only in the pool
    (last row) 0         s  e  e  d                   what the hash depends on

    pool       t h e i n t e r n a t i o n a l i z a t i o n . .     every word once, in order of id
    offsets    0     3                                       23      word i is pool[offsets[i]:offsets[i + 1]]

The top bits of the hash of a word give its first slot. If that is occupied, the word goes to the next free
slot, around the end of the table. The id of a word is the number of distinct words before it. Words are never
removed.

Invariants
----------
1. The capacity is a power of two, ``shift == 64 - log2(capacity)``, and ``slots`` has ``4 * capacity``
   elements, all zero in an empty slot, and four more with the seed.
2. ``size`` is the number of occupied slots, at most half the capacity; each id below it is in one slot.
3. ``offsets`` does not decrease from 0, and both it and ``pool`` have room for their content.
4. Word 0 and word 1 of a slot are the key of the word that its id has in the pool.
5. A search finds every word: no slot between its first slot and its own is empty or holds an equal word.

Complexity
----------
==========================  ==================================================================
add, get, set, id_of        O(length) expected; O(n) when growth rehashes, amortized O(length)
bulk forms                  the same per word, but cache misses overlap
word                        O(length)
to_arrays, copy, reserve    O(capacity + bytes)
memory                      72 to 144 bytes per word after growth, and its bytes once or twice
==========================  ==================================================================

Hashes depend on a random seed (:mod:`structures.primitives.hashing`): nobody can choose words that collide.

Source: linear probing, Knuth, The Art of Computer Programming, 6.4, L; the hash of a key, see
:mod:`structures.primitives.hashing`; the multiply-and-fold hash of longer words is that of wyhash (Wang Yi).
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from structures.base.container import Facade, named_by_package
from structures.base.in_njit import class_method, makes_empty, must_be_integers
from structures.base.struct_type import bind
from structures.base.typing import Default
from structures.hash_tables.byte_counter_kernels import (
    ByteCounterType,
    byte_counter_of,
    byte_counter_type,
    equals,
    look_up,
    new_byte_counter,
    state,
)
from structures.hash_tables.byte_words import array_of, cut, joined, words_in
from structures.primitives.hashing import SEED
from structures.status import error, int64, int64_array

_CHUNK = 1 << 16
_ONE_EACH = np.empty(0, np.int64)


class ByteCounter(Facade):
    r"""Counts byte strings, and numbers them in order of first appearance.

    A dict from bytes to int that counts millions of strings a second in a compiled loop. Counts are int64
    and may be 0 or negative; a word stays, whatever its count. The *id* of a word is the number of
    distinct words that came before it. A word is bytes, a bytearray or a memoryview; anything else is a
    ``TypeError``.

    Calls from threads take turns. Inside ``@njit`` a word is
    ``data[start:end]`` of a C-contiguous uint8 array: ``c.add(data, start, end, n)``, ``c.set(data, start,
    end, count)`` (both return the id, or a status below 0), ``c.get(data, start, end, default)``,
    ``c.id_of(data, start, end)`` (-1 for a missing word), ``c.count(id)``, ``c.word(id)``,
    ``c.add_many(data, offsets, counts)`` and ``c.merge(other)`` (which return a status and the index of
    the item that failed; offsets are integers of any width, and an empty array of counts means 1 each),
    ``c.to_arrays()``, ``c.nbytes``, ``c.reserve``, ``c.copy``, ``c.clear``, ``len(c)``. Nothing raises
    there; ids and offsets are not checked.

    * ``c[word]``, ``c[word] = count``, ``word in c``, ``len(c)``, iteration in order of id
    * :meth:`add`, :meth:`get`, :meth:`id_of`, :meth:`word`
    * :meth:`add_many`, :meth:`get_many`, :meth:`merge`, :meth:`from_arrays`
    * :meth:`most_common`, :meth:`items`, :meth:`to_arrays`
    * :meth:`copy`, :meth:`clear`, :meth:`reserve`, :attr:`nbytes`; pickle; ``==`` (ignores the order)

    Parameters
    ----------
    items : mapping or iterable of (bytes, int), optional
        Initial counts; the counts of a repeated word add up.

    Raises
    ------
    TypeError
        A word is not bytes, or a count not an integer.
    OverflowError
        A count does not fit int64.

    Examples
    --------
    >>> c = ByteCounter({b"low": 5})
    >>> c.add_many([b"lower", b"low"])
    >>> c[b"low"], c.get(b"newest"), c.id_of(b"lower"), c.word(1)
    (6, 0, 1, b'lower')
    """

    __slots__ = ()
    _only_type = byte_counter_type

    def __new__(cls, items: Any = ()) -> ByteCounter:
        self = cls._like(new_byte_counter())
        if items:
            self._add_items(items)
        return self

    @classmethod
    def from_arrays(cls, data: Any, offsets: Any, counts: Any) -> ByteCounter:
        """Build a counter; the counts of a repeated word add up.

        Parameters
        ----------
        data : bytes or (n_bytes,) uint8
        offsets : (n + 1,) array_like of int
            As in :meth:`add_many`.
        counts : (n,) array_like of int

        Returns
        -------
        ByteCounter

        Raises
        ------
        ValueError
            Offsets decrease or are outside the data, or there are not as many counts as words.
        OverflowError
            A count does not fit int64.

        Complexity
        ----------
        O(n + bytes) expected.

        Examples
        --------
        >>> list(ByteCounter.from_arrays(b"lowest", [0, 3, 6], [5, 2]).items())
        [(b'low', 5), (b'est', 2)]
        """
        self = cls._like(new_byte_counter())
        self._add_flat(data, offsets, counts)
        return self

    def _add_items(self, items: Any) -> None:
        pairs = list(items.items() if hasattr(items, "items") else items)
        counts = int64_array([count for _, count in pairs], "counts")
        self._add_flat(*joined([word for word, _ in pairs]), counts)

    def __getitem__(self, word: Any) -> int:
        data = array_of(word)
        count = self._kernels.get(self, data, 0, data.size)
        if not count and self._kernels.id_of(self, data, 0, data.size) < 0:
            raise KeyError(word)
        return count

    def __setitem__(self, word: Any, count: int) -> None:
        data = array_of(word)
        self._done(self._kernels.set(self, data, 0, data.size, int64(count, "count")), reprlib.repr(word))

    def __contains__(self, word: Any) -> bool:
        data = array_of(word)
        return self._kernels.id_of(self, data, 0, data.size) >= 0

    def __iter__(self) -> Iterator[bytes]:
        data, offsets, _ = self.to_arrays()
        return cut(data, offsets)

    def _equals(self, other: Any) -> bool:
        return equals(self, other)

    def get(self, word: Any, default: Default = 0) -> int | Default:  # type: ignore[assignment]
        """Return the count of `word`, or `default` for a missing word."""
        data = array_of(word)
        count = self._kernels.get(self, data, 0, data.size)
        return count if count or self._kernels.id_of(self, data, 0, data.size) >= 0 else default

    def add(self, word: Any, n: int = 1) -> None:
        """Add `n` to the count of `word`; a missing word counts as 0.

        Parameters
        ----------
        word : bytes
        n : int

        Raises
        ------
        TypeError
            The word is not bytes, or `n` is not an integer.
        OverflowError
            The sum does not fit int64; the counter is as it was.

        Complexity
        ----------
        O(length) expected, amortized.

        Examples
        --------
        >>> c = ByteCounter()
        >>> c.add(b"low", 4); c.add(b"low")
        >>> c[b"low"]
        5
        """
        data = array_of(word)
        self._done(self._kernels.add(self, data, 0, data.size, int64(n, "n")), reprlib.repr(word))

    def id_of(self, word: Any) -> int:
        """Return the id of a word, in ``[0, len(c))``, or raise ``KeyError``."""
        data = array_of(word)
        word_id = self._kernels.id_of(self, data, 0, data.size)
        if word_id < 0:
            raise KeyError(word)
        return word_id

    def word(self, word_id: int) -> bytes:
        """Return the word of an id, or raise ``IndexError``."""
        word_id = int64(word_id, "word_id")
        if not 0 <= word_id < len(self):
            raise IndexError(f"id {word_id} is out of range for {len(self)} words")
        return self._kernels.word(self, word_id).tobytes()

    def add_many(self, words: Any, offsets: Any = None, counts: Any = None) -> None:
        """Count many words, once each or by `counts`; after an error, none of them is counted.

        Parameters
        ----------
        words : iterable of bytes, mapping from bytes to int, bytes, or (n_bytes,) uint8
            With `offsets`, the bytes of all words, concatenated.
        offsets : (n + 1,) array_like of int, optional
            Word i is ``words[offsets[i]:offsets[i + 1]]``. Not decreasing, inside the data.
        counts : (n,) array_like of int, optional
            What is added to the count of each word; 1 by default. Only with `offsets`.

        Raises
        ------
        TypeError
            A word is not bytes; the counter is as it was.
        ValueError
            Offsets decrease or are outside the data, or there are not as many counts as words.
        OverflowError
            A sum does not fit int64; the counter is as it was.

        Complexity
        ----------
        O(length) expected for each word; memory only for distinct words.

        Examples
        --------
        >>> c = ByteCounter()
        >>> c.add_many(b"low lower low".split())
        >>> c.add_many({b"low": 3})
        >>> c.add_many(b"lowlower", [0, 3, 8], [1, 10])
        >>> c[b"low"], c[b"lower"]
        (6, 11)
        """
        if offsets is not None:
            self._add_flat(words, offsets, counts)
        elif counts is not None:
            raise TypeError("counts require offsets")
        elif hasattr(words, "items"):
            self._add_items(words)
        elif isinstance(words, (bytes, bytearray, memoryview, str)):
            raise TypeError(f"words must be an iterable of bytes, not {type(words).__name__}")
        else:
            self._add_each(iter(words))

    def _add_each(self, words: Iterator[Any]) -> None:
        """Count every word of an iterator once."""
        chunk = list(islice(words, _CHUNK))
        if len(chunk) < _CHUNK:  # all of them
            self._add_flat(*joined(chunk))
            return
        more = new_byte_counter()
        while chunk:
            more.add_many(*joined(chunk))
            chunk = list(islice(words, _CHUNK))
        self.merge(more)

    def _add_flat(self, data: Any, offsets: Any, counts: Any = None) -> None:
        """Count words that are concatenated in an array of bytes."""
        data, offsets = words_in(data, offsets)
        n = offsets.size - 1
        numbers = _ONE_EACH if counts is None else int64_array(counts, "counts")
        if counts is not None and numbers.size != n:
            raise ValueError(f"{n} words but {numbers.size} counts")
        failure, i = self._kernels.add_many(self, data, offsets, numbers)
        if failure < 0:
            raise error(failure, reprlib.repr(data[offsets[i] : offsets[i + 1]].tobytes()))

    def get_many(self, data: Any, offsets: Any, default: int = 0) -> np.ndarray:
        """Return the counts of ``data[offsets[i]:offsets[i + 1]]``, for every i.

        Parameters
        ----------
        data : bytes or (n_bytes,) uint8
        offsets : (n + 1,) array_like of int
            Not decreasing, inside the data.
        default : int
            For missing words.

        Returns
        -------
        (n,) int64

        Raises
        ------
        TypeError
            The data are not bytes.
        ValueError
            Offsets decrease or are outside the data.

        Complexity
        ----------
        O(n + bytes) expected.

        Examples
        --------
        >>> ByteCounter({b"low": 5}).get_many(b"lownew", [0, 3, 6], default=-1)
        array([ 5, -1])
        """
        return self._kernels.get_many(self, *words_in(data, offsets), int64(default, "default"))

    def merge(self, other: ByteCounter) -> None:
        """Add the counts of another counter; words that are new here come last, in their order.

        Parameters
        ----------
        other : ByteCounter

        Raises
        ------
        TypeError
            `other` is not a ByteCounter.
        OverflowError
            A sum does not fit int64; the counter is as it was.

        Complexity
        ----------
        O(capacity + bytes) of `other`, expected.

        Examples
        --------
        >>> c = ByteCounter({b"low": 5})
        >>> c.merge(ByteCounter({b"lower": 2, b"low": 1}))
        >>> list(c.items())
        [(b'low', 6), (b'lower', 2)]
        """
        if not isinstance(other, ByteCounter):
            raise TypeError(f"other must be a ByteCounter, not {type(other).__name__}")
        failure, word_id = self._kernels.merge(self, other)
        if failure < 0:
            raise error(failure, reprlib.repr(other.word(word_id)))

    def items(self) -> Iterator[tuple[bytes, int]]:
        """Iterate over (word, count) in order of id, as they were at the call."""
        data, offsets, counts = self.to_arrays()
        return zip(cut(data, offsets), counts.tolist(), strict=True)

    def most_common(self, k: int | None = None) -> list[tuple[bytes, int]]:
        """Return the words with the greatest counts, greatest first; ties in order of id.

        Parameters
        ----------
        k : int, optional
            The maximal number of words; all by default.

        Returns
        -------
        list of (bytes, int)

        Raises
        ------
        ValueError
            `k` is negative.

        Complexity
        ----------
        O(capacity + bytes + m log m) for the m words that are returned or tie with the last of them.

        Examples
        --------
        >>> ByteCounter({b"low": 2, b"lower": 5, b"newest": 2}).most_common(2)
        [(b'lower', 5), (b'low', 2)]
        """
        data, offsets, counts = self.to_arrays()
        k = counts.size if k is None else min(self._room(k, "k"), counts.size)
        ascending = ~counts  # the reverse order; -counts may overflow
        ids = np.arange(counts.size)
        if 0 < k < counts.size:
            ids = np.flatnonzero(ascending <= np.partition(ascending, k - 1)[k - 1])
        ids = ids[np.argsort(ascending[ids], kind="stable")[:k]]
        bounds = zip(offsets[ids].tolist(), offsets[ids + 1].tolist(), counts[ids].tolist(), strict=True)
        return [(data[start:end].tobytes(), count) for start, end, count in bounds]

    def to_arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return all words and counts in order of id; :meth:`from_arrays` takes them back.

        Returns
        -------
        data : (n_bytes,) uint8
            The words, concatenated.
        offsets : (n + 1,) int64, bytes
            Word i is ``data[offsets[i]:offsets[i + 1]]``.
        counts : (n,) int64

        Complexity
        ----------
        O(capacity + bytes).

        Examples
        --------
        >>> data, offsets, counts = ByteCounter({b"low": 5, b"lower": 2}).to_arrays()
        >>> data.tobytes(), offsets, counts
        (b'lowlower', array([0, 3, 8]), array([5, 2]))
        """
        return self._kernels.to_arrays(self)

    def clear(self) -> None:
        """Remove every word; the capacity stays."""
        self._kernels.clear(self)

    def reserve(self, n_words: int, n_bytes: int = 0) -> None:
        """Make room for `n_words` words of `n_bytes` bytes in total, so that the table does not grow earlier.

        Parameters
        ----------
        n_words, n_bytes : int

        Raises
        ------
        ValueError
            A number is negative.
        MemoryError
            There is not enough memory; the content is as it was.

        Complexity
        ----------
        O(n_words + bytes held).

        Examples
        --------
        >>> c = ByteCounter()
        >>> c.reserve(1000, 10_000)
        """
        n_words, n_bytes = self._room(n_words, "n_words"), self._room(n_bytes, "n_bytes")
        self._done(self._kernels.reserve(self, n_words, n_bytes), f"{n_words} words of {n_bytes} bytes")

    def _check(self) -> None:
        """Assert the numbered invariants of the module docstring."""
        slots, offsets, pool, shift = state(self)
        capacity, size = 1 << (64 - shift), len(self)
        assert slots.size == 4 * capacity + 4, "1: capacity"
        assert np.array_equal(slots[-SEED.size :], SEED), "1: the seed"
        rows = slots[:-4].reshape(capacity, 4)
        occupied = np.flatnonzero(rows[:, 1])
        assert not rows[rows[:, 1] == 0].any(), "1: an empty slot is not zero"
        assert occupied.size == size, "2: size"
        assert 2 * size <= capacity, "2: load"
        assert sorted(rows[occupied, 2]) == list(range(size)), "2: ids"
        assert offsets.size > size, "3: room for offsets"
        assert offsets[0] == 0, "3: the first offset"
        assert np.all(np.diff(offsets[: size + 1]) >= 0), "3: an offset decreases"
        assert offsets[size] <= pool.size, "3: room for bytes"
        for slot in occupied.tolist():
            word_0, word_1, word_id, _ = rows[slot].tolist()
            *key, found = look_up(self, word_id)
            assert key == [word_0, word_1], f"4: key of word {word_id}"
            assert found == slot, f"5: word {word_id} is in slot {slot}, found in {found}"


bind(ByteCounterType, ByteCounter)
makes_empty(ByteCounter, new_byte_counter, "data, offsets, counts")


@class_method(ByteCounter, "from_arrays")
def _from_arrays(cls, data, offsets, counts):
    for each, name in ((data, "data"), (offsets, "offsets"), (counts, "counts")):
        must_be_integers(each, name)
    return lambda cls, data, offsets, counts: byte_counter_of(data, offsets, counts)


__test__ = named_by_package(ByteCounter)
