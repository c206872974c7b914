"""Decoding tokens that come one after the other: all text comes out that no later token can change.

What is held back, until it is certain:

* bytes at the end that begin a character
* a run of byte tokens at the end: one more can make all of it U+FFFD
* the last token, where the decoder treats it in another way
* everything, where a step looks at the whole text, as CTC does, or a Strip at its end
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence

from bpe.pipeline.decoder_steps import (
    ByteFallback,
    ByteLevel,
    PieceBytes,
    Strip,
    byte_level_of,
    byte_of,
    bytes_of_piece,
    unescaped,
)
from bpe.pipeline.decoders import Decoder


class DecoderStream:
    """Decodes the texts of tokens that come one after the other."""

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder
        tail = decoder.tail[0] if len(decoder.tail) == 1 else None
        self._strip = tail if isinstance(tail, Strip) and not tail.stop else None
        self.is_incremental = decoder.has_table and (not decoder.tail or self._strip is not None)
        self._minds_last = any(step.minds_last for step in decoder.head)
        self._while_empty = any(step.while_empty for step in decoder.head)
        self._is_pieces = decoder.join == (PieceBytes(),)
        self._begin()

    def _begin(self) -> None:
        self._held: list[str] = []  # tokens that are not decoded
        self._is_first = True
        self._run: list[str] = []  # byte tokens, after the head of the decoder
        errors = "surrogateescape" if self._is_pieces else "replace"
        self._utf8 = codecs.getincrementaldecoder("utf-8")(errors)
        self._n_to_strip = self._strip.start if self._strip else 0

    def feed(self, tokens: Sequence[str]) -> str:
        """Take more tokens; return the text that is certain now."""
        given = [*self._held, *tokens]
        n_certain = max(0, len(given) - self._minds_last) if self.is_incremental else 0
        text = self._text(given[:n_certain], False) if n_certain else ""
        self._held = given[n_certain:]
        return text

    def finish(self) -> str:
        """Return the rest of the text, and begin a new one."""
        text = self._text(self._held, True) if self.is_incremental else self._decoder(self._held)
        self._begin()
        return text

    def _text(self, tokens: list[str], is_last: bool) -> str:
        texts = self._decoder.changed(tokens, self._is_first, is_last)
        self._is_first = self._is_first and self._while_empty and not any(texts)
        return self._stripped(self._joined(texts, is_last))

    def _joined(self, texts: list[str], is_last: bool) -> str:
        join = self._decoder.join[:1]
        if self._is_pieces:
            return unescaped(self._utf8.decode(b"".join(map(bytes_of_piece, texts)), is_last))
        if join == (ByteLevel(),):
            return self._utf8.decode(b"".join(map(byte_level_of, texts)), is_last)
        if join == (ByteFallback(),):
            n_certain = len(texts)
            while not is_last and n_certain and byte_of(texts[n_certain - 1]) is not None:
                n_certain -= 1
            certain, rest = texts[:n_certain], texts[n_certain:]
            if certain or is_last:
                certain, self._run = self._run + certain, []
            self._run += rest
            texts = ByteFallback()(certain)
        return "".join(texts)

    def _stripped(self, text: str) -> str:
        """Return the text without what is stripped where all of it begins."""
        if not self._strip or not self._n_to_strip:
            return text
        n = min(self._n_to_strip, len(text) - len(text.lstrip(self._strip.content)))
        self._n_to_strip = self._n_to_strip - n if n == len(text) else 0
        return text[n:]
