"""The page of a report: the template is filled in."""

from __future__ import annotations

import html
import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from bpe.pipeline.patterns import render
from bpe.report.figures import figures_of
from bpe.support.progress import Progress
from bpe.vocabulary.byte_level import text_of

if TYPE_CHECKING:
    from bpe.tokenizer import Tokenizer


def page_of(
    tokenizer: Tokenizer, data: bytes, title: str, text_name: str, progress: Progress = False
) -> bytes:
    """Return the report of a tokenizer and a text as one HTML file."""
    content = {
        "title": title,
        "text": text_name,
        "figures": figures_of(tokenizer, data, progress),
        "vocabulary": _vocabulary(tokenizer),
    }
    folder = files("bpe.report")
    page = (folder / "page.html").read_text("utf-8")
    parts = {
        "TITLE": html.escape(title),
        "STYLE": (folder / "page.css").read_text("utf-8"),
        "DATA": _inside_script(json.dumps(content, ensure_ascii=False, separators=(",", ":"))),
        "ENCODER": (folder / "encoder.js").read_text("utf-8"),
        "SCRIPT": (folder / "page.js").read_text("utf-8"),
    }
    before, *stretches = page.split("{{")
    for stretch in stretches:
        name, _, text = stretch.partition("}}")
        before += parts[name] + text
    return before.encode("utf-8", "replace")


def _vocabulary(tokenizer: Tokenizer) -> dict[str, Any]:
    """Return the data for the encoder of the page; the bytes of tokens are written as characters."""
    vocabulary = tokenizer.engine.vocabulary
    try:
        expressions: list[str] | None = [render(source, "javascript") for source in tokenizer.pattern.sources]
    except ValueError:
        expressions = None
    if vocabulary.n_super:  # the encoder of the page merges inside pieces only
        expressions = None
    return {
        "tokens": {number: text_of(token) for number, token in sorted(vocabulary.bytes_of.items())},
        "merges": [number for pair in vocabulary.merges for number in pair],
        "merged": vocabulary.merged_ids,
        "whole": {
            token: number
            for number in vocabulary.atomic_ids
            if (token := _typed(vocabulary.bytes_of[number]))
        },
        "special": vocabulary.cut_tokens,
        "pattern": expressions,
    }


def _typed(token: bytes) -> str | None:
    """Return a token as text; None if it is not valid UTF-8."""
    try:
        return token.decode()
    except UnicodeDecodeError:
        return None


def _inside_script(text: str) -> str:
    # JSON allows such escapes inside strings, and these characters occur only there.
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
