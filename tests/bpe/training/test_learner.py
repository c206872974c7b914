"""The trainer against the reference, after every merge; its options and its errors."""

import copy
import pickle
import time
import zlib
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe
from bpe.reference import IndexedPieces, learn, train_indexed, train_vanilla
from bpe.training import learner
from bpe.training.merging import merge_pair
from bpe.training.state import (
    LENGTH,
    MIN_COUNT,
    N_TOKENS,
    START,
    TOKEN_ROWS,
    WEIGHT,
    State,
    count_pairs,
    in_order,
    stretch_at,
    stretches_of,
)
from bpe.vocabulary.vocabulary import ALPHABETS
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
ties_rules = st.sampled_from(["smallest", "lexicographic", "first", "gpt2"])
presets = st.sampled_from([None, "gigatoken", "huggingface"])


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


@given(corpora, selections, ties_rules, st.integers(1, 12), st.integers(2, 9), st.integers(2, 6), st.data())
@settings(max_examples=150)
def test_pairs_that_are_put_off_come_in_time(corpus, selection, ties, n_first, divisor, max_length, data):
    counts = bpe.WordCounts(corpus)
    options = {"selection": selection, "ties": ties, "min_count": data.draw(st.integers(1, 3))}
    if data.draw(st.booleans()):
        options["max_token_length"] = max_length
    asked: dict[str, list] = {"stepped": [], "run": []}
    vetoes = data.draw(st.booleans())

    def trainer(name):
        def keep(left, right):
            asked[name].append((left, right))
            return zlib.crc32(left + right) % divisor != 0

        return bpe.Trainer(counts, keep=keep if vetoes else None, **options)

    stepped, run = trainer("stepped"), trainer("run")  # only runs put pairs off
    while stepped.step():
        pass
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(learner, "PARTS", data.draw(st.sampled_from([1, 4])))
        patch.setattr(learner, "DIVISOR", 2)
        run.run(256 + n_first)
        run.check()
        run.run(10_000)
    run.check()
    assert run.merges == stepped.merges
    assert asked["run"] == asked["stepped"]


def test_a_large_run_puts_off_rare_pairs_and_learns_the_same(book):
    counts = bpe.count_words([book]).scale(1000)
    stepped, run = bpe.Trainer(counts), bpe.Trainer(counts)
    run.run(300)
    assert run._training.learner.numbers[MIN_COUNT] > 1000  # the count of what occurs once
    for size in (400, 2000, 5000):
        run.run(size)
    run.check()
    assert run.merges == [stepped.step() for _ in run.merges]


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 3)), min_size=1, max_size=40), st.data())
@settings(max_examples=60)
def test_runs_of_words_give_each_place_the_count_of_its_word(words, data):
    lengths, weight_of = np.array(words, np.int64).T
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    order = np.array(data.draw(st.permutations(range(len(words)))), np.int64)
    text = np.arange(offsets[-1]).astype(np.uint8)
    moved, offsets_moved = in_order(text, offsets, order)
    expected = [text[offsets[i] : offsets[i + 1]] for i in order]
    assert moved.tolist() == np.concatenate(expected).tolist()
    assert np.diff(offsets_moved).tolist() == lengths[order].tolist()
    weights = stretches_of(offsets_moved, weight_of[order])
    weight_at = np.repeat(weight_of[order], lengths[order])
    run = 0
    for position in sorted(data.draw(st.sets(st.integers(0, len(text) - 1)))):
        run = stretch_at(weights, position, run)
        assert weights[1, run] == weight_at[position]
        assert weights[0, run] <= position


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
@pytest.mark.parametrize("ties", ["smallest", "lexicographic", "first"])
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


@pytest.mark.parametrize("factor", [2**31, 2**53 - 1, 2**61])
@pytest.mark.parametrize("selection", ["heap", "buckets"])
@pytest.mark.parametrize("ties", ["smallest", "lexicographic", "first"])
def test_counts_stay_exact_past_32_and_53_bits(factor, selection, ties):
    words = {"ab": factor + 1, "cd": factor, "abcd": 3}
    trainer = bpe.Trainer(bpe.WordCounts(words), selection=selection, ties=ties)
    assert trainer.step() == (97, 98, 256, factor + 4)
    assert trainer.step() == (99, 100, 257, factor + 3)
    trainer.check()


def test_a_pair_count_that_leaves_int64_is_refused():
    with pytest.raises(OverflowError, match="passes"):
        bpe.Trainer(bpe.WordCounts({"ab": 2**62, "abc": 2**62}))
    trainer = bpe.Trainer(bpe.WordCounts({"ab": 2**62, "abc": 2**62 - 1}))
    assert trainer.step().count == 2**63 - 1


