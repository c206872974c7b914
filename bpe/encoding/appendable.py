"""``AppendableEncoder``: a text that grows, and its ids.

What a :class:`bpe.encoding.streams.StreamEncoder` holds is encoded again for each count. If that is a long
piece, :class:`GrowingPiece` encodes its end alone::

    piece      abcabcab|cabca|bcab+abc      + is new
    kept       abcabcab|                    the ids before a boundary some bytes from the end
    encoded             |cabcabcababc       the rest of the piece

Merges of two texts side by side are independent if nothing is merged across the place between them. Whether
something is, the token before the place and the one after it tell, by themselves: they are what they are
because nothing was merged across their other ends, so that what their bytes alone are merged to is what
happens in the whole. If something is, the boundary before it is tried, some more bytes from the end. How
much the end of a piece changes depends on the vocabulary, not on the length of the piece.

The pattern says where the piece ends. It is read on from the state that its automaton had, so that each byte
is read once.

The first ids of a long piece are known long before its end, see :meth:`GrowingPiece.known`. So a text is
truncated, or its tokens counted up to a limit, without reading the rest.
"""

from __future__ import annotations

import codecs
from bisect import bisect_right
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bpe.encoding.streams import StreamEncoder, one_thread
from bpe.splitting.compiled.automaton import NO_MATCH, Automaton
from bpe.splitting.specials import Rules
from bpe.support.text import code_points, ends_of, utf8_of, widths_of

if TYPE_CHECKING:
    from bpe.encoding.engine import Engine

_SHORT = 4096  # bytes that are encoded again every time
_WINDOW = 64  # bytes before the end that are encoded again, at least
_FIRST_BLOCK = 4096  # characters or bytes
_LONGEST = 512  # bytes of a token; for longer ones, too many ends of a piece would be tried


class AppendableEncoder:
    """A text that grows, and its ids; made by ``Tokenizer.appendable_encoder``.

    Only the end of the text, which can still change, is encoded again; but all of the last piece where a
    tokenizer has steps or supermerges, or where its pattern is not one compiled expression that covers every
    text and does not look behind. One thread uses it at a time, as a stream.

    Parameters
    ----------
    engine : Engine
    rules : Rules
    name : str
        What to call the text in an error.

    Examples
    --------
    >>> import bpe
    >>> growing = bpe.train(["low lower"], vocab_size=258, progress=False).appendable_encoder()
    >>> growing.append("low lo")
    >>> growing.count(), growing.ids()
    (3, [257, 32, 256])
    >>> growing.append("w")
    >>> growing.count(), growing.ids()
    (3, [257, 32, 257])
    """

    def __init__(self, engine: Engine, rules: Rules, name: str = "the stream") -> None:
        self._stream = StreamEncoder(engine, rules, name)
        self._running: list[None] = []
        self._ids: list[int] = []
        self._rest: tuple[Sequence[int], ...] | None = None
        self._piece: GrowingPiece | None = None  # made when it is needed first
        self._begins = self._n_searched = 0  # byte of the text where the piece begins; searched for tokens

    def append(self, text: str | bytes) -> None:
        """Add text at the end.

        Parameters
        ----------
        text : str or bytes
            Cut from the whole anywhere; bytes may be cut inside a character.

        Raises
        ------
        ValueError
            A disallowed special token is complete now; nothing is added.
        TypeError
            The text is neither str nor bytes.

        Complexity
        ----------
        As ``Tokenizer.encode``, all in all.

        Examples
        --------
        >>> import bpe
        >>> growing = bpe.train(["low lower"], vocab_size=258, progress=False).appendable_encoder()
        >>> growing.append("low")
        >>> growing.count()
        1
        """
        self._append(text)

    @one_thread
    def _append(self, text: str | bytes) -> None:
        self._rest = None  # first: the text may be taken, and then fail to be encoded
        self._ids += self._stream.feed(text)

    def count(self) -> int:
        """Return the number of ids of the text as it is now; O(1) if nothing was added since."""
        n_known, rest = self._now()
        return n_known + sum(map(len, rest))

    def ids(self) -> list[int]:
        """Return the ids of the text as it is now: those that ``Tokenizer.encode`` gives for it."""
        n_known, rest = self._now()
        return [*self._ids[:n_known], *chain.from_iterable(rest)]

    @one_thread
    def _now(self) -> tuple[int, tuple[Sequence[int], ...]]:
        """Return how many ids no longer change, and those that follow them now, in parts."""
        if self._rest is None:
            self._rest = self._with_long_piece() or (self._stream.rest(),)
        return len(self._ids), self._rest  # in this order: more ids may have become known

    def known(self) -> list[int]:
        """Return the first ids, of which no text that is added changes any; there may be more of them."""
        return self._known()

    @one_thread
    def _known(self) -> list[int]:
        known, stream, piece = [*self._ids], self._stream, self._long_piece()
        if piece is not None:
            end = stream._rules.allowed.horizon(len(stream._held))  # a special token may begin there
            if first := piece.known(stream._held, end):
                known += [*stream._before_all, *first]
        return known

    def _with_long_piece(self) -> tuple[Sequence[int], ...] | None:
        """Return the ids of what is held if it begins with a long piece that may grow; else None."""
        found = self._parts()
        if found is None and len(self._stream._held) > _SHORT:  # it has an end: it need not be held
            self._ids += self._stream._look()
            found = self._parts()
        return found

    def _parts(self) -> tuple[Sequence[int], ...] | None:
        stream, after = self._stream, utf8_of(self._stream._surrogate)
        if (piece := self._long_piece(after)) is None or (found := piece.parts(stream._held, after)) is None:
            return None
        ids, end = found
        rest = bytes(stream._held[end:]) + after[max(end - len(stream._held), 0) :]
        return stream._before_all, ids, stream._ids_of(rest), stream._rules.around[1]

    def _long_piece(self, after: bytes = b"") -> GrowingPiece | None:
        """Return what encodes the piece that the text held begins with, if it may be a long one.

        There is none with a special token in it; `after` is what follows.
        """
        stream = self._stream
        held, search = stream._held, stream._rules.allowed
        if len(held) <= _SHORT or (automaton := stream._engine.piece_automaton) is None:
            return None
        if self._piece is None:
            self._piece = GrowingPiece(stream._engine, automaton)
        begins = stream._n_fed - len(held)
        if begins != self._begins:
            self._piece.begin()
            self._begins = self._n_searched = begins
        first = max(self._n_searched - begins - search.reach + 1, 0)
        if search.tokens and any(True for _ in search.find_all(bytes(held[first:]) + after)):
            return None
        self._n_searched = stream._n_fed
        return self._piece


