"""What every container class in Python shares: length, equality, copying, pickling, messages."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.experimental import structref

from structures.jit import quiet
from structures.status import INT64_MAX, INT64_MIN, error, int64, int64_array

__all__ = ["Facade"]


@quiet
def _size(self):
    return self.size


class Facade(structref.StructRefProxy):
    """Base of the container classes.

    A subclass has ``from_arrays`` and ``to_arrays``, which are each other's inverse and carry its whole
    content, and ``copy``.
    """

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]  # containers change

    from_arrays: Any
    to_arrays: Any
    copy: Any

    def __len__(self) -> int:
        return _size(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)}>"

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(
            np.array_equal(mine, theirs)
            for mine, theirs in zip(self._content(), other._content(), strict=True)  # type: ignore[attr-defined]
        )

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self.copy()

    def __reduce__(self) -> Any:
        return type(self).from_arrays, self.to_arrays()

    def _content(self) -> tuple[np.ndarray, ...]:
        """Return the arrays of :meth:`to_arrays` in the order of the keys."""
        arrays = self.to_arrays()
        order = np.argsort(arrays[0], kind="stable")
        return tuple(array[order] for array in arrays)

    @staticmethod
    def _done(status: int, what: object) -> None:
        if status < 0:
            raise error(status, what)

    @staticmethod
    def _is_int64(key: Any) -> bool:
        return isinstance(key, (int, np.integer)) and INT64_MIN <= key <= INT64_MAX

    @staticmethod
    def _n_keys(n_keys: int) -> int:
        n_keys = int64(n_keys, "n_keys")
        if not 0 <= n_keys < 2**48:
            raise ValueError(f"n_keys must be in [0, 2**48), not {n_keys}")
        return n_keys

    @staticmethod
    def _pair_of_arrays(keys: Any, values: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
        keys, values = int64_array(keys), int64_array(values, name)
        if keys.size != values.size:
            raise ValueError(f"{keys.size} keys but {values.size} {name}")
        return keys, values
