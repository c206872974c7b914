"""Models: what the containers do, in plain Python. Machines and programs compare with them.

A model has the methods of its container under the same names, and raises the same exceptions. It is as simple
as possible, and slow.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from structures.status import INT64_MAX, INT64_MIN


def plain(value: Any) -> Any:
    """Return a result with lists in place of arrays and iterators, for ``==``."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    return list(value) if hasattr(value, "__next__") else value


def outcome(call: Callable[..., Any], *arguments: Any) -> Any:
    """Return the result of a call, arrays as lists, or the type of the exception that it raises.

    Parameters
    ----------
    call : callable
    *arguments

    Returns
    -------
    object or type
        Of an exception, the type that containers promise: KeyError, IndexError, OverflowError, ValueError
        or MemoryError. Other exceptions pass through.

    Examples
    --------
    >>> outcome({}.__getitem__, 5), outcome(np.arange, 3)
    (<class 'KeyError'>, [0, 1, 2])
    """
    try:
        return plain(call(*arguments))
    except _PROMISED as error:
        return next(kind for kind in _PROMISED if isinstance(error, kind))


_PROMISED = (KeyError, IndexError, OverflowError, ValueError, MemoryError)


class NotANumber(ValueError):
    """A sum is not a number; a container raises a plain ValueError for it."""


def _in_range(number: Any) -> Any:
    if number != number:
        raise NotANumber(number)
    if isinstance(number, int) and not INT64_MIN <= number <= INT64_MAX:
        raise OverflowError(number)
    return number


class _Counts(dict[int, Any]):
    """A dict whose missing keys count as 0."""

    def get(self, key: int, default: Any = 0) -> Any:
        """Return a value."""
        return super().get(key, default)

    def get_many(self, keys: Iterable[int], default: Any = 0) -> list[Any]:
        """Return the values."""
        return [self.get(key, default) for key in keys]

    def setdefault(self, key: int, default: Any = 0) -> Any:
        """Set a value that is missing, and return it."""
        if key not in self:
            self[key] = default
        return self[key]

    def set_many(self, keys: Iterable[int], values: Iterable[Any]) -> None:
        """Set all or nothing."""
        before = dict(self)
        try:
            for key, value in zip(keys, values, strict=True):
                self[key] = value
        except (ValueError, IndexError):
            self.clear()
            super().update(before)
            raise

    def remove(self, key: int) -> None:
        """Remove a key."""
        del self[key]

    def remove_many(self, keys: Iterable[Any]) -> int:
        """Remove keys that may be missing."""
        n = len(self)
        for key in keys:
            dict.pop(self, key, None)
        return n - len(self)


class MapModel(_Counts):
    """:class:`~structures.IntMap`: a dict with sums."""

    def add(self, key: int, delta: int = 1) -> None:
        """Add to a value."""
        self[key] = _in_range(self.get(key) + delta)

    def add_many(self, keys: Iterable[int], deltas: Iterable[int]) -> None:
        """Add all or nothing."""
        after = MapModel(self)
        for key, delta in zip(keys, deltas, strict=True):
            after.add(key, delta)
        self.update(after)


