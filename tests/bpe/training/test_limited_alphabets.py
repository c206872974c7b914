"""Trainings from a part of the bytes, against the reference; resuming them, files of them, and errors."""

import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe
from bpe.reference import IndexedPieces, alphabet_of, learn, leave_out
from bpe.training.options import Options
from bpe.training.state import bytes_left_out
from bpe.vocabulary.vocabulary import ALPHABETS

END, PAD = "<|end|>", "<|pad|>"
words = st.one_of(st.text("aab c", min_size=1, max_size=12), st.text("abcé€", min_size=1, max_size=6))
corpora = st.lists(st.tuples(words, st.integers(1, 4)), min_size=1, max_size=12)
options = st.fixed_dictionaries(
    {
        "ties": st.sampled_from(["smallest", "lexicographic", "first"]),
        "selection": st.sampled_from(["heap", "buckets"]),
        "min_count": st.integers(1, 3),
    }
)
presets = st.sampled_from([None, "gigatoken", "huggingface"])


@st.composite
def limits(draw):
    initial = draw(st.sampled_from([b"", b"c", b"za", b"\xe9 \x00"]))
    limit = draw(st.none() | st.integers(max(1, len(initial)), len(initial) + 6))
    return {"initial_alphabet": initial} | ({} if limit is None else {"limit_alphabet": limit})


def alphabet_by_reference(counts, limits):
    return alphabet_of(counts.items(), limits["initial_alphabet"], limits.get("limit_alphabet"))


@given(corpora, limits())
@settings(max_examples=100)
def test_the_alphabet_is_that_of_the_reference(corpus, limits):
    counts = bpe.WordCounts(corpus)
    left_out = bytes_left_out(counts, Options(**limits))
    assert sorted(left_out) == sorted({*range(256)} - {*alphabet_by_reference(counts, limits)})


@given(corpora, options, presets, limits())
@settings(max_examples=120)
def test_every_merge_is_that_of_the_reference(corpus, options, like, limits):
    counts = bpe.WordCounts(corpus, special_tokens=[END, PAD])
    trainer = bpe.Trainer(counts, **options, like=like, **limits)
    letters = alphabet_by_reference(counts, limits)
    # The reference knows no order of ids but that of values: it is given the letters by their ids.
    order = [value for value in ALPHABETS["gpt2" if like else "bytes"] if value in letters]
    if options["ties"] == "lexicographic":
        order = sorted(letters)
    id_of = dict(zip(order, range(256), strict=False))
    pieces = IndexedPieces(
        [(bytes(map(id_of.get, word)), count) for word, count in leave_out(counts.items(), letters)]
    )
    rules = {name: options[name] for name in ("ties", "min_count")}
    expected = learn(pieces, 10_000, **rules)
    tokens = [bytes(order[value] for value in token) for token in pieces.token_bytes[256:]]
    trainer.check()
    for merge in expected:
        assert trainer.step().count == merge.count
        trainer.check()
    assert trainer.step() is None
    tok = trainer.tokenizer()
    first = 2 * (like == "huggingface") + len(letters)
    assert [tok.token_bytes(number) for number in range(first, first + len(tokens))] == tokens
    assert sorted(tok.token_bytes(first - 1 - i) for i in range(len(letters))) == [
        bytes([value]) for value in letters
    ]
    others = range(tok.vocab_size - 256 + len(letters), tok.vocab_size)
    expected_others = [value for value in ALPHABETS["gpt2" if like else "bytes"] if value not in letters]
    assert [tok.token_bytes(number) for number in others] == [bytes([value]) for value in expected_others]
    last = {END: first + len(tokens), PAD: first + len(tokens) + 1}
    assert tok.special_tokens == ({END: 0, PAD: 1} if like == "huggingface" else last)
    assert tok.decode_bytes(tok.encode("all bytes: aab cé€\0")) == "all bytes: aab cé€\0".encode()


@given(corpora, options, presets, limits(), st.integers(0, 9), st.integers(0, 9))
@settings(max_examples=80)
def test_a_resumed_run_learns_what_one_run_learns(corpus, options, like, limits, n_before, n_after):
    counts = bpe.WordCounts(corpus, special_tokens=[END, PAD])
    size = 2 + len(alphabet_by_reference(counts, limits))
    whole = bpe.Trainer(counts, **options, like=like, **limits)
    whole.run(size + n_before)
    half = pickle.loads(pickle.dumps(whole.tokenizer()))
    whole.run(size + n_before + n_after)
    resumed = bpe.Trainer.resume(half, counts, **options, **limits)
    resumed.check()
    assert resumed.tokenizer() == half
    resumed.run(size + n_before + n_after)
    resumed.check()
    assert resumed.merges == whole.merges
    assert resumed.tokenizer() == whole.tokenizer()


