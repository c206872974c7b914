"""Text after ids: the same as the slow twins, which read all, and as encoding the whole."""

import json
import os
import random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import bpe
import bpe.ids
from bpe.ids import continuing
from bpe.reference import ids as twin
from bpe.support.text import utf8_of
from bpe.vocabulary.byte_level import text_of
from bpe.vocabulary.vocabulary import Vocabulary
from tests.bpe.ids.cases import (
    allowed_by,
    datas,
    options,
    parts_of,
    random_text,
    real_tokenizer,
    texts,
    tokenizers,
)
from tests.bpe.pipeline.test_engine import BYTE_LEVEL, random_document, random_texts


def encoded(tok, text, chosen):
    """Return the ids of a text by some options, None if it is refused."""
    try:
        return tok.encode(text, **chosen)
    except ValueError:
        return None


@st.composite
def seams(draw):
    """Return a tokenizer, ids of a text by options of its own, more text, and options for it."""
    tok, chosen = draw(tokenizers), draw(options)
    before = draw(datas)
    how = draw(st.sampled_from(["same", "ordinary", "mixed", "sampled"]))
    ids = encoded(tok, before, chosen) if how == "same" else tok.encode_ordinary(before)
    assume(ids is not None)
    if how == "mixed":
        ids = [
            *ids,
            *draw(st.lists(st.sampled_from([900, 901]), min_size=1, max_size=2)),  # else they may merge
            *tok.encode_ordinary(draw(datas)),
        ]
    if how == "sampled":
        ids = draw(
            st.lists(
                st.sampled_from([*range(97, 125), *range(256, tok.vocab_size - 3), 900, 902]), max_size=12
            )
        )
        ids = [number for number in ids if number in tok.engine.vocabulary.bytes_of]
    return tok, how, ids, draw(texts | datas), chosen


def refused(tok, ids, text, chosen):
    """Return whether a text has a forbidden token, or completes one."""
    _, forbidden = allowed_by(tok, chosen)
    _, before = twin.last_stretch(parts_of(tok), ids)
    data = before + utf8_of(text)
    return any(
        data.startswith(token, start) and start + len(token) > len(before)
        for start in range(len(data))
        for token in forbidden
    )


@settings(max_examples=150)
@given(seams(), st.sampled_from([1, 4, 32]))
def test_as_the_slow_twins(case, window):
    tok, how, ids, text, chosen = case
    parts, data = parts_of(tok), utf8_of(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(continuing, "_WINDOW", window)
        if refused(tok, ids, text, chosen):
            for function in (bpe.ids.append, bpe.ids.continue_ids):
                with pytest.raises(ValueError, match="holds the special token"):
                    function(tok, ids, text, **chosen)
            return
        n_keep, new = bpe.ids.append(tok, ids, text, **chosen)
        rest = bpe.ids.continue_ids(tok, ids, text, **chosen)
    allowed, _ = allowed_by(tok, chosen)
    assert tok.decode_bytes(ids[:n_keep] + new) == tok.decode_bytes(ids) + data
    assert tok.decode_bytes(rest) == data
    if how != "sampled":
        assert (n_keep, new) == twin.append_ids(parts, ids, data, allowed)
        assert rest == twin.continue_ids(parts, ids, data, allowed)
        if (ids[:n_keep] + new)[: len(ids)] == ids:
            assert rest == (ids[:n_keep] + new)[len(ids) :]
    if how == "same":
        special = {*tok.special_tokens.values()}
        if not special.intersection(ids):
            assert ids[:n_keep] + new == tok.encode(tok.decode_bytes(ids) + data, **chosen)


@settings(max_examples=60)
@given(tokenizers, texts, texts, texts, options, st.sampled_from(["canonical", "ids"]))
def test_reuse(tok, common, old_end, new_end, chosen, keep):
    old, text = common + old_end, common + new_end
    ids, expected = encoded(tok, old, chosen), encoded(tok, text, chosen)
    assume(ids is not None and expected is not None)
    allowed, _ = allowed_by(tok, chosen)
    n = twin.common_ids(parts_of(tok), ids, text.encode(), allowed)
    for old_text in (None, old):
        n_keep, new = bpe.ids.reuse(tok, ids, text, keep=keep, old_text=old_text, **chosen)
        if keep == "ids":
            assert n_keep == n
            assert tok.decode_bytes(ids[:n_keep] + new) == text.encode()
        elif not {*tok.special_tokens.values()}.intersection(ids):
            assert ids[:n_keep] + new == expected


class Counting:
    """Ids that count how many of them are read."""

    def __init__(self, ids):
        self.ids, self.n_read = ids, 0

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, place):
        found = self.ids[place]
        self.n_read += len(found) if isinstance(place, slice) else 1
        return found


@pytest.mark.parametrize("pattern", ["gpt2", "cl100k", "o200k", "deepseek"])
def test_only_the_end_is_read(merges, book, pattern):
    tok = bpe.Tokenizer(token_bytes=Vocabulary.assemble(merges), merges=merges, pattern=pattern)
    text, more = book[:20_000], book[20_000:20_100]
    for ids in (tok.encode(text), tok.encode_to_numpy(text)):
        seen = Counting(ids)
        n_keep, new = bpe.ids.append(tok, seen, more)
        assert [*ids[:n_keep], *new] == tok.encode(text + more)
        assert bpe.ids.continue_ids(tok, seen, more)
        assert bpe.ids.reuse(tok, seen, text + more, old_text=text) == (n_keep, new)
        assert seen.n_read < 500


