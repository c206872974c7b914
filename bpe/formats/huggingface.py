"""Hugging Face's ``tokenizer.json``, and its ``tokenizers.Tokenizer``.

Such a file can describe many kinds of tokenizers. Only byte-level BPE can be read: without a normalizer, with
a pre-tokenizer that is a pattern (:mod:`bpe.formats.pre_tokenizers`), with bytes written as characters.
Anything else is refused by name. Three parts are ignored with a warning, because they change the ids of a
text in other ways than encoding it: post-processor, truncation and padding.

With ``ignore_merges``, a piece that is a token is not merged. If no merges lead to the token, it is taken
whole (:meth:`bpe.vocabulary.Vocabulary.taking_whole`); for all other tokens this makes no difference.

All added tokens become special tokens, also those that are not marked as special: both kinds are cut out of
the text before it is split. Special tokens are written to the table of tokens, too, so that they keep their
ids even if there are gaps between the ids.
"""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any

from bpe.formats.gpt2 import merges_of_texts, texts_of, tokens_of
from bpe.formats.json_text import need, read_json
from bpe.formats.pre_tokenizers import byte_level, pattern_of, pre_tokenizer_of
from bpe.formats.ranks import unreached
from bpe.pattern import Pattern
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
    document = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {
                "id": number,
                "content": token,
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": False,
                "special": True,
            }
            for token, number in sorted(vocabulary.special_tokens.items(), key=lambda item: item[1])
        ],
        "normalizer": None,
        "pre_tokenizer": pre_tokenizer_of(pattern),
        "post_processor": None,
        "decoder": byte_level(use_regex=True),
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": bool(vocabulary.whole_ids),
            "vocab": ids,
            "merges": [[text[left], text[right]] for left, right in vocabulary.merges],
        },
    }
    lines = [f'"{key}": {json.dumps(value, ensure_ascii=False)}' for key, value in document.items()]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


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
        The file has a post-processor, truncation or padding, which is ignored.

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
    special_tokens = _added_tokens(document.get("added_tokens") or [], ids)
    token_bytes = tokens_of(ids, special_tokens, "model.vocab")
    merges = merges_of_texts(_pairs(model.get("merges")), ids, "model.merges")
    words = Vocabulary(token_bytes, merges, special_tokens)
    if model.get("ignore_merges"):
        words = words.taking_whole(unreached(words))
    return words, pattern


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
    left_out = [key for key in ("truncation", "padding") if document.get(key) is not None]
    if post is not None and not (isinstance(post, dict) and post.get("type") == "ByteLevel"):
        left_out.append("post_processor")
    if left_out:
        warnings.warn(
            f"{' and '.join(left_out)} of the tokenizer.json left out: the ids are those of the text alone, "
            "as with add_special_tokens=False",
            UserWarning,
            stacklevel=4,
        )


def _added_tokens(entries: Any, ids: dict[str, Any]) -> dict[str, int]:
    need(isinstance(entries, list), "added_tokens is no list")
    special_tokens: dict[str, int] = {}
    for i, entry in enumerate(entries):
        where = f"added_tokens[{i}]"
        need(isinstance(entry, dict), f"{where} is no object")
        token, number = entry.get("content"), entry.get("id")
        need(isinstance(token, str) and bool(token), f"{where}.content is no token: {token!r:.50}")
        need(type(number) is int, f"{where}.id is not an id: {number!r:.50}")
        need(token not in special_tokens, f"{where} gives {token!r:.50} again")
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
        special_tokens[token] = number
    return special_tokens


def _pairs(entries: Any) -> list[tuple[str, str]]:
    need(isinstance(entries, list), "model.merges is no list")
    pairs = []
    for rank, entry in enumerate(entries):
        pair = entry.split(" ") if isinstance(entry, str) else entry
        if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(text, str) for text in pair)):
            raise ValueError(f"model.merges[{rank}] is not two tokens: {entry!r:.60}")
        pairs.append((pair[0], pair[1]))
    return pairs
