"""Text that comes in pieces: a stream, and a text that grows.

::

    fed        The quick <|fim|>brown fo
    decided    The| quick| |<|fim|>|brown        encoded, and forgotten
    held                                 fo      may still become "fox", or "fo<|end|>"

What is held is encoded again when more is there. Where nothing can be decided, it is looked at again only
after it has grown by half, so that the work stays linear. Every compiled pattern decides all but a piece or
two, so that no more is held; one that looks behind, or that is not compiled, decides nothing before the next
special token, or the end.
"""

from __future__ import annotations

from bpe.boundaries import decided
from bpe.encoding.engine import NO_TOKENS, Base, Ordinary
from bpe.specials import Rules, Specials, refusal
from bpe.text import utf8_of

__all__ = ["AppendableEncoder", "StreamEncoder", "Streaming"]

_SMALL = 4096  # bytes that are looked at every time


class StreamEncoder:
    """Encodes text that is fed in pieces, cut anywhere; made by ``Tokenizer.stream_encoder``.

    Parameters
    ----------
    tokenizer : Tokenizer
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

    def __init__(self, tokenizer: Base, rules: Rules, name: str = "the stream") -> None:
        self._tokenizer, self._rules, self._name = tokenizer, rules, name
        self._begin()

    def _begin(self) -> None:
        self._held = bytearray()  # of which nothing is decided, but for what was not looked at
        self._n_looked = 0
        self._surrogate = ""  # the first half of a pair, at the end of the last str
        self._before = b""  # the last bytes of all that is no longer held: a disallowed token may go on
        self._n_decided = 0

    def feed(self, text: str | bytes) -> list[int]:
        """Take more text; return the ids that are known now.

        Parameters
        ----------
        text : str or bytes
            Cut from the whole anywhere; bytes, inside a character, too.

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
        more, surrogate = self._bytes_of(text)
        self._refuse(more)
        self._surrogate = surrogate
        self._held += more
        n_held = len(self._held)
        if n_held > _SMALL and 2 * n_held < 3 * self._n_looked:
            return []
        ids, n_decided = self._known_ids()
        reach = self._rules.disallowed.reach
        if n_decided and reach:
            self._before = bytes((self._before + self._held[max(n_decided - reach, 0) : n_decided])[-reach:])
        del self._held[:n_decided]
        self._n_decided += n_decided
        self._n_looked = len(self._held)
        return ids

    def finish(self) -> list[int]:
        """Return the ids of what is left, and begin a new text.

        Returns
        -------
        list of int

        Complexity
        ----------
        As ``Tokenizer.encode``.

        Examples
        --------
        >>> import bpe
        >>> stream = bpe.train(["low lower"], vocab_size=258, progress=False).stream_encoder()
        >>> stream.feed("low"), stream.finish(), stream.finish()
        ([], [257], [])
        """
        ids = self.rest()
        self._begin()
        return ids

    def rest(self) -> list[int]:
        """Return the ids of what is left, if nothing follows; more may be fed all the same.

        Returns
        -------
        list of int

        Complexity
        ----------
        As ``Tokenizer.encode``, for what is held.

        Examples
        --------
        >>> import bpe
        >>> stream = bpe.train(["low lower"], vocab_size=258, progress=False).stream_encoder()
        >>> stream.feed("low"), stream.rest(), stream.feed("er"), stream.rest()
        ([], [257], [], [257, 101, 114])
        """
        held = bytes(self._held) + utf8_of(self._surrogate)
        return self._ids_of(held)

    # ------------------------------------------------------------------------------------------ parts
    def _bytes_of(self, text: str | bytes) -> tuple[bytes, str]:
        """Return bytes, and the first half of a surrogate pair, if one is at the end."""
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
        seen = self._before + bytes(self._held[max(len(self._held) - search.reach, 0) :])
        seen = seen[len(seen) - search.reach + 1 :] if len(seen) >= search.reach else seen
        text = seen + more
        if any(needle in text for needle in search.needles):
            for start, end in search.find_all(text):
                place = self._n_decided + len(self._held) - len(seen) + start
                raise refusal(text[start:end].decode(), f"byte {place}", self._name)

    def _ids_of(self, data: bytes) -> list[int]:
        search = self._rules.allowed
        if any(needle in data for needle in search.needles):
            return self._tokenizer._encode_special([data], search)[0].tolist()
        return self._tokenizer._encoder.encode(data)

    def _known_ids(self) -> tuple[list[int], int]:
        """Return the ids that no longer change, and of how many bytes they are."""
        data, tokenizer = bytes(self._held), self._tokenizer
        n_decided, end = decided(data, tokenizer._pattern, self._rules.allowed)
        # Encoded with all that is known behind, as a piece may look ahead; which is then cut off.
        ids = self._ids_of(data[:end]) if end else []
        n_open = end - n_decided
        while n_open:
            n_open -= len(tokenizer._vocabulary.bytes_of[ids.pop()])
        return ids, n_decided


