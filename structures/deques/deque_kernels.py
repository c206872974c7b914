"""The numba type of ``Deque`` and its methods; the docstring of ``deque`` draws the ring."""

from __future__ import annotations

from numba import types
from numba.experimental import structref

from structures import status
from structures.base.struct_type import NumbersType, fields_of, method, new, new_like
from structures.compiling.jit import inlined, inner, kernel, late, quiet
from structures.primitives.memory import MOST_ITEMS, are_equal, copy_prefix, new_elements
from structures.primitives.priorities import as_count, is_past_int32
from structures.primitives.simd import pointer_to, rarely

_FEWEST = 8  # the smallest capacity


# ------------------------------------------------------------------------------------------------- type
@structref.register
class DequeType(NumbersType):
    """numba type of :class:`Deque`: one concrete type for each dtype."""

    number_parameters = ("value", "values", "default")
    changing_verbs = ("append", "appendleft", "clear", "extend", "pop", "popleft", "reserve", "set")

    @property
    def label(self) -> str:
        """The name in messages."""
        return f"{super().label}({self.dtype})"


TYPES = {
    str(element): DequeType(
        fields_of(
            ring=element[::1],  # its length is a power of two
            start=types.int64,  # where the first element is
            size=types.int64,
            zero=element,  # 0 in the type of the elements
        )
    )
    for element in (types.int64, types.int32, types.float64, types.float32)
}


def deque_type(dtype: str = "int64") -> DequeType:
    """Return the numba type of a :class:`Deque`, for signatures and struct fields.

    Parameters
    ----------
    dtype : {"int64", "int32", "float64", "float32"}
        Type of the elements.

    Returns
    -------
    numba type

    Raises
    ------
    KeyError
        Another dtype.

    Examples
    --------
    >>> from structures import Deque
    >>> deque_type() == Deque()._numba_type_
    True
    """
    return TYPES[dtype]


# ------------------------------------------------------------------------------------------------- room
@kernel
def new_deque(typ, zero):
    """Return an empty deque of a type, with a zero of the type of its elements."""
    self = new(typ)
    self.ring = new_elements(_FEWEST, zero)
    self.start = 0
    self.size = 0
    self.zero = zero
    return self


@inner
def _place_of(self, index):
    return (self.start + index) & (self.ring.size - 1)


@inner
def _write_in_order(self, elements):
    """Write the elements to an array, the first one first."""
    for i in range(self.size):
        elements[i] = self.ring[_place_of(self, i)]


@late
def _grow(self, n):
    """Make room for `n` elements, a power of two."""
    ring = new_elements(n, self.zero)
    _write_in_order(self, ring)
    self.ring = ring
    self.start = 0
    return True


@method(DequeType, "reserve")
@quiet
def _reserve(self, n):
    if n >= MOST_ITEMS:
        return status.NO_MEMORY
    if n <= self.ring.size:
        return status.OK
    room = self.ring.size
    while room < n:
        room *= 2
    return status.OK if _grow(self, room) else status.NO_MEMORY


# --------------------------------------------------------------------------------------------- the ends
@inner
def _refusal(self, value):
    """Return the status of a value that cannot be an element, or for which there is no room, else 0."""
    if is_past_int32(value, self.zero):
        return status.TOO_LARGE
    if rarely(self.size == self.ring.size) and not _grow(self, 2 * self.size):
        return status.NO_MEMORY
    return status.OK


@method(DequeType, "append")
@inlined
def _append(self, value):
    failure = _refusal(self, value)
    if failure == status.OK:
        pointer_to(self.ring, _place_of(self, self.size))[0] = as_count(value, self.zero)
        self.size += 1
    return failure


@method(DequeType, "appendleft")
@inlined
def _appendleft(self, value):
    failure = _refusal(self, value)
    if failure == status.OK:
        self.start = _place_of(self, -1)
        pointer_to(self.ring, self.start)[0] = as_count(value, self.zero)
        self.size += 1
    return failure


@method(DequeType, "_before_pop")
@method(DequeType, "_before_popleft")
@quiet
def _before_pop(self):
    return status.OK if self.size > 0 else status.NO_ELEMENT


@method(DequeType, "pop")
@inlined
def _pop(self):
    if self.size == 0:
        return self.zero
    self.size -= 1
    return pointer_to(self.ring, _place_of(self, self.size))[0]


@method(DequeType, "popleft")
@inlined
def _popleft(self):
    if self.size == 0:
        return self.zero
    value = pointer_to(self.ring, self.start)[0]
    self.start = _place_of(self, 1)
    self.size -= 1
    return value


@method(DequeType, "extend")
@quiet
def _extend(self, values):
    """Append all elements of an array, or none if there is no memory or one of them does not fit."""
    for i in range(values.size):
        if is_past_int32(values[i], self.zero):
            return status.TOO_LARGE
    if _reserve(self, self.size + values.size) < 0:
        return status.NO_MEMORY
    for i in range(values.size):
        self.ring[_place_of(self, self.size + i)] = as_count(values[i], self.zero)
    self.size += values.size
    return status.OK


# ------------------------------------------------------------------------------------------- by position
@inner
def _index_of(self, index):
    """Return an index as counted from the first element, or a number below 0 if there is no such element."""
    from_start = index + self.size if index < 0 else index
    return from_start if from_start < self.size else -1


@method(DequeType, "_before_getitem")
@quiet
def _before_getitem(self, index):
    return status.OK if _index_of(self, index) >= 0 else status.OUT_OF_RANGE


@method(DequeType, "get")
@inlined
def _get(self, index, default=0):
    i = _index_of(self, index)
    return pointer_to(self.ring, _place_of(self, i))[0] if i >= 0 else as_count(default, self.zero)


@method(DequeType, "set")
@inlined
def _set(self, index, value):
    i = _index_of(self, index)
    if i < 0:
        return status.OUT_OF_RANGE
    if is_past_int32(value, self.zero):
        return status.TOO_LARGE
    pointer_to(self.ring, _place_of(self, i))[0] = as_count(value, self.zero)
    return status.OK


# -------------------------------------------------------------------------------------------- the whole
@method(DequeType, "to_array")
@method(DequeType, "__iter__")
@kernel
def _to_array(self):
    elements = new_elements(self.size, self.zero)
    _write_in_order(self, elements)
    return elements


@method(DequeType, "to_arrays")
@kernel
def _to_arrays(self):
    return (_to_array(self),)


@method(DequeType, "equals")
@kernel
def _equals(self, other):
    """Return whether both have the same elements in the same order."""
    return are_equal(_to_array(self), _to_array(other))


@kernel
def deque_of(typ, zero, values):
    """Return a deque made from an array, or release it and raise if there is no memory."""
    self = new_deque(typ, zero)
    if _extend(self, values) < 0:
        raise MemoryError
    return self


@method(DequeType, "copy")
@kernel
def _copy(self):
    other = new_like(self)
    other.ring = new_elements(self.ring.size, self.zero)
    copy_prefix(self.ring, self.ring.size, other.ring)
    other.start = self.start
    other.size = self.size
    other.zero = self.zero
    return other


@method(DequeType, "clear")
@quiet
def _clear(self):
    self.size = 0
    return status.OK


@method(DequeType, "nbytes")
@quiet
def _nbytes(self):
    return self.ring.nbytes


@quiet
def state(self):
    """Return the capacity and the place of the first element, for ``_check()``."""
    return self.ring.size, self.start
