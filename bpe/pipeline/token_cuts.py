"""``TokenCuts``: where the beginning of a text can be cut, as far as added tokens are concerned.

::

    known so far    one <end> two <e         more may follow: <end>, or <edge>
    parts           one | <end> | two        up to the last place from which no token can change

A place is *free* where both parts, searched each by itself, have the tokens of the whole: it is in no token,
and in no text that is rejected: that would be a token but for its flag ``single_word``, or is passed over.
Neither is such a text right beside it, which might be taken for a token if its neighbour were gone.
"""

from __future__ import annotations

from bisect import bisect_left
from enum import Enum

from bpe.pipeline.added_tokens import AddedTokens, Part
from bpe.pipeline.text_changes import WHITE_SPACE

MOST_PLACES = 1024
"""How many places of a text are looked at, from its end; those of ordinary text are found at once."""


class Begins(Enum):
    """What a part of a text begins with."""

    TEXT = "the given text"
    STRETCH = "what follows an added token"
    INSIDE = "the rest of a stretch"


class TokenCuts:
    """The places where a text can be cut that more may follow."""

    def __init__(self, search: AddedTokens, text: str) -> None:
        # The flags look at one character more on both sides.
        end = max(0, len(text) - max(search.reach - 1, 0) - 2 * search.has_flags)
        if search.takes_spaces_before:
            end = len(text[:end].rstrip(WHITE_SPACE))
        self._search, self._text = search, text
        self._spans = [*search.matches(text)]
        self._starts = [start for start, _ in self._spans]
        self.lowest = max(end - MOST_PLACES, 0)
        self.parts: list[Part] = []
        first = self._last_certain()
        for part in search.parts(text, self._spans[first:], self._starts[first] if first else 0):
            if part.end <= self.lowest:
                continue
            if part.token is None and part.start < end:
                self.parts.append(part._replace(end=min(part.end, end)))
            elif part.token is not None and part.end <= end:
                self.parts.append(part)
        self._stretches = [part for part in self.parts if part.token is None]
        self._ends = [part.end for part in self._stretches]

    def _last_certain(self) -> int:
        """Return the last token before `lowest` whose end does not depend on those before it; 0 for none."""
        last = bisect_left(self._starts, self.lowest) - 1
        if self._search.has_flags:
            # The one before takes no white space of a token that begins with something else.
            while last > 0 and (self._text[self._starts[last]] in WHITE_SPACE or self._is_rejected(last)):
                last -= 1
        return max(last, 0)

    def _is_rejected(self, i: int) -> bool:
        return self._search.is_rejected(self._text, *self._spans[i])

    def is_free(self, place: int) -> bool:
        """Say whether both sides of a place have the tokens of the whole; the place is inside no part."""
        first = bisect_left(self._starts, place) - 1
        for i in (first, first + 1):  # the last that begins before the place, and one that may begin there
            if 0 <= i < len(self._spans):
                start, end = self._spans[i]
                if start < place < end or (start <= place <= end and self._is_rejected(i)):
                    return False
        return True

    def is_in_stretch(self, place: int) -> bool:
        """Say whether a place is free and in a stretch that is no token: after its beginning."""
        i = bisect_left(self._ends, place)
        return i < len(self._ends) and self._stretches[i].start < place and self.is_free(place)
