import numpy as np
import pytest

from structures import IntMap
from structures.primitives.memory import _LARGE, new_words


@pytest.mark.parametrize("n", [0, 1, _LARGE - 1, _LARGE, _LARGE + 1, 2 * _LARGE + 123])
def test_words(n):
    words = new_words(n)
    assert (words.size, words.dtype) == (n, np.int64)
    words[:] = 7
    assert words.sum() == 7 * n


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
