"""Where runs of pieces end: at a piece that is not joined to others, whatever the vocabulary will be."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from bpe.splitting.pattern import Pattern
from bpe.splitting.regex_engine import compiled
from bpe.splitting.special_search import SpecialSearch

PARTS = r"\p{L}"
"""What a piece must have to be joined to others: by default, a letter."""


def joins(parts: str) -> Callable[[bytes], bool]:
    """Return what says whether a piece may be joined to others."""
    try:
        search = compiled(parts).search
    except ValueError as error:
        raise ValueError(f"superword_parts: {error}") from None
    return lambda piece: search(piece.decode("utf-8", "surrogateescape")) is not None


def cut_between_runs(
    data: bytes, pattern: Pattern, search: SpecialSearch, may_join: Callable[[bytes], bool]
) -> int:
    """Return a place where a document can be cut in two, and no run, piece or special token crosses."""
    # So far from the ends that every special token across a place is seen.
    places = pattern.cuts(data)
    places = places[(places > search.reach) & (places < len(data) - search.reach)]
    places = places[~np.asarray(search.crossed(data), bool)[places]]
    # Between two such places, pieces are those of the bytes by themselves, unless a special token is there.
    for start, stop in reversed([*pairwise(places.tolist())]):
        part = data[start:stop]
        if next(iter(search.find_all(part)), None) is None:
            pieces = pattern.split_bytes(part)
            if not may_join(pieces[-1]):
                return int(stop)
            if not may_join(pieces[0]):
                return int(start)
    return 0
