"""Whether two tokenizers are equal, in other processes too, and where they differ if not."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, product
from typing import TYPE_CHECKING, Any

import numpy as np

from bpe.auditing.witnesses import AROUND, between, completed
from bpe.encoding.batches import encode_batch
from bpe.formats.conversion import PROBE
from bpe.pipeline.engine import PipelineEngine

if TYPE_CHECKING:
    from bpe.encoding.engine import Engine
    from bpe.tokenizer import Tokenizer

_GROUP = 1024  # texts that are tried at once
_MOST_TOKENS = 256  # that texts are made of


def fingerprint(tok: Tokenizer) -> str:
    """Return a digest of all that ``==`` compares: that of equal tokenizers is the same in every process.

    Named patterns count by their names, so that it stays when a pattern is written in another way. Files do
    not hold the special tokens that are allowed by default.

    Parameters
    ----------
    tok : Tokenizer

    Returns
    -------
    str
        64 hexadecimal digits, of a SHA-256.

    Complexity
    ----------
    O(n log v) for n bytes in v tokens.

    Examples
    --------
    >>> import bpe, bpe.ids
    >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
    >>> len(bpe.ids.fingerprint(tok))
    64
    """
    digest = hashlib.sha256()
    for name, value in _parts(tok.engine).items():
        data = value if isinstance(value, bytes) else json.dumps(value, sort_keys=True).encode()
        digest.update(f"{name} {len(data)} ".encode() + data)
    return digest.hexdigest()


@dataclass(frozen=True)
class Differences:
    """How two tokenizers differ; true if they do. Made by :func:`bpe.ids.differences`."""

    only_in_a: list[bytes]
    """Tokens that the second tokenizer does not have, in the order of their ids."""

    only_in_b: list[bytes]
    """Tokens that the first one does not have."""

    other_ids: list[tuple[bytes, int, int]]
    """Tokens of both, with their two ids where these differ."""

    first_merge: int | None
    """The first rank at which other tokens are merged; None if all merges are the same."""

    patterns: tuple[str | list[str], str | list[str]] | None
    """Both patterns where they differ."""

    special_tokens: list[tuple[str, int | None, int | None]]
    """Special and added tokens with their ids where these differ; None where there is none."""

    others: list[str]
    """Other parts that differ, such as "steps", those of a ``tokenizer.json``."""

    witness: bytes | None
    """A short text that both encode differently; None if none was found."""

    def __bool__(self) -> bool:
        return any(value not in ([], None) for value in vars(self).values())

    def __str__(self) -> str:
        lines = [
            *_listed("only in the first", self.only_in_a),
            *_listed("only in the second", self.only_in_b),
            *_listed("other ids", [f"{token!r}: {one}, {other}" for token, one, other in self.other_ids]),
            *([] if self.first_merge is None else [f"merges differ from rank {self.first_merge} on"]),
            *([] if self.patterns is None else ["patterns: {!r}, {!r}".format(*self.patterns)]),
            *_listed("special tokens", [f"{t!r}: {one}, {other}" for t, one, other in self.special_tokens]),
            *_listed("other parts", self.others),
        ]
        if self.witness is not None:
            lines.append(f"encoded differently: {self.witness!r}")
        return "\n".join(lines or ["no difference"])


def differences(a: Tokenizer, b: Tokenizer) -> Differences:
    """Return how two tokenizers differ, with a text that they encode differently.

    Parameters
    ----------
    a, b : Tokenizer

    Returns
    -------
    Differences
        False if the tokenizers are equal.

    Complexity
    ----------
    O(n log v) for n bytes in v tokens, and some ten thousand short texts.

    Examples
    --------
    >>> import bpe, bpe.ids
    >>> a = bpe.train(["low lower"], vocab_size=258, progress=False)
    >>> print(bpe.ids.differences(a, a.with_vocab_size(257)))
    only in the first: b'low'
    merges differ from rank 1 on
    encoded differently: b'low'
    """
    mine, theirs = a.engine.vocabulary.id_of, b.engine.vocabulary.id_of
    cut_a, cut_b = a.engine.vocabulary.cut_tokens, b.engine.vocabulary.cut_tokens
    pairs = a.merges_bytes, b.merges_bytes
    n_common = min(map(len, pairs))
    rank = next((r for r in range(n_common) if pairs[0][r] != pairs[1][r]), n_common)
    parts = _parts(a.engine), _parts(b.engine)
    shown = {"tokens", "merges", "pattern", "special_tokens"}
    found: dict[str, Any] = {
        "only_in_a": sorted(mine.keys() - theirs.keys(), key=mine.__getitem__),
        "only_in_b": sorted(theirs.keys() - mine.keys(), key=theirs.__getitem__),
        "other_ids": [
            (token, token_id, theirs[token])
            for token, token_id in sorted(mine.items(), key=lambda item: item[1])
            if theirs.get(token, token_id) != token_id
        ],
        "first_merge": rank if rank < max(map(len, pairs)) else None,
        "patterns": None if a.pattern == b.pattern else (a.pattern.spec, b.pattern.spec),
        "special_tokens": [
            (token, cut_a.get(token), cut_b.get(token))
            for token in sorted(cut_a.keys() | cut_b.keys())
            if cut_a.get(token) != cut_b.get(token)
        ],
        "others": sorted(
            name
            for name in parts[0].keys() | parts[1].keys()
            if name not in shown and parts[0].get(name) != parts[1].get(name)
        ),
    }
    if not any(value not in ([], None) for value in found.values()):
        return Differences(**found, witness=None)
    tokens = [
        *found["only_in_a"][:_MOST_TOKENS],
        *found["only_in_b"][:_MOST_TOKENS],
        *(token for token, _, _ in found["other_ids"][:_MOST_TOKENS]),
        *(left + right for pair in pairs for left, right in pair[rank : rank + _MOST_TOKENS]),
        *(token.encode() for token, _, _ in found["special_tokens"][:_MOST_TOKENS]),
    ]
    return Differences(**found, witness=_witness(a.engine, b.engine, tokens))


# ------------------------------------------------------------------------------------------------- parts
def _parts(engine: Engine) -> dict[str, Any]:
    """Return all that ``==`` compares, by name, as bytes or as what JSON can hold."""
    vocabulary = engine.vocabulary
    tokens = sorted((token_id, token) for token, token_id in vocabulary.id_of.items())
    is_all = engine.allowed_special == "all"
    parts = {
        "pattern": engine.pattern.spec,
        "tokens": b"".join(b"%d %d %b" % (token_id, len(token), token) for token_id, token in tokens),
        "merges": vocabulary.pairs.astype("<i8").tobytes(),
        "special_tokens": vocabulary.special_tokens,
        "added_tokens": vocabulary.added_tokens,
        "idle_tokens": vocabulary.idle_tokens,
        "atomic_ids": np.array(vocabulary.atomic_ids, "<i8").tobytes(),
        "n_super": vocabulary.n_super,
        "allowed_special": sorted(
            engine.special_tokens if is_all else {*engine.allowed_special} & engine.special_tokens
        ),
        "around": engine.comparable_around(),
    }
    if isinstance(engine, PipelineEngine):
        steps = engine.preparation
        entries = [step and step.entry for step in (steps.normalizer, steps.pre_tokenizer, steps.decoder)]
        parts["steps"] = [*entries, steps.added, steps.options, sorted(steps.passed)]
    return parts


def _witness(a: Engine, b: Engine, tokens: Sequence[bytes]) -> bytes | None:
    """Return the shortest of the first texts that two engines encode differently; None if none is found."""
    texts = chain(
        (token for token in tokens),
        chain.from_iterable(islice(between(token), 64) for token in tokens),
        chain.from_iterable(islice(completed(token), 8) for token in tokens),
        ("".join(parts).encode() for parts in product(AROUND, repeat=3)),
        (PROBE.encode(),),
    )
    for group in iter(lambda: [*islice(texts, _GROUP)], []):
        rows = zip(group, _encoded(a, group), _encoded(b, group), strict=True)
        if found := [text for text, one, other in rows if one != other]:
            return min(found, key=len)
    return None


def _encoded(engine: Engine, texts: list[bytes]) -> list[list[int] | None]:
    """Return the ids of texts, with all special tokens; None for one that has no ids."""
    rules = engine.rules_of("all", ())
    try:
        return [*encode_batch(engine, texts, None, rules)]
    except ValueError:  # a byte has no token
        return [None] if len(texts) == 1 else [row for text in texts for row in _encoded(engine, [text])]


def _listed(what: str, items: Sequence[Any], most: int = 10) -> Iterator[str]:
    """Yield a line about the first items, if there are any."""
    if items:
        shown = [item if isinstance(item, str) else repr(item) for item in items[:most]]
        more = f", and {len(items) - most} more" if len(items) > most else ""
        yield f"{what}: {', '.join(shown)}{more}"
