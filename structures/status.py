"""The statuses that kernels return instead of raising, and the checks of arguments in Python.

A status is an int64: 0 for success, below 0 for a failure. :func:`error` makes an exception of it.
"""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

OK = 0
MISSING = -1
NEGATIVE = -2
OVERFLOW = -3
NOT_A_NUMBER = -4
NO_MEMORY = -5
DUPLICATE = -6
OUT_OF_RANGE = -7
EMPTY = -8
NO_ELEMENT = -9
UNEQUAL = -10
TOO_LARGE = -11
INVALID = -12

PAIR_HINT = "pack_pair(left, right) makes a key of two ids"
DATA_HINT = "np.frombuffer(data, np.uint8) makes one of bytes"
TEXT_HINT = "number the texts first, as a ByteCounter does for bytes"
DTYPE_HINT = "make it with dtype=float to hold floats"
KEY_DTYPE_HINT = "make it with key_dtype=float for float keys"
KEY_HINTS: dict[type, str] = {tuple: PAIR_HINT, str: TEXT_HINT, bytes: TEXT_HINT}

INT64_MIN = np.iinfo(np.int64).min
INT64_MAX = np.iinfo(np.int64).max

_ERRORS: dict[int, tuple[type[Exception], str]] = {
    NEGATIVE: (ValueError, "the count of {} would fall below 0"),
    OVERFLOW: (OverflowError, "the value of {} would leave the range of its type"),
    NOT_A_NUMBER: (ValueError, "the value of {} is not a number"),
    NO_MEMORY: (MemoryError, "no memory to grow for {}"),
    DUPLICATE: (ValueError, "{} is a duplicate"),
    OUT_OF_RANGE: (IndexError, "{} is out of range"),
    EMPTY: (KeyError, "{} is empty"),
    NO_ELEMENT: (IndexError, "{} is empty"),
    UNEQUAL: (ValueError, "the arrays for {} differ in length"),
    TOO_LARGE: (OverflowError, "{} does not fit"),
    INVALID: (ValueError, "{} is out of range"),
}
_OF_CONTAINERS = (EMPTY, NO_ELEMENT, UNEQUAL)  # whose messages are not about an argument


def error(status: int, what: object) -> Exception:
    """Return the exception for a failed status; `what` is the key, or what the message is about."""
    if status == MISSING:
        return KeyError(what)
    kind, message = _ERRORS[status]
    return kind(message.format(f"key {what}" if isinstance(what, (int, np.integer)) else what))


class Failure(KeyError, IndexError, ValueError, OverflowError, MemoryError):
    """Makes the exception of a status for compiled code, which raises by calling a class with arguments.

    What arrives is of the class of :func:`error`. While another exception is handled, or a trace function is
    set, Python 3.11 calls the class again with what it has returned.
    """

    def __new__(cls, status: int | Exception, name: str = "", subject: str = "", *values: Any) -> Any:
        if isinstance(status, Exception):
            return status
        if status in _OF_CONTAINERS:
            return error(status, name)
        return error(status, values[0] if subject == "{}" else subject.format(*values))


def int64(value: Any, name: str = "key", hint: str = "") -> int:
    """Return `value` as an int that fits int64, or raise ``TypeError`` or ``OverflowError`` with its name.

    `hint` ends the message for a float, after a colon.
    """
    try:
        number = index(value)
    except TypeError:
        message = f"{name} must be an integer, not {type(value).__name__}"
        if name == "key":
            hint = KEY_HINTS.get(type(value), "")
        elif not isinstance(value, (float, np.floating)):
            hint = ""
        raise TypeError(f"{message}: {hint}" if hint else message) from None
    if not INT64_MIN <= number <= INT64_MAX:
        shown = number if number.bit_length() < 1000 else f"of {number.bit_length()} bits"
        raise OverflowError(f"{name} {shown} does not fit int64")
    return number


def as_array(values: Any) -> np.ndarray:
    """Return `values` as an array, of objects if they are integers without a common dtype.

    numpy converts such a list to floats, for example [-1, 2**63].
    """
    array = np.asarray(values)
    is_list = not isinstance(values, np.ndarray)
    if is_list and array.dtype.kind == "f" and all(isinstance(value, (int, np.integer)) for value in values):
        array = np.array(values, object)
    return array


