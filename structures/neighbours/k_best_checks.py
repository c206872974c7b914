"""The checks of :class:`structures.KBest`: of what it is given, and of its invariants."""

from __future__ import annotations

from typing import Any

import numpy as np

from structures.status import as_array, float64, float64_array, int64, int64_array

NO_ID = -1


def dtypes_of(dtype: Any, id_dtype: Any) -> tuple[str, str]:
    """Return the names of the dtypes of distances and ids."""
    distance_type = np.dtype(dtype)
    id_type = np.dtype("int64" if id_dtype is int else id_dtype)  # np.dtype(int) may be narrower
    if distance_type not in (np.float32, np.float64):
        raise TypeError(f"dtype must be float32 or float64, not {distance_type}")
    if id_type not in (np.int32, np.int64):
        raise TypeError(f"id_dtype must be int32 or int64, not {id_type}")
    return distance_type.name, id_type.name


def row_of(row: Any, n_rows: int) -> int:
    """Return the number of a row."""
    row = int64(row, "row")
    if not 0 <= row < n_rows:
        raise IndexError(f"row {row} is out of range for {n_rows} rows")
    return row


def flag_of(flag: Any, has_flags: bool) -> bool:
    """Return the flag of an entry."""
    if flag and not has_flags:
        raise ValueError("entries have no flags: make the container with flags=True")
    return bool(flag)


def entry_of(distance: Any, id: Any, id_dtype: np.dtype) -> tuple[float, int]:
    """Return the distance and the id of an entry."""
    distance, id = float64(distance, "distance"), int64(id, "id")
    if distance != distance:
        raise ValueError("distance must be a number, not nan")
    if not 0 <= id <= np.iinfo(id_dtype).max:
        raise ValueError(f"id must be 0 or more, and {id_dtype}, not {id}")
    return distance, id


def entries_of(
    rows: Any, distances: Any, ids: Any, n_rows: int, id_dtype: np.dtype
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, distances and ids of entries, ``(n,)`` each."""
    rows, ids = int64_array(rows, "rows"), int64_array(ids, "ids")
    distances = float64_array(distances, "distances")
    if not rows.size == distances.size == ids.size:
        raise ValueError(f"{rows.size} rows, {distances.size} distances and {ids.size} ids")
    is_wrong = (rows < 0) | (rows >= n_rows)
    if is_wrong.any():
        i = int(np.argmax(is_wrong))
        raise IndexError(f"rows[{i}] is {rows[i]}, out of range for {n_rows} rows")
    refuse(np.isnan(distances), distances, "distances", "numbers")
    refuse((ids < 0) | (ids > np.iinfo(id_dtype).max), ids, "ids", f"0 or more, and {id_dtype}")
    return rows, distances, ids


def tables_of(distances: Any, ids: Any, flags: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the distances, ids and flags of all rows, ``(n_rows, k)`` each; no flags count as false."""
    distances, ids = np.asarray(distances), as_array(ids)
    flags = np.zeros(ids.shape, np.bool_) if flags is None else np.asarray(flags)
    if distances.ndim != 2 or not distances.shape == ids.shape == flags.shape:
        shapes = ", ".join(str(array.shape) for array in (distances, ids, flags))
        raise ValueError(f"the arrays must have one shape, (n_rows, k), not {shapes}")
    distance_type = np.float32 if distances.dtype == np.float32 else np.float64
    id_type = np.int32 if ids.dtype == np.int32 else np.int64
    wide, wide_ids = float64_array(distances.ravel(), "distances"), int64_array(ids.ravel(), "ids")
    refuse(wide_ids < NO_ID, wide_ids, "ids", "-1 or more")
    refuse(np.isnan(wide) & (wide_ids != NO_ID), wide, "distances", "numbers")
    return distances.astype(distance_type), ids.astype(id_type), flags.astype(np.bool_)


def refuse(is_wrong: np.ndarray, values: np.ndarray, name: str, what: str) -> None:
    """Raise an error that names the first wrong one of some values, if there is one."""
    if is_wrong.any():
        i = int(np.argmax(is_wrong))
        raise ValueError(f"{name} must be {what}, not {values[i]} at index {i}")


def assert_sorted(distances: np.ndarray, ids: np.ndarray, flags: np.ndarray, k: int) -> None:
    """Assert the invariants 1, 2 and 4 of rows, ``(n_rows, width)`` each."""
    assert not np.isnan(distances).any(), "4: not a number"
    assert np.all(ids >= NO_ID), "4: ids"
    is_empty = ids == NO_ID
    is_empty[:, k:] = True
    assert np.all((distances == np.inf) & (ids == NO_ID) & (flags == 0) | ~is_empty), "2: empty places"
    near, far = distances[:, :-1], distances[:, 1:]
    unsigned = ids.view(f"u{ids.itemsize}")
    is_tie = (near == far) & (unsigned[:, :-1] <= unsigned[:, 1:])
    assert np.all((near < far) | is_tie), "1: order"
