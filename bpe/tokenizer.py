"""``Tokenizer``: text to ids and back. Every public method stands here, a few lines over an engine."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, AnyStr, TypeAlias

import numpy as np

from bpe.encoding import batches, budget, offsets
from bpe.encoding.dropout import encode_with_dropout
from bpe.encoding.decoding import join_tokens
from bpe.encoding.engine import Engine
from bpe.encoding.intervals import IntervalCounter
from bpe.encoding.streams import AppendableEncoder, StreamDecoder, StreamEncoder
from bpe.pattern import Dialect, Pattern
from bpe.progress import Progress
from bpe.specials import NO_TOKENS, Ordinary, SpecialOptions, Specials
from bpe.text import as_bytes, as_text, utf8_of
from bpe.vocabulary import Vocabulary
from bpe.vocabulary_parts import Packed, packed, truncated, unpacked

if TYPE_CHECKING:
    import tiktoken
    import tokenizers
    from typing_extensions import Unpack

    from bpe.corpus import CorpusLike
    from bpe.corpus.id_files import EncodedFiles

PathLike: TypeAlias = str | os.PathLike[str]


class Tokenizer:
    r"""A vocabulary with its merges, split pattern and special tokens: encodes text and decodes ids.

    It never changes. Two are equal if all parts that decide ids are. Any number of threads may use one, and
    processes that fork while no thread compiles. Bytes are encoded as they are, valid UTF-8 or not, and
    decode to the same bytes. In a str, surrogate pairs are joined; any other surrogate is encoded as U+FFFD.

    * one text: :meth:`encode`, :meth:`encode_ordinary`, :meth:`encode_to_numpy`, :meth:`encode_with_offsets`,
      :meth:`encode_with_dropout`
    * many texts: :meth:`encode_batch`, :meth:`encode_batch_to_numpy`, :meth:`encode_files`
    * text in parts: :meth:`stream_encoder`, :meth:`appendable_encoder`
    * numbers of tokens: :meth:`count`, :meth:`truncate`, :meth:`interval_counter`
    * ids to text: :meth:`decode`, :meth:`decode_bytes`, :meth:`decode_batch`, :meth:`stream_decoder`
    * vocabulary: :meth:`token_bytes`, :meth:`token_id`, :attr:`vocab_size`, :attr:`merges`,
      :attr:`special_tokens`, :attr:`added_tokens`, :attr:`pattern`, :meth:`truncated`
    * files: :meth:`save`, :meth:`load`, and ``save_...``, ``from_...``, ``to_...`` for other programs

    All methods that encode take the options of :meth:`encode` for special tokens. To be fast, they remember
    pieces of texts, in 175 MB at most for each processor, and in as much for each further thread at work.

    Parameters
    ----------
    token_bytes : sequence of bytes or None, or mapping from int to bytes
        The bytes of each id; None for an id that is not used, or that a special token has. The 256 single
        bytes are among them, in any order.
    merges : iterable of (int, int)
        (left id, right id) in the order of their ranks. A merge makes the id that has the bytes of both.
    pattern : str, iterable of str or Pattern
    special_tokens : mapping from str to int
        Their ids; no token has one of these.

    Raises
    ------
    ValueError
        The parts do not fit together; the message names the token, merge or id.

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
    """

    __module__ = "bpe"  # the name in pickles: users import it from there

    def __init__(
        self,
        *,
        token_bytes: Sequence[bytes | None] | Mapping[int, bytes],
        merges: Iterable[tuple[int, int]],
        pattern: str | Iterable[str] | Pattern,
        special_tokens: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        split_by = Pattern.of(pattern)
        self.engine: Engine = Engine(Vocabulary(token_bytes, merges, special_tokens), split_by)

    @classmethod
    def _of(cls, vocabulary: Vocabulary, pattern: Pattern) -> Any:
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
        return self.engine == other.engine if isinstance(other, Tokenizer) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.engine)

    def __reduce__(self) -> Any:
        derived = {"engine", *(name for cls in type(self).__mro__ for name in vars(cls))}
        others = {name: value for name, value in vars(self).items() if name not in derived}
        return self._unpacked, (self.pattern, packed(self.engine.vocabulary), others)

    @classmethod
    def _unpacked(cls, pattern: Pattern, parts: Packed, others: dict[str, Any]) -> Tokenizer:
        self = cls._of(unpacked(parts), pattern)
        vars(self).update(others)
        return self

    # ------------------------------------------------------------------------------------- vocabulary
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

    def truncated(self, vocab_size: int) -> Tokenizer:
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

    # --------------------------------------------------------------------------------------- one text
    def encode(
        self,
        text: str | bytes,
        *,
        allowed_special: Specials = NO_TOKENS,
        disallowed_special: Specials = "all",
        specials: Ordinary = None,
    ) -> list[int]:
        """Encode a text.

        By default, special tokens in the text are an error: untrusted text cannot smuggle one in. Added
        tokens are one id in every text.

        Parameters
        ----------
        text : str or bytes
        allowed_special : "all" or collection of str
            Special tokens that become their ids; if several begin at one place, the longest does.
        disallowed_special : "all" or collection of str
            Strings that are an error; "all" stands for all special tokens that are not allowed. One that is
            neither allowed nor disallowed is encoded as the text it is.
        specials : "ordinary", optional
            All text is ordinary: no special token is looked for. It replaces the other two options.

        Raises
        ------
        ValueError
            The text holds a disallowed special token, or options do not go together.

        Examples
        --------
        >>> import bpe
        >>> tok = bpe.train(["low lower"], vocab_size=259, special_tokens=["<|end|>"], progress=False)
        >>> tok.encode("lower<|end|>", allowed_special={"<|end|>"})
        [257, 101, 114, 258]
        >>> tok.encode("<|end|>", specials="ordinary")
        [60, 124, 101, 110, 100, 124, 62]
        """
        # A short text is encoded in a few microseconds: every call counts.
        engine = self.engine
        rules = engine.rules_of(allowed_special, disallowed_special, specials)
        data = utf8_of(text)
        for needle in rules.needles:
            if needle in data:
                return engine.encode(data, text, rules).tolist()
        return engine.encoder.encode(data)

    def encode_ordinary(self, text: str | bytes) -> list[int]:
        """Encode a text in which special tokens are ordinary text."""
        engine, data = self.engine, utf8_of(text)
        rules = engine.ordinary_rules
        return engine.encode(data, text, rules).tolist() if rules.needles else engine.encoder.encode(data)

    def encode_to_numpy(self, text: str | bytes, **special: Unpack[SpecialOptions]) -> np.ndarray:
        """Encode a text to an array, ``(n,) uint32``; else as :meth:`encode`."""
        return self.engine.encode(utf8_of(text), text, self.engine.rules_of(**special))

    def encode_with_offsets(
        self, text: str | bytes, **special: Unpack[SpecialOptions]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Encode a text, and say where each token lies in it.

        Returns
        -------
        ids : (n,) uint32
        starts, ends : (n,) int64
            Token i is of ``text[starts[i]:ends[i]]``: characters of a str, bytes of bytes. If tokens cut a
            character, it belongs to each of them.

        Examples
        --------
        >>> import bpe
        >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
        >>> tok.encode_with_offsets("low\u00e9")
        (array([257, 195, 169], dtype=uint32), array([0, 3, 3]), array([3, 4, 4]))
        """
        return offsets.encode_with_offsets(self.engine, text, self.engine.rules_of(**special))

    def encode_with_dropout(
        self, text: str | bytes, dropout: float, *, seed: int, **special: Unpack[SpecialOptions]
    ) -> list[int]:
        """Encode a text with merges left out by chance, so that a model sees other ways to write a word.

        Parameters
        ----------
        dropout : float
            The probability with which a merge is passed over at a step, from 0 to 1; 0.1 is common.
        seed : int
            Equal seeds give equal encodings of equal texts, on every machine.

        Complexity
        ----------
        O(n log n) for n bytes, with dropout not near 1: no piece is remembered.

        Examples
        --------
        >>> import bpe
        >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
        >>> [tok.encode_with_dropout("low", 0.5, seed=seed) for seed in (1, 2, 3)]
        [[257], [257], [108, 111, 119]]
        """
        return encode_with_dropout(self.engine, text, dropout, seed, self.engine.rules_of(**special))

    # ------------------------------------------------------------------------------------- many texts
    def encode_batch(
        self, texts: Iterable[str | bytes], threads: int | None = None, **special: Unpack[SpecialOptions]
    ) -> list[list[int]]:
        """Encode texts on as many threads as there are processors, or on `threads`, with the same result.

        Examples
        --------
        >>> import bpe
        >>> bpe.train(["low"], vocab_size=256).encode_batch(["hi", b"you"])
        [[104, 105], [121, 111, 117]]
        """
        return batches.encode_batch(self.engine, texts, threads, self.engine.rules_of(**special))

    def encode_batch_to_numpy(
        self, texts: Iterable[str | bytes], threads: int | None = None, **special: Unpack[SpecialOptions]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Encode texts to one array; else as :meth:`encode_batch`.

        Returns
        -------
        ids : (n,) uint32
        offsets : (len(texts) + 1,) int64
            Those of text i are ``ids[offsets[i]:offsets[i + 1]]``.
        """
        return batches.encode_batch_to_numpy(self.engine, texts, threads, self.engine.rules_of(**special))

    def encode_files(
        self,
        corpus: CorpusLike,
        out: PathLike,
        *,
        dtype: Any = None,
        threads: int | None = None,
        progress: Progress = False,
        **special: Unpack[SpecialOptions],
    ) -> EncodedFiles:
        """Encode a corpus to a file of ids, with the offsets of its documents in a file beside it.

        With the suffix .npy, `out` is a numpy array; else, as in .bin, only the ids, little-endian. Beside it
        comes ``<out without suffix>.offsets.npy``: ids ``offsets[k]`` to ``offsets[k + 1]`` are document k.
        The same call resumes a run that was killed or interrupted, if the corpus is the same. No file is at
        its place before it is complete. Offsets of another file of ids are not replaced: a FileExistsError.

        Parameters
        ----------
        dtype : numpy dtype, optional
            uint16 or uint32; by default the smallest that all ids fit.
        progress : bool or callable
            True: a bar on stderr. A callable is called with the bytes that are read, and all there are.

        Examples
        --------
        >>> import bpe, tempfile, pathlib, numpy
        >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     written = tok.encode_files(["low", "lower"], pathlib.Path(folder, "corpus.bin"))
        ...     numpy.fromfile(written.ids, written.dtype), numpy.load(written.offsets)
        (array([257, 257, 101, 114], dtype=uint16), array([0, 1, 4]))
        """
        from bpe.corpus.id_files import encode_files

        options = {"dtype": dtype, "threads": threads, "progress": progress}
        return encode_files(self.engine, corpus, out, self.engine.rules_of(**special), **options)

    # ---------------------------------------------------------------------------------- text in parts
    def stream_encoder(self, **special: Unpack[SpecialOptions]) -> StreamEncoder:
        """Return an encoder of a text that is fed in parts, with ``feed(text)`` and ``finish()``.

        Its ids are those of :meth:`encode` for the whole text, wherever it was cut.
        """
        return StreamEncoder(self.engine, self.engine.rules_of(**special))

    def appendable_encoder(self, **special: Unpack[SpecialOptions]) -> AppendableEncoder:
        """Return an encoder of a text that grows, with ``append(text)``, ``count()`` and ``ids()``."""
        return AppendableEncoder(self.engine, self.engine.rules_of(**special))

    # ------------------------------------------------------------------------------ numbers of tokens
    def count(self, text: str | bytes, limit: int | None = None, **special: Unpack[SpecialOptions]) -> int:
        """Return the number of tokens of a text; ``limit + 1`` if there are more than `limit`.

        With a limit only the beginning of the text is read, and looked through for special tokens.
        """
        return budget.count(self.engine, text, limit, self.engine.rules_of(**special))

    def truncate(self, text: AnyStr, max_tokens: int, **special: Unpack[SpecialOptions]) -> AnyStr:
        """Return the beginning of a text that has at most so many tokens; the text itself if it has no more.

        Else it is the longest beginning that ends between characters and has the first k tokens of the text,
        ``encode(result) == encode(text)[:k]``, for a ``k <= max_tokens``. Only the beginning is read.

        Examples
        --------
        >>> import bpe
        >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
        >>> tok.truncate("low lower", 3), tok.truncate("\u00e9", 1)
        ('low low', '')
        """
        return budget.truncate(self.engine, text, max_tokens, self.engine.rules_of(**special))

    def interval_counter(self, text: str | bytes) -> IntervalCounter:
        """Return a counter of the tokens of any part of a text, encoded by itself; special tokens are text.

        Examples
        --------
        >>> import bpe
        >>> counter = bpe.train(["low lower"], vocab_size=258).interval_counter("low lower low")
        >>> counter.count(0, 5), counter.count_many([0, 1, 4], [13, 13, 9])
        (3, array([7, 8, 3]))
        """
        return IntervalCounter(self.engine, text)

    # ------------------------------------------------------------------------------------ ids to text
    def decode_bytes(self, ids: Iterable[int] | np.ndarray) -> bytes:
        """Decode ids to bytes; ValueError if an id has no token, TypeError if one is not an integer."""
        return self.engine.decode(ids)

    def decode(self, ids: Iterable[int] | np.ndarray, errors: str = "replace") -> str:
        r"""Decode ids to text; `errors` is for bytes that are not valid UTF-8, as in ``bytes.decode``.

        Examples
        --------
        >>> tok = Tokenizer(token_bytes=[bytes([i]) for i in range(256)], merges=[], pattern="none")
        >>> tok.decode([104, 105]), tok.decode_bytes([255])
        ('hi', b'\xff')
        """
        return self.engine.decode(ids).decode("utf-8", errors)

    def decode_batch(self, batch: Iterable[Iterable[int] | np.ndarray], errors: str = "replace") -> list[str]:
        """Decode several lists of ids to texts, each as :meth:`decode`."""
        return [self.decode(ids, errors) for ids in batch]

    def stream_decoder(self, errors: str = "replace") -> StreamDecoder:
        """Return a decoder of ids that come one after the other, with ``feed(ids)`` and ``finish()``."""
        return StreamDecoder(self.engine, errors)

    # ------------------------------------------------------------------------------------------ files
    def save(self, path: PathLike) -> None:
        """Write the tokenizer to a JSON file, which holds the old content or the new one, never a part."""
        self._write(path, "native")

    @classmethod
    def load(cls, path: PathLike, *, compiled_only: bool = False) -> Tokenizer:
        """Read a tokenizer that :meth:`save` wrote; ValueError names the place where the file is damaged."""
        return cls._read(path, "native", compiled_only=compiled_only)

    # bpe.formats.conversion has a table of what each format can hold; the rest is a ValueError.
    @classmethod
    def from_tiktoken(
        cls,
        path: PathLike,
        *,
        pattern: str | Iterable[str] | Pattern,
        special_tokens: Mapping[str, int] = MappingProxyType({}),
        dialect: Dialect = "regex",
    ) -> Tokenizer:
        """Read a rank file of tiktoken, which holds no pattern or special tokens; its dialect is "rust"."""
        return cls._read(path, "tiktoken", pattern=pattern, special_tokens=special_tokens, dialect=dialect)

    @classmethod
    def from_huggingface(cls, path: PathLike, *, compiled_only: bool = False) -> Tokenizer:
        """Read a ``tokenizer.json`` of byte-level BPE; a warning says what is kept, but not applied."""
        return cls._read(path, "huggingface", compiled_only=compiled_only)

    @classmethod
    def from_gpt2(cls, path: PathLike) -> Tokenizer:
        """Read GPT-2's ``vocab.json`` and ``merges.txt``; `path` is their folder, or the first of them."""
        return cls._read(path, "gpt2")

    @classmethod
    def from_minbpe(cls, path: PathLike, *, compiled_only: bool = False) -> Tokenizer:
        """Read a ``.model`` file of minbpe."""
        return cls._read(path, "minbpe", compiled_only=compiled_only)

    @classmethod
    def _read(cls, path: PathLike, format: str, **given: Any) -> Tokenizer:
        from bpe.formats.conversion import naming, read

        with naming(path):
            return cls._of(*read(path, format, **given))

    def save_tiktoken(self, path: PathLike) -> None:
        """Write a rank file of tiktoken, which has no place for the pattern and the special tokens."""
        self._write(path, "tiktoken")

    def save_huggingface(self, path: PathLike) -> None:
        """Write a ``tokenizer.json``, with all that one held which was read."""
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


__test__ = {"Tokenizer": Tokenizer}  # doctest passes over a class that has the name of another module


def _unpickled(cls: type[Tokenizer], *parts: Any) -> Tokenizer:  # pickles of release 0.1.0 name it
    return cls._unpacked(*parts)
