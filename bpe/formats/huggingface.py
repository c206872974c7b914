"""Hugging Face's ``tokenizer.json``, and its ``tokenizers.Tokenizer``.

Such a file can describe many kinds of tokenizers. Every kind of BPE can be read; other models, such as
Unigram and WordPiece, are refused by name. A pre-tokenizer that cuts as a pattern does becomes one
(:mod:`bpe.pipeline.patterns`). All other steps, the flags of added tokens and the options of the model are
kept as extras (:mod:`bpe.vocabulary.extras`), and applied (:mod:`bpe.pipeline.preparation`). Truncation,
padding and the dropout of the model are kept but not applied; a warning says so.

A file that is read and written again is an equal JSON document, except: entries that the file left out are
written, missing steps as null; merges are pairs of tokens; added tokens are in the order of their ids, and in
``model.vocab``, too, if they were there or if other programs would otherwise give them other ids.

With ``ignore_merges``, a piece that is a token is not merged. That matters only for tokens that no merges
lead to: they are atomic (:attr:`bpe.vocabulary.vocabulary.Vocabulary.atomic_ids`).

Added tokens that are marked as special become special tokens; the others are added tokens, which need not be
allowed. They are written to the table of tokens, too, so that they keep their ids even if some ids are not
used.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bpe.formats.gpt2 import texts_of
from bpe.formats.model_tables import vocabulary_of
from bpe.formats.ranks import unreached, with_atomic_ids
from bpe.pipeline.patterns import byte_level, is_read_by_1_0, pattern_of, pre_tokenizer_of
from bpe.pipeline.pre_tokenizers import PreTokenizer
from bpe.pipeline.preparation import Preparation, cutting_pattern
from bpe.splitting.pattern import PATTERNS, Pattern
from bpe.support.json_text import need
from bpe.support.warning import warn
from bpe.vocabulary.byte_level import bytes_of, text_of
from bpe.vocabulary.extras import different, from_text, to_text
from bpe.vocabulary.supermerges import refuse_supermerges
from bpe.vocabulary.vocabulary import Vocabulary

if TYPE_CHECKING:
    import tokenizers


# ---------------------------------------------------------------------------------------------- writing
def dump(vocabulary: Vocabulary, pattern: Pattern) -> bytes:
    """Return a tokenizer as the content of a ``tokenizer.json``."""
    extras = from_text(vocabulary.extras)
    ignores_merges = extras["model"].get("ignore_merges", False) or bool(vocabulary.atomic_ids)
    if ignores_merges:
        for token_id in sorted({*unreached(vocabulary)} - {*vocabulary.atomic_ids})[:1]:
            raise ValueError(
                "in a tokenizer.json, either all tokens that no merges lead to are looked up whole, or none: "
                f"here some are, but not id {token_id}, {vocabulary.bytes_of[token_id]!r:.80}"
            )
    steps = Preparation.of(vocabulary)
    is_text = steps is not None and steps.options.is_text
    ids = texts_of(vocabulary, "a tokenizer.json", bytes.decode if is_text else text_of)
    text = {token_id: token for token, token_id in ids.items()}
    for token, token_id in ids.items() if len(text) < len(ids) else ():
        if text[token_id] != token:
            raise ValueError(
                f"in a tokenizer.json an id has one token: {token!r:.80} and {text[token_id]!r:.80} both "
                f"have the id {token_id}"
            )
    for token in _outside(vocabulary, ids, extras["outside"]):
        del ids[token]
    document = _FRAME | {"pre_tokenizer": None} | extras["document"]
    has_own = steps is not None and steps.pre_tokenizer is not None
    if not has_own and not _is_pre_tokenizer(document["pre_tokenizer"], pattern):
        document["pre_tokenizer"] = pre_tokenizer_of(pattern)
    document["added_tokens"] = [
        {"id": token_id, "content": token}
        | _FLAGS
        | extras["added_tokens"].get(token, {})
        | {"special": token in vocabulary.special_tokens}
        for token, token_id in sorted(vocabulary.cut_tokens.items(), key=lambda item: item[1])
    ]
    document["model"] = {
        **_MODEL,
        **extras["model"],
        "ignore_merges": ignores_merges,
        "vocab": ids,
        "merges": [[text[left], text[right]] for left, right in vocabulary.merges],
    }
    lines = [f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in document.items()]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


# What is written if the extras have nothing else.
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


def warn_of_tokenizers(vocabulary: Vocabulary, pattern: Pattern) -> None:
    """Warn if the package tokenizers does not do with a file what is done here.

    It replaces characters in another way than SentencePiece. From 1.0 on, it refuses a pattern that it does
    not know, unless the file that was read has its own pre-tokenizer.
    """
    if '"longest": true' in vocabulary.extras:
        warn(
            "tokenizers gives other ids with this file where a character has several marks: it replaces them "
            "in another way than SentencePiece"
        )
    if is_read_by_1_0(pattern) or "pre_tokenizer" in from_text(vocabulary.extras)["document"]:
        return
    given = pattern.name or ", ".join(pattern.sources)
    named = ", ".join(name for name in PATTERNS if is_read_by_1_0(Pattern.of(name)))
    warn(
        "tokenizers 1.0 cannot encode with this file, as its list of patterns does not have "
        f"{given!r:.80}: use an earlier release, or train with one of the patterns {named}",
    )


def _outside(vocabulary: Vocabulary, ids: dict[str, int], tokens: list[str]) -> list[str]:
    """Return the tokens that need not be in the table: other programs number them after it, in order."""
    tokens = [token for token in tokens if token in vocabulary.cut_tokens]
    token_ids = sorted(ids[token] for token in tokens)
    first = len(ids) - len(tokens)
    return tokens if token_ids == [*range(first, first + len(tokens))] else []


def _is_pre_tokenizer(entry: Any, pattern: Pattern) -> bool:
    """Return whether an entry of the extras stands for the pattern."""
    try:
        return entry is not None and pattern_of(entry) == pattern
    except ValueError:
        return False


def tokenizer_of(vocabulary: Vocabulary, pattern: Pattern) -> tokenizers.Tokenizer:
    """Return a tokenizer as an object of Hugging Face's package."""
    refuse_supermerges(vocabulary, "tokenizers")
    try:
        import tokenizers
    except ImportError:
        raise ImportError("a tokenizers.Tokenizer requires tokenizers: pip install tokenizers") from None
    data = dump(vocabulary, pattern)
    if hasattr(tokenizers.Tokenizer, "from_str"):
        return tokenizers.Tokenizer.from_str(data.decode())
    with tempfile.TemporaryDirectory() as folder:  # 1.0 reads files only
        path = Path(folder, "tokenizer.json")
        path.write_bytes(data)
        return tokenizers.Tokenizer.from_file(str(path))


