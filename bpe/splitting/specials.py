"""Special tokens: strings that are cut out of a text before it is split, if the caller allows them.

Where several special tokens begin at the same place, the longest is taken; the search continues after it.
Added tokens are found in the same search, and need not be allowed.

:class:`Rules` say which tokens are allowed, and which are an error.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from difflib import get_close_matches
from inspect import Parameter, signature
from typing import Any, Literal, TypeAlias, TypedDict, TypeVar

from bpe.splitting.special_search import cached_by_size, exact_bytes, search_for
from bpe.support.old_names import NEW_NAME_OF

Specials: TypeAlias = Literal["all"] | Collection[str]
Around: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]  # ids put before and after those of a text
NO_TOKENS: frozenset[str] = frozenset()
NOTHING_AROUND: Around = ((), ())


Function = TypeVar("Function", bound=Callable[..., Any])


class SpecialOptions(TypedDict, total=False):
    """The options for special tokens of everything that encodes, as ``Tokenizer.encode`` describes them."""

    allowed_special: Specials | None
    disallowed_special: Specials
    add_special_tokens: bool


_SHOWN = [
    Parameter("allowed_special", Parameter.KEYWORD_ONLY, default=None, annotation="Specials | None"),
    Parameter("disallowed_special", Parameter.KEYWORD_ONLY, default="all", annotation="Specials"),
    Parameter("add_special_tokens", Parameter.KEYWORD_ONLY, default=False, annotation="bool"),
]


def takes_special_options(function: Function) -> Function:
    """Show what ``**special`` of a function stands for, in ``help()`` and in editors."""
    own = signature(function)
    parameters = [each for each in own.parameters.values() if each.kind is not Parameter.VAR_KEYWORD]
    function.__signature__ = own.replace(parameters=[*parameters, *_SHOWN])  # type: ignore[attr-defined]
    return function


def check_names(special: SpecialOptions, function: Callable[..., Any]) -> None:
    """Raise a TypeError that names the function if there is an option that it does not have."""
    for name in special:
        if name not in SpecialOptions.__annotations__:
            known = [each for each in signature(function).parameters if each != "special"]
            close = [*filter(None, [NEW_NAME_OF.get(name)]), *get_close_matches(name, known, cutoff=0.5)]
            hint = f". Did you mean {close[0]!r}?" if close else ""
            called = function.__qualname__
            raise TypeError(f"{called}() got an unexpected keyword argument {name!r}{hint}")


class Rules:
    """What special tokens in a text become: some are tokens, some are an error, others are text.

    `always`: no text is ordinary, as ids are put around every one, for instance.
    """

    def __init__(
        self,
        allowed: frozenset[str],
        disallowed: frozenset[str],
        around: Around = NOTHING_AROUND,
    ) -> None:
        self.allowed, self.disallowed, self.around = search_for(allowed), search_for(disallowed), around
        # A text with none of these is ordinary text, without an error. Every text has the needle b"".
        needles = self.allowed.needles if around == NOTHING_AROUND else (b"",)
        self.needles = tuple({*needles, *self.disallowed.needles})
        self.always = b"" in self.needles
        # Whether a text holds a byte is known in a twentieth of the time.
        self.by_first_byte = tuple((needle[0], needle) for needle in self.needles if needle)

    def within(self) -> Rules:
        """Return the rules for a part of a text: nothing is put around it, and errors were looked for."""
        return Rules(self.allowed.tokens, NO_TOKENS)

    def alone(self) -> Rules:
        """Return the rules that put nothing around a text."""
        if self.around == NOTHING_AROUND:
            return self
        return Rules(self.allowed.tokens, self.disallowed.tokens)

    def refuse(self, given: str | bytes, what: str = "text") -> None:
        """Raise if a text has a disallowed token; the place is counted as the text was given."""
        if not self.disallowed.tokens:
            return
        data = exact_bytes(given) if isinstance(given, str) else bytes(given)
        for start, end in self.disallowed.find_all(data):
            where = f"byte {start}"
            if isinstance(given, str):  # bytes may not be UTF-8
                where = f"character {len(data[:start].decode('utf-8', 'surrogatepass'))}"
            raise refusal(data[start:end].decode("utf-8", "surrogatepass"), where, what)


def refusal(token: str, where: str, what: str) -> ValueError:
    """Return the error for a disallowed special token."""
    return ValueError(
        f"{what} holds the special token {token!r} at {where}. To encode it as a special token, pass "
        f"allowed_special={{{token!r}}}; to encode it as ordinary text, pass disallowed_special=()"
    )


@cached_by_size
def _cached_rules(
    special_tokens: frozenset[str],
    allowed: Specials,
    disallowed: Specials,
    added_tokens: frozenset[str],
    around: Around,
) -> Rules:
    """Return the rules for options that were checked: each is a frozenset, or "all"."""
    permitted = special_tokens if allowed == "all" else special_tokens.intersection(allowed)
    refused = special_tokens - permitted if disallowed == "all" else frozenset(disallowed)
    return Rules(permitted | added_tokens if added_tokens else permitted, refused, around)


def make_rules(
    special_tokens: frozenset[str],
    allowed: Specials,
    disallowed: Specials,
    added_tokens: frozenset[str] = NO_TOKENS,
    around: Around = NOTHING_AROUND,
) -> Rules:
    """Check the options of a public method for special tokens, and return their rules."""
    # As they were given: sets of all tokens are made once, and their hashes are kept.
    options = {"allowed_special": allowed, "disallowed_special": disallowed}
    given = (each if each == "all" else as_set(each, name) for name, each in options.items())
    return _cached_rules(special_tokens, *given, added_tokens, around)


def as_set(tokens: Specials, name: str) -> frozenset[str]:
    """Return a collection of tokens as a set; the TypeError for anything else names the option."""
    is_collection = not isinstance(tokens, (str, bytes)) and isinstance(tokens, Collection)
    if not is_collection or not all(isinstance(token, str) for token in tokens):
        raise TypeError(f"{name} must be 'all' or a collection of str, not {tokens!r}")
    return frozenset(tokens)
