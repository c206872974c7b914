"""Special tokens: strings that are cut out of a text before it is split, if the caller allows them.

Where several special tokens begin at the same place, the longest is taken; the search continues after it.

* :func:`check_specials`: what the caller gives as special tokens
* :class:`SpecialSearch`: finds tokens in bytes
* :class:`Rules`, :func:`rules_of`: which tokens are allowed, which are an error
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import Literal, TypeAlias, TypedDict

from bpe.text import utf8_of

Specials: TypeAlias = Literal["all"] | Collection[str]
Ordinary: TypeAlias = Literal["ordinary"] | None
NO_TOKENS: frozenset[str] = frozenset()


class SpecialOptions(TypedDict, total=False):
    """The options for special tokens of everything that encodes, as ``Tokenizer.encode`` describes them."""

    allowed_special: Specials
    disallowed_special: Specials
    specials: Ordinary


def check_specials(special_tokens: Iterable[str]) -> tuple[str, ...]:
    """Return special tokens as a tuple, checked.

    Parameters
    ----------
    special_tokens : iterable of str

    Returns
    -------
    tuple of str

    Raises
    ------
    TypeError
        A single str was given, or one of them is not a str.
    ValueError
        One is empty, a duplicate, or holds a surrogate, which has no encoding.

    Complexity
    ----------
    O(n) for n characters.

    Examples
    --------
    >>> check_specials(["<|endoftext|>"])
    ('<|endoftext|>',)
    """
    if isinstance(special_tokens, (str, bytes)):
        raise TypeError(f"special tokens must be in a list: write [{special_tokens!r}]")
    tokens = tuple(special_tokens)
    for i, token in enumerate(tokens):
        if not isinstance(token, str):
            raise TypeError(f"special token {i} must be str, not {type(token).__name__}")
        if not token:
            raise ValueError(f"special token {i} is empty")
        try:
            token.encode()
        except UnicodeEncodeError:
            raise ValueError(f"special token {i}, {token!r}, holds a surrogate: it has no UTF-8") from None
    if len(set(tokens)) < len(tokens):
        raise ValueError(f"duplicate special token {Counter(tokens).most_common(1)[0][0]!r}")
    return tokens


# ------------------------------------------------------------------------------------------------- search
class SpecialSearch:
    """Finds special tokens in bytes.

    Parameters
    ----------
    tokens : frozenset of str

    Attributes
    ----------
    tokens : frozenset of str
    needles : tuple of bytes
        A text that holds a token holds one of these. They are few: tokens that begin alike share one.
    reach : int
        Bytes of the longest token.

    Complexity
    ----------
    O(n) for n bytes of tokens.

    Examples
    --------
    >>> search = SpecialSearch(frozenset(["<|end|>", "<|fim|>"]))
    >>> search.needles, search.split(b"one<|end|>two")
    ((b'<|',), [b'one', b'<|end|>', b'two'])
    """

    def __init__(self, tokens: frozenset[str]) -> None:
        self.tokens = tokens
        # Among alternatives the first wins, so the longest come first.
        longest_first = sorted({*map(_exact_bytes, tokens)}, key=lambda token: (-len(token), token))
        self.reach = len(longest_first[0]) if longest_first else 0
        alike: dict[bytes, list[bytes]] = {}
        for token in map(utf8_of, tokens):
            alike.setdefault(token[:2], []).append(token)
        self.needles = tuple(map(_common, alike.values()))
        self._pattern = re.compile(b"(" + b"|".join(map(re.escape, longest_first)) + b")")

    def find_all(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Find all tokens of a text, from left to right.

        Parameters
        ----------
        data : bytes

        Yields
        ------
        (start, end) : (int, int)

        Complexity
        ----------
        O(n) for n bytes, times the number of tokens at worst.

        Examples
        --------
        >>> list(SpecialSearch(frozenset(["<a>"])).find_all(b"<a> <a>"))
        [(0, 3), (4, 7)]
        """
        if self.tokens:
            for match in self._pattern.finditer(data):
                yield match.span()

    def crosses(self, data: bytes, place: int) -> bool:
        """Say whether a token begins before a place and ends after it.

        Parameters
        ----------
        data : bytes
        place : int
            A byte.

        Returns
        -------
        bool

        Complexity
        ----------
        O(reach), times the number of tokens.

        Examples
        --------
        >>> search = SpecialSearch(frozenset(["<a>"]))
        >>> search.crosses(b"b<a>c", 1), search.crosses(b"b<a>c", 2)
        (False, True)
        """
        near = data[max(place - self.reach + 1, 0) : place + self.reach - 1]
        if not any(needle in near for needle in self.needles):
            return False
        starts = range(max(place - self.reach + 1, 0), place)
        return any(match.end() > place for start in starts if (match := self._pattern.match(data, start)))

    def horizon(self, n_bytes: int) -> int:
        """Say from where on a token in `n_bytes` of text may go past their end, or give way to a longer one.

        Examples
        --------
        >>> SpecialSearch(frozenset(["<a>"])).horizon(10)
        8
        """
        return min(n_bytes, max(0, n_bytes - self.reach + 1))

    def last_decided(self, data: bytes) -> tuple[int, int]:
        """Say what the beginning of a longer text already tells about its tokens.

        Parameters
        ----------
        data : bytes
            More may follow it.

        Returns
        -------
        (end, horizon) : (int, int)
            `end` is where the last token ends that is known, whatever follows; 0 without one. No other token
            begins before `horizon`.

        Complexity
        ----------
        As :meth:`find_all`.

        Examples
        --------
        >>> SpecialSearch(frozenset(["<|end|>"])).last_decided(b"one<|end|>two<")
        (10, 10)
        >>> SpecialSearch(frozenset(["<|end|>"])).last_decided(b"one<|end|>two or three")
        (10, 16)
        """
        horizon, end = self.horizon(len(data)), 0
        if any(needle in data for needle in self.needles):
            for start, stop in self.find_all(data):
                if start >= horizon:
                    break
                end = stop
        return end, max(end, horizon)

    def split(self, data: bytes) -> list[bytes]:
        """Cut a text at its tokens.

        Parameters
        ----------
        data : bytes

        Returns
        -------
        list of bytes
            Text, token, text, and so on, to the text after the last token; texts may be empty.

        Complexity
        ----------
        As :meth:`find_all`.

        Examples
        --------
        >>> SpecialSearch(frozenset(["<a>"])).split(b"<a>b")
        [b'', b'<a>', b'b']
        """
        return self._pattern.split(data) if self.tokens else [data]


