"""Encoding: one text, and many at once.

Of many texts, a stretch of about a mebibyte is put in a row and encoded in one call of the engine, and so
many stretches at a time as there are threads.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise

import numpy as np

from bpe.buffers import as_array
from bpe.encoding.engine import NO_TOKENS, Base, Ordinary, ends_of
from bpe.specials import Rules, Specials
from bpe.text import utf8_of
from bpe.threads import map_in_threads, n_threads

__all__ = ["Encoding"]

MOST_BYTES = 1 << 20
LEAST_BYTES = 1 << 15  # what is less than this is not worth another thread


class Encoding(Base):
    """Base of :class:`bpe.Tokenizer`: text to ids.

    * :meth:`encode`, :meth:`encode_ordinary`, :meth:`encode_to_numpy`
    * :meth:`encode_batch`, :meth:`encode_batch_to_numpy`

    Examples
    --------
    >>> import bpe
    >>> issubclass(bpe.Tokenizer, Encoding)
    True
    """

    def encode(
        self,
        text: str | bytes,
        *,
        allowed_special: Specials = NO_TOKENS,
        disallowed_special: Specials = "all",
        specials: Ordinary = None,
    ) -> list[int]:
        """Encode a text.

        By default, special tokens in the text are an error, so that no untrusted text can smuggle one in.
        Where several begin at the same place, the longest of those allowed is taken.

        Parameters
        ----------
        text : str or bytes
        allowed_special : "all" or collection of str
            Special tokens to encode as such.
        disallowed_special : "all" or collection of str
            Strings that are an error; "all" stands for all special tokens that are not allowed. Special
            tokens that are neither allowed nor disallowed are encoded as the text they are.
        specials : "ordinary", optional
            All text is ordinary, whoever wrote it: no special token is looked for. In place of the other
            two.

        Returns
        -------
        list of int

        Raises
        ------
        ValueError
            The text holds a disallowed special token; or `specials` is something else, or does not go with
            the other two.
        TypeError
            The text is neither str nor bytes, or an argument no collection of str.

        Complexity
        ----------
        O(n) for n bytes of words met before; O(n log n) at worst.

        Examples
        --------
        >>> import bpe
        >>> tok = bpe.Tokenizer(
        ...     token_bytes=[bytes([i]) for i in range(256)],
        ...     merges=[],
        ...     pattern="none",
        ...     special_tokens={"<|end|>": 256},
        ... )
        >>> tok.encode("hi<|end|>", allowed_special={"<|end|>"})
        [104, 105, 256]
        >>> tok.encode("<|end|>", specials="ordinary")
        [60, 124, 101, 110, 100, 124, 62]
        """
        # A short text is encoded in a few microseconds: no call that can be spared.
        if allowed_special is NO_TOKENS and specials is None and disallowed_special == "all":
            rules = self._default_rules
        else:
            rules = self._rules_of(allowed_special, disallowed_special, specials)
        try:
            data = text.encode() if type(text) is str else utf8_of(text)
        except UnicodeEncodeError:
            data = utf8_of(text)
        for needle in rules.needles:
            if needle in data:
                return self._encode_bytes(data, text, rules).tolist()
        return self._encoder.encode(data)

    def encode_ordinary(self, text: str | bytes) -> list[int]:
        """Encode a text in which special tokens are nothing special.

        Parameters
        ----------
        text : str or bytes

        Returns
        -------
        list of int

        Raises
        ------
        TypeError
            The text is neither str nor bytes.

        Complexity
        ----------
        As :meth:`encode`.

        Examples
        --------
        >>> import bpe
        >>> tok = bpe.Tokenizer(token_bytes=[bytes([i]) for i in range(256)], merges=[], pattern="none")
        >>> tok.encode_ordinary("hi")
        [104, 105]
        """
        return self._encoder.encode(utf8_of(text))

    def encode_to_numpy(
        self,
        text: str | bytes,
        *,
        allowed_special: Specials = NO_TOKENS,
        disallowed_special: Specials = "all",
        specials: Ordinary = None,
    ) -> np.ndarray:
        """Encode a text to an array.

        Parameters
        ----------
        text : str or bytes
        allowed_special, disallowed_special, specials
            As for :meth:`encode`.

        Returns
        -------
        (n,) uint32

        Raises
        ------
        ValueError, TypeError
            As :meth:`encode`.

        Complexity
        ----------
        As :meth:`encode`.

        Examples
        --------
        >>> import bpe
        >>> tok = bpe.Tokenizer(token_bytes=[bytes([i]) for i in range(256)], merges=[], pattern="none")
        >>> tok.encode_to_numpy("hi")
        array([104, 105], dtype=uint32)
        """
        rules = self._rules_of(allowed_special, disallowed_special, specials)
        return self._encode_bytes(utf8_of(text), text, rules)

    # ---------------------------------------------------------------------------------------- batches
    def encode_batch(
        self,
        texts: Iterable[str | bytes],
        threads: int | None = None,
        *,
        allowed_special: Specials = NO_TOKENS,
        disallowed_special: Specials = "all",
        specials: Ordinary = None,
    ) -> list[list[int]]:
        """Encode texts, several at once.

        Parameters
        ----------
        texts : iterable of str or bytes
        threads : int, optional
            As many as there are processors by default. The result is the same for every number.
        allowed_special, disallowed_special, specials
            As for :meth:`encode`.

        Returns
        -------
        list of list of int

        Raises
        ------
        ValueError, TypeError
            As :meth:`encode`, with the index of the text; or there are fewer threads than one.

        Complexity
        ----------
        As :meth:`encode`, divided by the number of threads at best.

        Examples
        --------
        >>> import bpe
        >>> tok = bpe.Tokenizer(token_bytes=[bytes([i]) for i in range(256)], merges=[], pattern="none")
        >>> tok.encode_batch(["hi", b"you"])
        [[104, 105], [121, 111, 117]]
        """
        rules = self._rules_of(allowed_special, disallowed_special, specials)
        batch: list[list[int]] = []
        _, stretches = self._encode_many(_listed(texts), threads, rules)
        with _no_collection():
            for ids, offsets in stretches:
                numbers = ids.tolist()
                batch += [numbers[start:end] for start, end in pairwise(offsets.tolist())]
        return batch

    def encode_batch_to_numpy(
        self,
        texts: Iterable[str | bytes],
        threads: int | None = None,
        *,
        allowed_special: Specials = NO_TOKENS,
        disallowed_special: Specials = "all",
        specials: Ordinary = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Encode texts to one array, several at once.

        Parameters
        ----------
        texts : iterable of str or bytes
        threads : int, optional
            As for :meth:`encode_batch`.
        allowed_special, disallowed_special, specials
            As for :meth:`encode`.

        Returns
        -------
        ids : (n,) uint32
            Of all texts, one after the other.
        offsets : (len(texts) + 1,) int64
            Those of text i are ``ids[offsets[i]:offsets[i + 1]]``.

        Raises
        ------
        ValueError, TypeError
            As :meth:`encode_batch`.

        Complexity
        ----------
        As :meth:`encode_batch`.

        Examples
        --------
        >>> import bpe
        >>> tok = bpe.Tokenizer(token_bytes=[bytes([i]) for i in range(256)], merges=[], pattern="none")
        >>> tok.encode_batch_to_numpy(["hi", "you"])
        (array([104, 105, 121, 111, 117], dtype=uint32), array([0, 2, 5]))
        """
        rules = self._rules_of(allowed_special, disallowed_special, specials)
        return joined(*self._encode_many(_listed(texts), threads, rules))

    def _encode_many(
        self, texts: Sequence[str | bytes], threads: int | None, rules: Rules, what: str = "text"
    ) -> tuple[int, Iterator[tuple[np.ndarray, np.ndarray]]]:
        """Return how long the texts are, and ids and offsets of one stretch of them after the other."""
        threads = n_threads(threads)
        needles = [needle.decode() for needle in rules.needles]

        def encode_stretch(stretch: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
            first, last = stretch
            row = _ascii_row(texts[first:last])
            if row and not any(needle in row for needle in needles):
                return self._encoder.encode_segments(as_array(row), ends_of(texts[first:last]))
            some = _bytes_of(texts[first:last], first, what)
            data = some[0] if len(some) == 1 else bytearray().join(some)
            if not any(needle in data for needle in rules.needles):
                return self._encoder.encode_segments(data, ends_of(some))
            for index in range(first, last):
                if any(needle in some[index - first] for needle in rules.needles):
                    rules.refuse(texts[index], f"{what} {index}")
            return self._encode_special(some, rules.allowed)

        length, stretches = _stretches(texts, threads, what)
        return length, map_in_threads(encode_stretch, stretches, min(threads, max(len(stretches), 1)))


def _stretches(texts: Sequence[str | bytes], threads: int, what: str) -> tuple[int, list[tuple[int, int]]]:
    """Return how long the texts are, and which to encode together: the first, and behind the last."""
    try:
        ends = ends_of(texts)  # as if all were ASCII
    except TypeError:
        _bytes_of(texts, 0, what)
        raise
    total = int(ends[-1]) if len(ends) else 0
    wanted = min(max(total // (4 * threads), LEAST_BYTES), MOST_BYTES) if threads > 1 else MOST_BYTES
    # A stretch ends with the text that ends at or behind its share of the bytes.
    shares = np.arange(1, total // wanted + 1) * wanted
    edges = np.unique(np.concatenate([[0], np.searchsorted(ends, shares) + 1, [len(ends)]]))
    return total, list(pairwise(edges.tolist()))


def _ascii_row(texts: Sequence[str | bytes]) -> str | None:
    """Return texts one after the other, None where there is anything but ASCII in a str."""
    row = [text for text in texts if isinstance(text, str) and text.isascii()]
    if len(row) < len(texts):
        return None
    return row[0] if len(row) == 1 else "".join(row)


def _bytes_of(texts: Sequence[str | bytes], first: int, what: str) -> list[bytes]:
    try:
        return [text.encode() for text in texts]  # type: ignore[union-attr]
    except (AttributeError, UnicodeEncodeError):
        return [utf8_of(text, f"{what} {index}") for index, text in enumerate(texts, first)]


@contextmanager
def _no_collection() -> Iterator[None]:
    """Keep Python from looking through many new lists of numbers for cycles, which takes most of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _listed(texts: Iterable[str | bytes]) -> Sequence[str | bytes]:
    if isinstance(texts, (str, bytes)):
        raise TypeError("texts is a single text: put it in a list")
    return texts if isinstance(texts, (list, tuple)) else list(texts)


def joined(length: int, stretches: Iterable[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Return the ids and offsets of all stretches as one array each; `length` is that of the texts."""
    # Of memory that is not written to there is none: rather ask for too much than copy.
    ids, all_offsets, n = np.empty(length // 2, np.uint32), [np.zeros(1, np.int64)], 0
    for some, offsets in stretches:
        if n + len(some) > len(ids):
            ids = np.concatenate([ids[:n], np.empty(len(some) + n // 2, np.uint32)])
        ids[n : n + len(some)] = some
        all_offsets.append(offsets[1:] + n)
        n += len(some)
    ids.resize(n, refcheck=False)
    return ids, np.concatenate(all_offsets)
