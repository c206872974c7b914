"""What every container class in Python shares: length, equality, copying, pickling, room, messages."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
from numba.experimental import structref

from structures.jit import quiet
from structures.status import INT64_MAX, INT64_MIN, error, int64

__all__ = ["Facade"]


@quiet
def _size(self):
    return self.size


class Facade(structref.StructRefProxy):
    """Base of the container classes.

    A subclass has ``from_arrays`` and ``to_arrays``, which are each other's inverse and carry its whole
    content.

    A user may derive from a container class, to add verbs for instance: constructors, copies and pickles
    are of the derived class and keep its attributes. What comes back from compiled code is not.
    """

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]  # containers change
    __reversed__ = None  # there is c[key], but no c[0], c[1], ...

    _kernels: Any  # the methods of the type, see structures.struct_type.bind
    from_arrays: Any
    to_arrays: Any

    def __len__(self) -> int:
        return _size(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)}>"

    def __eq__(self, other: object) -> bool:
        if getattr(other, "_kernels", None) is not self._kernels:
            return NotImplemented
        return self._equals(other)

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        other = self.copy()
        other._attributes().update(deepcopy(self._attributes(), memo))
        return other

    def __reduce__(self) -> Any:
        return type(self).from_arrays, self.to_arrays(), self._attributes() or None

    def copy(self) -> Any:
        """Return an independent copy.

        Returns
        -------
        container
            Of the same class.

        Complexity
        ----------
        O(capacity).

        Examples
        --------
        >>> from structures import MaxHeap
        >>> h = MaxHeap({7: 2})
        >>> h.copy() == h
        True
        """
        other = self._like(self._kernels.copy(self))
        other._attributes().update(self._attributes())
        return other

    @classmethod
    def _like(cls, made: Any) -> Any:
        """Return what a kernel has made as an instance of this class: compiled code knows no subclasses."""
        return made if type(made) is cls else cls._numba_box_(made._type, made._meminfo)

    def _attributes(self) -> dict[str, Any]:
        """Return what a user's subclass has stored in this object."""
        return getattr(self, "__dict__", {})

    @property
    def nbytes(self) -> int:
        """Size of the arrays, in bytes.

        Examples
        --------
        >>> from structures import MaxHeap
        >>> MaxHeap().nbytes < MaxHeap(zip(range(100), range(100))).nbytes
        True
        """
        return self._kernels.nbytes(self)

    def _equals(self, other: Any) -> bool:
        """Say whether another container of the same type has the same content."""
        return all(map(np.array_equal, self._content(), other._content()))

    def _content(self) -> tuple[np.ndarray, ...]:
        """Return the arrays that are equal where two containers are."""
        arrays = self.to_arrays()
        order = np.argsort(arrays[0], kind="stable")
        return tuple(array[order] for array in arrays)

    @staticmethod
    def _done(status: int, what: object) -> None:
        if status < 0:
            raise error(status, what)

    @staticmethod
    def _is_int64(key: Any) -> bool:
        return isinstance(key, (int, np.integer)) and bool(INT64_MIN <= key <= INT64_MAX)

    @staticmethod
    def _room(n: int, name: str) -> int:
        """Return a number of items that arrays could have."""
        n = int64(n, name)
        if not 0 <= n < 2**48:
            raise ValueError(f"{name} must be in [0, 2**48), not {n}")
        return n
