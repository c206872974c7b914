"""Which ids may follow: as the slow twin, which encodes all short texts."""

import random
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe
import bpe.ids
from bpe.encoding.next_tokens import _Fits
from bpe.reference import ids as twin
from bpe.splitting.compiled.automaton import compile_automaton
from bpe.splitting.compiled.configurations import Configurations, joint_symbols
from bpe.tokenizer import Tokenizer
from bpe.vocabulary.byte_level import text_of
from bpe.vocabulary.vocabulary import Vocabulary
from tests.bpe.ids.cases import PATTERNS, datas, parts_of, texts, tokenizers
from tests.bpe.ids.test_canonicity import loaded
from tests.bpe.pipeline.test_engine import BYTE_LEVEL, random_document

NOT_KNOWN = ("from the right", "not compiled")
COMPILED = sorted({*PATTERNS} - {*NOT_KNOWN})
LETTERS = {
    "gpt2": "'r e", "cl100k": "1 a\n", "o200k": "aA 's", "qwen2": "a1 \n", "deepseek": "1éa!", "none": "aé1",
    "gaps": "a1 x", "empty matches": "a1é", "steps": "1ab ", "looks behind": "abx ",
}  # fmt: skip
LONGEST = 3  # bytes of a token


# ------------------------------------------------------------------------------------------ configurations
@pytest.mark.parametrize("name", COMPILED)
def test_configurations_cut_as_the_pattern(name):
    pattern = bpe.Pattern.of(PATTERNS[name])
    automata = [compile_automaton(source) for source in pattern.sources]
    symbol_of, symbols = joint_symbols(automata)
    tables = Configurations(automata, symbols)
    for text in map(bytes.decode, twin.texts_over(LETTERS[name], 5)[1:]):
        ways = [(here, []) for here in tables.first]
        for n, character in enumerate(text, 1):
            read = [(tables.next_of[here, symbol_of[ord(character)]], ends) for here, ends in ways]
            ways = [(here, ends) for here, ends in read if here >= 0]
            if n < len(text):
                ways += [(after, [*ends, n]) for here, ends in ways for after in tables.cuts_of[here]]
        found = [ends for here, ends in ways if tables.may_end[here]]
        pieces = pattern.split(text)
        assert found == [[sum(map(len, pieces[:n])) for n in range(1, len(pieces))]]


# -------------------------------------------------------------------------------------------------- merges
def vocabulary_of(chance, letters, in_order):
    """Return tokens and merges of the bytes of some letters, and tokens that are looked up whole.

    No other byte has a token.
    """
    parts = [bytes([value]) for value in sorted({*"".join(letters).encode()})]
    pairs = []
    for _ in range(chance.randrange(12)):
        pair = chance.choice(parts), chance.choice(parts)
        if pair not in pairs and len(b"".join(pair)) <= LONGEST:
            pairs.append(pair)
            parts += [] if b"".join(pair) in parts else [b"".join(pair)]
    if not in_order:
        chance.shuffle(pairs)
    whole = {b"".join(chance.choices(parts, k=2))[:LONGEST] for _ in range(chance.choice([0, 0, 2]))}
    tokens = [*parts, *sorted(whole)]
    words = Vocabulary([*dict.fromkeys(tokens)], pairs, {"<|end|>": 900})
    return words.replace(atomic_ids=[words.id_of[token] for token in whole if len(token) > 1])


@settings(max_examples=150)
@given(st.randoms(use_true_random=False), st.booleans())
def test_pairs(chance, in_order):
    vocabulary = vocabulary_of(chance, "ab1", in_order)
    parts = parts_of(Tokenizer._of(vocabulary, bpe.Pattern.of("none")))
    fits = _Fits(vocabulary)
    known = [*vocabulary.id_of.values()]
    for left in known:
        assert fits.is_made[left] == (parts.merge(vocabulary.bytes_of[left]) == [left])
        if not fits.is_made[left]:
            continue
        mask = fits.is_made.copy()
        fits.remove(left, mask)
        for right in known:
            together = parts.merge(vocabulary.bytes_of[left] + vocabulary.bytes_of[right]) == [left, right]
            assert mask[right] == together
            if fits.is_made[right]:
                assert fits.fits(left, right) == together


def test_a_usual_order_of_merges():
    tok = bpe.train(["low lower lowest"], vocab_size=262, progress=False)
    assert _Fits(tok.engine.vocabulary).merges_in_order
    chance = random.Random(1)
    found = {_Fits(vocabulary_of(chance, "ab1", False)).merges_in_order for _ in range(40)}
    assert found == {True, False}


# --------------------------------------------------------------------------------------------- next tokens
def all_next(encoded):
    """Return, for all beginnings of ids, which ids follow them."""
    found = {}
    for ids in encoded:
        for n, token_id in enumerate(ids):
            found.setdefault(tuple(ids[:n]), set()).add(token_id)
    return found


