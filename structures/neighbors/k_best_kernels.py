"""The kernels and the numba type of ``KBest``; the docstring of ``k_best`` draws the arrays."""

from __future__ import annotations

from collections.abc import Collection
from types import MappingProxyType

import numpy as np
from numba import types
from numba.experimental import structref

from structures import status
from structures.base.struct_type import StructType, fields_of, method, new, new_like
from structures.compiling.jit import inner, kernel, quiet
from structures.neighbors.k_best_layout import (
    NO_ID,
    ROW_LANES,
    all_places,
    as_element,
    entries_in,
    insert_lane,
    is_kept,
    place_of_another,
    place_of_entry,
    places_of,
)
from structures.primitives.memory import new_filled
from structures.primitives.simd import pointer_to, prefetch, smaller

AHEAD = 16  # how many entries ahead a row is prefetched


# ------------------------------------------------------------------------------------------------ type
@structref.register
class KBestType(StructType):
    """numba type of :class:`KBest`: one concrete type for each dtype of distances and of ids."""

    number_parameters = ("distance", "distances")
    changing_verbs = ("clear", "merge")  # all rows
    is_of_rows = True
    subjects = MappingProxyType(dict.fromkeys(("push", "push_unchecked"), "entry ({1}, {2}) of row {0}"))

    @property
    def float_parameters(self) -> Collection[str]:
        """The parameters that are distances."""
        return self.number_parameters

    @property
    def label(self) -> str:
        """The name in messages."""
        return f"{super().label}({','.join(map(str, self.dtypes))})"

    @property
    def dtypes(self) -> tuple[np.dtype, np.dtype]:
        """The dtypes of the distances and of the ids."""
        fields = self.field_dict
        return np.dtype(str(fields["distances"].dtype)), np.dtype(str(fields["ids"].dtype))

    @property
    def last(self) -> tuple[np.generic, np.generic]:
        """The distance and the id of an empty place, of the types of a container."""
        distance_type, id_type = self.dtypes
        return distance_type.type(np.inf), id_type.type(NO_ID)


_TYPES = {
    (str(distance), str(id)): KBestType(
        fields_of(
            distances=distance[::1],  # distances[width * row + place]
            ids=id[::1],  # ids[width * row + place], -1 for an empty place
            flags=types.uint8[::1],  # flags[width * row + place]; empty if entries have no flags
            n_rows=types.int64,
            k=types.int64,
            width=types.int64,  # lanes of a row
            has_flags=types.boolean,
        )
    )
    for distance in (types.float32, types.float64)
    for id in (types.int32, types.int64)
}


def k_best_type(dtype: str = "float32", id_dtype: str = "int32") -> KBestType:
    """Return the numba type of a :class:`KBest`, for signatures and struct fields.

    Parameters
    ----------
    dtype : {"float32", "float64"}
        Type of the distances.
    id_dtype : {"int32", "int64"}
        Type of the ids.

    Returns
    -------
    numba type

    Raises
    ------
    KeyError
        Another dtype.

    Examples
    --------
    >>> from structures import KBest
    >>> k_best_type() == KBest(n_rows=2, k=3)._numba_type_
    True
    """
    return _TYPES[dtype, id_dtype]


@inner
def _take_distances(self, n):
    self.distances = new_filled(n, self.distances.dtype.type(np.inf))
    return True


@inner
def _take_ids(self, n):
    self.ids = new_filled(n, self.ids.dtype.type(NO_ID))
    return True


@inner
def _take_flags(self, n):
    self.flags = new_filled(n, np.uint8(0))
    return True


@quiet
def take_rows(self, n_rows):
    """Allocate the rows of a new container; return a status."""
    n = n_rows * self.width
    # One at a time: an array that no container owns yet would leak if there were no memory for the next.
    if not _take_distances(self, n):
        return status.NO_MEMORY
    if not _take_ids(self, n):
        return status.NO_MEMORY
    if not _take_flags(self, n if self.has_flags else 0):
        return status.NO_MEMORY
    self.n_rows = n_rows
    return status.OK


