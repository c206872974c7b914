"""Finds how far a text has no match, when only its beginning is known."""

from bpe.scanning.matching import NO_MATCH, decode
from bpe.scanning.remembering import BUCKET_SHIFT, Failed, find
from bpe.scanning.tables import view_of
from structures.kernels import inner, pointer_to, quiet


@inner
def _end_of_gap(self, data, start, stop, failed):
    text, view = pointer_to(data, 0), view_of(self)
    place = start
    while place < stop:
        end = find(view, text, place, stop, True, view.start_entry_of[0], failed)
        if end == place:  # empty: the gap before it is a piece already
            end = find(view, text, place, stop, True, view.start_entry_not_empty_of[0], failed)
        width = decode(text, place, stop)[1]
        if end != NO_MATCH or width == 0:
            return place
        place += width
    return stop


@quiet
def end_of_gap(self, data, start, stop):
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
    """
    return _end_of_gap(self, data, start, stop, None)


@quiet
def end_of_gap_remembering(self, data, start, stop, failed):
    """:func:`end_of_gap` for a pattern that remembers; `failed` as for ``cut_remembering``."""
    return _end_of_gap(self, data, start, stop, Failed(pointer_to(failed, 0), start >> BUCKET_SHIFT))
