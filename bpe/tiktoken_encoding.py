"""``TiktokenEncoding``: a tokenizer with the methods of tiktoken's ``Encoding``.

It does not require tiktoken. ``Tokenizer.to_tiktoken`` returns an object of tiktoken's own class instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from operator import index

import numpy as np

from bpe.encoding.covers import find_covers
from bpe.splitting.specials import NO_TOKENS, Specials
from bpe.support.text import utf8_of
from bpe.support.threads import n_threads
from bpe.tokenizer import Tokenizer

_MOST_THREADS = 8  # as in tiktoken
_TOO_GREAT = 2**32  # tiktoken's ids are below this


class TiktokenEncoding:
    """A tokenizer with the methods of tiktoken's ``Encoding``, so that a program changes one line.

    Arguments, defaults and results are those of tiktoken, and so are the classes of errors: a KeyError for a
    token that does not exist, an OverflowError for an id that is negative or not below 2**32. No special
    token is allowed by default, whatever the tokenizer allows. Added tokens become one id in every text, and
    are not special tokens.

    Parameters
    ----------
    tokenizer : Tokenizer
    name : str

    Raises
    ------
    TypeError
        `tokenizer` is not a Tokenizer but, for example, the path of one.

    Attributes
    ----------
    tokenizer : Tokenizer
    name : str

    Examples
    --------
    >>> import bpe
    >>> tok = bpe.train(["low lower"], vocab_size=259, special_tokens=["<|endoftext|>"], progress=False)
    >>> enc = TiktokenEncoding(tok)  # before: enc = tiktoken.get_encoding("gpt2")
    >>> enc.encode("lower<|endoftext|>", allowed_special="all"), enc.eot_token, enc.n_vocab
    ([257, 101, 114, 258], 258, 259)
    """

    __module__ = "bpe"

    def __init__(self, tokenizer: Tokenizer, name: str = "bpe") -> None:
        if not isinstance(tokenizer, Tokenizer):
            raise TypeError(
                f"a TiktokenEncoding takes a Tokenizer, not {type(tokenizer).__name__}: "
                "Tokenizer.load(path) reads one from a file"
            )
        self.tokenizer, self.name = tokenizer, name

    def __repr__(self) -> str:
        return f"<TiktokenEncoding {self.name!r}>"

    # -------------------------------------------------------------------------------------- text to ids
    def encode_ordinary(self, text: str) -> list[int]:
        """Encode a text in which special tokens are ordinary text."""
        return self.tokenizer.encode_ordinary(text)

    def encode(
        self, text: str, *, allowed_special: Specials = NO_TOKENS, disallowed_special: Specials = "all"
    ) -> list[int]:
        """Encode a text as ``Tokenizer.encode`` does; ValueError if it holds a disallowed special token."""
        return self.tokenizer.encode(
            text, allowed_special=allowed_special, disallowed_special=disallowed_special
        )

    def encode_to_numpy(
        self, text: str, *, allowed_special: Specials = NO_TOKENS, disallowed_special: Specials = "all"
    ) -> np.ndarray:
        """Encode a text to an array, ``(n,) uint32``; else as :meth:`encode`."""
        return self.tokenizer.encode_to_numpy(
            text, allowed_special=allowed_special, disallowed_special=disallowed_special
        )

    def encode_ordinary_batch(self, text: list[str], *, num_threads: int = _MOST_THREADS) -> list[list[int]]:
        """Encode texts in which special tokens are ordinary text."""
        return self.encode_batch(text, num_threads=num_threads, disallowed_special=())

    def encode_batch(
        self,
        text: list[str],
        *,
        num_threads: int = _MOST_THREADS,
        allowed_special: Specials = NO_TOKENS,
        disallowed_special: Specials = "all",
    ) -> list[list[int]]:
        """Encode texts, each as :meth:`encode`, on at most one thread for each processor."""
        threads = min(n_threads(num_threads), n_threads(None))
        return self.tokenizer.encode_batch(
            text, threads, allowed_special=allowed_special, disallowed_special=disallowed_special
        )

    def encode_with_unstable(
        self, text: str, *, allowed_special: Specials = NO_TOKENS, disallowed_special: Specials = "all"
    ) -> tuple[list[int], list[list[int]]]:
        """Return ids that are certain, and the shortest lists of ids after them that reach the end of a text.

        Each longer text has the ids before and those of exactly one list. All are there, and each is of a
        text, as :func:`bpe.ids.covers` has it: tiktoken returns more lists, some of no text, and leaves some
        out. Without a text after the last special token, there is no list.

        Raises
        ------
        ValueError
            As :meth:`encode` and :func:`bpe.ids.canonical_state`.
        """
        data, rules = utf8_of(text), self.tokenizer.engine.rules_of(allowed_special, disallowed_special)
        rules.refuse(text)
        special = self.tokenizer.special_tokens
        ends = (end for start, end in rules.allowed.find_all(data) if data[start:end].decode() in special)
        place = max(ends, default=0)
        before = self.tokenizer.encode(data[:place], allowed_special=allowed_special, disallowed_special=())
        known, paths = find_covers(self.tokenizer.engine, data[place:])
        return before + known.tolist(), [
            [*ids, last] for ids, all_last in paths for last in all_last.tolist()
        ]

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """Return the id of a token, special or not; KeyError if there is none."""
        token = text_or_bytes.encode() if isinstance(text_or_bytes, str) else text_or_bytes
        return self.tokenizer.token_id(token)

    # -------------------------------------------------------------------------------------- ids to text
    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """Decode ids to bytes; KeyError or OverflowError if no token has one of them."""
        try:
            return self.tokenizer.decode_bytes(tokens)
        except ValueError as error:
            is_id = all(0 <= index(token_id) < _TOO_GREAT for token_id in tokens)
            raise (KeyError if is_id else OverflowError)(str(error)) from None

    def decode(self, tokens: Sequence[int], errors: str = "replace") -> str:
        """Decode ids to text; `errors` is for bytes that are not valid UTF-8, as in ``bytes.decode``."""
        return self.decode_bytes(tokens).decode("utf-8", errors)

    def decode_single_token_bytes(self, token: int) -> bytes:
        """Return the bytes of an id, special or not; KeyError or OverflowError if no token has it."""
        try:
            return self.tokenizer.token_bytes(token)
        except ValueError:
            self.decode_bytes([token])  # raises the error
            raise

    def decode_tokens_bytes(self, tokens: Sequence[int]) -> list[bytes]:
        """Return the bytes of each id; KeyError or OverflowError if no token has one of them."""
        return [self.decode_single_token_bytes(token) for token in tokens]

    def decode_with_offsets(self, tokens: Sequence[int]) -> tuple[str, list[int]]:
        """Decode ids as ``Tokenizer.decode_with_offsets`` does; KeyError if no token has one of them."""
        try:
            return self.tokenizer.decode_with_offsets(tokens)
        except ValueError:
            self.decode_tokens_bytes(tokens)  # raises if no token has one of the ids
            raise

    def decode_batch(
        self, batch: Sequence[Sequence[int]], *, errors: str = "replace", num_threads: int = _MOST_THREADS
    ) -> list[str]:
        """Decode lists of ids to texts, each as :meth:`decode`, on one thread."""
        return [self.decode(tokens, errors) for tokens in batch]

    def decode_bytes_batch(
        self, batch: Sequence[Sequence[int]], *, num_threads: int = _MOST_THREADS
    ) -> list[bytes]:
        """Decode lists of ids to bytes, each as :meth:`decode_bytes`, on one thread."""
        return [self.decode_bytes(tokens) for tokens in batch]

    # --------------------------------------------------------------------------------------- vocabulary
    def token_byte_values(self) -> list[bytes]:
        """Return the bytes of all tokens except the special ones, sorted."""
        return sorted(self.tokenizer.engine.vocabulary.id_of)

    @property
    def eot_token(self) -> int:
        """The id of ``<|endoftext|>``; KeyError if it is not a special token."""
        return self.tokenizer.special_tokens["<|endoftext|>"]

    @property
    def special_tokens_set(self) -> set[str]:
        """All special tokens; a copy."""
        return {*self.tokenizer.special_tokens}

    def is_special_token(self, token: int) -> bool:
        """Return whether an id is that of a special token."""
        return index(token) in self._special_ids

    @cached_property
    def _special_ids(self) -> frozenset[int]:
        return frozenset(self.tokenizer.special_tokens.values())

    @property
    def max_token_value(self) -> int:
        """The greatest id."""
        return self.tokenizer.vocab_size - 1

    @property
    def n_vocab(self) -> int:
        """The greatest id plus 1."""
        return self.tokenizer.vocab_size


# doctest skips a class whose __module__ is another module
__test__ = {"TiktokenEncoding": TiktokenEncoding}