search_for = functools.lru_cache(maxsize=64)(SpecialSearch)
"""Return the search for a frozenset of tokens; the last ones made are remembered."""


def _exact_bytes(text: str) -> bytes:
    """Return the UTF-8 of a text in which lone surrogates stay what they are; pairs are joined.

    The caller did not write the U+FFFD that takes the place of a lone one elsewhere.
    """
    if text.isascii():
        return text.encode()
    joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    return joined.encode("utf-8", "surrogatepass")


def _common(tokens: list[bytes]) -> bytes:
    """Return what all begin with."""
    first, last = min(tokens), max(tokens)
    return next((first[:i] for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), first)


class Rules:
    """What special tokens in a text become: some are tokens, some are an error, others are text.

    Parameters
    ----------
    allowed : frozenset of str
        Special tokens that are encoded as one id each.
    disallowed : frozenset of str
        Strings that are an error.

    Attributes
    ----------
    allowed, disallowed : SpecialSearch
    needles : tuple of bytes
        A text that holds none of these holds nothing of either kind.

    Complexity
    ----------
    O(n) for n bytes of tokens.

    Examples
    --------
    >>> Rules(frozenset(["<a>"]), frozenset()).needles
    (b'<a>',)
    """

    def __init__(self, allowed: frozenset[str], disallowed: frozenset[str]) -> None:
        self.allowed, self.disallowed = search_for(allowed), search_for(disallowed)
        self.needles = tuple({*self.allowed.needles, *self.disallowed.needles})

    def refuse(self, given: str | bytes, what: str = "text") -> None:
        """Raise if a text holds a disallowed string.

        Parameters
        ----------
        given : str or bytes
            As the caller gave it: the place is counted in its characters or bytes.
        what : str
            What to call the text in the error.

        Raises
        ------
        ValueError
            It holds one; the message says which, where, and what to do.

        Complexity
        ----------
        O(n) for n characters, times the number of tokens at worst.

        Examples
        --------
        >>> Rules(frozenset(), frozenset(["<end>"])).refuse("no <end>")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        ValueError: text holds the special token '<end>' at character 3. To encode it as a special token, ...
        """
        data = _exact_bytes(given) if isinstance(given, str) else bytes(given)
        for start, end in self.disallowed.find_all(data):
            where = f"byte {start}"
            if isinstance(given, str):  # bytes may be no UTF-8
                where = f"character {len(data[:start].decode('utf-8', 'surrogatepass'))}"
            raise refusal(data[start:end].decode("utf-8", "surrogatepass"), where, what)


