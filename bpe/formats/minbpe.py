"""minbpe's ``.model`` files: lines of text.

::

    minbpe v1
    <split pattern>               one expression; an empty line means no pattern
    1                             the number of special tokens
    <|endoftext|> 100257
    101 32                        one merge per line; the first makes id 256
"""

from __future__ import annotations

import functools
import re

from bpe.formats.limits import check_lengths
from bpe.formats.ranks import check_no_added, check_no_atomic, check_no_idle
from bpe.pipeline.patterns import render
from bpe.splitting.pattern import PATTERNS, Pattern
from bpe.splitting.regex_engine import compiled
from bpe.vocabulary.extras import warn_lost
from bpe.vocabulary.vocabulary import DEFAULT_BYTE_IDS, Vocabulary

FIRST_LINE = "minbpe v1"
_HINT = "A tokenizer.json can hold it"
_IDS = re.compile(r"(\d{1,10}) (\d{1,10})", re.ASCII)


def parse(data: bytes) -> tuple[Vocabulary, Pattern]:
    r"""Read a ``.model`` file of minbpe."""
    try:
        lines = data.decode().split("\n")
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 at byte {error.start}") from None
    lines = [line.removesuffix("\r") for line in lines]
    if lines[0] != FIRST_LINE:
        raise ValueError(f"line 1 is not {FIRST_LINE!r}: {lines[0]!r:.60}")
    if lines[-1]:
        raise ValueError(f"cut off at line {len(lines)}, which has no line end: {lines[-1]!r:.60}")
    if len(lines) < 4:
        raise ValueError(f"cut off at line {len(lines)}")
    source = _named_by_line().get(lines[1], lines[1].strip())
    try:
        pattern = Pattern.of([source] if source else "none")  # a list of expressions is never read as a name
    except ValueError as error:
        raise ValueError(f"line 2: {error}") from None
    if not re.fullmatch(r"\d{1,9}", lines[2], re.ASCII):
        raise ValueError(f"line 3 is not the number of special tokens: {lines[2]!r:.60}")
    n_specials = int(lines[2])
    if 3 + n_specials > len(lines):
        raise ValueError(f"cut off at line {len(lines)}, before the last of {n_specials} special tokens")
    special_tokens: dict[str, int] = {}
    for number, line in enumerate(lines[3 : 3 + n_specials], 4):
        token, _, digits = line.partition(" ")
        if not token or not re.fullmatch(r"\d{1,10}", digits, re.ASCII):
            raise ValueError(f"line {number} is not a special token, a space and its id: {line!r:.60}")
        if token in special_tokens:
            raise ValueError(f"line {number} gives the special token {token!r:.60} again")
        special_tokens[token] = int(digits)
    merges = []
    for number, line in enumerate(lines[3 + n_specials :], 4 + n_specials):
        found = _IDS.fullmatch(line)
        if found:
            merges.append((int(found.group(1)), int(found.group(2))))
        elif line.strip():
            raise ValueError(f"line {number} is not a merge of two ids: {line!r:.60}")
    check_lengths(merges)
    return Vocabulary(Vocabulary.assemble(merges), merges, special_tokens), pattern


def dump(vocabulary: Vocabulary, pattern: Pattern) -> bytes:
    r"""Return a tokenizer as the content of a ``.model`` file of minbpe."""
    if vocabulary.byte_ids != DEFAULT_BYTE_IDS:
        raise ValueError(f"in minbpe the id of a byte is its value; here bytes have other ids. {_HINT}")
    for rank, (pair, token_id) in enumerate(zip(vocabulary.merges, vocabulary.merged_ids, strict=True)):
        if token_id != 256 + rank or max(pair) >= token_id:
            raise ValueError(
                f"in minbpe, merge {rank} makes id {256 + rank} from lower ids, not {token_id}. {_HINT}"
            )
    check_no_atomic(vocabulary, "minbpe")
    check_no_added(vocabulary, "minbpe")
    check_no_idle(vocabulary, "minbpe")
    warn_lost(vocabulary.extras, "minbpe")
    if others := vocabulary.other_tokens():
        token_id, token = next(iter(others.items()))
        raise ValueError(
            f"minbpe has only tokens that are bytes or that merges make: id {token_id}, {token!r:.80}, is "
            f"neither. {_HINT}"
        )
    for special in vocabulary.special_tokens:
        if special.split() != [special]:
            raise ValueError(f"minbpe cannot hold white space in a special token: {special!r:.80}. {_HINT}")
    if len(pattern.sources) > 1:
        raise ValueError(f"minbpe splits by one expression, not by {len(pattern.sources)}. {_HINT}")
    entries = [
        FIRST_LINE,
        _line_of(pattern.sources[0]),
        str(len(vocabulary.special_tokens)),
        *(f"{token} {token_id}" for token, token_id in vocabulary.special_tokens.items()),
        *(f"{left} {right}" for left, right in vocabulary.merges),
    ]
    return "".join(f"{entry}\n" for entry in entries).encode()


def _line_of(source: str) -> str:
    """Return an expression as one line without groups: minbpe strips lines, and takes groups for pieces."""
    if compiled(source).groups or len(source.splitlines()) > 1:
        source = render(source, "python")
    return source if source == source.strip() else f"(?:{source})"


@functools.cache
def _named_by_line() -> dict[str, str]:
    """Return the expressions of the named patterns, by their lines in a file."""
    return {_line_of(source): source for source in PATTERNS.values() if isinstance(source, str)}
