"""``Engine``: the parts of a tokenizer, and what is derived from them at first use.

::

    vocabulary + pattern
       |-- encoder         bytes -> ids            bpe.encoding.plain_encoder, then joining_encoders
       |-- cutter          where to cut a text     bpe.vocabulary.supermerges
       |-- table           ids -> bytes            bpe.encoding.decoding
       |-- merger          bytes -> ids, by chance bpe.encoding.dropout
       |-- default_rules   special tokens          bpe.splitting.specials

There are three classes with the same methods: this one, for a text that is only cut by a pattern before it is
merged; :class:`bpe.pipeline.engine.FileEngine`, which may also put ids around those of a text; and
:class:`bpe.pipeline.engine.PipelineEngine`, for the steps of a ``tokenizer.json``. The function
:func:`bpe.pipeline.engine.engine_of` chooses one for a vocabulary; nobody asks later which one it is.

The methods of :class:`bpe.Tokenizer` are a few lines each over an engine and over functions that take one: of
:mod:`bpe.encoding.batches` for many texts, of :mod:`bpe.encoding.streams` for parts of a text.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, AnyStr, Literal, cast

import numpy as np

from bpe.encoding.appendable import first_ids
from bpe.encoding.decoding import TokenTable, checked_ids
from bpe.encoding.offsets import length_in
from bpe.encoding.plain_encoder import PlainEncoder
from bpe.encoding.streams import Begins, Utf8Decoder
from bpe.encoding.symbols import BYTES, ModelOptions
from bpe.splitting import boundaries
from bpe.splitting.pattern import Pattern
from bpe.splitting.special_search import search_for
from bpe.splitting.specials import (
    NO_TOKENS,
    NOTHING_AROUND,
    Around,
    Rules,
    Specials,
    as_set,
    make_rules,
)
from bpe.support.integers import as_integer, as_list
from bpe.support.text import ends_of, is_between_characters, utf8_of
from bpe.support.threads import made_lazily, made_under_lock
from bpe.vocabulary.parts import Packed, packed, unpacked
from bpe.vocabulary.supermerges import pattern_between, refuse_supermerges
from bpe.vocabulary.vocabulary import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

    from bpe.corpus import CorpusLike
    from bpe.encoding.encoder import Encoder, Room
    from bpe.encoding.kernels.merge_heap import Merger
    from bpe.encoding.next_tokens import NextTokens
    from bpe.encoding.streams import PartDecoder
    from bpe.splitting.compiled.automaton import Automaton

_BLOCK = 1 << 20  # bytes that are looked through at once
_LONG_TAIL = 64  # bytes; for fewer, a loop is quicker than numpy


class SpecialEncoder:
    """Encodes texts that are not ordinary: they hold special tokens, get ids around, or go through steps."""

    def __init__(self, engine: Engine, rules: Rules, begins: Begins) -> None:
        self._engine, self._rules, self._begins = engine, rules, begins

    def encode(self, data: bytes) -> list[int]:
        """Encode a text."""
        return as_list(self.encode_to_numpy(data))

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

    It never changes. Threads may share it, and so may forked processes unless a thread was compiling at the
    fork.
    """

    is_lossless = True
    """Whether every byte string decodes to itself after encoding."""

    changes_texts: Literal["never", "to a form", "otherwise"] = "never"
    """Whether texts are changed before the pattern cuts them, and only to a normal form of Unicode."""

    splits_by_pattern = True
    """Whether the pattern cuts texts into pieces."""

    joins_bytes = True
    """Whether ids are decoded to the bytes of their tokens, joined."""

    small = 4096
    """While a stream holds at most this many bytes, it looks for known ids after every part."""

    rest_begins = Begins.TEXT
    """What a text begins with if encoding resumes inside it, from its bytes alone."""

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
            and self.comparable_around() == other.comparable_around()
            and mine.atomic_ids == theirs.atomic_ids
        )

    def __hash__(self) -> int:
        vocabulary = self.vocabulary
        return hash((self.pattern, vocabulary.size, len(vocabulary.pairs), self.special_tokens))

    def __reduce__(self) -> Any:
        return _unpacked, (packed(self.vocabulary), self.pattern, self.allowed_special)

    def allowing(self, allowed_special: Specials) -> Self:
        """Return this engine with special tokens that are allowed by default.

        Both share what has been compiled and remembered so far.
        """
        if allowed_special != "all":
            allowed_special = as_set(allowed_special, "allowed_special")
            unknown = allowed_special.difference(self.vocabulary.cut_tokens)
            if unknown:
                raise ValueError(f"allowed_special holds {min(unknown)!r:.80}, which is not a special token")
        other = type(self).__new__(type(self))
        vars(other).update(vars(self))
        vars(other).pop("default_rules", None)
        other.allowed_special = allowed_special
        return other

    def _allowed_tokens(self) -> frozenset[str]:
        is_all = self.allowed_special == "all"
        return self.special_tokens if is_all else self.special_tokens.intersection(self.allowed_special)

    @made_lazily
    def encoder(self) -> Encoder:
        """The encoder of ordinary text.

        The first short texts are encoded in plain Python; it then hands over to compiled code.
        """
        plain = PlainEncoder.of(self.vocabulary, self.pattern, lambda: self._compiled_encoder)
        return self._compiled_encoder if plain is None else cast("Encoder", plain)

    @made_under_lock
    def _compiled_encoder(self) -> Encoder:
        from bpe.encoding.joining_encoders import encoder_of  # loads the compiler

        return encoder_of(self.vocabulary, self.pattern)

    @made_lazily
    def cutter(self) -> Pattern:
        """What tells where a text can be cut in two without a change to its ids."""
        return pattern_between(self.vocabulary, self.pattern)

    @made_lazily
    def merger(self) -> Merger:
        """The encoder with dropout."""
        from bpe.encoding.kernels.merge_heap import Merger

        refuse_supermerges(self.vocabulary, "dropout")
        return Merger(self.vocabulary)

    @made_lazily
    def table(self) -> TokenTable:
        """The bytes of all tokens."""
        return TokenTable(self.vocabulary)

    @made_under_lock
    def next_tokens(self) -> NextTokens:
        """Which ids may follow others; raise if this is not known."""
        from bpe.encoding.next_tokens import NextTokens  # loads the compiler

        return NextTokens(self)

    @made_lazily
    def special_tokens(self) -> frozenset[str]:
        """All special tokens."""
        return frozenset(self.vocabulary.special_tokens)

    @made_lazily
    def added_tokens(self) -> frozenset[str]:
        """All added tokens."""
        return frozenset(self.vocabulary.added_tokens)

    @made_lazily
    def special_ids(self) -> dict[bytes, int]:
        """The ids of special and added tokens, by their UTF-8."""
        return {token.encode(): token_id for token, token_id in self.vocabulary.cut_tokens.items()}

    @made_lazily
    def special_id_set(self) -> frozenset[int]:
        """The ids of special tokens; those of added tokens are ids of ordinary text."""
        return frozenset(self.vocabulary.special_tokens.values())

    def comparable_around(self) -> Any:
        """Return what is put around ids, as ``==`` compares it."""
        return self.around

    @made_lazily
    def default_rules(self) -> Rules:
        """The rules without options: special tokens that are not allowed by default are an error."""
        return self._make_rules(self.allowed_special, "all")

    @made_lazily
    def ordinary_rules(self) -> Rules:
        """The rules of ordinary text: only added tokens are tokens."""
        return self._make_rules(NO_TOKENS, NO_TOKENS)

    def rules_of(
        self,
        allowed_special: Specials | None = None,
        disallowed_special: Specials = "all",
        add_special_tokens: bool = False,
    ) -> Rules:
        """Return the rules that the options of a public method stand for."""
        if allowed_special is None:
            # All defaults: no lookup, as short texts are encoded in microseconds.
            if disallowed_special == "all" and not add_special_tokens:
                return self.default_rules
            allowed_special = self.allowed_special
        around = self.around if add_special_tokens else NOTHING_AROUND
        return self._make_rules(allowed_special, disallowed_special, around)

    def _make_rules(
        self,
        allowed_special: Specials,
        disallowed_special: Specials,
        around: Around = NOTHING_AROUND,
    ) -> Rules:
        return make_rules(self.special_tokens, allowed_special, disallowed_special, self.added_tokens, around)

    # ------------------------------------------------------------------------------------------ encoding
    def encoder_for(
        self,
        data: bytes | bytearray | np.ndarray,
        rules: Rules,
        given: str | bytes = b"",
        what: str = "text",
        begins: Begins = Begins.TEXT,
    ) -> Encoder | SpecialEncoder:
        """Return what encodes a text by some rules.

        `given` is the text as the caller wrote it: raise if it holds a token that the rules refuse. Leave it
        out where refused tokens were looked for already.
        """
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
        """Encode texts that are not ordinary; `begins` says what each of them begins with.

        The texts between special tokens are encoded in one call, and the ids of the tokens are put in.
        """
        split = list(map(rules.allowed.split, texts))
        segments = [segment for parts in split for segment in parts[::2]]
        last_segment = np.cumsum([len(parts) // 2 + 1 for parts in split]) - 1
        ids, offsets = self.encoder.encode_segments(bytearray().join(segments), ends_of(segments))
        followed = np.ones(len(segments), bool)  # by a special token
        followed[last_segment] = False
        cut_tokens = chain.from_iterable(parts[1::2] for parts in split)
        cut_ids = [self.special_ids[token] for token in cut_tokens]
        ids = np.insert(ids, offsets[1:][followed], np.array(cut_ids, np.uint32))
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
        """Return how far the ids of a text are known, which may continue.

        That is the number of bytes whose ids can no longer change, the number of bytes to encode to get these
        ids, and what the rest begins with. No special token crosses either place. `begins` says what the text
        begins with. If `only_inside`, the rest has to begin with :attr:`rest_begins`. An engine without steps
        looks at neither, as they make no difference to it.
        """
        search = rules.allowed
        if rules.disallowed.tokens:
            search = search_for(search.tokens | rules.disallowed.tokens)
        return *boundaries.decided(data, self.cutter, search), begins

    def ordinary_cuts(self, data: bytes) -> np.ndarray:
        """Return the places where a text can be cut if special tokens are ordinary text."""
        cuts = self.cutter.cuts(data)
        return cuts[~self.ordinary_rules.allowed.crossed(data)[cuts]]

    @made_lazily
    def piece_automaton(self) -> Automaton | None:
        """What tells where a piece ends from its bytes alone, read once; None if nothing does."""
        scanner = None if self.vocabulary.n_super else self.pattern.scanner
        automaton = scanner.only_automaton if scanner and scanner.covers else None
        return None if automaton is None or automaton.looks_behind else automaton

    def normalized(self, corpus: CorpusLike) -> CorpusLike:
        """Return the texts of a corpus after all steps before the merges, except cutting by the pattern."""
        return corpus

    def normalized_rest(self, data: bytes) -> bytes:
        """Return the rest of a segment after all steps before the pattern cuts it."""
        return data

    def n_ids_of_tail(self, ids: Sequence[int] | np.ndarray, n_bytes: int) -> int:
        """Return how many of the last ids stand for the last `n_bytes` bytes of a text."""
        if n_bytes >= _LONG_TAIL:
            last = np.asarray(ids[-n_bytes:])[::-1]  # every token has at least one byte
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
        n_around = sum(map(len, rules.around))
        if _not_negative(max_tokens, "max_tokens") < n_around:
            raise ValueError(
                f"max_tokens must be at least {n_around}, as so many are put around a text, not {max_tokens}"
            )
        return self._beginning(text, max_tokens - n_around, rules.alone())

    def _beginning(self, text: AnyStr, max_tokens: int, rules: Rules) -> AnyStr:
        """Return the longest beginning of a text whose ids are its first ids, at most `max_tokens`."""
        ids = first_ids(self, text, max_tokens + 1, rules)
        if len(ids) <= max_tokens:
            return text
        if max_tokens == 0:
            return text[:0]
        ids = ids[:max_tokens]
        ends = np.cumsum(self.table.lengths(ids))
        # No text has fewer bytes than characters; some more are needed to see whether the last is complete.
        data = utf8_of(text[: int(ends[-1]) + 4])
        for k in range(max_tokens, 0, -1):
            end = int(ends[k - 1])
            if is_between_characters(data, end):
                # A piece can change by what no longer follows it, but none before a place to cut.
                place = self.cutter.last_cut(data, 0, end - 1)
                first = int(np.searchsorted(ends, place, side="right"))
                if place and (first == 0 or ends[first - 1] != place):  # inside a special token
                    place = first = 0
                again = self.encode_special([data[place:end]], rules)[0]
                if np.array_equal(again, ids[first:k]):
                    return text[: length_in(text, data[:end])]
        return text[:0]

    # ------------------------------------------------------------------------------------------ decoding
    def without_special(self, ids: Iterable[int] | np.ndarray) -> list[int]:
        """Return ids without those of special tokens; added tokens stay."""
        special = self.special_id_set
        return [token_id for token_id in checked_ids(self.vocabulary, ids) if token_id not in special]

    def decode(self, ids: Iterable[int] | np.ndarray) -> bytes:
        """Return the bytes of ids, joined."""
        return self.table.join(ids)

    def decode_each(self, batch: Iterable[Iterable[int] | np.ndarray]) -> list[bytes]:
        """Return the bytes of each list of ids."""
        return self.table.join_each(batch)

    def decode_stretch(self, ids: Sequence[int], begins: Begins) -> bytes:
        """Return a text of ids without special ones, that gives them after what it `begins` with."""
        return self.decode(ids)

    def encode_stretch(self, ids: Sequence[int], begins: Begins) -> np.ndarray:
        """Return the ids that the text of some ids without special ones has."""
        data = self.decode_stretch(ids, begins)
        return self.encoder_for(data, self.ordinary_rules, begins=begins).encode_to_numpy(data)

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
    # Between two texts, the ids after the first come before those before the second.
    places = np.stack([offsets[:-1], offsets[1:]], axis=1)
    lengths = [len(before), len(after)] * n_texts
    put = np.tile(np.concatenate([before, after]), n_texts)
    return np.insert(ids, np.repeat(places.ravel(), lengths), put), offsets + n_around * np.arange(
        n_texts + 1
    )


def _holds_any(data: bytes | bytearray | np.ndarray, needles: tuple[bytes, ...]) -> bool:
    """Return whether a text holds one of some strings; a mebibyte is copied at a time."""
    reach = max(map(len, needles), default=0)
    starts = range(0, len(data) + 1, _BLOCK) if needles else ()  # + 1: an empty text has a block for b"", too
    blocks = (bytes(data[start : start + _BLOCK + reach]) for start in starts)
    # Whether a block holds a byte is known in a twentieth of the time.
    return any(needle[:1] in block and needle in block for block in blocks for needle in needles)


def _not_negative(number: int, name: str) -> int:
    if (n := as_integer(number, name)) < 0:
        raise ValueError(f"{name} must be at least 0, not {number}")
    return n