class AppendableEncoder:
    """A text that grows, and its ids; made by ``Tokenizer.appendable_encoder``.

    Only what can still change is encoded again.

    Parameters
    ----------
    tokenizer : Tokenizer
    rules : Rules

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

    def __init__(self, tokenizer: Base, rules: Rules) -> None:
        self._stream = StreamEncoder(tokenizer, rules)
        self._ids: list[int] = []
        self._rest: list[int] | None = None

    def append(self, text: str | bytes) -> None:
        """Add text at the end.

        Parameters
        ----------
        text : str or bytes
            Cut from the whole anywhere; bytes, inside a character, too.

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
        self._ids += self._stream.feed(text)
        self._rest = None

    def count(self) -> int:
        """Return the number of ids of the text as it is now.

        Returns
        -------
        int

        Complexity
        ----------
        As ``Tokenizer.encode`` for the last piece; O(1) if nothing was added since.

        Examples
        --------
        >>> import bpe
        >>> bpe.train(["low lower"], vocab_size=258, progress=False).appendable_encoder().count()
        0
        """
        return len(self._ids) + len(self._last_ids())

    def ids(self) -> list[int]:
        """Return the ids of the text as it is now: those that ``Tokenizer.encode`` gives for it.

        Returns
        -------
        list of int

        Complexity
        ----------
        O(n) for n ids, and :meth:`count`.

        Examples
        --------
        >>> import bpe
        >>> bpe.train(["low lower"], vocab_size=258, progress=False).appendable_encoder().ids()
        []
        """
        return self._ids + self._last_ids()

    def _last_ids(self) -> list[int]:
        if self._rest is None:
            self._rest = self._stream.rest()
        return self._rest


class Streaming(Base):
    """Base of :class:`bpe.Tokenizer`: text that comes in pieces.

    * :meth:`stream_encoder`, :meth:`appendable_encoder`

    Examples
    --------
    >>> import bpe
    >>> issubclass(bpe.Tokenizer, Streaming)
    True
    """

    def stream_encoder(
        self,
        *,
        allowed_special: Specials = NO_TOKENS,
        disallowed_special: Specials = "all",
        specials: Ordinary = None,
    ) -> StreamEncoder:
        r"""Return an encoder of a text that is fed in pieces.

        Parameters
        ----------
        allowed_special, disallowed_special, specials
            As for :meth:`encode`. In the message of the error, bytes are counted from the beginning of the
            stream.

        Returns
        -------
        StreamEncoder
            ``feed(text)`` gives the ids that are known, whatever follows, ``finish()`` the others. Joined,
            they are what :meth:`encode` gives for the whole text, wherever it was cut.

        Raises
        ------
        ValueError, TypeError
            As :meth:`encode`, for the options.

        Complexity
        ----------
        O(1).

        Examples
        --------
        >>> import bpe
        >>> tok = bpe.train(["caf\u00e9"], vocab_size=256, progress=False)
        >>> stream = tok.stream_encoder()
        >>> stream.feed(b"caf\xc3"), stream.feed(b"\xa9 a"), stream.finish()
        ([], [99, 97, 102, 195, 169], [32, 97])
        """
        return StreamEncoder(self, self._rules_of(allowed_special, disallowed_special, specials))

    def appendable_encoder(
        self,
        *,
        allowed_special: Specials = NO_TOKENS,
        disallowed_special: Specials = "all",
        specials: Ordinary = None,
    ) -> AppendableEncoder:
        """Return an encoder of a text that grows, whose ids and their number can be asked for at any time.

        Parameters
        ----------
        allowed_special, disallowed_special, specials
            As for :meth:`stream_encoder`.

        Returns
        -------
        AppendableEncoder
            With ``append(text)``, ``count()`` and ``ids()``.

        Raises
        ------
        ValueError, TypeError
            As :meth:`encode`, for the options.

        Complexity
        ----------
        O(1).

        Examples
        --------
        >>> import bpe
        >>> growing = bpe.train(["low lower"], vocab_size=258, progress=False).appendable_encoder()
        >>> growing.append("lower")
        >>> growing.ids()
        [257, 101, 114]
        """
        return AppendableEncoder(self, self._rules_of(allowed_special, disallowed_special, specials))
