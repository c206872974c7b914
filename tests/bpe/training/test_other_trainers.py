"""The same merges as other trainers, each with its own tie rule; those that are not installed are skipped.

``asv_benchmarks/same.py`` calls them, and does the same for large corpora.
"""

import importlib
import random
from pathlib import Path

import pytest
from click.testing import CliRunner

import bpe
from tests.optional import required

FOLDER = Path(__file__).parents[3] / "asv_benchmarks"

# Small alphabets: ties at every merge, and runs.
ALPHABETS = ["a", "ab", "ab ", "abc  ", "aab é€😀 ", "abcdefgh   \n.,1"]


@pytest.fixture(scope="module")
def command():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(FOLDER)
        yield importlib.import_module("same")


def texts(book):
    generator = random.Random(5)
    for alphabet in ALPHABETS:
        for length in (1, 2, 5, 20, 100, 500):
            yield "".join(generator.choice(alphabet) for _ in range(length)), 300
    yield book, 2000
    yield f"{book[:3000]}<|endoftext|>{book[2000:9000]}<|endoftext|>", 100_000


@pytest.mark.parametrize("name", ["rustbpe", "bpeasy", "gigatoken", "tokenizers"])
def test_the_same_merges(name, command, book, tmp_path):
    required(name)
    train, options = command.OTHERS[name]
    path = tmp_path / "corpus.txt"
    for text, vocab_size in texts(book):
        path.write_bytes(text.encode())
        trainer = bpe.Trainer(bpe.count_words(path, special_tokens=[command.SPECIAL]), **options)
        trainer.run(vocab_size)
        assert command.first_other_merge(trainer, train(path, len(trainer.merges))) == -1, text


def test_gigatoken_breaks_ties_as_tokenizers_does_unless_told_otherwise(command, book, tmp_path):
    gigatoken = required("gigatoken")
    path = tmp_path / "corpus.txt"
    for text, vocab_size in texts(book):
        path.write_bytes(text.encode())
        counts = bpe.count_words(path, special_tokens=[command.SPECIAL])
        trainer = bpe.Trainer(counts, like="gigatoken")
        trainer.run(vocab_size)
        source = gigatoken.TextFileSource([str(path)], separator=command.SPECIAL.encode())
        _, merges = gigatoken.train_bpe(source, 257 + len(trainer.merges), [command.SPECIAL])
        learned = [(bytes(left), bytes(right)) for left, right in merges]
        assert command.first_other_merge(trainer, learned) == -1, text


def test_tiktoken_takes_the_pair_that_is_met_first(book):
    educational = required("tiktoken._educational")
    pattern = bpe.Pattern.of("gpt2")
    for text, vocab_size in texts(book[:5000]):
        trainer = bpe.Trainer(bpe.count_words([text], pattern), ties="first")
        trainer.run(min(vocab_size, 400))
        tok = trainer.tokenizer()
        ranks = educational.bpe_train(text, tok.vocab_size, pattern.sources[0], visualise=None)
        assert {tok.token_bytes(number): number for number in range(tok.vocab_size)} == ranks


def test_the_command_says_so(book, tmp_path, command, monkeypatch):
    path = tmp_path / "corpus.txt"
    path.write_text(book[:5000], "utf-8")
    monkeypatch.setattr(command, "OTHERS", {"bpe": (lambda path, n: [b"th"] * n, {})})
    result = CliRunner().invoke(command.main, ["merges", str(path), "--vocab-size", "300"])
    assert result.exit_code == 1
    assert "bpe has other merges from merge 0 on" in result.stderr