# ------------------------------------------------------------------------------------------- the tie rules
def test_first_goes_by_the_order_of_the_words_and_the_place_in_the_word():
    words = [("xyab", 2), ("bcxy", 1), ("bc", 2)]  # xy 3, bc 3, ya 2, ab 2, cx 1
    trainer = bpe.Trainer(bpe.WordCounts(words), ties="first")
    trainer.run(300)
    assert [(merge.left, merge.right) for merge in trainer.merges[:2]] == [(120, 121), (98, 99)]
    backwards = bpe.Trainer(bpe.WordCounts(words[::-1]), ties="first")
    assert backwards.step()[:2] == (98, 99)


@given(st.lists(st.tuples(st.text("abcd", min_size=1, max_size=20), st.just(1)), min_size=1, max_size=20))
@settings(max_examples=60)
def test_first_with_nothing_but_ties(corpus):
    counts = bpe.WordCounts(corpus)
    trainer = bpe.Trainer(counts, ties="first")
    trainer.run(10_000)
    expected = train_indexed(dict(counts.items()), 10_000, ties="first")
    assert [tuple(merge) for merge in trainer.merges] == [tuple(merge) for merge in expected]


def test_first_when_a_pair_is_tied_at_every_count_and_loses_its_first_place_each_time():
    n = 120
    own = [bytes([b"b"[0], 128 + i]) for i in range(n)]
    words = {pair: n - i - 1 for i, pair in enumerate(own) if n - i > 1}
    words |= {b"a" + pair: 1 for pair in own}
    counts = bpe.WordCounts(words)
    trainer = bpe.Trainer(counts, ties="first")
    trainer.run(10_000)
    assert [merge.right for merge in trainer.merges[: n - 1]] == list(range(128, 128 + n - 1))
    expected = train_indexed(dict(counts.items()), 10_000, ties="first")
    assert [tuple(merge) for merge in trainer.merges] == [tuple(merge) for merge in expected]
    assert len(trainer._training.learner._n_stale) > 0


@pytest.mark.parametrize("ties", ["smallest", "lexicographic", "first"])
def test_a_real_text_gives_the_merges_of_the_reference(book, ties):
    counts = bpe.count_words([book[:30_000]])
    trainer = bpe.Trainer(counts, ties=ties)
    trainer.run(256 + 400)
    trainer.check()
    expected = train_indexed(dict(counts.items()), 400, ties=ties)
    assert [tuple(merge) for merge in trainer.merges] == [tuple(merge) for merge in expected]


@pytest.mark.parametrize("threads", [1, 3])
def test_first_is_the_first_in_the_text_for_any_number_of_threads(book, tmp_path, threads):
    path = tmp_path / "book.txt"
    path.write_text(book, "utf-8")
    tok = bpe.train(path, 256 + 150, ties="first", threads=threads)
    expected = train_indexed(Counter(bpe.Pattern.of("gpt2").split_bytes(book.encode())), 150, ties="first")
    assert tok.merges == [merge.pair for merge in expected]


# ---------------------------------------------------------------------------------------------- options
@given(corpora, selections, ties_rules, st.integers(1, 7), presets, st.integers(1, 4))
@settings(max_examples=60)
def test_limits_pass_over_what_the_reference_passes_over(
    corpus, selection, ties, max_length, like, min_count
):
    counts = bpe.WordCounts(corpus)
    options = {"ties": ties, "max_token_length": max_length, "min_count": min_count}
    trainer = bpe.Trainer(counts, selection=selection, like=like, **options)
    trainer.check()
    words, order = dict(counts.items()), ALPHABETS["gpt2" if like else "bytes"]
    if ties == "smallest":  # which asks for ids: they are the bytes of the reference
        words = {bytes(map(order.index, word)): count for word, count in words.items()}
        order = ALPHABETS["bytes"]
    rule = "huggingface" if like == "huggingface" else "at_most"
    for left, right, new_id, count in train_indexed(words, 10_000, length_rule=rule, **options):
        pair = (order.index(token) if token < 256 else token for token in (left, right))
        assert tuple(trainer.step()) == (*pair, new_id, count)
        trainer.check()
    assert trainer.step() is None
    longest = max(2, max_length - 1) if like == "huggingface" else max_length
    assert max(map(len, trainer.tokenizer().engine.vocabulary.id_of)) <= longest