@settings(max_examples=60)
@given(st.randoms(use_true_random=False), st.sampled_from(COMPILED), st.booleans())
def test_as_the_slow_twin(chance, name, in_order):
    letters = LETTERS[name]
    vocabulary = vocabulary_of(chance, letters, in_order)
    tok = Tokenizer._of(vocabulary, bpe.Pattern.of(PATTERNS[name]))
    parts = parts_of(tok)
    all_texts = twin.texts_over(letters, 7)
    encoded = tok.encode_batch([text.decode() for text in all_texts], disallowed_special=())
    for text in chance.sample(all_texts, 3):
        assert twin.encode(parts, text) == tok.encode_ordinary(text)
    state = bpe.ids.canonical_state(tok)
    assert state.is_exact
    following = all_next(encoded)
    short = [ids for ids in following if len(tok.decode_bytes(ids)) <= 2]
    for ids in chance.sample(short, min(len(short), 40)):
        mask = bpe.ids.next_mask(tok, ids)
        assert {*np.flatnonzero(mask).tolist()} == following[ids] | (
            {900} if tok.is_canonical(ids) else set()
        )
        state = bpe.ids.canonical_state(tok, ids)
        assert state.may_end == tok.is_canonical(ids)
        for token_id in chance.sample([*vocabulary.bytes_of], 4):
            after = state.copy()
            assert after.push(token_id) == mask[token_id]
            assert after.may_end == (mask[token_id] and tok.is_canonical([*ids, token_id]))
            assert tok.is_canonical([*ids, token_id], prefix=True) == mask[token_id]
    ids = chance.choice(short)
    assert twin.next_ids(parts, ids, encoded) - {900} == following[ids]


@settings(max_examples=40)
@given(st.randoms(use_true_random=False), st.sampled_from(COMPILED))
def test_no_text_is_refused(chance, name):
    vocabulary = vocabulary_of(chance, LETTERS[name], True)
    tok = Tokenizer._of(vocabulary, bpe.Pattern.of(PATTERNS[name]))
    state, text = bpe.ids.canonical_state(tok), "".join(chance.choices(LETTERS[name], k=40))
    ids = [*tok.encode_ordinary(text), 900, *tok.encode_ordinary(text)]
    for token_id in ids:
        assert state.mask()[token_id]
        assert state.push(token_id)
    assert state.may_end
    assert tok.is_canonical(ids * 5, prefix=True) == tok.is_canonical(ids * 5)
    assert (bpe.ids.next_mask(tok, ids * 9) == bpe.ids.next_mask(tok, ids)).all() or not tok.is_canonical(
        ids * 9
    )


def test_a_token_that_goes_on_after_a_part_of_a_character_does_not_complete_it():
    r"""Every second byte is joined with ``\xe2``, so no text has it alone; ``\x80a`` has two bytes, too."""
    merges = [(0x80, ord("a")), *((0xE2, byte) for byte in range(0x80, 0xC0))]
    tok = Tokenizer(token_bytes=Vocabulary.assemble(merges), merges=merges, pattern="none")
    assert not bpe.ids.next_mask(tok, [])[0xE2]
    assert bpe.ids.next_mask(tok, [])[[0xE1, 257]].all()


# -------------------------------------------------------------------------------------------- real patterns
@settings(max_examples=30)
@given(tokenizers, texts, datas)
def test_added_tokens_and_all_bytes(tok, text, data):
    """No id of a text is refused, whatever tokens there are; a special id may follow what is canonical."""
    if not tok.pattern.compiled:
        return
    state, ids = bpe.ids.canonical_state(tok), tok.encode_ordinary(text)
    for n, token_id in enumerate(ids):
        mask = state.mask()
        assert mask[token_id]
        # A part of a text may end where it does, between characters and inside one.
        if not tok.added_tokens:
            assert mask[900] == state.may_end == tok.is_canonical(ids[:n])
        assert state.push(token_id)
    assert state.is_exact == (not tok.engine.added_tokens)
    ids = tok.encode_ordinary(data)
    if any(value >= 0x80 for value in data) and data.decode(errors="ignore").encode() != data:
        assert not tok.is_canonical([*ids, 97, 97, 97], prefix=True) or not state.is_exact


def test_many_kinds_of_characters():
    """Expressions have at most 255 symbols each, together more."""
    letters = [chr(code) for code in range(0x4E00, 0x4E00 + 240)]
    sources = [
        "[a-p]{2}|(?s:.)",
        "|".join(f"{letter}1" for letter in "abcdefghijklmnop") + "|(?s:.+)",
        "|".join(f"é{letter}" for letter in letters) + "|(?s:.+)",
    ]
    automata = [*map(compile_automaton, sources)]
    symbol_of, symbols = joint_symbols(automata)
    assert len(Configurations(automata, symbols).next_of[0]) > 256
    assert (symbol_of[[*b"bc"]] >= 256).all()
    pairs = [(b"b", b"c"), (b"o", b"p"), (b"x", b"y")]
    tokens = [*(bytes([value]) for value in range(256)), *map(b"".join, pairs)]
    tok = bpe.Tokenizer(token_bytes=tokens, merges=pairs, pattern=sources)
    mask = bpe.ids.next_mask(tok, [])
    assert mask[[*b"bcopxy"]].all()
    assert mask[256:].tolist() == [True, True, False]  # two letters are a piece if both are from a to p


