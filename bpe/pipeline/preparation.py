"""``Preparation``: what a tokenizer does to a text before it merges, and to tokens when it decodes them.

A vocabulary keeps what its ``tokenizer.json`` says of that (:mod:`bpe.vocabulary.extras`). Most byte-level
tokenizers do nothing to a text but cut it by their pattern: they have no preparation. The steps themselves
are in :mod:`bpe.pipeline`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from bpe.encoding.symbols import BYTES, ModelOptions
from bpe.pipeline.added_tokens import AddedToken, hides, overlap
from bpe.pipeline.decoders import Decoder
from bpe.pipeline.normalizers import Normalizer
from bpe.pipeline.patterns import byte_level, pattern_like
from bpe.pipeline.pre_tokenizers import PreTokenizer
from bpe.splitting.pattern import Pattern
from bpe.splitting.specials import NO_TOKENS
from bpe.vocabulary.extras import from_text
from bpe.vocabulary.vocabulary import NO_ID, Vocabulary

_FLAGS = ("single_word", "lstrip", "rstrip", "normalized")


class Preparation(NamedTuple):
    r"""The steps of one tokenizer."""

    normalizer: Normalizer
    pre_tokenizer: PreTokenizer | None
    decoder: Decoder | None
    added: tuple[AddedToken, ...]
    options: ModelOptions
    passed: frozenset[str] = NO_TOKENS

    @classmethod
    def of(cls, vocabulary: Vocabulary) -> Preparation | None:
        """Read the steps that a vocabulary keeps."""
        if not vocabulary.extras and not vocabulary.added_tokens:
            return None
        extras = from_text(vocabulary.extras)
        document, model = extras["document"], extras["model"]
        normalizer = Normalizer.of(document.get("normalizer"))
        pre_tokenizer = PreTokenizer.of(document["pre_tokenizer"]) if "pre_tokenizer" in document else None
        # Where only the normalizer writes bytes, the merges are of the characters that it writes.
        is_text = pre_tokenizer is not None and not pre_tokenizer.is_byte_level
        if pre_tokenizer is not None and cutting_pattern(pre_tokenizer, model, vocabulary) is not None:
            pre_tokenizer = None
        options = _options_of(model, vocabulary, is_text)
        decoder = Decoder.of(extras["decoder"] or document.get("decoder", byte_level(use_regex=True)))
        flags = extras["added_tokens"]
        added = tuple(
            AddedToken(token, *(flags[token].get(key, False) for key in _FLAGS))
            if token in flags
            else AddedToken(token)
            for token in vocabulary.cut_tokens
        )
        is_plain = normalizer.is_nothing and pre_tokenizer is None and decoder.is_byte_level
        is_plain = is_plain and options == BYTES
        passed = _passed(added, vocabulary, normalizer)
        is_plain = is_plain and not passed and not overlap(added)
        if is_plain and not any(t.single_word or t.lstrip or t.rstrip for t in added):
            return None
        # tokenizers decodes a normalized token to its normalized text.
        are_same = all(normalizer(token.content) == token.content for token in added if token.normalized)
        is_joined = not is_text and decoder.is_byte_level and are_same
        return cls(normalizer, pre_tokenizer, None if is_joined else decoder, added, options, passed)

    def expressions(self) -> Iterator[str]:
        """Return the regular expressions of the file that the ``regex`` package runs."""
        entries: list[Any] = [
            step.entry for step in (self.normalizer, self.pre_tokenizer, self.decoder) if step
        ]
        while entries:
            match entries.pop():
                case {"Regex": str(source)}:
                    yield source
                case dict(entry):
                    entries += entry.values()
                case list(entry):
                    entries += entry


def cutting_pattern(
    pre_tokenizer: PreTokenizer, model: dict[str, Any], vocabulary: Vocabulary
) -> Pattern | None:
    """Return the pattern that does all that a pre-tokenizer does; None if there is none."""
    # The encoder must not cut where it matters where pieces end: a suffix marks that, and unknown
    # characters are fused up to there.
    fuses = model.get("fuse_unk") and model.get("unk_token") and NO_ID in vocabulary.byte_ids
    if fuses or model.get("end_of_word_suffix") or not pre_tokenizer.is_byte_level:
        return None
    return pattern_like(pre_tokenizer)


def _passed(
    added: Iterable[AddedToken], vocabulary: Vocabulary, normalizer: Callable[[str], str]
) -> frozenset[str]:
    """Return the special tokens, if they hide added ones of the same search where they are text."""
    texts: dict[tuple[bool, bool], list[str]] = defaultdict(list)  # of special and added tokens, by search
    for token in added:
        text = normalizer(token.content) if token.normalized else token.content
        if token.content and not text:
            raise ValueError(
                f"the normalizer leaves nothing of the added token {token.content!r:.80}: in tokenizers it "
                "is everywhere in a text"
            )
        if text:
            texts[token.normalized, token.content in vocabulary.special_tokens].append(text)
    is_hidden = any(hides(texts[search, True], texts[search, False]) for search in (False, True))
    return frozenset(vocabulary.special_tokens) if is_hidden else NO_TOKENS


def _options_of(model: dict[str, Any], vocabulary: Vocabulary, is_text: bool) -> ModelOptions:
    unk_id, cut_tokens = None, vocabulary.cut_tokens
    suffix = model.get("end_of_word_suffix") or ""
    if not is_text and not suffix and (NO_ID not in vocabulary.byte_ids or model.get("byte_fallback")):
        return BYTES  # every byte is known, or stands for characters that byte tokens do not spell
    if isinstance(unk := model.get("unk_token"), str):
        unk_id = vocabulary.id_of.get(unk.encode(), cut_tokens.get(unk))
    byte_ids: tuple[int, ...] = ()
    if model.get("byte_fallback"):
        names = [f"<0x{value:02X}>" for value in range(256)]
        byte_ids = tuple(vocabulary.id_of.get(name.encode(), cut_tokens.get(name, NO_ID)) for name in names)
        if len({token_id == NO_ID for token_id in byte_ids[0x80:]}) == 2:
            raise ValueError(
                "byte_fallback requires all tokens from <0x80> to <0xFF>, or none: some are missing"
            )
    knows_all = bool(byte_ids) and NO_ID not in byte_ids
    fuse_unk = unk_id is not None and bool(model.get("fuse_unk")) and not knows_all
    return ModelOptions(unk_id, fuse_unk, byte_ids, suffix, is_text)
