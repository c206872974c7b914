"""tiktoken: rank files, and its ``Encoding``.

A rank file has one line for each token: the bytes in base64, a space, and the rank, which is the id::

    IQ== 0
    Ig== 1

It does not hold merges: they follow from the ranks (:mod:`bpe.formats.ranks`). It does not hold the split
pattern and the special tokens, either: the reader of the file must give them.
"""

from __future__ import annotations

import base64
import binascii
import re
import string
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from bpe.formats.expressions import render
from bpe.formats.kept import warn_lost
from bpe.formats.limits import check_longest
from bpe.formats.ranks import check_no_idle, check_ranks, vocabulary_of_ranks
from bpe.pattern import PATTERNS, Pattern
from bpe.supermerges import refuse_supermerges
from bpe.vocabulary import NO_ID, Vocabulary

if TYPE_CHECKING:
    import tiktoken


_LINE = re.compile(rb"([A-Za-z0-9+/]+={0,2}|=) (\d{1,10})\r?")
_EMPTY = b"="  # how Whisper writes a token without bytes
_BASE64 = string.ascii_letters.encode() + string.digits.encode() + b"+/="


def parse(data: bytes, special_tokens: Mapping[str, int] = MappingProxyType({})) -> Vocabulary:
    r"""Read a rank file.

    Parameters
    ----------
    data : bytes
        May be any bytes.
    special_tokens : mapping from str to int

    Returns
    -------
    Vocabulary

    Raises
    ------
    ValueError
        A line does not have this form, two lines have the same rank or token, or a byte has no token; the
        message names the line or the byte. Or a special token is wrong.
    TypeError
        A special token is not a str, or its id is not an int.

    Complexity
    ----------
    As :func:`bpe.formats.ranks.vocabulary_of_ranks`.

    Examples
    --------
    >>> lines = [base64.b64encode(bytes([value])) + b" %d" % value for value in range(256)]
    >>> words = parse(b"\n".join([*lines, b"aGk= 256"]))
    >>> words.bytes_of[256], words.merges
    (b'hi', [(104, 105)])
    """
    token_bytes, ids = _read_at_once(data) or _read_lines(data)
    check_longest(ids)
    empty = ids.pop(b"", NO_ID)  # Whisper has one, which nothing is encoded to
    token_bytes.pop(empty, None)
    words = vocabulary_of_ranks(token_bytes, ids, special_tokens)
    return words if empty == NO_ID else words.with_idle_tokens({"": empty})


def _read_at_once(data: bytes) -> tuple[dict[int, bytes], dict[bytes, int]] | None:
    """Read an ordinary rank file fast; return None for any other, which :func:`_read_lines` reads."""
    n_lines = data.count(b"\n")
    if data.translate(None, _BASE64) != b" \n" * n_lines:  # one space and one line end for each line
        return None
    entries = data.split()
    texts, numbers = entries[::2], entries[1::2]
    padding = data.count(b"= ") + data.count(b"== ")
    if (
        len(entries) != 2 * n_lines
        or not b"".join(numbers).isdigit()
        or data.count(b"=") != padding
        or any(map((3).__and__, map(len, texts)))  # too little or too much padding
    ):
        return None
    try:
        tokens, ranks = list(map(binascii.a2b_base64, texts)), list(map(int, numbers))
    except ValueError:
        return None
    token_bytes, ids = dict(zip(ranks, tokens, strict=True)), dict(zip(tokens, ranks, strict=True))
    is_whole = len(token_bytes) == len(ids) == len(tokens) and max(ranks) < 2**31
    return (token_bytes, ids) if is_whole else None


