"""Where a document with special tokens can be cut: the pattern's rule, and the tokens that lie across."""

from __future__ import annotations

from bpe.splitting.pattern import Pattern
from bpe.splitting.special_search import SpecialSearch

_LAST_BYTES = 4096  # are looked through for a place to cut


def decided(data: bytes, pattern: Pattern, search: SpecialSearch) -> tuple[int, int]:
    """Return a place up to which the pieces and special tokens of a document are known, and an end.

    ``data[:end]`` by itself has those of the whole, up to the place; what begins there has those of the rest.
    """
    last = len(data) - _LAST_BYTES
    if last > 0 and (place := cut_inside(data[last:], pattern, search)):
        return last + place, last + place
    start, stop = search.last_decided(data)
    if n_bytes := pattern.decided(data[start:stop]):
        return start + n_bytes, stop
    return start, start


def cut_inside(data: bytes, pattern: Pattern, search: SpecialSearch) -> int:
    """Return a place where a document can be cut in two, given bytes of its middle; 0 if none is found."""
    # Far enough from the ends that every special token across the place is seen.
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
