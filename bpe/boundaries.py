"""Cutting a document where no piece and no special token crosses: at its end, or in its middle."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import AnyStr

from bpe.corpus.reading import BLOCK_BYTES
from bpe.pattern import Pattern
from bpe.specials import SpecialSearch

__all__ = ["blocks_of", "cut_inside", "decided"]

_TAIL_BYTES = 4096


def decided(data: bytes, pattern: Pattern, search: SpecialSearch) -> tuple[int, int]:
    """Say how far the pieces and special tokens of a document are known, whatever follows.

    Parameters
    ----------
    data : bytes
        The beginning of a longer document, cut anywhere.
    pattern : Pattern
    search : SpecialSearch
        Looks for the special tokens.

    Returns
    -------
    (place, end) : (int, int)
        Up to the byte `place`, ``data[:end]`` by itself has the pieces and tokens of the whole; what begins
        there has those of the rest. (0, 0) where nothing is known. A pattern that looks behind, or that is
        not compiled, is known up to a special token only.

    Complexity
    ----------
    O(1) where a named pattern has a place to cut near the end; else O(n).

    Examples
    --------
    >>> decided(b"one two thr", Pattern.of("gpt2"), SpecialSearch(frozenset()))
    (7, 11)
    >>> decided(b"one <| two <| thr", Pattern.of("gpt2"), SpecialSearch(frozenset(["<| two <|> |>"])))
    (3, 5)
    >>> decided(b"on<|e|>tw", Pattern.of("gpt2"), SpecialSearch(frozenset(["<|e|>"])))
    (7, 7)
    """
    tail = len(data) - _TAIL_BYTES
    if tail > 0 and (place := cut_inside(data[tail:], pattern, search.tokens)):
        return tail + place, tail + place
    start, stop = search.last_decided(data)
    scanner = pattern.scanner
    if scanner and start < stop:
        n_bytes = scanner.decided(bytearray(memoryview(data)[start:stop]))
        if n_bytes:
            return start + n_bytes, stop
    return start, start


def cut_inside(data: bytes, pattern: Pattern, specials: frozenset[str]) -> int:
    """Return a place where a document can be cut in two, from some bytes out of its middle.

    Parameters
    ----------
    data : bytes
        Characters at both ends may be cut in two.
    pattern : Pattern
        Whether it may be cut at a place, it tells by the characters on both sides: those in :data:`PATTERNS`
        do, and others are never cut.
    specials : frozenset of str
        Special tokens.

    Returns
    -------
    int
        A byte; 0 where no place is found, or where not all is UTF-8.

    Complexity
    ----------
    O(n), times the number of special tokens at worst.

    Examples
    --------
    >>> cut_inside(b"ne two thr", Pattern.of("gpt2"), frozenset())
    6
    >>> cut_inside(b"ne two <| |>three", Pattern.of("gpt2"), frozenset(["<| |>"]))
    6
    """
    first = next((i for i, byte in enumerate(data) if byte & 0xC0 != 0x80), len(data))
    try:
        text, _ = codecs.utf_8_decode(data[first:], "strict", False)
    except UnicodeDecodeError:  # what becomes of it might bring together what is apart here
        return 0
    # As far from the ends as a special token reaches, so that all those across the place are seen.
    reach = max(map(len, specials), default=1)
    stop = len(text) - reach
    while stop > reach:
        place = pattern.last_cut(text, reach, stop)
        if place <= reach:
            break
        if not any(token in text[place - len(token) + 1 : place + len(token) - 1] for token in specials):
            return first + len(text[:place].encode())
        stop = place - 1
    return 0


def blocks_of(text: AnyStr, size: int = BLOCK_BYTES) -> Iterator[AnyStr]:
    """Cut a text into blocks, wherever it may be.

    Parameters
    ----------
    text : str or bytes
    size : int
        Characters or bytes in a block; the last one has what is left.

    Yields
    ------
    str or bytes

    Complexity
    ----------
    O(n).

    Examples
    --------
    >>> list(blocks_of("some text", 4))
    ['some', ' tex', 't']
    """
    for start in range(0, len(text), size):
        yield text[start : start + size]
