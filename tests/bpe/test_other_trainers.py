"""The same merges as other trainers, each with its own tie rule; those that are not installed are skipped.

``asv_benchmarks/same_merges.py`` calls them, and does the same for large corpora.
"""

import importlib.util
import random
from pathlib import Path

import pytest

import bpe

COMMAND = Path(__file__).parents[2] / "asv_benchmarks" / "same_merges.py"

# Small alphabets: ties at every merge, and runs.
ALPHABETS = ["a", "ab", "ab ", "abc  ", "aab é€😀 ", "abcdefgh   \n.,1"]


@pytest.fixture(scope="module")
def command():
    spec = importlib.util.spec_from_file_location("same_merges", COMMAND)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def texts(book):
    generator = random.Random(5)
    for alphabet in ALPHABETS:
        for length in (1, 2, 5, 20, 100, 500):
            yield "".join(generator.choice(alphabet) for _ in range(length)), 300
    yield book, 2000
    yield f"{book[:3000]}<|endoftext|>{book[2000:9000]}<|endoftext|>", 100_000


@pytest.mark.parametrize("name", ["rustbpe", "bpeasy", "gigatoken", "tokenizers"])
def test_the_same_merges(name, command, book, tmp_path):
    pytest.importorskip(name)
    train, options = command.OTHERS[name]
    path = tmp_path / "corpus.txt"
    for text, vocab_size in texts(book):
        path.write_bytes(text.encode())
        trainer = bpe.Trainer(bpe.WordCounts.from_corpus(path, special_tokens=[command.SPECIAL]), **options)
        trainer.run(vocab_size)
        assert command.first_difference(trainer, train(path, len(trainer.merges))) is None, text


@pytest.mark.parametrize("min_count", [1, 2, 5])
@pytest.mark.parametrize("max_token_length", [None, 2, 3, 5])
def test_the_same_limits(min_count, max_token_length, command, book, tmp_path):
    """In tokenizers, a token is shorter than the limit, except tokens of two bytes."""
    pytest.importorskip("tokenizers")
    train, options = command.OTHERS["tokenizers"]
    path = tmp_path / "corpus.txt"
    path.write_text(book, "utf-8")
    counts = bpe.WordCounts.from_corpus(path, special_tokens=[command.SPECIAL])
    trainer = bpe.Trainer(counts, min_count=min_count, max_token_length=max_token_length, **options)
    trainer.run(3000)
    theirs = {} if max_token_length is None else {"max_token_length": max_token_length + 1}
    learned = train(path, 3000 - 257, min_frequency=min_count, **theirs)
    assert len(learned) == len(trainer.merges)
    assert command.first_difference(trainer, learned) is None


def test_the_same_ids(command, book):
    tokenizers = pytest.importorskip("tokenizers")
    tok = bpe.train([book], 2000, special_tokens=[command.SPECIAL], alphabet="gpt2", special_first=True)
    other = tokenizers.Tokenizer(tokenizers.models.BPE())
    other.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=2000, special_tokens=[command.SPECIAL], initial_alphabet=alphabet, show_progress=False
    )
    other.train_from_iterator([book], trainer)
    assert tok.encode(book[-5000:]) == other.encode(book[-5000:]).ids
    assert tok.special_tokens == {command.SPECIAL: 0}


def test_the_command_says_so(book, tmp_path, command, monkeypatch, capsys):
    path = tmp_path / "corpus.txt"
    path.write_text(book[:5000], "utf-8")
    monkeypatch.setattr(command, "OTHERS", {"bpe": (lambda path, n: [b"th"] * n, {})})
    assert command.main(path, 300) == 1
    assert "other from merge 0 on" in capsys.readouterr().out
