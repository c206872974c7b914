"""Decoders: from the texts of tokens, as ``model.vocab`` has them, to the text that they stand for.

A decoder is a list of steps (:mod:`bpe.pipeline.decoder_steps`), which the slow way takes one by one. Most
decoders are of this shape::

    steps that change each token    one that joins                    steps that change the text
    Replace                         ByteFallback and Fuse, ByteLevel  Strip
    ------------- head ------------ ------------- join -------------- ---------- tail ----------

Then the bytes of every token are made in advance, and decoding is to join them (:class:`DecoderTable`). This
is right for byte tokens, too: all bytes together are UTF-8 where each run of byte tokens is, because every
other token ends with the end of a character. Where they are not, the slow way says what becomes of the run.

Of tokens that come one after the other (:class:`DecoderStream`), all text comes out that no later token can
change. Held back, until it is certain, are:

* bytes at the end that begin a character
* a run of byte tokens at the end: one more can make all of it U+FFFD
* the last token, where the decoder treats it in another way
* everything, where a step looks at the whole text, as CTC does, or a Strip at its end
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from math import prod
from typing import Any

from bpe.pipeline.decoder_steps import (
    READERS,
    ByteFallback,
    ByteLevel,
    EachToken,
    Fuse,
    PieceBytes,
    Spaced,
    Step,
    Strip,
    byte_level_of,
    byte_of,
    bytes_of_piece,
    unescaped,
)
from bpe.pipeline.entries import FromEntry, flattened, unknown

MAX_GROWTH = 1000
"""How many times as long as its tokens a text may become."""

_JOINS = ((), (Fuse(),), (ByteLevel(),), (ByteFallback(), Fuse()), (PieceBytes(),))


class Decoder(FromEntry):
    """Makes text of the texts of tokens; make one with :meth:`of`.

    Known are ``BPEDecoder``, ``ByteFallback``, ``ByteLevel``, ``CTC``, ``Fuse``, ``Metaspace``, ``Replace``,
    ``Strip``, ``WordPiece``, ``Sequence``. No decoder, None, puts a space between tokens. ``tokenizers``
    fails where ``Strip`` has nothing left to drop; this does not.
    """

    def __init__(self, entry: Any, where: str) -> None:
        super().__init__(entry, where)
        steps: list[Step] = []
        for place, step in flattened(entry, where, "decoders"):
            if step["type"] not in READERS:
                raise unknown(step, place, READERS)
            steps.append(READERS[step["type"]](step, place))
        if prod(step.growth for step in steps) > MAX_GROWTH:
            raise ValueError(
                f"{where} may make a text more than {MAX_GROWTH} times as long as its tokens: "
                "its steps put in too much"
            )
        if entry is None:
            steps.append(Spaced())
        self.is_nothing = not steps
        self.is_byte_level = steps == [ByteLevel()]
        self._steps = tuple(steps)
        self._take_apart()

    def _take_apart(self) -> None:
        """Set head, join and tail."""
        steps = self._steps
        n_head = next((i for i, step in enumerate(steps) if not isinstance(step, EachToken)), len(steps))
        self.head = tuple(step for step in steps[:n_head] if isinstance(step, EachToken))
        rest = steps[n_head:]
        n_join = 2 if rest[:1] == (ByteFallback(),) else 1
        self.join, self.tail = rest[:n_join], rest[n_join:]
        # After ByteFallback alone, there are still several tokens.
        self.has_table = self.join in _JOINS or (self.join == (ByteFallback(),) and not self.tail)

    @classmethod
    def of(cls, entry: Any, where: str = "decoder") -> Decoder:
        """Read a decoder."""
        return cls(entry, where)

    def __call__(self, tokens: Sequence[str]) -> str:
        """Return the text of tokens."""
        texts = [*tokens]
        for step in self._steps:
            texts = step(texts)
        return "".join(texts)

    def changed(self, tokens: list[str], is_first: bool, is_last: bool) -> list[str]:
        """Return the texts of tokens that follow each other, after the head."""
        for step in self.head:
            tokens = step.change_all(tokens, is_first, is_last)
        return tokens

    def finished(self, text: str) -> str:
        """Return the joined text after the tail."""
        texts = [text]
        for step in self.tail:
            texts = step(texts)
        return "".join(texts)

    def table(self, tokens: Sequence[str]) -> DecoderTable | None:
        """Return a faster way for the tokens of a vocabulary, or None if there is none."""
        return DecoderTable(self, tokens) if self.has_table else None


class DecoderTable:
    """The bytes of all tokens, which decoding joins; made by :meth:`Decoder.table`."""

    def __init__(self, decoder: Decoder, tokens: Sequence[str]) -> None:
        self._decoder, self._tokens = decoder, [*tokens]
        self._has_byte_tokens = decoder.join[:1] in ((ByteFallback(),), (PieceBytes(),))
        self._is_byte_level = decoder.join == (ByteLevel(),)
        self.minds_first = any(step.minds_first for step in decoder.head)
        self.minds_last = any(step.minds_last for step in decoder.head)
        self._while_empty = any(step.while_empty for step in decoder.head)
        self.pieces = [*map(self._bytes_of, decoder.changed(self._tokens, False, False))]

    def _bytes_of(self, text: str) -> bytes:
        """Return the bytes of a text as the join takes them."""
        if self._is_byte_level:
            return byte_level_of(text)
        return bytes_of_piece(text) if self._has_byte_tokens else text.encode()

    def piece(self, number: int, is_first: bool, is_last: bool) -> bytes:
        """Return the bytes of a token at a place of a text."""
        if not (is_first and self.minds_first) and not (is_last and self.minds_last):
            return self.pieces[number]
        return self._bytes_of(*self._decoder.changed([self._tokens[number]], is_first, is_last))

    def __call__(self, numbers: Sequence[int]) -> str:
        """Return the text of tokens."""
        parts = [self.pieces[number] for number in numbers]
        if parts:
            parts[0] = self.piece(numbers[0], True, len(parts) == 1)
            parts[-1] = self.piece(numbers[-1], len(parts) == 1, True)
        if self._while_empty:
            for i in range(1, len(parts)):
                if parts[i - 1]:
                    break
                parts[i] = self.piece(numbers[i], True, i == len(parts) - 1)
        data = b"".join(parts)
        try:
            text = data.decode(errors="replace" if self._is_byte_level else "strict")
        except UnicodeDecodeError:  # runs of byte tokens that are not UTF-8
            return self._decoder([self._tokens[number] for number in numbers])
        return self._decoder.finished(text)


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
        self._held += tokens
        n_certain = len(self._held) - self._minds_last if self.is_incremental else 0
        if n_certain <= 0:
            return ""
        certain, self._held = self._held[:n_certain], self._held[n_certain:]
        return self._text(certain, False)

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