@given(corpora, selections, ties_rules, st.integers(2, 5), st.integers(2, 6))
@settings(max_examples=60)
def test_keep_is_a_veto_asked_once_for_each_pair(corpus, selection, ties, divisor, max_length):
    asked = []

    def keep(left, right):
        return sum(left + right) % divisor != 0

    def ask(left, right):
        asked.append((left, right))
        return keep(left, right)

    counts = bpe.WordCounts(corpus)
    trainer = bpe.Trainer(counts, selection=selection, ties=ties, max_token_length=max_length, keep=ask)
    pieces = IndexedPieces(counts.items())
    expected = learn(pieces, 10_000, ties=ties, max_token_length=max_length, keep=keep)
    for merge in expected:
        assert tuple(trainer.step()) == tuple(merge)
        trainer.check()
    assert trainer.step() is None
    trainer.check()
    assert len(set(asked)) == len(asked)
    assert all(keep(pieces.token_bytes[a], pieces.token_bytes[b]) for a, b, *_ in trainer.merges)


def test_an_exception_in_keep_changes_nothing():
    answers = iter([True, ValueError("no idea"), False, True, True, True])

    def keep(left, right):
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    trainer = bpe.Trainer(bpe.WordCounts({"abcd": 2, "ab": 1}), keep=keep)
    with pytest.raises(ValueError, match="no idea"):
        trainer.run(300)
    trainer.check()
    assert trainer.tokenizer().merges == [(97, 98)]
    trainer.run(300)
    trainer.check()
    assert trainer.tokenizer().merges == [(97, 98), (256, 99), (257, 100)]


@given(corpora, selections)
@settings(max_examples=30)
def test_an_alphabet_is_training_on_renumbered_bytes(corpus, selection):
    order = [*range(33, 127), *range(161, 173), *range(174, 256)]
    order += [value for value in range(256) if value not in order]
    assert ALPHABETS["gpt2"] == order
    counts = bpe.WordCounts(corpus)
    trainer = bpe.Trainer(counts, selection=selection, like="gigatoken")
    trainer.run(10_000)
    trainer.check()
    renumbered = {bytes(map(order.index, word)): count for word, count in counts.items()}
    expected = train_indexed(renumbered, 10_000)
    assert [tuple(merge) for merge in trainer.merges] == [tuple(merge) for merge in expected]
    assert [trainer.tokenizer().token_bytes(i) for i in range(256)] == [bytes([value]) for value in order]


@given(corpora, ties_rules)
@settings(max_examples=30)
def test_special_tokens_first_shift_every_id_and_change_nothing_else(corpus, ties):
    counts = bpe.WordCounts(corpus, special_tokens=[SPECIAL, "<|pad|>"])
    last = bpe.Trainer(counts, ties=ties, like="gigatoken")
    first = bpe.Trainer(counts, ties=ties, like="huggingface")
    for trainer in (last, first):
        trainer.run(290)
        trainer.check()
    assert [(a - 2, b - 2, c - 2, n) for a, b, c, n in first.merges] == [tuple(m) for m in last.merges]
    tok = first.tokenizer()
    assert tok.special_tokens == {SPECIAL: 0, "<|pad|>": 1}
    assert tok.vocab_size == last.tokenizer().vocab_size
    assert tok.decode_bytes(tok.encode("abc caab é")) == "abc caab é".encode()


@pytest.mark.parametrize("ties", ["smallest", "lexicographic", "first"])
def test_train_passes_every_option_on(book, ties):
    options = {
        "ties": ties, "min_count": 3, "max_token_length": 5, "like": "huggingface",
        "initial_alphabet": b"\0", "limit_alphabet": 40, "keep": lambda left, right: right != b"e",
    }  # fmt: skip
    tok = bpe.train([book], 500, special_tokens=[SPECIAL], **options)
    trainer = bpe.Trainer(bpe.count_words([book], special_tokens=[SPECIAL]), **options)
    trainer.run(500)
    assert tok == trainer.tokenizer()
    assert [len(tok.token_bytes(i)) for i in range(1, 41)] == [1] * 40
    assert tok.token_bytes(500 + 255 - 40) is not None
    tokens = [tok.token_bytes(i) for i in range(41, 500)]
    assert {*map(len, tokens)} == {2, 3, 4}
    assert not any(tok.token_bytes(b) == b"e" for a, b in tok.merges)


def test_the_log_is_that_of_the_merges():
    trainer = bpe.Trainer(bpe.WordCounts({"low": 5, "lower": 2, "newest": 6}))
    assert trainer.log.shape == (0, 4)
    trainer.run(262)
    assert [tuple(row) for row in trainer.log.tolist()] == [tuple(merge) for merge in trainer.merges]
    assert np.all(np.diff(trainer.log[:, 3]) <= 0)
    trainer.log[:] = 0
    assert trainer.merges[0].count > 0


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
    counts = bpe.count_words(text)
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


