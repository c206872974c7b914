r"""``CanonicalState``: which ids may follow others, so that some text still gives all of them.

::

    ids so far   Hello  ,  " wor"           " world" is one token
    next         "m" may follow             "ld" may not: no text gives " wor" and "ld"

A state is made for the ids of a prompt, and each id that is sampled is pushed. How it works is told in
:mod:`bpe.encoding.next_tokens`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from bpe.encoding.canonicity import may_end, position_after, push
from bpe.encoding.decoding import checked_ids
from bpe.support.integers import as_integer, mask_of

if TYPE_CHECKING:
    from bpe.encoding.engine import Engine
    from bpe.tokenizer import Tokenizer


def canonical_state(tok: Tokenizer, ids: Iterable[int] | np.ndarray = ()) -> CanonicalState:
    """Return what tells, after some ids, which ids may follow.

    Parameters
    ----------
    tok : Tokenizer
    ids : iterable of int, or (n,) array of integers
        If no text has ids that begin with these, no id may follow.

    Returns
    -------
    CanonicalState

    Raises
    ------
    ValueError
        An id has no token. Or it is not known which ids may follow: the pattern is not compiled, supermerges
        join pieces, or a normalizer or a pre-tokenizer of a ``tokenizer.json`` changes texts, not only to a
        normal form of Unicode.
    TypeError
        An id is not an integer.

    Complexity
    ----------
    O(n) for n bytes. The first state of a tokenizer makes its tables, in O(v) for v bytes of tokens.

    Examples
    --------
    >>> import bpe, bpe.ids
    >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
    >>> state = bpe.ids.canonical_state(tok, tok.encode("low lo"))
    >>> state.mask()[tok.encode("w")], state.mask()[tok.encode("v")], state.may_end
    (array([False]), array([ True]), True)
    """
    return CanonicalState(tok.engine, ids)


def next_mask(
    tok: Tokenizer,
    ids: Iterable[int] | np.ndarray,
    *,
    specials: bool = True,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Return which ids may follow some, so that a text still has ids that begin with all of them.

    A loop that decodes uses :func:`canonical_state` instead, which reads no id twice.

    Parameters
    ----------
    tok : Tokenizer
    ids : iterable of int, or (n,) array of integers
    specials : bool
        Whether special ids may follow. By default, they may where a text can end: the ids since the last
        special one are those of their text.
    out : (vocab_size,) array of bool, optional
        Written to, and returned.

    Returns
    -------
    (vocab_size,) array of bool

    Raises
    ------
    ValueError, TypeError
        As :func:`canonical_state`.

    Complexity
    ----------
    As :func:`canonical_state` and :meth:`CanonicalState.mask`.

    Examples
    --------
    >>> import bpe, bpe.ids
    >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
    >>> bpe.ids.next_mask(tok, [108])[[108, 111]]
    array([ True, False])
    """
    mask = canonical_state(tok, ids).mask(out)
    if not specials:
        mask[[*tok.engine.special_id_set]] = False
    return mask


class CanonicalState:
    """Which ids may follow those that have come so far; made by :func:`canonical_state`.

    An id may follow if some text, which is UTF-8, has ids that begin with all ids and this one. A special id
    may follow where the ids since the last special one are those of their text. Ids without a token, or that
    no text is encoded to, may not.

    One thread uses a state at a time. The states of a tokenizer share what they remember.

    * :meth:`push`, :meth:`mask`, :attr:`may_end`
    * :meth:`copy`, :attr:`is_exact`

    Examples
    --------
    >>> import bpe, bpe.ids
    >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
    >>> state = bpe.ids.canonical_state(tok)
    >>> state.push(108), state.push(111), state.may_end
    (True, False, False)
    """

    def __init__(self, engine: Engine, ids: Iterable[int] | np.ndarray = ()) -> None:
        self._engine, self._tokens = engine, engine.next_tokens
        self._position = position_after(engine, ids)
        self._may_end: bool | None = None  # known after the first look

    def __repr__(self) -> str:
        return f"<CanonicalState: {self.mask().sum():,} ids may follow>"

    @property
    def is_exact(self) -> bool:
        """Whether all ids of the mask may follow. If not, some may not, but none that may is left out.

        It is false where a tokenizer changes texts to a normal form of Unicode, or has added tokens, which
        are found in every text, and where a special id is also that of an ordinary token.
        """
        return self._tokens.is_exact

    @property
    def may_end(self) -> bool:
        """Whether the ids since the last special one are those of their text, also inside a character."""
        if self._may_end is None:
            self._may_end = may_end(self._engine, self._position)
        return self._may_end

    def push(self, token_id: int) -> bool:
        """Take the next id; return whether some text has ids that begin with all. If not, none may follow.

        Raises
        ------
        ValueError, TypeError
            It has no token, or is not an integer; it is not taken.

        Complexity
        ----------
        O(b) for b bytes of the token, for a few ways in which the text may be cut.

        Examples
        --------
        >>> import bpe, bpe.ids
        >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
        >>> state = bpe.ids.canonical_state(tok, [257])
        >>> state.push(119), state.push(108), state.push(256), bool(state.mask().any())
        (True, True, True, True)
        """
        token_id = as_integer(token_id, "token_id")
        if token_id not in self._engine.vocabulary.bytes_of:
            checked_ids(self._engine.vocabulary, [token_id])
        self._position, self._may_end = push(self._engine, self._position, token_id), None
        return bool(self._position.hypotheses)

    def mask(self, out: np.ndarray | None = None) -> np.ndarray:
        """Return which ids may follow.

        Parameters
        ----------
        out : (vocab_size,) array of bool, optional
            Written to, and returned.

        Returns
        -------
        (vocab_size,) array of bool

        Complexity
        ----------
        A copy of v bytes for v ids, where the mask is remembered. Else O(v) for each way in which the text
        may be cut; the first time in a state of the pattern, O(b) for b bytes of all tokens.

        Examples
        --------
        >>> import bpe, bpe.ids
        >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
        >>> bpe.ids.canonical_state(tok, [108]).mask()[[108, 111]]
        array([ True, False])
        """
        out = mask_of(self._tokens.size, out)
        out[:] = self._tokens.mask(self._position.hypotheses)
        if self.may_end:
            out[self._tokens.end_ids_array] = True
        return out

    def copy(self) -> CanonicalState:
        """Return another state after the same ids.

        Examples
        --------
        >>> import bpe, bpe.ids
        >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
        >>> state = bpe.ids.canonical_state(tok)
        >>> state.copy().push(257), state.may_end
        (True, True)
        """
        other = type(self).__new__(type(self))
        vars(other).update(vars(self))
        return other
