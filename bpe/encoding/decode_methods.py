"""Decoding: ids to text, all at once or as they come."""

from __future__ import annotations

import codecs
from collections.abc import Iterable

import numpy as np

from bpe.encoding.decoding import join_tokens
from bpe.encoding.engine import Base

__all__ = ["Decoding", "StreamDecoder"]


class Decoding(Base):
    """Base of :class:`bpe.Tokenizer`: ids to text.

    * :meth:`decode`, :meth:`decode_bytes`, :meth:`decode_batch`, :meth:`stream_decoder`

    Examples
    --------
    >>> import bpe
    >>> issubclass(bpe.Tokenizer, Decoding)
    True
    """

    def decode_bytes(self, ids: Iterable[int] | np.ndarray) -> bytes:
        """Decode ids to bytes.

        Parameters
        ----------
        ids : iterable of int, or (n,) array of integers

        Returns
        -------
        bytes

        Raises
        ------
        ValueError
            No token has one of the ids.
        TypeError
            One is no integer.

        Complexity
        ----------
        O(n) for n bytes.

        Examples
        --------
        >>> import bpe
        >>> tok = bpe.Tokenizer(token_bytes=[bytes([i]) for i in range(256)], merges=[], pattern="none")
        >>> tok.decode_bytes([104, 105])
        b'hi'
        """
        return join_tokens(self._vocabulary, ids, self._table)

    def decode(self, ids: Iterable[int] | np.ndarray, errors: str = "replace") -> str:
        """Decode ids to text.

        Parameters
        ----------
        ids : iterable of int, or (n,) array of integers
        errors : str
            What to do with bytes that are no UTF-8, as for ``bytes.decode``.

        Returns
        -------
        str

        Raises
        ------
        ValueError
            No token has one of the ids; or, with ``errors="strict"``, the bytes are no UTF-8.
        TypeError
            One is no integer.

        Complexity
        ----------
        O(n) for n bytes.

        Examples
        --------
        >>> import bpe
        >>> tok = bpe.Tokenizer(token_bytes=[bytes([i]) for i in range(256)], merges=[], pattern="none")
        >>> tok.decode([104, 105])
        'hi'
        """
        return self.decode_bytes(ids).decode("utf-8", errors)

    def decode_batch(self, batch: Iterable[Iterable[int] | np.ndarray], errors: str = "replace") -> list[str]:
        """Decode several lists of ids to texts.

        Parameters
        ----------
        batch : iterable of iterables of int
        errors : str
            As for :meth:`decode`.

        Returns
        -------
        list of str

        Raises
        ------
        ValueError, TypeError
            As :meth:`decode`.

        Complexity
        ----------
        O(n) for n bytes.

        Examples
        --------
        >>> import bpe
        >>> tok = bpe.Tokenizer(token_bytes=[bytes([i]) for i in range(256)], merges=[], pattern="none")
        >>> tok.decode_batch([[104, 105], [33]])
        ['hi', '!']
        """
        return [self.decode(ids, errors) for ids in batch]

    def stream_decoder(self, errors: str = "replace") -> StreamDecoder:
        r"""Return a decoder of ids that come one after the other.

        Parameters
        ----------
        errors : str
            As for :meth:`decode`.

        Returns
        -------
        StreamDecoder
            ``feed(ids)`` gives the characters that are complete, ``finish()`` what is left. Joined, they are
            what :meth:`decode` gives for all ids.

        Complexity
        ----------
        O(1).

        Examples
        --------
        >>> import bpe
        >>> tok = bpe.Tokenizer(token_bytes=[bytes([i]) for i in range(256)], merges=[], pattern="none")
        >>> stream = tok.stream_decoder()
        >>> stream.feed([99, 97]), stream.feed(0xC3), stream.feed(0xA9), stream.finish()
        ('ca', '', 'é', '')
        """
        return StreamDecoder(self, errors)


class StreamDecoder:
    """Decodes ids that come one after the other; made by ``Tokenizer.stream_decoder``.

    A character comes out as soon as its last byte is there.

    Parameters
    ----------
    tokenizer : Tokenizer
    errors : str

    Examples
    --------
    >>> import bpe
    >>> tok = bpe.Tokenizer(token_bytes=[bytes([i]) for i in range(256)], merges=[], pattern="none")
    >>> stream = StreamDecoder(tok, "replace")
    >>> stream.feed(0xC3), stream.finish()
    ('', '\ufffd')
    """

    def __init__(self, tokenizer: Decoding, errors: str) -> None:
        codecs.lookup_error(errors)
        self._tokenizer = tokenizer
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors)

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
        one = [ids] if isinstance(ids, (int, np.integer)) else ids
        return self._decode(self._tokenizer.decode_bytes(one), False)

    def finish(self) -> str:
        """Return what the bytes of a character that was never completed stand for, and begin anew.

        Returns
        -------
        str

        Raises
        ------
        ValueError
            There are such bytes, and ``errors="strict"``.

        Complexity
        ----------
        O(1).

        Examples
        --------
        >>> import bpe
        >>> bpe.train(["low"], vocab_size=256, progress=False).stream_decoder().finish()
        ''
        """
        return self._decode(b"", True)

    def _decode(self, data: bytes, is_last: bool) -> str:
        state = self._decoder.getstate()
        try:
            return self._decoder.decode(data, is_last)
        except ValueError:
            self._decoder.setstate(state)
            raise
