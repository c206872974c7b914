r"""SentencePiece's ``.model`` files of type BPE.

Such a file is a message of protocol buffers. It is translated to the entries of a ``tokenizer.json``, which
:mod:`bpe.formats.huggingface` reads:

==============================  ======================================================================
in the file                     in the ``tokenizer.json``
==============================  ======================================================================
pieces                          ``model.vocab``; the id of a piece is its index
scores                          ``model.merges``: two pieces that together are a third piece are merged;
                                the greatest score of that piece comes first
unknown and control pieces      special tokens
user-defined symbols            added tokens, which are searched for after the normalizer
``byte_fallback``               ``byte_fallback``
``precompiled_charsmap``        the normalizer ``Precompiled``
``remove_extra_whitespaces``    normalizers ``Replace``
``add_dummy_prefix``            the normalizer ``Prepend``, the decoder ``Strip``
==============================  ======================================================================

The decoders of a ``tokenizer.json`` cannot do all that SentencePiece does: there, one invalid byte turns a
whole run of byte pieces into U+FFFD, and the first space is dropped whichever piece it comes from. So a
decoder that does what SentencePiece does is kept in the extras (:mod:`bpe.vocabulary.extras`); it is used
here and saved in native files. A ``tokenizer.json`` that is written has only the other decoders.

SentencePiece cuts a text only at user-defined symbols. The ids are the same as SentencePiece's, except:

* a text that is one user-defined symbol, and nothing else, gets no ``▁`` before it;
* where ``remove_extra_whitespaces`` is false, a text of which the normalizer leaves nothing gets no ``▁``.

What programs put around the ids, such as ``<s>``, is not in the file: there is no post-processor.

Protocol buffers, as far as such a file uses them: a message is a list of fields. Each has a key,
``number << 3 | kind``, and a value::

    kind 0    an integer, seven bits in each byte, the lowest first; 0x80 says that another byte follows
    kind 1    8 bytes
    kind 2    a length, and that many bytes: a text, or a message
    kind 5    4 bytes
"""

from __future__ import annotations

import base64
import re
import struct
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias

from bpe.formats.huggingface import of_document
from bpe.pipeline.normalizers import Normalizer
from bpe.splitting.pattern import Pattern
from bpe.support.json_text import need
from bpe.support.warning import warn
from bpe.vocabulary.extras import from_text, to_text
from bpe.vocabulary.vocabulary import Vocabulary

FieldValue: TypeAlias = int | bytes

_MAX_VARINT = 10  # bytes
_SIZES = {1: 8, 5: 4}


def fields_of(data: bytes, where: str) -> list[tuple[int, FieldValue]]:
    r"""Return the fields of a message, in order."""
    found: list[tuple[int, FieldValue]] = []
    at = 0
    while at < len(data):
        start = at
        key, at = _varint(data, at, where)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, at = _varint(data, at, where)
            found.append((number, value))
            continue
        if kind == 2:
            size, at = _varint(data, at, where)
        elif kind in _SIZES:
            size = _SIZES[kind]
        else:
            raise ValueError(f"{where} is not a message: no field begins at byte {start}")
        if number == 0:
            raise ValueError(f"{where} is not a message: the field at byte {start} has the number 0")
        if size > len(data) - at:
            raise ValueError(
                f"{where} is cut off: field {number} has {size} bytes from byte {at} on, "
                f"and {len(data) - at} are there"
            )
        found.append((number, data[at : at + size]))
        at += size
    return found


def _varint(data: bytes, at: int, where: str) -> tuple[int, int]:
    """Return the integer at a place, and the place after it."""
    value = 0
    for i, byte in enumerate(data[at : at + _MAX_VARINT]):
        value |= (byte & 0x7F) << 7 * i
        if byte < 0x80:
            return value, at + i + 1
    problem = "is cut off" if len(data) - at < _MAX_VARINT else "is not a message"
    raise ValueError(f"{where} {problem}: the integer at byte {at} has no end")


SPACE = "\u2581"
"""The character that SentencePiece writes for a space."""

MAX_PIECE = 1024
"""How many characters a piece may have."""

# The numbers of the kinds of pieces and models in the message.
_NORMAL, _UNKNOWN, _CONTROL, _USER_DEFINED, _UNUSED, _BYTE = range(1, 7)
_MODELS = {1: "Unigram", 2: "BPE", 3: "word", 4: "character"}
_FLAGS = {"single_word": False, "lstrip": False, "rstrip": False}


class _Piece(NamedTuple):
    text: str
    score: float
    kind: int


