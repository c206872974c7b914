"""Containers that map int64 keys to numbers: the methods of a dict, and methods for many keys at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic

import numpy as np

from structures import status
from structures.base.container import Facade, pairs_of
from structures.base.struct_type import StructType, method
from structures.base.typing import Default, Key, Number
from structures.compiling.jit import inner, kernel, quiet
from structures.primitives.simd import smaller
from structures.status import error, float64, float64_array, int64, int64_array

AHEAD = 16  # how many items ahead a key is prefetched


class KeyedType(StructType):
    """Base of the types with methods ``get set add remove contains prefetch`` of a key."""

    number_parameters = (
        *("count", "counts", "priority", "priorities", "n", "value", "values"),
        *("delta", "deltas", "numbers", "default"),
    )


class MapType(KeyedType):
    """Base of the types of maps, which also have ``update``."""


@kernel
def check_sizes(keys, numbers):
    """Raise if keys and numbers differ in length."""
    if keys.size != numbers.size:
        raise ValueError("keys and their numbers differ in length")


@inner
def _put_back(self, keys, before, was_in, n):
    """Undo the changes of the first `n` keys, the last one first."""
    for i in range(n - 1, -1, -1):
        if was_in[i]:
            self.set(keys[i], before[i])
        else:
            self.remove(keys[i])


@method(KeyedType, "_change_many")
@kernel
def _change_many(self, keys, numbers, is_sum):
    """Add or set all items, or none; return (status, index of the item that failed)."""
    if keys.size != numbers.size:
        return status.OUT_OF_RANGE, smaller(keys.size, numbers.size)
    before = np.full(keys.size, self.get(0))  # the dtype of the container, not that of the numbers
    was_in = np.empty(keys.size, np.bool_)
    for i in range(keys.size):
        self.prefetch(keys[smaller(i + AHEAD, keys.size - 1)])
        before[i] = self.get(keys[i])
        was_in[i] = before[i] != 0 or self.contains(keys[i])
        failure = self.add(keys[i], numbers[i]) if is_sum else self.set(keys[i], numbers[i])
        if failure < 0:
            _put_back(self, keys, before, was_in, i)
            return failure, i
    return status.OK, keys.size


@method(MapType, "_before_pop")
@method(KeyedType, "_before_getitem")
@quiet
def _before_getitem(self, key):
    return status.OK if self.contains(key) else status.MISSING


@method(KeyedType, "_before_setdefault")
@quiet
def _before_setdefault(self, key, default):
    return status.NOT_A_NUMBER if default != default and not self.contains(key) else status.OK


@method(KeyedType, "_before_set_many")
@method(KeyedType, "_before_add_many")
@quiet
def _before_add_many(self, keys, numbers):
    return status.OK if keys.size == numbers.size else status.UNEQUAL


@method(KeyedType, "add_many")
@kernel
def _add_many(self, keys, deltas):
    """Add all items, or none; return (status, index of the item that failed)."""
    return self._change_many(keys, deltas, True)


@method(KeyedType, "set_many")
@kernel
def _set_many(self, keys, values):
    """Set all items, or none; return a status."""
    return self._change_many(keys, values, False)[0]


@method(MapType, "update")
@kernel
def _update(self, other):
    """Set all entries of another container, or none; return a status."""
    keys, values = other.to_arrays()
    return self.set_many(keys, values)


@method(KeyedType, "get_many")
@kernel
def _get_many(self, keys, default=0):
    numbers = np.full(keys.size, self.get(0))
    for i in range(keys.size):
        self.prefetch(keys[smaller(i + AHEAD, keys.size - 1)])
        numbers[i] = self.get(keys[i], default)
    return numbers


@method(KeyedType, "remove_many")
@quiet
def _remove_many(self, keys):
    """Remove keys that may be missing; return how many were removed."""
    n = self.size
    for i in range(keys.size):
        self.remove(keys[i])
    return n - self.size


@method(KeyedType, "setdefault")
@quiet
def _setdefault(self, key, default=0):
    if not self.contains(key):
        self.set(key, default)
    return self.get(key, default)


@method(KeyedType, "keys")
@method(KeyedType, "__iter__")
@kernel
def _keys(self):
    return self.to_arrays()[0]


@method(KeyedType, "values")
@kernel
def _values(self):
    return self.to_arrays()[1]


@method(KeyedType, "items")
@kernel
def _items(self):
    return pairs_of(self.to_arrays())


@method(KeyedType, "equals")
@kernel
def _equals(self, other):
    """Return whether both have the same keys with the same numbers."""
    if self.size != other.size:
        return False
    keys, numbers = self.to_arrays()
    for i in range(keys.size):
        if other.get(keys[i]) != numbers[i] or not other.contains(keys[i]):
            return False
    return True


class Numbers(np.ndarray):
    """An array whose loops give Python's numbers, so that ``dict(container)`` has those, as ``items()`` does.

    What is computed from it is a plain array or number.
    """

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __array_wrap__(self, array: Any, *_: Any) -> Any:
        return np.asarray(array)[()]

    def __repr__(self) -> str:
        return repr(np.asarray(self))


if TYPE_CHECKING:
    _Keyed = Mapping
else:
    _Keyed = Generic  # the class is registered below: as a base, Mapping would have another metaclass


class Keyed(Facade, _Keyed[Key, Number]):
    """Base of the classes that map keys to numbers; for ``isinstance`` they are mappings.

    They have the methods of :class:`collections.abc.Mapping`. But :meth:`get` returns 0 for a missing key,
    not None, and :meth:`keys` and :meth:`values` return arrays. ``==`` compares with other mappings by their
    entries, and with containers of the same kind.
    """

    __slots__ = ()
    _noun = "value"
    _float_hint = ""  # added to the message for a float in a container of integers

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the numbers: int64 or float64."""
        return np.dtype(np.int64)

    def _key(self, key: Any) -> Any:
        """Return a key in the type of the keys, or raise."""
        return int64(key)

    def _keys(self, keys: Any) -> np.ndarray:
        """Return an array of keys in the type of the keys, or raise."""
        return int64_array(keys)

    def _is_key(self, key: Any) -> bool:
        """Return whether a key could be in the container."""
        return self._is_int64(key)

    def _number(self, value: Any, name: str) -> Any:
        """Return `value` as a number of the dtype."""
        return int64(value, name, self._float_hint) if self.dtype == np.int64 else float64(value, name)

    def _numbers(self, values: Any, name: str) -> np.ndarray:
        if self.dtype == np.int64:
            return int64_array(values, name, self._float_hint)
        return float64_array(values, name)

    def __getitem__(self, key: Key) -> Number:
        key = self._key(key)
        value = self._type.entries.get(self, key, 0)
        if not value:  # of a missing key, too
            failure, value = self._type.entries._checked_get(self, key)
            if failure < 0:
                raise KeyError(key)
        return value

    def __setitem__(self, key: Key, value: Any) -> None:
        self._done(self._type.entries.set(self, self._key(key), self._number(value, self._noun)), key)

    def __delitem__(self, key: Key) -> None:
        self._done(self._type.entries.remove(self, self._key(key)), key)

    def __contains__(self, key: Any) -> bool:
        return self._is_key(key) and self._type.entries.contains(self, self._key(key))

    def __iter__(self) -> Iterator[Key]:
        return iter(self.to_arrays()[0].tolist())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Mapping) and not isinstance(other, Facade):
            return dict(self.items()) == other
        return super().__eq__(other)

    __hash__ = None  # type: ignore[assignment]  # containers change

    def set(self, key: Key, value: Any) -> None:
        """Set `key` to a value, as ``c[key] = value`` does.

        Parameters
        ----------
        key : int
        value : int or float

        Raises
        ------
        ValueError
            The value is NaN, and the container has an order by values.
        MemoryError
            There is not enough memory; the container is as it was.

        Complexity
        ----------
        That of ``c[key] = value``.

        Examples
        --------
        >>> from structures import IntMap
        >>> m = IntMap()
        >>> m.set(7, 2); m[7]
        2
        """
        self[key] = value

    def remove(self, key: Key) -> None:
        """Remove a key, as ``del c[key]`` does.

        Parameters
        ----------
        key : int

        Raises
        ------
        KeyError
            The key is missing.

        Complexity
        ----------
        That of ``del c[key]``.

        Examples
        --------
        >>> from structures import IntMap
        >>> m = IntMap({7: 2})
        >>> m.remove(7); len(m)
        0
        """
        del self[key]

    def get(self, key: Key, default: Default = 0) -> Number | Default:  # type: ignore[assignment]
        """Return the number of `key`, or `default` for a missing key."""
        if not self._is_key(key):
            return default
        key = self._key(key)
        value = self._type.entries.get(self, key, 0)
        if not value:  # of a missing key, too
            failure, value = self._type.entries._checked_get(self, key)
            if failure < 0:
                return default
        return value

    def add_many(self, keys: Any, deltas: Any = None) -> None:
        """Add ``deltas[i]`` to the number of ``keys[i]``, for every i in order; if that fails, none is added.

        Parameters
        ----------
        keys : (n,) array_like of int; or mapping, iterable of (int, int or float), or container
            Keys may repeat. Without `deltas`: keys, and what is added to each.
        deltas : (n,) array_like of int or float, optional

        Raises
        ------
        ValueError
            The arrays differ in length, a count would be below 0, or a sum is NaN; the container is as it
            was.
        OverflowError
            A sum does not fit int64; the container is as it was.

        Complexity
        ----------
        The cost of :meth:`add`, for each item.

        Examples
        --------
        >>> from structures import IntMap
        >>> m = IntMap()
        >>> m.add_many([7, 8, 7], [2, 3, 4])
        >>> m.add_many({8: 1})
        >>> m[7], m[8]
        (6, 4)
        """
        if deltas is None:
            keys, deltas = self._unzipped(keys)
        keys, deltas = self._keys(keys), self._numbers(deltas, "deltas")
        self._same_length(keys, deltas, "deltas")
        failure, i = self._kernels.add_many(self, keys, deltas)
        if failure < 0:
            raise error(failure, f"key {keys[i]}")

    def set_many(self, keys: Any, values: Any) -> None:
        """Set ``keys[i]`` to ``values[i]``, for every i in order; after an error, nothing is set.

        Parameters
        ----------
        keys : (n,) array_like of int
            A repeated key has its last value.
        values : (n,) array_like of int or float

        Raises
        ------
        ValueError
            The arrays differ in length, or a value is NaN; the container is as it was.
        MemoryError
            There is not enough memory; the container is as it was.

        Complexity
        ----------
        The cost of ``c[key] = value``, for each item.

        Examples
        --------
        >>> from structures import MinHeap
        >>> h = MinHeap({7: 2})
        >>> h.set_many([8, 7], [1, 5])
        >>> h.peek()
        (8, 1)
        """
        keys, values = self._keys(keys), self._numbers(values, "values")
        self._same_length(keys, values, "values")
        self._done(self._kernels.set_many(self, keys, values), f"{keys.size} keys")

    def get_many(self, keys: Any, default: Any = 0) -> np.ndarray:
        """Return the numbers of many keys, and `default` for missing keys.

        Parameters
        ----------
        keys : (n,) array_like of int
        default : int or float

        Returns
        -------
        (n,) int64 or float64

        Complexity
        ----------
        The cost of ``c[key]``, for each key.

        Examples
        --------
        >>> from structures import MaxHeap
        >>> MaxHeap({7: 2}).get_many([7, 8], -1)
        array([ 2, -1])
        """
        return self._kernels.get_many(self, self._keys(keys), self._number(default, "default"))

    def remove_many(self, keys: Any) -> int:
        """Remove many keys, and return how many of them were in the container.

        Parameters
        ----------
        keys : (n,) array_like of int
            They may repeat, and may be missing.

        Returns
        -------
        int

        Complexity
        ----------
        The cost of ``del c[key]``, for each key.

        Examples
        --------
        >>> from structures import MaxHeap
        >>> h = MaxHeap({7: 2, 8: 5})
        >>> h.remove_many([7, 9])
        1
        """
        return self._kernels.remove_many(self, self._keys(keys))

    def setdefault(self, key: Key, default: Any = 0) -> Number:
        """Return the number of `key`; if it is missing, set it to `default` first.

        Parameters
        ----------
        key : int
        default : int or float

        Returns
        -------
        int or float

        Raises
        ------
        ValueError
            `default` is NaN, and the key is missing.

        Complexity
        ----------
        The cost of ``c[key] = default``.

        Examples
        --------
        >>> from structures import IntMap
        >>> m = IntMap({7: 2})
        >>> m.setdefault(7, 5), m.setdefault(8, 5), len(m)
        (2, 5, 2)
        """
        key, default = self._key(key), self._number(default, "default")
        if key not in self:
            self[key] = default
        return self[key]

    def keys(self) -> np.ndarray:  # type: ignore[override]
        """Return the keys, ``(n,) int64``, in the order of :meth:`to_arrays`."""
        return self.to_arrays()[0].view(Numbers)

    def values(self) -> np.ndarray:  # type: ignore[override]
        """Return the numbers, ``(n,)``, in the order of :meth:`to_arrays`."""
        return self.to_arrays()[1].view(Numbers)

    def items(self) -> Iterator[tuple[Key, Number]]:  # type: ignore[override]
        """Iterate over (key, number) in the order of :meth:`to_arrays`, as they were at the call.

        Returns
        -------
        iterator of (int, int or float)

        Complexity
        ----------
        That of :meth:`to_arrays`, at the call.

        Examples
        --------
        >>> from structures import MaxHeap
        >>> list(MaxHeap({7: 2, 8: 5}).items())
        [(8, 5), (7, 2)]
        """
        keys, values = self.to_arrays()
        return zip(keys.tolist(), values.tolist(), strict=True)

    def clear(self) -> None:
        """Remove every key; the capacity stays."""
        self._kernels.clear(self)

    def reserve(self, n_keys: int) -> None:
        """Make room for `n_keys` keys in total, so that the container does not grow earlier.

        Parameters
        ----------
        n_keys : int

        Raises
        ------
        ValueError
            `n_keys` is negative.
        MemoryError
            There is not enough memory; the container is as it was.

        Complexity
        ----------
        O(n_keys).

        Examples
        --------
        >>> from structures import MaxHeap
        >>> h = MaxHeap()
        >>> h.reserve(1000)
        """
        self._done(self._kernels.reserve(self, self._room(n_keys, "n_keys")), f"{n_keys} keys")

    @staticmethod
    def _same_length(keys: np.ndarray, values: np.ndarray, name: str) -> None:
        if keys.shape != values.shape:
            raise ValueError(f"{keys.size} keys but {values.size} {name}")

    @staticmethod
    def _unzipped(items: Any) -> tuple[Any, Any]:
        """Return the keys and the numbers of a mapping, of pairs or of a container."""
        if isinstance(items, Keyed):
            return items.to_arrays()
        try:
            pairs = list(items.items() if hasattr(items, "items") else items)
            return [key for key, _ in pairs], [value for _, value in pairs]
        except TypeError:
            raise TypeError(
                "items must be a mapping, pairs of a key and a number, or a container; "
                "from_arrays and add_many take an array of keys and one of numbers"
            ) from None


if not TYPE_CHECKING:
    Mapping.register(Keyed)


class Map(Keyed[Key, Number]):
    """Base of the maps, whose :meth:`update` is like that of a dict."""

    __slots__ = ()

    def update(self, other: Any) -> None:
        """Set the entries of a mapping, of pairs or of a container, as a dict does; after an error, none.

        Parameters
        ----------
        other : mapping, iterable of (int, int or float), or container of keys and numbers
            A repeated key has its last value.

        Raises
        ------
        ValueError, MemoryError
            As :meth:`set_many`.

        Complexity
        ----------
        The cost of ``m[key] = value``, for each entry.

        Examples
        --------
        >>> from structures import IntMap
        >>> m = IntMap({7: 2})
        >>> m.update({7: 3, 8: 1})
        >>> m.update([(8, 5)])
        >>> m[7], m[8]
        (3, 5)
        """
        self.set_many(*self._unzipped(other))
