"""tiktoken: rank files, and its ``Encoding``.

A rank file has one line for each token: the bytes in base64, a space, and the rank, which is the id::

    IQ== 0
    Ig== 1

It does not hold merges: they follow from the ranks (:mod:`bpe.formats.ranks`). Nor does it hold the split
pattern or the special tokens: those of published files are in :data:`PUBLISHED`; for other files, the caller
must give them.
"""

from __future__ import annotations

import base64
import binascii
import functools
import hashlib
import re
import string
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from bpe.formats.limits import check_longest
from bpe.formats.ranks import check_no_idle, check_ranks, vocabulary_of_ranks
from bpe.pipeline.patterns import render
from bpe.splitting.pattern import PATTERNS, Dialect, Pattern
from bpe.support.warning import warn
from bpe.vocabulary.extras import warn_lost
from bpe.vocabulary.supermerges import refuse_supermerges
from bpe.vocabulary.vocabulary import NO_ID, Vocabulary

if TYPE_CHECKING:
    import tiktoken


_LINE = re.compile(rb"([A-Za-z0-9+/]+={0,2}|=) (\d{1,10})\r?")
_EMPTY = b"="  # how Whisper writes a token without bytes
_BASE64 = string.ascii_letters.encode() + string.digits.encode() + b"+/="


# ---------------------------------------------------------------------------------------- published files
class Published(NamedTuple):
    """What a rank file does not hold: the pattern and the special tokens that it was published with."""

    name: str
    pattern: str
    special_tokens: dict[str, int]


def _ids_from(first: int, *tokens: str) -> dict[str, int]:
    """Return tokens with ids in their order."""
    return {token: first + i for i, token in enumerate(tokens)}


def _numbered(name: str, start: int, stop: int) -> list[str]:
    return [f"<|{name}_{i}|>" for i in range(start, stop)]


_FIM = ("<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>")
_END, _END_OF_PROMPT = "<|endoftext|>", "<|endofprompt|>"
_RESERVED = "reserved_special_token"

PUBLISHED: dict[str, Published] = {
    "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930": Published(
        "r50k_base", "gpt2", {_END: 50256}
    ),
    "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069": Published(
        "p50k_base", "gpt2", {_END: 50256}
    ),
    "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7": Published(
        "cl100k_base", "cl100k", {**_ids_from(100257, _END, *_FIM), _END_OF_PROMPT: 100276}
    ),
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d": Published(
        "o200k_base", "o200k", {_END: 199999, _END_OF_PROMPT: 200018}
    ),
    "82e9d31979e92ab929cd544440f129d9ecd797b69e327f80f17e1c50d5551b55": Published(
        "Llama 3",
        "llama3",
        _ids_from(
            128000,
            "<|begin_of_text|>",
            "<|end_of_text|>",
            *_numbered(_RESERVED, 0, 2),
            "<|finetune_right_pad_id|>",
            "<|step_id|>",
            "<|start_header_id|>",
            "<|end_header_id|>",
            "<|eom_id|>",
            "<|eot_id|>",
            "<|python_tag|>",
            "<|image|>",
            *_numbered(_RESERVED, 2, 246),
        ),
    ),
    "d0bdbaf59b0762c8c807617e2d8ea51420eb1b1de266df2495be755c8e0ed6ed": Published(
        "Llama 4",
        "o200k",
        _ids_from(
            200000,
            "<|begin_of_text|>",
            "<|end_of_text|>",
            *_FIM,
            "<|header_start|>",
            "<|header_end|>",
            "<|eom|>",
            "<|eot|>",
            "<|step|>",
            *_numbered(f"text_post_train_{_RESERVED}", 0, 6),
            "<|python_start|>",
            "<|python_end|>",
            "<|finetune_right_pad|>",
            *_numbered(f"text_post_train_{_RESERVED}", 8, 69),
            "<|image_start|>",
            "<|image_end|>",
            *_numbered(f"vision_{_RESERVED}", 0, 2),
            "<|tile_x_separator|>",
            "<|tile_y_separator|>",
            *_numbered(f"vision_{_RESERVED}", 2, 6),
            "<|image|>",
            *_numbered(f"vision_{_RESERVED}", 6, 7),
            "<|patch|>",
            *_numbered(f"vision_{_RESERVED}", 7, 1048),
            *_numbered(f"reasoning_{_RESERVED}", 0, 8),
            "<|reasoning_thinking_start|>",
            "<|reasoning_thinking_end|>",
            *_numbered(_RESERVED, 0, 904),
        ),
    ),
    "b2b1b8dfb5cc5f024bafc373121c6aba3f66f9a5a0269e243470a1de16a33186": Published(
        "Qwen", "qwen2", _ids_from(151643, _END, "<|im_start|>", "<|im_end|>", *_numbered("extra", 0, 205))
    ),
}
"""Published rank files, by the SHA-256 of their content.

Where one file is used with several sets of special tokens, this is the set of the base model: p50k_base, not
p50k_edit; o200k_base, not o200k_harmony; Llama 3 as in Meta's ``llama_models``.
"""


