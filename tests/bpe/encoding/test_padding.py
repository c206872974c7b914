"""Rows of equal length against a loop over texts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe

IDS = st.lists(st.lists(st.integers(0, 2**32 - 1), max_size=6), max_size=6)


def joined(texts):
    ids = np.array([number for text in texts for number in text], np.uint32)
    return ids, np.cumsum([0, *map(len, texts)])


@given(IDS, st.integers(0, 2**32), st.none() | st.integers(0, 8), st.sampled_from(["right", "left"]))
def test_rows_of_texts(texts, pad_id, length, side):
    rows, mask = bpe.pad_batch(*joined(texts), pad_id=pad_id, length=length, side=side)
    width = max(map(len, texts), default=0) if length is None else length
    assert (rows.shape, rows.dtype) == ((len(texts), width), np.int64)
    assert (mask.shape, mask.dtype) == ((len(texts), width), bool)
    for row, is_text, text in zip(rows.tolist(), mask.tolist(), texts, strict=True):
        kept, padding = text[:width], width - len(text[:width])
        if side == "right":
            assert row == kept + [pad_id] * padding
            assert is_text == [True] * len(kept) + [False] * padding
        else:
            assert row == [pad_id] * padding + kept
            assert is_text == [False] * padding + [True] * len(kept)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"side": "middle"}, "side must be 'right' or 'left', not 'middle'"),
        ({"length": -1}, r"length must be in \[0, 2\*\*32\), not -1"),
        ({"length": 2**70}, r"length must be in \[0, 2\*\*32\)"),
        ({"pad_id": -1}, r"pad_id must be in \[0, 2\*\*63\), not -1"),
        ({"pad_id": 2**63}, r"pad_id must be in \[0, 2\*\*63\)"),
        ({"offsets": [0, 2]}, "offsets must rise from 0 to 3, the number of ids"),
        ({"offsets": [1, 3]}, "offsets must rise from 0 to 3"),
        ({"offsets": [0, 3, 2, 3]}, "offsets must rise from 0 to 3"),
        ({"offsets": []}, "offsets must rise from 0 to 3"),
    ],
)
def test_wrong_arguments(arguments, message):
    given = {"ids": np.arange(3), "offsets": [0, 1, 3], "pad_id": 0} | arguments
    with pytest.raises(ValueError, match=message):
        bpe.pad_batch(**given)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"ids": np.array([1.5, 2, 3])}, TypeError, "ids must be integers that fit int64"),
        ({"ids": np.array([1, 2, 2**64 - 1], np.uint64)}, OverflowError, "ids must fit int64, not 18446"),
        ({"offsets": [0, 1.5, 3]}, TypeError, "offsets must be integers"),
        ({"pad_id": "0"}, TypeError, "pad_id must be an integer, not '0'"),
    ],
)
def test_what_is_not_an_integer(arguments, error, message):
    given = {"ids": np.arange(3), "offsets": [0, 1, 3], "pad_id": 0} | arguments
    with pytest.raises(error, match=message):
        bpe.pad_batch(**given)


def test_lists():
    rows, mask = bpe.pad_batch([1, 2, 3], [0, 1, 3], pad_id=0, length=1)
    assert (rows.tolist(), mask.tolist()) == ([[1], [2]], [[True], [True]])


def test_a_batch(tokenizer):
    texts = ["the sea", "", "a tale of the sea"]
    rows, mask = bpe.pad_batch(*tokenizer.encode_batch_to_numpy(texts), pad_id=600)
    assert [row[kept].tolist() for row, kept in zip(rows, mask, strict=True)] == tokenizer.encode_batch(texts)
    assert (rows[~mask] == 600).all()
