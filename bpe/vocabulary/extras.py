"""Extras: what a ``tokenizer.json`` holds besides vocabulary and pattern, kept to be written back.

Post-processor, decoder, truncation, padding, the flags of added tokens, unknown entries: none of these
changes the ids of a text here, but other programs that read the file use them. So everything that differs
from the defaults of :mod:`bpe.formats.huggingface` is kept, as one JSON text (``Vocabulary.extras``)::

    {"document": {"post_processor": {...}},         entries of the file
     "model": {"unk_token": "<unk>"},               entries of its model
     "added_tokens": {"<think>": {"normalized": true}},
     "outside": ["<think>"],                        tokens that are not in model.vocab
     "decoder": {...},                              used here instead of the decoder of the file
     "files": {"tokenizer_config.json": {...}}}     of its folder (bpe.formats.model_folder)

Native files and pickles hold the extras, too. Other formats cannot: :func:`warn_lost` warns about it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from bpe.support.json_text import need
from bpe.support.warning import warn

_DEEPEST = 100
_PARTS = {
    "document": dict,
    "model": dict,
    "added_tokens": dict,
    "outside": list,
    "decoder": dict,
    "files": dict,
}

FILES: dict[str, type[Any]] = {
    "tokenizer_config.json": dict,
    "special_tokens_map.json": dict,
    "chat_template.jinja": str,
}
"""The files of a folder that are kept, and the types of their content."""

_NAMES: dict[type[Any], str] = {dict: "an object", str: "a text"}

MAX_FILES = 1 << 24
"""How many bytes they may have, all together."""

ROLES = ("bos", "eos", "unk", "sep", "pad", "cls", "mask")
"""What special tokens are for in transformers; those files have keys such as ``eos_token``."""


def to_text(parts: Mapping[str, Any]) -> str:
    """Check the parts of extras, and return them as one text, which is empty if there are none."""
    for key, value in parts.items():
        need(key in _PARTS and isinstance(value, _PARTS.get(key, ())), f"{key!r:.80} is not a known part")
    for token, flags in parts.get("added_tokens", {}).items():
        need(isinstance(flags, dict), f"the flags of {token!r:.80} are not an object")
    are_tokens = all(isinstance(token, str) for token in parts.get("outside", ()))
    need(are_tokens, '"outside" is not a list of tokens')
    for name, content in parts.get("files", {}).items():
        need(name in FILES, f"{name!r:.80} is not a known file")
        need(isinstance(content, FILES[name]), f"the content of {name} is not {_NAMES[FILES[name]]}")
    _check_depth(parts, _DEEPEST)
    full = {key: value for key, value in parts.items() if value}
    try:
        text = json.dumps(full, sort_keys=True, ensure_ascii=False, allow_nan=False)
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"half of a surrogate pair, {error.object[error.start]!r}, which UTF-8 cannot encode"
        ) from None
    except ValueError as error:
        raise ValueError(f"a number that JSON does not have: {error}") from None
    if "files" in full:
        n_bytes = len(json.dumps(full["files"], ensure_ascii=False).encode())
        need(n_bytes <= MAX_FILES, f"{', '.join(full['files'])}: {n_bytes} bytes, more than {MAX_FILES}")
    return text if full else ""


def _check_depth(value: Any, left: int) -> None:
    need(left > 0, "nested too deeply")
    for child in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _check_depth(child, left - 1)


def from_text(extras: str) -> dict[str, Any]:
    """Return the parts of extras; the inverse of :func:`to_text`."""
    return {key: kind() for key, kind in _PARTS.items()} | (json.loads(extras) if extras else {})


def different(entries: Mapping[str, Any], usual: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries that differ from the usual ones."""
    return {
        key: value for key, value in entries.items() if key not in usual or not _is_same(value, usual[key])
    }


def _is_same(one: Any, other: Any) -> bool:
    """Compare as JSON values: False and 0 are different."""
    if type(one) is type(other) in (bool, str):  # the usual case, which is faster without JSON
        return one == other
    return one == other and json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def with_ids(extras: str, new_id: Callable[[int], int]) -> str:
    """Return extras with other ids wherever they name an id."""
    if not extras:
        return extras
    parts = from_text(extras)
    document = parts["document"]
    padding = document.get("padding")
    if isinstance(padding, dict) and type(padding.get("pad_id")) is int:
        padding["pad_id"] = new_id(padding["pad_id"])
    if "post_processor" in document:
        document["post_processor"] = _renumbered(document["post_processor"], new_id)
    config = parts["files"].get("tokenizer_config.json", {})
    if isinstance(decoder := config.get("added_tokens_decoder"), dict):
        config["added_tokens_decoder"] = {
            str(new_id(int(key))) if key.isdecimal() else key: value for key, value in decoder.items()
        }
    return to_text(parts)


def with_special(extras: str, special_tokens: Mapping[str, int]) -> str:
    """Return extras with these special tokens in ``added_tokens_decoder``, if the extras have one."""
    parts = from_text(extras)
    decoder = parts["files"].get("tokenizer_config.json", {}).get("added_tokens_decoder")
    if not isinstance(decoder, dict):
        return extras
    flags = dict.fromkeys(("lstrip", "normalized", "rstrip", "single_word"), False)
    for token, token_id in special_tokens.items():
        entry = decoder.get(str(token_id))
        if not isinstance(entry, dict) or entry.get("content") != token:
            entry = {"content": token, **flags}
        decoder[str(token_id)] = {**entry, "special": True}
    return to_text(parts)


def _renumbered(entry: Any, new_id: Callable[[int], int]) -> Any:
    """Return a post-processor with other ids in its "ids", "cls" and "sep"."""
    if isinstance(entry, list):
        return [_renumbered(each, new_id) for each in entry]
    if not isinstance(entry, dict):
        return entry
    return {
        key: [new_id(each) if type(each) is int else each for each in value]
        if key in ("ids", "cls", "sep") and isinstance(value, list)
        else _renumbered(value, new_id)
        for key, value in entry.items()
    }


def ids_in(extras: str) -> set[int]:
    """Return the ids that extras name, such as those of a post-processor and of padding."""
    found: set[int] = set()

    def collect(token_id: int) -> int:
        found.add(token_id)
        return token_id

    with_ids(extras, collect)
    return found


def without_ids(extras: str) -> str:
    """Return the extras that are still right after ids have changed; warn about the others."""
    parts = from_text(extras)
    names = [key for key in ("padding", "post_processor") if parts["document"].pop(key, None) is not None]
    config = parts["files"].get("tokenizer_config.json", {})
    names += [key for key in ("added_tokens_decoder",) if config.pop(key, None) is not None]
    if not names:
        return extras
    warn(
        f"{' and '.join(names)} of the tokenizer.json left out: ids of special tokens in them change",
    )
    return to_text(parts)


def warn_lost(extras: str, what: str) -> None:
    """Warn about the extras, by name, that a format cannot hold."""
    parts = from_text(extras)
    # ignore_merges is known from atomic_ids, which a format that cannot hold them refuses.
    names = [*parts["document"], *(f"model.{key}" for key in parts["model"] if key != "ignore_merges")]
    names += [f"{' and '.join(flags)} of {token!r:.50}" for token, flags in parts["added_tokens"].items()]
    names += parts["files"]
    if names:
        more = f" and {len(names) - 10} more" if len(names) > 10 else ""
        warn(
            f"{what} does not hold all of the tokenizer.json; left out: {', '.join(names[:10])}{more}",
        )
