"""``Engine``: the parts of a tokenizer, and what is derived from them at first use.

::

    vocabulary + pattern
       |-- encoder         bytes -> ids            bpe.encoding.plain_encoder, then joining_encoders
       |-- cutter          where to cut a text     bpe.vocabulary.supermerges
       |-- table           ids -> bytes            bpe.encoding.decoding
       |-- merger          bytes -> ids, by chance bpe.encoding.dropout
       |-- default_rules   special tokens          bpe.splitting.specials

There are two kinds with the same methods: this one, for a text that is only cut by a pattern before it is
merged, and :class:`bpe.pipeline.engine.PipelineEngine`, for the steps of a ``tokenizer.json``. The function
:func:`bpe.pipeline.engine.engine_of` chooses one for a vocabulary; nobody asks later which one it is.

The methods of :class:`bpe.Tokenizer` are a few lines each over an engine and over functions that take one: of
:mod:`bpe.encoding.batches` for many texts, of :mod:`bpe.encoding.streams` for parts of a text.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, pairwise
from operator import index
from typing import TYPE_CHECKING, Any, AnyStr, cast

import numpy as np

from bpe.encoding.decoding import TokenTable, checked_ids
from bpe.encoding.offsets import length_in
from bpe.encoding.plain_encoder import PlainEncoder
from bpe.encoding.streams import Begins, Utf8Decoder, first_ids
from bpe.encoding.symbols import BYTES, ModelOptions
from bpe.splitting.boundaries import decided
from bpe.splitting.pattern import Pattern
from bpe.splitting.special_search import search_for
from bpe.splitting.specials import (
    NO_TOKENS,
    NOTHING_AROUND,
    Around,
    Rules,
    Specials,
    as_set,
    rules_of,
)
from bpe.support.text import ends_of, is_between_characters, utf8_of
from bpe.support.threads import made_by_one, made_once
from bpe.vocabulary.parts import Packed, packed, unpacked
from bpe.vocabulary.supermerges import pattern_between, refuse_supermerges
from bpe.vocabulary.vocabulary import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable

    from typing_extensions import Self

    from bpe.corpus import CorpusLike
    from bpe.encoding.encoder import Encoder, Room
    from bpe.encoding.kernels.merge_heap import Merger
    from bpe.encoding.streams import PartDecoder
    from bpe.splitting.compiled.automaton import Automaton

_BLOCK = 1 << 20  # bytes that are looked through at once
_LONG_TAIL = 64  # bytes; for fewer, a loop is quicker than numpy


class SpecialEncoder:
    """Encodes texts that are not ordinary: that hold special tokens, or get ids around their own."""

    def __init__(self, engine: Engine, rules: Rules, begins: Begins) -> None:
        self._engine, self._rules, self._begins = engine, rules, begins

    def encode(self, data: bytes) -> list[int]:
        """Encode a text."""
        return self.encode_to_numpy(data).tolist()

    def encode_to_numpy(self, data: bytes) -> np.ndarray:
        """Encode a text to an array."""
        return self._engine.encode_special([data], self._rules, self._begins)[0]

    def count(self, data: bytes) -> int:
        """Return the number of ids of a text."""
        return len(self.encode_to_numpy(data))

    def encode_segments(
        self, data: bytes | bytearray | np.ndarray, ends: np.ndarray, room: Room | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Encode concatenated texts, each by itself."""
        row = bytes(data)
        texts = [row[start:end] for start, end in pairwise([0, *ends.tolist()])]
        return self._engine.encode_special(texts, self._rules, self._begins)


