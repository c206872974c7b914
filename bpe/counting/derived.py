"""Counters made from a counter: every count times a factor, or some of the words only."""

from __future__ import annotations

from fractions import Fraction
from numbers import Rational

import numpy as np

from bpe.counting.checked_words import INT64_MAX
from structures import ByteCounter


def scaled(counter: ByteCounter, factor: float | Rational) -> ByteCounter:
    """Return a counter with all counts times a factor, as :meth:`bpe.WordCounts.scale` does."""
    if isinstance(factor, bool) or not isinstance(factor, (float, Rational)):
        raise TypeError(f"factor must be an int, a float or a Fraction, not {type(factor).__name__}")
    try:
        exact = Fraction(repr(float(factor))) if isinstance(factor, float) else Fraction(factor)
    except ValueError:
        exact = Fraction(0)  # not a number, or infinite
    if exact <= 0:
        raise ValueError(f"factor must be a finite number above 0, not {factor}")
    data, offsets, counts = counter.to_arrays()
    products = [max(1, count * exact.numerator // exact.denominator) for count in counts.tolist()]
    if (greatest := max(products, default=0)) > INT64_MAX:
        word = counter.word(products.index(greatest))
        raise OverflowError(f"the count of {word!r} times {factor} passes 2**63 - 1")
    return ByteCounter.from_arrays(data, offsets, products)


def kept(counter: ByteCounter, keep: np.ndarray) -> ByteCounter:
    """Return a counter of the words for which `keep`, a boolean for each, is true."""
    data, offsets, counts = counter.to_arrays()
    lengths = np.diff(offsets)
    starts = np.concatenate([[0], np.cumsum(lengths[keep])])
    return ByteCounter.from_arrays(data[np.repeat(keep, lengths)], starts, counts[keep])
