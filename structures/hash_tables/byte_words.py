"""Words from Python for the kernels of ``ByteCounter``: checks, joining and cutting.

A word is bytes, a bytearray or a memoryview. Many words are one array of bytes, and offsets in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from structures.status import int64_array


def _bytes_of(word: Any) -> Any:
    """Return a word as bytes or a bytearray, or raise ``TypeError``."""
    if isinstance(word, (bytes, bytearray)):
        return word
    if isinstance(word, memoryview):
        return word.tobytes()
    hint = "; encode it first: word.encode()" if isinstance(word, str) else ""
    raise TypeError(f"a word must be bytes, not {type(word).__name__}{hint}")


def array_of(word: Any) -> np.ndarray:
    """Return the bytes of a word as a writable array: kernels are compiled for these."""
    return np.frombuffer(bytearray(_bytes_of(word)), np.uint8)


def joined(words: list[Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return the bytes of all words, concatenated, and their offsets."""
    words = [word if type(word) is bytes else _bytes_of(word) for word in words]
    offsets = np.zeros(len(words) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, words), np.int64, len(words)), out=offsets[1:])
    return np.frombuffer(bytearray().join(words), np.uint8), offsets


def _byte_array(data: Any) -> np.ndarray:
    """Return `data` as a C-contiguous ``(n,) uint8`` array."""
    if isinstance(data, (bytes, bytearray, memoryview)):
        return np.frombuffer(data, np.uint8)
    data = np.asarray(data)
    if data.ndim != 1 or data.dtype != np.uint8:
        raise TypeError(f"data must be bytes or (n,) uint8, not {data.shape} {data.dtype}")
    return np.ascontiguousarray(data)


def words_in(data: Any, offsets: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return `data` and `offsets` as arrays, or raise: word i is ``data[offsets[i]:offsets[i + 1]]``."""
    data, offsets = _byte_array(data), int64_array(offsets, "offsets")
    if (
        offsets.size == 0
        or offsets[0] < 0
        or offsets[-1] > data.size
        or np.any(offsets[1:] < offsets[:-1])  # not np.diff: a difference may overflow
    ):
        raise ValueError(f"offsets must start at 0 or later, not decrease, and end at {data.size} at most")
    return data, offsets


def cut(data: np.ndarray, offsets: np.ndarray) -> Iterator[bytes]:
    """Iterate over the words of an array."""
    buffer = data.tobytes()
    return (buffer[start:end] for start, end in pairwise(offsets.tolist()))
