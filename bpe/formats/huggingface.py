"""Hugging Face's ``tokenizer.json``, and its ``tokenizers.Tokenizer``.

Such a file can describe many kinds of tokenizers. Only byte-level BPE can be read: without a normalizer, with
a pre-tokenizer that is a pattern (:mod:`bpe.formats.pattern_entries`), with bytes written as characters.
Anything else is refused by name. What does not change the ids of a text itself is kept and written back
(:mod:`bpe.formats.kept`). Post-processor, truncation and padding are not applied, which a warning says.

What is read and written again is an equal JSON document, except: entries that the file left out have their
usual values, merges are pairs of tokens, added tokens are in the order of their ids, and in ``model.vocab``,
too, if they were or if others would give them other ids.

With ``ignore_merges``, a piece that is a token is not merged. If no merges lead to the token, it is taken
whole (:meth:`bpe.vocabulary.Vocabulary.taking_whole`); for all other tokens this makes no difference.

Added tokens that are marked as special become special tokens; the others are added ones, which need not be
allowed. Both kinds are cut out of the text before it is split, in one search. ``tokenizers`` looks for those
with ``normalized`` after all others, so that tokens which overlap with one of them are refused. Tokens are
written to the table of tokens, too, so that they keep their ids even if there are gaps between the ids.
"""

from __future__ import annotations

import json
import warnings
from bisect import bisect_left
from typing import TYPE_CHECKING, Any

from bpe.formats.gpt2 import merges_of_texts, texts_of, tokens_of
from bpe.formats.json_text import need, read_json
from bpe.formats.kept import different, from_text, to_text
from bpe.formats.pattern_entries import byte_level, pattern_of, pre_tokenizer_of
from bpe.formats.ranks import unreached
from bpe.pattern import Pattern
from bpe.specials import SpecialSearch
from bpe.vocabulary import Vocabulary

if TYPE_CHECKING:
    import tokenizers


# ---------------------------------------------------------------------------------------------- writing
def dump(vocabulary: Vocabulary, pattern: Pattern) -> bytes:
    """Return a tokenizer as the content of a ``tokenizer.json``.

    Parameters
    ----------
    vocabulary : Vocabulary
    pattern : Pattern

    Returns
    -------
    bytes

    Raises
    ------
    ValueError
        An expression of the pattern has no equivalent there; a special token and another token have the same
        text; or only some of the tokens that no merges lead to are taken whole.

    Complexity
    ----------
    O(b) for b bytes in all tokens.

    Examples
    --------
    >>> words = Vocabulary([*(bytes([value]) for value in range(256)), b"hi"], [(104, 105)], {})
    >>> json.loads(dump(words, Pattern.of("gpt2")))["model"]["merges"]
    [['h', 'i']]
    """
    if vocabulary.whole_ids:
        for number in sorted({*unreached(vocabulary)} - {*vocabulary.whole_ids})[:1]:
            raise ValueError(
                "a tokenizer.json takes whole either all tokens that no merges lead to, or none: here some, "
                f"but not id {number}, {vocabulary.bytes_of[number]!r:.80}"
            )
    ids = texts_of(vocabulary, "a tokenizer.json")
    text = {number: token for token, number in ids.items()}
    kept = from_text(vocabulary.kept)
    for token in _outside(vocabulary, ids, kept["outside"]):
        del ids[token]
    document = _FRAME | {"pre_tokenizer": None} | kept["document"]
    if not _is_pre_tokenizer(document["pre_tokenizer"], pattern):
        document["pre_tokenizer"] = pre_tokenizer_of(pattern)
    document["added_tokens"] = [
        {"id": number, "content": token}
        | _FLAGS
        | kept["added_tokens"].get(token, {})
        | {"special": token in vocabulary.special_tokens}
        for token, number in sorted(vocabulary.cut_tokens.items(), key=lambda item: item[1])
    ]
    takes_whole = bool(vocabulary.whole_ids) or kept["model"].get("ignore_merges", False)
    document["model"] = {
        **_MODEL,
        **kept["model"],
        "ignore_merges": takes_whole,
        "vocab": ids,
        "merges": [[text[left], text[right]] for left, right in vocabulary.merges],
    }
    lines = [f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in document.items()]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


# What is written, if nothing else is kept.
_FRAME: dict[str, Any] = {
    "version": "1.0",
    "truncation": None,
    "padding": None,
    "added_tokens": [],
    "normalizer": None,
    "pre_tokenizer": None,
    "post_processor": None,
    "decoder": byte_level(use_regex=True),
}
_MODEL: dict[str, Any] = {
    "type": "BPE",
    "dropout": None,
    "unk_token": None,
    "continuing_subword_prefix": None,
    "end_of_word_suffix": None,
    "fuse_unk": False,
    "byte_fallback": False,
    "ignore_merges": False,
}
_FLAGS: dict[str, Any] = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}


