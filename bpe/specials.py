"""Special tokens: strings that are cut out of a text before it is split, if the caller allows them.

Where several special tokens begin at the same place, the longest is taken; the search continues after it.
Added tokens are found in the same search, and need not be allowed.

* :func:`check_specials`: what the caller gives as special tokens
* :class:`SpecialSearch`: finds tokens in bytes: few by an expression, many by an automaton
* :class:`Rules`, :func:`rules_of`: which tokens are allowed, which are an error
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, TypeVar

import numpy as np

from bpe.text import utf8_of
from bpe.token_expression import MOST_STEPS, TokenExpression, common_start, expression_of

if TYPE_CHECKING:
    from bpe.token_automaton import TokenAutomaton

Specials: TypeAlias = Literal["all"] | Collection[str]
Ordinary: TypeAlias = Literal["ordinary"] | None
Around: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]
NO_TOKENS: frozenset[str] = frozenset()
NOTHING_AROUND: Around = ((), ())

Made = TypeVar("Made")
_MOST_NEEDLES = 64


class SpecialOptions(TypedDict, total=False):
    """The options for special tokens of everything that encodes, as ``Tokenizer.encode`` describes them."""

    allowed_special: Specials | None
    disallowed_special: Specials
    specials: Ordinary
    add_special_tokens: bool


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

    Few tokens are found by a regular expression, many by an automaton, which is made here and compiled at its
    first use.

    Parameters
    ----------
    tokens : frozenset of str
        None is empty.

    Attributes
    ----------
    tokens : frozenset of str
    needles : tuple of bytes
        A text that holds a token holds one of these. They are few: tokens that begin alike share one; if too
        many begin in different ways, the only needle is empty.
    reach : int
        Bytes of the longest token.

    Raises
    ------
    ValueError
        A token is empty, or all have 2 GiB together.

    Complexity
    ----------
    O(n log k) for n bytes of k tokens. Memory: 13 bytes for each byte of the tokens, at most.

    Examples
    --------
    >>> search = SpecialSearch(frozenset(["<|end|>", "<|fim|>"]))
    >>> search.needles, search.split(b"one<|end|>two")
    ((b'<|',), [b'one', b'<|end|>', b'two'])
    """

    def __init__(self, tokens: frozenset[str]) -> None:
        if "" in tokens:
            raise ValueError("a special token is empty")
        self.tokens = tokens
        try:
            exact = seen = [token.encode() for token in tokens]
        except UnicodeEncodeError:
            exact, seen = [*{*map(_exact_bytes, tokens)}], [*map(utf8_of, tokens)]
        self.reach = max(map(len, exact), default=0)
        self.needles = _needles_of(seen)
        self._finder = _finder_of(exact)

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
        O(n) for n bytes, whatever the tokens are. With the expression, a place takes at most
        :data:`bpe.token_expression.MOST_STEPS` steps.

        Examples
        --------
        >>> list(SpecialSearch(frozenset(["<a>"])).find_all(b"<a> <a>"))
        [(0, 3), (4, 7)]
        """
        return self._finder.spans(data) if self.tokens else iter(())

    def crossed(self, data: bytes) -> np.ndarray:
        """Say for every place whether a token begins before it and ends after it.

        Parameters
        ----------
        data : bytes

        Returns
        -------
        (n_bytes + 1,) bool

        Complexity
        ----------
        As :meth:`find_all`.

        Examples
        --------
        >>> SpecialSearch(frozenset(["<a>"])).crossed(b"b<a>c").nonzero()[0]
        array([2, 3])
        """
        if not any(needle in data for needle in self.needles):
            return np.zeros(len(data) + 1, bool)
        furthest = np.zeros(len(data) + 1, np.int64)  # the end of the tokens that begin before the place
        starts, ends = self._finder.overlapping(data)
        furthest[starts + 1] = ends
        return np.maximum.accumulate(furthest) > np.arange(len(data) + 1)

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
        parts, place = [], 0
        for start, end in self.find_all(data):
            parts += [data[place:start], data[start:end]]
            place = end
        return [*parts, data[place:]]


def _remembering(make: Callable[..., Made]) -> Callable[..., Made]:
    """Remember the last results, of many tokens only a few: each may take a hundred megabytes."""
    of_few, of_many = (functools.lru_cache(maxsize=size)(make) for size in (64, 4))

    def remembered(*given: Any) -> Made:
        n_tokens = sum(len(each) for each in given if isinstance(each, (frozenset, str)))
        return (of_few if n_tokens <= MOST_STEPS else of_many)(*given)

    return remembered


search_for: Callable[[frozenset[str]], SpecialSearch] = _remembering(SpecialSearch)
"""Return the search for a frozenset of tokens; the last ones made are remembered."""


def _exact_bytes(text: str) -> bytes:
    """Return the UTF-8 of a text in which lone surrogates stay what they are; pairs are joined.

    The caller did not write the U+FFFD that takes the place of a lone one elsewhere.
    """
    if text.isascii():
        return text.encode()
    joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    return joined.encode("utf-8", "surrogatepass")


def _finder_of(tokens: list[bytes]) -> TokenExpression | TokenAutomaton:
    expression = expression_of(tokens)
    if expression is not None:
        return TokenExpression(expression)
    from bpe.token_automaton import TokenAutomaton  # loads the compiler

    return TokenAutomaton(tokens)


def _needles_of(tokens: list[bytes]) -> tuple[bytes, ...]:
    """Return what tokens begin with; only ``b""`` if they begin in too many ways to look for each."""
    for width in (2, 1):
        alike: dict[bytes, list[bytes]] = {}
        for token in tokens:
            alike.setdefault(token[:width], []).append(token)
        if len(alike) <= _MOST_NEEDLES:
            return tuple(map(common_start, alike.values()))
    return (b"",)


class Rules:
    """What special tokens in a text become: some are tokens, some are an error, others are text.

    Parameters
    ----------
    allowed : frozenset of str
        Special and added tokens that are encoded as one id each.
    disallowed : frozenset of str
        Strings that are an error.
    around : (tuple of int, tuple of int)
        Ids that are put before and after those of a text.
    always : bool
        A text needs more than its tokens cut out: the encoder of ordinary text cannot take it as it is.

    Attributes
    ----------
    allowed, disallowed : SpecialSearch
    around, always
        As given.
    cut_needles : tuple of bytes
        A text that holds none of these is ordinary text.
    needles : tuple of bytes
        A text that holds none of these is ordinary text, and holds nothing that is an error.

    Complexity
    ----------
    O(n) for n bytes of tokens.

    Examples
    --------
    >>> Rules(frozenset(["<a>"]), frozenset()).needles
    (b'<a>',)
    """

    def __init__(
        self,
        allowed: frozenset[str],
        disallowed: frozenset[str],
        around: Around = NOTHING_AROUND,
        always: bool = False,
    ) -> None:
        self.allowed, self.disallowed = search_for(allowed), search_for(disallowed)
        self.around, self.always = around, always
        is_ordinary = not always and around == NOTHING_AROUND
        self.cut_needles = self.allowed.needles if is_ordinary else (b"",)
        self.needles = tuple({*self.cut_needles, *self.disallowed.needles})

    def within(self) -> Rules:
        """Return the rules for a part of a text: nothing is put around it, and errors were looked for."""
        return Rules(self.allowed.tokens, NO_TOKENS, NOTHING_AROUND, self.always)

    def alone(self) -> Rules:
        """Return the rules that put nothing around a text."""
        if self.around == NOTHING_AROUND:
            return self
        return Rules(self.allowed.tokens, self.disallowed.tokens, NOTHING_AROUND, self.always)

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
        O(n) for n characters.

        Examples
        --------
        >>> Rules(frozenset(), frozenset(["<end>"])).refuse("no <end>")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        ValueError: text holds the special token '<end>' at character 3. To encode it as a special token, ...
        """
        if not self.disallowed.tokens:
            return
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


