"""Two tokenizers over one text: as comparing the ends of all tokens."""

import json
import random
from itertools import pairwise
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import bpe
import bpe.ids
from bpe.ids import pairing
from bpe.reference import ids as twin
from tests.bpe.ids.cases import datas, texts, tokenizers
from tests.bpe.pipeline.test_engine import random_document


def same(found, expected):
    assert tuple(row.tolist() for row in found) == tuple(expected)
    assert all(row.dtype == np.int64 for row in found)


@settings(max_examples=100)
@given(tokenizers, tokenizers, st.lists(datas, max_size=3), st.randoms(use_true_random=False))
def test_align(a, b, parts, chance):
    rows = []
    for tok in (a, b):
        ids = []
        for part in parts:
            ids += [900 + chance.randrange(4) for _ in range(chance.randrange(3))]
            ids += (
                tok.encode_ordinary(part)
                if chance.random() < 0.7
                else part.encode()
                if isinstance(part, str)
                else part
            )
        rows.append((tok, [*ids, *[901] * chance.randrange(2)]))
    special = {*a.special_tokens.values()}
    tokens = [[b"" if number in special else tok.token_bytes(number) for number in ids] for tok, ids in rows]
    for kind, is_plain in ((list, True), (np.array, False)):
        arguments = [argument for tok, ids in rows for argument in (tok, kind(ids) if ids else ids)]
        with patch.object(pairing, "is_plain_allowed", lambda is_plain=is_plain: is_plain):
            same(bpe.ids.align(*arguments), twin.align_tokens(*tokens))


def test_many_ids_take_the_kernel(monkeypatch, tokenizer):
    ids = tokenizer.encode_ordinary("ab " * 3000)
    bpe.ids.align(tokenizer, ids, tokenizer, ids)  # compiles
    monkeypatch.setattr(pairing, "_find_common_ends", None)
    monkeypatch.setattr(pairing, "is_plain_allowed", lambda: True)
    for row in bpe.ids.align(tokenizer, ids, tokenizer, ids)[:2]:
        assert row.tolist() == [*range(len(ids) + 1)]
    with pytest.raises(TypeError):
        bpe.ids.align(tokenizer, ids[:9], tokenizer, ids[:9])


@settings(max_examples=60)
@given(tokenizers, tokenizers, texts | datas)
def test_align_text(a, b, text):
    found = bpe.ids.align_text(a, b, text, disallowed_special=())
    tokens = [[*map(tok.token_bytes, tok.encode_ordinary(text))] for tok in (a, b)]
    same(found, twin.align_tokens(*tokens))


@pytest.mark.parametrize("seed", range(20))
def test_align_text_that_tokenizers_change(seed, tmp_path, tokenizer):
    (tmp_path / "tokenizer.json").write_text(json.dumps(random_document(random.Random(seed))))
    other = bpe.Tokenizer.from_huggingface(tmp_path / "tokenizer.json")
    for text in ("ab ab\nx 12 ba", "a.b", "  aA "):
        try:
            _, starts, ends = other.encode_with_offsets(text)
        except ValueError:  # a character has no token
            continue
        a_cuts, b_cuts, places = bpe.ids.align_text(tokenizer, other, text)
        assert places[0] == a_cuts[0] == b_cuts[0] == 0
        assert (places[-1], a_cuts[-1], b_cuts[-1]) == (len(text), len(tokenizer.encode(text)), len(ends))
        for place, first in zip(places[1:-1], b_cuts[1:-1], strict=True):
            assert (ends[:first] <= place).all()
            assert (starts[first:] >= place).all()
        a_ids, b_ids = tokenizer.encode(text), other.encode(text)
        if other.decode(b_ids) == text:
            cuts = bpe.ids.align(tokenizer, a_ids, other, b_ids)
            assert [
                other.decode(b_ids[:end]) == text[:place]
                for end, place in zip(cuts[1][1:], cuts[2][1:], strict=True)
            ]


def test_errors(tokenizer):
    with pytest.raises(ValueError, match="different texts, from byte 2 on: b'abc' and b'abd'"):
        bpe.ids.align(tokenizer, [97, 98, 99], tokenizer, [97, 98, 100])
    with pytest.raises(ValueError, match=r"ids\[1\]: 99999 is out of range"):
        bpe.ids.align(tokenizer, [600, 99_999], tokenizer, [97])
    same(bpe.ids.align(tokenizer, [], tokenizer, [600]), ([0, 0], [0, 1], [0, 0]))


