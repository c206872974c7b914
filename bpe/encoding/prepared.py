r"""``PreparedEngine``: an engine that does something to a text before it merges.

::

    given         Cafe\u0301 <end> cat           characters
    cut           Cafe\u0301 |<end>| cat         at added tokens that are not normalized
    normalized    Café |<end>| cat
    cut           Café |<end>| cat              at added tokens that are normalized
    words         Café| |<end>| cat             by the pattern, or by a pre-tokenizer
    ids           505 32 2 1505

Bytes that are not UTF-8 are U+FFFD here, as steps are made for characters. Where tokens are texts, a word may
be as long as the text: it is cut where no token crosses (:mod:`bpe.encoding.crossings`).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from bpe.encoding.crossings import Crossings
from bpe.encoding.decoding import checked_ids
from bpe.encoding.encoder import Encoder
from bpe.encoding.engine import Engine, ends_of, made_once, put_around
from bpe.encoding.preparation import Preparation
from bpe.encoding.symbols import END
from bpe.formats.byte_level import text_of
from bpe.pattern import Pattern
from bpe.pipeline.added_tokens import AddedTokens, two_searches
from bpe.specials import Rules
from bpe.vocabulary import Vocabulary


class _Cut(NamedTuple):
    """What texts are cut into: words, and tokens between them."""

    words: list[bytes]
    tokens: list[int]  # the ids of tokens that are cut out
    n_before: list[int]  # how many words are before each of them
    ends: list[tuple[int, int]]  # how many words, and how many tokens, are before the end of each text


class PreparedEngine(Engine):
    """Encodes bytes and decodes ids, as :class:`Engine` does.

    Parameters
    ----------
    vocabulary : Vocabulary
    pattern : Pattern
        It cuts, unless the preparation has a pre-tokenizer.
    preparation : Preparation
    """

    is_prepared = True

    def __init__(self, vocabulary: Vocabulary, pattern: Pattern, preparation: Preparation) -> None:
        super().__init__(vocabulary, pattern)
        self.preparation = preparation
        self._searches = functools.lru_cache(maxsize=8)(self._searches_for)

    @made_once
    def encoder(self) -> Encoder:
        """Return the encoder of words."""
        return Encoder(self.vocabulary, self.pattern, self.preparation.options)

    @made_once
    def _crossings(self) -> Crossings | None:
        """Where long words are cut; None if they are not."""
        options, words = self.preparation.options, self.vocabulary
        if not options.is_text or options.suffix or words.whole_ids:
            return None
        return Crossings(token.decode(errors="replace") for token in words.id_of)

    def _searches_for(self, tokens: frozenset[str]) -> tuple[AddedTokens, AddedTokens]:
        steps = self.preparation
        return two_searches((token for token in steps.added if token.content in tokens), steps.normalizer)

    # ------------------------------------------------------------------------------------------ encoding
    def encode_special(self, texts: Sequence[bytes], rules: Rules) -> tuple[np.ndarray, np.ndarray]:
        """Encode texts of any kind; as that of :class:`Engine`."""
        found = self._cut(texts, rules)
        ids, offsets = self._encode_words(found.words)
        if found.tokens:
            places = offsets[np.array(found.n_before, np.int64)]
            ids = np.insert(ids, places, np.array(found.tokens, np.uint32))
        n_words, n_tokens = np.array([(0, 0), *found.ends], np.int64).T
        return put_around(ids, offsets[n_words] + n_tokens, rules.around)

    def _cut(self, texts: Sequence[bytes], rules: Rules) -> _Cut:
        found = _Cut([], [], [], [])
        first_search, second_search = self._searches(rules.allowed.tokens)
        normalizer, id_of = self.preparation.normalizer, self.vocabulary.cut_tokens
        for data in texts:
            if not second_search.token_of and not first_search.has_flags:
                self._cut_plainly(data, rules, found)
                continue
            text = data.decode(errors="replace")
            for part in first_search.split(text):
                if part.token is not None:
                    found.tokens.append(id_of[part.token])
                    found.n_before.append(len(found.words))
                    continue
                normalized = normalizer(text[part.start : part.end])
                for inner in second_search.split(normalized):
                    if inner.token is not None:
                        found.tokens.append(id_of[inner.token])
                        found.n_before.append(len(found.words))
                    else:
                        is_first = part.start == inner.start == 0
                        found.words.extend(self._words_of(normalized[inner.start : inner.end], is_first))
            found.ends.append((len(found.words), len(found.tokens)))
        return found

    def _cut_plainly(self, data: bytes, rules: Rules, found: _Cut) -> None:
        """Cut a text whose tokens have no flags."""
        normalizer, words = self.preparation.normalizer, found.words
        for i, part in enumerate(rules.allowed.split(data)):
            if i % 2:
                found.tokens.append(self.special_ids[part])
                found.n_before.append(len(words))
            elif part:
                words += self._words_of(normalizer(part.decode(errors="replace")), i == 0)
        found.ends.append((len(words), len(found.tokens)))

    def _words_of(self, text: str, is_first: bool) -> list[bytes]:
        pre_tokenizer = self.preparation.pre_tokenizer
        if pre_tokenizer is None or pre_tokenizer.is_nothing:
            return [text.encode()] if text else []
        return pre_tokenizer(text, is_first)

    def _encode_words(self, words: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
        """Return the ids of words, and where those of each begin."""
        options = self.preparation.options
        if options.suffix:
            words = [word + END for word in words]
        data, ends = b"".join(words), ends_of(words)
        if self.preparation.pre_tokenizer is None:
            return self.encoder.encode_segments(data, ends)
        if self._crossings is None:
            pieces = np.append(0, ends).astype(np.int32)
        else:
            pieces = self._crossings.cut(data, ends)
        ids, offsets = self.encoder.encode_pieces(data, pieces, ends)
        return _fused(ids, offsets, options.unk_id) if options.fuse_unk else (ids, offsets)

    # ------------------------------------------------------------------------------------------ decoding
    @property
    def joins_bytes(self) -> bool:
        """Whether ids are decoded to the bytes of their tokens, joined: not by a decoder of texts."""
        return self.preparation.decoder is None

    @made_once
    def token_texts(self) -> dict[int, str]:
        """Return the text of each id, as a decoder takes it."""
        if self.preparation.options.is_text:
            return {
                number: token.decode(errors="replace") for number, token in self.vocabulary.bytes_of.items()
            }
        texts = {number: text_of(token) for token, number in self.vocabulary.id_of.items()}
        return texts | {number: token for token, number in self.vocabulary.cut_tokens.items()}

    def decode(self, ids: Iterable[int] | np.ndarray) -> bytes:
        """Return the bytes of ids: the UTF-8 of what the decoder makes of them."""
        decoder = self.preparation.decoder
        if decoder is None:
            return super().decode(ids)
        numbers = checked_ids(self.vocabulary, ids)
        return decoder(list(map(self.token_texts.__getitem__, numbers))).encode()


def _fused(ids: np.ndarray, offsets: np.ndarray, unk_id: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Leave out the id of what is unknown after another one in the same word."""
    is_unknown = ids == unk_id
    if not is_unknown.any():
        return ids, offsets
    is_left_out = is_unknown.copy()
    is_left_out[1:] &= is_unknown[:-1]
    is_left_out[offsets[:-1][offsets[:-1] < len(ids)]] = False
    n_kept = np.append(0, np.cumsum(~is_left_out))
    return ids[~is_left_out], n_kept[offsets]
