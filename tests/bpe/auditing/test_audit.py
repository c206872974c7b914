"""The status of every token: witnesses are encoded again, proofs are tried against all short texts."""

import json
from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import bpe
from bpe.auditing import witnesses
from bpe.auditing.measures import Measuring, renyi_efficiency
from bpe.auditing.proofs import Pieces, codes_beginning_with
from bpe.auditing.witnesses import completed
from bpe.tokenizer import Tokenizer

BYTES = [bytes([value]) for value in range(256)]
LETTERS = ["a", "B", " ", "1", "'", "s"]
SHORT = ["".join(text) for n in range(1, 5) for text in product(LETTERS, repeat=n)]
PATTERNS = [
    "gpt2",
    "cl100k",
    "o200k",
    "whitespace",
    "none",
    "deepseek",
    r"(?<=a)B|\d",
    "a[^a]?|s+(?!a)",
    "B(?=1)|aB",
]


def check(tok, audit):
    for number, text in audit.witness_of.items():
        assert number in tok.encode(text, allowed_special="all")
    assert [*audit.status_of] == sorted(tok.vocab)
    assert {*audit.with_status("live")} == {*audit.witness_of}
    assert sum(audit.n_by_status.values()) == len(tok.vocab)
    assert not audit.uses[audit.with_status("rank-dead") + audit.with_status("pattern-dead")].any()


# --------------------------------------------------------------------------------------------- proofs
@pytest.mark.parametrize("pattern", PATTERNS)
def test_no_short_text_has_what_no_piece_can_hold(pattern):
    split, pieces = bpe.Pattern.of(pattern), Pieces(bpe.Pattern.of(pattern))
    found = {piece for text in SHORT for piece in split.split(text)}
    parts = {piece[i:j] for piece in found for i in range(len(piece)) for j in range(i + 1, len(piece) + 1)}
    candidates = [text for text in SHORT if len(text) <= 3]
    refuted = [text for text in candidates if not pieces.can_hold(text.encode())]
    assert not parts.intersection(refuted)
    assert not found.intersection(text for text in candidates if not pieces.can_be(text.encode()))
    # Of what no short text has, most is proved.
    missing = [text for text in candidates if text not in parts]
    assert len(refuted) >= 0.9 * len(missing)


SHORTEST = ["".join(text) for n in range(1, 5) for text in product("aB 1", repeat=n)]
ATOMS = ["a", "B", "1", r"\s", "[^a]", r"\p{L}", r"(?!a)", r"(?=B)", r"(?<=a)", r"(?<!1)", "$", "^", r"\b"]

QUANTIFIERS = ["?", "*", "+", "{2}", "??", "+?"]


def expressions():
    return st.recursive(
        st.sampled_from(ATOMS),
        lambda inner: (
            st.lists(inner, min_size=1, max_size=3).map("".join)
            | st.lists(inner, min_size=1, max_size=3).map("|".join).map("(?:{})".format)
            | st.tuples(inner, st.sampled_from(["?", "*", "+", "{2}", "??", "+?"])).map(
                lambda x: "(?:{}){}".format(*x)
            )
        ),
        max_leaves=5,
    )


@given(st.lists(expressions(), min_size=1, max_size=2))
@settings(max_examples=80)
@pytest.mark.filterwarnings("ignore:the split pattern cannot be compiled")
def test_proofs_hold_for_any_expression(sources):
    try:
        split = bpe.Pattern(sources)
    except ValueError:
        assume(False)
    pieces = Pieces(split)
    found = {piece for text in SHORTEST for piece in split.split(text)}
    parts = {piece[i:j] for piece in found for i in range(len(piece)) for j in range(i + 1, len(piece) + 1)}
    assert [part for part in parts if not pieces.can_hold(part.encode())] == []
    assert [piece for piece in found if not pieces.can_be(piece.encode())] == []


MIXED = [b"a", b" ", "é".encode(), "中".encode(), b"\xff", b"\xe4\xb8", b"\xc3", b"\x80", b"1"]