@settings(max_examples=60)
@given(tokenizers, tokenizers)
def test_shared_tokens_and_maps(a, b):
    vocabulary, others = a.engine.vocabulary, b.engine.vocabulary
    special = {*a.special_tokens.values(), *a.added_tokens.values()}
    expected = []
    for number, token in sorted(vocabulary.bytes_of.items()):
        for other, same_token in others.bytes_of.items():
            kinds = [
                (n in w.special_tokens.values(), n in w.added_tokens.values())
                for n, w in ((number, vocabulary), (other, others))
            ]
            if token == same_token and kinds[0] == kinds[1]:
                expected.append([number, other])
    assert bpe.ids.shared_tokens(a, b).tolist() == expected
    offsets, ids = bpe.ids.map_to(a, b)
    assert (len(offsets), ids.dtype, offsets.dtype) == (a.vocab_size + 1, np.uint32, np.int64)
    shared = dict(expected)
    for number in range(a.vocab_size):
        row = ids[offsets[number] : offsets[number + 1]].tolist()
        if number in shared:
            assert row == [shared[number]]
        elif number in vocabulary.bytes_of and number not in {*a.special_tokens.values()}:
            assert row == b.encode_ordinary(vocabulary.bytes_of[number])
        else:
            assert row == []
    assume(special)


@settings(max_examples=100)
@given(tokenizers, texts | datas, st.integers(1, 6), st.integers(0, 5))
def test_chunks(tok, text, max_tokens, overlap):
    options = {"allowed_special": "all"}
    assume(overlap < max_tokens)
    found, most = (
        [],
        max((len(tok.encode(character)) for character in text if isinstance(text, str)), default=1),
    )
    try:
        found = bpe.ids.chunks(tok, text, max_tokens, overlap, **options)
    except ValueError as error:
        assert "has at most max_tokens" in str(error)  # noqa: PT017
        assert isinstance(text, bytes) or max_tokens < max(most, 4)
        return
    end = 0
    for start, stop, ids in found:
        assert start <= end < stop
        assert ids.tolist() == tok.encode(text[start:stop], **options)
        assert len(ids) <= max_tokens
        assert text[start:stop] == tok.truncate(text[start:], max_tokens, **options)
        end = stop
    assert end == len(text)
    for one, other in pairwise(found):
        shared = one.end - other.start
        lengths = [
            stop - start
            for start, stop in zip(
                *tok.encode_with_offsets(text[one.start : one.end], **options)[1:], strict=True
            )
        ]
        assert shared == 0 or shared <= sum(lengths[max(len(lengths) - overlap, 0) :])
        assert overlap or shared == 0


def test_chunks_of_a_book(tokenizer, book):
    found = bpe.ids.chunks(tokenizer, book, 500, 50)
    assert {len(ids) for *_, ids in found[:-1]} <= {498, 499, 500}
    for one, other in pairwise(found):
        assert 45 <= len(tokenizer.encode(book[other.start : one.end])) <= 55
    with pytest.raises(ValueError, match="overlap must be from 0 to max_tokens - 1"):
        bpe.ids.chunks(tokenizer, book, 5, 5)
    with pytest.raises(ValueError, match="holds the special token"):
        bpe.ids.chunks(tokenizer, "a <|end|>", 5)
    with pytest.raises(ValueError, match="part of the text that begins at 2 has at most max_tokens=2 tokens"):
        bpe.ids.chunks(tokenizer, "ab漢", 2)


def test_chunks_with_ids_around_them(tmp_path):
    """What is put around a chunk counts as its tokens, but not as an overlap."""
    plain = bpe.train(["low lower"], 258, special_tokens=["<s>"], progress=False)
    plain.save_huggingface(tmp_path / "tokenizer.json")
    document = json.loads((tmp_path / "tokenizer.json").read_text())
    token = {"SpecialToken": {"id": "<s>", "type_id": 0}}
    document["post_processor"] = {
        "type": "TemplateProcessing",
        "single": [token, {"Sequence": {"id": "A", "type_id": 0}}, token],
        "pair": [],
        "special_tokens": {"<s>": {"id": "<s>", "ids": [plain.special_tokens["<s>"]], "tokens": ["<s>"]}},
    }
    (tmp_path / "tokenizer.json").write_text(json.dumps(document))
    tok = bpe.Tokenizer.load(tmp_path / "tokenizer.json")
    around, text = {"add_special_tokens": True}, "abcdefgh"
    assert tok.truncate(text, 2, **around) == ""
    with pytest.raises(ValueError, match="max_tokens must be at least 2, as so many are put around a text"):
        tok.truncate(text, 1, **around)
    found = bpe.ids.chunks(tok, text, 5, 1, **around)
    assert [(start, end) for start, end, _ in found] == [(0, 3), (2, 5), (4, 7), (6, 8)]
    assert [ids.tolist() for *_, ids in found] == [tok.encode(text[a:b], **around) for a, b, _ in found]
    with pytest.raises(ValueError, match="at most max_tokens=2 tokens, with the 2 put around it"):
        bpe.ids.chunks(tok, text, 2, **around)


