r"""``PreTokenizer``: how a text becomes pieces, which no token crosses.

Every type of ``tokenizers`` is known. Each is written with a few operations:

==========================  ============================================================================
``ByteLevel``               put " " before; cut as GPT-2 does; bytes become characters
``Metaspace``               " " becomes the replacement; put the replacement before; cut before each one
``Split``                   cut at the matches of a text or an expression
``Punctuation``             cut at ``[\p{P}$+<=>^`|~]``
``Digits``                  cut at ``\p{N}``; without ``individual_digits``, at runs of them
``Whitespace``              keep the matches of ``\w+|[^\w\s]+``
``WhitespaceSplit``         cut at ``\s``, which is dropped
``CharDelimiterSplit``      cut at a character, which is dropped
``BertPreTokenizer``        cut at ``\s``, which is dropped, then at punctuation
``FixedLength``             cut after every n characters
``UnicodeScripts``          cut where the script changes (:mod:`bpe.pipeline.splits`)
``Sequence``                one after the other
==========================  ============================================================================

A step after ``ByteLevel`` sees its characters, each of which stands for a byte. In the end all pieces are
bytes: those that the characters stand for, or UTF-8 where no ``ByteLevel`` is.

But: which characters are letters, numbers or punctuation, the tables of the ``regex`` package say. Those of
``tokenizers`` are older, and differ in the characters that are new; for ``Punctuation`` and
``BertPreTokenizer``, in those that are newer than Unicode 8, and for ``UnicodeScripts`` than Unicode 9.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from bpe.pipeline.entries import FromEntry, SearchPattern, flattened, unknown, value_of
from bpe.pipeline.splits import BEHAVIORS, Split, runs_of_scripts
from bpe.pipeline.tracked import Tracked
from bpe.splitting.pattern import PATTERNS
from bpe.splitting.regex_engine import MAX_EXPRESSIONS, check_expressions, deadline_of
from bpe.vocabulary.byte_level import bytes_of, text_of

_MOST_LONGER = 4  # operations that may make a text twice as long
_BYTE_CHARACTERS = frozenset(text_of(bytes(range(256))))


@dataclass(frozen=True, eq=False)
class TrackedPiece:
    """A piece, and where its bytes came from."""

    data: bytes
    starts: np.ndarray
    ends: np.ndarray


class TrackedPieces(NamedTuple):
    """The pieces of a text, and where the bytes of all came from."""

    pieces: list[bytes]
    starts: np.ndarray
    ends: np.ndarray


class _Piece(NamedTuple):
    """A piece on its way."""

    text: Tracked
    can_be_first: bool

    @property
    def is_first(self) -> bool:
        """Whether it came from the first character of the given text; that may be true of several."""
        return self.can_be_first and self.text.starts[0] == 0


# ------------------------------------------------------------------------------------------- operations
# Each has two ways: the fast one is given the text of a piece, the slow one where it came from, too.
@dataclass(frozen=True)
class Cut:
    """Cuts a piece at the matches of a pattern."""

    split: Split

    def fast(self, piece: str, is_first: bool, end: float) -> list[str]:
        """Cut a piece."""
        return self.split.pieces(piece, end)

    def slow(self, piece: _Piece, end: float) -> list[_Piece]:
        """Cut a piece, slowly."""
        spans = self.split.spans(piece.text.text, end)
        return [_Piece(piece.text[start:stop], piece.can_be_first) for start, stop in spans]


@dataclass(frozen=True)
class CutByLength:
    """Cuts a piece after each `length` characters."""

    length: int

    def fast(self, piece: str, is_first: bool, end: float) -> list[str]:
        """Cut a piece."""
        return [piece[i : i + self.length] for i in range(0, len(piece), self.length)]

    def slow(self, piece: _Piece, end: float) -> list[_Piece]:
        """Cut a piece, slowly."""
        starts = range(0, len(piece.text), self.length)
        return [_Piece(piece.text[i : i + self.length], piece.can_be_first) for i in starts]


@dataclass(frozen=True)
class Put:
    """Puts a text before a piece that does not begin with it."""

    text: str
    only_first: bool = False
    """Whether only before pieces that came from the first character of the given text."""

    def fast(self, piece: str, is_first: bool, end: float) -> list[str]:
        """Put the text before a piece."""
        is_put = (is_first or not self.only_first) and not piece.startswith(self.text)
        return [self.text + piece if is_put else piece]

    def slow(self, piece: _Piece, end: float) -> list[_Piece]:
        """Put the text before a piece, slowly."""
        if piece.text.text.startswith(self.text) or (self.only_first and not piece.is_first):
            return [piece]
        return [_Piece(piece.text.prepended(self.text), piece.can_be_first)]


@dataclass(frozen=True)
class Replace:
    """Replaces a character by another."""

    old: str
    new: str

    def fast(self, piece: str, is_first: bool, end: float) -> list[str]:
        """Replace the character in a piece."""
        return [piece.replace(self.old, self.new)]

    def slow(self, piece: _Piece, end: float) -> list[_Piece]:
        """Replace the character in a piece, slowly."""
        spans = [match.span() for match in re.finditer(re.escape(self.old), piece.text.text)]
        return [_Piece(piece.text.edited(spans, self.new), piece.can_be_first)]


@dataclass(frozen=True)
class WriteBytes:
    """Writes the bytes of a piece as characters."""

    def fast(self, piece: str, is_first: bool, end: float) -> list[str]:
        """Write a piece."""
        return [text_of(piece.encode())]

    def slow(self, piece: _Piece, end: float) -> list[_Piece]:
        """Write a piece, slowly: each byte came from where its character came from."""
        text, (data, places) = piece.text, encoded(piece.text.text)
        return [_Piece(Tracked(text_of(data), text.starts[places], text.ends[places]), piece.can_be_first)]


Operation = Cut | CutByLength | Put | Replace | WriteBytes


def encoded(text: str) -> tuple[bytes, np.ndarray | slice]:
    """Return UTF-8, and for each byte the character that it is of."""
    data = text.encode()
    if len(data) == len(text):
        return data, slice(None)
    is_start = (np.frombuffer(data, np.uint8) & 0xC0) != 0x80
    return data, np.cumsum(is_start) - 1


# ---------------------------------------------------------------------------------------------- reading
def _cut(source: str, behavior: str, invert: bool = False) -> Cut:
    return Cut(Split(SearchPattern(None, source), behavior, invert))


_CUT_LIKE_GPT2 = _cut(str(PATTERNS["gpt2"]), "Isolated")
_DROP_SPACE = _cut(r"\s+", "Removed")
_PUNCTUATION = r"[\p{P}$+<=>^`|~]"


_PUTS_NOTHING: dict[str, dict[str, Any]] = {
    "ByteLevel": {"add_prefix_space": False},
    "Metaspace": {"prepend_scheme": "never"},
}


def _byte_level(step: dict[str, Any], where: str) -> list[Operation]:
    value_of(step, where, "trim_offsets", bool, True)
    puts = value_of(step, where, "add_prefix_space", bool, True)
    cuts = value_of(step, where, "use_regex", bool, True)
    return [*[Put(" ")][:puts], *[_CUT_LIKE_GPT2][:cuts], WriteBytes()]


def _metaspace(step: dict[str, Any], where: str) -> list[Operation]:
    optional = ("add_prefix_space", "split", "str_rep")
    step = {key: value for key, value in step.items() if value is not None or key not in optional}
    character = _character(step, where, "replacement", "▁")
    value_of(step, where, "str_rep", str, "")
    puts = value_of(step, where, "add_prefix_space", bool, True)
    scheme = value_of(step, where, "prepend_scheme", str, "always" if puts else "never")
    if scheme not in ("always", "first", "never"):
        raise ValueError(f"{where}.prepend_scheme must be 'always', 'first' or 'never', not {scheme!r:.80}")
    if not puts and scheme != "never":
        raise ValueError(
            f"{where} has add_prefix_space false, and prepend_scheme {scheme!r}: the two do not go together"
        )
    operations: list[Operation] = [Replace(" ", character)]
    if scheme != "never":
        operations.append(Put(character, scheme == "first"))
    if value_of(step, where, "split", bool, True):
        operations.append(Cut(Split(SearchPattern(character, re.escape(character)), "MergedWithNext")))
    return operations


def _split(step: dict[str, Any], where: str) -> list[Operation]:
    pattern = SearchPattern.of(step.get("pattern"), f"{where}.pattern")
    return [Cut(Split(pattern, _behavior(step, where), value_of(step, where, "invert", bool, False)))]


def _fixed_length(step: dict[str, Any], where: str) -> list[Operation]:
    length = value_of(step, where, "length", int, 5)
    if length < 1:
        raise ValueError(f"{where}.length must be at least 1, not {length}")
    return [CutByLength(length)]


def _digits(step: dict[str, Any], where: str) -> list[Operation]:
    each = value_of(step, where, "individual_digits", bool, False)
    return [_cut(r"\p{N}", "Isolated" if each else "Contiguous")]


def _delimiter(step: dict[str, Any], where: str) -> list[Operation]:
    character = _character(step, where, "delimiter")
    return [Cut(Split(SearchPattern(character, re.escape(character)), "Removed"))]


def _behavior(step: dict[str, Any], where: str, default: str | None = None) -> str:
    behavior = value_of(step, where, "behavior", str, *[default] * (default is not None))
    if behavior not in BEHAVIORS:
        raise ValueError(f"{where}.behavior must be one of {', '.join(BEHAVIORS)}, not {behavior!r:.80}")
    return behavior


def _character(step: dict[str, Any], where: str, key: str, default: str | None = None) -> str:
    character = value_of(step, where, key, str, *[default] * (default is not None))
    if len(character) != 1:
        raise ValueError(f"{where}.{key} must be one character, not {character!r:.80}")
    return character


_READERS: dict[str, Callable[[dict[str, Any], str], list[Operation]]] = {
    "ByteLevel": _byte_level,
    "Metaspace": _metaspace,
    "Split": _split,
    "Punctuation": lambda step, where: [_cut(_PUNCTUATION, _behavior(step, where, "Isolated"))],
    "Digits": _digits,
    "Whitespace": lambda step, where: [_cut(r"\w+|[^\w\s]+", "Removed", True)],
    "WhitespaceSplit": lambda step, where: [_DROP_SPACE],
    "CharDelimiterSplit": _delimiter,
    "BertPreTokenizer": lambda step, where: [_DROP_SPACE, _cut(_PUNCTUATION, "Isolated")],
    "FixedLength": _fixed_length,
    "UnicodeScripts": lambda step, where: [_cut(runs_of_scripts(), "Removed", True)],
}


class Step(NamedTuple):
    """A step of a pre-tokenizer that is not a Sequence."""

    where: str
    """Where its entry is."""
    type: str
    operations: tuple[Operation, ...]


def _needle_of(operations: list[Operation]) -> str | None:
    """Return a text without which a pre-tokenizer does nothing, if it is known."""
    if len(operations) != 1 or not isinstance(operations[0], Cut):
        return None
    split = operations[0].split
    return (split.pattern.text or None) if split.rule != "Kept" else None


class PreTokenizer(FromEntry):
    r"""What cuts a text into pieces; make one with :meth:`of`.

    Immutable, hashable, picklable; equal where the entries are.
    """

    def __init__(self, entry: Any, where: str) -> None:
        super().__init__(entry, where)
        steps = flattened(self.entry, where, "pretokenizers")
        if len(steps) > MAX_EXPRESSIONS:
            raise ValueError(f"{where} has {len(steps)} steps; at most {MAX_EXPRESSIONS} can be read")
        self.steps = tuple(_read(place, step) for place, step in steps)
        operations = [operation for step in self.steps for operation in step.operations]
        self.operations = tuple(operations)
        self.is_nothing = not operations
        self.is_byte_level = WriteBytes() in operations
        self.needle = _needle_of(operations)
        self._check(where)
        # The characters of the last ByteLevel stand for UTF-8: where nothing sees them, none are written.
        is_last = bool(operations) and isinstance(operations[-1], WriteBytes)
        self._fast_operations = self.operations[:-1] if is_last else self.operations
        self._writes_bytes = self.is_byte_level and not is_last
        firsts = [i for i, each in enumerate(operations) if isinstance(each, Put) and each.only_first]
        self.minds_first = bool(firsts)
        before = operations[: max(firsts, default=0)]
        # They may drop the beginning, or cut what was made of one character.
        self._needs_places = any(isinstance(each, (Cut, CutByLength)) for each in before)
        cuts = [i for i, each in enumerate(self._fast_operations) if isinstance(each, (Cut, CutByLength))]
        self._n_before_cuts = cuts[0] if cuts else len(self._fast_operations)
        self._only_cuts_follow = cuts == [*range(self._n_before_cuts, len(self._fast_operations))] and all(
            each.split.rule not in ("Removed", "Kept") for each in operations if isinstance(each, Cut)
        )

    def _check(self, where: str) -> None:
        """Raise if the operations together take too much, or leave what no bytes stand for."""
        operations = self.operations
        sources = [each.split.source for each in operations if isinstance(each, Cut)]
        check_expressions([source for source in sources if source != runs_of_scripts()])  # ours is long
        n_longer = sum(isinstance(each, (Put, WriteBytes)) for each in operations)
        if n_longer > _MOST_LONGER:
            raise ValueError(
                f"{where} makes a text longer {n_longer} times, with bytes as characters or what is put "
                f"before pieces; at most {_MOST_LONGER} can be read"
            )
        for i, operation in enumerate(operations):
            is_after = WriteBytes() in operations[:i] and WriteBytes() not in operations[i:]
            if is_after and isinstance(operation, Put) and operation.text not in _BYTE_CHARACTERS:
                raise ValueError(
                    f"{where} puts {operation.text!r} before pieces after ByteLevel, where characters stand "
                    "for bytes: it stands for none"
                )

    @classmethod
    def of(cls, entry: Any, where: str = "pre_tokenizer") -> PreTokenizer:
        """Read a pre-tokenizer."""
        return cls(entry, where)

    @functools.cached_property
    def later(self) -> PreTokenizer:
        """The pre-tokenizer for the rest of a text that was cut: it puts nothing before the rest."""
        steps: list[dict[str, Any]] = []
        is_before_cuts = True
        for (_, step), read in zip(flattened(self.entry, "", "pretokenizers"), self.steps, strict=True):
            steps.append(step | _PUTS_NOTHING.get(read.type, {}) if is_before_cuts else step)
            is_before_cuts &= not any(isinstance(each, (Cut, CutByLength)) for each in read.operations)
        found = PreTokenizer.of({"type": "Sequence", "pretokenizers": steps})
        return self if found.operations == self.operations else found

    def __call__(self, text: str, n_first: int) -> list[bytes]:
        """Cut a text into pieces."""
        if self._needs_places:
            starts = np.maximum(np.arange(len(text)) - max(n_first - 1, 0), 0)
            return self.tracked(Tracked(text, starts, starts + 1), n_first > 0).pieces
        pieces, end = [text] if text else [], deadline_of(text)
        for operation in self._fast_operations:
            first = [part for piece in pieces[:1] for part in operation.fast(piece, n_first > 0, end)]
            pieces = first + _each(operation, pieces[1:], end)
        if self._writes_bytes:
            return [bytes_of(piece) or b"" for piece in pieces]
        return list(map(str.encode, pieces))

    def tracked(self, text: Tracked, is_first: bool) -> TrackedPieces:
        """Cut a text into the same pieces, with where their bytes came from.

        Where nothing but cuts comes after the first cut, all bytes of the text stay in their order.
        """
        if not self._only_cuts_follow or not len(text):
            found = self.tracked_one_by_one(text, is_first)
            starts, ends = ([getattr(each, name) for each in found] for name in ("starts", "ends"))
            none = np.empty(0, np.int64)
            return TrackedPieces(
                [each.data for each in found], np.concatenate([none, *starts]), np.concatenate([none, *ends])
            )
        whole, end = _Piece(text, is_first), deadline_of(text.text)
        for operation in self._fast_operations[: self._n_before_cuts]:
            (whole,) = operation.slow(whole, end)
        pieces = [whole.text.text]
        for operation in self._fast_operations[self._n_before_cuts :]:
            pieces = _each(operation, pieces, end)
        if self._writes_bytes:
            return TrackedPieces(
                [bytes_of(piece) or b"" for piece in pieces], whole.text.starts, whole.text.ends
            )
        _, places = encoded(whole.text.text)
        return TrackedPieces([*map(str.encode, pieces)], whole.text.starts[places], whole.text.ends[places])

    def tracked_one_by_one(self, text: Tracked, is_first: bool) -> list[TrackedPiece]:
        """Cut a text into the same pieces, each with where its bytes came from: the slow way."""
        pieces, end = [_Piece(text, is_first)] if len(text) else [], deadline_of(text.text)
        for operation in self.operations:
            pieces = [part for piece in pieces for part in operation.slow(piece, end)]
        return [self._finished(piece.text) for piece in pieces]

    def _finished(self, text: Tracked) -> TrackedPiece:
        if self.is_byte_level:
            return TrackedPiece(bytes_of(text.text) or b"", text.starts, text.ends)
        data, places = encoded(text.text)
        return TrackedPiece(data, text.starts[places], text.ends[places])


def _each(operation: Operation, pieces: list[str], end: float) -> list[str]:
    """Return what an operation makes of words, many of which are there more than once."""
    parts_of = {piece: operation.fast(piece, False, end) for piece in set(pieces)}
    return [*chain.from_iterable(map(parts_of.__getitem__, pieces))]


def _read(where: str, step: dict[str, Any]) -> Step:
    reader = _READERS.get(step["type"])
    if reader is None:
        raise unknown(step, where, _READERS)
    return Step(where, step["type"], tuple(reader(step, where)))