def _must_be_row(array: np.ndarray, name: str) -> None:
    if array.ndim == 0:
        raise TypeError(f"{name} must be an array or a sequence, not {type(array.item()).__name__}")
    if array.ndim > 1:
        raise ValueError(f"{name} must have one dimension, not {array.ndim}")


def int64_array(values: Any, name: str = "keys", hint: str = "") -> np.ndarray:
    """Return `values` as a C-contiguous ``(n,) int64`` array, or raise with its name; `hint` as in int64."""
    array = as_array(values)
    _must_be_row(array, name)
    if array.size == 0:
        return np.empty(0, np.int64)
    if array.dtype.kind == "O":  # some are too large, or not numbers
        array = np.array([int64(value, f"{name}[{i}]") for i, value in enumerate(array.tolist())])
    if array.dtype.kind not in "iu":
        message = f"{name} must be integers, not {array.dtype}"
        raise TypeError(f"{message}: {hint}" if hint and array.dtype.kind == "f" else message)
    if array.dtype.kind == "u" and array.dtype.itemsize == 8 and array.max() > INT64_MAX:
        i = int(np.argmax(array > INT64_MAX))
        int64(array[i], f"{name}[{i}]")  # raises
    return np.ascontiguousarray(array, dtype=np.int64)


def float64(value: Any, name: str) -> float:
    """Return `value` as a float, or raise ``TypeError`` or ``OverflowError`` with its name."""
    if not isinstance(value, (float, int, np.floating, np.integer)):
        raise TypeError(f"{name} must be a number, not {type(value).__name__}")
    try:
        return float(value)
    except OverflowError:
        raise OverflowError(f"{name} does not fit float64") from None


def float64_array(values: Any, name: str) -> np.ndarray:
    """Return `values` as a C-contiguous ``(n,) float64`` array, or raise with its name."""
    array = np.asarray(values)
    _must_be_row(array, name)
    if array.dtype.kind == "O":
        array = np.array([float64(value, f"{name}[{i}]") for i, value in enumerate(array.tolist())])
    if array.dtype.kind not in "iuf" and array.size:
        raise TypeError(f"{name} must be numbers, not {array.dtype}")
    return np.ascontiguousarray(array, np.float64)


def dtype_name(dtype: Any, allowed: tuple[str, ...] = ("int64", "float64")) -> str:
    """Return the name of a dtype, or raise ``TypeError`` if it is not one of those allowed."""
    try:
        name = "int64" if dtype is int else np.dtype(dtype).name  # np.dtype(int) may be narrower
    except TypeError:
        name = str(dtype)
    if name not in allowed:
        raise TypeError(f"dtype must be {' or '.join(allowed)}, not {name}")
    return name


_PAST_FLOAT32 = (2 - 2**-24) * 2.0**127  # the least number that rounds to infinity


def float32(value: Any, name: str) -> float:
    """Return `value` as a float that is not too large for float32, or raise as :func:`float64`."""
    number = float64(value, name)
    if _PAST_FLOAT32 <= abs(number) < np.inf:
        raise OverflowError(f"{name} {number} does not fit float32")
    return number


def float32_array(values: Any, name: str) -> np.ndarray:
    """Return `values` as a ``(n,) float64`` array, or raise if one is too large for float32."""
    numbers = float64_array(values, name)
    is_too_large = (np.abs(numbers) >= _PAST_FLOAT32) & np.isfinite(numbers)
    if np.any(is_too_large):
        raise OverflowError(f"{name}[{np.argmax(is_too_large)}] does not fit float32")
    return numbers


def number(value: Any, name: str, dtype: np.dtype) -> Any:
    """Return `value` as a number of a dtype, or raise: int64, int32, float64 or float32."""
    if dtype.kind == "f":
        return (float32 if dtype == np.float32 else float64)(value, name)
    integer = int64(value, name, DTYPE_HINT)
    if dtype == np.int32 and not -(2**31) <= integer < 2**31:
        raise OverflowError(f"{name} {integer} does not fit int32")
    return integer
