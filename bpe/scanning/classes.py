"""Classes of code points: which characters a pattern tells apart.

The ``regex`` package tells the members of every class, so that both use the same tables of Unicode. Code
points that no class of a pattern tells apart are one *symbol*::

    code points   . . . '0' . . '9' . . 'A' . . . 'Z' . . .
    ranges of     [    )[         )[   )[           )[
    symbols       0      1          0    2            0
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
import regex

from bpe.scanning.syntax import UnsupportedError

N_CODE_POINTS = 0x110000


@functools.cache
def _every_character() -> str:
    return np.arange(N_CODE_POINTS, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")


@functools.lru_cache(maxsize=512)
def ranges_of(source: str) -> np.ndarray:
    r"""Return the members of a class.

    Parameters
    ----------
    source : str
        An expression of the ``regex`` package that matches single characters.

    Returns
    -------
    (n, 2) int64
        Half-open ranges of code points, rising.

    Raises
    ------
    UnsupportedError
        The expression is not valid by itself.

    Complexity
    ----------
    O(code points), once for each source.

    Examples
    --------
    >>> ranges_of("[a-cx]").tolist()
    [[97, 100], [120, 121]]
    """
    try:
        members = regex.compile(f"(?:{source})++")
    except regex.error as error:
        raise UnsupportedError(f"{source!r} by itself: {error}") from None
    spans = [match.span() for match in members.finditer(_every_character(), concurrent=False)]
    ranges = np.array(spans, np.int64).reshape(-1, 2)
    ranges.setflags(write=False)
    return ranges


def symbols_of(classes: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Give code points one symbol if they are members of the same classes.

    Parameters
    ----------
    classes : sequence of (n, 2) int64
        As :func:`ranges_of` returns them.

    Returns
    -------
    symbol_of : (0x110000,) int16
        Symbol by code point.
    members : (symbols, classes) bool
        Whether the code points of a symbol are members of a class.

    Complexity
    ----------
    O(code points + ranges * classes).

    Examples
    --------
    >>> symbol_of, members = symbols_of([ranges_of("[0-9]"), ranges_of("[0-9a-f]")])
    >>> bool(symbol_of[ord("7")] == symbol_of[ord("0")] != symbol_of[ord("a")])
    True
    >>> members[symbol_of[ord("a")]]
    array([False,  True])
    """
    edges = np.unique(np.concatenate([[0, N_CODE_POINTS], *(ranges.ravel() for ranges in classes)]))
    starts = edges[:-1]
    # A start is inside a range of a class if the number of the class's edges up to it is odd.
    inside = np.empty((len(starts), len(classes)), np.bool_)
    for i, ranges in enumerate(classes):
        inside[:, i] = np.searchsorted(ranges.ravel(), starts, side="right") % 2 == 1
    packed = np.packbits(inside, axis=1)
    _, first, symbol = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    symbol_of = np.repeat(symbol.reshape(-1).astype(np.int16), np.diff(edges))
    return symbol_of, inside[first]