@given(corpora, options, presets, limits(), st.integers(0, 9))
@settings(max_examples=40)
def test_a_resumed_run_that_keeps_all_ids_makes_the_same_tokens(corpus, options, like, limits, n_before):
    counts = bpe.WordCounts(corpus, special_tokens=[END, PAD])
    whole = bpe.Trainer(counts, **options, like=like, **limits)
    whole.run(2 + len(alphabet_by_reference(counts, limits)) + n_before)
    half = whole.tokenizer()
    whole.run(10_000)
    resumed = bpe.Trainer.resume(half, counts, keep_ids=True, **options, **limits)
    resumed.run(10_000)
    resumed.check()
    large, expected = resumed.tokenizer(), whole.tokenizer()
    if options["ties"] != "smallest":  # which goes by ids
        assert {*large.engine.vocabulary.id_of} == {*expected.engine.vocabulary.id_of}
    assert large.special_tokens == half.special_tokens
    for number in range(half.vocab_size):
        assert large.token_bytes(number) == half.token_bytes(number)


def test_words_of_nothing_else_and_no_words_at_all():
    trainer = bpe.Trainer(bpe.WordCounts({"xx": 3, "yx": 1}), initial_alphabet=b"a", limit_alphabet=1)
    trainer.run(300)
    trainer.check()
    assert trainer.merges == []
    assert trainer.tokenizer().vocab_size == 256
    with pytest.raises(ValueError, match="no words"):
        bpe.Trainer(bpe.WordCounts({}), initial_alphabet=b"")


def test_bytes_that_occur_most_are_found_past_64_bits():
    counts = bpe.WordCounts({"a": 2**63 - 1, "b": 2**62, "cc": 1, "ac": 2**62})
    few, more = (Options(initial_alphabet=b"", limit_alphabet=n) for n in (1, 2))
    assert bytes({*b"abc"} - bytes_left_out(counts, few)) == b"a"
    assert bytes(sorted({*b"abc"} - bytes_left_out(counts, more))) == b"ac"


@pytest.mark.parametrize("format", ["native", "huggingface", "gpt2", "tiktoken"])
def test_files(book, tmp_path, format):
    tok = bpe.train([book[:20_000]], 500, special_tokens=[END], initial_alphabet=b"", limit_alphabet=30)
    assert tok.vocab_size == 500 + 226
    path, given = tmp_path / "tok.json", {}
    if format == "native":
        tok.save(path)
        back = bpe.Tokenizer.load(path)
    else:
        getattr(tok, f"save_{format}")(path)
        if format == "tiktoken":
            given = {"pattern": "gpt2", "special_tokens": tok.special_tokens}
        back = getattr(bpe.Tokenizer, f"from_{format}")(path, **given)
    assert back == tok
    text = f"{book[-3000:]} Zürich 漢字\0"
    assert back.encode(text) == tok.encode(text)
    assert back.decode(back.encode(text)) == text


# -------------------------------------------------------------------------------------------------- errors
@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"limit_alphabet": 100}, ValueError, "less than the 256 bytes of initial_alphabet"),
        ({"limit_alphabet": 1, "initial_alphabet": b"ab"}, ValueError, "less than the 2 bytes"),
        ({"limit_alphabet": 0, "initial_alphabet": b""}, ValueError, "at least 1"),
        ({"limit_alphabet": 2.5, "initial_alphabet": b""}, TypeError, "integer"),
        ({"initial_alphabet": "ab"}, TypeError, "must be bytes, not str"),
        ({"initial_alphabet": ["a"]}, TypeError, "must be bytes, not list"),
        ({"like": "tokenizers"}, ValueError, "like must be one of 'huggingface', 'gigatoken', not 'tokeni"),
        ({"like": "huggingface", "max_token_length": 0}, ValueError, "at least 1"),
    ],
)
def test_senseless_options(given, error, message):
    counts = bpe.WordCounts({"ab": 2})
    tok = bpe.train(counts, 257)
    for train in (
        lambda: bpe.Trainer(counts, **given),
        lambda: bpe.Trainer.resume(tok, counts, **given),
        lambda: bpe.train(["ab"], 300, **given),
    ):
        with pytest.raises(error, match=message):
            train()


def test_a_size_below_the_alphabet_is_refused():
    for corpus in (bpe.WordCounts({"abc": 2}), ["abc"]):
        with pytest.raises(ValueError, match=r"at least 3 \(3 bytes and 0 special tokens\), not 2"):
            bpe.train(corpus, 2, initial_alphabet=b"")
    untouched = iter(["abc"])
    with pytest.raises(ValueError, match=r"at least 4 \(3 bytes and 1 special tokens\), not 3"):
        bpe.train(untouched, 3, special_tokens=[END], initial_alphabet=b"xyz")
    assert [*untouched] == ["abc"]  # refused before the long work


def test_a_resumed_training_must_have_the_bytes_of_its_merges():
    counts = bpe.WordCounts({"ab": 3, "cc": 9})
    tok = bpe.train(counts, 257, keep=lambda left, right: left + right == b"ab")
    with pytest.raises(
        ValueError, match=r"merge 0, \(97, 98\), requires b'b', which the alphabet leaves out"
    ):
        bpe.Trainer.resume(tok, counts, initial_alphabet=b"a", limit_alphabet=2)