def parse(data: bytes) -> tuple[Vocabulary, Pattern]:
    r"""Read a ``.model`` file of SentencePiece."""
    pieces, trainer, normalizer = _parts_of(data)
    vocabulary, pattern = of_document(_document_of(pieces, trainer, normalizer))
    extras = from_text(vocabulary.extras) | {"decoder": _decoder(pieces, trainer, normalizer)}
    return vocabulary.replace(extras=to_text(extras)), pattern


def _document_of(pieces: list[_Piece], trainer: dict[str, Any], normalizer: dict[str, Any]) -> dict[str, Any]:
    """Return what a file says as the entries of a ``tokenizer.json``."""
    vocab = {piece.text: token_id for token_id, piece in enumerate(pieces)}
    unknown, surface = _unknown(pieces, trainer)
    symbols = [piece.text for piece in pieces if piece.kind == _USER_DEFINED]
    steps = _normalizers(normalizer, symbols)
    _check_symbols(symbols, steps, normalizer)
    has_bytes = bool(trainer.get("byte_fallback", 0))
    _check_bytes(pieces, has_bytes)
    _check_characters(pieces)
    decoders: list[dict[str, Any]] = [
        _replacing({"Regex": rf"\A(?:{_literal(unknown)})\z"}, surface),
        _replacing({"String": SPACE}, " "),
        {"type": "ByteFallback"},
        {"type": "Fuse"},
    ]
    if normalizer.get("add_dummy_prefix", 1):
        decoders.append({"type": "Strip", "content": " ", "start": 1, "stop": 0})
    elif normalizer.get("remove_extra_whitespaces", 1):  # the first space, unless it is of the surface
        is_other = f"(?!{_literal(surface[1:])})" if surface.startswith(" ") else ""
        decoders.append(_replacing({"Regex": rf"\A {is_other}"}, ""))
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": token_id, "content": piece.text}
            | _FLAGS
            | {"normalized": piece.kind == _USER_DEFINED, "special": piece.kind != _USER_DEFINED}
            for token_id, piece in enumerate(pieces)
            if piece.kind in (_UNKNOWN, _CONTROL, _USER_DEFINED)
        ],
        "normalizer": {"type": "Sequence", "normalizers": steps} if steps else None,
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": {"type": "Sequence", "decoders": decoders},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": unknown,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": True,
            "byte_fallback": has_bytes,
            "ignore_merges": False,
            "vocab": vocab,
            "merges": _merges(pieces),
        },
    }


# ------------------------------------------------------------------------------------------ the message
# number of a field -> its name, and whether it is an integer
_TRAINER = {
    3: ("model_type", int),
    24: ("treat_whitespace_as_suffix", int),
    35: ("byte_fallback", int),
    44: ("unk_surface", str),
}
_NORMALIZER = {
    2: ("precompiled_charsmap", bytes),
    3: ("add_dummy_prefix", int),
    4: ("remove_extra_whitespaces", int),
    5: ("escape_whitespaces", int),
}


def _parts_of(data: bytes) -> tuple[list[_Piece], dict[str, Any], dict[str, Any]]:
    """Return the pieces, and what the message says of the trainer and the normalizer, checked."""
    pieces: list[_Piece] = []
    trainer: dict[str, Any] = {}
    normalizer: dict[str, Any] = {}
    number_of: dict[str, int] = {}
    for number, value in fields_of(data, "the file"):
        if number == 1:
            where = f"pieces[{len(pieces)}]"
            piece = _piece_of(_message(value, where), where)
            first = number_of.setdefault(piece.text, len(pieces))
            need(first == len(pieces), f"{where} is {piece.text!r:.80}, like pieces[{first}]")
            pieces.append(piece)
        elif number == 2:
            trainer.update(_named(value, _TRAINER, "trainer_spec"))
        elif number == 3:
            normalizer.update(_named(value, _NORMALIZER, "normalizer_spec"))
        elif number == 5:
            denormalizer = _named(value, _NORMALIZER, "denormalizer_spec")
            need(
                not denormalizer.get("precompiled_charsmap"),
                "denormalizer_spec has a precompiled_charsmap, which changes decoded texts: not supported",
            )
    kind = trainer.get("model_type", 1)
    need(kind == 2, f"trainer_spec.model_type is {_MODELS.get(kind, kind)!s:.50}: only BPE can be read")
    need(
        not trainer.get("treat_whitespace_as_suffix", 0),
        "trainer_spec.treat_whitespace_as_suffix is set: only a space before a word can be read",
    )
    need(
        bool(normalizer.get("escape_whitespaces", 1)),
        f"normalizer_spec.escape_whitespaces is not set: only spaces that are written as {SPACE} can be read",
    )
    n_unknown = sum(piece.kind == _UNKNOWN for piece in pieces)
    need(n_unknown == 1, f"{n_unknown} pieces are of type UNKNOWN: there must be exactly one")
    return pieces, trainer, normalizer


