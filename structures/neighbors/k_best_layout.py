"""Rows of sorted entries, sixteen lanes at a time: search for the place of an entry, and insertion.

An entry is a distance and an id, in two arrays. Entries are ordered by distance, equal distances by id. Ids
are compared as unsigned numbers, so that -1 is the greatest. A row has a multiple of 16 lanes. Unused lanes
hold the greatest entry: the distance inf and the id -1::

    place_of_entry:  0.5 is inserted here, at place 2
                               |
    distances      [ 0.1  0.4  0.7  0.9  inf  inf ... ]
    insert_lane                '--> '--> '--> x          the lanes from there on move; the last one is lost

Pointers point to the first lane of a row. Each intrinsic has a twin in Python.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from structures.compiling.jit import inner, kernel, twin
from structures.primitives.memory import aligned_elements
from structures.primitives.simd import NONE, spread

ROW_LANES = 16
NO_ID = -1

_I32, _I64 = ir.IntType(32), ir.IntType(64)
_SET = ir.IntType(ROW_LANES)
_NO_LANES = ir.Constant(ir.VectorType(ir.IntType(1), ROW_LANES), [0] * ROW_LANES)
_ONE_BACK = ir.Constant(ir.VectorType(_I32, ROW_LANES), [*range(ROW_LANES - 1, 2 * ROW_LANES - 1)])


def _py_as_element(pointer: Any, value: Any) -> Any:
    return pointer.dtype.type(value)


def _py_place_of_entry(distances: Any, ids: Any, n_lanes: int, distance: Any, id: Any) -> int:
    is_in = id in ids[:n_lanes]
    return -1 if is_in else _py_place_of_another(distances, ids, n_lanes, distance, id)


def _py_place_of_another(distances: Any, ids: Any, n_lanes: int, distance: Any, id: Any) -> int:
    others = zip(distances[:n_lanes], ids[:n_lanes], strict=True)
    return sum(other < distance or (other == distance and 0 <= its_id < id) for other, its_id in others)


def _py_insert_lane(row: Any, place: int, n: int, value: Any) -> None:
    row[place + 1 : n] = row[place : n - 1].copy()
    row[place] = value


def _lanes_of(context: Any, element: Any) -> Any:
    return ir.VectorType(context.get_value_type(element), ROW_LANES)


def _load(context: Any, builder: Any, pointer_type: Any, pointer: Any, i: Any) -> tuple[Any, Any]:
    """Emit a load of the lanes from ``pointer[i]`` on; return their address, and the lanes."""
    element = pointer_type.dtype
    place = builder.bitcast(builder.gep(pointer, [i]), _lanes_of(context, element).as_pointer())
    return place, builder.load(place, align=element.bitwidth // 8)


@twin(_py_as_element)
@intrinsic
def as_element(typingctx, pointer, value):
    """Return `value` in the type that `pointer` points to, rounded to float32 or truncated to int32."""
    element = pointer.dtype
    wide = types.float64 if isinstance(element, types.Float) else types.int64

    def codegen(context, builder, signature, values):
        return context.cast(builder, values[1], wide, element)

    return element(pointer, wide), codegen


def _place(distances: Any, ids: Any, searches_id: bool) -> tuple[Any, Any]:
    """Return the signature and the code of a search for the place of an entry."""

    def codegen(context, builder, signature, values):
        distance_type, id_type = signature.args[:2]
        distance = spread(builder, values[3], _lanes_of(context, distance_type.dtype))
        entry_id = spread(builder, values[4], _lanes_of(context, id_type.dtype))
        place = cgutils.alloca_once_value(builder, _I64(0))
        same = cgutils.alloca_once_value(builder, _NO_LANES)
        n_vectors = builder.sdiv(values[2], _I64(ROW_LANES))
        with cgutils.for_range(builder, n_vectors) as loop:
            i = builder.mul(loop.index, _I64(ROW_LANES))
            _, row_distances = _load(context, builder, distance_type, values[0], i)
            _, row_ids = _load(context, builder, id_type, values[1], i)
            is_less = builder.fcmp_ordered("<", row_distances, distance)
            is_equal = builder.fcmp_ordered("==", row_distances, distance)
            has_less_id = builder.icmp_unsigned("<", row_ids, entry_id)
            before = builder.bitcast(builder.or_(is_less, builder.and_(is_equal, has_less_id)), _SET)
            builder.store(builder.add(builder.load(place), builder.zext(builder.ctpop(before), _I64)), place)
            if searches_id:
                has_id = builder.icmp_signed("==", row_ids, entry_id)
                builder.store(builder.or_(builder.load(same), has_id), same)
            else:
                with builder.if_then(builder.icmp_signed("!=", before, _SET(-1))):
                    loop.do_break()
        is_new = builder.icmp_signed("==", builder.bitcast(builder.load(same), _SET), _SET(0))
        return builder.select(is_new, builder.load(place), _I64(-1))

    return types.int64(distances, ids, types.int64, distances.dtype, ids.dtype), codegen


@twin(_py_place_of_entry)
@intrinsic
def place_of_entry(typingctx, distances, ids, n_lanes, distance, id):
    """Return the number of entries that precede one in a row, or -1 if its id is in the row."""
    return _place(distances, ids, searches_id=True)


@twin(_py_place_of_another)
@intrinsic
def place_of_another(typingctx, distances, ids, n_lanes, distance, id):
    """Return the number of entries that precede one in a row, whether or not its id is in the row."""
    return _place(distances, ids, searches_id=False)


@twin(_py_insert_lane)
@intrinsic
def insert_lane(typingctx, row, place, n, value):
    """Insert a value at a place of a row; the values from there on move by one, the `n`-th is lost."""
    element = row.dtype
    number = ir.IntType(element.bitwidth)
    numbers = ir.VectorType(number, ROW_LANES)
    lanes = ir.Constant(numbers, [*range(ROW_LANES)])

    def codegen(context, builder, signature, values):
        pointer, place, n, value = values
        inserted = spread(builder, value, _lanes_of(context, element))
        before = cgutils.alloca_once_value(builder, ir.Constant(inserted.type, ir.Undefined))

        def spread_number(word):
            return spread(builder, builder.trunc(word, number) if element.bitwidth < 64 else word, numbers)

        first = builder.and_(place, _I64(-ROW_LANES))
        with cgutils.for_range_slice(builder, first, n, _I64(ROW_LANES), inc=True) as (i, _):
            address, old = _load(context, builder, signature.args[0], pointer, i)
            moved = builder.shuffle_vector(builder.load(before), old, _ONE_BACK)
            builder.store(old, before)
            target, end = (spread_number(builder.sub(each, i)) for each in (place, n))
            stays = builder.or_(
                builder.icmp_signed("<", lanes, target), builder.icmp_signed(">=", lanes, end)
            )
            # Select, then store all lanes: the next load of the row would wait for a masked store.
            new = builder.select(stays, old, moved)
            new = builder.select(builder.icmp_signed("==", lanes, target), inserted, new)
            builder.store(new, address, align=element.bitwidth // 8)
        return NONE

    return types.none(row, types.int64, types.int64, element), codegen


# ------------------------------------------------------------------------------ kernels on plain arrays
@inner
def is_kept(distances, ids, k, distance, id):
    """Return whether an entry precedes the last of the `k` of a row; a NaN does not."""
    if id < 0:
        return False
    last, last_id = distances[k - 1], ids[k - 1]
    return distance < last or (distance == last and (id < last_id or last_id < 0))


@inner
def entries_in(ids, k):
    """Return how many of the `k` places of a row are not empty."""
    n = k
    while n > 0 and ids[n - 1] < 0:
        n -= 1
    return n


@kernel
def places_of(array, start, n):
    """Return a copy of `n` places from `start` on."""
    places = aligned_elements(n, array.dtype.type(0))
    for i in range(n):
        places[i] = array[start + i]
    return places


@kernel
def all_places(array, k, width):
    """Return a copy of the `k` places of every row, ``(n_rows, k)``."""
    n_rows = array.size // width
    places = aligned_elements(n_rows * k, array.dtype.type(0))
    for row in range(n_rows):
        for i in range(k):
            places[row * k + i] = array[row * width + i]
    return places.reshape((n_rows, k))
