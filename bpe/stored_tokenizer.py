"""``StoredTokenizer``: what a tokenizer consists of, and the files that it is read from and written to."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from bpe.encoding.decoding import join_tokens
from bpe.encoding.engine import Engine
from bpe.pattern import Dialect, Pattern
from bpe.text import as_bytes, as_text
from bpe.vocabulary import Vocabulary
from bpe.vocabulary_parts import Packed, packed, truncated, unpacked

if TYPE_CHECKING:
    import tiktoken
    import tokenizers
    from typing_extensions import Self

PathLike: TypeAlias = str | os.PathLike[str]


class StoredTokenizer:
    """The base of :class:`bpe.Tokenizer`, which adds all that is about text."""

    engine: Engine

    def __init__(
        self,
        *,
        token_bytes: Sequence[bytes | None] | Mapping[int, bytes],
        merges: Iterable[tuple[int, int]],
        pattern: str | Iterable[str] | Pattern,
        special_tokens: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        split_by = Pattern.of(pattern)
        self.engine = Engine(Vocabulary(token_bytes, merges, special_tokens), split_by)

    @classmethod
    def _of(cls, vocabulary: Vocabulary, pattern: Pattern) -> Self:
        """Return the tokenizer of parts that are checked."""
        self = cls.__new__(cls)
        self.engine = Engine.of(vocabulary, pattern)
        return self

    @property
    def pattern(self) -> Pattern:
        """How text is split."""
        return self.engine.pattern

    def __repr__(self) -> str:
        specials = f", {len(self.special_tokens)} special" if self.special_tokens else ""
        return f"<Tokenizer of {self.vocab_size} tokens{specials}, pattern {self.pattern.spec!r}>"

    def __eq__(self, other: object) -> bool:
        return self.engine == other.engine if isinstance(other, StoredTokenizer) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.engine)

    def __reduce__(self) -> Any:
        derived = {"engine", *(name for cls in type(self).__mro__ for name in vars(cls))}
        others = {name: value for name, value in vars(self).items() if name not in derived}
        return self._unpacked, (self.pattern, packed(self.engine.vocabulary), others)

    @classmethod
    def _unpacked(cls, pattern: Pattern, parts: Packed, others: dict[str, Any]) -> Self:
        self = cls._of(unpacked(parts), pattern)
        vars(self).update(others)
        return self

    # ------------------------------------------------------------------------------------- vocabulary
    @property
    def is_lossless(self) -> bool:
        """Whether any bytes decode to themselves after encoding; not if steps of a file change the text."""
        return not self.engine.is_prepared

    @property
    def vocab_size(self) -> int:
        """The greatest id plus 1, special tokens included; ids that are not used count."""
        return self.engine.vocabulary.size

    @property
    def merges(self) -> list[tuple[int, int]]:
        """(left id, right id) in the order of their ranks; a copy."""
        return list(self.engine.vocabulary.merges)

    @property
    def special_tokens(self) -> dict[str, int]:
        """Special token -> id; a copy."""
        return dict(self.engine.vocabulary.special_tokens)

    @property
    def added_tokens(self) -> dict[str, int]:
        """Token -> id of those that are one id in every text and need not be allowed; a copy."""
        return dict(self.engine.vocabulary.added_tokens)

    def token_bytes(self, token_id: int) -> bytes:
        """Return the bytes of an id, for a special token its UTF-8; ValueError if no token has the id."""
        return join_tokens(self.engine.vocabulary, [token_id])

    def token_id(self, token: bytes | str) -> int:
        """Return the id of a token, a special one if no other has the text; KeyError if there is none."""
        text, words = as_text(token, "a token"), self.engine.vocabulary
        number = words.id_of.get(as_bytes(text), words.cut_tokens.get(text))
        if number is None:
            raise KeyError(token)
        return number

    def truncated(self, vocab_size: int) -> Self:
        """Return the tokenizer without its last merges: what training to a smaller vocabulary gives.

        Special tokens that come after all others stay after them; other ids do not change. ValueError if
        there are not so many merges, or the last ones do not make the last ids.

        Examples
        --------
        >>> import bpe
        >>> bpe.train(["low lower"], vocab_size=258).truncated(257).merges
        [(108, 111)]
        """
        return self._of(truncated(self.engine.vocabulary, vocab_size), self.pattern)

    # ------------------------------------------------------------------------------------------ files
    def save(self, path: PathLike) -> None:
        """Write the tokenizer to a JSON file, which holds the old content or the new one, never a part."""
        self._write(path, "native")

    @classmethod
    def load(cls, path: PathLike, *, compiled_only: bool = False) -> Self:
        """Read a tokenizer that :meth:`save` wrote; ValueError names the place where the file is damaged."""
        return cls._read(path, "native", compiled_only=compiled_only)

    @classmethod
    def open(
        cls,
        path: PathLike,
        *,
        pattern: str | Iterable[str] | Pattern | None = None,
        special_tokens: Mapping[str, int] | None = None,
        dialect: Dialect = "regex",
        compiled_only: bool = False,
    ) -> Self:
        """Read a tokenizer in any format that is known: a file, or the folder of a model.

        Parameters
        ----------
        path : path
            A file of this package, a ``tokenizer.json``, a ``tekken.json``, a ``.model`` file of
            SentencePiece or minbpe, GPT-2's ``vocab.json`` with ``merges.txt`` beside it, a rank file of
            tiktoken; or a folder with one of them. In a folder with several, ``tokenizer.json`` is read.
        pattern, special_tokens, dialect : optional
            For a rank file, which has none: as for :meth:`from_tiktoken`.
        compiled_only : bool
            Refuse a pattern that is not compiled, as :meth:`bpe.Pattern.of` does.

        Returns
        -------
        Tokenizer

        Raises
        ------
        ValueError
            It is in no format that is known, or is damaged; the message names the place. Or it is a rank
            file, and `pattern` is missing.
        OSError
            It cannot be read.

        Warns
        -----
        UserWarning
            The file has something that is kept, but not applied.

        Complexity
        ----------
        O(b log m) for b bytes in all tokens and m in the longest, at most.

        Examples
        --------
        >>> import bpe, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     bpe.train(["low lower"], vocab_size=258, progress=False).save_huggingface(folder)
        ...     bpe.Tokenizer.open(folder).encode("low")
        [257]
        """
        from bpe.formats.conversion import naming
        from bpe.formats.recognition import open_parts

        given = {"pattern": pattern, "special_tokens": special_tokens, "dialect": dialect}
        with naming(path):
            return cls._of(*open_parts(path, compiled_only=compiled_only, **given))

    # bpe.formats.conversion has a table of what each format can hold; the rest is a ValueError.
    @classmethod
    def from_tiktoken(
        cls,
        path: PathLike,
        *,
        pattern: str | Iterable[str] | Pattern,
        special_tokens: Mapping[str, int] = MappingProxyType({}),
        dialect: Dialect = "regex",
    ) -> Self:
        """Read a rank file of tiktoken, which holds no pattern or special tokens; its dialect is "rust"."""
        return cls._read(path, "tiktoken", pattern=pattern, special_tokens=special_tokens, dialect=dialect)

    @classmethod
    def from_huggingface(cls, path: PathLike, *, compiled_only: bool = False) -> Self:
        """Read a ``tokenizer.json`` of BPE, or the folder of one; a warning says what is not applied."""
        return cls._read(path, "huggingface", compiled_only=compiled_only)

    @classmethod
    def from_gpt2(cls, path: PathLike, merges: PathLike | None = None) -> Self:
        """Read GPT-2's ``vocab.json`` and ``merges.txt``: their folder, the first of them, or both."""
        return cls._read(path, "gpt2", merges=merges)

    @classmethod
    def from_sentencepiece(cls, path: PathLike) -> Self:
        """Read a ``.model`` file of SentencePiece, of type BPE; nothing puts ``<s>`` before the ids."""
        return cls._read(path, "sentencepiece")

    @classmethod
    def from_tekken(cls, path: PathLike) -> Self:
        """Read Mistral's ``tekken.json``, whose special tokens have the first ids."""
        return cls._read(path, "tekken")

    @classmethod
    def from_minbpe(cls, path: PathLike, *, compiled_only: bool = False) -> Self:
        """Read a ``.model`` file of minbpe."""
        return cls._read(path, "minbpe", compiled_only=compiled_only)

    @classmethod
    def _read(cls, path: PathLike, format: str, **given: Any) -> Self:
        from bpe.formats.conversion import naming, read

        with naming(path):
            return cls._of(*read(path, format, **given))

    def save_tiktoken(self, path: PathLike) -> None:
        """Write a rank file of tiktoken, which has no place for the pattern and the special tokens."""
        self._write(path, "tiktoken")

    def save_huggingface(self, path: PathLike) -> None:
        """Write a ``tokenizer.json``, or the folder of a model if `path` is a folder or has no suffix."""
        self._write(path, "huggingface")

    def save_gpt2(self, path: PathLike) -> None:
        """Write GPT-2's ``vocab.json`` and ``merges.txt`` to a folder, which is made if there is none."""
        self._write(path, "gpt2")

    def save_minbpe(self, path: PathLike) -> None:
        """Write a ``.model`` file of minbpe."""
        self._write(path, "minbpe")

    def _write(self, path: PathLike, format: str) -> None:
        from bpe.formats.conversion import write

        write(self.engine.vocabulary, self.pattern, path, format)

    def to_tiktoken(self, name: str = "bpe") -> tiktoken.Encoding:
        """Return an ``Encoding`` of tiktoken; it drops what the pattern leaves between matches."""
        from bpe.formats.tiktoken import encoding_of

        return encoding_of(self.engine.vocabulary, self.pattern, name)

    def to_huggingface(self) -> tokenizers.Tokenizer:
        """Return a ``Tokenizer`` of the package tokenizers, which must be installed."""
        from bpe.formats.huggingface import tokenizer_of

        return tokenizer_of(self.engine.vocabulary, self.pattern)
