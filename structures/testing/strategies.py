"""Hypothesis strategies for keys and counts, biased toward values where integer containers break."""

from __future__ import annotations

import functools
from typing import Any

from hypothesis import strategies as st

from structures.status import INT64_MAX, INT64_MIN


@functools.cache
def keys() -> st.SearchStrategy[int]:
    """Return a strategy for int64 keys.

    Small keys that recur, the ends of the range (the least int64 marks an empty slot of a table), numbers
    near powers of two, and any others.

    Returns
    -------
    SearchStrategy of int

    Examples
    --------
    >>> from hypothesis import find
    >>> find(keys(), lambda key: key < 0)
    -1
    """
    around_powers = st.builds(lambda power, step: 2**power + step, st.integers(3, 62), st.integers(-1, 1))
    ends = st.sampled_from([0, -1, INT64_MAX, INT64_MIN, INT64_MIN + 1])
    return st.one_of(st.integers(0, 9), ends, around_powers, st.integers(INT64_MIN, INT64_MAX))


@functools.cache
def counts(dtype: str = "int64") -> st.SearchStrategy[Any]:
    """Return a strategy for counts: small ones that tie, both signs, and some whose sums leave the range.

    Parameters
    ----------
    dtype : {"int64", "float64", "float32"}
        Floats include the infinities and both zeros, but not not-a-number. Sums of those for float32 are
        exact.

    Returns
    -------
    SearchStrategy of int or float

    Examples
    --------
    >>> from hypothesis import find
    >>> find(counts("float64"), lambda count: count > 1e300)
    inf
    """
    small = st.integers(-3, 6)
    if dtype == "int64":
        ends = st.sampled_from([INT64_MAX, INT64_MAX - 1, INT64_MIN, INT64_MIN + 1])
        return st.one_of(small, ends, st.integers(INT64_MIN, INT64_MAX))
    if dtype == "float32":
        ends = st.sampled_from([float("inf"), float("-inf"), -0.0, 1e6])
        return st.one_of(small.map(lambda n: n / 2), ends)
    ends = st.sampled_from([float("inf"), float("-inf"), -0.0, 5e-324, 1e308, -1e308])
    return st.one_of(small.map(lambda n: n / 2), ends, st.floats(allow_nan=False))
