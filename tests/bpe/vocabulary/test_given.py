"""Tokenizers made of tokens and merges as bytes, and back; special tokens with ids and without."""

import json
import os
import pickle
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe
from bpe import reference
from bpe.tokenizer import Tokenizer
from tests.optional import required

BYTES = [bytes([value]) for value in range(256)]
TOKENS = [*BYTES, b"ab", b"abc"]
MERGES = [(b"a", b"b"), (b"ab", b"c")]
texts = st.lists(st.sampled_from([*"abc <|>", "é", "<|end|>", "<a>", "abc", "ab"]), max_size=20).map("".join)


def made(token_bytes, special_tokens=(), merges=MERGES, **options):
    return Tokenizer(
        token_bytes=token_bytes, merges=merges, pattern="gpt2", special_tokens=special_tokens, **options
    )


def made_of_parts(tok, special_tokens):
    return Tokenizer(
        token_bytes=tok.vocab, merges=tok.merges_bytes, pattern=tok.pattern, special_tokens=special_tokens
    )


# ------------------------------------------------------------------------------------ there and back
def test_merges_of_bytes_are_merges_of_ids():
    of_ids = made(TOKENS, merges=[(97, 98), (256, 99)])
    assert made(TOKENS) == of_ids
    assert made(TOKENS, merges=[(97, 98), (b"ab", b"c")]) == of_ids
    assert of_ids.merges_bytes == made(dict(enumerate(TOKENS)), merges=iter(MERGES)).merges_bytes == MERGES
    assert of_ids.merges == [(97, 98), (256, 99)]


def test_there_and_back(tokenizer):
    assert list(tokenizer.vocab) == sorted(tokenizer.vocab)
    assert tokenizer.vocab[600] == b"<|end|>"
    assert all(tokenizer.token_bytes(number) == token for number, token in tokenizer.vocab.items())
    assert len(tokenizer.merges_bytes) == len(tokenizer.merges)
    for special_tokens in (tokenizer.special_tokens, [*tokenizer.special_tokens]):
        again = made_of_parts(tokenizer, special_tokens)
        assert again == tokenizer
        assert again.vocab == tokenizer.vocab
        assert again.engine.vocabulary.id_of == tokenizer.engine.vocabulary.id_of
    tokenizer.vocab.clear()
    tokenizer.merges_bytes.clear()
    assert tokenizer.vocab
    assert tokenizer.merges_bytes


@given(text=texts)
def test_special_tokens_first_as_courses_number_them(text):
    """The ids are those of the plain algorithm over {id: bytes} and pairs of bytes."""
    vocab = dict(enumerate([b"<|end|>", *TOKENS]))
    tok = made(vocab, ["<|end|>"], allowed_special="all")
    id_of = {token: number for number, token in vocab.items()}
    ranks = {pair: rank for rank, pair in enumerate(MERGES)}
    expected = []
    for i, part in enumerate(text.split("<|end|>")):
        expected += [0] * (i > 0)
        for piece in tok.pattern.split_bytes(part.encode()):
            word = [bytes([value]) for value in piece]
            while pairs := [pair for pair in pairwise(word) if pair in ranks]:
                best = min(pairs, key=ranks.__getitem__)
                place = next(k for k in range(len(word)) if tuple(word[k : k + 2]) == best)
                word[place : place + 2] = [best[0] + best[1]]
            expected += map(id_of.__getitem__, word)
    assert tok.encode(text) == list(tok.encode_iterable(text.splitlines(keepends=True))) == expected
    assert tok.decode(expected) == text


def test_a_trained_tokenizer_there_and_back(book):
    tok = bpe.train([book[:20_000]], vocab_size=400, special_tokens=["<|end|>"], progress=False)
    assert made_of_parts(tok, ["<|end|>"]) == tok
    ranks = reference.rank_pairs(tok.merges)
    assert tok.encode_ordinary("the") == reference.encode_by_rank(b"the", ranks)