def _outside(vocabulary: Vocabulary, ids: dict[str, int], tokens: list[str]) -> list[str]:
    """Return the tokens that need not be in the table: those that others number on after it."""
    tokens = [token for token in tokens if token in vocabulary.cut_tokens]
    numbers = sorted(ids[token] for token in tokens)
    first = len(ids) - len(tokens)
    return tokens if numbers == [*range(first, first + len(tokens))] else []


def _is_pre_tokenizer(entry: Any, pattern: Pattern) -> bool:
    """Say whether an entry that is kept stands for the pattern."""
    try:
        return entry is not None and pattern_of(entry) == pattern
    except ValueError:
        return False


def tokenizer_of(vocabulary: Vocabulary, pattern: Pattern) -> tokenizers.Tokenizer:
    """Return a tokenizer as an object of Hugging Face's package.

    Parameters
    ----------
    vocabulary : Vocabulary
    pattern : Pattern

    Returns
    -------
    tokenizers.Tokenizer

    Raises
    ------
    ValueError
        As :func:`dump`.
    ImportError
        tokenizers is not installed.

    Complexity
    ----------
    O(b) for b bytes in all tokens.

    Examples
    --------
    >>> words = Vocabulary([*(bytes([value]) for value in range(256)), b"hi"], [(104, 105)], {})
    >>> tokenizer_of(words, Pattern.of("gpt2")).encode("hi!").ids
    [256, 33]
    """
    try:
        import tokenizers
    except ImportError:
        raise ImportError(
            "a tokenizers.Tokenizer needs the package tokenizers: pip install tokenizers"
        ) from None
    return tokenizers.Tokenizer.from_str(dump(vocabulary, pattern).decode())


# ---------------------------------------------------------------------------------------------- reading
def parse(data: bytes) -> tuple[Vocabulary, Pattern]:
    """Read a ``tokenizer.json``.

    Parameters
    ----------
    data : bytes
        May be any bytes.

    Returns
    -------
    (Vocabulary, Pattern)

    Raises
    ------
    ValueError
        It is not such a file, is damaged, or is not byte-level BPE; the message names the entry.

    Warns
    -----
    UserWarning
        The file has a post-processor, truncation or padding, which is kept, but not applied.

    Complexity
    ----------
    O(b) for b bytes in all tokens; with ``ignore_merges`` O(b log m) for m bytes in the longest.

    Examples
    --------
    >>> words = Vocabulary([*(bytes([value]) for value in range(256)), b"hi"], [(104, 105)], {"<end>": 300})
    >>> back, pattern = parse(dump(words, Pattern.of("gpt2")))
    >>> back.merges, pattern.name, back.special_tokens
    ([(104, 105)], 'gpt2', {'<end>': 300})
    """
    document = read_json(data)
    need(isinstance(document, dict) and isinstance(document.get("model"), dict), '"model" is no object')
    model = document["model"]
    _check_model(model)
    _check_around(document)
    pattern = pattern_of(document.get("pre_tokenizer"))
    ids = model.get("vocab")
    need(isinstance(ids, dict), "model.vocab is no object that maps tokens to ids")
    entries = _added_tokens(document.get("added_tokens") or [], ids)
    token_bytes = tokens_of(ids, entries, "model.vocab")
    merges = merges_of_texts(_pairs(model.get("merges")), ids, "model.merges")
    words = Vocabulary(token_bytes, merges, {token: entry["id"] for token, entry in entries.items()})
    added = [token for token, entry in entries.items() if not entry.get("special", True)]
    words = words.with_added_tokens(added) if added else words
    if model.get("ignore_merges"):
        words = words.taking_whole(unreached(words))
    kept = to_text(_kept(document, pattern, entries, bool(words.whole_ids)))
    return words.keeping(kept) if kept else words, pattern


def _kept(
    document: dict[str, Any], pattern: Pattern, entries: dict[str, Any], takes_whole: bool
) -> dict[str, Any]:
    """Return what a file holds besides vocabulary and pattern."""
    try:
        usual = _FRAME | {"pre_tokenizer": pre_tokenizer_of(pattern)}
    except ValueError:  # nothing but what the file itself has stands for it
        usual = _FRAME
    model = document["model"]
    flags = {
        token: different({k: v for k, v in entry.items() if k not in ("id", "content", "special")}, _FLAGS)
        for token, entry in entries.items()
    }
    return {
        "document": different(
            {k: v for k, v in document.items() if k not in ("added_tokens", "model")}, usual
        ),
        "model": different(
            {k: v for k, v in model.items() if k not in ("vocab", "merges")},
            _MODEL | {"ignore_merges": takes_whole},
        ),
        "added_tokens": {token: some for token, some in flags.items() if some},
        "outside": [token for token in entries if token not in model["vocab"]],
    }


