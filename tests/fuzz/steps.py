"""Random tokenizers with steps: ids, offsets and texts are those of the package ``tokenizers``."""

from __future__ import annotations

import json
import random
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpe
from tests.fuzz import texts

N_TEXTS = 12
_FLAGS = ("single_word", "lstrip", "rstrip", "normalized")
_SPACE = "▁"
# What all versions of Unicode tell alike.
_PARTS = [
    *"abcx.12, \n'-_",
    "  ",
    "\t",
    "\r\n",
    _SPACE,
    "é",
    "日",
    "本",
    "e\u0301",
    "A",
    "😀",
    "Ω",
    "ab",
    "abab",
]
_BYTES = [f"<0x{value:02X}>" for value in range(256)]
_STRINGS = [" ", _SPACE, "a", "ab", "  ", "b", ".", "é", "\n", "aa", "'"]
_EXPRESSIONS = [
    r"\s+",
    r"\w+",
    " {2,}",
    "[ab]",
    r"\d",
    "ab|a",
    r"\p{L}+",
    "[^a-z]",
    r"a(?=b)",
    r"\s|.",
    "a?b+",
]
_BEHAVIORS = ["Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous"]


def _pattern(chance: random.Random) -> dict[str, str]:
    if chance.random() < 0.6:
        return {"String": chance.choice(_STRINGS)}
    return {"Regex": chance.choice(_EXPRESSIONS)}


def _yes(chance: random.Random) -> bool:
    return chance.random() < 0.5


def _normalizer(chance: random.Random) -> dict[str, Any]:
    match chance.randrange(9):
        case 0 | 1:
            return {"type": chance.choice(["NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt"])}
        case 2 | 3 | 4:
            new = chance.choice([_SPACE, " ", "", "b", "ab", "x x"])
            return {"type": "Replace", "pattern": _pattern(chance), "content": new}
        case 5:
            return {"type": "Prepend", "prepend": chance.choice([_SPACE, "a", " "])}
        case 6:
            return {"type": "Strip", "strip_left": _yes(chance), "strip_right": _yes(chance)}
        case 7:
            names = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
            return {"type": "BertNormalizer", **{name: _yes(chance) for name in names}}
        case _:
            return {"type": "Replace", "pattern": {"String": " "}, "content": _SPACE}


def _byte_level(chance: random.Random) -> dict[str, Any]:
    puts, cuts = _yes(chance), _yes(chance)
    return {"type": "ByteLevel", "add_prefix_space": puts, "trim_offsets": False, "use_regex": cuts}


def _pre_tokenizer(chance: random.Random) -> dict[str, Any]:
    match chance.randrange(8):
        case 0 | 1 | 2:
            behavior, invert = chance.choice(_BEHAVIORS), chance.random() < 0.3
            return {"type": "Split", "pattern": _pattern(chance), "behavior": behavior, "invert": invert}
        case 3:
            return {"type": "Digits", "individual_digits": _yes(chance)}
        case 4:
            return {"type": "Punctuation", "behavior": chance.choice(_BEHAVIORS)}
        case 5:
            return {"type": chance.choice(["Whitespace", "WhitespaceSplit", "BertPreTokenizer"])}
        case 6:
            return {"type": "CharDelimiterSplit", "delimiter": chance.choice([" ", "b", _SPACE])}
        case _:
            scheme = chance.choice(["always", "first", "never"])
            return {
                "type": "Metaspace",
                "replacement": _SPACE,
                "prepend_scheme": scheme,
                "split": _yes(chance),
            }


def _decoder(chance: random.Random) -> dict[str, Any]:
    match chance.randrange(8):
        case 0 | 1:
            return {"type": "ByteFallback"}
        case 2:
            return {"type": "Fuse"}
        case 3 | 4:
            new = chance.choice([" ", "", "ab"])
            return {"type": "Replace", "pattern": {"String": chance.choice(_STRINGS)}, "content": new}
        case 5:
            start, stop = chance.randrange(3), chance.randrange(3)
            return {
                "type": "Strip",
                "content": chance.choice([" ", _SPACE, "a"]),
                "start": start,
                "stop": stop,
            }
        case 6:
            scheme = chance.choice(["always", "first", "never"])
            return {
                "type": "Metaspace",
                "replacement": _SPACE,
                "prepend_scheme": scheme,
                "split": _yes(chance),
            }
        case _:
            return {"type": "BPEDecoder", "suffix": "</w>"}


def _sequence(chance: random.Random, key: str, make: Callable[[random.Random], Any], *last: Any) -> Any:
    """Return some steps: none, one, or more in Sequences that may be nested."""
    steps = [make(chance) for _ in range(chance.choice([0, 1, 1, 2, 3]))] + [*last]
    if len(steps) > 2 and _yes(chance):
        steps = [steps[0], {"type": "Sequence", key: steps[1:]}]
    if len(steps) < 2:
        return steps[0] if steps else None
    return {"type": "Sequence", key: steps}