def published(data: bytes) -> Published | None:
    """Return what is known of a rank file."""
    return PUBLISHED.get(hashlib.sha256(data).hexdigest())


# -------------------------------------------------------------------------------------- reading and writing
def of_file(
    data: bytes,
    known: Published | None,
    pattern: Any,
    special_tokens: Mapping[str, int] | None,
    dialect: Dialect,
) -> tuple[Vocabulary, Pattern]:
    """Return the parts of the tokenizer of a rank file; what is not given is taken from `known`."""
    if known is None:
        own = Pattern.of(pattern, dialect)
    else:
        own = Pattern.of(known.pattern)
        if pattern is not None and (given := Pattern.of(pattern, dialect)) != own:
            raise ValueError(
                f"this is the rank file of {known.name}, whose pattern is {known.pattern!r}, not "
                f"{given.spec!r:.200}: leave the pattern out"
            )
        special_tokens = known.special_tokens if special_tokens is None else special_tokens
    vocabulary = parse(data, special_tokens or {})
    if special_tokens is None:
        _warn_without_special_tokens()
    return vocabulary, own


@functools.cache
def _warn_without_special_tokens() -> None:
    """Warn once per process."""
    warn(
        "a rank file holds no special tokens, and none were given: strings such as <|endoftext|> are "
        "ordinary text. Pass special_tokens={token: id} (bpe convert: --special-token), or {} "
        "if there are none",
    )


def parse(data: bytes, special_tokens: Mapping[str, int] = MappingProxyType({})) -> Vocabulary:
    r"""Read a rank file."""
    token_bytes, ids = _read_at_once(data) or _read_lines(data)
    check_longest(ids)
    empty = ids.pop(b"", NO_ID)  # Whisper has an empty token, which nothing is encoded to
    token_bytes.pop(empty, None)
    vocabulary = vocabulary_of_ranks(token_bytes, ids, special_tokens)
    return vocabulary.replace(idle_tokens={} if empty == NO_ID else {"": empty})


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
        or any(len(text) % 4 for text in texts)  # too little or too much padding
    ):
        return None
    try:
        tokens, ranks = list(map(binascii.a2b_base64, texts)), list(map(int, numbers))
    except ValueError:
        return None
    token_bytes, ids = dict(zip(ranks, tokens, strict=True)), dict(zip(tokens, ranks, strict=True))
    is_unique = len(token_bytes) == len(ids) == len(tokens)
    return (token_bytes, ids) if is_unique and max(ranks) < 2**31 else None


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
        except ValueError:
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
    """Return a vocabulary as the content of a rank file."""
    if pattern.name is None:
        raise ValueError(
            f"a rank file holds no split pattern, and this pattern has no name by which a reader could give "
            f"it: {pattern.spec!r:.200}. Patterns with a name: {', '.join(PATTERNS)}. "
            "A tokenizer.json holds any pattern"
        )
    ranks = sorted((rank, token) for token, rank in _ranks_of(vocabulary, "a rank file").items())
    return b"".join((base64.b64encode(token) or _EMPTY) + b" %d\n" % rank for rank, token in ranks)


def _ranks_of(vocabulary: Vocabulary, what: str) -> dict[bytes, int]:
    """Return the ranks of tokens; raise or warn if the vocabulary holds more than ranks can say."""
    check_ranks(vocabulary, what)
    check_no_idle(vocabulary, what, but=("",))
    warn_lost(vocabulary.extras, what)
    return {**vocabulary.id_of, **{token.encode(): rank for token, rank in vocabulary.idle_tokens.items()}}


def encoding_of(vocabulary: Vocabulary, pattern: Pattern, name: str) -> tiktoken.Encoding:
    """Return a tokenizer as an object of tiktoken's package."""
    refuse_supermerges(vocabulary, "tiktoken")
    try:
        import tiktoken
    except ImportError:
        raise ImportError("an Encoding requires tiktoken: pip install tiktoken") from None
    if len(pattern.sources) > 1:
        raise ValueError(
            f"tiktoken splits by one expression, not by {len(pattern.sources)}: use Tokenizer.to_huggingface"
        )
    return tiktoken.Encoding(
        name,
        pat_str=render(pattern.sources[0], "rust"),
        mergeable_ranks=_ranks_of(vocabulary, "tiktoken"),
        special_tokens=vocabulary.cut_tokens,
    )
