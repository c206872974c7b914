"""Texts cut into chunks with at most N tokens."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, AnyStr, NamedTuple, Unpack

import numpy as np

from bpe.splitting.specials import SpecialOptions, check_names, takes_special_options
from bpe.support.integers import as_integer
from bpe.support.text import is_between_characters

if TYPE_CHECKING:
    from bpe.tokenizer import Tokenizer

_SPARE = 4096  # more characters than a chunk can have: a piece may need what follows it


class Chunk(NamedTuple):
    """A part of a text, and its ids."""

    start: int
    """Where it begins: a character of a str, a byte of bytes."""

    end: int
    """Where it ends."""

    ids: np.ndarray
    """``(n,) uint32``: those of the part by itself."""


@takes_special_options
def chunks(
    tok: Tokenizer,
    text: AnyStr,
    max_tokens: int,
    overlap: int = 0,
    **special: Unpack[SpecialOptions],
) -> list[Chunk]:
    """Cut a text into chunks of at most `max_tokens` tokens, each encoded by itself.

    Chunks are cut between characters. Each is as long as :meth:`bpe.Tokenizer.truncate` makes the text from
    where it begins; a shorter one where no beginning has the ids that the text begins with, or where a piece
    of some thousand characters can change with what follows it.

    Parameters
    ----------
    tok : Tokenizer
    text : str or bytes
    max_tokens : int
    overlap : int
        How many of the last tokens of one chunk the next one begins with; fewer where they would be all of a
        chunk, or cut a character.
    **special
        As for :meth:`bpe.Tokenizer.encode`.

    Returns
    -------
    list of Chunk

    Raises
    ------
    ValueError
        A character has more than `max_tokens` tokens; or a number is out of range; or as
        :meth:`bpe.Tokenizer.encode`.

    Complexity
    ----------
    O(n) for n bytes, if `overlap` is at most half of `max_tokens`.

    Examples
    --------
    >>> import bpe, bpe.ids
    >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
    >>> text = "low low lower"
    >>> [text[start:end] for start, end, _ in bpe.ids.chunks(tok, text, 3)]
    ['low low', ' lowe', 'r']
    """
    if not hasattr(tok, "engine"):
        raise TypeError(f"tok must be a Tokenizer, not {type(tok).__name__}")
    max_tokens, overlap = as_integer(max_tokens, "max_tokens"), as_integer(overlap, "overlap")
    if max_tokens < 1:
        raise ValueError(f"max_tokens must be at least 1, not {max_tokens}")
    if not 0 <= overlap < max_tokens:
        raise ValueError(f"overlap must be from 0 to max_tokens - 1, {max_tokens - 1}, not {overlap}")
    check_names(special, chunks)
    rules = tok.engine.rules_of(**special)
    rules.refuse(text)
    n_before, n_after = map(len, rules.around)
    found: list[Chunk] = []
    starts: list[int] = [0]
    size = max_tokens * max(2 * tok.engine.vocabulary.longest, 10) + _SPARE
    while (end := found[-1].end if found else 0) < len(text):
        for start in [*starts, end]:
            part = _beginning(tok, text[start : start + size], max_tokens, special)
            if start + len(part) > end:
                break
        else:
            around = f", with the {n_before + n_after} put around it" if n_before + n_after else ""
            raise ValueError(
                f"no part of the text that begins at {end} has at most max_tokens={max_tokens} tokens{around}"
            )
        ids, token_starts, token_ends = tok.encode_with_offsets(part, **special)
        found.append(Chunk(start, start + len(part), ids))
        own = slice(n_before, len(ids) - n_after)
        token_starts, token_ends = token_starts[own], token_ends[own]
        # What begins a character, but not the chunk.
        first = max(len(token_starts) - overlap, 1)
        is_begin = token_starts[first:] >= token_ends[first - 1 : -1]
        places = token_starts[first:][is_begin].tolist()
        if not isinstance(part, str):
            places = [place for place in places if is_between_characters(part, place)]
        starts = [start + place for place in places]
    return found


def _beginning(tok: Tokenizer, text: AnyStr, max_tokens: int, special: SpecialOptions) -> AnyStr:
    """Return a beginning of a text with at most `max_tokens` tokens."""
    part = tok.truncate(text, max_tokens, **special)
    if part:
        return part
    # No beginning has the ids that the text begins with, as a token reaches into the next character, or words
    # have a mark at their end. So it may have others.
    found: tuple[np.ndarray, ...] = tok.encode_with_offsets(text, **special)
    places: set[int] = {*found[1][: max_tokens + 1].tolist(), *found[2][:max_tokens].tolist()}
    if isinstance(text, str):
        first_end = 2 if "\ud800" <= text[:1] < "\udc00" <= text[1:2] < "\ue000" else 1
    else:  # the last place between characters up to each
        places = {next(i for i in range(at, -1, -1) if is_between_characters(text, i)) for at in places}
        first_end = next(i for i in range(1, len(text) + 1) if is_between_characters(text, i))
    for end in sorted({*places, first_end} - {0}, reverse=True):
        with suppress(ValueError):  # no token stands for the end of a part that ends inside a word
            if tok.count(text[:end], max_tokens, **special) <= max_tokens:
                return text[:end]
    return part