class SortedModel(MapModel):
    """:class:`~structures.SortedMap`: a dict whose keys are sorted for every call.

    Examples
    --------
    >>> model = SortedModel({10: 1, 20: 2})
    >>> model.floor(15)
    (10, 1)
    """

    def in_order(self) -> list[Any]:
        """Return the keys, ascending."""
        return sorted(dict.keys(self))

    def _entry(self, i: int, default: tuple[Any, ...] = ()) -> Any:
        """Return the entry of a rank."""
        if 0 <= i < len(self):
            key = self.in_order()[i]
            return key, self[key]
        if not default:
            raise KeyError(i)
        return default[0]

    def floor(self, key: Any, *default: Any) -> Any:
        """Return the entry at or below a key."""
        return self._entry(bisect_right(self.in_order(), key) - 1, default)

    def lower(self, key: Any, *default: Any) -> Any:
        """Return the entry below a key."""
        return self._entry(bisect_left(self.in_order(), key) - 1, default)

    def ceiling(self, key: Any, *default: Any) -> Any:
        """Return the entry at or above a key."""
        return self._entry(bisect_left(self.in_order(), key), default)

    def higher(self, key: Any, *default: Any) -> Any:
        """Return the entry above a key."""
        return self._entry(bisect_right(self.in_order(), key), default)

    def _many(self, verb: Callable[..., Any], keys: Iterable[Any], default: Any) -> tuple[list[Any], ...]:
        found = [verb(key, *default) for key in keys]
        return [key for key, _ in found], [value for _, value in found]

    def floor_many(self, keys: Iterable[Any], *default: Any) -> tuple[list[Any], ...]:
        """Return many floors."""
        return self._many(self.floor, keys, default)

    def ceiling_many(self, keys: Iterable[Any], *default: Any) -> tuple[list[Any], ...]:
        """Return many ceilings."""
        return self._many(self.ceiling, keys, default)

    def rank(self, key: Any) -> int:
        """Return how many keys are less."""
        return bisect_left(self.in_order(), key)

    def rank_many(self, keys: Iterable[Any]) -> list[int]:
        """Return many ranks."""
        return [self.rank(key) for key in keys]

    def select(self, i: int, *default: Any) -> Any:
        """Return the entry of a rank."""
        if not (0 <= i < len(self) or default):
            raise IndexError(i)
        return self._entry(i, default)

    def peek_min(self, *default: Any) -> Any:
        """Return the first entry."""
        return self._entry(0, default)

    def peek_max(self, *default: Any) -> Any:
        """Return the last entry."""
        return self._entry(len(self) - 1 if self else 0, default)

    def _cut(self, entry: Any) -> Any:
        if self:
            del self[entry[0]]
        return entry

    def pop_min(self, *default: Any) -> Any:
        """Remove the first entry."""
        return self._cut(self.peek_min(*default))

    def pop_max(self, *default: Any) -> Any:
        """Remove the last entry."""
        return self._cut(self.peek_max(*default))

    def between(self, low: Any = None, high: Any = None) -> list[Any]:
        """Return the keys of a range."""
        found = self.in_order()
        return [key for key in found if (low is None or key >= low) and (high is None or key < high)]

    def range_arrays(self, low: Any = None, high: Any = None) -> tuple[list[Any], list[Any]]:
        """Return the keys and values of a range."""
        found = self.between(low, high)
        return found, [self[key] for key in found]

    def count(self, low: Any = None, high: Any = None) -> int:
        """Return the number of keys in a range."""
        return len(self.between(low, high))

    def remove_range(self, low: Any = None, high: Any = None) -> int:
        """Remove the keys of a range."""
        found = self.between(low, high)
        self.remove_many(found)
        return len(found)


class IntSetModel(set[int]):
    """:class:`~structures.IntSet`: a set.

    Examples
    --------
    >>> IntSetModel([3, 1]).to_array()
    [1, 3]
    """

    def contains_many(self, keys: Iterable[int]) -> list[bool]:
        """Return for many keys whether they are there."""
        return [key in self for key in keys]

    def to_array(self) -> list[int]:
        """Return the keys, ascending."""
        return sorted(self)


