r"""Hugging Face's pre-tokenizers and their patterns.

==================================  =====================================================================
``ByteLevel`` with ``use_regex``    the pattern "gpt2"
``ByteLevel`` without it            bytes as characters; nothing is cut
``Split``, behaviour ``Isolated``   its expression, as Oniguruma reads it, or its string
``Split``, ``Removed``, inverted    the same, if the matches cover every text
``Split``, ``Contiguous``           one piece for each run of matches, not for each match
``Digits``                          ``\p{N}``, or ``\p{N}+`` without ``individual_digits``
``Punctuation``, ``Isolated``       ``[\p{P}$+<=>^`|~]``
``Sequence``                        one after the other
==================================  =====================================================================
"""

from __future__ import annotations

import re
from typing import Any

from bpe.formats.expressions import render
from bpe.pattern import PATTERNS, Pattern, translated
from bpe.regular_expressions import check_expression, check_expressions

_HINT = "bpe splits by patterns only: train a new tokenizer with one (--pattern)"
_DEEPEST = 20


def pre_tokenizer_of(pattern: Pattern) -> dict[str, Any]:
    """Return the pre-tokenizer of a pattern, as written in a ``tokenizer.json``.

    Parameters
    ----------
    pattern : Pattern

    Returns
    -------
    dict

    Raises
    ------
    ValueError
        An expression has no equivalent there.

    Complexity
    ----------
    O(n).

    Examples
    --------
    >>> pre_tokenizer_of(Pattern.of("gpt2"))["use_regex"]
    True
    >>> [step["type"] for step in pre_tokenizer_of(Pattern.of("qwen2"))["pretokenizers"]]
    ['Split', 'ByteLevel']
    """
    if pattern.name == "gpt2":
        return byte_level(use_regex=True)
    if pattern.name == "none":
        return byte_level(use_regex=False)
    splits = [
        {
            "type": "Split",
            "pattern": {"Regex": render(source, "oniguruma")},
            "behavior": "Isolated",
            "invert": False,
        }
        for source in pattern.sources
    ]
    return {"type": "Sequence", "pretokenizers": [*splits, byte_level(use_regex=False)]}


def byte_level(*, use_regex: bool) -> dict[str, Any]:
    """Return the step that writes bytes as characters and, if `use_regex`, splits as GPT-2 does."""
    return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": use_regex}


def pattern_of(pre_tokenizer: Any) -> Pattern:
    """Return the pattern of a pre-tokenizer.

    Parameters
    ----------
    pre_tokenizer : object
        The entry of a ``tokenizer.json``; may be any value.

    Returns
    -------
    Pattern

    Raises
    ------
    ValueError
        It is not a pre-tokenizer, or no pattern cuts like it; the message names it.

    Complexity
    ----------
    O(n).

    Examples
    --------
    >>> pattern_of(pre_tokenizer_of(Pattern.of("deepseek"))).name
    'deepseek'
    """
    sources: list[str] = []
    has_bytes = False
    for where, step in _steps(pre_tokenizer, "pre_tokenizer"):
        if has_bytes:
            raise ValueError(f"{where} comes after ByteLevel, which leaves bytes, not text. {_HINT}")
        try:
            sources += _sources(step, where)
        except ValueError as error:
            raise ValueError(str(error) if str(error).startswith(where) else f"{where}: {error}") from None
        check_expressions(sources)
        has_bytes = step["type"] == "ByteLevel"
    if not has_bytes:
        raise ValueError(
            "pre_tokenizer has no ByteLevel: its tokens are characters, and those of bpe are bytes"
        )
    return Pattern.of(sources or "none")


def _steps(step: Any, where: str, depth: int = 0) -> list[tuple[str, dict[str, Any]]]:
    if not isinstance(step, dict) or not isinstance(step.get("type"), str):
        raise ValueError(f"{where} is no object with a type: {step!r:.80}")
    if step["type"] != "Sequence":
        return [(where, step)]
    parts = step.get("pretokenizers")
    if not isinstance(parts, list) or depth > _DEEPEST:
        raise ValueError(f"{where} is no Sequence of pretokenizers")
    return [
        found
        for i, part in enumerate(parts)
        for found in _steps(part, f"{where}.pretokenizers[{i}]", depth + 1)
    ]


def _sources(step: dict[str, Any], where: str) -> list[str]:
    """Return the expressions of one step."""
    match step["type"]:
        case "ByteLevel":
            if step.get("add_prefix_space", True):
                raise ValueError(
                    "add_prefix_space puts a space before every text, which bpe never does. "
                    "Set it to false, and put the space into the text"
                )
            return list(Pattern.of("gpt2").sources) if step.get("use_regex", True) else []
        case "Split":
            return [_split(step)]
        case "Digits":
            return [r"\p{N}" if step.get("individual_digits") else r"\p{N}+"]
        case "Punctuation":
            if step.get("behavior", "Isolated") != "Isolated":
                raise ValueError(f"Punctuation with behavior {step['behavior']!r:.50} is no pattern. {_HINT}")
            return [r"[\p{P}$+<=>^`|~]"]
    raise ValueError(f"{where}: {step['type']!r:.50} is no pattern. {_HINT}")


def _split(step: dict[str, Any]) -> str:
    pattern, behavior, is_inverted = step.get("pattern"), step.get("behavior"), step.get("invert", False)
    if not isinstance(pattern, dict) or len(pattern) != 1 or type(is_inverted) is not bool:
        raise ValueError(f"no pattern of a Split: {pattern!r:.80}")
    ((kind, source),) = pattern.items()
    if kind not in ("Regex", "String") or not isinstance(source, str) or not source:
        raise ValueError(f"no pattern of a Split: {pattern!r:.80}")
    check_expression(source)
    source = translated(source, "oniguruma") if kind == "Regex" else re.escape(source)
    if behavior == "Isolated":
        return source
    if behavior == "Removed" and is_inverted and source in _COMPLETE:
        return source
    if behavior == "Contiguous" and not is_inverted:
        return f"(?:{source})+"
    raise ValueError(
        f"Split with behavior {behavior!r:.50}{' and invert' if is_inverted else ''} is no pattern: "
        f"it does not keep every piece as it is. {_HINT}"
    )


# These match every character.
_COMPLETE = {pattern for pattern in PATTERNS.values() if isinstance(pattern, str)}