@pytest.mark.skipif("VOCABS" not in os.environ, reason="VOCABS names no folder of real vocabularies")
@pytest.mark.parametrize(("file", "pattern"), [("gpt2", "gpt2"), ("cl100k_base", "cl100k")])
def test_real_vocabularies_there_and_back(file, pattern, book):
    folder = Path(os.environ["VOCABS"])
    special_tokens = json.loads((folder / f"{file}.json").read_text("utf-8"))["special_tokens"]
    tok = Tokenizer.from_tiktoken(folder / f"{file}.tiktoken", pattern=pattern, special_tokens=special_tokens)
    again = made_of_parts(tok, [*special_tokens])
    assert again == tok
    assert again.encode(book) == tok.encode(book)


# --------------------------------------------------------------------------------- ids of special tokens
def test_special_tokens_without_ids():
    assert made(TOKENS, ["<b>", "<a>"]).special_tokens == {"<b>": 258, "<a>": 259}
    assert made([*TOKENS, b"<a>"], ["<b>", "<a>"]).special_tokens == {"<b>": 259, "<a>": 258}
    holes = {**dict(enumerate(TOKENS)), 300: b"<a>"}
    assert made(holes, ["<a>", "<b>", "<c>"]).special_tokens == {"<a>": 300, "<b>": 301, "<c>": 302}
    assert made([*TOKENS, None, None], ["<a>"]).special_tokens == {"<a>": 258}
    assert made(TOKENS, ["é"]).vocab[258] == "é".encode()
    assert made(TOKENS, []) == made(TOKENS, {}) == made(TOKENS)


@pytest.mark.parametrize("special_tokens", [["<a>"], {"<a>": 258}])
def test_a_special_token_in_the_vocabulary_is_no_ordinary_one(special_tokens, tmp_path):
    tok = made([*TOKENS, b"<a>"], special_tokens)
    assert tok == made(TOKENS, {"<a>": 258})
    assert b"<a>" not in tok.engine.vocabulary.id_of
    assert tok.with_vocab_size(258) == made(TOKENS[:-1], {"<a>": 257}, MERGES[:-1])
    tok.save_tiktoken(tmp_path / "ranks")  # refused, if the token were an ordinary one that no merge makes
    assert pickle.loads(pickle.dumps(tok)) == tok
    tok.save(tmp_path / "tok.json")
    assert Tokenizer.load(tmp_path / "tok.json") == tok


def test_a_special_token_that_merges_need_is_both():
    for special, expected in (("ab", 256), ("abc", 257), ("a", 97)):
        tok = made(TOKENS, [special, "<a>"])
        assert tok.special_tokens == {special: expected, "<a>": 258}
        assert tok.engine.vocabulary.id_of[special.encode()] == expected
        assert tok.encode_ordinary("abc") == [257]
        assert tok.encode(special, allowed_special="all") == [expected]
        assert made_of_parts(tok, [special, "<a>"]) == pickle.loads(pickle.dumps(tok)) == tok


def test_a_special_token_that_is_a_byte_or_a_part_is_both():
    merges = [*MERGES, (b"?!", b"c")]  # no merge makes b"?!"
    tok = made([*TOKENS, b"?!", b"?!c"], ["?!", "!"], merges)
    assert tok.special_tokens == {"?!": 258, "!": 33}
    assert [token in tok.engine.vocabulary.id_of for token in (b"?!", b"!")] == [True, True]
    assert tok.encode_ordinary("!") == [33]
    assert made_of_parts(tok, ["?!", "!"]) == pickle.loads(pickle.dumps(tok)) == tok


def test_a_special_token_with_the_bytes_of_another_token():
    tok = made(TOKENS, {"ab": 300})
    assert tok.vocab[256] == tok.vocab[300] == b"ab"
    assert made_of_parts(tok, {"ab": 300}) == tok


# ----------------------------------------------------------------------------------- more special tokens
def test_more_special_tokens(tokenizer):
    more = tokenizer.with_special_tokens(["<new>", "<|end|>", "<é>"])
    assert more.special_tokens == {**tokenizer.special_tokens, "<new>": 603, "<é>": 604}
    assert more.encode("<new>the<|end|>", allowed_special="all") == [603, *tokenizer.encode("the"), 600]
    with pytest.raises(ValueError, match="special token '<new>'"):
        more.encode("<new>")
    assert tokenizer.with_special_tokens({"<new>": 603, "<é>": 604}) == more
    assert tokenizer.with_special_tokens([]) == tokenizer.with_special_tokens({"<|end|>": 600}) == tokenizer
    assert tokenizer.with_special_tokens({"<far>": 9000}).vocab_size == 9001
    assert more.with_special_tokens(["<z>"]).special_tokens["<z>"] == 605
    assert pickle.loads(pickle.dumps(more)) == more


