"""``Tokenizer``: text to ids and back."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from operator import index
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from bpe.corpus import BLOCK_BYTES, blocks_of, stretches
from bpe.decoding import join_tokens
from bpe.files import atomic_write
from bpe.formats import native
from bpe.formats.methods import OtherFormats
from bpe.specials import Specials, refuse_special, resolve_special, split_special
from bpe.split import Pattern
from bpe.text import as_bytes, as_text
from bpe.threads import map_in_threads
from bpe.vocabulary import Vocabulary

if TYPE_CHECKING:
    from bpe.encoding import PieceEncoder

__all__ = ["Tokenizer"]


class Tokenizer(OtherFormats):
    r"""A vocabulary with its merges, split pattern and special tokens: encodes text and decodes ids.

    Never changes; equal where all its parts are; any number of threads may use one. Text is str or bytes:
    bytes are encoded as they are, UTF-8 or not, and decode to the same bytes; in a str, surrogate pairs are
    joined and any other surrogate, which has no encoding, is encoded as U+FFFD.

    Encoding:

    * :meth:`encode`, :meth:`encode_ordinary`, :meth:`encode_to_numpy`
    * :meth:`encode_batch`, :meth:`encode_batch_to_numpy`

    Decoding:

    * :meth:`decode`, :meth:`decode_bytes`, :meth:`decode_batch`

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
        self._specials = frozenset(self._vocabulary.special_tokens)

    @cached_property
    def _pieces(self) -> PieceEncoder:
        from bpe.encoding import PieceEncoder  # loads the compiler, which decoding does not need

        words = self._vocabulary
        return PieceEncoder(words.byte_ids, words.merges, words.merged_ids)

    def __repr__(self) -> str:
        specials = f", {len(self._specials)} special" if self._specials else ""
        return f"<Tokenizer of {self.vocab_size} tokens{specials}, pattern {self._pattern.spec!r}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tokenizer):
            return NotImplemented
        mine, theirs = self._vocabulary, other._vocabulary
        return (
            self._pattern == other._pattern
            and mine.merges == theirs.merges
            and mine.special_tokens == theirs.special_tokens
            and mine.bytes_of == theirs.bytes_of
        )

    def __hash__(self) -> int:
        return hash((self._pattern, self.vocab_size, len(self._vocabulary.merges), self._specials))

    def __reduce__(self) -> Any:
        return _unpickled, (native.document_of(self._vocabulary, self._pattern),)

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
        return Tokenizer(
            token_bytes=token_bytes,
            merges=words.merges[:n_left],
            pattern=self._pattern,
            special_tokens={
                token: number - n_less if number >= end else number
                for token, number in words.special_tokens.items()
            },
        )

    # --------------------------------------------------------------------------------------- encoding
    def encode(
        self,
        text: str | bytes,
        *,
        allowed_special: Specials = frozenset(),
        disallowed_special: Specials = "all",
    ) -> list[int]:
        """Encode a text.

        By default, special tokens in the text are an error, so that no untrusted text can smuggle one in.

        Parameters
        ----------
        text : str or bytes
        allowed_special : "all" or collection of str
            Special tokens to encode as such.
        disallowed_special : "all" or collection of str
            Strings that are an error; "all" stands for all special tokens that are not allowed. Special
            tokens that are neither allowed nor disallowed are encoded as the text they are.

        Returns
        -------
        list of int

        Raises
        ------
        ValueError
            The text holds a disallowed special token.
        TypeError
            The text is neither str nor bytes, or an argument no collection of str.

        Complexity
        ----------
        O(n) for n bytes of words met before; O(n log n) at worst.

        Examples
        --------
        >>> tok = Tokenizer(
        ...     token_bytes=[bytes([i]) for i in range(256)],
        ...     merges=[],
        ...     pattern="none",
        ...     special_tokens={"<|end|>": 256},
        ... )
        >>> tok.encode("hi<|end|>", allowed_special={"<|end|>"})
        [104, 105, 256]
        >>> tok.encode("<|end|>", disallowed_special=())
        [60, 124, 101, 110, 100, 124, 62]
        """
        return self._encode(text, *resolve_special(self._specials, allowed_special, disallowed_special))

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
        >>> tok = Tokenizer(token_bytes=[bytes([i]) for i in range(256)], merges=[], pattern="none")
        >>> tok.encode_ordinary("hi")
        [104, 105]
        """
        return self._ordinary(as_text(text))

    def encode_to_numpy(
        self,
        text: str | bytes,
        *,
        allowed_special: Specials = frozenset(),
        disallowed_special: Specials = "all",
    ) -> np.ndarray:
        """Encode a text to an array.

        Parameters
        ----------
        text : str or bytes
        allowed_special, disallowed_special : "all" or collection of str
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
        >>> tok = Tokenizer(token_bytes=[bytes([i]) for i in range(256)], merges=[], pattern="none")
        >>> tok.encode_to_numpy("hi")
        array([104, 105], dtype=uint32)
        """
        ids = self.encode(text, allowed_special=allowed_special, disallowed_special=disallowed_special)
        return np.array(ids, np.uint32)

    def encode_batch(
        self,
        texts: Iterable[str | bytes],
        threads: int | None = None,
        *,
        allowed_special: Specials = frozenset(),
        disallowed_special: Specials = "all",
    ) -> list[list[int]]:
        """Encode texts, several at once.

        Parameters
        ----------
        texts : iterable of str or bytes
        threads : int, optional
            As many as there are processors by default. The result is the same for every number.
        allowed_special, disallowed_special : "all" or collection of str
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
        >>> tok = Tokenizer(token_bytes=[bytes([i]) for i in range(256)], merges=[], pattern="none")
        >>> tok.encode_batch(["hi", b"you"])
        [[104, 105], [121, 111, 117]]
        """
        if isinstance(texts, (str, bytes)):
            raise TypeError("texts is a single text: put it in a list")
        allowed, disallowed = resolve_special(self._specials, allowed_special, disallowed_special)

        def encode_one(numbered: tuple[int, str | bytes]) -> list[int]:
            index, text = numbered
            return self._encode(text, allowed, disallowed, f"text {index}")

        return map_in_threads(encode_one, enumerate(texts), threads)

    def encode_batch_to_numpy(
        self,
        texts: Iterable[str | bytes],
        threads: int | None = None,
        *,
        allowed_special: Specials = frozenset(),
        disallowed_special: Specials = "all",
    ) -> tuple[np.ndarray, np.ndarray]:
        """Encode texts to one array, several at once.

        Parameters
        ----------
        texts : iterable of str or bytes
        threads : int, optional
            As for :meth:`encode_batch`.
        allowed_special, disallowed_special : "all" or collection of str
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
        >>> tok = Tokenizer(token_bytes=[bytes([i]) for i in range(256)], merges=[], pattern="none")
        >>> tok.encode_batch_to_numpy(["hi", "you"])
        (array([104, 105, 121, 111, 117], dtype=uint32), array([0, 2, 5]))
        """
        batch = self.encode_batch(
            texts, threads, allowed_special=allowed_special, disallowed_special=disallowed_special
        )
        offsets = np.zeros(len(batch) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, batch), np.int64, len(batch)), out=offsets[1:])
        return np.fromiter(chain.from_iterable(batch), np.uint32, offsets[-1]), offsets

    def _encode(
        self, text: str | bytes, allowed: frozenset[str], disallowed: frozenset[str], what: str = "text"
    ) -> list[int]:
        clean = as_text(text, what)
        refuse_special(text, clean, disallowed, what)
        ids: list[int] = []
        for is_special, part in split_special(clean, allowed):
            if is_special:
                ids.append(self._vocabulary.special_tokens[part])
            else:
                ids += self._ordinary(part)
        return ids

    def _ordinary(self, text: str) -> list[int]:
        if len(text) <= BLOCK_BYTES:
            return self._pieces.encode(self._pattern.split(text))
        ids: list[int] = []
        # The pieces of a stretch are in memory together, those of a long text never.
        for stretch in stretches(blocks_of(text), self._pattern.last_cut):
            ids += self._pieces.encode(self._pattern.split(stretch))
        return ids

    # --------------------------------------------------------------------------------------- decoding
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
        >>> tok = Tokenizer(token_bytes=[bytes([i]) for i in range(256)], merges=[], pattern="none")
        >>> tok.decode_bytes([104, 105])
        b'hi'
        """
        return join_tokens(self._vocabulary, ids)

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
        >>> tok = Tokenizer(token_bytes=[bytes([i]) for i in range(256)], merges=[], pattern="none")
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
        >>> tok = Tokenizer(token_bytes=[bytes([i]) for i in range(256)], merges=[], pattern="none")
        >>> tok.decode_batch([[104, 105], [33]])
        ['hi', '!']
        """
        return [self.decode(ids, errors) for ids in batch]

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
            return cls(**native.arguments_of(native.parse(data)))
        except ValueError as error:
            raise ValueError(f"{os.fspath(path)}: {error}") from None


# ------------------------------------------------------------------------------------------------ helpers
def _unpickled(document: dict[str, Any]) -> Tokenizer:
    return Tokenizer(**native.arguments_of(document))
