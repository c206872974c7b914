"""Whether a text gives ids: as the slow twin, which decodes and encodes stretch by stretch."""

import json
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe
import bpe.ids
from bpe.reference import ids as twin
from bpe.vocabulary.byte_level import text_of
from tests.bpe.ids.cases import allowed_by, datas, parts_of, texts, tokenizers
from tests.bpe.pipeline.test_engine import (
    BYTE_LEVEL,
    BYTE_TOKENS,
    LLAMA_DECODER,
    random_document,
    random_texts,
)


@st.composite
def some_ids(draw):
    tok = draw(tokenizers)
    known = sorted(tok.engine.vocabulary.bytes_of)
    ids = []
    for _ in range(draw(st.integers(0, 4))):
        how = draw(st.sampled_from(["text", "special", "any"]))
        if how == "text":
            ids += tok.encode_ordinary(draw(datas))
        elif how == "special":
            ids += draw(st.lists(st.sampled_from([900, 901, 902]), max_size=2))
        else:
            ids += draw(st.lists(st.sampled_from([*known[97:125], *known[256:]]), max_size=5))
    return tok, ids


def first_difference(ids, others):
    n = min(len(ids), len(others))
    places = [place for place in range(n) if ids[place] != others[place]]
    return next(iter(places), None if len(ids) == len(others) else n)


@settings(max_examples=150)
@given(some_ids())
def test_as_the_slow_twin(case):
    tok, ids = case
    expected = twin.canonical_ids(parts_of(tok), ids)
    for some in (ids, np.array(ids, np.int64)):
        assert bpe.ids.canonical_ids(tok, some) == expected
        assert bpe.ids.first_noncanonical(tok, some) == first_difference(ids, expected)
        assert tok.is_canonical(some) == (ids == expected)
    allowed, _ = allowed_by(tok, {"allowed_special": "all"})
    whole = twin.encode(parts_of(tok), tok.decode_bytes(ids), allowed)
    assert bpe.ids.first_noncanonical(tok, ids, allowed_special="all") == first_difference(ids, whole)


@settings(max_examples=40)
@given(tokenizers, st.lists(texts, max_size=5), st.sampled_from([1, 2]))
def test_what_was_encoded_is_canonical(tok, some, threads):
    batch = [tok.encode(text, allowed_special="all") for text in some]
    assert all(map(tok.is_canonical, batch))
    assert bpe.ids.first_noncanonical_batch(tok, batch, threads).tolist() == [-1] * len(batch)
    drifted = [[*ids, 97, 98, 120] for ids in batch]
    found = bpe.ids.first_noncanonical_batch(tok, drifted, threads).tolist()
    assert found == [
        -1 if place is None else place for place in (bpe.ids.first_noncanonical(tok, ids) for ids in drifted)
    ]


def test_errors(tokenizer):
    for function in (bpe.ids.first_noncanonical, bpe.ids.canonical_ids, bpe.Tokenizer.is_canonical):
        assert function(tokenizer, []) in (None, [], True)
        for wrong in (99_999, -1):
            with pytest.raises(ValueError, match=r"ids\[1\]: .* is out of range"):
                function(tokenizer, [97, wrong])
        with pytest.raises(TypeError, match=r"ids\[1\] must be an integer, not float"):
            function(tokenizer, [97, 98.0])


@pytest.mark.parametrize("kind", [list, tuple, iter, bytes, bytearray])
def test_ids_of_any_kind_are_read_once(tokenizer, kind):
    ids = [*b"the sea "]
    assert bpe.ids.canonical_ids(tokenizer, kind(ids)) == tokenizer.encode("the sea ")
    if kind in (list, tuple, iter):
        for function in (bpe.ids.first_noncanonical, bpe.ids.canonical_ids):
            with pytest.raises(ValueError, match=r"ids\[1\]: -1 is out of range"):
                function(tokenizer, kind([97, -1, 98]))


def test_bytes_without_a_token():
    tokens = {1: b"a", 2: b"b", 3: b"zq", 4: b"<s>"}
    tok = bpe.Tokenizer(token_bytes=tokens, merges=[], pattern="none", special_tokens={"<s>": 4})
    assert bpe.ids.first_noncanonical(tok, [1, 2, 4, 1, 3]) == 3
    assert not tok.is_canonical([3])
    assert not tok.is_canonical([3], allowed_special="all")
    with pytest.raises(ValueError, match="no token of the vocabulary stands for"):
        bpe.ids.canonical_ids(tok, [3])


# --------------------------------------------------------------------------------- steps of a tokenizer.json
def loaded(document, tmp_path):
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(document))
    return bpe.Tokenizer.from_huggingface(path)


def test_a_part_of_a_character_is_no_drift(tmp_path):
    merges = [[text_of(b"\xe9"), text_of(b"\xb1")], [text_of(b" "), text_of(b"\xe9\xb1")]]
    vocab = {text_of(bytes([value])): value for value in range(256)}
    vocab |= {text_of(b"\xe9\xb1"): 256, text_of(b" \xe9\xb1"): 257}
    document = random_document(random.Random(2)) | {
        "normalizer": {"type": "NFC"},
        "pre_tokenizer": BYTE_LEVEL,
        "decoder": BYTE_LEVEL,
        "added_tokens": [],
        "model": {"type": "BPE", "vocab": vocab, "merges": merges},
    }
    tok = loaded(document, tmp_path)
    assert not tok.is_lossless
    for text in ("鱻", "a 鱻", "e\u0301 鱻"):
        ids = tok.encode(text)
        for n in range(len(ids) + 1):
            assert tok.is_canonical(ids[:n])
    assert bpe.ids.first_noncanonical(tok, [97, 0xE9, 0xB1]) == 1
    assert bpe.ids.first_noncanonical(tok, [*"e\u0301 ".encode(), 0xE9]) == 0


def test_a_part_of_a_character_in_byte_tokens(tmp_path):
    document = random_document(random.Random(1))
    tokens = ["<s>", "<x>", *BYTE_TOKENS, "▁", "a"]
    model = {"type": "BPE", "vocab": {t: i for i, t in enumerate(tokens)}, "merges": [], "unk_token": "<x>"}
    document |= {
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Prepend", "prepend": "▁"},
                {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
            ],
        },
        "pre_tokenizer": None,
        "decoder": LLAMA_DECODER,
        "added_tokens": [
            {
                "id": 0,
                "content": "<s>",
                "special": True,
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": False,
            }
        ],
        "model": model | {"byte_fallback": True},
    }
    tok = loaded(document, tmp_path)
    ids = tok.encode("<s>a 鱻", allowed_special="all")
    assert [n for n in range(len(ids) + 1) if not tok.is_canonical(ids[:n])] == [2]  # no text gives "▁" alone
    assert bpe.ids.first_noncanonical(tok, [258, 259, 2 + 0x61]) == 2


@pytest.mark.parametrize("seed", range(30))
def test_what_tokenizers_with_steps_encode(seed, tmp_path):
    chance = random.Random(seed)
    tok = loaded(random_document(chance), tmp_path)
    for text in random_texts(chance):
        try:
            ids = tok.encode(text, disallowed_special=())
            again = tok.encode(tok.decode(ids), disallowed_special=())
        except ValueError:  # a character has no token
            continue
        if not {*tok.special_tokens.values()}.intersection(ids):
            assert tok.is_canonical(ids) or again != ids
