"""``Deque``: a sequence of numbers that grows and shrinks at both ends.

A ring in one array, whose length is a power of two. It grows to twice its length; then the elements are
copied to its beginning. ::

    ring     [ 7  8  9  .  .  .  5  6 ]      start = 6, size = 5: the elements 5 6 7 8 9
                      |        |
                 append        appendleft writes here

Element i is at ``(start + i) & (length of the ring - 1)``.

Invariants
----------
1. The length of the ring is a power of two, at least 8.
2. ``0 <= start < length``, and ``0 <= size <= length``.

Complexity
----------
==============================  =================================================
append, appendleft              O(1), amortized over growth
pop, popleft, ``d[i]``          O(1)
extend                          O(1) for each element, amortized
to_array, iteration, ``==``     O(n)
reserve, copy                   O(room)
clear                           O(1)
memory                          4 or 8 bytes per element, twice that after growth
==============================  =================================================

Source: Knuth, The Art of Computer Programming, 2.2.2, sequential allocation of queues.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, Self, overload

import numpy as np
from numba import types

from structures import status
from structures.base.container import OfNumbers, named_by_package
from structures.base.in_njit import check_arguments, class_method, constructor, dtype_of_numbers
from structures.base.struct_type import bind
from structures.base.typing import Number
from structures.deques.deque_kernels import TYPES, DequeType, deque_of, new_deque, state
from structures.status import (
    DTYPE_HINT,
    as_array,
    float32_array,
    float64_array,
    int64,
    int64_array,
    number,
)


class Deque(OfNumbers, Generic[Number]):
    """Double-ended queue of numbers, like ``collections.deque``, but every index takes O(1).

    Calls from threads take turns.

    Inside ``@njit`` there are the same methods and operators. Without ``boundscheck`` nothing raises there,
    except if there is no memory for an array that is returned: an empty deque pops 0 (check ``len(d)``
    first), an index out of range gives 0, or the default of ``d.get(index, default)``, and methods that
    change the deque return a status, below 0 for a failure. A float for an integer is a typing error there.

    Methods for single elements:

    * :meth:`append`, :meth:`appendleft`, :meth:`pop`, :meth:`popleft`
    * ``d[i]``, ``d[i] = value``: ``d[0]`` is the first, ``d[-1]`` the last

    Methods for many elements and the whole:

    * :meth:`from_array`, :meth:`extend`, :meth:`to_array`, iteration
    * :meth:`copy`, :meth:`clear`, :meth:`reserve`, :attr:`nbytes`, :attr:`dtype`; ``len``, ``==``, pickle

    Parameters
    ----------
    dtype : {int64, int32, float64, float32}
        Type of the elements.

    Raises
    ------
    TypeError
        Another dtype.

    Examples
    --------
    >>> from structures import Deque
    >>> d = Deque()
    >>> d.append(5); d.append(6); d.appendleft(4)
    >>> d.popleft(), d[-1], list(d)
    (4, 6, [5, 6])
    """

    __slots__ = ()
    _types = TYPES

    @overload
    def __new__(cls, dtype: type[Number] = ...) -> Self: ...
    @overload
    def __new__(cls, dtype: Any = ...) -> Self: ...
    def __new__(cls, dtype: Any = np.int64) -> Self:
        if not isinstance(dtype, (type, np.dtype, str)):
            raise TypeError(f"Deque takes a dtype, not {dtype!r:.50}: from_array(values) makes one of values")
        kind = cls.type(dtype)
        return cls._like(new_deque(kind, kind.dtype.type(0)))

    @classmethod
    def from_array(cls, values: Any) -> Self:
        """Build a deque from an array, whose dtype it has.

        Parameters
        ----------
        values : (n,) array_like of int or float
            Arrays of int32 and float32 make deques of that dtype, others int64 or float64 deques.

        Returns
        -------
        Deque

        Raises
        ------
        TypeError
            The elements are not numbers.
        OverflowError
            An element does not fit int64.

        Complexity
        ----------
        O(n).

        Examples
        --------
        >>> from structures import Deque
        >>> Deque.from_array([0.5, 2.0]).dtype
        dtype('float64')
        """
        values = as_array(values)
        name = values.dtype.name if values.dtype.name in cls._types else "int64"
        self = cls("float64" if values.dtype.kind == "f" and name == "int64" else name)
        self.extend(values)
        return self

    from_arrays = from_array

    def to_arrays(self) -> tuple[np.ndarray]:
        """Return the elements as pickles store them, a tuple of one array."""
        return (self.to_array(),)

    def _content(self) -> tuple[np.ndarray, ...]:
        """Return the elements, whose order matters."""
        return self.to_arrays()

    def __iter__(self) -> Iterator[Number]:
        return iter(self.to_array().tolist())

    def __reversed__(self) -> Iterator[Number]:  # type: ignore[override]
        return reversed(self.to_array().tolist())

    def _value(self, value: Any) -> Any:
        """Return a value in the range of the dtype, or raise."""
        return number(value, "value", self.dtype)

    def _out_of_range(self, place: int) -> IndexError:
        return IndexError(f"index {place} is out of range for {len(self)} elements")

    def __getitem__(self, index: int) -> Number:
        place = int64(index, "index")
        failure, value = self._type.entries._checked_get(self, place)
        if failure < 0:
            raise self._out_of_range(place)
        return value

    def __setitem__(self, index: int, value: Any) -> None:
        place = int64(index, "index")
        if self._type.entries.set(self, place, self._value(value)) < 0:
            raise self._out_of_range(place)

    def append(self, value: Any) -> None:
        """Add an element after the last one.

        Parameters
        ----------
        value : int or float

        Raises
        ------
        OverflowError
            `value` does not fit the dtype.
        MemoryError
            There is no memory to grow; the deque is as it was.

        Complexity
        ----------
        O(1), amortized.

        Examples
        --------
        >>> from structures import Deque
        >>> d = Deque()
        >>> d.append(5); d.append(6)
        >>> list(d)
        [5, 6]
        """
        self._done(self._type.entries.append(self, self._value(value)), "one more element")

    def appendleft(self, value: Any) -> None:
        """Add an element before the first one.

        Parameters
        ----------
        value : int or float

        Raises
        ------
        OverflowError
            `value` does not fit the dtype.
        MemoryError
            There is no memory to grow; the deque is as it was.

        Complexity
        ----------
        O(1), amortized.

        Examples
        --------
        >>> from structures import Deque
        >>> d = Deque()
        >>> d.appendleft(5); d.appendleft(6)
        >>> list(d)
        [6, 5]
        """
        self._done(self._type.entries.appendleft(self, self._value(value)), "one more element")

    def pop(self) -> Number:
        """Remove the last element and return it.

        Returns
        -------
        int or float

        Raises
        ------
        IndexError
            The deque is empty.

        Complexity
        ----------
        O(1).

        Examples
        --------
        >>> from structures import Deque
        >>> Deque.from_array([5, 6]).pop()
        6
        """
        return self._checked("_checked_pop")

    def popleft(self) -> Number:
        """Remove the first element and return it.

        Returns
        -------
        int or float

        Raises
        ------
        IndexError
            The deque is empty.

        Complexity
        ----------
        O(1).

        Examples
        --------
        >>> from structures import Deque
        >>> Deque.from_array([5, 6]).popleft()
        5
        """
        return self._checked("_checked_popleft")

    def extend(self, values: Any) -> None:
        """Append many elements; if one of them is bad, none.

        Parameters
        ----------
        values : (n,) array_like of int or float

        Raises
        ------
        TypeError
            The values are not numbers, or floats for a deque of integers.
        OverflowError
            A value does not fit the dtype; the deque is as it was.
        MemoryError
            There is no memory to grow; the deque is as it was.

        Complexity
        ----------
        O(n), amortized.

        Examples
        --------
        >>> from structures import Deque
        >>> d = Deque()
        >>> d.extend([5, 6])
        >>> len(d)
        2
        """
        if self.dtype.kind == "f":
            values = (float32_array if self.dtype == np.float32 else float64_array)(values, "values")
        else:
            values = int64_array(values, "values", DTYPE_HINT)
        failure = self._kernels.extend(self, values)
        if failure == status.TOO_LARGE:
            i = int(np.argmax((values < -(2**31)) | (values >= 2**31)))
            raise OverflowError(f"values[{i}] {values[i]} does not fit int32")
        self._done(failure, f"{values.size} elements")

    def to_array(self) -> np.ndarray:
        """Return the elements, the first one first; :meth:`from_array` takes them back.

        Returns
        -------
        (n,) of the dtype of the deque

        Complexity
        ----------
        O(n).

        Examples
        --------
        >>> from structures import Deque
        >>> Deque.from_array([5, 6]).to_array()
        array([5, 6])
        """
        return self._kernels.to_array(self)

    def clear(self) -> None:
        """Remove every element; the memory stays."""
        self._kernels.clear(self)

    def reserve(self, n: int) -> None:
        """Make room for `n` elements in all, so that there is no growth until then.

        Parameters
        ----------
        n : int

        Raises
        ------
        ValueError
            `n` is negative.
        MemoryError
            There is not enough memory; the deque is as it was.

        Complexity
        ----------
        O(n).

        Examples
        --------
        >>> from structures import Deque
        >>> d = Deque()
        >>> d.reserve(1000)
        """
        self._done(self._kernels.reserve(self, self._room(n, "n")), f"{n} elements")

    def _check(self) -> None:
        """Assert the numbered invariants of the module docstring."""
        length, start = state(self)
        assert length >= 8, "1: the length"
        assert length & (length - 1) == 0, "1: the length"
        assert 0 <= start < length, "2: start"
        assert 0 <= len(self) <= length, "2: size"


bind(DequeType, Deque)


@constructor(Deque)
def _deque(dtype=np.int64):
    kind = Deque.type(dtype)
    zero = kind.dtype.type(0)
    return lambda dtype=np.int64: new_deque(kind, zero)


@class_method(Deque, "from_array")
@class_method(Deque, "from_arrays")
def _from_array(cls, values):
    dtype = dtype_of_numbers(values, "values")
    kind = Deque.type(np.int32 if values.dtype == types.int32 else dtype)
    check_arguments(kind, ("values",), (values,))
    zero = kind.dtype.type(0)
    return lambda cls, values: deque_of(kind, zero, values)


__test__ = named_by_package(Deque)
