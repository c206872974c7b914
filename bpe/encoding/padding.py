"""Rows of equal length from a batch of ids, as models take them.

::

    ids      5 6 7 | 8 | 9 4            offsets   0 3 4 6

    right    5 6 7    1 1 1             left      5 6 7    1 1 1
             8 0 0    1 0 0                       0 0 8    0 0 1
             9 4 0    1 1 0                       0 9 4    0 1 1
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from bpe.support.integers import as_integer, as_integers


def pad_batch(
    ids: np.ndarray,
    offsets: np.ndarray,
    *,
    pad_id: int,
    length: int | None = None,
    side: Literal["right", "left"] = "right",
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ids of several texts as the rows of one array, and a mask of what is not padding.

    Parameters
    ----------
    ids : (n,) array of integers
    offsets : (texts + 1,) array of integers
        Both as :meth:`Tokenizer.encode_batch_to_numpy` returns them, or as they are read from a file of ids.
    pad_id : int
        The id of padding, such as ``tok.role_ids["pad"]``. Models that are given the mask ignore padding.
    length : int, optional
        The length of all rows; only the first `length` ids of a longer text are kept. By default, that of
        the longest text.
    side : {"right", "left"}
        Where the padding is: after the ids, or before them, which generation of text requires.

    Returns
    -------
    rows : (texts, length) int64
    mask : (texts, length) bool
        True where an id is that of a text.

    Raises
    ------
    ValueError
        `length` or `pad_id` is negative or too large, `side` is not one of these, or the offsets do not
        match the ids.
    TypeError
        A number is not an integer.

    Complexity
    ----------
    O(n + texts * length).

    Examples
    --------
    >>> import bpe
    >>> tok = bpe.train(["low lower"], 259, special_tokens=["<|pad|>"], progress=False)
    >>> rows, mask = bpe.pad_batch(*tok.encode_batch_to_numpy(["lower", "low"]), pad_id=258)
    >>> rows
    array([[257, 101, 114],
           [257, 258, 258]])
    >>> mask.sum(axis=1)  # the tokens of each text
    array([3, 1])
    """
    ids, offsets = as_integers(ids, "ids"), as_integers(offsets, "offsets")
    lengths = offsets[1:] - offsets[:-1]
    if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != len(ids) or (lengths < 0).any():
        raise ValueError(f"offsets must rise from 0 to {len(ids)}, the number of ids")
    if not 0 <= as_integer(pad_id, "pad_id") < 2**63:
        raise ValueError(f"pad_id must be in [0, 2**63), not {pad_id}")
    if length is not None and not 0 <= as_integer(length, "length") < 2**32:
        raise ValueError(f"length must be in [0, 2**32), not {length}")
    if side not in ("right", "left"):
        raise ValueError(f"side must be 'right' or 'left', not {side!r}")
    width = int(lengths.max(initial=0)) if length is None else length
    kept = np.minimum(lengths, width)[:, None]
    columns = np.arange(width)
    mask = columns < kept if side == "right" else columns >= width - kept
    if width < lengths.max(initial=0):
        place = np.arange(len(ids)) - np.repeat(offsets[:-1], lengths)  # of each id in its text
        ids = ids[place < width]
    rows = np.full(mask.shape, pad_id, np.int64)
    rows[mask] = ids
    return rows, mask
