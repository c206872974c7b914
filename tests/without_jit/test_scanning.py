"""Texts cut by tables and windows, against the regular expressions."""

import numpy as np
import pytest
import regex

import bpe

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
