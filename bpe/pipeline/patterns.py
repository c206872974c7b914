r"""Patterns as pre-tokenizers of a ``tokenizer.json``, and the pre-tokenizers that cut like a pattern.

A pre-tokenizer can do more than a pattern: it drops parts of a text, and changes others. These cut like one:

===========================================  ==========================================================
``ByteLevel`` with ``use_regex``             the pattern "gpt2"
``ByteLevel`` without it                     bytes as characters; nothing is cut
``Split``, ``Isolated``                      its expression, as Oniguruma reads it, or its string
``Split``, ``Removed``, inverted             the same, if the matches cover every text
``Split``, ``Contiguous``                    one piece for each run of matches, not for each match
``Split``, ``MergedWith...``, of characters  one piece for each of them, with what is before or after
``Digits``, ``Punctuation``                  as a ``Split`` of their characters
``Sequence``                                 one after the other, ``ByteLevel`` last
===========================================  ==========================================================
"""

from __future__ import annotations

from typing import Any

from bpe.formats.expressions import render
from bpe.pipeline.pre_tokenizers import Cut, Operation, PreTokenizer, Put, Step, WriteBytes
from bpe.pipeline.splits import Split
from bpe.splitting.pattern import Pattern
from bpe.splitting.regex_engine import check_expressions

_HINT = "bpe splits by patterns only: train a new tokenizer with one (--pattern)"


def pre_tokenizer_of(pattern: Pattern) -> dict[str, Any]:
    """Return the pre-tokenizer of a pattern, as written in a ``tokenizer.json``."""
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
    """Return the pattern of a pre-tokenizer with ``ByteLevel``."""
    read = PreTokenizer.of(pre_tokenizer)
    pattern = _pattern(read)
    if not read.is_byte_level:
        raise ValueError(
            "pre_tokenizer has no ByteLevel: its tokens are characters, and those of bpe are bytes"
        )
    return pattern


def pattern_like(pre_tokenizer: PreTokenizer) -> Pattern | None:
    r"""Return the pattern that cuts every text like a pre-tokenizer."""
    try:
        return _pattern(pre_tokenizer)
    except ValueError:
        return None


def _pattern(pre_tokenizer: PreTokenizer) -> Pattern:
    """Return the pattern that cuts like a pre-tokenizer; raise if there is none."""
    sources: list[str] = []
    last: Step | None = None
    for step in pre_tokenizer.steps:
        if last and last.type == "ByteLevel":
            raise ValueError(f"{step.where} comes after ByteLevel, which leaves bytes, not text. {_HINT}")
        sources += [source for operation in step.operations for source in _sources(operation, step)]
        last = step
    check_expressions(sources)
    return Pattern.of(sources or "none")


def _sources(operation: Operation, step: Step) -> list[str]:
    """Return the expressions that cut as an operation does."""
    match operation:
        case WriteBytes():
            return []
        case Put() if step.type == "ByteLevel":
            raise ValueError(
                f"{step.where}: add_prefix_space puts a space before every text, which bpe never does. "
                "Set it to false, and put the space into the text"
            )
        case Cut(split) if step.type in ("ByteLevel", "Split", "Punctuation", "Digits"):
            if source := source_like(split):
                return [source]
            raise ValueError(
                f"{step.where}: {step.type} with behavior {split.behavior!r}"
                f"{' and invert' if split.invert else ''} is no pattern: it does not keep every piece as it "
                f"is. {_HINT}"
            )
    raise ValueError(f"{step.where}: {step.type!r} is no pattern. {_HINT}")


def source_like(split: Split) -> str:
    """Return the expression that cuts every text like a split; empty if there is none."""
    source = split.source
    match split.rule:
        case "Isolated" | "Contiguous":
            return source
        case "Kept" if _covers(source):
            return source
        case "MergedWithPrevious" if _is_one_character(source):
            return f"{_but(source)}*{source}|{_but(source)}+"
        case "MergedWithNext" if _is_one_character(source):
            return f"{source}{_but(source)}*|{_but(source)}+"
    return ""


def _but(source: str) -> str:
    """Return an expression of the characters that another one of one character does not match."""
    return rf"(?:(?!{source})[\s\S])"


def _is_one_character(source: str) -> bool:
    """Whether each match of an expression is one character, and depends on no other."""
    from bpe.splitting.compiled.syntax import Chars, UnsupportedError, parse

    try:
        return isinstance(parse(source), Chars)
    except UnsupportedError:
        return False


def _covers(source: str) -> bool:
    """Whether it is certain that the matches of an expression cover every text."""
    from bpe.splitting.compiled.automaton import compile_automaton
    from bpe.splitting.compiled.syntax import UnsupportedError

    try:
        return compile_automaton(source).covers
    except UnsupportedError:
        return False
