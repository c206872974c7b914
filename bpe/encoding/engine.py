"""``Engine``: the parts of a tokenizer, and what is derived from them at first use.

::

    vocabulary + pattern
       |-- encoder         bytes -> ids            bpe.encoding.plain_encoder, then encoder_choice
       |-- cutter          where to cut a text     bpe.vocabulary.supermerges
       |-- table           ids -> bytes            bpe.encoding.decoding
       |-- merger          bytes -> ids, by chance bpe.encoding.dropout
       |-- default_rules   special tokens          bpe.splitting.specials

:func:`bpe.pipeline.engine.engine_of` makes one.

The methods of :class:`bpe.Tokenizer` are a few lines each over functions that take an engine: those of this
module for one text, of :mod:`bpe.encoding.batches` for many texts, of the other modules for all the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from bpe.encoding.decoding import TokenTable, checked_ids, join_tokens
from bpe.splitting.pattern import Pattern
from bpe.splitting.specials import (
    NO_TOKENS,
    NOTHING_AROUND,
    Around,
    Ordinary,
    Rules,
    Specials,
    as_set,
    rules_of,
)
from bpe.support.threads import made_by_one, made_once
from bpe.vocabulary.parts import Packed, packed, unpacked
from bpe.vocabulary.supermerges import pattern_between, refuse_supermerges
from bpe.vocabulary.vocabulary import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable

    from typing_extensions import Self

    from bpe.encoding.encoder import Encoder
    from bpe.encoding.kernels.merge_heap import Merger
    from bpe.pipeline.decoders import DecoderStream


_LONG_TAIL = 64  # bytes; for fewer, a loop is quicker than numpy


class Engine:
    """Encodes bytes and decodes ids.

    It never changes. Any number of threads may use one, and processes that fork while nothing is compiled.
    """

    is_prepared = False
    """Whether something is done to a text before it is merged, other than cutting it by the pattern."""

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
            and self.is_prepared == other.is_prepared
            and self._allowed_tokens() == other._allowed_tokens()
            and self._post_processor() == other._post_processor()
            and mine.whole_ids == theirs.whole_ids
        )

    def __hash__(self) -> int:
        words = self.vocabulary
        return hash((self.pattern, words.size, len(words.pairs), self.special_tokens))

    def __reduce__(self) -> Any:
        return _unpacked, (packed(self.vocabulary), self.pattern, self.allowed_special)

    @property
    def joins_bytes(self) -> bool:
        """Whether ids are decoded to the bytes of their tokens, joined."""
        return True

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
        from bpe.encoding.plain_encoder import first_texts_of

        plain = first_texts_of(self.vocabulary, self.pattern, lambda: self._compiled_encoder)
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

    @made_once
    def around(self) -> Around:
        """What ``add_special_tokens`` puts before and after the ids of a text."""
        from bpe.pipeline.post_processors import PostProcessor

        post = PostProcessor.of(self._post_processor_entry())
        return post.before, post.after

    def _post_processor_entry(self) -> Any:
        from bpe.vocabulary.extras import from_text

        return from_text(self.vocabulary.extras)["document"].get("post_processor")

    def _post_processor(self) -> Any:
        """Return what is put around ids, or the entry where it cannot be read, to be compared."""
        try:
            return self.around
        except ValueError:
            return self._post_processor_entry()

    @made_once
    def default_rules(self) -> Rules:
        """The rules without options: special tokens that are not allowed by default are an error."""
        return self._rules(self.allowed_special, "all", None)

    @made_once
    def ordinary_rules(self) -> Rules:
        """The rules of ordinary text: only added tokens are tokens."""
        return self._rules(NO_TOKENS, "all", "ordinary")

    def rules_of(
        self,
        allowed_special: Specials | None = None,
        disallowed_special: Specials = "all",
        specials: Ordinary = None,
        add_special_tokens: bool = False,
    ) -> Rules:
        """Return the rules that the options of a public method stand for."""
        # The defaults are recognised by identity and by a short str, which is quick.
        is_default = allowed_special is None and specials is None and disallowed_special == "all"
        if is_default and not add_special_tokens:
            return self.default_rules
        if allowed_special is None:
            allowed_special = self.allowed_special if specials is None else NO_TOKENS
        options = allowed_special, disallowed_special, specials
        return self._rules(*options, self.around if add_special_tokens else NOTHING_AROUND)

    def _rules(
        self,
        allowed_special: Specials,
        disallowed_special: Specials,
        specials: Ordinary,
        around: Around = NOTHING_AROUND,
    ) -> Rules:
        options = allowed_special, disallowed_special, specials
        return rules_of(self.special_tokens, *options, self.added_tokens, around, self.is_prepared)

    def encode(self, data: bytes, given: str | bytes, rules: Rules, what: str = "text") -> np.ndarray:
        """Encode a text by some rules."""
        for needle in rules.needles:
            if needle in data:
                rules.refuse(given, what)
                return self.encode_special([data], rules)[0]
        return self.encoder.encode_to_numpy(data)

    def encode_special(self, texts: Sequence[bytes], rules: Rules) -> tuple[np.ndarray, np.ndarray]:
        """Encode texts that are not ordinary: that hold special tokens, or get some around them.

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

    def without_special(self, ids: Iterable[int] | np.ndarray) -> list[int]:
        """Return ids without those of special tokens; added tokens stay."""
        special = {*self.vocabulary.special_tokens.values()}
        return [number for number in checked_ids(self.vocabulary, ids) if number not in special]

    def decoder_stream(self) -> DecoderStream | None:
        """Return what decodes the texts of tokens that come one after the other; None: bytes are joined."""
        return None

    def decode(self, ids: Iterable[int] | np.ndarray) -> bytes:
        """Return the bytes of ids, joined."""
        return join_tokens(self.vocabulary, ids, self.table)


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


def ends_of(texts: Sequence[str | bytes | np.ndarray]) -> np.ndarray:
    """Return where each text ends when they stand in a row."""
    return np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))
