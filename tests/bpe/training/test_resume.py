"""Resuming from a tokenizer, and cutting it down to a smaller one."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe
from bpe.reference import IndexedPieces, learn, merge_sequence
from bpe.tokenizer import Tokenizer
from bpe.vocabulary.vocabulary import Vocabulary

END, PAD = "<|end|>", "<|pad|>"
ties_rules = st.sampled_from(["smallest", "lexicographic", "first"])
selections = st.sampled_from(["heap", "buckets"])
corpora = st.lists(
    st.tuples(st.text("aab c", min_size=1, max_size=12), st.integers(1, 4)), min_size=1, max_size=12
)
options = st.fixed_dictionaries(
    {
        "ties": ties_rules,
        "selection": selections,
        "min_count": st.integers(1, 3),
        "max_token_length": st.none() | st.integers(1, 6),
    }
)
layouts = st.fixed_dictionaries({"like": st.sampled_from([None, "gigatoken", "huggingface"])})


# --------------------------------------------------------------------------------------------- the same words
@given(corpora, options, layouts, st.integers(0, 12), st.integers(0, 12), st.booleans())
@settings(max_examples=80)
def test_a_resumed_run_learns_what_one_run_learns(corpus, options, layout, n_before, n_after, has_specials):
    counts = bpe.WordCounts(corpus, special_tokens=[END, PAD] if has_specials else [])
    size = 256 + 2 * has_specials
    whole = bpe.Trainer(counts, **options, **layout)
    whole.run(size + n_before)
    half = whole.tokenizer()
    whole.run(size + n_before + n_after)
    resumed = bpe.Trainer.resume(half, counts, **options, **layout)
    resumed.check()
    assert resumed.tokenizer() == half
    resumed.run(size + n_before + n_after)
    resumed.check()
    assert resumed.merges == whole.merges
    assert resumed.tokenizer() == whole.tokenizer()


@given(corpora, options, layouts, st.integers(0, 12), st.integers(0, 12), st.booleans())
@settings(max_examples=60)
def test_with_vocab_size_is_a_run_to_the_smaller_size(corpus, options, layout, n_less, n_more, has_specials):
    counts = bpe.WordCounts(corpus, special_tokens=[END, PAD] if has_specials else [])
    trainer = bpe.Trainer(counts, **options, **layout)
    trainer.run(256 + 2 * has_specials + n_less)
    small = trainer.tokenizer()
    trainer.run(256 + 2 * has_specials + n_less + n_more)
    large = trainer.tokenizer()
    assert large.with_vocab_size(small.vocab_size) == small
    assert large.with_vocab_size(large.vocab_size) == large


# --------------------------------------------------------------------------------------------- other words
@given(corpora, corpora, ties_rules, st.integers(0, 10))
@settings(max_examples=60)
def test_other_words_start_with_the_old_merges_done(old, new, ties, n_before):
    base = bpe.Trainer(bpe.WordCounts(old), ties=ties)
    base.run(256 + n_before)
    counts = bpe.WordCounts(new)
    trainer = bpe.Trainer.resume(base.tokenizer(), counts, ties=ties)
    trainer.check()
    trainer.run(300)
    trainer.check()

    pieces = IndexedPieces(counts.items())  # the reference, made to start from the same merges
    for left, right, new_id, _ in base.merges:
        pieces.token_bytes.append(pieces.token_bytes[left] + pieces.token_bytes[right])
        for number, sequence in enumerate(pieces.sequences):
            pieces.rewrite(number, merge_sequence(sequence, (left, right), new_id))
    expected = learn(pieces, 300 - 256 - len(base.merges), ties=ties)
    assert [tuple(merge) for merge in trainer.merges[len(base.merges) :]] == [tuple(m) for m in expected]
    extended = trainer.tokenizer()
    for number in range(256 + len(base.merges)):
        assert extended.token_bytes(number) == base.tokenizer().token_bytes(number)
    assert extended.with_vocab_size(256 + len(base.merges)) == base.tokenizer()


def test_new_words_are_shorter_in_the_extended_vocabulary(book):
    base = bpe.train([book], 600, special_tokens=[END])
    domain = "E = mc^2; F = ma; \\frac{\\partial u}{\\partial t} = \\alpha \\nabla^2 u\n" * 3
    counts = bpe.count_words([domain], special_tokens=[END])
    trainer = bpe.Trainer.resume(base, counts, min_count=2)
    trainer.run(700)
    extended = trainer.tokenizer()
    assert extended.merges[: len(base.merges)] == base.merges
    assert len(extended.encode(domain)) < 0.6 * len(base.encode(domain))
    assert extended.decode(extended.encode(domain + book)) == domain + book
    assert extended.special_tokens == {END: extended.vocab_size - 1}


def test_limits_hold_for_the_new_merges_only():
    words = {"abcdef": 5, "xy": 2, "xyz": 1}
    base = bpe.train(bpe.WordCounts(words), 256 + 5)
    assert base.token_bytes(260) == b"abcdef"
    trainer = bpe.Trainer.resume(base, bpe.WordCounts(words), max_token_length=2, min_count=3)
    trainer.check()
    assert trainer.merges[4].count == 5
    trainer.run(300)
    trainer.check()
    assert [bytes((a, b)) for a, b, *_ in trainer.merges[5:]] == [b"xy"]


def test_every_id_stays_with_keep_ids():
    words = {"abcd": 3, "xy": 2}
    base = bpe.train(bpe.WordCounts(words, special_tokens=[END, PAD]), 260)
    counts = bpe.WordCounts(words, special_tokens=[PAD, END])
    moved = bpe.Trainer.resume(base, counts)
    moved.run(262)
    assert moved.tokenizer().special_tokens == {END: 260, PAD: 261}
    kept = bpe.Trainer.resume(base, counts, keep_ids=True)
    assert kept.tokenizer() == base
    kept.run(262)
    kept.check()
    tok = kept.tokenizer()
    assert tok.special_tokens == base.special_tokens == {END: 258, PAD: 259}
    assert tok.vocab_size == 262
    assert [tok.token_bytes(i) for i in (256, 257, 260, 261)] == [b"ab", b"cd", b"abcd", b"xy"]
    again = bpe.Trainer.resume(tok, counts)
    assert again.tokenizer() == tok
    assert tok.with_vocab_size(260) == base
    assert tok.encode("abcdxy") == [260, 261]


# ------------------------------------------------------------------------------- vocabularies from elsewhere
def test_a_vocabulary_with_other_ids_and_tokens_of_no_merge_keeps_them():
    token_bytes = {300 + value: bytes([value]) for value in range(256)}
    token_bytes |= {7: b"ab", 3: b"abc", 900: b"cd"}
    base = Tokenizer(
        token_bytes=token_bytes, merges=[(397, 398), (7, 399)], pattern="gpt2", special_tokens={END: 950}
    )
    words = {"abcabc": 2, "abx": 3, "cd": 5}
    trainer = bpe.Trainer.resume(base, bpe.WordCounts(words, special_tokens=[END]), ties="first")
    assert trainer.merges == [(397, 398, 7, 7), (7, 399, 3, 4)]
    trainer.run(953)
    trainer.check()
    tok = trainer.tokenizer()
    assert tok.merges == [(397, 398), (7, 399), (7, 420), (3, 3)]  # not (c, d): that token is there already
    assert tok.token_bytes(901) == b"abx"
    assert tok.token_bytes(900) == b"cd"
    assert tok.special_tokens == {END: 952}
    with pytest.raises(ValueError, match="do not make the last ids"):
        base.with_vocab_size(950)


@pytest.mark.parametrize("keep", [None, lambda left, right: True])
def test_a_token_that_is_there_already_is_not_made_again(keep):
    tokens = {**Vocabulary.assemble([]), 256: b"ab"}
    base = Tokenizer(token_bytes=tokens, merges=[], pattern="gpt2")
    trainer = bpe.Trainer.resume(base, bpe.WordCounts({"ab": 2, "abc": 2}), keep=keep)
    trainer.run(300)
    assert trainer.tokenizer().merges == [(98, 99), (97, 257)]


# ----------------------------------------------------------------------------------------------- refusals
def test_what_does_not_fit_together_is_refused():
    base = bpe.train(bpe.WordCounts({"abc": 3}, special_tokens=[END]), 259)
    resume = bpe.Trainer.resume
    with pytest.raises(TypeError, match="must be a Tokenizer, not WordCounts"):
        resume(bpe.WordCounts({"a": 1}), bpe.WordCounts({"a": 1}))
    with pytest.raises(TypeError, match="WordCounts"):
        resume(base, {"abc": 3})
    with pytest.raises(ValueError, match="count with the pattern"):
        resume(base, bpe.WordCounts({"abc": 3}, pattern="cl100k", special_tokens=[END]))
    with pytest.raises(ValueError, match="count with those"):
        resume(base, bpe.WordCounts({"abc": 3}))
    with pytest.raises(ValueError, match="no words"):
        resume(base, bpe.WordCounts(special_tokens=[END]))
    counts = bpe.WordCounts({"abc": 3}, special_tokens=[END])
    with pytest.raises(ValueError, match=r"at least 259 .existing tokens and 1 special"):
        resume(base, counts).run(258)
    with pytest.raises(ValueError, match="ties"):
        resume(base, counts, ties="last")


def test_merges_that_no_training_makes_are_refused():
    counts = bpe.WordCounts({"abc": 3})
    tokens = {**Vocabulary.assemble([]), 256: b"ab", 257: b"abc", 258: b"bc"}
    twice = Tokenizer(token_bytes=tokens, merges=[(97, 98), (256, 99), (98, 99), (97, 258)], pattern="gpt2")
    with pytest.raises(ValueError, match="merges 1 and 3 make the same id 257"):
        bpe.Trainer.resume(twice, counts)
    early = Tokenizer(token_bytes=tokens, merges=[(256, 99), (97, 98)], pattern="gpt2")
    with pytest.raises(ValueError, match=r"merge 0, .* uses id 256, which merge 1 makes"):
        bpe.Trainer.resume(early, counts)


def test_with_vocab_size_names_the_sizes_there_are():
    tok = bpe.train(bpe.WordCounts({"abc": 3}, special_tokens=[END]), 259)
    for size in (256, 260, -1):
        with pytest.raises(ValueError, match=f"from 257 to 259, not {size}"):
            tok.with_vocab_size(size)
    with pytest.raises(TypeError):
        tok.with_vocab_size(257.5)