@pytest.mark.parametrize("pattern", ["gpt2", "o200k", r"\p{L}+|\s", "[^a]"])
def test_parts_of_characters_are_any_that_have_these_bytes(pattern):
    split, pieces = bpe.Pattern.of(pattern), Pieces(bpe.Pattern.of(pattern))
    found = {
        piece
        for n in (1, 2, 3, 4)
        for some in product(MIXED, repeat=n)
        for piece in split.split_bytes(b"".join(some))
    }
    parts = {piece[i:j] for piece in found for i in range(len(piece)) for j in range(i + 1, len(piece) + 1)}
    assert [part for part in parts if not pieces.can_hold(part)] == []
    assert [piece for piece in found if not pieces.can_be(piece)] == []


def test_what_is_not_compiled_is_not_proved():
    tok = Tokenizer(token_bytes=[*BYTES, b"ab"], merges=[(97, 98)], pattern=r"(a)\1|.")
    with pytest.warns(RuntimeWarning, match="cannot be compiled"):
        audit = tok.audit()
    assert audit.status_of[256] == "unknown"
    assert Pieces(tok.pattern).can_be(b"anything")


@pytest.mark.parametrize("character", ["é", "ࠀ", "中", "\U00010000", "\U0010ffff", "\u07ff"])
def test_beginnings_of_characters(character):
    data = character.encode()
    assert all(ord(character) in codes_beginning_with(data[:n]) for n in range(1, len(data)))
    assert codes_beginning_with(data) is None
    assert any(text.endswith(data) for text in completed(data[:-1]))


def test_no_beginning_of_a_character():
    for data in (b"\xff", b"\x80", b"\xc3a", b"\xe0\x80"[:1] + b"a", b"\xf5"):
        assert codes_beginning_with(data) is None


# ------------------------------------------------------------------------------------------- statuses
def test_statuses(book):
    tokens = [*BYTES, b"lo", b"low", b"xlo", b"lo w", b"zzz", b"  a", b"qq", b"qqq"]
    merges = [(b"l", b"o"), (b"lo", b"w"), (b"x", b"lo"), (b"lo", b" "), (b"q", b"q"), (b"qq", b"q")]
    tok = Tokenizer(token_bytes=[*tokens, b"lo "], merges=merges, pattern="gpt2", special_tokens={"<s>": 300})
    audit = tok.audit()
    check(tok, audit)
    status = {token: audit.status_of[number] for number, token in tok.vocab.items()}
    assert status[b"lo"] == status[b"low"] == status[b"xlo"] == status[b"qqq"] == status[b"<s>"] == "live"
    assert status[b"lo w"] == status[b"zzz"] == status[b"  a"] == "rank-dead"
    assert status[b"lo "] == "pattern-dead"
    vocabulary = tok.engine.vocabulary.replace(atomic_ids=map(tok.token_id, (b"zzz", b"  a")))
    whole = Tokenizer._of(vocabulary, tok.pattern)
    audit = whole.audit()
    check(whole, audit)
    assert audit.status_of[whole.token_id(b"zzz")] == "live"
    assert audit.status_of[whole.token_id(b"  a")] == "pattern-dead"


def test_a_token_may_live_in_a_context_only():
    """Alone, its bytes are two pieces; after a sign, one."""
    tok = bpe.train(bpe.WordCounts({"#\n//": 3, "\n//": 2}, pattern="o200k"), 259)
    number = tok.token_id(b"\n//")
    assert tok.encode("\n//") != [number]
    audit = tok.audit()
    check(tok, audit)
    assert audit.status_of[number] == "live"
    assert audit.witness_of[number].endswith(b"\n//")


def test_texts_that_no_ids_stand_for_give_the_others_their_witnesses():
    """They are looked for in halves until those with a byte that has no token are alone."""
    tok = Tokenizer(token_bytes=[b"a", b"b", b"c", b"ab", b"bc"], merges=[(0, 1), (1, 2)], pattern="none")
    texts = [b"ab", b"abx", b"abc", b"x", b"bcb"]
    ids, offsets = witnesses._encoded(tok.engine, texts)
    parts = [ids[start:stop].tolist() for start, stop in pairwise(offsets.tolist())]
    assert parts == [[3], [], [3, 2], [], [4, 1]]