class HeapModel(_Counts):
    """The heaps and :class:`~structures.CountBuckets`: a dict that is sorted for every call.

    Parameters
    ----------
    items : mapping or iterable of (int, int or float), optional
    least_first : bool
        The order of :class:`~structures.MinHeap`.
    is_fifo : bool
        Of equal counts, the one that came first leaves first, not the smallest key.

    Examples
    --------
    >>> model = HeapModel({9: 5, 7: 2, 8: 5})
    >>> model.pop()
    (8, 5)
    """

    def __init__(self, items: Any = (), least_first: bool = False, is_fifo: bool = False) -> None:
        super().__init__(items)
        self.least_first, self.is_fifo = least_first, is_fifo

    def __setitem__(self, key: int, count: Any) -> None:
        if key in self and self[key] != count:
            del self[key]  # a dict keeps the order of insertion
        super().__setitem__(key, count)

    def in_order(self, least_first: bool) -> list[tuple[int, Any]]:
        """Return the items, ties by age or by smallest key."""
        sign = 1 if least_first else -1
        items = super().items() if self.is_fifo else sorted(super().items())
        return sorted(items, key=lambda item: sign * item[1])

    def items(self) -> Any:
        """Return the items in the order of :meth:`pop`."""
        return self.in_order(self.least_first)

    def _become(self, key: int, count: Any) -> None:
        if _in_range(count) < 0:
            raise ValueError(key)
        if count > 0:
            self[key] = count
        else:
            super().pop(key, None)

    def add(self, key: int, n: Any = 1) -> None:
        """Add to a count."""
        self._become(key, self.get(key) + n)

    def sub(self, key: int, n: Any = 1) -> None:
        """Take from a count."""
        self._become(key, self.get(key) - n)

    def add_many(self, keys: Iterable[int], deltas: Iterable[Any]) -> None:
        """Add all or nothing."""
        before = list(super().items())
        try:
            for key, delta in zip(keys, deltas, strict=True):
                self.add(key, delta)
        except (ValueError, OverflowError, IndexError):
            self.clear()
            self.update(before)
            raise

    def _first(self, least_first: bool) -> tuple[int, Any]:
        if not self:
            raise KeyError("empty")
        return self.in_order(least_first)[0]

    def _take(self, least_first: bool, default: tuple[Any, ...]) -> Any:
        if not self and default:
            return default[0]
        key, count = self._first(least_first)
        del self[key]
        return key, count

    def peek(self) -> tuple[int, Any]:
        """Return the first item."""
        return self._first(self.least_first)

    def peek_min(self) -> tuple[int, Any]:
        """Return the first item of the least count."""
        return self._first(True)

    def pop(self, *default: Any) -> Any:
        """Remove the first item."""
        return self._take(self.least_first, default)

    def pop_min(self, *default: Any) -> Any:
        """Remove the first item of the least count."""
        return self._take(True, default)

    def replace(self, key: int, count: Any) -> tuple[int, Any]:
        """Remove the first item, and set a key."""
        first = self.pop()
        self[key] = count
        return first

    def first_many(self, k: int) -> tuple[list[int], list[Any]]:
        """Return the first k items."""
        first = self.items()[:k]
        return [key for key, _ in first], [count for _, count in first]

    def pop_many(self, k: int) -> tuple[list[int], list[Any]]:
        """Remove the first k items."""
        keys, counts = self.first_many(k)
        for key in keys:
            del self[key]
        return keys, counts

    def ties(self) -> list[int]:
        """Return the keys that share the count of the first."""
        return self.keys_at(self.peek()[1]) if self else []

    def keys_at(self, count: Any) -> list[int]:
        """Return the keys of a count, in order."""
        return [key for key, number in self.items() if number == count]

    def keys_in(self, low: Any = None, high: Any = None) -> list[int]:
        """Return the keys with counts in a range, in order."""
        low, high = INT64_MIN if low is None else low, INT64_MAX + 1 if high is None else high
        return [key for key, count in self.items() if low <= count < high]

    def ceiling_count(self, count: Any, *default: Any) -> Any:
        """Return the least count that is `count` or greater."""
        return self._found([other for other in reversed(self.counts()) if other >= count], default)

    def floor_count(self, count: Any, *default: Any) -> Any:
        """Return the greatest count that is `count` or less."""
        return self._found([other for other in self.counts() if other <= count], default)

    @staticmethod
    def _found(found: list[Any], default: tuple[Any, ...]) -> Any:
        if not (found or default):
            raise KeyError
        return found[0] if found else default[0]

    def counts(self) -> list[Any]:
        """Return the distinct counts, greatest first."""
        return sorted(set(self.values()), reverse=True)

    def max_count(self) -> Any:
        """Return the greatest count."""
        return self._first(False)[1]

    def min_count(self) -> Any:
        """Return the least count."""
        return self._first(True)[1]


