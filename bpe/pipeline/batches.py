r"""Texts cut at added tokens, all segments in one array: no Python object is made for a segment.

::

    texts         one<a>two | three            two texts, and a token
    marked        one#two#three                # is a boundary: U+FFFF, after a segment that is not the last
    normalized    \u2581one#two#\u2581three          all at once, by a normalizer that is local
    segments     \u2581onetwo\u2581three            concatenated, and where each of them ends

Segments may be empty. There are as many as texts and tokens together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from bpe.pipeline.normalizers import BOUNDARY
from bpe.splitting.special_search import SpecialSearch
from bpe.support.text import as_array, ends_of
from structures.kernels import inner, pointer_to, quiet

_MARK = BOUNDARY.encode()


class Segments(NamedTuple):
    """Normalized texts concatenated, without their tokens."""

    data: np.ndarray
    ends: np.ndarray
    numbers: np.ndarray
    n_before: np.ndarray
    text_ends: np.ndarray


@inner
def copy_bytes(data, start, end, out, n):
    """Copy bytes to place `n`; pointers let the compiler copy many at a time. Return the place after them."""
    source, target = pointer_to(data, start), pointer_to(out, n)
    for i in range(end - start):
        target[i] = source[i]
    return n + end - start


@quiet
def mark_tokens(data, starts, ends, out):
    """Copy a text with a boundary in place of each token; return how many bytes are written."""
    n = place = 0
    for i in range(starts.size):
        n = copy_bytes(data, place, starts[i], out, n)
        out[n], out[n + 1], out[n + 2] = _MARK
        n, place = n + 3, ends[i]
    return copy_bytes(data, place, data.size, out, n)


@quiet
def take_marks(data, out, ends):
    """Copy a text without its boundaries; write where each segment ends; return the number of bytes."""
    text = pointer_to(data, 0)
    n = n_ends = start = place = 0
    while place < data.size:
        if text[place] == _MARK[0] and text[place + 1] == _MARK[1] and text[place + 2] == _MARK[2]:
            n = copy_bytes(data, start, place, out, n)
            ends[n_ends] = n
            n_ends += 1
            place += 3
            start = place
        else:
            place += 1
    n = copy_bytes(data, start, data.size, out, n)
    ends[n_ends] = n
    return n


def segments_of(
    texts: Sequence[bytes], search: SpecialSearch, normalizer: Callable[[str], str]
) -> Segments | None:
    r"""Cut texts at tokens, and normalize what is between them."""
    n_texts = len(texts)
    data = texts[0] if n_texts == 1 else _MARK.join(texts)
    if data.count(_MARK) >= n_texts:
        return None
    starts, ends, numbers = search.find_arrays(data)
    # Text i begins at byte ``text_starts[i]``, and the next one after a boundary.
    text_starts = np.append(0, ends_of(texts) + len(_MARK) * np.arange(1, n_texts + 1))
    after = np.searchsorted(text_starts, starts, side="right")  # the text after that of each token
    if (ends > text_starts[after] - len(_MARK)).any():  # a token with a boundary
        return None
    if len(starts):
        marked = np.empty(len(data) + len(_MARK) * len(starts), np.uint8)
        data = marked[: mark_tokens(as_array(data), starts, ends, marked)].tobytes()
    normalized = normalizer(data.decode(errors="replace")).encode()
    out, segment_ends = as_array(normalized), np.array([len(normalized)])
    n_marks = n_texts - 1 + len(starts)
    if n_marks:
        given, out, segment_ends = out, np.empty(len(normalized), np.uint8), np.empty(n_marks + 1, np.int64)
        out = out[: take_marks(given, out, segment_ends)]
    return Segments(
        out,
        segment_ends,
        numbers,
        np.arange(len(starts)) + after,
        np.arange(n_texts + 1) + np.searchsorted(starts, text_starts),
    )
