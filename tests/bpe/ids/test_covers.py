"""The covers of a prefix: as the slow twin, which encodes all short texts."""

import codecs
import os
import random
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe
import bpe.ids
from bpe.reference import ids as twin
from bpe.tokenizer import Tokenizer
from tests.bpe.ids.cases import PATTERNS, parts_of, random_text, real_tokenizer, texts, tokenizers
from tests.bpe.ids.test_next_tokens import COMPILED, LETTERS, vocabulary_of, with_steps

MORE = 4  # characters after a prefix


def check_form(found):
    """All that is said of the same covers agrees."""
    rows = [*found]
    assert len(rows) == len(found) == len({*map(tuple, rows)})
    in_paths = [[*before, last] for before, lasts in found.paths for last in lasts.tolist()]
    assert rows in (in_paths, [[]])
    assert len({tuple(before) for before, _ in found.paths}) == len(found.paths)
    assert all(
        lasts.dtype == np.uint32 and (np.diff(lasts.astype(int)) > 0).all() for _, lasts in found.paths
    )
    n = len(found.stable)
    assert all(row[:n] == found.stable for row in rows)
    assert len(rows) < 2 or len({*(tuple(row[: n + 1]) for row in rows)}) > 1
    return {*map(tuple, rows)}


# ------------------------------------------------------------------------------------------------- the twin
@settings(max_examples=60)
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
@settings(max_examples=30)
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
    fitting = [
        len(before) + 1
        for before, lasts in found.paths
        if ids[: len(before)] == before and len(ids) > len(before) and ids[len(before)] in lasts
    ]
    assert len(fitting) == 1 or not prefix, prefix
    n = fitting[0] if prefix else 0
    assert len(tok.decode_bytes(ids[:n])) >= len(prefix)
    assert n == 0 or len(tok.decode_bytes(ids[: n - 1])) < len(prefix)
    assert ids[: len(found.stable)] == found.stable


# ------------------------------------------------------------------------------------------------ real ones
def check_real(tok, book):
    chance, n_ascii = random.Random(1), 0
    for n in range(200):
        start = chance.randrange(len(book) - 600)
        whole = (book[start : start + 600] if n % 2 else random_text(chance)).encode()
        prefix = whole[: chance.randrange(len(whole) + 1)]
        found = bpe.ids.covers(tok, prefix)
        assert_one(tok, found, prefix, tok.encode_ordinary(whole))
        assert found.is_exact
        n_ascii += prefix.isascii()
    assert 0 < n_ascii < 200


@pytest.mark.skipif("VOCABS" not in os.environ, reason="VOCABS names no folder of real vocabularies")
@pytest.mark.parametrize(
    ("file", "pattern"), [("gpt2", "gpt2"), ("cl100k_base", "cl100k"), ("o200k_base", "o200k")]
)
def test_real_vocabularies(file, pattern, book):
    check_real(real_tokenizer(file, pattern), book)


@pytest.mark.parametrize("pattern", ["llama3", "qwen2", "deepseek"])
def test_trained_vocabularies(pattern, book):
    check_real(bpe.train([book], 1_500, pattern=pattern, progress=False), book)


# --------------------------------------------------------------------------------------------- what is said
def test_what_is_not_a_text():
    tok = bpe.train(["low lower"], vocab_size=258, progress=False)
    for prefix in (b"\xff", b"\xc3a", b"low low \xed\xa0\x80", b"\xe0\x80"):
        found = bpe.ids.covers(tok, prefix)
        assert ([*found], found.stable, found.paths) == ([], [], [])
        assert not found
    assert bpe.ids.covers(tok, b"low \xed\x9f").stable == [257, 32, 0xED, 0x9F]
    found = bpe.ids.covers(tok, "")
    assert ([*found], found.stable, found.paths, len(found)) == ([[]], [], [], 1)
    assert repr(bpe.ids.covers(tok, "low lo")) == "<Covers: 2, 2 ids are stable>"
    with pytest.raises(TypeError, match="prefix must be str or bytes, not int"):
        bpe.ids.covers(tok, 3)


def test_pieces_that_have_ended():
    """Where nothing that follows can change an id, there is one cover, of known ids."""
    tok = bpe.train(["ab ab"], vocab_size=257, pattern=r"\w", progress=False)
    found = bpe.ids.covers(tok, "ab")
    assert (found.paths[0][0], found.paths[0][1].tolist(), found.stable) == ([97], [98], [97, 98])


def test_added_tokens():
    """Those that are complete are found; one that reaches the end is a cover."""
    tok = bpe.train(["low lower"], vocab_size=259, special_tokens=["<|end|>"], progress=False)
    assert [*bpe.ids.covers(tok, "low<|e", specials=True)][-1] == [257, 258]
    vocabulary = tok.with_special_tokens({"  ": 300, "   ": 301}).engine.vocabulary
    tok = Tokenizer._of(vocabulary.replace(added_tokens=["  ", "   "]), tok.pattern)
    found = {*map(tuple, bpe.ids.covers(tok, " " * 40))}
    assert found == {(*[301] * 13, last) for last in (32, 300, 301)}


def test_normal_forms(tmp_path):
    tok = with_steps(tmp_path, {"type": "NFC"})
    for prefix in ("e\u0301t", "été"):
        found = bpe.ids.covers(tok, prefix)
        assert not found.is_exact
        assert_one(tok, found, unicodedata.normalize("NFC", prefix).encode(), tok.encode(prefix + "é a"))
    with pytest.raises(ValueError, match="a normalizer or a pre-tokenizer"):
        bpe.ids.covers(with_steps(tmp_path, {"type": "Lowercase"}), "a")