class IndexedHeapModel(HeapModel):
    """The indexed heaps: keys are 0 ... n - 1.

    Parameters
    ----------
    items : mapping or iterable of (int, int or float)
    n_keys : int
        How many keys there can be.
    least_first : bool
        The order of :class:`~structures.IndexedMinHeap`.
    is_fifo : bool
        Of equal counts, the one that came first leaves first, not the smallest key.

    Examples
    --------
    >>> model = IndexedHeapModel({9: 5, 7: 2, 8: 5}, 10, is_fifo=True)
    >>> model.pop()
    (9, 5)
    """

    def __init__(self, items: Any, n_keys: int, least_first: bool = False, is_fifo: bool = False) -> None:
        super().__init__(items, least_first, is_fifo)
        self.n_keys = n_keys

    def _in_range(self, key: int) -> int:
        if not 0 <= key < self.n_keys:
            raise IndexError(key)
        return key

    def __getitem__(self, key: int) -> Any:
        return super().__getitem__(self._in_range(key))

    def __setitem__(self, key: int, count: Any) -> None:
        super().__setitem__(self._in_range(key), count)

    def __delitem__(self, key: int) -> None:
        super().__delitem__(self._in_range(key))

    def _become(self, key: int, count: Any) -> None:
        super()._become(self._in_range(key), count)

    def replace(self, key: int, count: Any) -> tuple[int, Any]:
        """Remove the first item, and set a key."""
        return super().replace(self._in_range(key), count)

    def improve(self, key: int, count: Any) -> bool:
        """Insert a key, or move it towards the top."""
        sign = 1 if self.least_first else -1
        if self._in_range(key) in self and sign * self[key] <= sign * count:
            return False
        self[key] = count
        return True


class TokenModel:
    """:class:`~structures.TokenList`: a list of segments, each a list of (position, token).

    Parameters
    ----------
    segments : iterable of sequence of int
        The tokens of each segment; none is empty.

    Examples
    --------
    >>> model = TokenModel([[5, 6, 7], [8]])
    >>> model.merge(0, 9)
    >>> model.segments
    [[(0, 9), (2, 7)], [(3, 8)]]
    """

    def __init__(self, segments: Iterable[Iterable[int]]) -> None:
        self.n_positions = 0
        self.segments = [[self._new(token) for token in segment] for segment in segments]

    def _new(self, token: int) -> tuple[int, int]:
        self.n_positions += 1
        return self.n_positions - 1, token

    def _find(self, position: int) -> tuple[list[tuple[int, int]], int]:
        """Return the segment that has a token at a position, and the token's place in it."""
        for segment in self.segments:
            for i, (start, _) in enumerate(segment):
                if start == position:
                    return segment, i
        raise IndexError(position)

    def next(self, position: int) -> int:
        """Return the position of the next token, or -1."""
        segment, i = self._find(position)
        return segment[i + 1][0] if i + 1 < len(segment) else -1

    def prev(self, position: int) -> int:
        """Return the position of the previous token, or -1."""
        segment, i = self._find(position)
        return segment[i - 1][0] if i > 0 else -1

    def token(self, position: int) -> int:
        """Return a token, -1 for a tombstone."""
        if not 0 <= position < self.n_positions:
            raise IndexError(position)
        return dict(self.live()).get(position, -1)

    def segment_at(self, position: int) -> int:
        """Return the number of the segment of a token."""
        return self.segments.index(self._find(position)[0])

    def merge(self, position: int, new_token: int) -> None:
        """Join a token and the next one."""
        segment, i = self._find(position)
        if i + 1 == len(segment):
            raise IndexError(position)
        segment[i : i + 2] = [(position, new_token)]

    def compact(self) -> list[int]:
        """Renumber the positions; return the old ones."""
        old_positions = self.positions()
        self.__init__([token for _, token in segment] for segment in self.segments)  # type: ignore[misc]
        return old_positions

    def segment(self, number: int) -> list[int]:
        """Return the tokens of a segment."""
        if not 0 <= number < len(self.segments):
            raise IndexError(number)
        return [token for _, token in self.segments[number]]

    def segment_positions(self, number: int) -> list[int]:
        """Return the positions of the tokens of a segment."""
        if not 0 <= number < len(self.segments):
            raise IndexError(number)
        return [position for position, _ in self.segments[number]]

    def live(self) -> list[tuple[int, int]]:
        """Return (position, token) of every token."""
        return [item for segment in self.segments for item in segment]

    def positions(self) -> list[int]:
        """Return the positions of all tokens."""
        return [position for position, _ in self.live()]

    def to_arrays(self) -> tuple[list[int], list[int]]:
        """Return the tokens and the offsets of the segments."""
        offsets = [0, *np.cumsum([len(segment) for segment in self.segments], dtype=int).tolist()]
        return [token for _, token in self.live()], offsets

    def pair_at(self, position: int) -> tuple[int, int] | None:
        """Return the pair of tokens that starts at a position, or None."""
        if position not in self.positions() or self.next(position) < 0:
            return None
        return self.token(position), self.token(self.next(position))