@_remembering
def _rules(
    special_tokens: frozenset[str],
    allowed: Specials,
    disallowed: Specials,
    added_tokens: frozenset[str],
    around: Around,
    always: bool,
) -> Rules:
    """Return the rules of checked options: each is a frozenset, or "all"."""
    permitted = special_tokens if allowed == "all" else special_tokens.intersection(allowed)
    refused = special_tokens - permitted if disallowed == "all" else frozenset(disallowed)
    return Rules(permitted | added_tokens if added_tokens else permitted, refused, around, always)


def rules_of(
    special_tokens: frozenset[str],
    allowed: Specials,
    disallowed: Specials,
    specials: Ordinary = None,
    added_tokens: frozenset[str] = NO_TOKENS,
    around: Around = NOTHING_AROUND,
    always: bool = False,
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
    added_tokens : frozenset of str
        Always tokens, also in ordinary text.
    around, always
        As for :class:`Rules`.

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
        return _rules(NO_TOKENS, NO_TOKENS, NO_TOKENS, added_tokens, around, always)
    # As they were given: sets of all tokens are made once, and their hashes are kept.
    options = {"allowed_special": allowed, "disallowed_special": disallowed}
    given = (each if each == "all" else as_set(each, name) for name, each in options.items())
    return _rules(special_tokens, *given, added_tokens, around, always)


def as_set(tokens: Specials, name: str) -> frozenset[str]:
    """Return a collection of tokens as a set; a TypeError names the option `name` if it is none."""
    is_collection = isinstance(tokens, Collection) and not isinstance(tokens, (str, bytes))
    if not is_collection or not all(isinstance(token, str) for token in tokens):
        raise TypeError(f"{name} must be 'all' or a collection of str, not {tokens!r}")
    return frozenset(tokens)
