"""The trainer against the slow one."""

import zlib

import numpy as np
import pytest

import bpe
from bpe.reference import IndexedPieces, alphabet_of, learn, leave_out, train_indexed, train_parity
from bpe.training import learner
from bpe.training.options import Options
from bpe.training.parity import Languages
from bpe.training.start import fresh_start
from bpe.training.state import bytes_left_out


class Counts:
    """Words with counts, as the trainer asks for them."""

    pattern = None

    def __init__(self, words):
        self.words = words

    def __len__(self):
        return len(self.words)

    @property
    def n_bytes(self):
        return sum(map(len, self.words))

    @property
    def n_text_bytes(self):
        return sum(len(word) * count for word, count in self.words.items())

    def to_arrays(self):
        data = np.frombuffer(b"".join(self.words), np.uint8)
        return data, np.cumsum([0, *map(len, self.words)]), np.array([*self.words.values()], np.int64)


@pytest.fixture(autouse=True)
def plain_trainer(monkeypatch):
    monkeypatch.setattr(learner, "PARTS", 1)  # rare pairs are put off, however few there are
    monkeypatch.setattr(learner, "DIVISOR", 2)


def trainer_of(words, ties, start=None, **options):
    trainer = bpe.Trainer.__new__(bpe.Trainer)
    trainer._training = learner.Training(
        Counts(words), start or fresh_start([]), Options(ties=ties, **options)
    )
    return trainer


def corpora():
    rng = np.random.default_rng(1)
    for n in range(24):
        letters = list("aab c" if n % 3 else "ab")
        words = ["".join(rng.choice(letters, rng.integers(1, 30))).encode() for _ in range(1 + n // 2)]
        yield {word: int(rng.integers(1, 5)) for word in words}


@pytest.mark.parametrize("ties", ["smallest", "lexicographic", "first"])
@pytest.mark.parametrize("selection", ["heap", "buckets"])
def test_merges(ties, selection):
    for n, words in enumerate(corpora()):
        limits = {"min_count": 1 + n % 2, "max_token_length": [None, 3, 6][n % 3]}
        expected = [tuple(merge) for merge in train_indexed(words, 10_000, ties=ties, **limits)]
        trainer = trainer_of(words, ties, selection=selection, **limits)
        trainer.run(256 + len(expected) // 2)
        trainer.run(10_000)
        assert [tuple(merge) for merge in trainer.merges] == expected


@pytest.mark.parametrize("ties", ["smallest", "lexicographic", "first"])
def test_vetoes(ties):
    for words in list(corpora())[::3]:
        asked = {"run": [], "stepped": []}

        def trainer(name):
            def keep(left, right):
                asked[name].append((left, right))  # noqa: B023
                return zlib.crc32(left + right) % 3 > 0

            return trainer_of(words, ties, keep=keep)  # noqa: B023

        run, stepped = trainer("run"), trainer("stepped")
        run.run(10_000)
        while stepped.step():
            pass
        assert [tuple(merge) for merge in run.merges] == [tuple(merge) for merge in stepped.merges]
        assert asked["run"] == asked["stepped"]


@pytest.mark.parametrize("ties", ["lexicographic", "first"])  # which do not ask for ids
def test_limited_alphabets(ties):
    for n, words in enumerate(corpora()):
        alphabet = alphabet_of(words.items(), b"z", 2 + n % 4)
        options = Options(initial_alphabet=b"z", limit_alphabet=2 + n % 4)
        left_out = bytes_left_out(Counts(words), options)
        assert sorted({*range(256)} - left_out) == alphabet
        trainer = trainer_of(words, ties, start=fresh_start([], left_out=left_out))
        trainer.run(10_000)
        trainer._training._name_tokens()
        learned = [trainer._training._bytes_of[merge.new_id] for merge in trainer.merges]
        pieces = IndexedPieces(leave_out(words.items(), alphabet))
        learn(pieces, 10_000, ties=ties)
        assert learned == pieces.token_bytes[256:]


def test_pairs_of_zeros_are_pairs_like_others():
    """Where a pair has lost its first place, nothing stands there; least of all the pair (0, 0)."""
    for seed in range(150):
        rng = np.random.default_rng(seed)
        words = {
            bytes(rng.choice([0, 0, 1], rng.integers(2, 9)).astype(np.uint8).tolist()): 1 for _ in range(6)
        }
        trainer = trainer_of(words, "first")
        learned = []
        while (merge := trainer.step()) is not None:
            learned.append(tuple(merge))
        assert learned == [tuple(merge) for merge in train_indexed(words, 10_000, ties="first")]


@pytest.mark.parametrize("ties", ["smallest", "gpt2"])
def test_turns(ties):
    texts = list(corpora())
    for n in range(0, 20, 2):
        languages, dev = texts[n : n + 1 + n % 3], texts[n + 1 : n + 2 + n % 3] if n % 4 else []
        rules, alpha = {"ties": ties, "min_count": 1 + n % 2}, 0.5 + n % 3
        ratios = [] if dev else [0.5, 1.0, 2.0][: len(languages)]
        learned = Languages(
            [Counts(words) for words in languages],
            fresh_start([]),
            [Counts(words) for words in dev],
            ratios=ratios,
            window=n,
            alpha=alpha,
            options=Options(**rules),
        )
        expected = train_parity(
            languages, 10_000, dev=dev or None, ratios=ratios or None, window=n or None, alpha=alpha, **rules
        )
        learned.make_room(len(expected) + 9)
        learned.run(len(expected) + 9)
        assert [tuple(row) for row in learned.log.tolist()] == [tuple(merge) for merge in expected]