def _read_lines(data: bytes) -> tuple[dict[int, bytes], dict[bytes, int]]:
    token_bytes: dict[int, bytes] = {}
    line_of: dict[bytes, int] = {}
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        found = _LINE.fullmatch(line)
        try:
            if not found:
                raise ValueError
            text, rank = found.group(1), int(found.group(2))
            token = b"" if text == _EMPTY else base64.b64decode(text, validate=True)
        except (ValueError, binascii.Error):
            raise ValueError(
                f"line {number} is not a token in base64, a space and a rank: {line[:60]!r}"
            ) from None
        if rank in token_bytes:
            raise ValueError(f"line {number} gives rank {rank} again, to {token!r:.80}")
        if token in line_of:
            raise ValueError(f"line {number} gives the token of line {line_of[token]} again: {token!r:.80}")
        if not rank < 2**31:
            raise ValueError(f"line {number}: rank {rank} is not below 2**31")
        token_bytes[rank] = token
        line_of[token] = number
    if not token_bytes:
        raise ValueError("no line gives a token and its rank")
    return token_bytes, {token: rank for rank, token in token_bytes.items()}


def dump(vocabulary: Vocabulary, pattern: Pattern) -> bytes:
    """Return a vocabulary as the content of a rank file.

    Parameters
    ----------
    vocabulary : Vocabulary
        Special and added tokens are not written.
    pattern : Pattern
        Not written, either; but it must have a name.

    Returns
    -------
    bytes

    Raises
    ------
    ValueError
        The ids are not ranks, or the pattern has no name to give when the file is read.

    Complexity
    ----------
    O(b log m) for b bytes in all tokens and m in the longest.

    Examples
    --------
    >>> words = Vocabulary([*(bytes([value]) for value in range(256)), b"hi"], [(104, 105)], {})
    >>> dump(words, Pattern.of("gpt2")).splitlines()[-1]
    b'aGk= 256'
    """
    if pattern.name is None:
        raise ValueError(
            f"a rank file holds no split pattern, and this one has no name to read it with: "
            f"{pattern.spec!r:.200}. Patterns with a name: {', '.join(PATTERNS)}. "
            "A tokenizer.json holds any pattern"
        )
    ranks = sorted((rank, token) for token, rank in _ranks_of(vocabulary, "a rank file").items())
    return b"".join((base64.b64encode(token) or _EMPTY) + b" %d\n" % rank for rank, token in ranks)


def _ranks_of(vocabulary: Vocabulary, what: str) -> dict[bytes, int]:
    """Return the ranks of tokens; raise, or warn, if that is not all that a vocabulary holds."""
    check_ranks(vocabulary, what)
    check_no_idle(vocabulary, what, but=("",))
    warn_lost(vocabulary.kept, what)
    return {**vocabulary.id_of, **{token.encode(): rank for token, rank in vocabulary.idle_tokens.items()}}


def encoding_of(vocabulary: Vocabulary, pattern: Pattern, name: str) -> tiktoken.Encoding:
    """Return a tokenizer as an object of tiktoken's package.

    Parameters
    ----------
    vocabulary : Vocabulary
        Added tokens are special ones there.
    pattern : Pattern
        It must be one expression. tiktoken drops the text between two matches, which is a piece here.
    name : str

    Returns
    -------
    tiktoken.Encoding

    Raises
    ------
    ValueError
        The ids are not ranks, or the pattern has several expressions.
    ImportError
        tiktoken is not installed.

    Complexity
    ----------
    O(b log m) for b bytes in all tokens and m in the longest.

    Examples
    --------
    >>> words = Vocabulary([*(bytes([value]) for value in range(256)), b"hi"], [(104, 105)], {})
    >>> encoding_of(words, Pattern.of("gpt2"), "mine").encode("hi!")
    [256, 33]
    """
    refuse_supermerges(vocabulary, "tiktoken")
    try:
        import tiktoken
    except ImportError:
        raise ImportError("an Encoding needs the package tiktoken: pip install tiktoken") from None
    if len(pattern.sources) > 1:
        raise ValueError(
            f"tiktoken splits by one expression, not by {len(pattern.sources)} in turn: use Hugging Face's"
        )
    return tiktoken.Encoding(
        name,
        pat_str=render(pattern.sources[0], "rust"),
        mergeable_ranks=_ranks_of(vocabulary, "tiktoken"),
        special_tokens=vocabulary.cut_tokens,
    )
