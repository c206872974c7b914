"""How far a text surely has no match, of which no more is known than its beginning."""

from __future__ import annotations

from bpe.scanning.matching import NO_MATCH, decode, find_match
from bpe.scanning.tables import view_of
from structures.kernels import pointer_to, quiet

__all__ = ["end_of_gap"]


@quiet
def end_of_gap(self, data, start, stop):
    """Return the first place from which a match goes out, or one whose match is not decided.

    Parameters
    ----------
    self : Tables
        Of a pattern that does not look behind.
    data : (n_bytes,) uint8
    start : int
        Where the last piece ends that :func:`bpe.scanning.cutting.cut` found.
    stop : int
        How far the text is known; more may follow.
    """
    text, view = pointer_to(data, 0), view_of(self)
    place = start
    while place < stop:
        end = find_match(view, text, place, stop, True, view.start_entry_of[0])
        if end == place:  # empty: what is before it is a piece already
            end = find_match(view, text, place, stop, True, view.start_entry_not_empty_of[0])
        width = decode(text, place, stop)[1]
        if end != NO_MATCH or width == 0:
            return place
        place += width
    return stop
