"""Finds how far a text has no match, when only its beginning is known."""

from bpe.splitting.compiled.matching import NO_MATCH, decode
from bpe.splitting.compiled.remembering import find
from bpe.splitting.compiled.tables import view_of
from structures.kernels import pointer_to, quiet


@quiet
def end_of_gap(self, data, start, stop, failed):
    """Return the first place where a match begins, or might begin if more text follows."""
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