class Engine:
    """Encodes bytes and decodes ids.

    It never changes. Any number of threads may use one, and processes that fork while nothing is compiled.
    """

    is_lossless = True
    """Whether any bytes are decoded to themselves after encoding."""

    splits_by_pattern = True
    """Whether the pattern cuts texts into pieces."""

    joins_bytes = True
    """Whether ids are decoded to the bytes of their tokens, joined."""

    small = 4096
    """Bytes of a stream that are looked at every time, as that does not take long."""

    rest_begins = Begins.TEXT
    """What the rest of a text begins with, where nothing is known but its bytes."""

    options: ModelOptions = BYTES
    """What tokens stand for."""

    around: Around = NOTHING_AROUND
    """What ``add_special_tokens`` puts before and after the ids of a text."""

    allowed_special: Specials = NO_TOKENS
    """The special tokens that are allowed where a caller does not say which."""

    def __init__(self, vocabulary: Vocabulary, pattern: Pattern) -> None:
        self.vocabulary, self.pattern = vocabulary, pattern

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Engine):
            return NotImplemented
        mine, theirs = self.vocabulary, other.vocabulary
        return (
            self.pattern == other.pattern
            and np.array_equal(mine.pairs, theirs.pairs)
            and mine.special_tokens == theirs.special_tokens
            and mine.added_tokens == theirs.added_tokens
            and mine.idle_tokens == theirs.idle_tokens
            and mine.n_super == theirs.n_super
            and mine.bytes_of == theirs.bytes_of
            and mine.id_of == theirs.id_of
            and self.is_lossless == other.is_lossless
            and self._allowed_tokens() == other._allowed_tokens()
            and self._comparable_around() == other._comparable_around()
            and mine.atomic_ids == theirs.atomic_ids
        )

    def __hash__(self) -> int:
        vocabulary = self.vocabulary
        return hash((self.pattern, vocabulary.size, len(vocabulary.pairs), self.special_tokens))

    def __reduce__(self) -> Any:
        return _unpacked, (packed(self.vocabulary), self.pattern, self.allowed_special)

    def allowing(self, allowed_special: Specials) -> Self:
        """Return this engine with special tokens that are allowed by default; it shares all that is made."""
        if allowed_special != "all":
            allowed_special = as_set(allowed_special, "allowed_special")
            for token in sorted(allowed_special.difference(self.vocabulary.cut_tokens))[:1]:
                raise ValueError(f"allowed_special holds {token!r:.80}, which is no special token")
        other = type(self).__new__(type(self))
        vars(other).update(vars(self))
        vars(other).pop("default_rules", None)
        other.allowed_special = allowed_special
        return other

    def _allowed_tokens(self) -> frozenset[str]:
        is_all = self.allowed_special == "all"
        return self.special_tokens if is_all else self.special_tokens.intersection(self.allowed_special)

    @made_once
    def encoder(self) -> Encoder:
        """The encoder of ordinary text; of the first texts, one that needs nothing compiled."""
        plain = PlainEncoder.of(self.vocabulary, self.pattern, lambda: self._compiled_encoder)
        return self._compiled_encoder if plain is None else cast("Encoder", plain)

    @made_by_one
    def _compiled_encoder(self) -> Encoder:
        from bpe.encoding.joining_encoders import encoder_of  # loads the compiler

        return encoder_of(self.vocabulary, self.pattern)

    @made_once
    def cutter(self) -> Pattern:
        """What tells where a text can be cut in two without a change to its ids."""
        return pattern_between(self.vocabulary, self.pattern)

    @made_once
    def merger(self) -> Merger:
        """The encoder with dropout."""
        from bpe.encoding.kernels.merge_heap import Merger

        refuse_supermerges(self.vocabulary, "dropout")
        return Merger(self.vocabulary)

    @made_once
    def table(self) -> TokenTable:
        """The bytes of all tokens."""
        return TokenTable(self.vocabulary)

    @made_once
    def special_tokens(self) -> frozenset[str]:
        """All special tokens."""
        return frozenset(self.vocabulary.special_tokens)

    @made_once
    def added_tokens(self) -> frozenset[str]:
        """All added tokens."""
        return frozenset(self.vocabulary.added_tokens)

    @made_once
    def special_ids(self) -> dict[bytes, int]:
        """The ids of special and added tokens, by their UTF-8."""
        return {token.encode(): number for token, number in self.vocabulary.cut_tokens.items()}

    def _comparable_around(self) -> Any:
        return self.around

    @made_once
    def default_rules(self) -> Rules:
        """The rules without options: special tokens that are not allowed by default are an error."""
        return self._rules(self.allowed_special, "all")

    @made_once
    def ordinary_rules(self) -> Rules:
        """The rules of ordinary text: only added tokens are tokens."""
        return self._rules(NO_TOKENS, NO_TOKENS)

    def rules_of(
        self,
        allowed_special: Specials | None = None,
        disallowed_special: Specials = "all",
        add_special_tokens: bool = False,
    ) -> Rules:
        """Return the rules that the options of a public method stand for."""
        # The defaults are recognised by identity and by a short str, which is quick.
        if allowed_special is None:
            if disallowed_special == "all" and not add_special_tokens:
                return self.default_rules
            allowed_special = self.allowed_special
        around = self.around if add_special_tokens else NOTHING_AROUND
        return self._rules(allowed_special, disallowed_special, around)

    def _rules(
        self,
        allowed_special: Specials,
        disallowed_special: Specials,
        around: Around = NOTHING_AROUND,
    ) -> Rules:
        return rules_of(self.special_tokens, allowed_special, disallowed_special, self.added_tokens, around)

    # ------------------------------------------------------------------------------------------ encoding
    def encoder_for(
        self,
        data: bytes | bytearray | np.ndarray,
        rules: Rules,
        given: str | bytes = b"",
        what: str = "text",
        begins: Begins = Begins.TEXT,
    ) -> Encoder | SpecialEncoder:
        """Return what encodes a text by some rules; it is an error if `given` holds what these disallow."""
        if not rules.always:
            if type(data) is bytes:
                for first, needle in rules.by_first_byte:  # quicker than any()
                    if first in data and needle in data:
                        break
                else:
                    return self.encoder
            elif not _holds_any(data, rules.needles):
                return self.encoder
        rules.refuse(given, what)
        return SpecialEncoder(self, rules, begins)

    def encode_special(
        self, texts: Sequence[bytes], rules: Rules, begins: Begins = Begins.TEXT
    ) -> tuple[np.ndarray, np.ndarray]:
        """Encode texts that are not ordinary; `begins`: what each of them begins with.

        The texts between special tokens are encoded in one call, and the ids of the tokens put in.
        """
        split = list(map(rules.allowed.split, texts))
        segments = [segment for parts in split for segment in parts[::2]]
        last_segment = np.cumsum([len(parts) // 2 + 1 for parts in split]) - 1
        ids, offsets = self.encoder.encode_segments(bytearray().join(segments), ends_of(segments))
        followed = np.ones(len(segments), bool)  # by a special token
        followed[last_segment] = False
        special_ids = [self.special_ids[token] for token in chain.from_iterable(p[1::2] for p in split)]
        ids = np.insert(ids, offsets[1:][followed], np.array(special_ids, np.uint32))
        text_offsets = np.zeros(len(texts) + 1, np.int64)
        text_offsets[1:] = offsets[last_segment + 1] + np.cumsum(followed)[last_segment]
        return put_around(ids, text_offsets, rules.around)

    def encode_with_origins(
        self, text: str | bytes, rules: Rules
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Encode a text; return where in its UTF-8 each token begins and ends, too. Nothing is put around."""
        data = utf8_of(text)
        ids = self.encoder_for(data, rules.alone(), text).encode_to_numpy(data)
        lengths = self.table.lengths(ids)
        ends = np.cumsum(lengths)
        return ids, ends - lengths, ends

    # ----------------------------------------------------------------------------------- parts of texts
    def decided(
        self, data: bytes, begins: Begins, rules: Rules, *, only_inside: bool = False
    ) -> tuple[int, int, Begins]:
        """Return how far the ids of a text are known that may continue; `begins`: what it begins with.

        Returned are how many bytes these ids are of, how many it takes to encode them, and what the rest
        begins with. No special token lies across. If `only_inside`, the rest begins with
        :attr:`rest_begins`.
        """
        search = rules.allowed
        if rules.disallowed.tokens:
            search = search_for(search.tokens | rules.disallowed.tokens)
        return *decided(data, self.cutter, search), begins

    def ordinary_cuts(self, data: bytes) -> np.ndarray:
        """Return places where any part of a text can be cut, in which special tokens are ordinary."""
        cuts = self.cutter.cuts(data)
        return cuts[~self.ordinary_rules.allowed.crossed(data)[cuts]]

    @made_once
    def piece_automaton(self) -> Automaton | None:
        """What tells where a piece ends from its bytes alone, read once; None if nothing does."""
        scanner = None if self.vocabulary.n_super else self.pattern.scanner
        automaton = scanner.only_automaton if scanner and scanner.covers else None
        return None if automaton is None or automaton.looks_behind else automaton

    def normalized(self, corpus: CorpusLike) -> CorpusLike:
        """Return the texts of a corpus after all steps before the merges, but for cutting by the pattern."""
        return corpus

    def n_ids_of_tail(self, ids: Sequence[int] | np.ndarray, n_bytes: int) -> int:
        """Return how many of the last ids stand for the last `n_bytes` bytes of a text.

        A piece can depend on what follows it. So the beginning of a text is encoded together with some bytes
        that follow, and the ids of these are dropped then.
        """
        if n_bytes >= _LONG_TAIL:
            last = np.asarray(ids[-n_bytes:])[::-1]  # each is of a byte at least
            return int(np.searchsorted(np.cumsum(self.table.lengths(last)), n_bytes)) + 1
        n = 0
        while n_bytes > 0:
            n += 1
            n_bytes -= len(self.vocabulary.bytes_of[int(ids[-n])])
        return n

    # --------------------------------------------------------------------------------------- token budget
    def count(self, text: str | bytes, limit: int | None, rules: Rules) -> int:
        """Return the number of tokens of a text; ``limit + 1`` where it has more than `limit`."""
        if limit is not None:
            return min(len(first_ids(self, text, _not_negative(limit, "limit") + 1, rules)), limit + 1)
        data = utf8_of(text)
        return self.encoder_for(data, rules, text).count(data)

    def truncate(self, text: AnyStr, max_tokens: int, rules: Rules) -> AnyStr:
        """Return the longest beginning of a text that ``Tokenizer.truncate`` promises."""
        most = max(_not_negative(max_tokens, "max_tokens") - sum(map(len, rules.around)), 0)
        return self._beginning(text, most, rules.alone())

    def _beginning(self, text: AnyStr, most: int, rules: Rules) -> AnyStr:
        """Return the longest beginning of a text whose ids are the first ones, at most so many."""
        ids = first_ids(self, text, most + 1, rules)
        if len(ids) <= most:
            return text
        ids = ids[:most]
        ends = np.cumsum(self.table.lengths(ids))
        # No text has fewer bytes than characters; some more are needed to see whether the last is complete.
        data = utf8_of(text[: int(ends[-1]) + 4 if most else 0])
        for k in range(most, 0, -1):
            end = int(ends[k - 1])
            if is_between_characters(data, end):
                # A piece can change by what no longer follows it, but none before a place to cut.
                place = self.cutter.last_cut(data, 0, end - 1)
                first = int(np.searchsorted(ends, place, side="right"))
                if place and ends[first - 1] != place:  # inside a special token
                    place = first = 0
                again = self.encode_special([data[place:end]], rules)[0]
                if np.array_equal(again, ids[first:k]):
                    return text[: length_in(text, data[:end])]
        return text[:0]

    # ------------------------------------------------------------------------------------------ decoding
    def without_special(self, ids: Iterable[int] | np.ndarray) -> list[int]:
        """Return ids without those of special tokens; added tokens stay."""
        special = {*self.vocabulary.special_tokens.values()}
        return [number for number in checked_ids(self.vocabulary, ids) if number not in special]

    def decode(self, ids: Iterable[int] | np.ndarray) -> bytes:
        """Return the bytes of ids, joined."""
        return self.table.join(ids)

    def decode_each(self, batch: Iterable[Iterable[int] | np.ndarray]) -> list[bytes]:
        """Return the bytes of each list of ids."""
        return self.table.join_each(batch)

    def part_decoder(self, errors: str) -> PartDecoder:
        """Return what decodes ids that come in parts."""
        return Utf8Decoder(self, errors)


def _unpacked(parts: Packed, pattern: Pattern, allowed_special: Specials = NO_TOKENS) -> Engine:
    return Engine(unpacked(parts), pattern).allowing(allowed_special)


def put_around(ids: np.ndarray, offsets: np.ndarray, around: Around) -> tuple[np.ndarray, np.ndarray]:
    """Put ids before and after those of each text."""
    before, after = (np.array(each, np.uint32) for each in around)
    n_texts, n_around = len(offsets) - 1, len(before) + len(after)
    if n_around == 0:
        return ids, offsets
    # Where a text ends, the next one begins: what is after the first comes before what is before the second.
    places = np.stack([offsets[:-1], offsets[1:]], axis=1)
    lengths = [len(before), len(after)] * n_texts
    put = np.tile(np.concatenate([before, after]), n_texts)
    return np.insert(ids, np.repeat(places.ravel(), lengths), put), offsets + n_around * np.arange(
        n_texts + 1
    )


def _holds_any(data: bytes | bytearray | np.ndarray, needles: tuple[bytes, ...]) -> bool:
    """Return whether a text holds one of some strings; a mebibyte is copied at a time."""
    reach = max(map(len, needles), default=0)
    starts = range(0, len(data) + 1, _BLOCK) if needles else ()
    blocks = (bytes(data[start : start + _BLOCK + reach]) for start in starts)
    # Whether a block holds a byte is known in a twentieth of the time.
    return any(needle[:1] in block and needle in block for block in blocks for needle in needles)


def _not_negative(number: int, name: str) -> int:
    if index(number) < 0:
        raise ValueError(f"{name} must be at least 0, not {number}")
    return index(number)
