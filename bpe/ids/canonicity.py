"""Whether a text gives some ids, where they differ from it, and how much models drift."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from bpe.encoding import canonicity
from bpe.support.threads import map_in_threads, n_threads

if TYPE_CHECKING:
    from bpe.splitting.specials import Specials
    from bpe.tokenizer import Tokenizer


def canonical_ids(tok: Tokenizer, ids: Iterable[int] | np.ndarray) -> list[int]:
    r"""Return the ids that the text of some ids has; special ids stay.

    What is between two special ids is a text by itself, whatever it spells.

    Parameters
    ----------
    tok : Tokenizer
    ids : iterable of int, or (n,) array of integers

    Returns
    -------
    list of int

    Raises
    ------
    ValueError
        An id has no token; or no text has the bytes of some ids, as the vocabulary lacks a byte.
    TypeError
        An id is not an integer.

    Complexity
    ----------
    O(n) for n bytes.

    Examples
    --------
    >>> import bpe, bpe.ids
    >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
    >>> bpe.ids.canonical_ids(tok, [108, 111, 119, 32, 256])
    [257, 32, 256]
    """
    return canonicity.canonical_ids(tok.engine, ids)[1].tolist()


def first_noncanonical(
    tok: Tokenizer, ids: Iterable[int] | np.ndarray, *, allowed_special: Specials | None = None
) -> int | None:
    """Return the first place where ids are not those of their text; None if there is none.

    A cache of keys and values of the ids before this place serves the ids of the text, too. It need not be
    the place where a model chose the wrong id: ``lo`` and ``w`` differ from ``low`` at the first of the two,
    which alone would be right. And the first ids of a text, such as two line ends, may not be those of a
    text that ends there.

    Parameters
    ----------
    tok : Tokenizer
    ids : iterable of int, or (n,) array of integers
    allowed_special : "all" or collection of str, optional
        Take all for one text, in which these special tokens are found. By default, special ids stay, and what
        is between two of them is a text by itself.

    Returns
    -------
    int or None
        If one list begins the other, the shorter length.

    Raises
    ------
    ValueError, TypeError
        An id has no token, or is not an integer.

    Complexity
    ----------
    O(n) for n bytes.

    Examples
    --------
    >>> import bpe, bpe.ids
    >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
    >>> bpe.ids.first_noncanonical(tok, [257, 32, 256, 119]), bpe.ids.first_noncanonical(tok, [257, 32])
    (2, None)
    """
    return canonicity.first_noncanonical(tok.engine, ids, allowed_special)


def first_noncanonical_batch(
    tok: Tokenizer, batch: Iterable[Iterable[int] | np.ndarray], threads: int | None = None
) -> np.ndarray:
    """Return the first place of each list of ids where it is not that of its text; -1 if there is none.

    Parameters
    ----------
    tok : Tokenizer
    batch : iterable of ids, each as for :func:`first_noncanonical`
    threads : int, optional
        By default, as many as there are processors.

    Returns
    -------
    (len(batch),) int64

    Raises
    ------
    ValueError, TypeError
        An id has no token, or is not an integer.

    Complexity
    ----------
    O(n) for n bytes.

    Examples
    --------
    >>> import bpe, bpe.ids
    >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
    >>> bpe.ids.first_noncanonical_batch(tok, [[257], [32, 256, 119], []])
    array([-1,  1, -1])
    """

    def place_in(ids: Iterable[int] | np.ndarray) -> int:
        place = canonicity.first_noncanonical(tok.engine, ids)
        return -1 if place is None else place

    return np.fromiter(map_in_threads(place_in, batch, n_threads(threads)), np.int64)