@kernel
def new_k_best(typ, n_rows, k, infinity, no_id, has_flags):
    """Return empty rows; `infinity` and `no_id`, -1, are of the types of the distances and of the ids."""
    self = new(typ)
    self.distances = new_filled(0, infinity)
    self.ids = new_filled(0, no_id)
    self.k = k
    self.width = (k + ROW_LANES - 1) // ROW_LANES * ROW_LANES
    self.has_flags = has_flags
    if take_rows(self, n_rows) < 0:
        raise MemoryError
    return self


@kernel
def checked_k_best(typ, n_rows, k, infinity, no_id, has_flags):
    """Return empty rows, or raise as the Python class does, before anything is allocated."""
    if not 0 <= n_rows < 2**48:
        raise ValueError("n_rows must be in [0, 2**48)")
    if not 1 <= k < 2**48:
        raise ValueError("k must be in [1, 2**48)")
    if n_rows >= 2**46 // (k + ROW_LANES):
        raise MemoryError
    return new_k_best(typ, n_rows, k, infinity, no_id, has_flags)


@inner
def _insert(self, start, place, distance, id, flag):
    insert_lane(pointer_to(self.distances, start), place, self.k, distance)
    insert_lane(pointer_to(self.ids, start), place, self.k, id)
    if self.has_flags:
        flags = pointer_to(self.flags, start)
        insert_lane(flags, place, self.k, as_element(flags, flag != 0))


@method(KBestType, "_before_row")
@method(KBestType, "_before_size")
@method(KBestType, "_before_sort")
@method(KBestType, "_before_worst")
@quiet
def _before_row(self, row):
    return status.OK if row >= 0 and row < self.n_rows else status.OUT_OF_RANGE


@method(KBestType, "_before_entry")
@method(KBestType, "_before_flag")
@method(KBestType, "_before_set_flag")
@quiet
def _before_entry(self, row, place):
    return _before_row(self, row) if place >= 0 and place < self.k else status.OUT_OF_RANGE


@method(KBestType, "_before_push")
@method(KBestType, "_before_push_unchecked")
@quiet
def _before_push(self, row, distance, id):
    failure = _before_row(self, row)
    if failure < 0:
        return failure
    if distance != distance:
        return status.NOT_A_NUMBER
    return status.OK if id >= 0 and as_element(self.ids, id) == id else status.INVALID


@method(KBestType, "_before_push_many")
@quiet
def _before_push_many(self, rows, distances, ids):
    if not (rows.size == distances.size == ids.size):
        return status.UNEQUAL
    for i in range(rows.size):
        failure = _before_push(self, rows[i], distances[i], ids[i])
        if failure < 0:
            return failure
    return status.OK


@method(KBestType, "push")
@quiet
def _push(self, row, distance, id, flag=0):
    start = row * self.width
    distances, ids = pointer_to(self.distances, start), pointer_to(self.ids, start)
    rounded, known_as = as_element(distances, distance), as_element(ids, id)
    if not is_kept(distances, ids, self.k, rounded, known_as) or known_as != id:
        return False
    place = place_of_entry(distances, ids, self.width, rounded, known_as)
    if place < 0:
        return False
    _insert(self, start, place, rounded, known_as, flag)
    return True


@method(KBestType, "push_unchecked")
@quiet
def _push_unchecked(self, row, distance, id, flag=0):
    start = row * self.width
    distances, ids = pointer_to(self.distances, start), pointer_to(self.ids, start)
    rounded, known_as = as_element(distances, distance), as_element(ids, id)
    if not is_kept(distances, ids, self.k, rounded, known_as) or known_as != id:
        return False
    place = place_of_another(distances, ids, self.width, rounded, known_as)
    _insert(self, start, place, rounded, known_as, flag)
    return True


