"""Ids as lists: equal ids of a long list are one object, and nothing else differs from numpy's lists."""

import numpy as np
import pytest

from bpe.support import integers
from bpe.support.integers import as_list


@pytest.fixture
def nothing_known(monkeypatch):
    monkeypatch.setattr(integers, "_int_of", ())


@pytest.mark.parametrize("greatest", [0, 1, 255, 256, 5000, 200_000, 2**20 - 1, 2**20, 2**32 - 1])
@pytest.mark.parametrize("n", [0, 1, 999, 1000, 5000])
def test_as_numpy(nothing_known, greatest, n):
    ids = np.random.default_rng(1).integers(0, greatest, n, np.uint32, endpoint=True)
    ids[-1:] = greatest
    listed = as_list(ids)
    assert listed == ids.tolist()
    assert {*map(type, listed)} <= {int}


def test_equal_ids_are_one_object(nothing_known):
    ids = np.repeat(np.arange(1000, 2000, dtype=np.uint32), 3)
    assert len({*map(id, as_list(ids))}) == 1000
    assert as_list(ids + 5000)[0] == 6000  # greater than those before
    assert as_list(ids)[0] is as_list(ids)[0]


def test_ids_that_are_too_great_leave_no_table(nothing_known):
    assert as_list(np.full(1000, 2**31, np.uint32)) == [2**31] * 1000
    assert len(integers._int_of) == 0