# ---------------------------------------------------------------------------------------------- reading
def of_document(document: Any) -> tuple[Vocabulary, Pattern]:
    """Return the tokenizer of a parsed ``tokenizer.json``, which may be any JSON value.

    Its steps are read and checked when an engine is made (:mod:`bpe.pipeline.engine`).
    """
    need(isinstance(document, dict) and isinstance(document.get("model"), dict), '"model" is not an object')
    model = document["model"]
    _check_model(model)
    _warn_of_unused(document)
    pre_tokenizer = PreTokenizer.of(document.get("pre_tokenizer"))
    is_text = not pre_tokenizer.is_byte_level
    ids = model.get("vocab")
    need(isinstance(ids, dict), "model.vocab is not an object that maps tokens to ids")
    entries = _added_tokens(document.get("added_tokens") or [], ids)
    for token, entry in entries.items() if not is_text else ():
        if len(token) == 1 and token > "~" and token in ids and (byte := bytes_of(token)):
            raise ValueError(
                f"added token {token!r} has id {entry['id']}, which in model.vocab is that of the byte "
                f"0x{byte.hex().upper()}: an id stands for one text here"
            )
    special_tokens = {token: entry["id"] for token, entry in entries.items()}
    vocabulary = vocabulary_of(ids, model.get("merges"), special_tokens, is_text=is_text)
    added = [token for token, entry in entries.items() if not entry.get("special", True)]
    vocabulary = vocabulary.replace(added_tokens=added)
    if model.get("ignore_merges"):
        vocabulary = with_atomic_ids(vocabulary)
    pattern = cutting_pattern(pre_tokenizer, model, vocabulary) or Pattern.of("none")
    return vocabulary.replace(extras=to_text(_extras(document, pattern, entries))), pattern


