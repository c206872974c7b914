"""Which encoder of ordinary text a vocabulary needs."""

from __future__ import annotations

from bpe.encoding.encoder import Encoder
from bpe.encoding.joining_encoders import WideEncoder, bytes_joined_by, n_first_merges
from bpe.encoding.run_encoder import RunEncoder
from bpe.splitting.pattern import Pattern
from bpe.vocabulary.vocabulary import Vocabulary


def encoder_of(vocabulary: Vocabulary, pattern: Pattern) -> Encoder:
    """Return the encoder of a vocabulary: one that joins words in a second step, if merges join them."""
    if vocabulary.n_super:
        return RunEncoder(vocabulary, pattern)
    joined = bytes_joined_by(vocabulary)
    n_first = 0 if joined is None else n_first_merges(joined)
    if joined is not None and n_first:
        return WideEncoder(vocabulary, pattern, joined, n_first)
    return Encoder(vocabulary, pattern)
