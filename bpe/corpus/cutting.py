"""Cutting a document into stretches, at places where no piece and no special token crosses.

Patterns that are not named ones, and texts without a place to cut, are held until the document ends: slower,
never wrong.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Iterator
from typing import AnyStr

from bpe.corpus.files import BLOCK_BYTES
from bpe.specials import last_decided
from bpe.split import Pattern
from bpe.text import as_bytes

__all__ = ["blocks_of", "cut_inside", "safe_cut", "stretches"]


_TAIL_BYTES = 4096


def safe_cut(data: bytes, pattern: Pattern, specials: frozenset[str]) -> int:
    """Return a place where the beginning of a document can be cut off, whatever follows.

    What is before the place holds the same pieces and special tokens by itself as it does in the whole.

    Parameters
    ----------
    data : bytes
        The beginning of a longer document. A character at its end may be cut in two.
    pattern : Pattern
    specials : frozenset of str
        Special tokens.

    Returns
    -------
    int
        A byte; 0 where nothing can be cut off.

    Complexity
    ----------
    O(1) where there is such a place near the end; else O(n).

    Examples
    --------
    >>> safe_cut(b"one two thr", Pattern.of("gpt2"), frozenset())
    7
    >>> safe_cut(b"one <| two <| thr", Pattern.of("gpt2"), frozenset(["<| two <|> |>"]))
    3
    """
    tail = max(0, len(data) - _TAIL_BYTES)
    if place := cut_inside(data[tail:], pattern, specials):
        return tail + place
    text, _ = codecs.utf_8_decode(data, "surrogateescape", False)  # what is cut in two at the end waits
    end, horizon = last_decided(text, specials)
    return len(as_bytes(text[: pattern.last_cut(text, end, horizon)]))


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


def stretches(blocks: Iterable[AnyStr], cut: Callable[[AnyStr], int]) -> Iterator[AnyStr]:
    """Join the blocks of a document and cut them anew, at places that `cut` names.

    Parameters
    ----------
    blocks : iterable of str or bytes
    cut : callable
        Takes the beginning of a document; returns how much of it can be cut off, as :func:`safe_cut` does.
        Not asked about a document of one block.

    Yields
    ------
    str or bytes
        Joined, they are the document; none is empty.

    Complexity
    ----------
    O(n), even if there is no place to cut.

    Examples
    --------
    >>> list(stretches(["on", "e two th", "ree"], lambda text: max(0, text.rfind(" "))))
    ['one two', ' three']
    """
    parts: list[AnyStr] = []
    n_held = n_fresh = 0
    for block in blocks:
        # What was looked at in vain is looked at again only after it has doubled.
        if n_fresh and n_fresh >= n_held:
            text = block[:0].join(parts)
            place = cut(text)
            if place:
                yield text[:place]
            parts, n_held, n_fresh = [text[place:]], len(text) - place, 0
        parts.append(block)
        n_fresh += len(block)
    if parts and (rest := parts[0][:0].join(parts)):
        yield rest
