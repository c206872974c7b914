r"""``PipelineEngine``: an engine that does something to a text before it merges.

::

    given         Cafe\u0301 <end> cat           characters
    cut           Cafe\u0301 |<end>| cat         at added tokens that are not normalized
    normalized    Café |<end>| cat
    cut           Café |<end>| cat              at added tokens that are normalized
    words         Café| |<end>| cat             by the pattern, or by a pre-tokenizer
    ids           505 32 2 1505

Bytes that are not UTF-8 are U+FFFD here, as steps are made for characters. Where tokens are texts, a word may
be as long as the text: it is cut where no token crosses (:mod:`bpe.pipeline.cuts`).
"""

from __future__ import annotations

import codecs
import functools
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, Any, AnyStr, Literal, NamedTuple

import numpy as np

from bpe.corpus import Corpus, CorpusLike
from bpe.encoding.appendable import first_ids
from bpe.encoding.decoding import checked_ids
from bpe.encoding.engine import Engine, SpecialEncoder, put_around
from bpe.encoding.offsets import encode_with_offsets
from bpe.encoding.streams import Begins, PartDecoder
from bpe.encoding.symbols import BYTES, END
from bpe.pipeline.added_tokens import AddedTokens, two_searches
from bpe.pipeline.decoders import DecoderStream, DecoderTable
from bpe.pipeline.normalizers import BOUNDARY
from bpe.pipeline.post_processors import PostProcessor
from bpe.pipeline.pre_tokenizers import TrackedPieces, encoded
from bpe.pipeline.preparation import Preparation
from bpe.pipeline.text_changes import check_size, most_of
from bpe.pipeline.tracked import Tracked
from bpe.splitting.pattern import Pattern
from bpe.splitting.regex_engine import shared_deadline
from bpe.splitting.special_search import search_for
from bpe.splitting.specials import Around, Rules, Specials
from bpe.support.text import begins_character, ends_of, is_between_characters, utf8_of
from bpe.support.threads import made_lazily, made_under_lock
from bpe.vocabulary.byte_level import text_of
from bpe.vocabulary.extras import from_text
from bpe.vocabulary.parts import Packed, packed, unpacked
from bpe.vocabulary.vocabulary import Vocabulary

if TYPE_CHECKING:
    from bpe.encoding.encoder import Encoder
    from bpe.encoding.kernels.merge_heap import Merger
    from bpe.pipeline.cuts import CrossedPairs, PipelineCuts


def engine_of(vocabulary: Vocabulary, pattern: Pattern) -> Engine:
    """Return the engine of a vocabulary, which does to a text what the file says that it came from."""
    preparation = Preparation.of(vocabulary)
    if preparation is not None:
        return PipelineEngine(vocabulary, pattern, preparation)
    return FileEngine(vocabulary, pattern) if vocabulary.extras else Engine(vocabulary, pattern)


def has_pipeline(vocabulary: Vocabulary) -> bool:
    """Return whether a tokenizer.json gave this vocabulary steps that change a text."""
    return Preparation.of(vocabulary) is not None


class FileEngine(Engine):
    """The engine of a tokenizer.json that only cuts a text, and may put ids around its own."""

    def __reduce__(self) -> Any:
        return _unpacked, (packed(self.vocabulary), self.pattern, self.allowed_special)

    @made_lazily
    def around(self) -> Around:
        """Return what ``add_special_tokens`` puts before and after the ids of a text."""
        post = PostProcessor.of(self._post_processor_entry())
        return post.before, post.after

    def _post_processor_entry(self) -> Any:
        return from_text(self.vocabulary.extras)["document"].get("post_processor")

    def comparable_around(self) -> Any:
        """Return what is put around ids, or the entry where it cannot be read."""
        try:
            return self.around
        except ValueError:
            return self._post_processor_entry()


class _Cut(NamedTuple):
    """What texts are cut into: words, and tokens between them."""

    data: bytes | np.ndarray  # all words, concatenated
    ends: np.ndarray  # where each of them ends
    tokens: np.ndarray  # the ids of tokens that are cut out
    n_before: np.ndarray  # how many words are before each of them
    n_words: np.ndarray  # how many words are before the end of each text; 0 first
    n_tokens: np.ndarray  # how many tokens


