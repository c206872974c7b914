r"""Added tokens with flags: where they are in a text, by the rules of ``tokenizers``.

A text is searched twice: first for the tokens that are not normalized, in the text as it was given; then for
the others, in the normalized segments between those. The others are normalized themselves before they are
looked for. :func:`two_searches` makes both searches.

One search goes from left to right. Where several tokens begin, it takes the longest, and continues after its
end. A special token that is to be text is passed over: no token that begins inside of it is found. Then the
flags of the token count:

``single_word``
    The token is not taken if a word character (a letter, mark, digit, connector or joiner) is right before
    or after it. No shorter token is tried instead, and no other token that begins inside of it.
``lstrip``
    The token takes the white space before it, but not what the token before it has taken.
``rstrip``
    The token takes the white space after it. A token that begins in this white space is found all the same:
    then the two overlap. But one that would take nothing of its own is dropped.

Which characters are letters or marks, the tables of the ``regex`` package say; those of ``tokenizers`` may be
older or newer.

Where the beginning of a text can be cut, as far as added tokens are concerned (:class:`TokenCuts`)::

    known so far    one <end> two <e         more may follow: <end>, or <edge>
    parts           one | <end> | two        up to the last place from which no token can change

A place is *free* where both parts, searched each by itself, have the tokens of the whole: it is in no token,
and in no text that is rejected: that would be a token but for its flag ``single_word``, or is passed over.
Neither is such a text right beside it, which might be taken for a token if its neighbor were gone.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Set
from typing import NamedTuple

from bpe.pipeline.text_changes import WHITE_SPACE
from bpe.splitting.regex_engine import lazy_regex
from bpe.splitting.special_search import search_for
from bpe.splitting.specials import NO_TOKENS

_WORD_CHARACTER = lazy_regex(r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]")
_NOT_SPACE = re.compile(f"[^{WHITE_SPACE}]")

MOST_COMPARED = 1 << 28  # characters, by :func:`overlap`
MOST_PLACES = 1024
"""How many places of a text are looked at, from its end; those of ordinary text are found at once."""


class AddedToken(NamedTuple):
    """A token and its flags, as ``added_tokens`` of a ``tokenizer.json`` has them."""

    content: str
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = False


class Part(NamedTuple):
    """A segment of a text: characters `start` to `end`, and which token they are; None for text."""

    start: int
    end: int
    token: str | None


class AddedTokens:
    """Finds the tokens of one of the two searches."""

    def __init__(
        self,
        tokens: Iterable[AddedToken],
        normalize: Callable[[str], str] | None = None,
        passed: Set[str] = NO_TOKENS,
    ) -> None:
        self.token_of: dict[str, AddedToken] = {}
        for token in tokens:
            self.token_of.setdefault(normalize(token.content) if normalize else token.content, token)
        self.token_of.pop("", None)
        self._passed = passed
        self.has_flags = any(
            t.single_word or t.lstrip or t.rstrip or t.content in passed for t in self.token_of.values()
        )
        self.takes_spaces_before = any(t.lstrip for t in self.token_of.values())
        self._search = search_for(frozenset(self.token_of))
        self.reach = self._search.reach

    def split(self, text: str) -> list[Part]:
        """Cut a text at its tokens."""
        return [*self.parts(text, self.matches(text))]

    def parts(self, text: str, spans: Iterable[tuple[int, int]], place: int = 0) -> Iterator[Part]:
        """Cut a text from a place on, where the last token ends, at tokens as :meth:`matches` finds them."""
        for part in self._taken(text, spans, place):
            if place < part.start:
                yield Part(place, part.start, None)
            yield part
            place = part.end
        if place < len(text):
            yield Part(place, len(text), None)

    def _taken(self, text: str, spans: Iterable[tuple[int, int]], taken: int) -> Iterator[Part]:
        """Apply the flags of tokens; `taken`: where the last one ends."""
        spaces_end = 0  # where the last white space after one ends
        for start, end in spans:
            if self.is_rejected(text, start, end):
                continue
            token = self.token_of[text[start:end]]
            if token.lstrip:
                start = taken + len(text[taken:start].rstrip(WHITE_SPACE))
            if token.rstrip:
                if spaces_end < end:  # else known: white space is not read again for each token in it
                    further = _NOT_SPACE.search(text, end)
                    spaces_end = further.start() if further else len(text)
                end = spaces_end
            if start < end:
                yield Part(start, end, token.content)
                taken = end

    def is_rejected(self, text: str, start: int, end: int) -> bool:
        """Return whether a text that :meth:`matches` finds is not a token, but in a word or passed over."""
        token = self.token_of[text[start:end]]
        return token.content in self._passed or (token.single_word and _is_in_word(text, start, end))

    def matches(self, text: str) -> Iterator[tuple[int, int]]:
        """Find the tokens as they are written, in characters; no flag counts yet."""
        data = text.encode()
        if len(data) == len(text):
            yield from self._search.find_all(data)
            return
        n_bytes = n_characters = 0
        for first, last in self._search.find_all(data):
            start = n_characters + len(data[n_bytes:first].decode())
            n_bytes, n_characters = last, start + len(data[first:last].decode())
            yield start, n_characters


def _is_in_word(text: str, start: int, end: int) -> bool:
    """Return whether a word character is right before or after a segment of a text."""
    before, after = text[start - 1 : start], text[end : end + 1]  # the first is empty where start is 0
    return _has_word_character(before) or _has_word_character(after)


@functools.lru_cache(maxsize=4096)
def _has_word_character(text: str) -> bool:
    return _WORD_CHARACTER().search(text) is not None


def two_searches(
    tokens: Iterable[AddedToken], normalize: Callable[[str], str], passed: Set[str] = NO_TOKENS
) -> tuple[AddedTokens, AddedTokens]:
    """Return the search in the given text, and the one in the normalized segments."""
    given = tuple(tokens)
    return (
        AddedTokens((token for token in given if not token.normalized), None, passed),
        AddedTokens((token for token in given if token.normalized), normalize, passed),
    )


def overlap(tokens: Iterable[AddedToken]) -> bool:
    """Return whether a token of the first search can begin inside one of the second.

    If none can, one search for all tokens finds the same as two, where no normalizer changes the text.
    """
    given = tuple(tokens)
    second = [token.content for token in given if token.normalized]
    return hides(second, [token.content for token in given if not token.normalized])


def hides(outer: Collection[str], inner: Collection[str]) -> bool:
    """Return whether one of some texts can begin inside one of others, or where a longer one does.

    For very long texts, which would take long to tell, the answer is that one can.
    """
    if not outer or not inner:
        return False
    first = sorted(inner)
    shortest = [first[0]]  # without those that begin with another one
    for text in first:
        if not text.startswith(shortest[-1]):
            shortest.append(text)
    reach, begins = max(map(len, first)), {text[:1] for text in first}
    if sum(min(len(text), reach) * len(text) for text in outer) > MOST_COMPARED:
        return True
    for text in outer:
        for start, character in enumerate(text):
            if character not in begins:
                continue
            rest = text[start : start + reach]
            place = bisect_right(shortest, rest)
            if place and rest.startswith(shortest[place - 1]):
                return True
            place = bisect_left(first, rest)  # one may also begin inside and end after it
            if start and first[place : place + 1] and first[place].startswith(rest):
                return True
    return False


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
        self._segments = [part for part in self.parts if part.token is None]
        self._ends = [part.end for part in self._segments]

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
        """Return whether both sides of a place have the tokens of the whole; the place is inside no part."""
        first = bisect_left(self._starts, place) - 1
        for i in (first, first + 1):  # the last that begins before the place, and one that may begin there
            if 0 <= i < len(self._spans):
                start, end = self._spans[i]
                if start < place < end or (start <= place <= end and self._is_rejected(i)):
                    return False
        return True

    def is_in_segment(self, place: int) -> bool:
        """Return whether a place is free and in a segment that is not a token: after its beginning."""
        i = bisect_left(self._ends, place)
        return i < len(self._ends) and self._segments[i].start < place and self.is_free(place)
