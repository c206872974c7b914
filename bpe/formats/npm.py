r"""The encoders of the npm packages ``tiktoken`` and ``@anthropic-ai/tokenizer``: ranks in JSON.

::

    {"pat_str": "...",                              as Rust's fancy-regex reads it
     "special_tokens": {"<EOT>": 0},
     "bpe_ranks": "! 5 IQ== Ig== Iw==\n! 8 JA=="}   tokens in base64: their ranks are 5, 6, 7; then 8 ...

The rank of a token is its id. Merges follow from the ranks (:mod:`bpe.formats.ranks`). The number of ids,
``explicit_n_vocab``, is redundant, and is ignored.

A file does not say how a program normalizes a text. ``@anthropic-ai/tokenizer`` uses NFKC: its
``claude.json`` is recognized by its special tokens, and gets this step. All other files are read as npm's
``tiktoken`` reads them, without one.
"""

from __future__ import annotations

import re
from typing import Any

from bpe.formats.tiktoken import parse
from bpe.splitting.pattern import Pattern
from bpe.support.json_text import need
from bpe.vocabulary.extras import to_text
from bpe.vocabulary.vocabulary import Vocabulary

ENTRIES = ("pat_str", "special_tokens", "bpe_ranks")

_OF_CLAUDE = {"<EOT>": 0, "<META>": 1, "<META_START>": 2, "<META_END>": 3, "<SOS>": 4}

_RUN = re.compile(r"! ([0-9]{1,10}) ")


def of_document(document: Any) -> tuple[Vocabulary, Pattern]:
    r"""Return the tokenizer of a parsed file."""
    need(isinstance(document, dict), "not a JSON object")
    source, special_tokens, ranks = map(document.get, ENTRIES)
    need(isinstance(source, str), f"pat_str is not a string: {source!r:.50}")
    need(isinstance(ranks, str), f"bpe_ranks is not a string: {ranks!r:.50}")
    is_table = isinstance(special_tokens, dict) and {*map(type, special_tokens.values())} <= {int}
    need(is_table, f"special_tokens is not an object that maps tokens to ids: {special_tokens!r:.50}")
    try:
        pattern = Pattern.of([source], "rust")
    except ValueError as error:
        raise ValueError(f"pat_str: {error}") from None
    try:
        vocabulary = parse(_lines_of(ranks), special_tokens)
    except ValueError as error:
        raise ValueError(f"bpe_ranks: {error}") from None
    if special_tokens == _OF_CLAUDE:  # special tokens are searched for after this step
        normalized = {token: {"normalized": True} for token in special_tokens}
        steps = {"document": {"normalizer": {"type": "NFKC"}}, "added_tokens": normalized}
        vocabulary = vocabulary.replace(extras=to_text(steps))
    return vocabulary, pattern


def _lines_of(ranks: str) -> bytes:
    """Return the ranks as the content of a rank file of tiktoken."""
    lines: list[str] = []
    for i, run in enumerate(ranks.split("\n")):
        if not run:
            continue
        found = _RUN.match(run)
        if not found:
            raise ValueError(f"line {i + 1} does not begin with '!' and a rank: {run[:60]!r}")
        tokens = run[found.end() :].split(" ")
        lines += [f"{token} {rank}\n" for rank, token in enumerate(tokens, int(found.group(1)))]
    return "".join(lines).encode("utf-8", "replace")
