"""Trainings that equal those of Hugging Face's BpeTrainer, option by option: vocabulary, merges and ids."""

import json
import random
from collections import Counter

import pytest
from click.testing import CliRunner

import bpe
from bpe.cli import main
from bpe.vocabulary.byte_level import text_of
from tests.optional import optional

tokenizers = optional("tokenizers")

SPECIALS = ["<|endoftext|>", "<|pad|>", "[MASK]"]
LIKE_THEIRS = {"like": "huggingface"}
TEXTS = ["a", "abc  ", "aab é€😀 ", "abcdefgh \n.,1", "aaaabbbccdé "]  # the letters of a corpus
UNSEEN = "all of it: Zürich, 漢字,\r\n\t42 😀 aab"


def theirs(corpus, vocab_size, initial_alphabet=None, **options):
    letters = bytes(range(256)) if initial_alphabet is None else initial_alphabet
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=SPECIALS,
        initial_alphabet=[text_of(bytes([value])) for value in letters],
        show_progress=False,
        **options,
    )
    tok = tokenizers.Tokenizer(tokenizers.models.BPE())
    tok.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tok.train_from_iterator(corpus, trainer)
    return tok


def corpus_of(seed):
    generator = random.Random(seed)
    letters = generator.choice(TEXTS)
    lengths = [generator.choice([5, 30, 200, 900]) for _ in range(generator.randint(1, 4))]
    return ["".join(generator.choices(letters, k=length)) for length in lengths], generator


def merges_of(tok):
    return json.loads(tok.to_str())["model"]["merges"]


def assert_same(ours, others, texts):
    written = ours.to_huggingface()
    assert written.get_vocab() == others.get_vocab()
    assert merges_of(written) == merges_of(others)
    for text in texts:
        expected = others.encode(text).ids
        assert written.encode(text).ids == expected
        assert ours.encode(text, allowed_special="all") == expected


@pytest.mark.parametrize("seed", range(40))
def test_limits(seed):
    corpus, generator = corpus_of(seed)
    frequency = generator.choice([0, 1, 2, 5])
    length = generator.choice([None, 1, 2, 3, 4, 5, 8, 9])
    limits = {} if length is None else {"max_token_length": length}
    others = theirs(corpus, 300, min_frequency=frequency, **limits)
    ours = bpe.train(
        corpus, 300, special_tokens=SPECIALS, min_count=max(1, frequency), **limits, **LIKE_THEIRS
    )
    assert_same(ours, others, [*corpus, UNSEEN, f"a{SPECIALS[1]}b{SPECIALS[0]}"])


@pytest.mark.parametrize("frequency", [0, 2, 6])
@pytest.mark.parametrize("length", [None, 2, 3, 8])
def test_limits_on_a_book(book, frequency, length):
    limits = {} if length is None else {"max_token_length": length}
    others = theirs([book], 3000, min_frequency=frequency, **limits)
    ours = bpe.train(
        [book], 3000, special_tokens=SPECIALS, min_count=max(1, frequency), **limits, **LIKE_THEIRS
    )
    assert_same(ours, others, [book[-5000:], UNSEEN])


def alphabets_of(corpus, initial):
    """Yield limits with their alphabets; not where two letters are equally frequent, and chance decides."""
    counts = Counter(value for text in corpus for value in text.encode() if value not in initial)
    others = counts.most_common()
    yield None, {*initial, *counts}
    for n in range(not initial, len(others) + 2):
        if not 0 < n < len(others) or others[n - 1][1] > others[n][1]:
            yield len(initial) + n, {*initial, *(value for value, _ in others[:n])}


@pytest.mark.parametrize("seed", range(60))
def test_alphabets(seed):
    corpus, generator = corpus_of(seed)
    initial = generator.choice([b"", b"ab", b"zab", bytes(range(100, 120))])
    limit, letters = generator.choice([*alphabets_of(corpus, initial)])
    options = {"initial_alphabet": initial} | ({} if limit is None else {"limit_alphabet": limit})
    others = theirs(corpus, 120, **options)
    ours = bpe.train(corpus, 120, special_tokens=SPECIALS, **options, **LIKE_THEIRS)
    written, expected = ours.to_huggingface(), others.get_vocab()
    vocabulary = written.get_vocab()
    assert {token: vocabulary[token] for token in expected} == expected
    left_out = sorted(vocabulary[text_of(bytes([value]))] for value in range(256) if value not in letters)
    assert left_out == [*range(len(expected), len(vocabulary))]
    assert merges_of(written) == merges_of(others)
    for text in [*corpus, UNSEEN]:
        # tokenizers drops letters outside of its alphabet, and merges what is around them.
        kept = "".join(letter for letter in text if {*letter.encode()} <= letters)
        assert ours.encode(kept) == written.encode(kept).ids == others.encode(kept).ids
        assert ours.decode(ours.encode(text)) == written.decode(written.encode(text).ids) == text


def test_a_letter_left_out_is_dropped_there_and_has_an_id_here():
    corpus, limits = ["ab ab ab xb"], {"initial_alphabet": b"", "limit_alphabet": 3}
    others = theirs(corpus, 100, **limits)
    ours = bpe.train(corpus, 100, special_tokens=SPECIALS, **limits, **LIKE_THEIRS)
    assert others.encode("aqb").tokens == ["ab"]
    assert [ours.token_bytes(number) for number in ours.encode("aqb")] == [b"a", b"q", b"b"]
    assert ours.token_id(b"q") >= others.get_vocab_size()


def test_the_command(book, tmp_path):
    text, path, saved = tmp_path / "book.txt", tmp_path / "tok.json", tmp_path / "tokenizer.json"
    text.write_text(book, "utf-8")
    options = ["--vocab-size", "1500", "--like", "huggingface", "--min-count", "2", "--quiet"]
    specials = [part for token in SPECIALS for part in ("--special-token", token)]
    for command in (
        ["train", str(text), *options, *specials, "-o", str(path)],
        ["convert", str(path), str(saved)],
    ):
        result = CliRunner().invoke(main, command)
        assert result.exit_code == 0, result.output
    others = theirs([book], 1500, min_frequency=2)
    assert_same(bpe.Tokenizer.load(path), others, [book[:3000], UNSEEN])
    written = tokenizers.Tokenizer.from_file(str(saved))
    assert written.encode(UNSEEN).ids == others.encode(UNSEEN).ids
    assert [written.token_to_id(token) for token in SPECIALS] == [0, 1, 2]