def _check_model(model: dict[str, Any]) -> None:
    kind = model.get("type", "BPE")
    need(kind == "BPE", f"model.type is {kind!r:.50}: only BPE can be read")
    need(
        not model.get("byte_fallback"),
        "model.byte_fallback is set: its tokens are characters, and bytes where there is none. "
        "Only byte-level BPE can be read",
    )
    for key in ("continuing_subword_prefix", "end_of_word_suffix"):
        need(
            not model.get(key),
            f"model.{key} is {model.get(key)!r:.50}: its tokens are not bytes of the text alone",
        )
    need(not model.get("dropout"), "model.dropout is set: the ids of a text would be a matter of chance")


def _check_around(document: dict[str, Any]) -> None:
    normalizer = document.get("normalizer")
    if normalizer is not None and normalizer != {"type": "Sequence", "normalizers": []}:
        kind = normalizer.get("type") if isinstance(normalizer, dict) else normalizer
        raise ValueError(
            f"normalizer is {kind!r:.50}: it changes the text, and bpe never does. Set it to null in the "
            "file, and change the text before you encode it"
        )
    decoder = document.get("decoder")
    kind = decoder.get("type") if isinstance(decoder, dict) else decoder
    need(kind in (None, "ByteLevel"), f"decoder is {kind!r:.50}: only ByteLevel can be read")
    post = document.get("post_processor")
    unused = [key for key in ("truncation", "padding") if document.get(key) is not None]
    if post is not None and not (isinstance(post, dict) and post.get("type") == "ByteLevel"):
        unused.append("post_processor")
    if unused:
        warnings.warn(
            f"{' and '.join(unused)} of the tokenizer.json: kept, but not applied. The ids are those of the "
            "text alone, as with add_special_tokens=False; those of a post-processor are not added",
            UserWarning,
            stacklevel=4,
        )


def _added_tokens(entries: Any, ids: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the entries of special and added tokens by their texts, checked."""
    need(isinstance(entries, list), "added_tokens is no list")
    found: dict[str, dict[str, Any]] = {}
    for i, entry in enumerate(entries):
        where = f"added_tokens[{i}]"
        need(isinstance(entry, dict), f"{where} is no object")
        token, number = entry.get("content"), entry.get("id")
        need(isinstance(token, str) and bool(token), f"{where}.content is no token: {token!r:.50}")
        need(type(number) is int, f"{where}.id is not an id: {number!r:.50}")
        need(token not in found, f"{where} gives {token!r:.50} again")
        for key in ("single_word", "lstrip", "rstrip"):
            need(
                not entry.get(key),
                f"{where}, {token!r:.50}, has {key}: bpe finds special tokens wherever they stand. "
                f"Set {key} to false in the file",
            )
        need(
            ids.get(token, number) == number,
            f"{where}, {token!r:.50}, has id {number}, but in model.vocab {ids.get(token)!r:.50}",
        )
        for key in ("normalized", "special"):
            value = entry.get(key, True)
            need(type(value) is bool, f"{where}.{key} is not true or false: {value!r:.50}")
        found[token] = entry
    _check_overlaps(found)
    return found


def _check_overlaps(entries: dict[str, dict[str, Any]]) -> None:
    """Refuse tokens of the second search, if one of the first search can begin inside of them."""
    second = [token for token, entry in entries.items() if entry.get("normalized", False)]
    if not second:
        return
    first = sorted({*entries} - {*second})
    search = SpecialSearch(frozenset(first))
    for token in second:
        data = token.encode()
        overlapping = [data[start:end].decode() for start, end in search.find_all(data)][:1]
        for start in range(1, len(token)):  # one may also begin inside and end after it
            place = bisect_left(first, token[start:])
            overlapping += [other for other in first[place : place + 1] if other.startswith(token[start:])]
        for other in overlapping[:1]:
            raise ValueError(
                f"added token {token!r:.50} has normalized, and overlaps with {other!r:.50}, which has not: "
                "which of them is found first depends on it. Set normalized to the same value in the file"
            )


def _pairs(entries: Any) -> list[tuple[str, str]]:
    need(isinstance(entries, list), "model.merges is no list")
    pairs = []
    for rank, entry in enumerate(entries):
        pair = entry.split(" ") if isinstance(entry, str) else entry
        if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(text, str) for text in pair)):
            raise ValueError(f"model.merges[{rank}] is not two tokens: {entry!r:.60}")
        pairs.append((pair[0], pair[1]))
    return pairs