class PairModel:
    """:class:`~structures.PairIndex`: a dict from pair to list of postings, stale ones included.

    Parameters
    ----------
    tokens : TokenModel

    Examples
    --------
    >>> model = PairModel(TokenModel([[1, 2, 1, 2]]))
    >>> model.rebuild()
    >>> model.postings(1, 2)
    [0, 2]
    """

    def __init__(self, tokens: TokenModel) -> None:
        self.tokens = tokens
        self.lists: dict[tuple[int, int], list[int]] = {}

    def rebuild(self) -> None:
        """Post every pair again."""
        self.lists = {}
        for position in self.tokens.positions():
            pair = self.tokens.pair_at(position)
            if pair is not None:
                self.lists.setdefault(pair, []).append(position)

    def add_many(self, left: int, right: int, positions: Iterable[int]) -> None:
        """Add postings, all or nothing."""
        positions = list(positions)
        if not all(0 <= position < self.tokens.n_positions for position in positions):
            raise IndexError(positions)
        self.lists.setdefault((left, right), []).extend(positions)

    def add(self, left: int, right: int, position: int) -> None:
        """Add a posting."""
        self.add_many(left, right, [position])

    def drop(self, left: int, right: int) -> None:
        """Forget the list of a pair."""
        del self.lists[left, right]

    def postings(self, left: int, right: int) -> list[int]:
        """Return the postings of a pair that are not stale."""
        pair = (left, right)
        return [position for position in self.lists.get(pair, []) if self.tokens.pair_at(position) == pair]

    def count(self, left: int, right: int) -> int:
        """Return how many postings of a pair are not stale."""
        return len(self.postings(left, right))

    def pairs(self) -> list[list[int]]:
        """Return the pairs that have a list."""
        return sorted(map(list, self.lists))

    @property
    def n_postings(self) -> int:
        """Number of postings, stale ones included."""
        return sum(map(len, self.lists.values()))

    def stale_fraction(self) -> float:
        """Return the stale share of the postings."""
        live = sum(self.count(*pair) for pair in self.lists)
        return 1.0 - live / self.n_postings if self.n_postings else 0.0


_RowEntry = tuple[float, int, bool]