class _Found(NamedTuple):
    """What one text after the other is cut into."""

    words: list[bytes]
    tokens: list[int]
    n_before: list[int]
    ends: list[tuple[int, int]]  # how many words, and how many tokens, are before the end of each text

    def cut(self) -> _Cut:
        tokens, n_before = np.array(self.tokens, np.uint32), np.array(self.n_before, np.int64)
        counts = np.array([(0, 0), *self.ends], np.int64).T
        return _Cut(b"".join(self.words), ends_of(self.words), tokens, n_before, *counts)


class PipelineEngine(FileEngine):
    """Encodes bytes and decodes ids, as :class:`Engine` does, by the steps of a tokenizer.json."""

    is_lossless = False
    small = 256
    rest_begins = Begins.INSIDE
    piece_automaton = None

    def __init__(self, vocabulary: Vocabulary, pattern: Pattern, preparation: Preparation) -> None:
        super().__init__(vocabulary, pattern)
        self.preparation = preparation
        self.options, self.splits_by_pattern = preparation.options, preparation.pre_tokenizer is None
        self.joins_bytes = preparation.decoder is None  # else a decoder makes text of the texts of tokens
        self._searches = functools.lru_cache(maxsize=8)(self._searches_for)
        self._ids_of = functools.lru_cache(maxsize=8)(self._numbered_ids)

    @property
    def changes_texts(self) -> Literal["never", "to a form", "otherwise"]:  # type: ignore[override]
        """Return whether texts are changed, and only to a normal form of Unicode."""
        is_form = self.splits_by_pattern and self.joins_bytes and self.options == BYTES
        return "to a form" if is_form and self.preparation.normalizer.is_form else "otherwise"

    @made_under_lock
    def encoder(self) -> Encoder:
        """Return the encoder of words; it loads the compiler, which decoding does not need."""
        from bpe.encoding.encoder import Encoder

        return Encoder(self.vocabulary, self.pattern, self.options)

    @property
    def merger(self) -> Merger:
        """Raise, as dropout is only for tokenizers that do nothing to a text but split it."""
        raise ValueError("dropout is only for tokenizers that do nothing to a text but split it")

    @made_lazily
    def _crossed_pairs(self) -> CrossedPairs | None:
        """Where long words are not cut; None if no word is cut."""
        from bpe.pipeline.cuts import CrossedPairs

        options, vocabulary = self.options, self.vocabulary
        if not options.is_text or options.suffix or vocabulary.atomic_ids:
            return None
        return CrossedPairs(token.decode(errors="replace") for token in vocabulary.id_of)

    @made_lazily
    def _cuts(self) -> PipelineCuts:
        """Where texts can be cut; it loads the compiler."""
        from bpe.pipeline.cuts import PipelineCuts

        return PipelineCuts(self.preparation, self.pattern, self.vocabulary, self._crossed_pairs)

    def _searches_for(self, tokens: frozenset[str]) -> tuple[AddedTokens, AddedTokens]:
        steps = self.preparation
        passed = steps.passed - tokens
        sought = (token for token in steps.added if token.content in tokens | passed)
        return two_searches(sought, steps.normalizer, passed)

    def _numbered_ids(self, tokens: frozenset[str]) -> np.ndarray:
        """Return the ids of tokens by their numbers in the search for them."""
        return np.array([self.special_ids[token] for token in search_for(tokens).encoded], np.uint32)

    def __eq__(self, other: object) -> bool:
        same = super().__eq__(other)
        return same and isinstance(other, PipelineEngine) and self.preparation == other.preparation

    __hash__ = Engine.__hash__

    # ------------------------------------------------------------------------------------------ encoding
    def encoder_for(
        self,
        data: bytes | bytearray | np.ndarray,
        rules: Rules,
        given: str | bytes = b"",
        what: str = "text",
        begins: Begins = Begins.TEXT,
    ) -> SpecialEncoder:
        """Return what encodes any text by some rules; as that of :class:`Engine`."""
        rules.refuse(given, what)
        return SpecialEncoder(self, rules, begins)

    def encode_special(
        self, texts: Sequence[bytes], rules: Rules, begins: Begins = Begins.TEXT
    ) -> tuple[np.ndarray, np.ndarray]:
        """Encode texts of any kind; as that of :class:`Engine`."""
        found = self._cut(texts, rules, begins)
        ids, offsets, _ = self._encode_words(found.data, found.ends)
        if len(found.tokens):
            ids = np.insert(ids, offsets[found.n_before], found.tokens)
        return put_around(ids, offsets[found.n_words] + found.n_tokens, rules.around)

    def normalized(self, corpus: CorpusLike) -> Iterator[bytes]:
        """Yield what the steps make of texts, without tokens: words, or what the pattern cuts."""
        rules = self.rules_of("all")
        for blocks in Corpus.of(corpus).documents():
            found = self._cut([b"".join(blocks)], rules, Begins.TEXT)
            words, starts = bytes(found.data), [0, *found.ends.tolist()]
            yield from (words[start:end] for start, end in pairwise(starts) if start < end)

    def _cut(self, texts: Sequence[bytes], rules: Rules, begins: Begins) -> _Cut:
        first_search, _ = self._searches(rules.allowed.tokens)
        # One that is normalized to nothing is in neither search.
        are_plain = len(first_search.token_of) == len(rules.allowed.tokens) and not first_search.has_flags
        is_plain = are_plain and begins is not Begins.INSIDE
        if is_plain and (together := self._cut_together(texts, rules)):
            return together
        found = _Found([], [], [], [])
        for data in texts:
            with shared_deadline(len(data)):
                if is_plain:
                    self._cut_plainly(data, rules, found, begins is Begins.TEXT)
                else:
                    self._cut_by_flags(data.decode(errors="replace"), rules, found, begins)
            found.ends.append((len(found.words), len(found.tokens)))
        return found.cut()

    def _cut_together(self, texts: Sequence[bytes], rules: Rules) -> _Cut | None:
        """Cut texts whose tokens have no flags, and whose segments are words; None if they may be none."""
        normalizer, step = self.preparation.normalizer, self.preparation.pre_tokenizer
        cuts = step is not None and not step.is_nothing
        needle = (step.needle or "").encode() if step is not None and cuts else b""
        if (cuts and not needle) or self.options.suffix or not normalizer.is_local:
            return None
        from bpe.pipeline.batches import segments_of  # loads the compiler

        found = segments_of(texts, rules.allowed, normalizer)
        if found is None or (needle and needle in found.data.tobytes()):
            return None
        tokens = self._ids_of(rules.allowed.tokens)[found.numbers]
        n_tokens = found.text_ends - np.arange(len(texts) + 1)
        return _Cut(found.data, found.ends, tokens, found.n_before, found.text_ends, n_tokens)

    def _cut_by_flags(self, text: str, rules: Rules, found: _Found, begins: Begins) -> None:
        """Cut a text whose tokens may have flags, or that is the rest of a segment."""
        first_search, second_search = self._searches(rules.allowed.tokens)
        normalizer, id_of = self.preparation.normalizer, self.vocabulary.cut_tokens
        n_normalized, most = 0, most_of(len(text))
        for part in first_search.split(text):
            if part.token is not None:
                found.tokens.append(id_of[part.token])
                found.n_before.append(len(found.words))
                continue
            is_rest = begins is Begins.INSIDE and part.start == 0
            normalized = (normalizer.later if is_rest else normalizer)(text[part.start : part.end])
            n_normalized += len(normalized)
            check_size(n_normalized, most)
            is_first = begins is Begins.TEXT and part.start == 0
            n_first = self._n_first(text[: part.end]) if is_first else 0
            for inner in second_search.split(normalized):
                if inner.token is not None:
                    found.tokens.append(id_of[inner.token])
                    found.n_before.append(len(found.words))
                else:
                    segment, n_left = normalized[inner.start : inner.end], max(n_first - inner.start, 0)
                    found.words.extend(self._words_of(segment, n_left, is_rest and inner.start == 0))

    def _cut_plainly(self, data: bytes, rules: Rules, found: _Found, is_text: bool) -> None:
        """Cut a text whose tokens have no flags."""
        parts = rules.allowed.split(data)
        found.tokens.extend(map(self.special_ids.__getitem__, parts[1::2]))
        words, n_normalized, most = found.words, 0, most_of(len(data.decode(errors="replace")))
        together = self._normalized_together(parts[::2])
        n_first = self._n_first(parts[0].decode(errors="replace")) if is_text else 0
        texts = self._normalized(parts[::2]) if together is None else together.split(BOUNDARY)
        for i, text in enumerate(texts):
            n_normalized += len(text)
            check_size(n_normalized, most)
            if i > 0:
                found.n_before.append(len(words))
            words += self._words_of(text, n_first if i == 0 else 0)

    def _normalized(self, texts: list[bytes]) -> Iterator[str]:
        """Return texts, normalized one by one."""
        return (self.preparation.normalizer(text.decode(errors="replace")) for text in texts)

    def _normalized_together(self, texts: list[bytes]) -> str | None:
        """Return texts, normalized and joined by :data:`BOUNDARY`; None if that could make a difference."""
        together = BOUNDARY.encode().join(texts)
        is_safe = self.preparation.normalizer.is_local and together.count(BOUNDARY.encode()) == len(texts) - 1
        return self.preparation.normalizer(together.decode(errors="replace")) if is_safe else None

    def _is_a_word(self, text: str) -> bool:
        """Return whether a text, and each part of it, is a single word for the pre-tokenizer."""
        step = self.preparation.pre_tokenizer
        return step is None or step.is_nothing or (step.needle is not None and step.needle not in text)

    def _n_first(self, text: str) -> int:
        """Return how many characters of what a text is normalized to came from its first one."""
        normalizer, pre_tokenizer = self.preparation.normalizer, self.preparation.pre_tokenizer
        if pre_tokenizer is None or not pre_tokenizer.minds_first or normalizer.is_nothing:
            return 1
        return int(np.count_nonzero(normalizer.tracked(Tracked.of(text)).starts == 0))

    def _words_of(self, text: str, n_first: int, is_rest: bool = False) -> list[bytes]:
        step = self.preparation.pre_tokenizer
        if step is None or self._is_a_word(text):
            return [text.encode()] if text else []
        return (step.later if is_rest else step)(text, n_first)

    def _encode_words(
        self, data: bytes | np.ndarray, ends: np.ndarray, *, measured: bool = False
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the ids of words, where those of each begin, and how many bytes each stands for.

        The last is left out, and empty, if it is not to be `measured`.
        """
        options = self.options
        if options.suffix:
            words = [bytes(data[start:end]) + END for start, end in pairwise([0, *ends.tolist()])]
            data, ends = b"".join(words), ends_of(words)
        pieces = self._pieces_of(data, ends)
        lengths = np.empty(0, np.int64)
        if measured:
            ids, offsets, lengths = self.encoder.encode_with_lengths(data, pieces, ends)
        elif pieces is None:
            ids, offsets = self.encoder.encode_segments(data, ends)
        else:
            ids, offsets = self.encoder.encode_pieces(data, pieces, ends)
        return ids, offsets, lengths

    def _pieces_of(self, data: bytes | np.ndarray, ends: np.ndarray) -> np.ndarray | None:
        """Return where the pieces of words begin, and where the last one ends; None if the pattern cuts."""
        if self.preparation.pre_tokenizer is None:
            return None
        if self._crossed_pairs is None:
            edges = np.append(0, ends)
            return edges[np.diff(edges, prepend=-1) > 0].astype(np.int32)  # no word is empty
        return self._crossed_pairs.cut(data, ends)

    # ------------------------------------------------------------------------------------------- origins
    def encode_with_origins(
        self, text: str | bytes, rules: Rules
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Encode a text; return which bytes of its UTF-8 each id came from, too. Nothing is put around."""
        data = utf8_of(text)
        rules.refuse(text)
        try:
            given = Tracked.of(data.decode())
        except UnicodeDecodeError as error:
            raise ValueError(
                f"the text is not UTF-8 at byte {error.start}, and this tokenizer changes characters: decode "
                "the text first"
            ) from None
        with shared_deadline(len(given)):
            found = self._cut_tracked(given, rules)
        pieces, tokens, n_before = list[bytes](), list[tuple[int, int, int]](), list[int]()
        places = [(np.empty(0, np.int64), np.empty(0, np.int64))]
        for part in found:
            if isinstance(part, TrackedPieces):
                pieces += part.pieces
                places.append((part.starts, part.ends))
            else:
                tokens.append(part)
                n_before.append(len(pieces))
        piece_ends = ends_of(pieces)
        ids, offsets, lengths = self._encode_words(b"".join(pieces), piece_ends, measured=True)
        # In the bytes of all pieces, which do not hold the suffix that marks the end of a piece.
        last, limits = np.cumsum(lengths), np.repeat(piece_ends, np.diff(offsets))
        skipped = np.append(0, piece_ends)[:-1] - np.append(0, last)[offsets[:-1]]
        last += np.repeat(skipped, np.diff(offsets))
        start_of, end_of = map(np.concatenate, zip(*places, strict=True))
        starts, ends = start_of[last - lengths], end_of[np.minimum(last, limits) - 1]
        token_ids, token_starts, token_ends = np.array(tokens, np.int64).reshape(-1, 3).T
        at = offsets[np.array(n_before, np.int64)]
        all_ids = np.insert(ids, at, token_ids.astype(np.uint32))
        starts, ends = np.insert(starts, at, token_starts), np.insert(ends, at, token_ends)
        byte_of = np.append(np.flatnonzero(begins_character(data)), len(data))
        return all_ids, byte_of[starts], byte_of[ends]

    def _cut_tracked(self, given: Tracked, rules: Rules) -> list[TrackedPieces | tuple[int, int, int]]:
        """Cut a text into words and tokens; those are an id, and where they begin and end."""
        found: list[TrackedPieces | tuple[int, int, int]] = []
        first_search, second_search = self._searches(rules.allowed.tokens)
        id_of = self.vocabulary.cut_tokens
        n_normalized, most = 0, most_of(len(given))
        for part in first_search.split(given.text):
            if part.token is not None:
                found.append((id_of[part.token], part.start, part.end))
                continue
            text = self.preparation.normalizer.tracked(given[part.start : part.end])
            n_normalized += len(text)
            check_size(n_normalized, most)
            for inner in second_search.split(text.text):
                segment = text[inner.start : inner.end]
                if inner.token is not None:
                    found.append((id_of[inner.token], int(segment.starts[0]), int(segment.ends[-1])))
                else:
                    is_first = len(segment) > 0 and segment.starts[0] == 0
                    found.append(self._tracked_words_of(segment, is_first))
        return found

    def _tracked_words_of(self, text: Tracked, is_first: bool) -> TrackedPieces:
        pre_tokenizer = self.preparation.pre_tokenizer
        if pre_tokenizer is not None and not pre_tokenizer.is_nothing:
            return pre_tokenizer.tracked(text, is_first)
        data, places = encoded(text.text)
        return TrackedPieces([data], text.starts[places], text.ends[places])

    # ----------------------------------------------------------------------------------- parts of texts
    def decided(
        self, data: bytes, begins: Begins, rules: Rules, *, only_inside: bool = False
    ) -> tuple[int, int, Begins]:
        """Return how far the ids of a text are known that may continue; as that of :class:`Engine`."""
        search, searches = rules.disallowed, self._searches(rules.allowed.tokens)
        # So far from the end that every disallowed token across the place is seen.
        text, _ = codecs.utf_8_decode(data[: max(len(data) - search.reach, 0)], "replace", False)
        with shared_deadline(len(text)):
            n_characters, rest_begins = self._cuts.last_cut(text, begins, searches, only_inside)
        place = len(text[:n_characters].encode())
        if "\ufffd" in text[:n_characters]:  # that of bytes which are not UTF-8 is longer than these
            place = bisect_left(range(len(data)), n_characters, key=lambda n: _n_characters(data[:n]))
            # Bytes that are not a character may only be known by the byte after them.
            place -= len(data[:place].decode(errors="replace")) != n_characters
        around = data[max(place - search.reach, 0) : place + search.reach] if search.tokens else b""
        if around and search.crossed(around)[min(place, search.reach)]:
            return 0, 0, begins
        return place, place, rest_begins

    def ordinary_cuts(self, data: bytes) -> np.ndarray:
        """Return no place: steps may look at a whole text."""
        return np.empty(0, np.int64)

    def _beginning(self, text: AnyStr, max_tokens: int, rules: Rules) -> AnyStr:
        """Return a beginning of a text that has the first ids: not the longest, if steps look far ahead.

        Origins are looked for in a longer and longer beginning, until it has these ids. A beginning may end
        inside an added token, in what no token stands for. Each try takes as long as encoding the part, so
        that the steps become larger after some.
        """
        first = first_ids(self, text, max_tokens + 1, rules)
        if len(first) <= max_tokens:
            return text
        first, size = first[:max_tokens], 8 * max_tokens
        while True:
            size = _end_of_character(text, size)
            try:
                ids, _, ends = encode_with_offsets(self, text[:size], rules)
                if size >= len(text) or np.array_equal(ids[:max_tokens], first):
                    break
            except ValueError:
                if size >= len(text):
                    raise
            size = 2 * size + 1
        n, n_tries = max_tokens, 0
        while n > 0:
            part = text[: int(ends[n - 1])]
            data = utf8_of(part)
            with suppress(ValueError):  # no token stands for the end of a part that ends inside a word
                again = self.encoder_for(data, rules, part).encode_to_numpy(data)
                if len(again) <= max_tokens and np.array_equal(again, first[: len(again)]):
                    return part
            n, n_tries = n - (1 << (n_tries >> 3)), n_tries + 1
        return text[:0]

    # ------------------------------------------------------------------------------------------ decoding
    @made_lazily
    def token_texts(self) -> dict[int, str]:
        """Return the text of each id, as a decoder takes it."""
        vocabulary, steps = self.vocabulary, self.preparation
        spelled = bytes.decode if steps.options.is_text else text_of
        texts = {token_id: spelled(token) for token, token_id in vocabulary.id_of.items()}
        whole = {**vocabulary.idle_tokens, **vocabulary.cut_tokens}
        texts |= {token_id: token for token, token_id in whole.items()}
        normalized = [token.content for token in steps.added if token.normalized]
        return texts | {vocabulary.cut_tokens[token]: steps.normalizer(token) for token in normalized}

    def without_special(self, ids: Iterable[int] | np.ndarray) -> list[int]:
        """Return ids without those of special tokens, which are found by their texts, as in tokenizers."""
        texts, special = self.token_texts, self.special_tokens
        return [i for i in checked_ids(self.vocabulary, ids) if texts[i] not in special]

    @made_lazily
    def _token_table(self) -> tuple[DecoderTable | None, dict[int, int]]:
        """Return the decoder's own table of tokens, if it has one, and the place of each id in it."""
        texts, decoder = self.token_texts, self.preparation.decoder
        table = None if decoder is None else decoder.table([*texts.values()])
        return table, {number: place for place, number in enumerate(texts)}

    def decode(self, ids: Iterable[int] | np.ndarray) -> bytes:
        """Return the bytes of ids: the UTF-8 of what the decoder makes of them."""
        decoder = self.preparation.decoder
        if decoder is None:
            return super().decode(ids)
        token_ids = checked_ids(self.vocabulary, ids)
        table, place_of = self._token_table
        if table is None:
            return decoder(list(map(self.token_texts.__getitem__, token_ids))).encode()
        return table(list(map(place_of.__getitem__, token_ids))).encode()

    def decode_stretch(self, ids: Sequence[int], begins: Begins) -> bytes:
        """Return a text of ids without special ones, that gives them after what it `begins` with.

        A decoder may leave out the space that a text began with; what follows a special token may have none.
        """
        data = self.decode(ids)
        if self.joins_bytes or begins is Begins.TEXT:
            return data
        before = [next(iter(self.special_id_set))]
        after = self.decode([*before, *ids]).removeprefix(self.decode(before))
        texts = {data: None, after: None}
        encoded = (self.encode_special([text], self.ordinary_rules, begins)[0].tolist() for text in texts)
        gives = [text for text, again in zip(texts, encoded, strict=True) if again == [*ids]]
        return gives[0] if gives else data

    def encode_stretch(self, ids: Sequence[int], begins: Begins) -> np.ndarray:
        """Return the ids that the text of some ids without special ones has.

        A part of a character at the end stays as it is.
        """
        if not self.joins_bytes:
            n = self._n_of_part(ids)
            whole = super().encode_stretch(ids[: len(ids) - n], begins)
            return np.append(whole, np.array(ids[len(ids) - n :], np.uint32))
        data, rules = self.decode(ids), self.ordinary_rules
        _, n_whole = codecs.utf_8_decode(data, "replace", False)
        whole = self.encode_special([data[:n_whole]], rules, begins)[0]
        if n_whole == len(data):
            return whole
        # Without the steps, bytes are encoded as they are.
        if np.array_equal(whole, super().encode_special([data[:n_whole]], rules)[0]):
            return super().encode_special([data], rules)[0]
        return np.append(whole, super().encode_special([data[n_whole:]], rules)[0])

    def _n_of_part(self, ids: Sequence[int]) -> int:
        """Return how many of the last ids are bytes of a character that is not complete."""
        value_of = {token_id: value for value, token_id in enumerate(self.options.byte_ids)}
        data = bytes(value_of[token_id] for token_id in takewhile(value_of.__contains__, ids[:-4:-1]))[::-1]
        _, n_whole = codecs.utf_8_decode(data, "replace", False)
        return len(data) - n_whole

    def normalized_rest(self, data: bytes) -> bytes:
        """Return the rest of a segment after the normalizer; as that of :class:`Engine`."""
        return self.preparation.normalizer.later(data.decode(errors="replace")).encode()

    def decode_each(self, batch: Iterable[Iterable[int] | np.ndarray]) -> list[bytes]:
        """Return the bytes of each list of ids."""
        return super().decode_each(batch) if self.joins_bytes else [*map(self.decode, batch)]

    def part_decoder(self, errors: str) -> PartDecoder:
        """Return what decodes ids that come in parts."""
        decoder = self.preparation.decoder
        return super().part_decoder(errors) if decoder is None else _TextDecoder(self, DecoderStream(decoder))


class _TextDecoder:
    """Decodes ids that stand for texts, by a decoder."""

    def __init__(self, engine: PipelineEngine, stream: DecoderStream) -> None:
        self._engine, self._stream = engine, stream

    def decode(self, ids: Iterable[int] | np.ndarray, is_last: bool) -> str:
        """Take more ids; return the characters that no later id can change."""
        texts = self._engine.token_texts
        token_ids = checked_ids(self._engine.vocabulary, ids)
        text = self._stream.feed([texts[token_id] for token_id in token_ids])
        return text + self._stream.finish() if is_last else text


def _end_of_character(text: str | bytes, place: int) -> int:
    """Return the first place from one on that cuts no character, and no surrogate pair."""
    while place < len(text) and (
        "\ud800" <= text[place - 1 : place] < "\udc00"
        if isinstance(text, str)
        else not is_between_characters(text, place)
    ):
        place += 1
    return place


def _n_characters(data: bytes) -> int:
    """Return how many characters are complete."""
    return len(codecs.utf_8_decode(data, "replace", False)[0])


def _unpacked(parts: Packed, pattern: Pattern, allowed_special: Specials) -> Engine:
    return engine_of(unpacked(parts), pattern).allowing(allowed_special)