def test_drifted_ids_change_only_at_the_end(tokenizer, book):
    drifted = [*book[:5_000].encode()]  # as single bytes
    n_keep, new = bpe.ids.append(tokenizer, drifted, " and more")
    assert n_keep > len(drifted) - 60
    assert (
        tokenizer.decode_bytes(drifted[:n_keep] + new) == (book[:5_000] + " and more").encode()[: n_keep + 99]
    )


def test_errors(tokenizer):
    ids = tokenizer.encode("the sea <|en")
    for function in (bpe.ids.append, bpe.ids.continue_ids, bpe.ids.reuse):
        with pytest.raises(ValueError, match="add_special_tokens=True puts ids around a whole text"):
            function(tokenizer, ids, "x", add_special_tokens=True)
        with pytest.raises(TypeError, match="text must be str or bytes, not int"):
            function(tokenizer, ids, 3)
        for wrong in ([99_999], [-1]):
            with pytest.raises(ValueError, match=r"ids\[2\]: .* is out of range"):
                function(tokenizer, [104, 101, *wrong], "he")
        for wrong in ("a", 104.0):
            with pytest.raises(TypeError, match=r"ids\[0\] must be an integer, not (str|float)"):
                function(tokenizer, [wrong], "he")
    for function in (bpe.ids.append, bpe.ids.continue_ids):
        with pytest.raises(ValueError, match=r"holds the special token '<\|end\|>' at the end of the ids"):
            function(tokenizer, ids, "d|>")
        with pytest.raises(ValueError, match=r"text holds the special token '<\|end\|>' at character 1"):
            function(tokenizer, ids, "x<|end|>")
    with pytest.raises(ValueError, match="keep must be 'canonical' or 'ids'"):
        bpe.ids.reuse(tokenizer, ids, "the sea", keep="all")


def test_specials_that_ids_spell_stay_text(tokenizer):
    ids = tokenizer.encode_ordinary("the <|end|> <|fi")
    n_keep, new = bpe.ids.append(tokenizer, ids, "m|> <|end|>", allowed_special="all")
    expected = tokenizer.encode_ordinary("the <|end|> ") + tokenizer.encode(
        "<|fim|> <|end|>", allowed_special="all"
    )
    assert ids[:n_keep] + new == expected


# --------------------------------------------------------------------------------- steps of a tokenizer.json
@pytest.mark.parametrize("seed", range(30))
def test_tokenizers_with_steps(seed, tmp_path):
    chance = random.Random(seed)
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(random_document(chance)))
    tok = bpe.Tokenizer.from_huggingface(path)
    n_checked = 0
    for text in random_texts(chance):
        place = chance.randrange(len(text) + 1)
        chosen = {"disallowed_special": ()}
        try:
            ids, whole = tok.encode(text[:place], **chosen), tok.encode(text, **chosen)
            again = [tok.encode(tok.decode(ids) + more, **chosen) for more in ("", text[place:])]
        except ValueError:  # a character has no token
            continue
        if again != [ids, whole]:
            continue  # the decoder leaves out what the text had
        n_checked += 1
        n_keep, new = bpe.ids.append(tok, ids, text[place:], **chosen)
        assert ids[:n_keep] + new == whole
        for old_text in (None, text[:place]):
            n_keep, new = bpe.ids.reuse(tok, ids, text, old_text=old_text, **chosen)
            assert ids[:n_keep] + new == whole
        assert isinstance(bpe.ids.continue_ids(tok, ids, text[place:], **chosen), list)
    assert n_checked or seed


def test_qwen_like(tmp_path):
    """A normalizer and a pattern: the pattern sees the ids, the normalizer only the text."""
    document = random_document(random.Random(2))
    vocab = {text_of(bytes([value])): value for value in range(256)} | {
        text_of(b" a"): 256,
        text_of(b"ab"): 257,
    }
    merges = [[text_of(b" "), "a"], ["a", "b"]]
    document |= {
        "normalizer": {"type": "NFC"},
        "pre_tokenizer": BYTE_LEVEL,
        "decoder": BYTE_LEVEL,
        "added_tokens": [],
        "post_processor": None,
        "model": {"type": "BPE", "vocab": vocab, "merges": merges},
    }
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(document))
    tok = bpe.Tokenizer.from_huggingface(path)
    assert not tok.is_lossless
    ids = tok.encode("x  ab e")
    n_keep, new = bpe.ids.append(tok, ids, "\u0301 ab")
    assert ids[:n_keep] + new == tok.encode("x  ab e\u0301 ab")
    assert tok.decode(bpe.ids.continue_ids(tok, ids, "\u0301 abe\u0301")) == "\u0301 ab\u00e9"
    assert bpe.ids.continue_ids(tok, tok.encode("x "), " ab") == tok.encode("x  ab")[2:]


# ------------------------------------------------------------------------------------------------ real ones
@pytest.mark.skipif("VOCABS" not in os.environ, reason="VOCABS names no folder of real vocabularies")
@pytest.mark.parametrize(
    ("file", "pattern"), [("gpt2", "gpt2"), ("cl100k_base", "cl100k"), ("o200k_base", "o200k")]
)
def test_real_vocabularies(file, pattern, book):
    tok = real_tokenizer(file, pattern)
    chance = random.Random(file)
    for _ in range(300):
        start = chance.randrange(len(book) - 600)
        seam, end = start + chance.randrange(400), start + 400 + chance.randrange(200)
        text = book[start:end] if chance.random() < 0.5 else random_text(chance)
        seam = min(seam - start, len(text))
        ids, whole = tok.encode(text[:seam]), tok.encode(text)
        n_keep, new = bpe.ids.append(tok, ids, text[seam:])
        assert ids[:n_keep] + new == whole
        rest = bpe.ids.continue_ids(tok, ids, text[seam:])
        assert tok.decode(rest) == text[seam:]
        assert whole[: len(ids)] != ids or ids + rest == whole
