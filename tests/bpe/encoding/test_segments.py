"""Ids of joined texts, and which text each is of."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe
from bpe.reference import ids as twin
from tests.bpe.ids.cases import datas, parts_of, texts, tokenizers

ALLOWED = {"allowed_special": "all"}
labels = st.sampled_from([0, 1, 2])


@settings(max_examples=60)
@given(tokenizers, st.lists(st.tuples(texts, labels), max_size=6))
def test_as_the_slow_twin(tok, segments):
    ids, first, last = tok.encode_segments(segments, **ALLOWED)
    given_bytes = [(text.encode(), label) for text, label in segments]
    assert ids.tolist() == tok.encode("".join(text for text, _ in segments), **ALLOWED)
    assert (first.tolist(), last.tolist()) == twin.labels_of(parts_of(tok), ids.tolist(), given_bytes)
    for some, others in zip(tok.encode_segments(given_bytes, **ALLOWED), (ids, first, last), strict=True):
        assert np.array_equal(some, others)


@settings(max_examples=40)
@given(
    tokenizers, st.lists(st.tuples(datas.filter(lambda data: isinstance(data, bytes)), labels), max_size=6)
)
def test_any_bytes(tok, segments):
    ids, *found = tok.encode_segments(segments, **ALLOWED)
    expected = twin.labels_of(parts_of(tok), ids.tolist(), segments)
    assert tuple(row.tolist() for row in found) == expected


def test_halves_of_a_character(tokenizer):
    ids, first, last = tokenizer.encode_segments([("a\ud83d", "one"), ("\ude00b", "two")])
    assert ids.tolist() == tokenizer.encode("a😀b")
    assert (first[0], last[0], first[-1], last[-1]) == ("one", "one", "two", "two")


@pytest.mark.parametrize(
    ("labels", "dtype"),
    [
        ((True, False), bool),
        ((1, 2), np.int64),
        (("a", "b"), "<U1"),
        ((1, "a"), object),
        (("a\0", "b"), object),
        ((2**63, -1), object),
        ((0.5, float("inf")), float),
        (((1, 2), None), object),
    ],
)
def test_types_of_labels(tokenizer, labels, dtype):
    _, first, last = tokenizer.encode_segments(
        [("x", labels[0]), ("", 3 if dtype is object else labels[0]), ("!", labels[1])]
    )
    assert first.dtype == last.dtype == dtype
    assert first.tolist() == last.tolist() == list(labels)


def test_what_is_put_around(tmp_path):
    tok = bpe.train(["low"], 258, special_tokens=["<s>", "</s>"], progress=False)
    tok.save_huggingface(tmp_path / "tokenizer.json")
    document = json.loads((tmp_path / "tokenizer.json").read_text())
    ids = {
        name: {"id": name, "ids": [tok.special_tokens[name]], "tokens": [name]} for name in ("<s>", "</s>")
    }
    document["post_processor"] = {
        "type": "TemplateProcessing",
        "single": [
            {"SpecialToken": {"id": "<s>", "type_id": 0}},
            {"Sequence": {"id": "A", "type_id": 0}},
            {"SpecialToken": {"id": "</s>", "type_id": 0}},
        ],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": ids,
    }
    (tmp_path / "tokenizer.json").write_text(json.dumps(document))
    tok = bpe.Tokenizer.from_huggingface(tmp_path / "tokenizer.json")
    _, first, last = tok.encode_segments([("", 0), ("a", 1), ("b", 2), ("", 3)], add_special_tokens=True)
    assert first.tolist() == last.tolist() == [1, 1, 2, 2]
    assert tok.encode_segments([("", 5)], add_special_tokens=True)[1].tolist() == [5, 5]
    with pytest.raises(ValueError, match="segments is empty"):
        tok.encode_segments([], add_special_tokens=True)


def test_errors(tokenizer):
    assert [len(row) for row in tokenizer.encode_segments([])] == [0, 0, 0]
    with pytest.raises(TypeError, match=r"segments\[1\] must be a pair of a text and its label, not 'text'"):
        tokenizer.encode_segments([("a", 1), "text"])
    with pytest.raises(TypeError, match=r"the text of segments\[1\] must be str as the first one, not bytes"):
        tokenizer.encode_segments([("a", 1), (b"b", 2)])
    with pytest.raises(TypeError, match=r"the text of segments\[0\] must be str or bytes, not int"):
        tokenizer.encode_segments([(1, "a")])
    with pytest.raises(ValueError, match="holds the special token"):
        tokenizer.encode_segments([("<|en", 1), ("d|>", 2)])
