"""BPE-dropout: merges left out by chance, so that a text has many encodings.

The pair of lowest rank is merged, again and again; but at every step each pair is passed over with a given
probability. A piece is done when all its pairs are passed over. Dropout 0 is ordinary encoding; with
dropout 1 nothing is merged.

Provilkov, Emelianenko and Voita, "BPE-Dropout: Simple and Effective Subword Regularization", 2020.
"""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from bpe.splitting.specials import Rules
from bpe.support.integers import as_integer
from bpe.support.text import utf8_of

if TYPE_CHECKING:
    from bpe.encoding.engine import Engine


def encode_with_dropout(
    engine: Engine, text: str | bytes, dropout: float, seed: int, rules: Rules
) -> list[int]:
    """Encode a text; each merge is passed over with probability `dropout` at a step."""
    if not isinstance(dropout, (float, Real)):
        raise TypeError(f"dropout must be a number, not {type(dropout).__name__}")
    if not 0 <= dropout <= 1:
        raise ValueError(f"dropout must be a probability, from 0 to 1, not {dropout}")
    merger, data = engine.merger, utf8_of(text)
    state = np.array([as_integer(seed, "seed") & 2**64 - 1], np.uint64)
    rules.refuse(text)
    ids: list[int] = [*rules.around[0]]
    for i, part in enumerate(rules.allowed.split(data)):
        if i % 2:
            ids.append(engine.special_ids[part])
        elif part:
            ids += merger.merge(engine.pattern.split_bytes(part), dropout, state)
    return [*ids, *rules.around[1]]
