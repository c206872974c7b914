r"""Mistral's ``tekken.json``: ranks of tokens, as in a rank file, with special tokens before them.

::

    {"config": {"pattern": "...",                       as Rust's regex reads it
                "default_vocab_size": 131072,           the number of ids, special tokens included
                "default_num_special_tokens": 1000},    how many of the first ids are special tokens
     "vocab": [{"rank": 0, "token_bytes": "AA==", "token_str": "\u0000"}, ...],
     "special_tokens": [{"rank": 0, "token_str": "<unk>", "is_control": true}, ...]}

The id of a token is its rank plus the number of special tokens. ``vocab`` may have more tokens than there
are ids: the last ones are ignored. Special tokens without a name are ``<SPECIAL_20>`` and so on. Older files
name none: theirs are :data:`FIRST_SPECIALS`. Merges follow from the ranks (:mod:`bpe.formats.ranks`). Entries
for images and sound are ignored.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any

from bpe.formats.limits import check_longest
from bpe.formats.ranks import vocabulary_of_ranks
from bpe.splitting.pattern import Pattern
from bpe.support.json_text import need
from bpe.vocabulary.vocabulary import MAX_ID, Vocabulary

FIRST_SPECIALS = (
    "<unk>",
    "<s>",
    "</s>",
    "[INST]",
    "[/INST]",
    "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]",
    "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "[TOOL_CALLS]",
    "[IMG]",
    "<pad>",
    "[IMG_BREAK]",
    "[IMG_END]",
    "[PREFIX]",
    "[MIDDLE]",
    "[SUFFIX]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
    "[TOOL_CONTENT]",
)
"""The special tokens of files that name none, from id 0 on."""

MAX_SPECIALS = 100_000
"""How many special tokens a file may have: a small untrusted file must not make a billion of them."""


def of_document(document: Any) -> tuple[Vocabulary, Pattern]:
    """Return the tokenizer of a parsed ``tekken.json``."""
    need(isinstance(document, dict) and isinstance(document.get("config"), dict), '"config" is not an object')
    config, entries = document["config"], document.get("vocab")
    need(isinstance(entries, list), '"vocab" is not a list')
    size = _count_of(config, "default_vocab_size", MAX_ID)
    n_specials = _count_of(config, "default_num_special_tokens", MAX_SPECIALS)
    n_tokens = size - n_specials
    need(
        0 < n_tokens <= len(entries),
        f"config.default_vocab_size is {size}, of which {n_specials} are special tokens, "
        f"but vocab has {len(entries)} entries",
    )
    source = config.get("pattern")
    need(isinstance(source, str), f"config.pattern is not a string: {source!r:.50}")
    try:
        pattern = Pattern.of([source], "rust")
    except ValueError as error:
        raise ValueError(f"config.pattern: {error}") from None
    special_tokens = _specials_of(document.get("special_tokens"), n_specials)
    id_of: dict[bytes, int] = {}
    for i, entry in enumerate(entries[:n_tokens]):
        token = _token_of(entry, i)
        first = id_of.setdefault(token, n_specials + i)
        need(first == n_specials + i, f"vocab[{i}] is {token!r:.80}, like vocab[{first - n_specials}]")
    check_longest(id_of)
    bytes_of = {token_id: token for token, token_id in id_of.items()}
    return vocabulary_of_ranks(bytes_of, id_of, special_tokens), pattern


def _count_of(config: dict[str, Any], key: str, most: int) -> int:
    value = config.get(key)
    if type(value) is not int or not 0 <= value <= most:
        raise ValueError(f"config.{key} is not a number from 0 to {most}: {value!r:.50}")
    return value


def _token_of(entry: Any, i: int) -> bytes:
    need(isinstance(entry, dict), f"vocab[{i}] is not an object")
    rank, text = entry.get("rank"), entry.get("token_bytes")
    need(type(rank) is int and rank == i, f"vocab[{i}].rank is not {i}: {rank!r:.50}")
    try:
        token = base64.b64decode(text, validate=True)
    except (TypeError, ValueError, binascii.Error):
        raise ValueError(f"vocab[{i}].token_bytes is not base64: {text!r:.60}") from None
    need(bool(token), f"vocab[{i}].token_bytes is empty")
    return token


def _specials_of(entries: Any, n: int) -> dict[str, int]:
    names = dict(enumerate(FIRST_SPECIALS[:n]))
    if entries is not None:
        need(isinstance(entries, list), '"special_tokens" is not a list')
        names = {}
        for i, entry in enumerate(entries):
            where = f"special_tokens[{i}]"
            need(isinstance(entry, dict), f"{where} is not an object")
            rank, token = entry.get("rank"), entry.get("token_str")
            need(isinstance(token, str) and bool(token), f"{where}.token_str is not a token: {token!r:.60}")
            need(
                type(rank) is int and 0 <= rank < n,
                f"{where}.rank is not the id of a special token, which must be below {n}: {rank!r:.50}",
            )
            need(rank not in names, f"{where}.rank is {rank} again")
            names[rank] = token
    id_of: dict[str, int] = {}
    for token_id in range(n):
        token = names.get(token_id, f"<SPECIAL_{token_id}>")
        need(token not in id_of, f"special_tokens gives {token!r:.60} two ids")
        id_of[token] = token_id
    return id_of
