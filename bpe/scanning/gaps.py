"""Finds how far a text has no match, when only its beginning is known."""

from bpe.scanning.matching import NO_MATCH, decode
from bpe.scanning.remembering import find
from bpe.scanning.tables import view_of
from structures.kernels import pointer_to, quiet


@quiet
def end_of_gap(self, data, start, stop, failed):
    """Return the first place where a match begins, or might begin if more text follows.

    Parameters
    ----------
    self : Tables
        The tables of a pattern that does not look behind.
    data : (n_bytes,) uint8
    start : int
        End of the last piece found by :func:`bpe.scanning.cutting.cut`.
    stop : int
        End of the known text.
    failed : uint8 array
        As for :func:`bpe.scanning.cutting.cut`.
    """
    text, automaton = pointer_to(data, 0), view_of(self, failed, start).automaton
    place = start
    while place < stop:
        end = find(automaton, text, place, stop, True, automaton.start_entry_of[0])
        if end == place:  # empty: the gap before it is a piece already
            end = find(automaton, text, place, stop, True, automaton.start_entry_not_empty_of[0])
        width = decode(text, place, stop)[1]
        if end != NO_MATCH or width == 0:
            return place
        place += width
    return stop
