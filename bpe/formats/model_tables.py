"""``model.vocab`` and ``model.merges`` of a ``tokenizer.json``: from texts to a vocabulary.

There are two ways to read them. :func:`read_at_once` handles all tokens, and then all merges, in a few calls
each; it reads only tables in which nothing is wrong or unusual. :func:`read_one_by_one` reads any table, and
says what is wrong and where. Both give the same vocabulary.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bpe.formats.gpt2 import merges_of_texts, tokens_of
from bpe.formats.limits import MAX_TOKEN
from bpe.formats.merge_search import find_merges
from bpe.support.json_text import need
from bpe.vocabulary.byte_level import all_bytes_of, bytes_of, is_spelled
from bpe.vocabulary.vocabulary import MAX_ID, Vocabulary


def vocabulary_of(
    ids: dict[str, Any], merges: Any, special_tokens: dict[str, int], *, is_text: bool
) -> Vocabulary:
    """Return the vocabulary of a table of tokens and a list of merges."""
    found = read_at_once(ids, merges, special_tokens, is_text=is_text)
    return found or read_one_by_one(ids, merges, special_tokens, is_text=is_text)


# ---------------------------------------------------------------------------------------------- at once
def read_at_once(
    ids: dict[str, Any], merges: Any, special_tokens: dict[str, int], *, is_text: bool
) -> Vocabulary | None:
    """Read ordinary tables fast; return None for any other."""
    if "" in ids or not _are_ids(ids.values()):
        return None
    found = find_merges(ids, merges)
    if found is None:
        return None
    id_of_place = np.fromiter(ids.values(), np.int64, len(ids))
    pairs, made = (id_of_place[places] for places in found)
    keys = np.sort(pairs[:, 0] << 32 | pairs[:, 1])
    if (keys[1:] == keys[:-1]).any():
        return None
    rest = dict(ids)
    needed = np.concatenate([pairs.ravel(), made])
    for token in _only_cut(ids, special_tokens, needed, is_text):
        rest.pop(token, None)
    tokens, idle = _all_texts(rest) if is_text else all_bytes_of(rest), {}
    if tokens is None and not is_text:
        idle = {token: rest.pop(token) for token in ids if token in rest and not is_spelled(token)}
        if idle.keys() & special_tokens.keys() or np.isin([*idle.values()], needed).any():
            return None
        tokens = all_bytes_of(rest)
    if not tokens or max(map(len, tokens)) > MAX_TOKEN:
        return None
    token_ids = list(rest.values())
    bytes_of_id, id_of = dict(zip(token_ids, tokens, strict=True)), dict(zip(tokens, token_ids, strict=True))
    return Vocabulary.of_tokens(bytes_of_id, id_of, pairs, made, special_tokens).replace(idle_tokens=idle)


def _are_ids(token_ids: Any) -> bool:
    """Return whether values are ids, and all different."""
    return (
        {*map(type, token_ids)} == {int}
        and len({*token_ids}) == len(token_ids)
        and 0 <= min(token_ids) <= max(token_ids) <= MAX_ID
    )


def _only_cut(
    ids: dict[str, int], special_tokens: dict[str, int], needed: np.ndarray, is_text: bool
) -> list[str]:
    """Return the special tokens that merges never produce; `needed` are the ids that merges need."""
    token_ids = np.array([ids.get(token, -1) for token in special_tokens], np.int64)
    is_needed = np.isin(token_ids, needed).tolist()
    return [
        token
        for token, is_used in zip(special_tokens, is_needed, strict=True)
        if not is_used and not _is_character(token, is_text)
    ]


def _is_character(token: str, is_text: bool) -> bool:
    """Return whether merging begins with this token: it is in texts even where it is not searched for."""
    return len(token) == 1 and (is_text or "!" <= token <= "~")  # other characters stand for another byte


def _all_texts(texts: Any) -> list[bytes] | None:
    try:
        return list(map(str.encode, texts))
    except UnicodeEncodeError:  # half of a surrogate pair
        return None


# ------------------------------------------------------------------------------------------- one by one
def read_one_by_one(
    ids: dict[str, Any], merges: Any, special_tokens: dict[str, int], *, is_text: bool
) -> Vocabulary:
    """Read any tables; those that :func:`read_at_once` can read give the same vocabulary."""
    texts = _pairs(merges)
    spelled = _as_text if is_text else bytes_of
    # Nothing makes an empty token, nor one whose characters do not stand for bytes.
    idle = {
        text: token_id for text, token_id in ids.items() if not spelled(text) and text not in special_tokens
    }
    others = {text: token_id for text, token_id in ids.items() if text not in idle}
    needed = {text for pair in texts for text in (*pair, "".join(pair))}
    only_cut = {
        token for token in special_tokens if token not in needed and not _is_character(token, is_text)
    }
    token_bytes = tokens_of(others, only_cut, "model.vocab", spelled)
    pairs = merges_of_texts(texts, ids, "model.merges")
    return Vocabulary(token_bytes, pairs, special_tokens).replace(idle_tokens=idle)


def _as_text(token: str) -> bytes | None:
    try:
        return token.encode()
    except UnicodeEncodeError:
        return None


def _pairs(entries: Any) -> list[tuple[str, str]]:
    need(isinstance(entries, list), "model.merges is not a list")
    pairs = []
    for rank, entry in enumerate(entries):
        pair = entry.split(" ") if isinstance(entry, str) else entry
        if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(text, str) for text in pair)):
            raise ValueError(f"model.merges[{rank}] is not two tokens: {entry!r:.60}")
        pairs.append((pair[0], pair[1]))
    return pairs
