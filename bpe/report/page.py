"""The page of a report, made from a template."""

from __future__ import annotations

import html
import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from bpe.pipeline.patterns import render
from bpe.report.figures import figures_of
from bpe.support.progress import Progress
from bpe.support.text import text_or_none
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
    filled, *fields = page.split("{{")
    for field in fields:
        name, _, text = field.partition("}}")
        filled += parts[name] + text
    return filled.encode("utf-8", "replace")


def _vocabulary(tokenizer: Tokenizer) -> dict[str, Any]:
    """Return the vocabulary for the encoder of the page, with the bytes of tokens as characters of GPT-2."""
    vocabulary = tokenizer.engine.vocabulary
    try:
        expressions: list[str] | None = [render(source, "javascript") for source in tokenizer.pattern.sources]
    except ValueError:
        expressions = None
    if vocabulary.n_super:  # the encoder of the page merges inside pieces only
        expressions = None
    return {
        "tokens": {token_id: text_of(token) for token_id, token in sorted(vocabulary.bytes_of.items())},
        "merges": [token_id for pair in vocabulary.merges for token_id in pair],
        "merged": vocabulary.merged_ids,
        "whole": {
            token: token_id
            for token_id in vocabulary.atomic_ids
            if (token := text_or_none(vocabulary.bytes_of[token_id]))
        },
        "special": vocabulary.cut_tokens,
        "pattern": expressions,
    }


def _inside_script(text: str) -> str:
    # JSON allows such escapes inside strings, and these characters occur only there.
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
