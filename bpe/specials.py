"""Special tokens: strings that are cut out of a text before it is split, if the caller allows them.

Where several special tokens begin at the same place, the longest is taken; after it the search goes on.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterable, Iterator
from typing import Literal, TypeAlias

from bpe.text import as_bytes

__all__ = [
    "Specials",
    "check_specials",
    "find_special",
    "last_decided",
    "refuse_special",
    "resolve_special",
    "split_special",
]

Specials: TypeAlias = Literal["all"] | Collection[str]


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
        A bare str was given, or something else than a str stands among them.
    ValueError
        One is empty, stands there twice, or holds a surrogate, which has no encoding.

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
        twice = next(token for i, token in enumerate(tokens) if token in tokens[:i])
        raise ValueError(f"special token {twice!r} stands there twice")
    return tokens


@functools.lru_cache(maxsize=64)
def _searcher(tokens: frozenset[str]) -> re.Pattern[str]:
    # Among alternatives the first wins, so the longest stand first.
    longest_first = sorted(tokens, key=lambda token: (-len(token), token))
    return re.compile("|".join(map(re.escape, longest_first)))


def find_special(text: str, tokens: frozenset[str]) -> tuple[str, int] | None:
    """Find the first special token of a text.

    Parameters
    ----------
    text : str
    tokens : frozenset of str

    Returns
    -------
    (token, position) or None
        Position in characters; None where there is none.

    Complexity
    ----------
    O(n) for n characters, times the number of tokens at worst.

    Examples
    --------
    >>> find_special("one<|end|>", frozenset(["<|end|>"]))
    ('<|end|>', 3)
    """
    match = _searcher(tokens).search(text) if tokens else None
    return (match.group(), match.start()) if match else None


def split_special(text: str, tokens: frozenset[str]) -> Iterator[tuple[bool, str]]:
    """Cut a text at its special tokens.

    Parameters
    ----------
    text : str
    tokens : frozenset of str

    Yields
    ------
    (is_special, part) : (bool, str)
        In order; joined, the parts are the text. No part is empty.

    Complexity
    ----------
    O(n) for n characters, times the number of tokens at worst.

    Examples
    --------
    >>> list(split_special("one<|end|>two", frozenset(["<|end|>"])))
    [(False, 'one'), (True, '<|end|>'), (False, 'two')]
    """
    end = 0
    for match in _searcher(tokens).finditer(text) if tokens else ():
        if match.start() > end:
            yield False, text[end : match.start()]
        yield True, match.group()
        end = match.end()
    if end < len(text):
        yield False, text[end:]


def last_decided(text: str, tokens: frozenset[str]) -> tuple[int, int]:
    """Say what the beginning of a longer text already tells about its special tokens.

    Parameters
    ----------
    text : str
        More text may follow it.
    tokens : frozenset of str

    Returns
    -------
    (end, horizon) : (int, int)
        `end` is where the last special token ends that stays, whatever follows; 0 without one. No other
        begins before `horizon`; from there on one might.

    Complexity
    ----------
    O(n) for n characters, times the number of tokens at worst.

    Examples
    --------
    >>> last_decided("one<|end|>two<", frozenset(["<|end|>"]))
    (10, 10)
    >>> last_decided("one<|end|>two or three", frozenset(["<|end|>"]))
    (10, 16)
    """
    if not tokens:
        return 0, len(text)
    # A token that begins at `horizon` or later might go on past the end, or give way to a longer one.
    horizon = max(0, len(text) - max(map(len, tokens)) + 1)
    end = 0
    for match in _searcher(tokens).finditer(text):
        if match.start() >= horizon:
            break
        end = match.end()
    return end, max(end, horizon)


# ------------------------------------------------------------------------------- what the caller allows
def resolve_special(
    special_tokens: frozenset[str], allowed: Specials, disallowed: Specials
) -> tuple[frozenset[str], frozenset[str]]:
    """Return which special tokens to look for, and which strings are an error.

    Parameters
    ----------
    special_tokens : frozenset of str
        All there are.
    allowed, disallowed : "all" or collection of str
        "all" stands for all special tokens; of those disallowed, for all that are not allowed.

    Returns
    -------
    (allowed, disallowed) : (frozenset of str, frozenset of str)

    Raises
    ------
    TypeError
        One is neither "all" nor a collection of str.

    Complexity
    ----------
    O(n) for n tokens.

    Examples
    --------
    >>> resolve_special(frozenset(["<a>", "<b>"]), {"<a>"}, "all")
    (frozenset({'<a>'}), frozenset({'<b>'}))
    """
    permitted = special_tokens if allowed == "all" else _as_set(allowed, "allowed_special")
    if disallowed == "all":
        return permitted & special_tokens, special_tokens - permitted
    return permitted & special_tokens, _as_set(disallowed, "disallowed_special")


def _as_set(tokens: Specials, name: str) -> frozenset[str]:
    if isinstance(tokens, (str, bytes)) or not all(isinstance(token, str) for token in tokens):
        raise TypeError(f"{name} must be 'all' or a collection of str, not {tokens!r}")
    return frozenset(tokens)


def refuse_special(given: str | bytes, text: str, disallowed: frozenset[str], what: str) -> None:
    """Raise if a text holds a disallowed special token.

    Parameters
    ----------
    given : str or bytes
        The text as the caller gave it.
    text : str
        The same, as :func:`bpe.text.as_text` returns it.
    disallowed : frozenset of str
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
    >>> refuse_special("no <end>", "no <end>", frozenset(["<end>"]), "text")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: text holds the special token '<end>' at character 3. To encode it as a special token, ...
    """
    # In a str, surrogates are looked through as they came: what replaces them the caller did not write.
    found = find_special(given if isinstance(given, str) else text, disallowed)
    if found:
        token, place = found
        where = f"character {place}" if isinstance(given, str) else f"byte {len(as_bytes(text[:place]))}"
        raise ValueError(
            f"{what} holds the special token {token!r} at {where}. To encode it as a special token, pass "
            f"allowed_special={{{token!r}}}; to encode it as ordinary text, pass disallowed_special=()"
        )
