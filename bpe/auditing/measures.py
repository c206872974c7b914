"""Figures of texts: bytes per token, tokens per word, and how evenly the tokens are used."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from bpe.splitting.regex_engine import lazy_regex

ALPHA = 2.5
"""The order of the Rényi entropy that best predicts how well a translation model learns."""

_WORDS = lazy_regex(r"\S+")


class TextFigures(NamedTuple):
    """The size of a text, or of several texts under one name.

    Attributes
    ----------
    name : str
    n_bytes, n_words, n_tokens : int
        Words are separated by white space.

    Examples
    --------
    >>> figures = TextFigures("letter.txt", 12, 2, 3)
    >>> figures.bytes_per_token, figures.fertility
    (4.0, 1.5)
    """

    name: str
    n_bytes: int
    n_words: int
    n_tokens: int

    @property
    def bytes_per_token(self) -> float:
        """Bytes per token."""
        return self.n_bytes / self.n_tokens if self.n_tokens else 0.0

    @property
    def fertility(self) -> float:
        """Tokens per word."""
        return self.n_tokens / self.n_words if self.n_words else 0.0


class Measuring:
    """Counts the bytes and words of documents while they are read."""

    def __init__(self, advance: Callable[[int], object] = lambda n: None) -> None:
        self.n_bytes = self.n_words = 0
        self._advance = advance

    def passing(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the blocks of a document, and count them."""
        decoder, is_inside = codecs.getincrementaldecoder("utf-8")("replace"), False
        for block in blocks:
            self.n_bytes += len(block)
            text = decoder.decode(block)
            if text:
                self.n_words += sum(1 for _ in _WORDS().finditer(text))
                self.n_words -= is_inside and not text[0].isspace()
                is_inside = not text[-1].isspace()
            yield block
            self._advance(len(block))


def renyi_efficiency(uses: np.ndarray, n_tokens: int, alpha: float = ALPHA) -> float:
    """Return the Rényi efficiency of the uses of tokens: 1 if all tokens are used equally often."""
    total = int(uses.sum())
    if not total or n_tokens < 2:
        return 0.0
    entropy = np.log(((uses[uses > 0] / total) ** alpha).sum()) / (1 - alpha)
    return abs(float(entropy / np.log(n_tokens)))  # no minus before 0
