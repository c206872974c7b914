"""A text that knows for each of its characters where it came from.

A normalizer changes a text, and offsets of tokens are places of the text before. So a :class:`Tracked` has
for each character the range of characters in the given text that it came from. These ranges are those of
``tokenizers``, also where others would be as right: a character that is composed of two came from the first.

The changes of ``tokenizers`` are pairs, one for each new character:

===============  =========================================================================
``(c, 0)``       c replaces the next character
``(c, 1)``       c is put in, and came from where the character before came from
``(c, -n)``      c replaces the next character, and n characters after it are left out
===============  =========================================================================
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Tracked:
    """A text and where its characters came from; make one with :meth:`of`."""

    text: str
    starts: np.ndarray
    ends: np.ndarray

    @classmethod
    def of(cls, text: str) -> Tracked:
        """Return a text as it is given: each character came from itself."""
        places = np.arange(len(text) + 1)
        return cls(text, places[:-1], places[1:])

    @classmethod
    def joined(cls, parts: Sequence[Tracked]) -> Tracked:
        """Return parts of a text, joined."""
        starts, ends = ([getattr(part, name) for part in parts] for name in ("starts", "ends"))
        return cls("".join([part.text for part in parts]), np.concatenate(starts), np.concatenate(ends))

    def __len__(self) -> int:
        return len(self.text)

    def __getitem__(self, part: slice) -> Tracked:
        """Return a part of the text, with the same origins."""
        return Tracked(self.text[part], self.starts[part], self.ends[part])

    def taking(self, text: str, places: Sequence[int] | np.ndarray) -> Tracked:
        """Return another text, each character of which came from one of this text."""
        first = self.starts[:1] if len(self) else np.zeros(1, np.int64)
        at = np.asarray(places, np.int64) + 1
        return Tracked(text, np.append(first, self.starts)[at], np.append(first, self.ends)[at])

    def edited(self, spans: Sequence[tuple[int, int]], new: str) -> Tracked:
        """Return the text with the parts in some spans, in order, replaced by a text."""
        if not spans:
            return self
        starts, ends = np.array(spans, np.int64).T
        n_begun, n_ended = (np.cumsum(np.bincount(each, minlength=len(self) + 1)) for each in (starts, ends))
        kept = np.flatnonzero(n_begun[:-1] == n_ended[:-1])
        at = np.repeat(np.searchsorted(kept, starts), len(new))
        places = np.insert(kept, at, np.repeat(ends - 1, len(new)))
        between = zip([0, *ends.tolist()], [*starts.tolist(), len(self)], strict=True)
        return self.taking(new.join([self.text[end:start] for end, start in between]), places)

    def prepended(self, new: str) -> Tracked:
        """Return the text with characters put before it, which came from its first; an empty one as it is."""
        if not len(self):
            return self
        return self.taking(new + self.text, np.append(np.zeros(len(new), np.int64), np.arange(len(self))))

    def changed(self, changes: Iterable[tuple[str, int]], skipped: int = 0) -> Tracked:
        """Return the text after changes, as the module docstring has them."""
        parts, places, at = [], [], skipped
        for new, change in changes:
            parts.append(new)
            # A step that miscounts what it leaves out, as Precompiled can, must not lead past the end.
            places.append(min(at - 1 if change > 0 else at, len(self) - 1))
            at += 1 - change if change <= 0 else 0
        return self.taking("".join(parts), places)