def test_chunks_of_words_with_a_mark_at_their_end(tmp_path):
    """No beginning of a long word has its first ids, but each part has some of its own."""
    model = {"type": "BPE", "vocab": {"a": 0, "a</w>": 1}, "merges": [], "end_of_word_suffix": "</w>"}
    document = {"version": "1.0", "added_tokens": [], "model": model}
    document["pre_tokenizer"] = {"type": "WhitespaceSplit"}
    (tmp_path / "tokenizer.json").write_text(json.dumps(document))
    tok = bpe.Tokenizer.load(tmp_path / "tokenizer.json")
    assert tok.truncate("aaaaa", 4) == ""
    found = bpe.ids.chunks(tok, "aaaaa aaa", 4)
    assert [(start, end, ids.tolist()) for start, end, ids in found] == [
        (0, 4, [0, 0, 0, 1]),
        (4, 9, [1, 0, 0, 1]),
    ]


def test_ends_of_parts_that_no_token_stands_for(tmp_path):
    """A part may end after "b", but not after "a": there is no "a</w>"."""
    model = {"type": "BPE", "vocab": {"a": 0, "b": 1, "b</w>": 2, "ab</w>": 3}, "merges": [["a", "b</w>"]]}
    document = {"version": "1.0", "added_tokens": [], "model": model | {"end_of_word_suffix": "</w>"}}
    document["pre_tokenizer"] = {"type": "WhitespaceSplit"}
    (tmp_path / "tokenizer.json").write_text(json.dumps(document))
    tok = bpe.Tokenizer.load(tmp_path / "tokenizer.json")
    assert tok.encode("aab") == [0, 3]
    assert [tok.truncate("aab", n) for n in (1, 2)] == ["", "aab"]
    assert tok.truncate("ab aab", 2) == "ab"
    assert [(start, end) for start, end, _ in bpe.ids.chunks(tok, "aab ab", 2)] == [(0, 3), (3, 6)]
    with pytest.raises(ValueError, match="no part of the text that begins at 0 has at most max_tokens=1"):
        bpe.ids.chunks(tok, "aab", 1)


ACROSS = {  # merges by which no token ends between the first two characters of the whole text
    "😀a": [b"\x80 a", b"\x98 \x80", b"\x9f \x98", b"\xf0 \x9f"],
    "é日é": [
        *(b"\xa9 \xe6", b"\xa5 \xc3", b"\xc3 \xa9\xe6", b"\x97 \xa5\xc3", b"\xc3\xa9\xe6 \x97\xa5\xc3"),
        *(b"\xc3 \xa9", b"\x97 \xa5", b"\xe6 \x97\xa5"),
    ],
}


@pytest.mark.parametrize("text", ACROSS)
@pytest.mark.parametrize("as_bytes", [False, True])
def test_a_chunk_of_one_character(text, as_bytes):
    merges = [tuple(merge.split(b" ")) for merge in ACROSS[text]]
    tokens = [*(bytes([value]) for value in range(256)), *map(b"".join, merges)]
    tok = bpe.Tokenizer(token_bytes=tokens, merges=merges, pattern="none")
    most = max(map(tok.count, text))
    whole = text.encode() if as_bytes else text
    cut = [whole[start:end] for start, end, _ in bpe.ids.chunks(tok, whole, most)]
    assert cut[0] == (text[0].encode() if as_bytes else text[0])
    assert all(tok.count(part) <= most for part in cut)
    assert whole[:0].join(cut) == whole


@given(st.text("aé日😀", min_size=1, max_size=12), st.data(), st.integers(1, 5), st.booleans())
def test_chunks_with_tokens_across_characters(text, data, max_tokens, as_bytes):
    """There are chunks whenever each character has at most `max_tokens`."""
    given_text = text.encode() if as_bytes else text
    neighbors = sorted({*pairwise(text.encode())})
    merges = data.draw(st.lists(st.sampled_from(neighbors), unique=True, max_size=8)) if neighbors else []
    tok = bpe.Tokenizer(
        token_bytes=[*(bytes([value]) for value in range(256)), *map(bytes, merges)],
        merges=merges,
        pattern="none",
    )
    if max(map(tok.count, text)) > max_tokens:
        with pytest.raises(ValueError, match="no part of the text"):
            bpe.ids.chunks(tok, given_text, max_tokens)
        return
    found = bpe.ids.chunks(tok, given_text, max_tokens)
    assert b"".join(tok.decode_bytes(ids) for _, _, ids in found) == text.encode()
    for start, end, ids in found:
        assert ids.tolist() == tok.encode(given_text[start:end])
        assert len(ids) <= max_tokens
