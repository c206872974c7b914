"""Random expressions, valid or not: the pieces of the ``regex`` package, or a documented error."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import accumulate, pairwise

import regex

import bpe
from bpe.support.text import as_bytes, as_text
from tests.fuzz import texts

N_TEXTS = 12
_SECONDS = 5  # for one text: the package may backtrack without end
_CLASSES = [
    r"\d",
    r"\w",
    r"\s",
    r"\D",
    r"\W",
    r"\S",
    r"\p{L}",
    r"\P{L}",
    r"\p{Lu}",
    r"\p{N}",
    r"\p{M}",
    r"\p{Han}",
]
_ITEMS = [
    *_CLASSES,
    r"a-c",
    r"A-Z",
    r"0-9",
    r"é",
    r"\u0370-\u03ff",
    r"\n",
    r"\]",
    r"-",
    r"[:alpha:]",
    r"\x41",
    r"😀",
    r"^",
    r"|",
]
_SIMPLE = [
    *_CLASSES,
    *"abcst019' ",
    *[r".", r"\.", r"\r", r"\n", r"é", r"中", r"😀", r"the", r"'s", r"\u00e9", r"\x{e9}"],
]
_PLACES = [r"^", r"$", r"\b", r"\B", r"\A", r"\Z", r"\z", r"\m", r"\M", r"\G"]
_REPEATS = ["?", "*", "+", "{2}", "{1,3}", "{2,}", "{0}", "{,2}", "{0,40}"]
_FLAGS = ["i", "s", "m", "x", "a", "u", "is", "-i", "i-s"]
_GLOBAL = ["(?i)", "(?s)", "(?m)", "(?x)", "(?V1)", "(?a)", "(?r)", "(?w)", "(?f)", "(?p)", "(?b)", "(?e)"]
_RARE = [
    *[r"\1", r"(?P=a)", r"\X", r"\K", r"(?R)", r"(?1)", r"(?(1)a|b)", r"(?|(a)|(b))", r"(?:ab){e<=1}", r"\R"],
    r"\N{DIGIT ONE}",
]
_GARBAGE = [
    *"()[]{}*+?\\|^$-\0",
    *[r"(?", r"[^", r"{1", r"\p{", r"(?<", r"[[", r"\x", r"(?P<a>", r"*+", r"{3,1}", r"(*FAIL)"],
]


def expression(chance: random.Random) -> str:
    """Return an expression, valid in most cases."""
    source = _alternatives(chance, 3)
    if chance.random() < 0.15:
        source = chance.choice(_GLOBAL) + source
    for _ in range(chance.randrange(1, 4) if chance.random() < 0.15 else 0):
        place = chance.randrange(len(source) + 1)
        source = source[:place] + chance.choice(_GARBAGE) + source[place + chance.randrange(3) :]
    return source


def _alternatives(chance: random.Random, depth: int) -> str:
    return "|".join(_sequence(chance, depth) for _ in range(chance.choice([1, 1, 2, 3])))


def _sequence(chance: random.Random, depth: int) -> str:
    return "".join(_repeated(chance, depth) for _ in range(chance.choice([1, 1, 2, 3])))


def _repeated(chance: random.Random, depth: int) -> str:
    part = _part(chance, depth)
    if chance.random() < 0.35:
        part += chance.choice(_REPEATS) + chance.choice(["", "", "", "?", "+"])
    return part


def _part(chance: random.Random, depth: int) -> str:
    which = chance.random()
    if which < 0.05:
        return chance.choice(_PLACES)
    if which < 0.07:
        return chance.choice(_RARE)
    if which < 0.3:
        return _set(chance)
    if which < 0.65 or not depth:
        return chance.choice(_SIMPLE)
    opening = chance.choice(["(?:", "(?:", "(", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?P<a>", "(?flags:"])
    return opening.replace("flags", chance.choice(_FLAGS)) + _alternatives(chance, depth - 1) + ")"


def _set(chance: random.Random) -> str:
    items = "".join(chance.choice(_ITEMS) for _ in range(chance.choice([1, 2, 2, 3, 5])))
    if chance.random() < 0.1:
        items += chance.choice(["--", "&&", "||", "~~"]) + chance.choice(["[a-c]", r"\d", "[^b]"])
    return f"[{chance.choice(['', '', '^'])}{items}]"


# ----------------------------------------------------------------------------------------------- oracle
def pieces(source: str, text: str) -> list[str]:
    """Return the matches of the package and the stretches between them; none is empty."""
    spans = [match.span() for match in regex.compile(source).finditer(text, timeout=_SECONDS)]
    places = sorted({0, len(text), *(place for span in spans for place in span)})
    return [text[start:stop] for start, stop in pairwise(places)]


def pieces_in_turn(sources: list[str], text: str) -> list[str]:
    """Return the pieces of several expressions, each applied to the pieces of the one before."""
    found = [text] if text else []
    for source in sources:
        found = [part for piece in found for part in pieces(source, piece)]
    return found


def run(chance: random.Random, note: Callable[[str], object]) -> None:
    """Compare a pattern of random expressions with the package."""
    sources = [expression(chance) for _ in range(chance.choice([1, 1, 1, 1, 2, 3]))]
    note(f"pattern = Pattern.of({sources!a})")
    try:
        pattern = bpe.Pattern.of(sources)
    except ValueError as error:
        _check_refused(sources, str(error))
        return
    note(f"compiled: {pattern.compiled}")
    letters = "".join(character for source in sources for character in source if character.isalnum())
    for i in range(N_TEXTS):
        some = texts.text(chance, 30, letters) if i % 2 else texts.data(chance, 30, letters)
        note(f"text = {some!a}")
        try:
            expected = pieces_in_turn(sources, as_text(some))
            _check_pieces(pattern, some, expected)
            _check_places(pattern, some, chance)
        except (TimeoutError, MemoryError):  # of the package: it can take any time, and a gigabyte
            return


def _check_pieces(pattern: bpe.Pattern, some: str | bytes, expected: list[str]) -> None:
    if isinstance(some, str):
        got = pattern.split(some)
        assert got == expected, f"{got} are not {expected}"
    else:
        parts = pattern.split_bytes(some)
        assert parts == [*map(as_bytes, expected)], f"{parts} are not {expected}"


def _check_refused(sources: list[str], message: str) -> None:
    assert len(message) < 2000, f"a message of {len(message)} characters"
    for source in sources:
        try:
            regex.compile(source)
        except Exception:
            return
    assert not all(sources) or "too " in message, f"the package takes what is refused: {message}"


def _check_places(pattern: bpe.Pattern, some: str | bytes, chance: random.Random) -> None:
    """Check what the pattern says about parts of a longer text."""
    split = pattern.split if isinstance(some, str) else pattern.split_bytes
    cuts = pattern.cuts(some).tolist()
    for place in cuts:
        assert split(some) == split(some[:place]) + split(some[place:]), place
    start, stop = sorted(chance.choices(range(len(some) + 1), k=2))
    last = pattern.last_cut(some, start, stop)
    assert start <= last <= stop, (start, stop, last)
    if isinstance(some, str):
        assert last == max((place for place in cuts if start < place <= stop), default=start), (start, stop)
    elif last > start:
        assert split(some) == split(some[:last]) + split(some[last:]), (start, stop, last)
    data = some.encode() if isinstance(some, str) else some
    decided = pattern.decided(data)
    more = data + texts.data(chance, 5)
    assert _ends(pattern, data, decided) == _ends(pattern, more, decided), (decided, more)
    for place in pattern.cuts(data).tolist():
        assert place in _ends(pattern, more, place), (place, more)


def _ends(pattern: bpe.Pattern, data: bytes, most: int) -> list[int]:
    """Return where pieces end, up to a place that is one of them."""
    ends = [end for end in accumulate(map(len, pattern.split_bytes(data))) if end <= most]
    assert not most or ends[-1] == most, f"no piece ends at {most}"
    return ends