def test_the_two_meanings_of_canonical():
    tok = bpe.train(["\n\n\n", "a\n\n"], vocab_size=257, pattern="gpt2", progress=False)
    line = tok.encode("\n")
    assert tok.encode("\n\n") == [256]
    assert not tok.is_canonical(line * 2)
    assert tok.is_canonical(line * 2, prefix=True)  # as the ids of "\n\na" begin
    assert tok.encode("\n\na")[:2] == line * 2
    tok = bpe.train(["ab"], vocab_size=257, pattern="cl100k", special_tokens=["<s>"], progress=False)
    half = "é".encode()[:1]
    assert tok.is_canonical([*half, 97])
    assert not tok.is_canonical([*half, 97], prefix=True)
    assert tok.is_canonical([*half], prefix=True)
    mask = bpe.ids.next_mask(tok, [*half])
    assert mask[tok.special_tokens["<s>"]]
    assert not bpe.ids.next_mask(tok, [*half], specials=False)[tok.special_tokens["<s>"]]
    assert mask[:0xC0].sum() == 64
    state = bpe.ids.canonical_state(tok, [*half, 97])
    assert not state.mask().any()
    assert not state.push(97)
    out = np.ones(tok.vocab_size, bool)
    assert state.mask(out) is out
    assert not out.any()
    with pytest.raises(ValueError, match="leave out allowed_special"):
        tok.is_canonical([97], prefix=True, allowed_special="all")
    with pytest.raises(ValueError, match=r"ids\[1\]: 99999 is out of range"):
        bpe.ids.next_mask(tok, [97, 99_999])
    with pytest.raises(ValueError, match="99999 is out of range"):
        bpe.ids.canonical_state(tok).push(99_999)


# --------------------------------------------------------------------------------- steps of a tokenizer.json
BYTES_VOCAB = {text_of(bytes([value])): value for value in range(256)} | {text_of("é".encode()): 256}


def with_steps(tmp_path, normalizer):
    document = random_document(random.Random(2)) | {
        "normalizer": normalizer,
        "pre_tokenizer": BYTE_LEVEL,
        "decoder": BYTE_LEVEL,
        "added_tokens": [],
        "model": {"type": "BPE", "vocab": BYTES_VOCAB, "merges": [[text_of(b"\xc3"), text_of(b"\xa9")]]},
    }
    return loaded(document, tmp_path)


def test_normal_forms_are_a_superset(tmp_path):
    tok = with_steps(tmp_path, {"type": "NFC"})
    state = bpe.ids.canonical_state(tok)
    assert not state.is_exact
    for text in ("e\u0301té", "été 漢"):
        state = bpe.ids.canonical_state(tok)
        for token_id in tok.encode(text):
            assert state.mask()[token_id]
            assert state.push(token_id)
        assert state.may_end
    assert bpe.ids.next_mask(tok, [*b"e"])[0xCC]  # of the accent, which no normalized text has here


def test_what_is_refused(tmp_path):
    known = "which ids may follow is not known for this tokenizer: "
    with pytest.raises(ValueError, match=known + "a normalizer or a pre-tokenizer"):
        bpe.ids.canonical_state(with_steps(tmp_path, {"type": "Lowercase"}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tok = bpe.train(["ab"], vocab_size=256, pattern=PATTERNS["not compiled"], progress=False)
    with pytest.raises(ValueError, match=known + "its pattern is not compiled"):
        tok.is_canonical([97], prefix=True)
    tok = bpe.train(["a b a b a b"], 260, superwords=bpe.Boundless(), progress=False)
    with pytest.raises(ValueError, match=known + "its supermerges join pieces"):
        bpe.ids.next_mask(tok, [97])


def test_where_a_mask_is_written_to(tokenizer):
    for state in (bpe.ids.canonical_state(tokenizer), bpe.ids.matcher(tokenizer, ["sea"])):
        out = np.ones(tokenizer.vocab_size, bool)
        assert state.mask(out) is out
        for wrong in (out[1:], out.astype(np.int8), np.ones((2, len(out)), bool), [True]):
            with pytest.raises(TypeError, match=r"out must be a \(\d+,\) array of bool, not "):
                state.mask(wrong)
        with pytest.raises(TypeError, match=r"token_id must be an integer, not 2\.0"):
            state.push(2.0)


def test_ids_that_are_too_far_apart():
    tok = bpe.train(["low"], 256, progress=False).with_special_tokens({"<x>": 2**31 - 1})
    for find in (
        lambda: bpe.ids.next_mask(tok, [108]),
        lambda: bpe.ids.covers(tok, "lo"),
        lambda: bpe.ids.map_to(tok, tok),
        lambda: bpe.ids.matcher(tok, ["a"]).mask(),
    ):
        with pytest.raises(
            ValueError, match=r"the greatest id is 2147483647: a ma\w+ of ids has ids below 1677"
        ):
            find()