def first_ids(engine: Engine, text: str | bytes, n: int, rules: Rules) -> np.ndarray:
    """Return the ids of a text: all of them, or the first `n` and some more."""
    size = max(_FIRST_BLOCK, 8 * n)
    if len(text) <= size:
        data = utf8_of(text)
        return engine.encoder_for(data, rules, text).encode_to_numpy(data)
    if isinstance(text, str) and not text.isascii():
        size //= 2  # they have more bytes than characters, and more tokens
    growing, place = AppendableEncoder(engine, rules, "text"), 0
    while len(ids := growing.known()) < n and place < len(text):
        growing.append(text[place : place + size])
        place, size = place + size, 2 * size
    return np.array(ids if len(ids) >= n else growing.ids(), np.uint32)


class _Search(NamedTuple):
    """A search for the end of a match, as :func:`bpe.splitting.compiled.matching.find_match` does it."""

    state: int
    place: int = 0  # all bytes before it are read
    end: int = 0  # of the match that is found, if nothing follows
    before: int = 0  # where the last character begins
    long_before: int = 0  # and the one before it


class GrowingPiece:
    """The piece that a text begins with, as long as it has no end whatever follows."""

    def __init__(self, engine: Engine, automaton: Automaton) -> None:
        self._encoder, self._bytes_of = engine.encoder, engine.vocabulary.bytes_of
        # A window must not be an atomic token: the piece is longer.
        atomic = (len(self._bytes_of[token_id]) for token_id in engine.vocabulary.atomic_ids)
        self._window = max(_WINDOW, 1 + max(atomic, default=0))
        self._longest = engine.vocabulary.longest
        self._symbol_of = automaton.symbol_of
        self._next_state = automaton.next_state.tolist()
        self._delay_of, self._alive = automaton.delay_of.tolist(), automaton.alive.tolist()
        self._start = int(automaton.start_of[0])
        self.begin()

    def begin(self) -> None:
        """Forget the piece: another text follows."""
        self._search = _Search(self._start)
        self._n_bytes = 0  # of the text at the last call
        self._ids: list[int] = []  # of the piece, as it was then
        self._ends: list[int] = []  # where the token of each ends

    def parts(self, data: bytes | bytearray, after: bytes) -> tuple[list[int], int] | None:
        """Return the ids of the piece, and where it ends, if nothing follows."""
        if not self._may_grow(data):
            return None
        rest = bytes(data[self._search.place :]) + after
        end = self._end_of(self._read(rest.decode(errors="surrogateescape"), self._search))
        self._encode(data, after, end)
        return self._ids, end

    def known(self, data: bytes | bytearray, end: int) -> list[int]:
        """Return the first ids of the piece that are the same whatever follows; none if it may have ended.

        What is after `end` may change.

        ::

            piece    abcabcab|cabc.....?          goes on in an unknown way
            windows          |cab                 a token ends at one of the last places:
                             |cabc                each is tried as the end
                             |cabca

        If nothing is merged across the place where the windows begin, in any of them, the ids before it are
        known. At each end, what is before it and what follows are merged independently.
        """
        end = min(self._search.end, end) if self._may_grow(data) else 0
        width = self._longest + self._window
        if self._longest > _LONGEST or end <= width:
            return []
        self._encode(data, b"", end)
        ids, ends = self._ids, self._ends
        while n := bisect_right(ends, end - width):
            windows = [bytes(data[ends[n - 1] : end - i]) for i in range(self._longest)]
            edges = np.append(0, ends_of(windows)).astype(np.int32)
            new, offsets = self._encoder.encode_pieces(b"".join(windows), edges, edges[1:])
            if all(self._are_apart(ids[n - 1], first) for first in {*new[offsets[:-1]].tolist()}):
                break
            width *= 4
        return ids[:n]

    def _may_grow(self, data: bytes | bytearray) -> bool:
        """Read on; return whether the piece has no end whatever follows."""
        text, _ = codecs.utf_8_decode(bytes(data[self._search.place :]), "surrogateescape", False)
        self._search = self._read(text, self._search)
        return bool(self._alive[self._search.state])

    # ------------------------------------------------------------------------------------- the pattern
    def _read(self, text: str, search: _Search) -> _Search:
        """Continue a search, up to the end of a text or of the search."""
        state, place, end, before, long_before = search
        characters = code_points(text)
        symbols, widths = self._symbol_of[characters].tolist(), widths_of(characters).tolist()
        for symbol, width in zip(symbols, widths, strict=True):
            if not self._alive[state]:
                break
            state = self._next_state[state][symbol]
            if (delay := self._delay_of[state]) != NO_MATCH:
                end = (place + width, place, before, long_before)[delay]
            place, before, long_before = place + width, place, before
        return _Search(state, place, end, before, long_before)

    def _end_of(self, search: _Search) -> int:
        """Return where the match ends if the text ends here."""
        if not self._alive[search.state]:
            return search.end
        delay = self._delay_of[self._next_state[search.state][-1]]
        ends = search.place, search.place, search.before, search.long_before
        return search.end if delay == NO_MATCH else ends[delay]

    # -------------------------------------------------------------------------------------- the tokens
    def _encode(self, data: bytes | bytearray, after: bytes, end: int) -> None:
        """Make the ids those of the piece up to `end`."""
        ids, ends = self._ids, self._ends
        while ends and ends[-1] > min(end, self._n_bytes):
            ids.pop()
            ends.pop()
        width = self._window
        while True:
            n = bisect_right(ends, ends[-1] - width) if ends else 0
            start = ends[n - 1] if n else 0
            new = self._ids_of(bytes(data[start:end]) + after[: max(end - len(data), 0)])
            if n == 0 or self._are_apart(ids[n - 1], new[0]):
                break
            width *= 4
        lengths = [len(self._bytes_of[token_id]) for token_id in new]
        ids[n:], ends[n:] = new, (start + np.cumsum(lengths)).tolist()
        self._n_bytes = len(data)

    def _are_apart(self, left: int, right: int) -> bool:
        """Return whether no merge is across the place between two tokens."""
        return self._ids_of(self._bytes_of[left] + self._bytes_of[right]) == [left, right]

    def _ids_of(self, piece: bytes) -> list[int]:
        edges = np.array([0, len(piece)], np.int32)
        return self._encoder.encode_pieces(piece, edges, edges[1:])[0].tolist()
