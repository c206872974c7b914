r"""Sets of characters as arrays, to work out what a set of another engine holds.

A set is an array of truth values, one for each code point: union, intersection, difference and complement are
``|``, ``&``, ``& ~`` and ``~``. The ``regex`` package tells the members of classes, so that a set that is
worked out here goes by the same tables of Unicode as the rest of an expression.
"""

from __future__ import annotations

import functools

import numpy as np

from bpe.splitting.compiled.classes import N_CODE_POINTS, ranges_of

# The package takes these for forms of "i"; the other engines do not.
_TURKIC = [0x130, 0x131]
_CASED = r"[\p{Changes_When_Casemapped}\p{Changes_When_Casefolded}]"


def members_of(source: str) -> np.ndarray:
    r"""Return the set of an expression that matches single characters."""
    edges = np.zeros(N_CODE_POINTS + 1, np.int8)
    ranges = ranges_of(source)
    edges[ranges[:, 0]] += 1
    edges[ranges[:, 1]] -= 1
    return np.cumsum(edges[:-1], dtype=np.int8).astype(bool)


def range_of(first: int, last: int) -> np.ndarray:
    """Return the set of the code points from `first` to `last`."""
    members = np.zeros(N_CODE_POINTS, bool)
    members[first : last + 1] = True
    return members


def with_cases(members: np.ndarray) -> np.ndarray:
    """Return a set together with the other cases of its members, by Unicode's simple case folding."""
    found = members.copy()
    cased = _cased()
    if some := "".join(map(written, cased[members[cased]].tolist())):
        import regex

        others = regex.findall(f"(?i:[{some}])", "".join(map(chr, cased.tolist())))
        found[list(map(ord, others))] = True
    return found


@functools.cache
def _cased() -> np.ndarray:
    """Return the code points that have another case, but for those of which the engines differ."""
    is_cased = members_of(_CASED)
    is_cased[_TURKIC] = False
    return np.flatnonzero(is_cased)


def expression_of(members: np.ndarray) -> str:
    r"""Return an expression of the ``regex`` package for a set: its ranges."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], members, [False]]).astype(np.int8)))
    parts = [
        written(start) if end == start + 1 else f"{written(start)}-{written(end - 1)}"
        for start, end in edges.reshape(-1, 2).tolist()
    ]
    return f"[{''.join(parts)}]" if parts else r"[^\x00-\U0010ffff]"  # the package takes [^\s\S] for all


def written(code: int) -> str:
    """Return a code point as the ``regex`` package reads it, inside and outside of a set."""
    if code < 0x80 and chr(code).isalnum():
        return chr(code)
    return rf"\x{code:02x}" if code < 0x80 else rf"\u{code:04x}" if code < 0x10000 else rf"\U{code:08x}"