def document(chance: random.Random) -> dict[str, Any]:
    """Return a ``tokenizer.json`` by chance."""
    from bpe.vocabulary.byte_level import text_of

    is_text = chance.random() < 0.6
    suffix = "</w>" if chance.random() < 0.15 else ""
    has_bytes = is_text and not suffix and _yes(chance)
    characters = sorted({*"".join(_PARTS), "b"})
    letters = chance.sample(characters, chance.randint(5, len(characters))) if is_text else []
    letters = letters or [text_of(bytes([value])) for value in range(256)]
    tokens = ["<s>", "</s>", "<x>", *(_BYTES if has_bytes else []), *letters]
    tokens += [letter + suffix for letter in letters if suffix]
    parts = letters if is_text else [*"abx12A", *map(text_of, (b" ", b"\xc3", b"\xa9", b"\n"))]
    parts, merges = [*parts], []
    for _ in range(chance.randrange(25)):
        pair = [chance.choice(parts), chance.choice(parts)]
        if suffix and _yes(chance):
            pair[1] += suffix
        if pair[1] in tokens and pair not in merges:
            merges.append(pair)
            tokens += [] if "".join(pair) in tokens else ["".join(pair)]
            parts += [] if pair[1].endswith(suffix or "\0") else ["".join(pair)]
    vocab = {token: number for number, token in enumerate(tokens)}
    others = [
        each for each in chance.sample([" <y>", "ab", "a b", "é", "A", "\n", "12"], 3) if each not in vocab
    ]
    added = [
        {"id": number, "content": content, "special": _yes(chance)}
        | {name: chance.random() < 0.25 for name in _FLAGS}
        for number, content in [*enumerate(tokens[:3]), *enumerate(others, len(vocab))]
    ]
    return {
        "version": "1.0",
        "added_tokens": added,
        "normalizer": _sequence(chance, "normalizers", _normalizer),
        "pre_tokenizer": _sequence(
            chance, "pretokenizers", _pre_tokenizer, *([] if is_text else [_byte_level(chance)])
        ),
        "post_processor": None,
        "decoder": _sequence(chance, "decoders", _decoder) if is_text else {**_byte_level(chance)},
        "model": {
            "type": "BPE",
            "vocab": vocab,
            "merges": merges,
            "unk_token": chance.choice(["<x>", tokens[-1]]) if chance.random() < 0.9 else None,
            "fuse_unk": _yes(chance),
            "byte_fallback": has_bytes,
            "end_of_word_suffix": suffix or None,
            "ignore_merges": not suffix and not any(t["single_word"] or t["normalized"] for t in added),
        },
    }


def is_unclear(given: dict[str, Any], normalizer: Any) -> bool:
    """Return whether ``tokenizers`` does what nobody intends.

    It takes any of several tokens that are normalized alike, and finds a token that becomes empty
    everywhere. With ``ignore_merges`` it takes a piece for a special token, or looks for no suffix:
    :func:`document` makes no such model.
    """
    contents = [token["content"] for token in given["added_tokens"] if token["normalized"]]
    found = [normalizer.normalize_str(content) for content in contents] if normalizer else contents
    return "" in found or len({*found}) < len(found)


def _panics(call: Callable[[], Any]) -> Any:
    """Return a result of ``tokenizers``; None if it panics, which is not an Exception."""
    try:
        return call()
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        return None


def run(chance: random.Random, note: Callable[[str], object]) -> None:
    """Compare a tokenizer with ``tokenizers``, and its streams with itself."""
    import tokenizers

    given = document(chance)
    note(json.dumps({key: value for key, value in given.items() if key != "model"}, ensure_ascii=False))
    note(json.dumps({key: value for key, value in given["model"].items() if key != "vocab"}))
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        path = Path(folder, "tokenizer.json")
        path.write_text(json.dumps(given))
        peer = tokenizers.Tokenizer.from_file(str(path))
        if is_unclear(given, peer.normalizer):
            return
        try:
            tok = bpe.Tokenizer.from_huggingface(path)
        except ValueError as error:
            assert "makes a text longer" in str(error)  # noqa: PT017
            return
        tok.save(Path(folder, "tok.json"))
        assert bpe.Tokenizer.load(Path(folder, "tok.json")) == tok
        tok.save_huggingface(Path(folder, "again.hf.json"))
        written = tokenizers.Tokenizer.from_file(str(Path(folder, "again.hf.json")))
        assert json.loads(written.to_str()) == json.loads(peer.to_str())
        for _ in range(N_TEXTS):
            parts = [*_PARTS, " ", " ", *(token["content"] for token in given["added_tokens"])]
            text = "".join(chance.choices(parts, k=chance.randrange(30)))
            note(f"text = {text!a}")
            check(tok, peer, text, chance)


def check(tok: bpe.Tokenizer, peer: Any, text: str, chance: random.Random) -> None:
    """Compare all that is done with a text."""
    options: dict[str, Any] = {"allowed_special": "all"}
    try:
        ids, starts, ends = tok.encode_with_offsets(text, **options)
    except ValueError as error:
        assert "no token of the vocabulary stands for" in str(error)  # noqa: PT017
        return
    numbers = ids.tolist()
    wanted = _panics(lambda: peer.encode(text))
    if wanted is not None:
        assert numbers == wanted.ids
        assert list(zip(starts.tolist(), ends.tolist(), strict=True)) == wanted.offsets
        for skips in (False, True):
            told = _panics(lambda skips=skips: peer.decode(numbers, skip_special_tokens=skips))  # type: ignore[misc]
            assert told is None or tok.decode(numbers, skip_special_tokens=skips) == told
    assert tok.encode(text, **options) == numbers
    assert tok.encode_batch([text, text], **options) == [numbers] * 2
    assert tok.count(text, 3, **options) == min(len(numbers), 4)
    data = text.encode()
    stream = tok.stream_encoder(**options)
    found: list[int] = []
    for part in chance.choice([texts.cut(chance, text), texts.cut(chance, data), [*text]]):
        found += stream.feed(part)
        assert found == numbers[: len(found)]
    assert found + stream.finish() == numbers
    decoder = tok.stream_decoder()
    assert "".join([*map(decoder.feed, numbers), decoder.finish()]) == tok.decode(numbers)
    most = chance.randrange(len(numbers) + 2)
    shorter = tok.truncate(text, most, **options)
    assert text.startswith(shorter)
    again = tok.encode(shorter, **options)
    assert len(again) <= most
    assert again == numbers[: len(again)]
