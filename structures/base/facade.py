"""The base of all container classes in Python: length, equality, copies, pickles, checks of arguments."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
from numba.core.errors import TypingError
from numba.experimental import structref
from numba.extending import typeof_impl

from structures.base import operators  # noqa: F401  # those of compiled code
from structures.base.made_inside import ContainerClass
from structures.compiling.jit import quiet
from structures.compiling.without_jit import PlainContainer
from structures.status import INT64_MAX, INT64_MIN, error, int64


def named_by_package(*classes: type) -> dict[str, type]:
    """Give classes the name that users import them by: ``structures.MaxHeap``.

    Pickles contain this name, so that a class may move to another module of its package. doctest passes
    over a class that has another module's name, but reads the dictionary ``__test__`` of a module.

    Parameters
    ----------
    *classes : type
        Classes that the package itself exports too.

    Returns
    -------
    dict from str to type
        The classes by name, for ``__test__``.

    Complexity
    ----------
    O(1) a class.

    Examples
    --------
    At the end of the module that defines the classes::

        __test__ = named_by_package(MaxHeap, MinHeap)

    >>> from structures import MaxHeap
    >>> MaxHeap.__module__
    'structures'
    """
    for cls in classes:
        cls.__module__ = cls.__module__.partition(".")[0]
    return {cls.__name__: cls for cls in classes}


@quiet
def _size(self):
    return self.size


class Facade(structref.StructRefProxy, metaclass=ContainerClass):
    """Base of the container classes.

    A subclass defines ``__new__``, which returns ``cls._like(kernel_that_makes_one())``, and two methods that
    are each other's inverse and carry the whole content: ``to_arrays()``, which returns a tuple, and the
    class method ``from_arrays(*arrays)``. Its numba type has the field ``size`` and the methods ``copy`` and
    ``nbytes``. :func:`~structures.kernels.bind` joins the type and the class.

    A subclass finds here:

    * ``_kernels.name(self, ...)``: the methods of its type
    * ``_like(made)``: what a kernel has made, as an instance of the class that was asked for
    * ``_done(status, what)``: raises the exception of a status below 0
    * ``_room(n, name)``: a checked number of items
    * ``_content()``: the arrays that ``==`` compares; a subclass may replace it

    Users may derive a class from a container class, for instance to add methods. Constructors, copies and
    pickles are then of the derived class and keep its attributes. What compiled code returns is of the
    container class itself.

    Examples
    --------
    >>> from structures import IntMap
    >>> issubclass(IntMap, Facade)
    True
    """

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]  # containers change
    __reversed__ = None  # there is c[key], but no c[0], c[1], ...

    _kernels: Any  # the methods of the numba type, set by bind
    _only_type: Any  # the numba type of a class that has one
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

    @classmethod
    def type(cls) -> Any:
        """Return the numba type of these containers, for ``List.empty_list`` and specifications."""
        return cls._only_type

    def copy(self) -> Any:
        """Return an independent copy, of the same class."""
        other = self._like(self._kernels.copy(self))
        other._attributes().update(self._attributes())
        return other

    @classmethod
    def _like(cls, made: Any) -> Any:
        """Return what a kernel has made, as an instance of this class: kernels know no subclasses."""
        if isinstance(made, PlainContainer):
            return cls._numba_box_(made.struct_type, made)
        return made if type(made) is cls else cls._numba_box_(made._type, made._meminfo)

    def _attributes(self) -> dict[str, Any]:
        """Return what a user's subclass has stored in this object."""
        return getattr(self, "__dict__", {})

    @property
    def nbytes(self) -> int:
        """Size of the arrays, in bytes."""
        return self._kernels.nbytes(self)

    def _equals(self, other: Any) -> bool:
        """Return whether another container of the same type has the same content."""
        return all(map(np.array_equal, self._content(), other._content()))

    def _content(self) -> tuple[np.ndarray, ...]:
        """Return arrays that are equal for equal containers: here, the items sorted by key."""
        arrays = self.to_arrays()
        order = np.argsort(arrays[0], kind="stable")
        return tuple(array[order] for array in arrays)

    @staticmethod
    def _done(status: int, what: object) -> None:
        """Raise the exception of a failed status; `what` is the subject of its message."""
        if status < 0:
            raise error(status, what)

    @staticmethod
    def _is_int64(key: Any) -> bool:
        return isinstance(key, (int, np.integer)) and bool(INT64_MIN <= key <= INT64_MAX)

    @staticmethod
    def _room(n: int, name: str) -> int:
        """Return `n` as a number of items that an array could have, or raise with its name."""
        n = int64(n, name)
        if not 0 <= n < 2**48:
            raise ValueError(f"{name} must be in [0, 2**48), not {n}")
        return n


@typeof_impl.register(Facade)
def _typeof(container: Any, context: Any) -> Any:
    if context.purpose.name == "constant":
        name = type(container).__name__
        raise TypingError(f"a {name} cannot be a constant of compiled code: pass it as an argument")
    return container._numba_type_
