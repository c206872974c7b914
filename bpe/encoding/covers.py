"""Covers: the shortest beginnings of ids that reach the end of a prefix, whatever text follows.

::

    prefix    I'r               pattern of GPT-2
    known     I                 its piece has ended, whatever follows
    rest      'r                covers of it   're
                                               ' r      ' rain      ' rope      and 450 more

The known part is encoded. In the rest, a piece or two, each token that fits is tried from each place that is
reached, with what :mod:`bpe.encoding.next_tokens` knows: ids that no text gives are left at once. Hardly two
rows of ids reach a place, as the ids of a piece are known where it ends. So what differs is where pieces
end, and the last ids.

An added token is found at the first place where one begins, the longest there. So a token that is complete in
the rest ends what is before it, and only one that reaches the end can be longer.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from bpe.encoding.canonicity import listed
from bpe.encoding.streams import Begins

if TYPE_CHECKING:
    from bpe.encoding.canonicity import Linked
    from bpe.encoding.engine import Engine
    from bpe.encoding.next_tokens import Hypotheses, NextTokens

_NONE = np.empty(0, np.uint32)
# Ids, and those of which each may be the last one after them.
Path: TypeAlias = tuple[list[int], np.ndarray]


def find_covers(engine: Engine, data: bytes) -> tuple[np.ndarray, list[Path]]:
    """Return the ids that begin all covers of some bytes, at least one, and what follows them.

    That is, in the order of the places where they begin, the last ids, each after some others.
    """
    tokens = engine.next_tokens  # raises if it is not known which ids may follow
    if not data:
        return _NONE, []
    try:
        _, n_whole = codecs.utf_8_decode(data, "strict", False)
        n_known, end, _ = engine.decided(data, Begins.TEXT, engine.ordinary_rules)
        known = engine.encoder_for(data[:end], engine.ordinary_rules).encode_to_numpy(data[:end])
    except ValueError:  # no text begins so
        return _NONE, []
    known = known[: len(known) - engine.n_ids_of_tail(known, end - n_known)]
    if n_known == len(data):
        return known[:-1], [([], known[-1:])]
    rest = data[n_known:]
    if not engine.is_lossless:
        rest = engine.normalized_rest(data[n_known:n_whole]) + data[n_whole:]
    return shared(known, [*_covers_of_rest(engine, tokens, rest)])


def shared(known: np.ndarray, paths: list[Path]) -> tuple[np.ndarray, list[Path]]:
    """Return known ids and those that all paths begin with, and the paths after these."""
    rows = [ids for ids, _ in paths]
    first, last = min(rows, default=[]), max(rows, default=[])
    n = next((n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    known = np.concatenate([known, np.array(first[:n], np.uint32)])
    return known, [(ids[n:], last_ids) for ids, last_ids in paths]


def _covers_of_rest(engine: Engine, tokens: NextTokens, rest: bytes) -> Iterator[Path]:
    """Yield the covers of some bytes of which nothing is known."""
    added = (*engine.ordinary_rules.allowed.encoded,)
    complete = [place for place in range(len(rest)) if rest.startswith(added, place)]
    bounds = [len(rest), *reversed(complete)]
    reached: dict[int, list[tuple[Hypotheses, Linked]]] = {0: [(tokens.first, None)]}
    for place in range(len(rest)):
        if place not in reached:
            continue
        while bounds[-1] < place:
            bounds.pop()
        here, bound = rest[place : place + tokens.longest + 1], bounds[-1]
        is_added = place == bound
        if is_added:
            longest = max((token for token in added if here.startswith(token)), key=len)
            following: tuple[int, ...] = (engine.special_ids[longest],)
        else:
            following = tokens.beginnings_of(here[: bound - place])
        for hypotheses, ids in reached.pop(place):
            may_end = bool(added) and tokens.may_end(hypotheses)
            for token_id, after in tokens.steps(hypotheses, following, is_added and may_end):
                end = place + len(engine.vocabulary.bytes_of[token_id])
                reached.setdefault(end, []).append((after, (token_id, ids)))
            last = _NONE if bound < len(rest) else tokens.beginning_with(hypotheses, here)
            if may_end and (more := [engine.special_ids[token] for token in added if token.startswith(here)]):
                last = np.union1d(last, more)
            if len(last):
                yield listed(ids)[0], last.astype(np.uint32)