@pytest.mark.parametrize(
    ("tokens", "kind", "message"),
    [
        ({"<|end|>": 700}, ValueError, r"'<\|end\|>' already has id 600, and cannot get id 700"),
        ({"<new>": 600}, ValueError, "have the same id 600"),
        ({"<new>": 97}, ValueError, "has id 97, the id of token b'a'"),
        ({"<new>": "a"}, TypeError, "the id of special token '<new>' must be an integer"),
        ({"<new>": [1]}, TypeError, "the id of special token '<new>' must be an integer"),
        ("<new>", TypeError, "must be in a list"),
        ([""], ValueError, "special token 0 is empty"),
    ],
)
def test_special_tokens_that_cannot_be_added(tokenizer, tokens, kind, message):
    with pytest.raises(kind, match=message):
        tokenizer.with_special_tokens(tokens)


def test_a_token_becomes_a_special_one():
    tok = made([*TOKENS, b"<a>"])
    more = tok.with_special_tokens(["<a>", "ab"])
    assert more.special_tokens == {"<a>": 258, "ab": 256}
    assert more == made([*TOKENS, b"<a>"], ["<a>", "ab"])
    assert [token in more.engine.vocabulary.id_of for token in (b"<a>", b"ab")] == [False, True]


def test_a_token_that_is_taken_whole_becomes_a_special_one():
    vocabulary = made([*TOKENS, b"<a>", b"?!"]).engine.vocabulary.replace(atomic_ids=[258, 259])
    tok = Tokenizer._of(vocabulary, bpe.Pattern.of("gpt2"))
    more = tok.with_special_tokens(["<a>"])
    assert more.engine.vocabulary.atomic_ids == (259,)
    assert pickle.loads(pickle.dumps(more)) == more
    assert more.encode("<a>?!", allowed_special="all") == [258, 259]


def test_idle_and_added_tokens():
    vocabulary = made(TOKENS, {"<think>": 258}).engine.vocabulary.replace(added_tokens=["<think>"])
    tok = Tokenizer._of(vocabulary.replace(idle_tokens={"<old>": 259}), bpe.Pattern.of("gpt2"))
    more = tok.with_special_tokens(["<old>", "<new>"])
    assert more.special_tokens == {"<old>": 259, "<new>": 260}
    assert more.added_tokens == {"<think>": 258}
    assert more.engine.vocabulary.idle_tokens == {}
    assert more.encode("<think><old>", allowed_special="all") == [258, 259]
    with pytest.raises(ValueError, match="'<think>' is both a special token and an added one"):
        tok.with_special_tokens(["<think>"])


def test_what_a_file_held_besides_stays(tmp_path):
    required("tokenizers")
    made(TOKENS, ["<s>"]).save_huggingface(tmp_path / "one.json")
    document = json.loads((tmp_path / "one.json").read_text())
    document |= {"normalizer": {"type": "NFC"}, "more": {"a": 1}}
    document["post_processor"] = {"type": "BertProcessing", "sep": ["<s>", 258], "cls": ["<s>", 258]}
    (tmp_path / "one.json").write_text(json.dumps(document))
    tok = Tokenizer.from_huggingface(tmp_path / "one.json")
    more = tok.with_special_tokens(["<new>"])
    assert more.encode("e\u0301", add_special_tokens=True) == tok.encode("é", add_special_tokens=True)
    more.save_huggingface(tmp_path / "two.json")
    written = json.loads((tmp_path / "two.json").read_text())
    document["model"]["vocab"]["<new>"] = 259
    for entry in (document, written):
        entry["added_tokens"] = [token["content"] for token in entry["added_tokens"]]
    assert written == document | {"added_tokens": ["<s>", "<new>"]}
    assert Tokenizer.from_huggingface(tmp_path / "two.json") == more