class KBestModel:
    """:class:`~structures.KBest`: a sorted list of (distance, id, flag) for each row.

    Parameters
    ----------
    n_rows, k : int
    dtype, id_dtype : dtype
    flags : bool

    Examples
    --------
    >>> model = KBestModel(1, 2)
    >>> [model.push(0, distance, 7) for distance in (0.5, 0.25)]
    [True, False]
    """

    def __init__(
        self, n_rows: int, k: int, dtype: Any = np.float32, id_dtype: Any = np.int32, flags: bool = False
    ) -> None:
        self.k, self.flags = k, flags
        self.round = np.dtype(dtype).type
        self.greatest_id = int(np.iinfo(id_dtype).max)
        self.rows: list[list[_RowEntry]] = [[] for _ in range(n_rows)]

    def _entries(self, row: int) -> list[_RowEntry]:
        if not 0 <= row < len(self.rows):
            raise IndexError(row)
        return self.rows[row]

    def _entry(self, distance: float, id: int, flag: bool) -> _RowEntry:
        if distance != distance or not 0 <= id <= self.greatest_id or (flag and not self.flags):
            raise ValueError((distance, id, flag))
        with np.errstate(over="ignore"):
            return float(self.round(distance)), id, flag

    def push_unchecked(self, row: int, distance: float, id: int, flag: bool = False) -> bool:
        """Insert an entry."""
        entries, entry = self._entries(row), self._entry(distance, id, flag)
        if len(entries) == self.k and entry[:2] >= entries[-1][:2]:
            return False
        entries.insert(bisect_left([other[:2] for other in entries], entry[:2]), entry)
        del entries[self.k :]
        return True

    def push(self, row: int, distance: float, id: int, flag: bool = False) -> bool:
        """Insert an entry, if its id is new."""
        entries, _ = self._entries(row), self._entry(distance, id, flag)
        is_in = id in [other for _, other, _ in entries]
        return not is_in and self.push_unchecked(row, distance, id, flag)

    def push_many(self, rows: Any, distances: Any, ids: Any, flag: bool = False) -> int:
        """Push all or nothing."""
        entries = list(zip(rows, distances, ids, strict=True))
        for row, _, _ in entries:
            self._entries(row)
        for _, distance, id in entries:
            self._entry(distance, id, False)
        if flag and not self.flags:
            raise ValueError(flag)
        return sum(self.push(*entry, flag) for entry in entries)

    def merge(self, other: KBestModel) -> int:
        """Push the entries of another one."""
        return sum(
            self.push(row, distance, id, flag and self.flags)
            for row, entries in enumerate(other.rows)
            for distance, id, flag in list(entries)
        )

    def worst(self, row: int) -> float:
        """Return the last distance of a full row."""
        entries = self._entries(row)
        return entries[-1][0] if len(entries) == self.k else float("inf")

    def size(self, row: int) -> int:
        """Return the number of entries."""
        return len(self._entries(row))

    def row(self, row: int) -> tuple[list[Any], ...]:
        """Return distances, ids, and flags if there are any."""
        entries = self._entries(row)
        return tuple([entry[i] for entry in entries] for i in range(2 + self.flags))

    def to_arrays(self) -> tuple[list[Any], ...]:
        """Return distances, ids, and flags of all rows, padded."""
        full = [entries + [(float("inf"), -1, False)] * (self.k - len(entries)) for entries in self.rows]
        return tuple([[entry[i] for entry in entries] for entries in full] for i in range(2 + self.flags))

    def clear(self) -> None:
        """Remove everything."""
        for entries in self.rows:
            entries.clear()


class DisjointSetsModel:
    """:class:`~structures.DisjointSets`: for each element the set that it is in, shared by its elements.

    Parameters
    ----------
    n : int
        Number of elements.

    Examples
    --------
    >>> model = DisjointSetsModel(3)
    >>> model.union(0, 2), model.labels()
    (True, [0, 1, 0])
    """

    def __init__(self, n: int = 0) -> None:
        self.set_of = [{element} for element in range(n)]

    def __len__(self) -> int:
        return len(self.set_of)

    def _set_of(self, element: int) -> set[int]:
        if not 0 <= element < len(self.set_of):
            raise IndexError(element)
        return self.set_of[element]

    def add(self) -> int:
        """Add an element."""
        self.set_of.append({len(self.set_of)})
        return len(self.set_of) - 1

    def union(self, one: int, other: int) -> bool:
        """Join two sets."""
        ours, theirs = self._set_of(one), self._set_of(other)
        if ours is theirs:
            return False
        ours |= theirs
        for element in theirs:
            self.set_of[element] = ours
        return True

    def union_many(self, ones: Any, others: Any) -> int:
        """Join many, or none."""
        for element in (*ones, *others):
            self._set_of(element)
        return sum(self.union(*pair) for pair in zip(ones, others, strict=True))

    def connected(self, one: int, other: int) -> bool:
        """Return whether two elements are together."""
        return self._set_of(one) is self._set_of(other)

    def size(self, element: int) -> int:
        """Return how many are together with an element."""
        return len(self._set_of(element))

    def labels(self) -> list[int]:
        """Return the number of the set of each element."""
        numbers: dict[int, int] = {}
        return [numbers.setdefault(id(together), len(numbers)) for together in self.set_of]

    @property
    def n_sets(self) -> int:
        """Number of sets."""
        return len(set(map(id, self.set_of)))
