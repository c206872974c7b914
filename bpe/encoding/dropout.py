"""BPE-dropout: merges left out at random, so that a text has many encodings.

Of the pairs that could be merged, the one of lowest rank is merged; but at every step each of them is passed
over with a given probability, and a piece is done when all are. Without dropout this is ordinary encoding,
with certain dropout nothing is merged.

Provilkov, Emelianenko and Voita, "BPE-Dropout: Simple and Effective Subword Regularization", 2020.
"""

from __future__ import annotations

from numbers import Real
from operator import index
from typing import TYPE_CHECKING

import numpy as np

from bpe.encoding.engine import NO_TOKENS, Base, Ordinary, made_once
from bpe.specials import Specials
from bpe.text import utf8_of

if TYPE_CHECKING:
    from bpe.encoding.dropout_kernels import Merger

__all__ = ["Dropout"]


class Dropout(Base):
    """Base of :class:`bpe.Tokenizer`: encodings that differ from seed to seed.

    * :meth:`encode_with_dropout`

    Examples
    --------
    >>> import bpe
    >>> issubclass(bpe.Tokenizer, Dropout)
    True
    """

    @made_once
    def _merger(self) -> Merger:
        from bpe.encoding.dropout_kernels import Merger  # loads the compiler

        return Merger(self._vocabulary)

    def encode_with_dropout(
        self,
        text: str | bytes,
        dropout: float,
        *,
        seed: int,
        allowed_special: Specials = NO_TOKENS,
        disallowed_special: Specials = "all",
        specials: Ordinary = None,
    ) -> list[int]:
        """Encode a text, with merges left out at random, to make a model know other ways to write a word.

        Parameters
        ----------
        text : str or bytes
        dropout : float
            With which probability a merge is passed over at a step, from 0 to 1; 0.1 is common.
        seed : int
            Equal seeds give equal encodings of equal texts, on every machine.
        allowed_special, disallowed_special, specials
            As for :meth:`encode`.

        Returns
        -------
        list of int
            They decode to the text.

        Raises
        ------
        ValueError
            As :meth:`encode`; or `dropout` is no probability.
        TypeError
            As :meth:`encode`; or `dropout` is no number, or the seed no integer.

        Complexity
        ----------
        O(n log n) for n bytes, with dropout not near 1: no piece is remembered.

        Examples
        --------
        >>> import bpe
        >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
        >>> [tok.encode_with_dropout("low", 0.5, seed=seed) for seed in (1, 2, 3)]
        [[257], [257], [108, 111, 119]]
        """
        if not isinstance(dropout, Real):
            raise TypeError(f"dropout must be a number, not {type(dropout).__name__}")
        if not 0 <= dropout <= 1:
            raise ValueError(f"dropout must be a probability, from 0 to 1, not {dropout}")
        data = utf8_of(text)
        rules = self._rules_of(allowed_special, disallowed_special, specials)
        state = np.array([index(seed) & 2**64 - 1], np.uint64)
        if any(needle in data for needle in rules.needles):
            rules.refuse(text)
        ids: list[int] = []
        for i, part in enumerate(rules.allowed.split(data)):
            if i % 2:
                ids.append(self._special_ids[part])
            elif part:
                ids += self._merger.merge(self._pattern.split_bytes(part), dropout, state)
        return ids