def refusal(token: str, where: str, what: str) -> ValueError:
    """Return the error for a disallowed special token.

    Parameters
    ----------
    token : str
    where, what : str
        The place, and what holds it.

    Returns
    -------
    ValueError

    Examples
    --------
    >>> str(refusal("<a>", "byte 3", "text"))[:47]
    "text holds the special token '<a>' at byte 3. T"
    """
    return ValueError(
        f"{what} holds the special token {token!r} at {where}. To encode it as a special token, pass "
        f"allowed_special={{{token!r}}}; to encode it as ordinary text, pass disallowed_special=()"
    )


_rules = functools.lru_cache(maxsize=64)(Rules)


def rules_of(
    special_tokens: frozenset[str],
    allowed: Specials,
    disallowed: Specials,
    specials: Ordinary = None,
) -> Rules:
    """Return what the options of a public method stand for.

    Parameters
    ----------
    special_tokens : frozenset of str
        All special tokens of the vocabulary.
    allowed, disallowed : "all" or collection of str
        "all" stands for all special tokens; for `disallowed`, for all that are not allowed.
    specials : "ordinary", optional
        All text is ordinary. It replaces the other two.

    Returns
    -------
    Rules

    Raises
    ------
    TypeError
        `allowed` or `disallowed` is neither "all" nor a collection of str.
    ValueError
        `specials` is something else, or does not go with the other two.

    Complexity
    ----------
    O(n) for n tokens.

    Examples
    --------
    >>> rules = rules_of(frozenset(["<a>", "<b>"]), {"<a>"}, "all")
    >>> rules.allowed.tokens, rules.disallowed.tokens
    (frozenset({'<a>'}), frozenset({'<b>'}))
    """
    if specials is not None:
        if specials != "ordinary":
            raise ValueError(f"specials must be 'ordinary' or None, not {specials!r}")
        if allowed or disallowed not in ("all", ()):
            raise ValueError("specials='ordinary' goes with neither allowed_special nor disallowed_special")
        return _rules(frozenset(), frozenset())
    permitted = special_tokens if allowed == "all" else _as_set(allowed, "allowed_special")
    if disallowed == "all":
        return _rules(permitted & special_tokens, special_tokens - permitted)
    return _rules(permitted & special_tokens, _as_set(disallowed, "disallowed_special"))


def _as_set(tokens: Specials, name: str) -> frozenset[str]:
    is_collection = isinstance(tokens, Collection) and not isinstance(tokens, (str, bytes))
    if not is_collection or not all(isinstance(token, str) for token in tokens):
        raise TypeError(f"{name} must be 'all' or a collection of str, not {tokens!r}")
    return frozenset(tokens)