def _message(value: FieldValue, where: str) -> list[tuple[int, FieldValue]]:
    if not isinstance(value, bytes):
        raise ValueError(f"{where} is an integer, not a message")
    return fields_of(value, where)


def _piece_of(fields: list[tuple[int, FieldValue]], where: str) -> _Piece:
    text, score, kind = "", 0.0, _NORMAL
    for number, value in fields:
        if number == 1:
            text = _text(value, f"{where}.piece")
        elif number == 2:
            if not isinstance(value, bytes) or len(value) != 4:
                raise ValueError(f"{where}.score is not a number of 4 bytes")
            (score,) = struct.unpack("<f", value)
        elif number == 3:
            need(value in range(1, 7), f"{where}.type is {value!r:.50}, not a known type")
            kind = int(value)
    need(bool(text), f"{where} has no text")
    need(len(text) <= MAX_PIECE, f"{where} has {len(text)} characters; at most {MAX_PIECE} can be read")
    need(score == score, f"{where}.score is not a number")
    need(
        kind != _UNUSED,
        f"{where}, {text!r:.80}, is of type UNUSED: a restricted vocabulary cannot be read",
    )
    return _Piece(text, score, kind)


def _named(value: FieldValue, names: Mapping[int, tuple[str, type]], where: str) -> dict[str, Any]:
    """Return the fields of a message that are needed, by their names."""
    found: dict[str, Any] = {}
    for number, content in _message(value, where):
        if number not in names:
            continue
        name, kind = names[number]
        is_right = isinstance(content, int) == (kind is int)
        need(is_right, f"{where}.{name} is not {'an integer' if kind is int else 'a string'}")
        found[name] = _text(content, f"{where}.{name}") if kind is str else content
    return found


def _text(value: FieldValue, where: str) -> str:
    if not isinstance(value, bytes):
        raise ValueError(f"{where} is an integer, not a string")
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"{where} is not UTF-8 at byte {error.start}: {value!r:.80}") from None


