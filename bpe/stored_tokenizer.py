"""``StoredTokenizer``: what a tokenizer consists of, and the files that it is read from and written to."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias

from bpe.encoding.decoding import join_tokens
from bpe.encoding.engine import Engine
from bpe.pipeline.engine import engine_of
from bpe.splitting.pattern import Dialect, Pattern
from bpe.splitting.specials import NO_TOKENS, Specials
from bpe.support.text import as_bytes, as_text
from bpe.vocabulary.given import (
    GivenMerges,
    GivenSpecials,
    GivenTokens,
    vocabulary_of,
    with_special_tokens,
)
from bpe.vocabulary.parts import Packed, packed, truncated, unpacked
from bpe.vocabulary.vocabulary import Vocabulary

if TYPE_CHECKING:
    import numpy as np
    import tiktoken
    import tokenizers
    from typing_extensions import Self

    from bpe.corpus import CorpusLike
    from bpe.counting.word_counts import WordCounts
    from bpe.support.progress import Progress
    from bpe.training.learner import Ties

PathLike: TypeAlias = str | os.PathLike[str]


class StoredTokenizer:
    """The base of :class:`bpe.Tokenizer`, which adds all that is about text."""

    engine: Engine

    def __init__(
        self,
        *,
        token_bytes: GivenTokens,
        merges: GivenMerges,
        pattern: str | Iterable[str] | Pattern,
        special_tokens: GivenSpecials = (),
        allowed_special: Specials = NO_TOKENS,
    ) -> None:
        split_by = Pattern.of(pattern)
        words = vocabulary_of(token_bytes, merges, special_tokens)
        self.engine = Engine(words, split_by).allowing(allowed_special)

    @classmethod
    def _of(cls, vocabulary: Vocabulary, pattern: Pattern, allowed_special: Specials = NO_TOKENS) -> Self:
        """Return the tokenizer of parts that are checked."""
        self = cls.__new__(cls)
        self.engine = engine_of(vocabulary, pattern).allowing(allowed_special)
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
        parts = self.pattern, packed(self.engine.vocabulary), self._others()
        allowed = self.allowed_special
        return self._unpacked, (*parts, allowed) if allowed else parts

    def _others(self) -> dict[str, Any]:
        """Return the attributes that a user has set, or a derived class, but not at their first use."""
        derived = {"engine", *(name for cls in type(self).__mro__ for name in vars(cls))}
        return {name: value for name, value in vars(self).items() if name not in derived}

    @classmethod
    def _unpacked(
        cls, pattern: Pattern, parts: Packed, others: dict[str, Any], allowed_special: Specials = NO_TOKENS
    ) -> Self:
        self = cls._of(unpacked(parts), pattern, allowed_special)
        vars(self).update(others)
        return self

    # ------------------------------------------------------------------------------------- vocabulary
    @property
    def is_lossless(self) -> bool:
        """Whether any bytes decode to themselves after encoding; not if steps of a file may change them."""
        return self.engine.is_lossless

    @property
    def vocab_size(self) -> int:
        """The greatest id plus 1, special tokens included; ids that are not used count."""
        return self.engine.vocabulary.size

    @property
    def merges(self) -> list[tuple[int, int]]:
        """(left id, right id) in the order of their ranks; a copy."""
        return list(self.engine.vocabulary.merges)

    @property
    def vocab(self) -> dict[int, bytes]:
        """Id -> bytes of all tokens in the order of their ids, special ones included; a copy.

        With :attr:`merges_bytes`, the pattern and the special tokens it makes an equal tokenizer again, if
        merges lead to all tokens, and if no ``tokenizer.json`` said more.

        Examples
        --------
        >>> import bpe
        >>> bpe.train(["low low"], vocab_size=257, progress=False).vocab[256]
        b'lo'
        """
        return dict(sorted(self.engine.vocabulary.bytes_of.items()))

    @property
    def merges_bytes(self) -> list[tuple[bytes, bytes]]:
        """(left bytes, right bytes) of :attr:`merges`; a copy."""
        bytes_of = self.engine.vocabulary.bytes_of
        return [(bytes_of[left], bytes_of[right]) for left, right in self.engine.vocabulary.merges]

    @property
    def special_tokens(self) -> dict[str, int]:
        """Special token -> id; a copy."""
        return dict(self.engine.vocabulary.special_tokens)

    @property
    def added_tokens(self) -> dict[str, int]:
        """Token -> id of those that are one id in every text and need not be allowed; a copy."""
        return dict(self.engine.vocabulary.added_tokens)

    @property
    def allowed_special(self) -> Specials:
        """The special tokens that are allowed where a call does not say which: "all" or a frozenset."""
        return self.engine.allowed_special

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
        words = truncated(self.engine.vocabulary, vocab_size)
        return self._of(words, self.pattern, self.allowed_special)

    def extend(
        self,
        corpus: CorpusLike | WordCounts,
        n: int,
        *,
        ties: Ties = "smallest",
        min_count: int = 1,
        max_token_length: int | None = None,
        threads: int | None = None,
        progress: Progress = False,
    ) -> tuple[Self, np.ndarray]:
        """Learn more tokens from other text; no id changes, and the new ones come after all others.

        What a file held besides stays, and so do special tokens. A piece that holds no new token is encoded
        to the same ids as before.

        Parameters
        ----------
        corpus : what :func:`bpe.train` takes
            WordCounts must have the pattern and the special tokens of the tokenizer.
        n : int
            How many tokens.
        ties, min_count, max_token_length
            As for :class:`bpe.Trainer`; for the new tokens only.
        threads, progress
            As for :func:`bpe.train`.

        Returns
        -------
        tokenizer : Tokenizer
        new_id_of : (vocab_size,) int64
            By old id, the new one: the same. -1 for an id that is not used.

        Raises
        ------
        ValueError
            `n` is negative, or the text has fewer pairs to merge, or is empty. Or no training goes on from
            the tokenizer: its tokens are texts (SentencePiece), a byte has no token, or its merges are in an
            order that none learns.

        Complexity
        ----------
        One pass over the corpus, then as :meth:`bpe.Trainer.resume`.

        Examples
        --------
        >>> import bpe
        >>> tok = bpe.train(["low low"], 258, special_tokens=["<|end|>"], progress=False)
        >>> more, new_id_of = tok.extend(["new new"], 2)
        >>> more.special_tokens, more.token_bytes(258), more.token_bytes(259)
        ({'<|end|>': 257}, b'ew', b'new')
        """
        from bpe.surgery.extend import extended

        options = {"ties": ties, "min_count": min_count, "max_token_length": max_token_length}
        words, new_id_of = extended(self.engine, corpus, n, options, threads=threads, progress=progress)
        return self._of(words, self.pattern, self.allowed_special), new_id_of

    def prune(
        self,
        corpus: CorpusLike | WordCounts,
        *,
        vocab_size: int | None = None,
        min_count: int | None = None,
        threads: int | None = None,
        progress: Progress = False,
    ) -> tuple[Self, np.ndarray]:
        """Remove the tokens that a corpus needs least, one by one.

        Only a token that is no part of another one's merge can be removed. Its uses count for its two parts
        from then on. Single bytes and special tokens stay, and so does what a file held besides: ids in it
        follow. The ids that are left move up without a gap, in their order, those of special tokens, too. A
        piece whose tokens all stay is encoded to the same tokens as before.

        Parameters
        ----------
        corpus : what :func:`bpe.train` takes
            WordCounts must have the pattern of the tokenizer.
        vocab_size : int, optional
            How many tokens stay, special ones included.
        min_count : int, optional
            Tokens that are used so often stay; with `vocab_size`, more may stay than that says.
        threads, progress
            As for :func:`bpe.train`.

        Returns
        -------
        tokenizer : Tokenizer
        new_id_of : (vocab_size of the old one,) int64
            By old id, the new one; -1 for a token that is removed, and for an id that is not used.

        Raises
        ------
        ValueError
            Neither number is given, or one is out of range; or the corpus is empty.

        Complexity
        ----------
        One pass over the corpus, then O(n log n) for n tokens.

        Examples
        --------
        >>> import bpe
        >>> tok = bpe.train(["low lower"], 260, special_tokens=["<|end|>"], progress=False)
        >>> [tok.token_bytes(number) for number in range(256, 260)]
        [b'lo', b'low', b' low', b'<|end|>']
        >>> fewer, new_id_of = tok.prune(["low"], vocab_size=259)
        >>> [fewer.token_bytes(number) for number in range(256, 259)], new_id_of[256:].tolist()
        ([b'lo', b'low', b'<|end|>'], [256, 257, -1, 258])
        """
        from bpe.surgery.prune import pruned

        counting = {"threads": threads, "progress": progress}
        words, new_id_of = pruned(self.engine, corpus, vocab_size, min_count, **counting)
        return self._of(words, self.pattern, self.allowed_special), new_id_of

    def with_special_tokens(self, tokens: Mapping[str, int] | Iterable[str]) -> Self:
        """Return the tokenizer with more special tokens; what a ``tokenizer.json`` held besides stays.

        Tokens without ids get them as those of the constructor do. ValueError if a token or an id is taken.

        Examples
        --------
        >>> import bpe
        >>> tok = bpe.train(["low"], vocab_size=256, progress=False)
        >>> tok.with_special_tokens(["<|user|>", "<|end|>"]).special_tokens
        {'<|user|>': 256, '<|end|>': 257}
        >>> tok.with_special_tokens({"<|end|>": 300}).vocab_size
        301
        """
        words = with_special_tokens(self.engine.vocabulary, tokens)
        return self._of(words, self.pattern, self.allowed_special)

    def with_allowed_special(self, allowed_special: Specials) -> Self:
        """Return the tokenizer with other special tokens that are allowed where a call does not say which.

        Only for texts that you trust: others may hold special tokens that you do not want. The tokenizer
        shares with this one all that is compiled and remembered. Pickles hold these tokens, files do not.
        Two tokenizers are equal only if they allow the same ones. ValueError if one is no special token.

        Examples
        --------
        >>> import bpe
        >>> tok = bpe.train(["low"], vocab_size=257, special_tokens=["<|end|>"], progress=False)
        >>> tok.with_allowed_special("all").encode("hi<|end|>")
        [104, 105, 256]
        """
        other = type(self).__new__(type(self))
        vars(other).update(self._others(), engine=self.engine.allowing(allowed_special))
        return other

    # ------------------------------------------------------------------------------------------ files
    def save(self, path: PathLike) -> None:
        """Write the tokenizer to a JSON file, which holds the old content or the new one, never a part."""
        self._write(path, "native")

    @classmethod
    def load(cls, path: PathLike, *, compiled_only: bool = False) -> Self:
        """Read a tokenizer that :meth:`save` wrote; ValueError names the place where the file is damaged.

        :meth:`open` reads all formats.
        """
        try:
            return cls._read(path, "native", compiled_only=compiled_only)
        except (ValueError, IsADirectoryError):
            from bpe.formats.recognition import find

            found = "native"
            with suppress(ValueError, OSError):
                if os.path.isfile(path) or os.path.isdir(path):  # a pipe cannot be read again
                    found = find(path).format
            if found == "native":
                raise
            remedy = "load reads what save wrote; Tokenizer.open reads all formats"
            raise ValueError(f"{os.fspath(path)}: its format is {found}: {remedy}") from None

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
            tiktoken, an encoder of npm's tiktoken; or a folder with a ``tokenizer.json``, which is read
            first, a ``tekken.json``, a ``tokenizer.model`` or GPT-2's two files.
        pattern, special_tokens, dialect : optional
            For a rank file: as for :meth:`from_tiktoken`.
        compiled_only : bool
            Refuse a pattern that is not compiled, as :meth:`bpe.Pattern.of` does, and steps with
            expressions that the ``regex`` package runs.

        Returns
        -------
        Tokenizer

        Raises
        ------
        ValueError
            It is in no format that is known, or is damaged; the message names the place. Or it is a rank
            file, and `pattern` is missing, or another one than that of a published file.
        OSError
            It cannot be read.

        Warns
        -----
        UserWarning
            The file has something that is kept, but not applied. Or it is a rank file that is not a published
            one, and `special_tokens` is missing; this is said once in a process.

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
        pattern: str | Iterable[str] | Pattern | None = None,
        special_tokens: Mapping[str, int] | None = None,
        dialect: Dialect = "regex",
    ) -> Self:
        """Read a rank file of tiktoken, which holds no pattern or special tokens; its dialect is "rust".

        Those of published files are known by the SHA-256 of the file: r50k_base (GPT-2), p50k_base,
        cl100k_base, o200k_base, Llama 3, Llama 4 and Qwen. Special tokens that you give take the place of
        theirs, and ``{}`` leaves them out; another pattern is a ValueError. For any other file, a missing
        pattern is a ValueError, and missing special tokens are a warning, once in a process.
        """
        return cls._read(path, "tiktoken", pattern=pattern, special_tokens=special_tokens, dialect=dialect)

    @classmethod
    def from_huggingface(cls, path: PathLike, *, compiled_only: bool = False) -> Self:
        """Read a ``tokenizer.json`` of BPE, or the folder of one; a warning says what is not applied."""
        return cls._read(path, "huggingface", compiled_only=compiled_only)

    @classmethod
    def from_gpt2(cls, path: PathLike, merges: PathLike | None = None) -> Self:
        """Read GPT-2's ``vocab.json`` and ``merges.txt``: their folder, the first of them, or both.

        ``encoder.json`` and ``vocab.bpe`` are the same files, as OpenAI names them.
        """
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
