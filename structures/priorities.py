"""Priorities, int64 or float64, as int64 numbers in the same order.

An int64 is its own order. Of a float64 the bits are taken: as they are where the sign is plus, with all
but the sign flipped where it is minus. Negative zero counts as zero; not-a-number is refused before.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from structures.status import INT64_MAX, INT64_MIN

__all__ = ["as_count", "from_order", "sum_leaves_range", "to_order"]


def as_count(value: Any, zero: Any) -> Any:
    """Return `value` in the type of `zero`."""
    return float(value) if isinstance(zero, (float, np.floating)) else int(value)


def to_order(priority: Any) -> Any:
    """Return the int64 that stands where `priority` stands in the order of its type."""
    if not isinstance(priority, (float, np.floating)):
        return priority
    bits = int(np.float64(priority + 0.0).view(np.int64))
    return bits ^ ((bits >> 63) & INT64_MAX)


def from_order(order: int, zero: Any) -> Any:
    """Return the priority, of the type of `zero`, whose order is `order`."""
    if not isinstance(zero, (float, np.floating)):
        return order
    return float(np.int64(order ^ ((order >> 63) & INT64_MAX)).view(np.float64))


def sum_leaves_range(value: Any, delta: Any) -> bool:
    """Say whether ``value + delta`` is outside the type: past int64, or not a number."""
    if isinstance(value, (float, np.floating)):
        return value + delta != value + delta
    return not INT64_MIN <= int(value) + int(delta) <= INT64_MAX


@overload(as_count)
def _as_count(value, zero):
    if isinstance(zero, types.Float):
        return lambda value, zero: np.float64(value)
    return lambda value, zero: np.int64(value)


@overload(to_order)
def _to_order(priority):
    if isinstance(priority, types.Float):

        def order_of_float(priority):
            bits = np.float64(priority + 0.0).view(np.int64)
            return bits ^ ((bits >> 63) & INT64_MAX)

        return order_of_float
    return lambda priority: priority


@overload(from_order)
def _from_order(order, zero):
    if isinstance(zero, types.Float):
        return lambda order, zero: np.int64(order ^ ((order >> 63) & INT64_MAX)).view(np.float64)
    return lambda order, zero: order


@overload(sum_leaves_range)
def _sum_leaves_range(value, delta):
    if isinstance(value, types.Float):
        return lambda value, delta: value + delta != value + delta

    def past_int64(value, delta):
        total = value + delta
        return ((value ^ total) & (delta ^ total)) < 0

    return past_int64