def _extras(document: dict[str, Any], pattern: Pattern, entries: dict[str, Any]) -> dict[str, Any]:
    """Return the extras of a file: all but vocabulary and pattern."""
    try:
        usual = _FRAME | {"pre_tokenizer": pre_tokenizer_of(pattern)}
    except ValueError:  # no usual entry stands for this pattern
        usual = _FRAME
    model = document["model"]
    steps = {"pre_tokenizer": None, "decoder": None}  # a missing step means none, not the usual one
    flags = {
        token: different({k: v for k, v in entry.items() if k not in ("id", "content", "special")}, _FLAGS)
        for token, entry in entries.items()
    }
    return {
        "document": different(
            {k: v for k, v in (steps | document).items() if k not in ("added_tokens", "model")}, usual
        ),
        "model": different({k: v for k, v in model.items() if k not in ("vocab", "merges")}, _MODEL),
        "added_tokens": {token: some for token, some in flags.items() if some},
        "outside": [token for token in entries if token not in model["vocab"]],
    }


def _check_model(model: dict[str, Any]) -> None:
    kind = model.get("type", "BPE")
    need(kind == "BPE", f"model.type is {kind!r:.50}: only BPE can be read")
    prefix = model.get("continuing_subword_prefix")
    need(
        not prefix,
        f"model.continuing_subword_prefix is {prefix!r:.50}: no such vocabulary can be read, because its "
        "merges drop this prefix, and here a token is the bytes of its two parts. Use the package tokenizers "
        "for this file, or train without a prefix",
    )
    dropout = model.get("dropout")
    is_number = isinstance(dropout, (int, float)) and not isinstance(dropout, bool) and 0 <= dropout <= 1
    need(dropout is None or is_number, f"model.dropout is not a number from 0 to 1: {dropout!r:.50}")
    for key, kind in (("unk_token", str), ("end_of_word_suffix", str), ("byte_fallback", bool)):
        value = model.get(key)
        need(value is None or isinstance(value, kind), f"model.{key} is not a {kind.__name__}: {value!r:.50}")
    both = model.get("end_of_word_suffix") and model.get("byte_fallback")
    need(not both, "model has byte_fallback and end_of_word_suffix: no such vocabulary can be read")
    both = model.get("end_of_word_suffix") and model.get("ignore_merges")
    need(not both, "model has ignore_merges and end_of_word_suffix: no such vocabulary can be read")


def _warn_of_unused(document: dict[str, Any]) -> None:
    unused = [key for key in ("truncation", "padding") if document.get(key) is not None]
    hint = ""
    if document["model"].get("dropout"):
        unused.append("model.dropout")
        hint = ". Tokenizer.encode_with_dropout drops merges at random"
    if unused:
        warn(
            f"{' and '.join(unused)} of the tokenizer.json: kept, but not applied{hint}",
        )


def _added_tokens(entries: Any, ids: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the entries of special and added tokens by their texts, checked."""
    need(isinstance(entries, list), "added_tokens is not a list")
    found: dict[str, dict[str, Any]] = {}
    for i, entry in enumerate(entries):
        # There may be many entries, so messages are made only for errors.
        if not isinstance(entry, dict):
            raise ValueError(f"added_tokens[{i}] is not an object")
        token, token_id = entry.get("content"), entry.get("id")
        if not isinstance(token, str) or not token:
            raise ValueError(f"added_tokens[{i}].content is not a token: {token!r:.50}")
        if type(token_id) is not int:
            raise ValueError(f"added_tokens[{i}].id is not an id: {token_id!r:.50}")
        if token in found:
            raise ValueError(f"added_tokens[{i}] gives {token!r:.50} again")
        if ids.get(token, token_id) != token_id:
            raise ValueError(
                f"added_tokens[{i}], {token!r:.50}, has id {token_id}, but in model.vocab {ids[token]!r:.50}"
            )
        for key in ("normalized", "special", "single_word", "lstrip", "rstrip"):
            if type(value := entry.get(key, True)) is not bool:
                raise ValueError(f"added_tokens[{i}].{key} is not true or false: {value!r:.50}")
        found[token] = entry
    return found
