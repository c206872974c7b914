"""Text and ids that come in parts: a stream of text, a stream of ids.

::

    fed        The quick <|fim|>brown fo
    decided    The| quick| |<|fim|>|brown        encoded, and forgotten
    held                                 fo      may still become "fox", or "fo<|end|>"

What is held is encoded again when more has come. If nothing can be decided, it is looked at again only after
it has grown by half, so that the work stays linear. Every compiled pattern decides all but a piece or two, so
that no more is held. A pattern that looks behind, or that is not compiled, decides nothing before the next
special token, or the end. The engine says where a text can be cut.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from functools import wraps
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from bpe.splitting.special_search import SpecialSearch
from bpe.splitting.specials import NO_TOKENS, Rules, refusal
from bpe.support.text import utf8_of

if TYPE_CHECKING:
    from bpe.encoding.engine import Engine

_BLOCK = 1 << 16  # characters or bytes that are fed at once
_END = object()  # in place of ids: none follow
Method = TypeVar("Method", bound=Callable[..., Any])


class Begins(Enum):
    """What a part of a text begins with, for the steps of a ``tokenizer.json``.

    An engine without steps does not look at it and says TEXT everywhere: that is not the first byte then.
    """

    TEXT = "the given text"
    SEGMENT = "what follows an added token"
    INSIDE = "the rest of a segment"


def one_thread(method: Method) -> Method:
    """Make a method an error while another thread's call of the same object runs.

    Each call that runs has an item in the object's list ``_running``. A lock would take longer, and neither
    copies nor a forked process could use it. The item is put there inside ``try``, for interrupts.
    """

    @wraps(method)
    def guarded(self: Any, *given: Any) -> Any:
        running = self._running
        try:
            running.append(None)
            if len(running) > 1:
                name = type(self).__name__
                raise RuntimeError(
                    f"two threads use one {name} at once: make one for each thread, or use a lock"
                )
            return method(self, *given)
        finally:
            running.pop()

    return guarded  # type: ignore[return-value]


class StreamEncoder:
    """Encodes a text that is fed in parts, cut anywhere; made by ``Tokenizer.stream_encoder``.

    One thread uses it at a time: a call while another thread's call runs is a RuntimeError, and does nothing.

    Parameters
    ----------
    engine : Engine
    rules : Rules
    name : str
        What to call the text in an error.

    Examples
    --------
    >>> import bpe
    >>> stream = bpe.train(["low lower"], vocab_size=258, progress=False).stream_encoder()
    >>> stream.feed("lo"), stream.feed("w lo"), stream.feed("wer"), stream.finish()
    ([], [257], [], [32, 257, 101, 114])
    """

    def __init__(self, engine: Engine, rules: Rules, name: str = "the stream") -> None:
        self._engine, self._rules, self._name = engine, rules, name
        self._inside = rules.within()
        self._running: list[None] = []
        self._begin()

    def _begin(self) -> None:
        self._held = bytearray()  # nothing of it is decided, but for what was not looked at
        self._n_looked = 0
        self._surrogate = ""  # the first half of a pair, at the end of the last str
        self._last = b""  # the last bytes that were fed: a disallowed token may begin there
        self._n_fed = 0
        self._begins = Begins.TEXT  # what is held begins with it
        self._before_all = list(self._rules.around[0])

    def feed(self, text: str | bytes) -> list[int]:
        """Take more text; return the ids that are known now.

        Parameters
        ----------
        text : str or bytes
            Cut from the whole anywhere; bytes may be cut inside a character.

        Returns
        -------
        list of int

        Raises
        ------
        ValueError
            A disallowed special token is complete now; the text is not taken.
        TypeError
            The text is neither str nor bytes.

        Complexity
        ----------
        As ``Tokenizer.encode``, all in all.

        Examples
        --------
        >>> import bpe
        >>> bpe.train(["low lower"], vocab_size=258, progress=False).stream_encoder().feed("low lower l")
        [257, 32, 257, 101, 114]
        """
        return self._feed(text)

    def finish(self) -> list[int]:
        """Return the ids of what is left, and begin a new text.

        Examples
        --------
        >>> import bpe
        >>> stream = bpe.train(["low lower"], vocab_size=258, progress=False).stream_encoder()
        >>> stream.feed("low"), stream.finish(), stream.finish()
        ([], [257], [])
        """
        return self._end(True)

    def rest(self) -> list[int]:
        """Return the ids of what is left if nothing follows; more may be fed afterwards.

        Examples
        --------
        >>> import bpe
        >>> stream = bpe.train(["low lower"], vocab_size=258, progress=False).stream_encoder()
        >>> stream.feed("low"), stream.rest(), stream.feed("er"), stream.rest()
        ([], [257], [], [257, 101, 114])
        """
        return self._end(False)

    # ------------------------------------------------------------------------------------------ parts
    @one_thread
    def _feed(self, text: str | bytes) -> list[int]:
        self._take(text)
        n_held = len(self._held)
        if n_held > self._engine.small and 2 * n_held < 3 * self._n_looked:
            return []
        return self._look()

    @one_thread
    def _end(self, is_last: bool) -> list[int]:
        ids = self._ids_of(bytes(self._held) + utf8_of(self._surrogate))
        ids = [*self._before_all, *ids, *self._rules.around[1]]
        if is_last:
            self._begin()
        return ids

    def _look(self) -> list[int]:
        """Return the ids that no later text changes, and hold the rest.

        A piece can depend on what follows it. So some bytes that follow are encoded, too, and their ids are
        dropped. Nothing changes before all is encoded: an error or an interrupt leaves the text whole.
        """
        ids: list[int] = []
        data = bytes(self._held)
        n_decided, end, begins = self._engine.decided(data, self._begins, self._inside)
        if end:
            ids = self._ids_of(data[:end])
            ids = ids[: len(ids) - self._engine.n_ids_of_tail(ids, end - n_decided)]
        del self._held[:n_decided]
        self._begins, self._n_looked = begins, len(self._held)
        if ids:
            ids, self._before_all = self._before_all + ids, []
        return ids

    def _take(self, text: str | bytes) -> None:
        more, surrogate = self._bytes_of(text)
        self._refuse(more)
        self._surrogate = surrogate
        self._n_fed += len(more)
        self._held += more

    def _bytes_of(self, text: str | bytes) -> tuple[bytes, str]:
        """Return bytes, and the first half of a surrogate pair if it is the last character."""
        if isinstance(text, str):
            text = self._surrogate + text
            is_half = "\ud800" <= text[-1:] < "\udc00"
            return utf8_of(text[:-1] if is_half else text), text[-1] if is_half else ""
        data = utf8_of(text)
        return (utf8_of(self._surrogate) + data, "") if data else (b"", self._surrogate)

    def _refuse(self, more: bytes) -> None:
        search = self._rules.disallowed
        if not search.tokens or not more:
            return
        text = self._last + more
        if any(needle in text for needle in search.needles):
            for start, end in search.find_all(text):
                place = self._n_fed - len(self._last) + start
                raise refusal(text[start:end].decode(), f"byte {place}", self._name)
        self._last = text[max(len(text) - search.reach + 1, 0) :]

    def _ids_of(self, data: bytes) -> list[int]:
        return self._engine.encoder_for(data, self._inside, begins=self._begins).encode(data)


def encode_blocks(
    engine: Engine, blocks: Iterable[bytes], rules: Rules, what: str = "text"
) -> Iterator[list[int]]:
    """Yield the ids of a text that comes in blocks, cut anywhere, as ``Tokenizer.encode`` returns them.

    A disallowed special token is a ValueError: the same one that is found in the whole.
    """
    stream = StreamEncoder(engine, Rules(rules.allowed.tokens, NO_TOKENS, rules.around))
    last = b""
    for block in _checked(blocks, rules.disallowed, what):
        if last:
            yield stream.feed(last)
        last = block
    stream._take(last)  # nothing follows, so nobody has to look where it can be cut
    yield stream.finish()


def encode_parts(engine: Engine, texts: Iterable[str | bytes], rules: Rules) -> Iterator[int]:
    """Yield the ids of a text that comes in parts of any length, cut anywhere; a single text is an error."""
    if isinstance(texts, (str, bytes)):
        raise TypeError("texts is a single text: put it in a list, or use encode")
    return _ids_of_parts(StreamEncoder(engine, rules, "the text"), texts)


def _ids_of_parts(stream: StreamEncoder, texts: Iterable[str | bytes]) -> Iterator[int]:
    for block in _in_blocks(texts):
        yield from stream.feed(block)
    yield from stream.finish()


def _in_blocks(texts: Iterable[str | bytes]) -> Iterator[str | bytes]:
    """Yield short texts joined, which are encoded faster, and long ones cut."""
    parts: list[Any] = []
    n_held = 0
    for number, text in enumerate(texts):
        part = text if isinstance(text, str) else utf8_of(text, f"text {number}")
        if parts and isinstance(part, str) != isinstance(parts[0], str):
            yield parts[0][:0].join(parts)
            parts, n_held = [], 0
        for start in range(0, len(part), _BLOCK):
            parts.append(part[start : start + _BLOCK])
            n_held += len(parts[-1])
            if n_held >= _BLOCK:
                yield parts[0][:0].join(parts)
                parts, n_held = [], 0
    if parts:
        yield parts[0][:0].join(parts)


def _checked(blocks: Iterable[bytes], search: SpecialSearch, what: str) -> Iterator[bytes]:
    """Yield blocks; raise at the first disallowed token, which is the longest that begins there."""
    held, n_done = b"", 0
    for block in blocks:
        text = held + block
        horizon = search.horizon(len(text))
        _refuse_before(horizon, text, search, n_done, what)
        held, n_done = text[horizon:], n_done + horizon
        yield block
    _refuse_before(len(held), held, search, n_done, what)


def _refuse_before(horizon: int, text: bytes, search: SpecialSearch, n_done: int, what: str) -> None:
    if any(needle in text for needle in search.needles):
        for start, end in search.find_all(text):
            if start < horizon:
                token = text[start:end].decode("utf-8", "surrogatepass")
                raise refusal(token, f"byte {n_done + start}", what)
            break


class PartDecoder(Protocol):
    """Decodes ids that come in parts."""

    def decode(self, ids: Iterable[int] | np.ndarray, is_last: bool) -> str:
        """Take more ids; return the characters that no later id can change."""


class Utf8Decoder:
    """Decodes ids that stand for bytes."""

    def __init__(self, engine: Engine, errors: str) -> None:
        self._engine, self._errors = engine, errors
        self._partial = b""  # a character that is not complete

    def decode(self, ids: Iterable[int] | np.ndarray, is_last: bool) -> str:
        """Take more ids; return the characters that are complete now."""
        data = self._partial + self._engine.table.join(ids)
        text, n_taken = codecs.utf_8_decode(data, self._errors, is_last)
        self._partial = data[n_taken:]
        return text


class StreamDecoder:
    r"""Decodes ids that come one after the other; made by ``Tokenizer.stream_decoder``.

    A character comes out as soon as its last byte has come. One thread uses it at a time, as a
    stream of text.

    Parameters
    ----------
    engine : Engine
    errors : str
    skip_special_tokens : bool
        Whether ids of special tokens are left out.

    Examples
    --------
    >>> import bpe
    >>> stream = bpe.train(["low"], vocab_size=256, progress=False).stream_decoder()
    >>> stream.feed([99, 97]), stream.feed(0xC3), stream.feed(0xA9), stream.finish()
    ('ca', '', 'é', '')
    """

    def __init__(self, engine: Engine, errors: str, skip_special_tokens: bool = False) -> None:
        codecs.lookup_error(errors)
        self._decoder = engine.part_decoder(errors)
        self._taken = engine.without_special if skip_special_tokens else None
        self._running: list[None] = []

    def feed(self, ids: int | Iterable[int] | np.ndarray) -> str:
        """Take more ids; return the characters that are complete now.

        Parameters
        ----------
        ids : int, iterable of int, or (n,) array of integers

        Returns
        -------
        str

        Raises
        ------
        ValueError, TypeError
            As ``Tokenizer.decode``; nothing is taken then.

        Complexity
        ----------
        O(n) for n bytes.

        Examples
        --------
        >>> import bpe
        >>> bpe.train(["low"], vocab_size=256, progress=False).stream_decoder().feed([104, 105])
        'hi'
        """
        some = [ids] if isinstance(ids, (int, np.integer)) else ids
        return self._decode(some if self._taken is None else self._taken(some))

    def finish(self) -> str:
        r"""Return what an incomplete character at the end stands for, and begin a new text.

        Raises
        ------
        ValueError
            There is one, and ``errors="strict"``.

        Examples
        --------
        >>> import bpe
        >>> stream = bpe.train(["low"], vocab_size=256, progress=False).stream_decoder()
        >>> stream.feed(0xC3), stream.finish()
        ('', '\ufffd')
        """
        return self._decode(_END)

    @one_thread
    def _decode(self, ids: Any) -> str:
        return self._decoder.decode((), True) if ids is _END else self._decoder.decode(ids, False)
