"""What a tokenizer has of other formats: ``from_...``, ``save_...`` and ``to_...``, a few lines each."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from bpe.pattern import Pattern
from bpe.vocabulary import Vocabulary

if TYPE_CHECKING:
    import tiktoken
    import tokenizers

__all__ = ["OtherFormats"]

Self = TypeVar("Self", bound="OtherFormats")


class OtherFormats:
    """Base of :class:`bpe.Tokenizer`: files and objects of other programs.

    * :meth:`from_tiktoken`, :meth:`from_huggingface`, :meth:`from_gpt2`, :meth:`from_minbpe`
    * :meth:`save_tiktoken`, :meth:`save_huggingface`, :meth:`save_gpt2`, :meth:`save_minbpe`
    * :meth:`to_tiktoken`, :meth:`to_huggingface`

    Examples
    --------
    >>> import bpe
    >>> issubclass(bpe.Tokenizer, OtherFormats)
    True
    """

    _vocabulary: Vocabulary
    _pattern: Pattern

    @classmethod
    def _of(cls: type[Self], vocabulary: Vocabulary, pattern: Pattern) -> Self:
        """Return the tokenizer of parts that are checked."""
        self = cls.__new__(cls)
        self._vocabulary, self._pattern = vocabulary, pattern
        return self

    # ---------------------------------------------------------------------------------------- reading
    @classmethod
    def _from_file(cls: type[Self], path: str | os.PathLike[str], format: str, **given: Any) -> Self:
        from bpe.formats.conversion import naming, read

        with naming(path):
            return cls._of(*read(path, format, **given))

    def _to_file(self, path: str | os.PathLike[str], format: str) -> None:
        from bpe.formats.conversion import write

        write(self._vocabulary, self._pattern, path, format)

    @classmethod
    def from_tiktoken(
        cls: type[Self],
        path: str | os.PathLike[str],
        *,
        pattern: str | Iterable[str] | Pattern,
        special_tokens: Mapping[str, int] = MappingProxyType({}),
    ) -> Self:
        """Read a rank file of tiktoken, and recover the merges from the ranks.

        Parameters
        ----------
        path : path
        pattern : str, iterable of str or Pattern
            As :meth:`Pattern.of` takes it. The file has none: ``"cl100k"`` for cl100k_base.
        special_tokens : mapping from str to int
            The file has none either.

        Returns
        -------
        Tokenizer

        Raises
        ------
        ValueError
            The file is damaged, or a byte has no token; the message names the line or the byte.
        OSError
            It cannot be read.

        Complexity
        ----------
        O(b log m) for b bytes in all tokens and m in the longest.

        Examples
        --------
        >>> import bpe, tempfile, pathlib
        >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "low.tiktoken")
        ...     tok.save_tiktoken(path)
        ...     bpe.Tokenizer.from_tiktoken(path, pattern="gpt2") == tok
        True
        """
        return cls._from_file(path, "tiktoken", pattern=pattern, special_tokens=special_tokens)

    @classmethod
    def from_huggingface(cls: type[Self], path: str | os.PathLike[str]) -> Self:
        """Read a ``tokenizer.json`` of byte-level BPE, as Hugging Face's libraries write it.

        A post-processor, truncation and padding are left out, with a warning: the ids are those that
        ``add_special_tokens=False`` gives. Added tokens become special tokens.

        Parameters
        ----------
        path : path

        Returns
        -------
        Tokenizer

        Raises
        ------
        ValueError
            The file is damaged, or describes what is no byte-level BPE; the message names the entry.
        OSError
            It cannot be read.

        Complexity
        ----------
        O(b log m) for b bytes in all tokens and m in the longest.

        Examples
        --------
        >>> import bpe, tempfile, pathlib
        >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "tokenizer.json")
        ...     tok.save_huggingface(path)
        ...     bpe.Tokenizer.from_huggingface(path) == tok
        True
        """
        return cls._from_file(path, "huggingface")

    @classmethod
    def from_gpt2(cls: type[Self], path: str | os.PathLike[str]) -> Self:
        """Read GPT-2's two files, ``vocab.json`` and ``merges.txt``.

        Entries that no merge makes, that are no byte, and whose characters stand for themselves become
        special tokens, such as ``<|endoftext|>``.

        Parameters
        ----------
        path : path
            Their folder, or the first of them.

        Returns
        -------
        Tokenizer

        Raises
        ------
        ValueError
            A file is damaged; the message names it and the place.
        OSError
            It cannot be read.

        Complexity
        ----------
        O(b log m) for b bytes in all tokens and m in the longest.

        Examples
        --------
        >>> import bpe, tempfile, pathlib
        >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "low")
        ...     tok.save_gpt2(path)
        ...     bpe.Tokenizer.from_gpt2(path) == tok
        True
        """
        return cls._from_file(path, "gpt2")

    @classmethod
    def from_minbpe(cls: type[Self], path: str | os.PathLike[str]) -> Self:
        """Read a ``.model`` file of minbpe.

        Parameters
        ----------
        path : path

        Returns
        -------
        Tokenizer

        Raises
        ------
        ValueError
            The file is damaged; the message names the line.
        OSError
            It cannot be read.

        Complexity
        ----------
        O(b log m) for b bytes in all tokens and m in the longest.

        Examples
        --------
        >>> import bpe, tempfile, pathlib
        >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "low.model")
        ...     tok.save_minbpe(path)
        ...     bpe.Tokenizer.from_minbpe(path) == tok
        True
        """
        return cls._from_file(path, "minbpe")

    # ---------------------------------------------------------------------------------------- writing
    def save_tiktoken(self, path: str | os.PathLike[str]) -> None:
        """Write a rank file of tiktoken: without pattern and special tokens, which have no place there.

        Parameters
        ----------
        path : path

        Raises
        ------
        ValueError
            The pattern has no name, or the merges do not follow from the ids as ranks.
            Nothing is written.
        OSError
            It cannot be written.

        Complexity
        ----------
        O(b log m) for b bytes in all tokens and m in the longest.

        Examples
        --------
        >>> import bpe, tempfile, pathlib
        >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "low.tiktoken")
        ...     tok.save_tiktoken(path)
        ...     bpe.Tokenizer.from_tiktoken(path, pattern="gpt2") == tok
        True
        """
        self._to_file(path, "tiktoken")

    def save_huggingface(self, path: str | os.PathLike[str]) -> None:
        """Write a ``tokenizer.json`` for Hugging Face's libraries, with pattern, merges and special tokens.

        Parameters
        ----------
        path : path

        Raises
        ------
        ValueError
            The pattern has no equal there, or a special token and another are the same text.
            Nothing is written.
        OSError
            It cannot be written.

        Complexity
        ----------
        O(b log m) for b bytes in all tokens and m in the longest.

        Examples
        --------
        >>> import bpe, tempfile, pathlib
        >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "tokenizer.json")
        ...     tok.save_huggingface(path)
        ...     bpe.Tokenizer.from_huggingface(path) == tok
        True
        """
        self._to_file(path, "huggingface")

    def save_gpt2(self, path: str | os.PathLike[str]) -> None:
        """Write GPT-2's two files, ``vocab.json`` and ``merges.txt``.

        Parameters
        ----------
        path : path
            A folder, which is made where there is none.

        Raises
        ------
        ValueError
            The pattern is not GPT-2's, or a special token and another are the same text.
            Nothing is written.
        OSError
            It cannot be written.

        Complexity
        ----------
        O(b log m) for b bytes in all tokens and m in the longest.

        Examples
        --------
        >>> import bpe, tempfile, pathlib
        >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "low")
        ...     tok.save_gpt2(path)
        ...     bpe.Tokenizer.from_gpt2(path) == tok
        True
        """
        self._to_file(path, "gpt2")

    def save_minbpe(self, path: str | os.PathLike[str]) -> None:
        """Write a ``.model`` file of minbpe.

        Parameters
        ----------
        path : path

        Raises
        ------
        ValueError
            minbpe numbers tokens otherwise, or has no place for the pattern or a special token.
            Nothing is written.
        OSError
            It cannot be written.

        Complexity
        ----------
        O(b log m) for b bytes in all tokens and m in the longest.

        Examples
        --------
        >>> import bpe, tempfile, pathlib
        >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "low.model")
        ...     tok.save_minbpe(path)
        ...     bpe.Tokenizer.from_minbpe(path) == tok
        True
        """
        self._to_file(path, "minbpe")

    # ---------------------------------------------------------------------------------------- objects
    def to_tiktoken(self, name: str = "bpe") -> tiktoken.Encoding:
        """Return an ``Encoding`` of tiktoken, which must be installed.

        What the pattern leaves between its matches is a piece here, and dropped there; the named patterns
        leave nothing. Of special tokens that begin at one place the longest is taken here, any one there.

        Parameters
        ----------
        name : str

        Returns
        -------
        tiktoken.Encoding

        Raises
        ------
        ValueError
            The merges do not follow from the ids as ranks, or the pattern has several expressions.
        ImportError
            tiktoken is not installed.

        Complexity
        ----------
        O(b log m) for b bytes in all tokens and m in the longest.

        Examples
        --------
        >>> import bpe
        >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
        >>> tok.to_tiktoken().encode("low") == tok.encode("low")
        True
        """
        from bpe.formats.tiktoken import encoding_of

        return encoding_of(self._vocabulary, self._pattern, name)

    def to_huggingface(self) -> tokenizers.Tokenizer:
        """Return a ``Tokenizer`` of the package tokenizers, which must be installed.

        Returns
        -------
        tokenizers.Tokenizer

        Raises
        ------
        ValueError
            The pattern has no equal there, or a special token and another are the same text.
        ImportError
            tokenizers is not installed.

        Complexity
        ----------
        O(b) for b bytes in all tokens.

        Examples
        --------
        >>> import bpe
        >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
        >>> tok.to_huggingface().encode("low").ids == tok.encode("low")
        True
        """
        from bpe.formats.huggingface import tokenizer_of

        return tokenizer_of(self._vocabulary, self._pattern)
