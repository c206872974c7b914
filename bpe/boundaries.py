"""Where a document with special tokens can be cut: the pattern's rule, and the tokens that lie across."""

from __future__ import annotations

from bpe.pattern import Pattern
from bpe.special_search import SpecialSearch

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
        there has those of the rest. (0, 0) where nothing is known. With a pattern that looks behind, or that
        is not compiled, only what ends with a special token is known.

    Complexity
    ----------
    O(1) where there is a place to cut near the end; else O(n).

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
    if tail > 0 and (place := cut_inside(data[tail:], pattern, search)):
        return tail + place, tail + place
    start, stop = search.last_decided(data)
    if n_bytes := pattern.decided(data[start:stop]):
        return start + n_bytes, stop
    return start, start


def cut_inside(data: bytes, pattern: Pattern, search: SpecialSearch) -> int:
    """Return a place where a document can be cut in two, from some bytes out of its middle.

    Parameters
    ----------
    data : bytes
        Characters and special tokens at both ends may be cut in two.
    pattern : Pattern
    search : SpecialSearch

    Returns
    -------
    int
        A byte; 0 where no place is found.

    Complexity
    ----------
    O(n).

    Examples
    --------
    >>> cut_inside(b"ne two thr", Pattern.of("gpt2"), SpecialSearch(frozenset()))
    6
    >>> cut_inside(b"ne two <| |>three", Pattern.of("gpt2"), SpecialSearch(frozenset(["<| |>"])))
    12
    """
    # So far from the ends that every special token across the place is seen.
    start, stop = search.reach, len(data) - max(search.reach, 1)
    place = pattern.last_cut(data, start, stop)
    if place <= start:
        return 0
    is_crossed = search.crossed(data)
    if is_crossed[place]:  # look at all places at once: many may be crossed
        places = pattern.cuts(data)
        places = places[(places > start) & (places < place)]
        place = int(places[~is_crossed[places]].max(initial=0))
    return place
