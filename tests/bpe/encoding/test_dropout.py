"""BPE-dropout, against the same in plain Python."""

from itertools import islice, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe import reference
from bpe.encoding.kernels.merge_heap import next_random

texts = st.text("the sanig", max_size=60) | st.text("aab ", max_size=60)
MASK = 2**64 - 1


def numbers(seed):
    """The numbers of a splitmix64 generator, in [0, 1)."""
    state = seed & MASK
    while True:
        state = state + 0x9E3779B97F4A7C15 & MASK
        z = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        yield ((z ^ z >> 31) >> 11) * 2.0**-53


def with_dropout(piece, ranks, dropout, chance):
    """At each step, every pair is passed over or not, the lowest first; the first that is not is merged."""
    ids = list(piece)
    while True:
        pairs = sorted((ranks[pair], place) for place, pair in enumerate(pairwise(ids)) if pair in ranks)
        found = next((pair for pair in pairs if next(chance) >= dropout), None)
        if found is None:
            return ids
        rank, place = found
        ids[place : place + 2] = [256 + rank]


@given(text=texts, dropout=st.sampled_from([0, 0.1, 0.5, 0.9, 1]), seed=st.integers(-5, 2**64))
def test_against_plain_python(tokenizer, text, dropout, seed):
    ranks = reference.rank_pairs(tokenizer.merges)
    chance = numbers(seed)
    pieces = tokenizer.pattern.split_bytes(text.encode())
    expected = [number for piece in pieces for number in with_dropout(piece, ranks, dropout, chance)]
    assert tokenizer.encode_with_dropout(text, dropout, seed=seed) == expected
    assert tokenizer.decode(expected) == text


@pytest.mark.parametrize("seed", [0, 1234567, MASK])
def test_every_bit_of_a_number_is_random(seed):
    state = np.array([seed], np.uint64)
    assert [next_random(state) for _ in range(100)] == list(islice(numbers(seed), 100))


def test_the_ends_of_the_scale(tokenizer, book):
    assert tokenizer.encode_with_dropout(book, 0, seed=1) == tokenizer.encode(book)
    assert tokenizer.encode_with_dropout(book, 1, seed=1) == list(book.encode())
    lengths = [len(tokenizer.encode_with_dropout(book, part, seed=1)) for part in (0, 0.1, 0.3, 0.6, 1)]
    assert lengths == sorted(lengths)


def test_special_tokens_are_not_dropped(tokenizer):
    text = "the sea<|end|> the sea"
    ids = tokenizer.encode_with_dropout(text, 1, seed=1, allowed_special="all")
    assert ids == [*b"the sea", 600, *b" the sea"]
    assert tokenizer.encode_with_dropout(text, 1, seed=1, disallowed_special=()) == list(text.encode())
    with pytest.raises(ValueError, match="holds the special token"):
        tokenizer.encode_with_dropout(text, 0.1, seed=1)
    for wrong in (-0.1, 1.1, float("nan")):
        with pytest.raises(ValueError, match="dropout must be a probability"):
            tokenizer.encode_with_dropout("a", wrong, seed=1)
    for wrong in ("0.1", None):
        with pytest.raises(TypeError, match="dropout must be a number"):
            tokenizer.encode_with_dropout("a", wrong, seed=1)
    with pytest.raises(TypeError):
        tokenizer.encode_with_dropout("a", 0.1, seed=0.5)
    assert tokenizer.encode_with_dropout("", 0.1, seed=1) == []


def test_a_long_piece_takes_no_quadratic_time(tokenizer):
    text = "the" * 30_000
    assert tokenizer.decode(tokenizer.encode_with_dropout(text, 0.1, seed=1)) == text
