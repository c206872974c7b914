"""The covers of a prefix: as the slow twin, which encodes all short texts."""

import codecs
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe
import bpe.ids
from bpe.reference import ids as twin
from bpe.tokenizer import Tokenizer
from tests.bpe.ids.cases import PATTERNS, parts_of, texts, tokenizers
from tests.bpe.ids.test_next_tokens import COMPILED, LETTERS, vocabulary_of

MORE = 4  # characters after a prefix


def check_form(found):
    """All that is said of the same covers agrees."""
    rows = [*found]
    assert len(rows) == len(found) == len({*map(tuple, rows)})
    in_paths = [[*before, last] for before, lasts in found.paths for last in lasts.tolist()]
    assert rows in (in_paths, [[]])
    assert len({tuple(before) for before, _ in found.paths}) == len(found.paths)
    assert all(lasts.dtype == np.uint32 and (np.diff(lasts.astype(int)) > 0).all() for _, lasts in found.paths)
    n = len(found.stable)
    assert all(row[:n] == found.stable for row in rows)
    assert len(rows) < 2 or len({*(tuple(row[: n + 1]) for row in rows)}) > 1
    return {*map(tuple, rows)}


# ------------------------------------------------------------------------------------------------- the twin
@settings(max_examples=120)
@given(st.randoms(use_true_random=False), st.sampled_from(COMPILED), st.booleans())
def test_as_the_slow_twin(chance, name, in_order):
    letters = LETTERS[name]
    tok = Tokenizer._of(vocabulary_of(chance, letters, in_order), bpe.Pattern.of(PATTERNS[name]))
    parts = parts_of(tok)
    ends = twin.texts_over(letters, MORE)
    for _ in range(4):
        start = "".join(chance.choices(letters, k=chance.choice([0, 1, 2, 3, 6]))).encode()
        for prefix in {start, start[:-1]}:
            _, n = codecs.utf_8_decode(prefix, "strict", False)
            all_texts = [prefix[:n] + end for end in ends if end.startswith(prefix[n:])]
            found = bpe.ids.covers(tok, prefix, specials=True)
            wanted = twin.covers(parts, prefix, all_texts, specials=True)
            assert check_form(found) == wanted, prefix
            found = bpe.ids.covers(tok, prefix)
            wanted = twin.covers(parts, prefix, all_texts)
            assert check_form(found) == wanted, prefix
            assert found.is_exact
            check_mask(tok, found)


def check_mask(tok, found):
    """A walk along the mask leads to each cover, and only there."""
    rows, pending = set(), [found.stable]
    while pending:
        ids = pending.pop()
        following = np.flatnonzero(found.mask(ids)).tolist()
        pending += [[*ids, token_id] for token_id in following]
        rows |= set() if following else {tuple(ids)}
    assert rows == {*map(tuple, found)} or not len(found)
    if len(found):
        row = [*found][-1]
        assert not found.mask([*row, row[0] if row else 0]).any()
        out = np.ones(tok.vocab_size, bool)
        assert found.mask(row, out) is out
        assert not out.any()


# -------------------------------------------------------------------------------------------- longer texts
@settings(max_examples=60)
@given(tokenizers, texts, st.data())
def test_one_cover_begins_the_ids(tok, text, data):
    """Added tokens, all bytes, a prefix cut anywhere."""
    whole = text.encode()
    prefix = whole[: data.draw(st.integers(0, len(whole)))]
    if not tok.pattern.compiled:
        with pytest.raises(ValueError, match="which ids may follow is not known"):
            bpe.ids.covers(tok, prefix)
        return
    found = bpe.ids.covers(tok, prefix)
    assert_one(tok, found, prefix, tok.encode_ordinary(whole))
    check_form(found)
    assert found.is_exact == (not tok.added_tokens)


def assert_one(tok, found, prefix, ids):
    """Exactly one cover begins the ids of a text that begins with a prefix: the one that reaches its end."""
    rows = {*map(tuple, found)}
    fitting = [n for n in range(len(ids) + 1) if tuple(ids[:n]) in rows]
    assert len(fitting) == 1, prefix
    n = fitting[0]
    assert len(tok.decode_bytes(ids[:n])) >= len(prefix)
    assert n == 0 or len(tok.decode_bytes(ids[: n - 1])) < len(prefix)
    assert ids[: len(found.stable)] == found.stable
