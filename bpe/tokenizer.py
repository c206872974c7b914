"""``Tokenizer``: text to ids and back."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from operator import index
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from bpe.atomic_files import atomic_write
from bpe.encoding.decoding import join_tokens
from bpe.encoding.methods import Decoding, Dropout, Files, Measuring, Streaming
from bpe.formats import native
from bpe.formats.methods import OtherFormats
from bpe.pattern import Pattern
from bpe.pickling import Packed, packed, unpacked
from bpe.text import as_bytes, as_text
from bpe.vocabulary import Vocabulary

__all__ = ["Tokenizer"]


class Tokenizer(Files, Decoding, Measuring, Streaming, Dropout, OtherFormats):
    r"""A vocabulary with its merges, split pattern and special tokens: encodes text and decodes ids.

    Never changes; equal where all its parts are; any number of threads may use one, and processes that fork.
    Text is str or bytes: bytes are encoded as they are, UTF-8 or not, and decode to the same bytes; in a str,
    surrogate pairs are joined and any other surrogate, which has no encoding, is encoded as U+FFFD.

    Encoding:

    * :meth:`encode`, :meth:`encode_ordinary`, :meth:`encode_to_numpy`
    * :meth:`encode_batch`, :meth:`encode_batch_to_numpy`, :meth:`encode_files`
    * :meth:`stream_encoder`, :meth:`appendable_encoder`, :meth:`encode_with_dropout`

    Measuring:

    * :meth:`encode_with_offsets`, :meth:`count`, :meth:`truncate`, :meth:`interval_counter`

    Decoding:

    * :meth:`decode`, :meth:`decode_bytes`, :meth:`decode_batch`, :meth:`stream_decoder`

    Vocabulary:

    * :meth:`token_bytes`, :meth:`token_id`, :attr:`vocab_size`, :attr:`merges`
    * :attr:`special_tokens`, :attr:`pattern`; :meth:`truncated`

    Files:

    * :meth:`save`, :meth:`load`; pickle
    * of other programs: :class:`bpe.formats.methods.OtherFormats`

    Parameters
    ----------
    token_bytes : sequence of bytes or None, or mapping from int to bytes
        The bytes of each id; None for an id that is not used, or that a special token has. The 256 single
        bytes are among them, in any order.
    merges : iterable of (int, int)
        (left id, right id) in the order of their ranks. A merge makes the id that has the bytes of both.
    pattern : str, iterable of str or Pattern
        As :meth:`Pattern.of` takes it.
    special_tokens : mapping from str to int
        Their ids; no token has one of these.

    Raises
    ------
    ValueError
        The parts do not fit together; the message names the token, merge or id.
    TypeError
        Something is of the wrong type.

    Examples
    --------
    >>> tokens = [bytes([value]) for value in range(256)] + [b"he", b"hel", b"lo"]
    >>> tok = Tokenizer(
    ...     token_bytes=tokens,
    ...     merges=[(104, 101), (256, 108), (108, 111)],
    ...     pattern="gpt2",
    ...     special_tokens={"<|endoftext|>": 259},
    ... )
    >>> tok.encode("hello hello<|endoftext|>", allowed_special="all")
    [257, 258, 32, 257, 258, 259]
    >>> tok.decode([257, 258])
    'hello'
    """

    def __init__(
        self,
        *,
        token_bytes: Sequence[bytes | None] | Mapping[int, bytes],
        merges: Iterable[tuple[int, int]],
        pattern: str | Iterable[str] | Pattern,
        special_tokens: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        self._pattern = Pattern.of(pattern)
        self._vocabulary = Vocabulary(token_bytes, merges, special_tokens)

    def __repr__(self) -> str:
        specials = f", {len(self._specials)} special" if self._specials else ""
        return f"<Tokenizer of {self.vocab_size} tokens{specials}, pattern {self._pattern.spec!r}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tokenizer):
            return NotImplemented
        mine, theirs = self._vocabulary, other._vocabulary
        return (
            self._pattern == other._pattern
            and np.array_equal(mine.pairs, theirs.pairs)
            and mine.special_tokens == theirs.special_tokens
            and mine.whole_ids == theirs.whole_ids
            and mine.bytes_of == theirs.bytes_of
        )

    def __hash__(self) -> int:
        return hash((self._pattern, self.vocab_size, len(self._vocabulary.pairs), self._specials))

    def __reduce__(self) -> Any:
        derived = {name for cls in type(self).__mro__ for name in vars(cls)}  # what is computed at first use
        others = {name: value for name, value in vars(self).items() if name not in derived | _PARTS}
        return _unpickled, (type(self), self._pattern, packed(self._vocabulary), others)

    # ------------------------------------------------------------------------------------- vocabulary
    @property
    def vocab_size(self) -> int:
        """The greatest id and 1, special tokens included; ids that are not used count.

        Examples
        --------
        >>> import bpe
        >>> bpe.train(["low lower"], vocab_size=258, special_tokens=["<|end|>"]).vocab_size
        258
        """
        return self._vocabulary.size

    @property
    def merges(self) -> list[tuple[int, int]]:
        """(left id, right id) in the order of their ranks; a copy.

        Examples
        --------
        >>> import bpe
        >>> bpe.train(["low lower"], vocab_size=258).merges
        [(108, 111), (256, 119)]
        """
        return list(self._vocabulary.merges)

    @property
    def special_tokens(self) -> dict[str, int]:
        """Special token -> id; a copy.

        Examples
        --------
        >>> import bpe
        >>> bpe.train(["low lower"], vocab_size=258, special_tokens=["<|end|>"]).special_tokens
        {'<|end|>': 257}
        """
        return dict(self._vocabulary.special_tokens)

    @property
    def pattern(self) -> Pattern:
        """How text is split.

        Examples
        --------
        >>> import bpe
        >>> bpe.train(["low lower"], vocab_size=257).pattern.name
        'gpt2'
        """
        return self._pattern

    def token_bytes(self, token_id: int) -> bytes:
        """Return the bytes of an id; of a special token, its UTF-8.

        Parameters
        ----------
        token_id : int

        Returns
        -------
        bytes

        Raises
        ------
        ValueError
            No token has the id.
        TypeError
            It is no integer.

        Complexity
        ----------
        O(1).

        Examples
        --------
        >>> tok = Tokenizer(token_bytes=[bytes([i]) for i in range(256)], merges=[], pattern="none")
        >>> tok.token_bytes(104)
        b'h'
        """
        return join_tokens(self._vocabulary, [token_id])

    def token_id(self, token: bytes | str) -> int:
        """Return the id of a token; of a token and a special token of the same bytes, that of the first.

        Parameters
        ----------
        token : bytes or str
            All of its bytes, or their text.

        Returns
        -------
        int

        Raises
        ------
        KeyError
            There is no such token.

        Complexity
        ----------
        O(1).

        Examples
        --------
        >>> tok = Tokenizer(token_bytes=[bytes([i]) for i in range(256)], merges=[], pattern="none")
        >>> tok.token_id(b"h")
        104
        """
        text = as_text(token, "a token")
        number = self._vocabulary.id_of.get(as_bytes(text))
        if number is None:
            number = self._vocabulary.special_tokens.get(text)
        if number is None:
            raise KeyError(token)
        return number

    def truncated(self, vocab_size: int) -> Tokenizer:
        """Return the tokenizer without its last merges: what a training to a smaller vocabulary gives.

        Special tokens behind all others stay behind them; all other ids stay what they are.

        Parameters
        ----------
        vocab_size : int
            Of the result, special tokens included.

        Returns
        -------
        Tokenizer

        Raises
        ------
        ValueError
            There are fewer tokens, or not so many merges at the end to leave out; or the last merges do not
            make the last ids, as in a vocabulary that was not trained here.

        Complexity
        ----------
        O(n) for n tokens and merges.

        Examples
        --------
        >>> import bpe
        >>> tok = bpe.train(["low lower"], vocab_size=259, special_tokens=["<|end|>"])
        >>> tok.truncated(258) == bpe.train(["low lower"], vocab_size=258, special_tokens=["<|end|>"])
        True
        """
        words = self._vocabulary
        n_less = words.size - index(vocab_size)
        n_left = len(words.merges) - n_less
        if not 0 <= n_less <= len(words.merges):
            raise ValueError(
                f"vocab_size must be from {words.size - len(words.merges)} to {words.size}, not {vocab_size}"
            )
        special_ids = {*words.special_tokens.values()}
        token_bytes = {number: token for number, token in words.bytes_of.items() if number not in special_ids}
        end = max(token_bytes) + 1
        if sorted(words.merged_ids[n_left:]) != list(range(end - n_less, end)):
            raise ValueError(f"the last {n_less} merges do not make the last ids, up to {end - 1}")
        for number in words.merged_ids[n_left:]:
            del token_bytes[number]
        special_tokens = {
            token: number - n_less if number >= end else number
            for token, number in words.special_tokens.items()
        }
        fewer = Vocabulary(token_bytes, words.merges[:n_left], special_tokens)
        return self._of(fewer.taking_whole(words.whole_ids), self._pattern)

    # ------------------------------------------------------------------------------------------ files
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tokenizer to a file, which holds the old content or the new one, never a part.

        Parameters
        ----------
        path : path
            A JSON file; an existing one is replaced.

        Raises
        ------
        OSError
            It cannot be written.

        Complexity
        ----------
        O(n) for n tokens and merges.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> tok = Tokenizer(token_bytes=[bytes([i]) for i in range(256)], merges=[], pattern="none")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     tok.save(pathlib.Path(folder, "tok.json"))
        ...     Tokenizer.load(pathlib.Path(folder, "tok.json")) == tok
        True
        """
        atomic_write(path, native.dump(native.document_of(self._vocabulary, self._pattern)))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Tokenizer:
        """Read a tokenizer that :meth:`save` wrote.

        Parameters
        ----------
        path : path

        Returns
        -------
        Tokenizer

        Raises
        ------
        ValueError
            The file is damaged, is something else, or was written by a newer release; the message names the
            file and the place.
        OSError
            It cannot be read.

        Complexity
        ----------
        O(n) for n tokens and merges.

        Examples
        --------
        >>> Tokenizer.load("setup.cfg")
        Traceback (most recent call last):
        ...
        FileNotFoundError: [Errno 2] No such file or directory: 'setup.cfg'
        """
        data = Path(path).read_bytes()
        try:
            return cls._of(*native.parts_of(native.parse(data)))
        except ValueError as error:
            raise ValueError(f"{os.fspath(path)}: {error}") from None


# ------------------------------------------------------------------------------------------------ helpers
_PARTS = {"_pattern", "_vocabulary"}


def _unpickled(cls: type[Tokenizer], pattern: Pattern, parts: Packed, others: dict[str, Any]) -> Tokenizer:
    tokenizer = cls._of(unpacked(parts), pattern)
    vars(tokenizer).update(others)
    return tokenizer
