"""The steps of decoders: each makes other texts of the texts of tokens.

Most make one text of each token. They may treat the first and the last token of a text in another way, and no
other. So the texts of all other tokens can be made in advance (:mod:`bpe.pipeline.decoders`).

The others join: ``Fuse`` and ``ByteLevel`` join all tokens, ``ByteFallback`` joins runs of byte tokens.
``CTC`` drops a token that is like the one before.

``PieceSpaces`` and ``PieceBytes`` are not known to ``tokenizers``: they decode as SentencePiece does
(:mod:`bpe.formats.sentencepiece`).
"""

from __future__ import annotations

import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeAlias

from bpe.pipeline.entries import SearchPattern, content_of, value_of
from bpe.splitting.regex_engine import SECONDS, SECONDS_PER_MEGABYTE
from bpe.vocabulary.byte_level import bytes_of

Entry: TypeAlias = dict[str, Any]


class Step(ABC):
    """What a decoder does to the texts of tokens."""

    @property
    def growth(self) -> int:
        """How many times as long a text may become."""
        return 1

    @abstractmethod
    def __call__(self, tokens: list[str]) -> list[str]:
        """Return the texts after the step; `tokens` are all of them."""


class EachToken(Step):
    """A step that makes one text of each token."""

    minds_first = minds_last = while_empty = False

    @abstractmethod
    def change(self, token: str, is_first: bool, is_last: bool) -> str:
        """Return the text of one token."""

    def change_all(self, tokens: list[str], is_first: bool, is_last: bool) -> list[str]:
        """Return the texts of some tokens that follow each other."""
        changed = [self.change(token, False, False) for token in tokens]
        if is_first and self.minds_first:
            for i, token in enumerate(tokens):
                changed[i] = self.change(token, True, False)
                if changed[i] or not self.while_empty:
                    break
        if tokens and is_last and self.minds_last:
            changed[-1] = self.change(tokens[-1], False, True)
        return changed

    def __call__(self, tokens: list[str]) -> list[str]:
        return self.change_all(tokens, True, True)