# ------------------------------------------------------------------------------------------------ steps
def _replacing(pattern: dict[str, str], content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": pattern, "content": content}


def _literal(text: str) -> str:
    """Return an expression that matches a text; it escapes less than ``re.escape``."""
    return re.sub(r"[\\.^$*+?{}\[\]|()]", r"\\\g<0>", text)


def _normalizers(normalizer: dict[str, Any], symbols: list[str]) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = []
    is_shortened = bool(normalizer.get("remove_extra_whitespaces", 1))
    if charsmap := normalizer.get("precompiled_charsmap"):
        text = base64.b64encode(charsmap).decode()
        characters = {"type": "Precompiled", "precompiled_charsmap": text, "longest": True}
        changed = Normalizer.of(characters, "normalizer_spec")
        # For tokenizers, which changes \r and \n together as \r alone.
        line_end, first = changed("\r\n"), changed("\r")
        is_same = line_end == first or (is_shortened and {*line_end} == {*first} == {" "})
        if first != "\r" and not is_same and changed(line_end) == line_end:
            steps.append(_replacing({"String": "\r\n"}, line_end))
        steps.append(characters)
    if is_shortened:
        steps += [_replacing({"Regex": r"\A +"}, ""), _replacing({"Regex": " {2,}"}, " ")]
    if normalizer.get("add_dummy_prefix", 1):
        steps.append({"type": "Prepend", "prepend": SPACE})
        if symbols:  # they are normalized before they are searched for, and must not change
            any_symbol = "|".join(map(_literal, sorted(symbols, key=len, reverse=True)))
            steps.append(_replacing({"Regex": rf"\A{SPACE}(?=(?:{any_symbol})\z)"}, ""))
    steps.append(_replacing({"String": " "}, SPACE))
    if is_shortened:
        steps.append(_replacing({"Regex": rf"{SPACE}+\z"}, ""))
    return steps


def _unknown(pieces: Iterable[_Piece], trainer: dict[str, Any]) -> tuple[str, str]:
    """Return the unknown piece, and what it is decoded to."""
    unknown = next(piece.text for piece in pieces if piece.kind == _UNKNOWN)
    return unknown, trainer.get("unk_surface", " \u2047 ")


def _decoder(pieces: list[_Piece], trainer: dict[str, Any], normalizer: dict[str, Any]) -> dict[str, Any]:
    """Return the entry of the decoder that does what SentencePiece does."""
    unknown, surface = _unknown(pieces, trainer)
    is_shortened = bool(normalizer.get("remove_extra_whitespaces", 1))
    has_bytes = any(piece.kind == _BYTE for piece in pieces)
    return {
        "type": "Sequence",
        "decoders": [
            _replacing({"Regex": rf"\A(?:{_literal(unknown)})\z"}, surface),
            {
                "type": "PieceSpaces",
                "replacement": SPACE,
                "minds_first": is_shortened or bool(normalizer.get("add_dummy_prefix", 1)),
                "while_empty": is_shortened,
            },
            {"type": "PieceBytes" if has_bytes else "Fuse"},
        ],
    }


def _check_symbols(symbols: list[str], steps: list[dict[str, Any]], normalizer: dict[str, Any]) -> None:
    """Raise if the normalizer changes a user-defined symbol, which would then not be found."""
    changed = Normalizer.of({"type": "Sequence", "normalizers": steps})
    for symbol in symbols:
        if changed(symbol) != symbol:
            raise ValueError(
                f"the normalizer changes the user-defined symbol {symbol!r:.80} to "
                f"{changed(symbol)!r:.80}: such a model cannot be read"
            )


def _check_bytes(pieces: Iterable[_Piece], has_bytes: bool) -> None:
    if not has_bytes:
        return
    found = {piece.text for piece in pieces if piece.kind == _BYTE}
    for value in range(256):
        name = f"<0x{value:02X}>"
        need(name in found, f"trainer_spec.byte_fallback is set, but byte {value} has no piece {name!r}")


def _check_characters(pieces: Iterable[_Piece]) -> None:
    """Raise if SentencePiece would merge a character that is not a piece into a longer piece."""
    normal = {piece.text for piece in pieces if piece.kind == _NORMAL}
    symbols = {piece.text for piece in pieces if piece.kind == _USER_DEFINED}  # never merged
    for number, piece in enumerate(pieces):
        text = piece.text
        if piece.kind != _NORMAL or len(text) == 1:
            continue
        for character, rest in ((text[0], text[1:]), (text[-1], text[:-1])):
            is_symbol = rest in normal or (len(rest) == 1 and rest not in symbols)
            if is_symbol and character not in normal and character not in symbols:
                raise ValueError(
                    f"pieces[{number}], {text!r:.80}, has the character {character!r}, which is not a piece: "
                    "SentencePiece merges it anyway, but here only pieces are merged. Give the "
                    "character a piece of its own in the model"
                )


# ----------------------------------------------------------------------------------------------- merges
def _merges(pieces: list[_Piece]) -> list[list[str]]:
    """Return the merges in the order of the scores of the pieces that they make, the greatest first."""
    score_of = {piece.text: piece.score for piece in pieces if piece.kind == _NORMAL}
    made = [
        (score, text, splits) for text, score in score_of.items() if (splits := _splits_of(text, score_of))
    ]
    made.sort(key=lambda each: -each[0])
    for _, group in groupby(made, key=lambda each: each[0]):
        _warn_of_ties([(text, splits) for _, text, splits in group])
    return [[text[:i], text[i:]] for _, text, splits in made for i in splits]


def _warn_of_ties(pieces: list[tuple[str, list[int]]]) -> None:
    """Warn if two pieces of the same score can need the same token of a text.

    For runs of one character it does not matter which is made first.
    """
    made_with = {text[i:]: text for text, splits in pieces for i in splits if len({*text}) > 1}
    for text, splits in pieces:
        for other in (made_with.get(text[:i], text) for i in splits):
            if other != text:
                warn(
                    f"the pieces {text!r:.60} and {other!r:.60} have the same score: SentencePiece first "
                    "makes the one further left in a text, here it is the one with the lower id. "
                    "Ids may differ",
                )
                return


def _splits_of(text: str, score_of: dict[str, float]) -> list[int]:
    """Return where a piece can be split into two others, in the order of their merges.

    All these merges have the same score. Where two of them overlap in a text, SentencePiece takes the left
    one: in A B C, where A + B and B + C are the same piece, it merges A and B. So that merge has to come
    first. In this case, B is both the end and the beginning of the piece.
    """
    splits = [i for i in range(1, len(text)) if text[:i] in score_of and text[i:] in score_of]
    if len(splits) < 2:
        return splits

    def comes_later(i: int) -> bool:
        left, right = text[:i], text[i:]
        return not text.startswith(right) or left + right == right + left

    return sorted(splits, key=lambda i: (comes_later(i), -i))
