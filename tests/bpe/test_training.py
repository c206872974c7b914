"""The trainer against the reference, after every merge; its options and its errors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe
from bpe.reference import train_indexed, train_vanilla
from bpe.training.merging import SCRATCH_ROWS, count_pairs, merge_pair
from structures import CountBuckets, MaxHeap, PairIndex, TokenList, unpack_pair

SPECIAL = "<|endoftext|>"

# Alphabets that make runs, ties and one-letter words likely.
words = st.one_of(
    st.text("a", min_size=1, max_size=12),
    st.text("ab", min_size=1, max_size=10),
    st.text("aab c", min_size=1, max_size=12),
    st.text("abcé€", min_size=1, max_size=6),
    st.binary(min_size=1, max_size=5),
)
corpora = st.lists(st.tuples(words, st.integers(1, 4)), min_size=1, max_size=12)
selections = st.sampled_from(["heap", "buckets"])
ties_rules = st.sampled_from(["smallest", "lexicographic"])


@given(corpora, selections, ties_rules)
@settings(max_examples=60)
def test_every_merge_is_that_of_the_reference_and_leaves_all_counts_right(corpus, selection, ties):
    counts = bpe.WordCounts(corpus)
    expected = train_indexed(dict(counts.items()), 10_000, ties=ties)
    trainer = bpe.Trainer(counts, selection=selection, ties=ties)
    trainer.check()
    learned = []
    while (merge := trainer.step()) is not None:
        trainer.check()
        learned.append(tuple(merge))
    assert learned == [tuple(merge) for merge in expected]


@given(corpora, selections, ties_rules, st.integers(1, 30))
@settings(max_examples=40)
def test_a_run_is_its_steps(corpus, selection, ties, n_merges):
    counts = bpe.WordCounts(corpus)
    stepped = bpe.Trainer(counts, selection=selection, ties=ties)
    for _ in range(n_merges):
        stepped.step()
    run = bpe.Trainer(counts, selection=selection, ties=ties)
    run.run(256 + n_merges // 2)
    run.run(256 + n_merges)
    assert run.merges == stepped.merges
    run.check()


@given(st.text("ab ", min_size=1, max_size=60), ties_rules)
@settings(max_examples=40)
def test_unchunked_text_agrees_with_the_vanilla_algorithm(text, ties):
    tok = bpe.train([text], vocab_size=300, pattern="none", ties=ties)
    expected = train_vanilla(text.encode(), 44, ties=ties)
    assert tok.merges == [merge.pair for merge in expected]


@given(corpora, st.integers(1, 8), ties_rules)
@settings(max_examples=40)
def test_min_count_ends_the_run_where_the_reference_ends(corpus, min_count, ties):
    counts = bpe.WordCounts(corpus)
    trainer = bpe.Trainer(counts, min_count=min_count, ties=ties)
    trainer.run(10_000)
    expected = train_indexed(dict(counts.items()), 10_000, min_count=min_count, ties=ties)
    assert [tuple(merge) for merge in trainer.merges] == [tuple(merge) for merge in expected]


@pytest.mark.parametrize("text", ["a" * n for n in (1, 2, 3, 4, 5, 7, 8, 16, 31)] + ["abab" * 5, "aabaa" * 4])
@pytest.mark.parametrize("ties", ["smallest", "lexicographic"])
def test_runs(text, ties):
    trainer = bpe.Trainer(bpe.WordCounts({text: 3}), ties=ties)
    expected = train_indexed({text.encode(): 3}, 100, ties=ties)
    while (merge := trainer.step()) is not None:
        trainer.check()
        assert tuple(merge) == tuple(expected.pop(0))
    assert expected == []


def test_the_merges_do_not_depend_on_the_order_of_the_words():
    words = [("abc", 3), ("bca", 3), ("cab", 3), ("aab", 2), ("x", 1)]
    results = set()
    for order in (words, words[::-1], sorted(words)):
        trainer = bpe.Trainer(bpe.WordCounts(order))
        trainer.run(300)
        results.add(tuple(trainer.merges))
    assert len(results) == 1


@pytest.mark.parametrize("factor", [2**31, 2**53 - 1])
def test_counts_stay_exact_past_32_and_53_bits(factor):
    words = {"ab": factor + 1, "cd": factor, "abcd": 3}
    trainer = bpe.Trainer(bpe.WordCounts(words))
    assert trainer.step() == (97, 98, 256, factor + 4)
    assert trainer.step() == (99, 100, 257, factor + 3)
    trainer.check()


# ------------------------------------------------------------------------------------- special tokens
def test_special_tokens_are_never_counted_never_merged_across_and_come_last():
    tok = bpe.train([f"ab{SPECIAL}ab{SPECIAL}"] * 5, vocab_size=300, special_tokens=[SPECIAL, "<|pad|>"])
    assert tok.merges == [(97, 98)]
    assert tok.special_tokens == {SPECIAL: 257, "<|pad|>": 258}
    assert tok.vocab_size == 259
    assert tok.encode(f"ab{SPECIAL}ab", allowed_special="all") == [256, 257, 256]


def test_vocab_size_counts_bytes_merges_and_specials():
    text = ["the quick brown fox jumps over the lazy dog " * 3]
    tok = bpe.train(text, vocab_size=270, special_tokens=[SPECIAL])
    assert tok.vocab_size == 270
    assert len(tok.merges) == 13
    assert tok.special_tokens == {SPECIAL: 269}


# ------------------------------------------------------------------------------------ options, errors
def test_training_from_counts_is_training_from_the_corpus():
    text = ["low low low lower lowest newest widest"]
    counts = bpe.WordCounts.from_corpus(text)
    assert bpe.train(counts, 270) == bpe.train(text, 270)


def test_progress_is_reported_and_an_exception_in_it_leaves_a_usable_trainer():
    def stop(done, total):
        raise KeyboardInterrupt

    counts = bpe.WordCounts({"abcdefgh" * 3: 2, "hgfedcba": 1})
    trainer = bpe.Trainer(counts)
    with pytest.raises(KeyboardInterrupt):
        trainer.run(262, progress=stop)
    trainer.check()
    seen = []
    trainer.run(266, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] <= seen[-1][1]
    whole = bpe.Trainer(counts)
    whole.run(266)
    assert trainer.merges == whole.merges


def test_a_tokenizer_can_be_had_at_any_moment():
    trainer = bpe.Trainer(bpe.WordCounts({"abab": 2}))
    assert trainer.tokenizer().vocab_size == 256
    trainer.step()
    assert trainer.tokenizer().encode("abab") == [256, 256]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"vocab_size": 255}, "at least 256"),
        ({"vocab_size": 256, "special_tokens": [SPECIAL]}, "at least 257"),
        ({"vocab_size": 2**31}, "at most"),
        ({"vocab_size": 300, "ties": "largest"}, "ties must be one of 'smallest', 'lexicographic'"),
        ({"vocab_size": 300, "selection": "list"}, "selection must be one of 'heap', 'buckets'"),
        ({"vocab_size": 300, "threads": 0}, "threads must be at least 1"),
        ({"vocab_size": 300, "pattern": "gpt9"}, "gpt9"),
        ({"vocab_size": 300, "pattern": "(a"}, "pattern"),
    ],
)
def test_bad_arguments_are_refused_by_name(arguments, message):
    with pytest.raises(ValueError, match=message):
        bpe.train(["some text"], **arguments)


def test_bad_corpora_are_refused():
    with pytest.raises(TypeError, match="list"):
        bpe.train("a bare string", vocab_size=300)
    with pytest.raises(ValueError, match="empty"):
        bpe.train([], vocab_size=300)
    with pytest.raises(ValueError, match="no words"):
        bpe.Trainer(bpe.WordCounts())
    with pytest.raises(TypeError, match="WordCounts"):
        bpe.Trainer({"a": 1})
    with pytest.raises(ValueError, match="bring their own"):
        bpe.train(bpe.WordCounts({"a": 1}), 300, special_tokens=[SPECIAL])


def test_a_smaller_vocabulary_than_learned_is_refused():
    trainer = bpe.Trainer(bpe.WordCounts({"abcd": 2}))
    trainer.run(258)
    with pytest.raises(ValueError, match="2 are learned"):
        trainer.run(257)


# -------------------------------------------------------------------------------------- the merge kernel
@pytest.mark.parametrize("queue_class", [MaxHeap, CountBuckets])
def test_merge_pair_names_what_it_created(queue_class):
    tokens = TokenList(np.frombuffer(b"xababy", np.uint8))
    index, queue = PairIndex.build(tokens), queue_class()
    weight_of = np.array([5])
    count_pairs(tokens, queue, weight_of)
    created = merge_pair(
        tokens, index, queue, weight_of, np.zeros((SCRATCH_ROWS, 257), np.int64), 97, 98, 256
    )
    assert {unpack_pair(pair) for pair in created} == {(120, 256), (256, 256), (256, 121)}
    assert dict(queue.items()) == dict.fromkeys(created.tolist(), 5)
    assert list(tokens) == [120, 256, 256, 121]
