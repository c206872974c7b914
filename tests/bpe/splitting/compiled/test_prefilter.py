"""Text between matches, which is skipped 63 places at a time, against the regex package."""

import dataclasses
from itertools import pairwise

import numpy as np
import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe
from bpe.splitting.compiled.automaton import compile_automaton
from bpe.splitting.compiled.scanner import Scanner
from bpe.splitting.compiled.tables import tables_of
from bpe.splitting.compiled.windows import derive_prefilter
from bpe.splitting.regex_engine import split_by_expression
from bpe.superwords.superbpe import WIDE_PATTERN

FEW = [WIDE_PATTERN, r"\d+|[.,]{2,}", "ab|b{2}", r"x(?!y)|\n\n", "é|a[é!]", "9+?(?=,)"]
marks = st.text("aB1 .,\n\r\té日\u00a0\u0301_xy9b!", max_size=6)
texts = st.lists(st.tuples(marks, st.integers(0, 150)), max_size=5).map(
    lambda drawn: "".join(mark + ("cegh ik, " * 17)[:n] for mark, n in drawn)
)


@given(texts)
def test_text_between_matches_of_the_wide_pattern(text):
    pattern, expected, end = bpe.Pattern.of(WIDE_PATTERN), [], 0
    for match in regex.finditer(WIDE_PATTERN, text):
        expected += [text[end : match.start()], match.group()]
        end = match.end()
    expected.append(text[end:])
    assert pattern.scanner is not None, "it is compiled"
    assert [piece.decode() for piece in pattern.split_bytes(text.encode())] == list(filter(None, expected))
    assert bpe.Pattern.of(pattern.spec) == pattern


@given(texts, st.sampled_from(FEW))
@settings(max_examples=200)
def test_text_between_matches_of_any_pattern(text, expression):
    found = Scanner([expression]).split(text.encode())
    pieces = [text.encode()[start:end].decode() for start, end in pairwise(found)]
    assert pieces == [*split_by_expression(expression, text)]


def pieces_with(automaton, prefilter, data):
    scanner = Scanner(["a"])
    scanner._tables = [tables_of(automaton, None, None, prefilter)]
    return len(scanner.split(data)) - 1


def test_the_prefilter_is_used():
    """With no candidates, nothing is found."""
    automaton, data = compile_automaton(WIDE_PATTERN), b"one two 12 three, four  five -- six seven. " * 20
    prefilter = derive_prefilter(automaton)
    n = pieces_with(automaton, None, data)
    assert pieces_with(automaton, prefilter, data) == n > 100
    nothing = dataclasses.replace(prefilter, products=np.array([[1, 0]], np.uint8))
    assert pieces_with(automaton, nothing, data) < 10


@pytest.mark.parametrize("expression", ["(?s:.)", r"(?<=a)b", "x*", "[é日]", r"\w+", bpe.PATTERNS["gpt2"]])
def test_patterns_without_a_prefilter(expression):
    """They match everywhere, or look behind, or match nothing, or only what is not ASCII, or most words."""
    assert derive_prefilter(compile_automaton(expression)) is None