# ------------------------------------------------------------------------------------ one text of each token
@dataclass(frozen=True)
class Replace(EachToken):
    """Replaces the matches of a pattern."""

    pattern: SearchPattern
    content: str

    @classmethod
    def read(cls, entry: Entry, where: str) -> Replace:
        """Read the step from its entry."""
        pattern = SearchPattern.of(entry.get("pattern"), f"{where}.pattern")
        return cls(pattern, content_of(entry, where, "content"))

    @property
    def growth(self) -> int:
        if self.pattern.text:
            return max(1, -(-len(self.content) // len(self.pattern.text)))
        return 2 * len(self.content) + 1  # a match before and after every character

    def change(self, token: str, is_first: bool, is_last: bool) -> str:
        if self.pattern.text:
            return token.replace(self.pattern.text, self.content)
        parts, place = [], 0
        for start, end in self.pattern.spans(token):
            parts += [token[place:start], self.content]
            place = end
        return "".join([*parts, token[place:]])

    def change_all(self, tokens: list[str], is_first: bool, is_last: bool) -> list[str]:
        """Return the texts of tokens; an expression has no more time for many than for one text of them."""
        if self.pattern.text:
            return super().change_all(tokens, is_first, is_last)
        seconds = SECONDS + SECONDS_PER_MEGABYTE * sum(len(token) + 1 for token in tokens) / 1_000_000
        end = time.thread_time() + seconds
        changed = []
        for token in tokens:
            changed.append(self.change(token, False, False))
            if time.thread_time() > end:
                raise TimeoutError(
                    f"the pattern {self.pattern.source!r:.200} of the decoder takes more than "
                    f"{seconds:.0f} seconds for {len(tokens)} tokens. Use a simpler one in the file"
                )
        return changed


@dataclass(frozen=True)
class Strip(EachToken):
    """Drops a character at the start, `start` times at most, and at the end, `stop` times at most."""

    content: str
    start: int
    stop: int

    @classmethod
    def read(cls, entry: Entry, where: str) -> Strip:
        """Read the step from its entry."""
        counts = [value_of(entry, where, key, int) for key in ("start", "stop")]
        for key, count in zip(("start", "stop"), counts, strict=True):
            if count < 0:
                raise ValueError(f"{where}.{key} must not be negative, but is {count}")
        return cls(_character(entry, where, "content"), *counts)

    def change(self, token: str, is_first: bool, is_last: bool) -> str:
        token = token[min(self.start, len(token) - len(token.lstrip(self.content))) :]
        return token[: len(token) - min(self.stop, len(token) - len(token.rstrip(self.content)))]


@dataclass(frozen=True)
class Metaspace(EachToken):
    """Writes a character as a space; in the first token it is dropped if the pre-tokenizer puts it there."""

    replacement: str
    minds_first: bool

    @classmethod
    def read(cls, entry: Entry, where: str) -> Metaspace:
        """Read the step from its entry."""
        scheme = value_of(entry, where, "prepend_scheme", str, "always")
        if scheme not in ("always", "first", "never"):
            raise ValueError(f"{where}.prepend_scheme must be always, first or never, not {scheme!r:.80}")
        if entry.get("add_prefix_space") is False and scheme != "never":
            raise ValueError(
                f"{where}.add_prefix_space is false, but prepend_scheme is {scheme}. "
                "Set prepend_scheme to never in the file"
            )
        return cls(_character(entry, where, "replacement"), scheme != "never")

    def change(self, token: str, is_first: bool, is_last: bool) -> str:
        return token.replace(self.replacement, "" if is_first else " ")


@dataclass(frozen=True)
class PieceSpaces(EachToken):
    """Writes a character as a space; drops it where the text begins with it."""

    replacement: str
    minds_first: bool
    while_empty: bool

    @classmethod
    def read(cls, entry: Entry, where: str) -> PieceSpaces:
        """Read the step from its entry."""
        flags = [value_of(entry, where, key, bool) for key in ("minds_first", "while_empty")]
        return cls(_character(entry, where, "replacement"), *flags)

    def change(self, token: str, is_first: bool, is_last: bool) -> str:
        return (token.removeprefix(self.replacement) if is_first else token).replace(self.replacement, " ")


@dataclass(frozen=True)
class BPEDecoder(EachToken):
    """Writes the end of a word as a space; drops it in the last token."""

    suffix: str
    minds_last = True

    @classmethod
    def read(cls, entry: Entry, where: str) -> BPEDecoder:
        """Read the step from its entry."""
        return cls(value_of(entry, where, "suffix", str))

    @property
    def growth(self) -> int:
        return 1 if self.suffix else 3

    def change(self, token: str, is_first: bool, is_last: bool) -> str:
        return token.replace(self.suffix, "" if is_last else " ")


@dataclass(frozen=True)
class WordPiece(EachToken):
    """Puts a space before each token that does not continue a word; drops spaces of written English."""

    prefix: str
    cleans_up: bool
    minds_first = True

    @classmethod
    def read(cls, entry: Entry, where: str) -> WordPiece:
        """Read the step from its entry."""
        return cls(value_of(entry, where, "prefix", str), value_of(entry, where, "cleanup", bool))

    @property
    def growth(self) -> int:
        return 2

    def change(self, token: str, is_first: bool, is_last: bool) -> str:
        if not is_first:
            goes_on = token.startswith(self.prefix)
            token = token.removeprefix(self.prefix) if goes_on else f" {token}"
        return _cleaned_up(token) if self.cleans_up else token


@dataclass(frozen=True)
class Spaced(EachToken):
    """Puts a space between tokens: what is done where a file has no decoder."""

    minds_first = True

    @property
    def growth(self) -> int:
        return 2

    def change(self, token: str, is_first: bool, is_last: bool) -> str:
        return token if is_first else f" {token}"


_CLEANUPS = {f" {mark}": mark for mark in ".?!,"} | {
    " ' ": "'",
    " n't": "n't",
    " 'm": "'m",
    " do not": " don't",
    " 's": "'s",
    " 've": "'ve",
    " 're": "'re",
}


def _cleaned_up(text: str) -> str:
    for before, after in _CLEANUPS.items():
        text = text.replace(before, after)
    return text


def _character(entry: Entry, where: str, key: str) -> str:
    character = value_of(entry, where, key, str)
    if len(character) != 1:
        raise ValueError(f"{where}.{key} must be one character, not {character!r:.80}")
    return character


# ------------------------------------------------------------------------------------- tokens that are joined
_BYTE_TOKEN = re.compile(r"<0x\+?([0-9A-Fa-f]{1,2})>")


def byte_of(token: str) -> int | None:
    """Return the byte that a byte token stands for; None for another token."""
    found = _BYTE_TOKEN.fullmatch(token) if len(token) == 6 else None
    return int(found.group(1), 16) if found else None


def bytes_of_piece(token: str) -> bytes:
    """Return the byte that a byte token stands for, or the UTF-8 of another token."""
    byte = byte_of(token)
    return token.encode() if byte is None else bytes([byte])


@dataclass(frozen=True)
class PieceBytes(Step):
    """Joins all tokens, byte tokens as bytes; each byte that is not part of UTF-8 becomes U+FFFD."""

    @classmethod
    def read(cls, entry: Entry, where: str) -> PieceBytes:
        """Read the step from its entry."""
        return cls()

    def __call__(self, tokens: list[str]) -> list[str]:
        return [unescaped(b"".join(map(bytes_of_piece, tokens)).decode(errors="surrogateescape"))]


def unescaped(text: str) -> str:
    """Return a text with U+FFFD for each byte that ``surrogateescape`` has let through."""
    return _ESCAPED.sub("\ufffd", text)


_ESCAPED = re.compile("[\udc80-\udcff]")


@dataclass(frozen=True)
class ByteFallback(Step):
    """Joins runs of byte tokens to UTF-8; a run that is none becomes U+FFFD for each byte."""

    @classmethod
    def read(cls, entry: Entry, where: str) -> ByteFallback:
        """Read the step from its entry."""
        return cls()

    def __call__(self, tokens: list[str]) -> list[str]:
        return [text for run in _runs(tokens) for text in run]


def _runs(tokens: list[str]) -> Iterator[list[str]]:
    pairs = ((byte_of(token), token) for token in tokens)
    for is_text, run in groupby(pairs, key=lambda pair: pair[0] is None):
        if is_text:
            yield [token for _, token in run]
        else:
            yield texts_of_bytes(bytes(byte for byte, _ in run if byte is not None))


def texts_of_bytes(run: bytes) -> list[str]:
    r"""Return the texts that a whole run of byte tokens becomes."""
    try:
        return [run.decode()]
    except UnicodeDecodeError:
        return ["\ufffd"] * len(run)


@dataclass(frozen=True)
class Fuse(Step):
    """Joins all tokens to one."""

    @classmethod
    def read(cls, entry: Entry, where: str) -> Fuse:
        """Read the step from its entry."""
        return cls()

    def __call__(self, tokens: list[str]) -> list[str]:
        return ["".join(tokens)]


@dataclass(frozen=True)
class ByteLevel(Step):
    """Joins the bytes that the characters of all tokens stand for; what is not UTF-8 becomes U+FFFD."""

    @classmethod
    def read(cls, entry: Entry, where: str) -> ByteLevel:
        """Read the step from its entry."""
        return cls()

    def __call__(self, tokens: list[str]) -> list[str]:
        return [b"".join(map(byte_level_of, tokens)).decode(errors="replace")]


def byte_level_of(token: str) -> bytes:
    """Return the bytes of a token: of a token with a character that stands for no byte, its UTF-8."""
    found = bytes_of(token)
    return token.encode() if found is None else found


@dataclass(frozen=True)
class CTC(Step):
    """Drops tokens that are like the one before, and padding."""

    pad_token: str
    word_delimiter: str
    cleans_up: bool

    @classmethod
    def read(cls, entry: Entry, where: str) -> CTC:
        """Read the step from its entry."""
        pad_token, delimiter = (
            value_of(entry, where, key, str) for key in ("pad_token", "word_delimiter_token")
        )
        return cls(pad_token, delimiter, value_of(entry, where, "cleanup", bool))

    @property
    def growth(self) -> int:
        return 1 if self.word_delimiter else 3

    def __call__(self, tokens: list[str]) -> list[str]:
        texts = [token.replace(self.pad_token, "") for token, _ in groupby(tokens)]
        if self.cleans_up:
            texts = [_cleaned_up(text).replace(self.word_delimiter, " ") for text in texts]
        return [text for text in texts if text]


READERS: dict[str, Callable[[Entry, str], Step]] = {
    step.__name__: step.read
    for step in (
        *(BPEDecoder, ByteFallback, ByteLevel, CTC, Fuse, Metaspace, Replace, Strip, WordPiece),
        *(PieceBytes, PieceSpaces),
    )
}
"""How each type of step is read: from the entry, and where it is."""
