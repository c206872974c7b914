"""Integers that callers give."""

from __future__ import annotations

from operator import index
from typing import Any


def as_integer(value: Any, name: str) -> int:
    """Return an integer of any type as int; a TypeError names the parameter."""
    try:
        return index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {value!r:.80}") from None