@pytest.mark.parametrize("clone", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_trainer_says_how_to_keep_it_instead_of_a_pickle(clone):
    with pytest.raises(TypeError, match=r"cannot be copied or pickled.*resume"):
        clone(bpe.Trainer(bpe.WordCounts({"ab": 1})))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"vocab_size": 255}, "at least 256"),
        ({"vocab_size": 256, "special_tokens": [SPECIAL]}, "at least 257"),
        ({"vocab_size": 2**31}, "at most"),
        (
            {"vocab_size": 300, "ties": "largest"},
            "ties must be one of 'smallest', .*'gpt2', not",
        ),
        ({"vocab_size": 300, "like": "minbpe"}, "like must be one of 'huggingface', 'gigatoken', not"),
        ({"vocab_size": 300, "max_token_length": 0}, "max_token_length must be at least 1"),
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
    with pytest.raises(ValueError, match="selection must be one of 'heap', 'buckets', not 'list'"):
        bpe.Trainer(bpe.WordCounts({"a": 1}), selection="list")
    with pytest.raises(TypeError, match="keep must be callable"):
        bpe.Trainer(bpe.WordCounts({"a": 1}), keep=b"a")
    with pytest.raises(ValueError, match="have their own"):
        bpe.train(bpe.WordCounts({"a": 1}), 300, special_tokens=[SPECIAL])


def test_a_smaller_vocabulary_than_learned_is_refused():
    trainer = bpe.Trainer(bpe.WordCounts({"abcd": 2}))
    trainer.run(258)
    with pytest.raises(ValueError, match="2 have already been learned"):
        trainer.run(257)


# -------------------------------------------------------------------------------------- the merge kernel
@pytest.mark.parametrize("queue_class", [MaxHeap, CountBuckets])
@pytest.mark.parametrize(
    ("min_count", "max_length", "created"),
    [
        (1, 9, {(120, 256): 5, (256, 256): 5, (256, 121): 6}),
        (6, 9, {(256, 121): 6}),
        (1, 3, {(120, 256): 5, (256, 121): 6}),
    ],
)
def test_merge_pair_names_what_it_created(queue_class, min_count, max_length, created):
    data, offsets = np.frombuffer(b"xababyaby", np.uint8), np.array([0, 6, 9])
    tokens, weight_of = TokenList(data, offsets), np.array([5, 1])
    index, queue = PairIndex.build(tokens), queue_class()
    assert count_pairs(data, offsets, weight_of, np.arange(256), np.zeros(1 << 16, np.int64), queue)
    assert queue[97 << 32 | 98] == 11
    for left, right in index.pairs().tolist() if min_count > 1 else ():
        if index.count(left, right) == 1:
            index.drop(left, right)
            del queue[left << 32 | right]
    of_token = np.zeros((TOKEN_ROWS, 257), np.int64)
    of_token[LENGTH, :256] = 1
    log, numbers = np.zeros((1, 4), np.int64), np.array([min_count, max_length, 0, 6 * 5 + 3])
    state = State(tokens, index, queue, stretches_of(offsets, weight_of), of_token, log, numbers)
    pairs = merge_pair(state, 97, 98, 256)
    assert (of_token[START, 256], of_token[LENGTH, 256]) == (1, 2)
    assert not of_token[WEIGHT:].any()
    assert {unpack_pair(pair) for pair in pairs} == set(created)
    assert {unpack_pair(pair): count for pair, count in queue.items()} == created
    assert list(tokens) == [120, 256, 256, 121, 256, 121]
    assert numbers[N_TOKENS] == 4 * 5 + 2


# --------------------------------------------------------------------------------------------- long words
def long_word(kind, n):
    generator = np.random.default_rng(n)
    return {
        "acgt": lambda: generator.choice(np.frombuffer(b"ACGT", np.uint8), n).tobytes(),
        "one letter": lambda: b"a" * n,
        "two letters": lambda: b"ab" * (n // 2),
        "random": lambda: generator.bytes(n),
    }[kind]()


@pytest.mark.parametrize("kind", ["acgt", "one letter", "two letters", "random"])
@pytest.mark.parametrize("ties", ["smallest", "lexicographic", "first"])
def test_a_long_word_takes_time_in_proportion(kind, ties):
    """Four times the length takes some five times as long; a quadratic step would make it sixteen."""

    def seconds(n):
        counts = bpe.WordCounts({long_word(kind, n): 1}, pattern="none")
        best = 1e9
        for _ in range(3):
            began = time.process_time()
            bpe.Trainer(counts, ties=ties).run(10**8)
            best = min(best, time.process_time() - began)
        return best

    seconds(100)  # compiles
    assert seconds(40_000) < 9 * seconds(10_000) + 0.01


@pytest.mark.parametrize("kind", ["acgt", "one letter", "random"])
def test_a_word_of_a_megabyte(kind):
    word = long_word(kind, 1_000_000)
    trainer = bpe.Trainer(bpe.WordCounts({word: 1}, pattern="none"), min_count=2)
    trainer.run(2000)
    tok = trainer.tokenizer()
    assert tok.decode_bytes(tok.encode_ordinary(word)) == word
