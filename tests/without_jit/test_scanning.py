"""Texts cut by tables and windows, against the regular expressions."""

from functools import partial
from itertools import chain, pairwise

import numpy as np
import pytest
import regex

import bpe
from bpe.splitting.compiled import cutting
from bpe.splitting.compiled.matching import n_failed_bytes
from bpe.splitting.compiled.scanner import Scanner
from bpe.splitting.compiled.tables import view_of
from bpe.splitting.regex_engine import split_by_expression

SEAMS = [*"aZ019 \n\r\t'!_é文\u0301\u00a0\u2028\U0001f600", "'ll", "  ", "\r\n", "123"]


def ends_by_regex(expression, text):
    pieces = (match.group() for match in regex.finditer(expression, text))
    return np.cumsum([0, *(len(piece.encode(errors="surrogateescape")) for piece in pieces)]).tolist()


def text_of(n, kinds, seed):
    rng = np.random.default_rng(seed)
    some = rng.choice(len(SEAMS), kinds, replace=False)
    return "".join(SEAMS[i] for i in rng.choice(some, n))


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "o200k", "(?<=a)b|[^b]|b"])
def test_pieces(name):
    pattern = bpe.Pattern.of(name)
    expression = bpe.PATTERNS.get(name, name)
    for seed in range(12):
        text = text_of(300 if seed % 3 else 40, 3 + seed, seed)
        ends = ends_by_regex(expression, text)
        assert pattern.scanner.split(text.encode()) == ends
        n_decided = pattern.scanner.decided(bytearray(text.encode()))
        assert n_decided in ends
        assert len(text.encode()) - n_decided < 30 or name.startswith("(")


@pytest.mark.parametrize("name", ["gpt2", "o200k"])
def test_bytes_that_are_not_utf8(name):
    scanner = bpe.Pattern.of(name).scanner
    rng = np.random.default_rng(0)
    for _ in range(20):
        data = bytearray(text_of(120, 6, 0).encode())
        for place in rng.integers(0, len(data), 5):
            data[place] = rng.integers(0x80, 0x100)
        text = data.decode(errors="surrogateescape")
        assert scanner.split(bytes(data)) == ends_by_regex(bpe.PATTERNS[name], text)


# ---------------------------------------------------------------------------------- how much is read
class Counting:
    """An array that counts how often it is read."""

    def __init__(self, array):
        self.array, self.n = array, 0

    def __getitem__(self, i):
        self.n += 1
        return self.array[i]


@pytest.fixture
def steps(monkeypatch):
    """Return what counts the steps of the automaton that cutting a text takes, and checks the pieces."""
    return partial(steps_of, monkeypatch)


def steps_of(monkeypatch, source, text, *, memoizes=True, followed_by=""):
    scanner = Scanner([source])
    data, n_bytes = np.frombuffer(bytearray((text + followed_by).encode()), np.uint8), len(text.encode())
    failed = np.zeros(n_failed_bytes(0, len(data), scanner._set_bytes[0]), np.uint8)
    view = view_of(scanner._tables[0], failed, 0)
    counting = Counting(view.automaton.next_entry)
    set_bytes = view.automaton.set_bytes if memoizes else 0
    automaton = view.automaton._replace(next_entry=counting, set_bytes=set_bytes)
    windows = view.windows._replace(steps=view.windows.steps._replace(next_entry=counting))
    view = view._replace(automaton=automaton, windows=windows)
    monkeypatch.setattr(cutting, "view_of", lambda *_: view)
    ends, offsets = np.unique([n_bytes, len(data)]).astype(np.int32), np.empty(len(data) + 1, np.int32)
    n = cutting.cut_segments(scanner._tables[0], data, 0, 0, ends, False, offsets, failed)
    found = [bytes(data[start:end]).decode() for start, end in pairwise(offsets[: n + 1])]
    parts = [split_by_expression(source, part) for part in (text, followed_by) if part]
    assert found == [*chain.from_iterable(parts)]
    return counting.n


def test_windows_cut_a_short_segment_that_others_follow(steps):
    """The automaton takes steps for the last bytes only, which are of the other segment."""
    text, source = "the sea and the ship at anchor", bpe.PATTERNS["cl100k"]
    assert steps(source, text) > len(text)
    assert steps(source, text, followed_by=" in the bay" * 9) < 60


GROWING = [
    (r"a[^\n]*b|.", "a", ""),
    (r"\s+$|\s|\S+", " ", "x"),
    (r"[a-z]+(?=\s|$)|\d{2,3}?", "a", "!"),
    (r"(?:ab)*c|.", "ab", ""),
    (r"(?:a{3})*b|(?:a{5})*c|a", "a", ""),
    (r"(?<=a)[^\n]*b|a*?c|\s", "a", ""),
]


@pytest.mark.parametrize(("source", "unit", "end"), GROWING)
def test_twice_the_text_takes_twice_the_steps(steps, source, unit, end):
    few, more, most = (steps(source, unit * n + end) for n in (100, 200, 400))
    assert most < 4.5 * few
    assert more < 2.3 * few
    # Without memoizing, it is the square.
    assert steps(source, unit * 400 + end, memoizes=False) > 12 * steps(
        source, unit * 100 + end, memoizes=False
    )


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "o200k", "llama3", "qwen2"])
@pytest.mark.parametrize("unit", ["a", " ", "\n", "\n ", " \n", "7", "'s", "A", "文A", "Aa", "! ", "\r\n\t"])
def test_named_patterns_read_each_byte_a_few_times(steps, name, unit):
    for n in (100, 200):
        assert steps(bpe.PATTERNS[name], unit * n + "x") < 4 * len(unit) * n + 100
