"""Containers that map int64 keys to numbers: the methods of a dict, and methods for many keys at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from structures import status
from structures.facade import Facade
from structures.jit import kernel
from structures.simd import smaller
from structures.status import error, float64, float64_array, int64, int64_array
from structures.struct_type import StructType, method

NOTHING: Any = object()  # stands for a default that was not given
AHEAD = 16  # how many items ahead a key is prefetched


class KeyedType(StructType):
    """Base of the types with methods ``get set add remove contains prefetch`` of a key."""


@method(KeyedType, "update_many")
@kernel
def _update_many(self, keys, deltas):
    """Add all or nothing. Returns (status, index of the item that failed)."""
    if keys.size != deltas.size:
        return status.OUT_OF_RANGE, smaller(keys.size, deltas.size)
    before = np.full(keys.size, self.get(0))  # the dtype of the numbers, not of the deltas
    was_in = np.empty(keys.size, np.bool_)
    for i in range(keys.size):
        self.prefetch(keys[smaller(i + AHEAD, keys.size - 1)])
        before[i] = self.get(keys[i])
        was_in[i] = before[i] != 0 or self.contains(keys[i])
        failure = self.add(keys[i], deltas[i])
        if failure < 0:
            for j in range(i - 1, -1, -1):
                if was_in[j]:
                    self.set(keys[j], before[j])
                else:
                    self.remove(keys[j])
            return failure, i
    return status.OK, keys.size


class Keyed(Facade):
    """Base of the classes that map keys to numbers."""

    __slots__ = ()
    _noun = "value"

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
        return (int64 if self.dtype == np.int64 else float64)(value, name)

    def _numbers(self, values: Any, name: str) -> np.ndarray:
        return (int64_array if self.dtype == np.int64 else float64_array)(values, name)

    def __getitem__(self, key: int) -> Any:
        key = self._key(key)
        value = self._kernels.get(self, key)
        if not value and not self._kernels.contains(self, key):
            raise KeyError(key)
        return value

    def __setitem__(self, key: int, value: Any) -> None:
        self._done(self._kernels.set(self, self._key(key), self._number(value, self._noun)), key)

    def __delitem__(self, key: int) -> None:
        self._done(self._kernels.remove(self, self._key(key)), key)

    def __contains__(self, key: Any) -> bool:
        return self._is_key(key) and self._kernels.contains(self, self._key(key))

    def __iter__(self) -> Iterator[int]:
        return iter(self.to_arrays()[0].tolist())

    def get(self, key: int, default: Any = 0) -> Any:
        """Return the number of `key`, or `default` for a missing key."""
        if not self._is_key(key):
            return default
        key = self._key(key)
        value = self._kernels.get(self, key)
        return value if value or self._kernels.contains(self, key) else default

    def update_many(self, keys: Any, deltas: Any) -> None:
        """Add ``deltas[i]`` to the number of ``keys[i]``, for every i in order; all or nothing.

        Parameters
        ----------
        keys : (n,) array_like of int
            May repeat.
        deltas : (n,) array_like of int or float

        Raises
        ------
        ValueError
            The arrays differ in length, a count would be below 0, or a sum is not a number; the container is
            as it was.
        OverflowError
            A sum does not fit int64; the container is as it was.

        Complexity
        ----------
        The cost of :meth:`add`, for each item.

        Examples
        --------
        >>> from structures import IntMap
        >>> m = IntMap()
        >>> m.update_many([7, 8, 7], [2, 3, 4])
        >>> m[7]
        6
        """
        keys, deltas = self._keys(keys), self._numbers(deltas, "deltas")
        self._same_length(keys, deltas, "deltas")
        failure, i = self._kernels.update_many(self, keys, deltas)
        if failure < 0:
            raise error(failure, f"key {keys[i]}")

    def items(self) -> Iterator[tuple[int, Any]]:
        """Iterate over (key, number), as they are at the call, in the order of :meth:`to_arrays`.

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
        """Make room for `n_keys` keys in all, so that there is no growth until then.

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
    def _unzipped(items: Any) -> tuple[list[Any], list[Any]]:
        pairs = list(items.items() if hasattr(items, "items") else items)
        return [key for key, _ in pairs], [value for _, value in pairs]