def test_long_tokens_take_little_memory():
    tokens = [b"a" * (1 << 20) + bytes([value]) for value in b"bcd"]
    tok = Tokenizer(token_bytes=[*BYTES, *tokens], merges=[], pattern=r"(?s:.)")
    whole = Tokenizer._of(tok.engine.vocabulary.replace(atomic_ids=[256, 257]), tok.pattern)
    audit = whole.audit()
    assert [audit.status_of[number] for number in (256, 257, 258)] == ["pattern-dead"] * 2 + ["rank-dead"]


def test_a_corpus_has_witnesses():
    """Two letters that nothing which is tried stands between."""
    tok = Tokenizer(token_bytes=[*BYTES, b"ab"], merges=[(97, 98)], pattern=r"(?<=x)ab(?=y)|(?s:.)")
    assert tok.audit().status_of[256] == "unknown"
    audit = tok.audit(["no", "ab xaby" * 3])
    check(tok, audit)
    assert audit.status_of[256] == "live"


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from(["a", "b", "c", "ab", "bc", "ca"])), max_size=6
    ),
    st.permutations(range(6)),
)
@settings(max_examples=60)
def test_what_is_rank_dead_is_in_no_piece(pairs, order):
    pairs = list(dict.fromkeys((left.encode(), right.encode()) for left, right in pairs))
    made = dict.fromkeys([b"ab", b"bc", b"ca", *(left + right for left, right in pairs)])
    pairs = [pairs[i] for i in order if i < len(pairs)]
    tok = Tokenizer(token_bytes=[*BYTES, *made], merges=pairs, pattern="none")
    audit = tok.audit()
    check(tok, audit)
    dead = {*audit.with_status("rank-dead")}
    assert "pattern-dead" not in audit.status_of.values()
    used = {
        number
        for n in range(1, 7)
        for text in product("abc", repeat=n)
        for number in tok.encode("".join(text))
    }
    assert not used & dead
    assert used <= {*audit.with_status("live")}


def test_tokens_that_are_learned_are_live(tokenizer, book):
    more, _ = tokenizer.extend(["\u4e2d\u6587 zzq zzq \u4e2d\u6587 ~~> ~~>"], 8)
    counts = bpe.count_words([book[:20_000]], special_tokens=[*more.special_tokens])
    trainer = bpe.Trainer.resume(more, counts, keep_ids=True)
    trainer.run(more.vocab_size + 50)
    for tok in (more, trainer.tokenizer(), tokenizer.prune([book], vocab_size=300)[0]):
        audit = tok.audit()
        check(tok, audit)
        assert audit.n_by_status["live"] == len(tok.vocab)


def test_bytes_that_no_utf8_has(tokenizer):
    audit = tokenizer.audit()
    expected = [*b"\xc0\xc1", *range(0xF5, 0x100)]
    assert [tokenizer.token_bytes(number)[0] for number in audit.only_in_bytes] == expected


# --------------------------------------------------------------------------------- tokenizers with steps
def kept(tokenizer, **document):
    vocabulary = tokenizer.engine.vocabulary.replace(extras=json.dumps({"document": document}))
    return Tokenizer._of(vocabulary, tokenizer.pattern)


def test_steps_that_change_a_text(tokenizer):
    tok = kept(tokenizer, normalizer={"type": "Lowercase"})
    audit = tok.audit(["THE Captain"])
    check(tok, audit)
    capital = tok.token_id(b"A")
    assert audit.status_of[capital] == "unknown"  # no step is looked into
    assert audit.status_of[tok.token_id(b" the")] == "live"


