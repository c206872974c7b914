import numpy as np
import pytest
from numba import njit

from structures.neighbors.k_best_layout import (
    ROW_LANES,
    as_element,
    insert_lane,
    place_of_another,
    place_of_entry,
)
from structures.primitives.simd import pointer_to

DTYPES = [(distance, id) for distance in ("float32", "float64") for id in ("int32", "int64")]
dtypes = pytest.mark.parametrize(("dtype", "id_dtype"), DTYPES)


@njit
def _places(all_distances, all_ids, start, n_lanes, distance, id):
    distances, ids = pointer_to(all_distances, start), pointer_to(all_ids, start)
    distance, id = as_element(distances, distance), as_element(ids, id)
    return (
        place_of_entry(distances, ids, n_lanes, distance, id),
        place_of_another(distances, ids, n_lanes, distance, id),
    )


@njit
def _insert(array, start, place, n, value):
    row = pointer_to(array, start)
    insert_lane(row, place, n, as_element(row, value))


def rows_of(rng, dtype, id_dtype, n_lanes, n):
    """Return three sorted rows with `n` entries each, with ties."""
    distances = np.full((3, n_lanes), np.inf, dtype)
    ids = np.full((3, n_lanes), -1, id_dtype)
    for row in range(3):
        entries = zip(rng.integers(0, 5, n) / 4, rng.permutation(3 * n)[:n], strict=True)
        distances[row, :n], ids[row, :n] = zip(*sorted(entries), strict=True) if n else ((), ())
    return distances, ids


@dtypes
@pytest.mark.parametrize("n_lanes", [ROW_LANES, 3 * ROW_LANES])
def test_places(rng, dtype, id_dtype, n_lanes):
    for n in (0, 1, n_lanes // 2, n_lanes - 1, n_lanes):
        distances, ids = rows_of(rng, dtype, id_dtype, n_lanes, n)
        entries = list(zip(distances[1, :n].tolist(), ids[1, :n].tolist(), strict=True))
        for distance in (-np.inf, 0.0, 0.5, 0.6, 1.0, np.inf):
            for id in (0, 7, *ids[1, :n:5].tolist(), 2**31 - 1):
                place = sum(entry < (float(np.dtype(dtype).type(distance)), id) for entry in entries)
                found, among = _places(distances.ravel(), ids.ravel(), n_lanes, n_lanes, distance, id)
                assert among == place
                assert found == (-1 if id in ids[1, :n] else place)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "uint8"])
@pytest.mark.parametrize("n_lanes", [ROW_LANES, 3 * ROW_LANES])
def test_insert(rng, dtype, n_lanes):
    for n in (1, 2, n_lanes - 1, n_lanes):
        for place in {0, n // 2, n - 1, *rng.integers(0, n, 3).tolist()}:
            array = rng.integers(0, 100, 3 * n_lanes).astype(dtype)
            expected = array.copy()
            row = np.insert(expected[n_lanes : n_lanes + n], place, 101)
            expected[n_lanes : n_lanes + n] = row[:n]
            _insert(array, n_lanes, place, n, 101)
            assert array.tolist() == expected.tolist()


def test_elements():
    @njit
    def convert(array, value):
        return as_element(pointer_to(array, 0), value)

    assert convert(np.zeros(1, np.float32), 0.1) == np.float32(0.1)
    assert convert(np.zeros(1), 0.1) == 0.1
    assert np.isnan(convert(np.zeros(1, np.float32), np.nan))
    assert convert(np.zeros(1, np.float32), 7) == 7.0
    assert convert(np.zeros(1, np.int64), 2**40) == 2**40
    assert convert(np.zeros(1, np.int32), -5) == -5
