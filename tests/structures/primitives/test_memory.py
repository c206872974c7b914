import numpy as np
import pytest
from numba import njit

from structures import IntMap
from structures.primitives.memory import _LARGE, _py_copy_words, copy_words, new_words


@pytest.mark.parametrize("n", [0, 1, _LARGE - 1, _LARGE, _LARGE + 1, 2 * _LARGE + 123])
def test_words(n):
    words = new_words(n)
    assert (words.size, words.dtype) == (n, np.int64)
    words[:] = 7
    assert words.sum() == 7 * n


@njit
def _copy(source, start, target, target_start, n):
    copy_words(source, start, target, target_start, n)


@pytest.mark.parametrize("copy", [_copy, _py_copy_words])
def test_words_are_copied(copy):
    for start, n, target_start in ((0, 5, 3), (3, 5, 0), (2, 0, 7), (4, 3, 4)):
        words, target = np.arange(10), -np.arange(12)
        within, beside = words.copy(), target.copy()
        within[target_start : target_start + n] = words[start : start + n]
        beside[target_start : target_start + n] = words[start : start + n]
        copy(words, start, target, target_start, n)
        assert np.array_equal(target, beside)
        copy(words, start, words, target_start, n)  # the two places may overlap
        assert np.array_equal(words, within)


def test_there_is_not_always_memory():
    with pytest.raises(MemoryError):
        new_words(2**47)


def test_a_container_grows_into_large_pages():
    container = IntMap()
    container.reserve(_LARGE)
    assert container.nbytes > 8 * _LARGE
    container.set_many(np.arange(1000) << 30, np.arange(1000))
    container._check()
    assert container.copy() == container