def test_tokens_that_are_texts(tmp_path):
    vocab = ["<unk>", *(f"<0x{value:02X}>" for value in range(256)), *"▁ab", "ab", "▁ab"]
    model = {
        "type": "BPE",
        "unk_token": "<unk>",
        "byte_fallback": True,
        "vocab": {token: number for number, token in enumerate(vocab)},
        "merges": ["a b", "▁ ab"],
    }
    replaced = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    decoder = {
        "type": "Sequence",
        "decoders": [
            {**replaced, "pattern": {"String": "▁"}, "content": " "},
            {"type": "ByteFallback"},
            {"type": "Fuse"},
        ],
    }
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps({"normalizer": replaced, "decoder": decoder, "model": model}))
    tok = Tokenizer.load(path)
    audit = tok.audit(["ab ab é"])
    check(tok, audit)
    assert {*map(audit.status_of.get, [tok.token_id("ab"), tok.token_id("▁ab"), 1 + 0xC3])} == {"live"}
    assert "rank-dead" not in audit.status_of.values()


# ------------------------------------------------------------------------------------------ measures
def test_figures_of_texts(tokenizer, book):
    texts = {"book": [book[:5000], book[5000:9000]], "other": ["Zwölf Boxkämpfer<|end|> jagen"]}
    audit = tokenizer.audit(texts)
    for figures, (name, documents) in zip(audit.texts, texts.items(), strict=True):
        ids = [number for text in documents for number in tokenizer.encode(text, allowed_special="all")]
        assert figures.name == name
        assert figures.n_tokens == len(ids)
        assert figures.n_bytes == sum(len(text.encode()) for text in documents)
        assert figures.n_words == sum(len(text.split()) for text in documents)
        assert figures.bytes_per_token == figures.n_bytes / len(ids)
        assert figures.fertility == len(ids) / figures.n_words
    uses = Counter(
        number
        for documents in texts.values()
        for text in documents
        for number in tokenizer.encode(text, allowed_special="all")
    )
    assert {i: n for i, n in enumerate(audit.uses.tolist()) if n} == uses
    assert audit.never_used == [number for number in sorted(tokenizer.vocab) if number not in uses]
    shares = [n / uses.total() for n in uses.values()]
    entropy = np.log(sum(share**2.5 for share in shares)) / -1.5
    assert np.isclose(audit.renyi_efficiency, entropy / np.log(len(tokenizer.vocab)))
    assert audit.to_json()["texts"][0]["fertility"] == round(audit.texts[0].fertility, 4)
    assert json.loads(json.dumps(audit.to_json()))["tokens"] == len(tokenizer.vocab)


def test_duplicates():
    tokens = [*BYTES, b"the", b"The", b" the", b" The", b"THE", b" "[:0] + b"he"]
    tok = Tokenizer(token_bytes=tokens, merges=[(116, 104)][:0], pattern="gpt2")
    audit = tok.audit()
    assert [256, 257, 260] in audit.same_but_case
    assert [258, 259] in audit.same_but_case
    assert [256, 258] in audit.same_but_space
    assert [97, 65] in audit.same_but_case or [65, 97] in audit.same_but_case
    assert audit.not_utf8 == [*range(128, 256)]


@given(st.lists(st.text("a é\n", max_size=6), max_size=5))
def test_words_are_counted_across_blocks(blocks):
    data = "".join(blocks).encode()
    for size in (1, 3, 100):
        measuring = Measuring()
        cut = [data[i : i + size] for i in range(0, len(data), size)]
        assert b"".join(measuring.passing(cut)) == data
        assert measuring.n_words == len(data.decode().split())
        assert measuring.n_bytes == len(data)


def test_efficiency_of_few():
    assert renyi_efficiency(np.array([0, 0]), 2) == 0
    assert renyi_efficiency(np.array([3]), 1) == 0
    assert np.isclose(renyi_efficiency(np.array([1, 1, 0, 0]), 4), 0.5)


def test_what_cannot_be_audited(tokenizer):
    with pytest.raises(ValueError, match="nothing has no text: there is nothing to measure"):
        tokenizer.audit({"nothing": [""]})
    far = tokenizer.with_special_tokens({"<far>": 2**30})
    with pytest.raises(ValueError, match="an audit has ids below"):
        far.audit()
