"""How often the automaton of special tokens reads its arrays, for texts and tokens made to be slow."""

import numpy as np
import pytest

from bpe.splitting.special_automaton import Arrays, TokenAutomaton, choose, find_longest, link_states


class Counted:
    """An array that counts how often it is read or written."""

    def __init__(self, array, counts):
        self.array, self.size, self.counts = array, array.size, counts

    def __getitem__(self, place):
        self.counts[0] += 1
        return self.array[place]

    def __setitem__(self, place, value):
        self.counts[0] += 1
        self.array[place] = value


def counted(automaton):
    counts = [0]
    return Arrays(*(Counted(array, counts) for array in automaton.arrays)), counts


def slow_spans(tokens, data):
    place = 0
    while place < len(data):
        longest = max((len(token) for token in tokens if data.startswith(token, place)), default=0)
        if longest:
            yield place, place + longest
        place += max(longest, 1)


K = 40
TOKENS = {
    "reserved": [b"<|reserved_%d|>" % i for i in range(600)],
    "runs": [b"a" * n for n in range(1, K)],
    "runs with an end": [b"a", *(b"a" * n + b"b" for n in range(K))],
    "one very long": [b"a", b"a" * 2_000 + b"b"],
    "periods": [b"ab" * n + b"c" for n in range(K)] + [b"ba", b"abab"],
    "every byte after a run": [b"a" * 30 + bytes([value]) for value in range(256)],
}
TEXTS = {
    "ordinary": b"it was the best of times, it was the worst of times. ",
    "needles": b"<|",
    "nearly": b"<|reserved_|>",
    "run": b"a",
    "runs": b"a" * (K - 1) + b"b",
    "periods": b"ab",
}


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("tokens", TOKENS)
def test_a_text_is_read_in_linear_time(tokens, text):
    """A step reads 12 numbers at most; a byte takes a step, and one more for each step back."""
    automaton = TokenAutomaton(TOKENS[tokens])
    n_reads = []
    for n in (500, 1_000, 2_000):
        arrays, counts = counted(automaton)
        data = (TEXTS[text] * n)[:n]
        find_longest(arrays, np.frombuffer(data, np.uint8), 0, n, np.empty(n, np.int32))
        n_reads.append(counts[0])
        if n == 500:
            assert list(automaton.spans(data)) == list(slow_spans(TOKENS[tokens], data))
    assert n_reads[-1] <= 2 * 13 * 2_000
    assert n_reads[1] <= 2.1 * n_reads[0] + 100
    assert n_reads[2] <= 2.1 * n_reads[1] + 100


@pytest.mark.parametrize("tokens", TOKENS)
def test_building_is_linear(tokens):
    """A state takes a few steps for each byte of the tokens that go through it."""
    automaton = TokenAutomaton(TOKENS[tokens])
    arrays, counts = counted(automaton)
    before = [array.copy() for array in automaton.arrays]
    arrays.shorter.array[:] = 0
    link_states(arrays)
    assert counts[0] <= 2 * 13 * sum(map(len, TOKENS[tokens])) + 10 * len(automaton.arrays.byte_of)
    for array, same in zip(automaton.arrays, before, strict=True):
        assert array.tolist() == same.tolist()


def test_tokens_are_chosen_from_left_to_right():
    size_of = np.array([0, 5, 2, 1, 3])
    tokens, starts = np.array([0, 2, 1, 0, 3, 4], np.int32), np.empty(6, np.int64)
    n, place = choose(tokens, size_of, 0, starts)
    assert (starts[:n].tolist(), place) == ([1, 4, 5], 8)
    n, place = choose(tokens, size_of, 2, starts)
    assert (starts[:n].tolist(), place) == ([2], 7)
    assert choose(tokens, size_of, 7, starts) == (0, 7)
