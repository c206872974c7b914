r"""``covers``: the ids with which a text that begins with a prefix can begin.

::

    prefix    the capt
    covers    the  capt                  the last id reaches the end of the prefix, and may go beyond it
              the  captain
              the  cap  turn             no text has " capturn" as one token

Often no text with the whole word begins with the ids of a prompt that ends inside it, so that a model has not
seen them. It has seen covers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bpe.encoding.covers import Path, find_covers, shared
from bpe.support.integers import mask_of
from bpe.support.text import utf8_of

if TYPE_CHECKING:
    from bpe.encoding.engine import Engine
    from bpe.tokenizer import Tokenizer


def covers(tok: Tokenizer, prefix: str | bytes, *, specials: bool = False) -> Covers:
    """Return the shortest beginnings of ids that reach the end of a prefix, whatever follows it.

    The ids of each text that begins with the prefix begin with exactly one cover. So probabilities of covers
    add up to that of the prefix. What follows is UTF-8, and special tokens are ordinary text.

    Parameters
    ----------
    tok : Tokenizer
    prefix : str or bytes
        Bytes may end inside a character. A normalizer changes it; that it may join the last character with
        the next one is not considered.
    specials : bool
        Whether special tokens are among the last ids whose names begin in the prefix and reach its end.

    Returns
    -------
    Covers
        Those of an empty prefix are one, the empty list. If no text begins with the prefix, as it is not
        UTF-8, there are none.

    Raises
    ------
    ValueError
        As :func:`canonical_state`: it is not known which ids may follow others.
    TypeError
        The prefix is neither str nor bytes.

    Complexity
    ----------
    O(n) for n bytes, and for each token that fits in the last piece or two. If the pattern looks behind, no
    piece is known to have ended: this is slow for a long prefix.

    Examples
    --------
    >>> import bpe, bpe.ids
    >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
    >>> found = bpe.ids.covers(tok, "low lo")
    >>> found.stable, [tok.decode(ids) for ids in found], len(found)
    ([257, 32], ['low lo', 'low low'], 2)
    """
    data, engine = utf8_of(prefix, "prefix"), tok.engine
    known, paths = find_covers(engine, data)
    if specials:
        whole = _with_special(engine, data, [([*known.tolist(), *ids], last) for ids, last in paths])
        known, paths = shared(known[:0], whole)
    return Covers(engine, known, paths, not data)


class Covers:
    """The covers of a prefix, from :func:`covers`.

    * ``len(covers)``, ``iter(covers)``: their number; a list of ids each
    * :attr:`stable`, :attr:`paths`, :attr:`is_exact`
    * :meth:`mask`

    Examples
    --------
    >>> import bpe, bpe.ids
    >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
    >>> bpe.ids.covers(tok, "low lo").paths
    [([257, 32], array([256, 257], dtype=uint32))]
    """

    def __init__(self, engine: Engine, known: np.ndarray, paths: Sequence[Path], of_nothing: bool) -> None:
        self._tokens, self._known, self._paths = engine.next_tokens, known, paths
        self._of_nothing = of_nothing

    def __repr__(self) -> str:
        return f"<Covers: {len(self):,}, {len(self.stable):,} ids are stable>"

    def __len__(self) -> int:
        return self._of_nothing + sum(len(last) for _, last in self._paths)

    def __iter__(self) -> Iterator[list[int]]:
        if self._of_nothing:
            yield []
        for before, last in self.paths:
            yield from ([*before, token_id] for token_id in last.tolist())

    @property
    def is_exact(self) -> bool:
        """Whether a text gives each cover. If not, some may be too many: see :class:`CanonicalState`."""
        return self._tokens.is_exact

    @property
    def stable(self) -> list[int]:
        """The ids that all covers begin with: what a model can read before more of the text is known."""
        only = self._paths[0][1].tolist() if len(self) == 1 and self._paths else ()
        return [*self._known.tolist(), *only]

    @property
    def paths(self) -> list[Path]:
        """The covers as a few lists of ids, each with all last ids after them, ``(n,) uint32``, ascending.

        An empty prefix has no last ids, so that the list is empty.
        """
        known = self._known.tolist()
        return [([*known, *before], last) for before, last in self._paths]

    def mask(self, ids: Sequence[int], out: np.ndarray | None = None) -> np.ndarray:
        """Return which ids may follow the first ids of a cover; none if these are a cover, or not of one.

        Parameters
        ----------
        ids : sequence of int
        out : (vocab_size,) array of bool, optional
            Written to, and returned.

        Returns
        -------
        (vocab_size,) array of bool

        Complexity
        ----------
        O(v + n) for v ids of the vocabulary and n of each path.

        Examples
        --------
        >>> import bpe, bpe.ids
        >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
        >>> found = bpe.ids.covers(tok, "low lo")
        >>> [np.flatnonzero(found.mask(ids)).tolist() for ids in ([257], [257, 32], [257, 32, 256])]
        [[32], [256, 257], []]
        """
        out = mask_of(self._tokens.size, out)
        out[:] = False
        ids = [*ids]
        for before, last in self.paths:
            if before[: len(ids)] == ids:
                out[last if len(before) == len(ids) else before[len(ids)]] = True
        return out


def _with_special(engine: Engine, data: bytes, paths: Iterable[Path]) -> list[Path]:
    """Return paths, and those whose last ids are of special tokens that reach the end."""
    last_of = {(*before,): last for before, last in paths}
    special = {token.encode(): token_id for token, token_id in engine.vocabulary.special_tokens.items()}
    for place in range(max(len(data) - max(map(len, special), default=0), 0), len(data)):
        last = [token_id for token, token_id in special.items() if token.startswith(data[place:])]
        if last:
            before = (*engine.encoder_for(data[:place], engine.ordinary_rules).encode(data[:place]),)
            last_of[before] = np.union1d(last_of.get(before, []), last).astype(np.uint32)
    return [([*before], last) for before, last in last_of.items()]