@method(KBestType, "push_many")
@quiet
def _push_many(self, rows, distances, ids, flag=0):
    n_kept = 0
    for i in range(rows.size):
        prefetch(self.distances, rows[smaller(i + AHEAD, rows.size - 1)] * self.width)
        n_kept += _push(self, rows[i], distances[i], ids[i], flag)
    return n_kept


@inner
def _flag_at(self, at):
    return self.flags[at] != 0 if self.has_flags else False


@method(KBestType, "merge")
@quiet
def _merge(self, other):
    n_kept = 0
    for row in range(smaller(self.n_rows, other.n_rows)):
        start = row * other.width
        for at in range(start, start + entries_in(pointer_to(other.ids, start), other.k)):
            n_kept += _push(self, row, other.distances[at], other.ids[at], _flag_at(other, at))
    return n_kept


@quiet
def fill(self, distances, ids, flags):
    """Fill empty rows with entries in any order, from flat arrays; an id may be in a row twice."""
    for at in range(ids.size - 1, -1, -1):  # backwards, so that equal entries keep their order
        if ids[at] >= 0:
            _push_unchecked(self, at // self.k, distances[at], ids[at], flags[at])


@method(KBestType, "worst")
@quiet
def _worst(self, row):
    return self.distances[row * self.width + self.k - 1]


@method(KBestType, "size")
@quiet
def _size(self, row):
    return entries_in(pointer_to(self.ids, row * self.width), self.k)


@method(KBestType, "len")
@quiet
def _len(self):
    return self.n_rows


@method(KBestType, "entry")
@quiet
def _entry(self, row, place):
    at = row * self.width + place
    return self.distances[at], self.ids[at]


@method(KBestType, "flag")
@quiet
def _flag(self, row, place):
    return _flag_at(self, row * self.width + place)


@method(KBestType, "set_flag")
@quiet
def _set_flag(self, row, place, flag):
    if self.has_flags:
        flags = pointer_to(self.flags, row * self.width)
        flags[place] = as_element(flags, flag != 0)


@method(KBestType, "sort")
@quiet
def _sort(self, row):
    """Do nothing: rows are sorted."""


@method(KBestType, "row")
@kernel
def _row(self, row):
    start, n = row * self.width, self.size(row)
    return places_of(self.distances, start, n), places_of(self.ids, start, n)


@kernel
def row_with_flags(self, row):
    """Return the distances, the ids and the flags of a row."""
    start, n = row * self.width, self.size(row)
    flags = places_of(self.flags, start, n)
    return places_of(self.distances, start, n), places_of(self.ids, start, n), flags


@method(KBestType, "to_arrays")
@kernel
def _to_arrays(self):
    return all_places(self.distances, self.k, self.width), all_places(self.ids, self.k, self.width)


@kernel
def arrays_with_flags(self):
    """Return the distances, the ids and the flags of all rows."""
    flags = all_places(self.flags, self.k, self.width)
    return all_places(self.distances, self.k, self.width), all_places(self.ids, self.k, self.width), flags


@quiet
def shape(self):
    """Return the number of rows, the maximal number of entries of a row, and whether entries have flags."""
    return self.n_rows, self.k, self.has_flags


@method(KBestType, "copy")
@kernel
def _copy(self):
    other = new_like(self)
    other.distances = places_of(self.distances, 0, self.distances.size)
    other.ids = places_of(self.ids, 0, self.ids.size)
    other.flags = places_of(self.flags, 0, self.flags.size)
    other.n_rows = self.n_rows
    other.k = self.k
    other.width = self.width
    other.has_flags = self.has_flags
    return other


@method(KBestType, "clear")
@quiet
def _clear(self):
    for at in range(self.ids.size):
        self.distances[at] = np.inf
        self.ids[at] = NO_ID
    for at in range(self.flags.size):
        self.flags[at] = 0


@kernel
def state(self):
    """Return the state that ``_check()`` tests."""
    return self.distances.copy(), self.ids.copy(), self.flags.copy(), self.width


@method(KBestType, "nbytes")
@quiet
def _nbytes(self):
    return self.distances.nbytes + self.ids.nbytes + self.flags.nbytes
