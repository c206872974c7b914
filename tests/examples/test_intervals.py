# Copyright (c) 2026 The bpe-structures authors
# SPDX-License-Identifier: MIT

from itertools import pairwise

import intervals
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.optional import required

NUMBER = st.integers(-12, 12)
CHANGES = st.lists(st.tuples(NUMBER, NUMBER, st.booleans()), max_size=20)


def with_sorted_dict(starts, stops, is_added):
    """Return the intervals, with a ``SortedDict`` from start to end, in plain Python."""
    from sortedcontainers import SortedDict

    ends = SortedDict()
    for start, stop, adds in zip(starts, stops, is_added, strict=True):
        if start >= stop:
            continue
        # Those that touch or overlap what is added, or overlap what is removed.
        first = max(ends.bisect_left(start) - 1, 0)
        last = ends.bisect_right(stop) if adds else ends.bisect_left(stop)
        found = [
            (known, end) for known, end in ends.items()[first:last] if end > start or (adds and end == start)
        ]
        for known, _ in found:
            del ends[known]
        if adds:
            ends[min([start, *(known for known, _ in found)])] = max([stop, *(end for _, end in found)])
        else:
            for known, end in found:
                if known < start:
                    ends[known] = start
                if end > stop:
                    ends[stop] = end
    return list(ends), list(ends.values())


@given(CHANGES)
def test_as_a_set(changes):
    some, numbers = intervals.Intervals(), set()
    for start, end, is_added in changes:
        (some.add if is_added else some.remove)(start, end)
        (numbers.update if is_added else numbers.difference_update)(range(start, end))
        starts, ends = (array.tolist() for array in some.to_arrays())
        assert {n for pair in zip(starts, ends, strict=True) for n in range(*pair)} == numbers
        assert all(one < other for one, other in pairwise(sorted(starts + ends)))
    assert [number for number in range(-14, 15) if number in some] == sorted(numbers)


def test_many_against_a_sorted_dict():
    required("sortedcontainers")
    rng = np.random.default_rng(0)
    starts = rng.integers(0, 10_000, 3000)
    stops, is_added = starts + rng.integers(0, 9, 3000), rng.random(3000) < 0.6
    some = intervals.Intervals()
    some.change(starts, stops, is_added)
    found = tuple(array.tolist() for array in some.to_arrays())
    assert found == with_sorted_dict(starts.tolist(), stops.tolist(), is_added.tolist())
    assert len(found[0]) > 300
