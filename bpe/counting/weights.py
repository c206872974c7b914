"""Weighted counts of several sources: what a training starts from if some texts are to count more.

Files of counts stay exact. Weights are applied once, when a training begins, in fixed point: a count
becomes ``count * round(weight * UNIT)``, an integer, and those of all sources are added. So the counts do not
depend on the order of the sources, and weights that are all 1 change no merge. Counts of pairs are then in
units of ``1 / UNIT``, too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import reduce
from numbers import Real
from operator import add

import numpy as np

from bpe.counting.word_counts import INT64_MAX, WordCounts
from structures import ByteCounter

UNIT = 1 << 20
"""A weight of 1 in fixed point. Weights are rounded to multiples of ``1 / UNIT``, the least one above 0."""


def weigh(
    counts: WordCounts | Mapping[str, WordCounts], weights: Mapping[str, float] | None
) -> tuple[WordCounts, int]:
    """Return the sum of the weighted counts, and the number that stands for a count of 1 in it."""
    if isinstance(counts, Mapping):
        check_sources(counts)
        if weights is not None:
            return _weighed(counts, weights), UNIT
        return reduce(add, counts.values()), 1
    if weights is not None:
        raise ValueError('weights are for sources with names: give a mapping, such as {"en": counts}')
    return counts, 1


def check_sources(sources: Mapping[str, WordCounts], what: str = "source") -> None:
    """Raise unless all sources are WordCounts with words and with the same pattern and special tokens.

    `what` is the name of a source in messages.
    """
    if not sources:
        raise ValueError(f"there are no {what}s to learn from")
    first = next(iter(sources))
    for name, counts in sources.items():
        if not isinstance(counts, WordCounts):
            raise TypeError(f"{what} {name!r} must be WordCounts, not {type(counts).__name__}")
        if not len(counts):
            raise ValueError(f"{what} {name!r} has no words")
        for rule in "pattern", "special_tokens":
            if getattr(counts, rule) != getattr(sources[first], rule):
                raise ValueError(
                    f"{what}s {first!r} and {name!r} have different {rule.replace('_', ' ').rstrip('s')}s: "
                    "count all texts with the same ones"
                )


def _weighed(sources: Mapping[str, WordCounts], weights: Mapping[str, float]) -> WordCounts:
    """Return the sum of the sources, each times its weight, in units of 1 / UNIT."""
    factors = factors_of(sources, weights)
    total = ByteCounter()
    for name, counts in sources.items():
        factor = factors[name]
        if not factor:
            continue
        data, offsets, numbers = counts.to_arrays()
        if int(numbers.max()) > INT64_MAX // factor:
            raise OverflowError(
                f"a count of source {name!r} times {weights[name]} passes 2**63 - 1, in units of 1 / {UNIT}"
            )
        try:
            total.add_many(data, offsets, numbers * np.int64(factor))
        except OverflowError:
            raise OverflowError(f"a weighted count passes 2**63 - 1, in units of 1 / {UNIT}") from None
    return WordCounts._of_counter(total, counts.pattern, counts.special_tokens)


def factors_of(sources: Mapping[str, WordCounts], weights: Mapping[str, float]) -> dict[str, int]:
    """Return the weights in units of 1 / UNIT; raise what :func:`weigh` raises."""
    for name in weights:
        if name not in sources:
            raise ValueError(
                f"there is a weight for {name!r}, which is not a source; the sources are {[*sources]}"
            )
    factors: dict[str, int] = {}
    for name in sources:
        if name not in weights:
            raise ValueError(f"there is no weight for source {name!r}")
        weight = weights[name]
        if isinstance(weight, bool) or not isinstance(weight, (float, Real)):
            raise TypeError(f"the weight of {name!r} must be a number, not {type(weight).__name__}")
        if not (math.isfinite(weight) and 0 <= weight <= INT64_MAX / UNIT):
            raise ValueError(
                f"the weight of {name!r} must be a finite number from 0 to {INT64_MAX // UNIT}, not {weight}"
            )
        factors[name] = round(weight * UNIT)
        if weight and not factors[name]:
            raise ValueError(f"the weight of {name!r} is {weight}: less than 1 / {UNIT}, other than 0")
    if not any(factors.values()):
        raise ValueError("all weights are 0: there is nothing to learn from")
    return factors


def temperature_weights(sources: Mapping[str, WordCounts], temperature: float) -> dict[str, float]:
    """Return weights that make sources of different sizes more alike.

    The weight of a source is proportional to ``size ** (1 / temperature - 1)``, so that what it counts for is
    proportional to ``size ** (1 / temperature)``: at 1 to its size, at infinity the same for all. The size is
    the bytes of the text.

    Parameters
    ----------
    sources : mapping from str to WordCounts
    temperature : float
        Above 0. Below 1, large sources count even more.

    Returns
    -------
    dict from str to float
        The greatest one is 1.

    Raises
    ------
    ValueError
        The temperature is not above 0, or there are no sources, or one has no words.
    TypeError
        A source is not WordCounts, or the temperature is not a number.

    Complexity
    ----------
    O(words).

    Source: the sampling of languages in multilingual BERT (Devlin and others, 2019) and XLM-R (Conneau and
    others, 2020).

    Examples
    --------
    >>> from bpe import WordCounts
    >>> temperature_weights({"en": WordCounts({"the": 400}), "de": WordCounts({"der": 100})}, 2)
    {'en': 0.5, 'de': 1.0}
    """
    check_sources(sources)
    if isinstance(temperature, bool) or not isinstance(temperature, (float, Real)):
        raise TypeError(f"temperature must be a number, not {type(temperature).__name__}")
    if not temperature > 0:
        raise ValueError(f"temperature must be a number above 0, not {temperature}")
    power = 1 - 1 / temperature
    sizes = {name: counts.n_text_bytes for name, counts in sources.items()}
    base = min(sizes.values()) if power > 0 else max(sizes.values())  # of the greatest weight
    return {name: (base / size) ** power for name, size in sizes.items()}
