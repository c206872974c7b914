"""``Tokenizer``: text to ids and back. Every public method is here, as a few lines that call an engine."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, AnyStr, TypeAlias, Unpack

import numpy as np

from bpe.encoding import batches, offsets
from bpe.encoding.appendable import AppendableEncoder
from bpe.encoding.canonicity import first_noncanonical, position_after
from bpe.encoding.dropout import encode_with_dropout
from bpe.encoding.engine import Engine
from bpe.encoding.intervals import IntervalCounter
from bpe.encoding.streams import StreamDecoder, StreamEncoder, encode_parts
from bpe.pipeline.engine import engine_of
from bpe.pipeline.post_processors import with_around
from bpe.splitting.pattern import Dialect, Pattern, everything_compiled
from bpe.splitting.specials import (
    NO_TOKENS,
    Rules,
    SpecialOptions,
    Specials,
    check_names,
    takes_special_options,
)
from bpe.support.old_names import OldName
from bpe.support.progress import Progress
from bpe.support.text import as_bytes, as_text, utf8_of
from bpe.support.warning import warn
from bpe.vocabulary.given import (
    GivenMerges,
    GivenSpecials,
    GivenTokens,
    vocabulary_of,
    with_special_tokens,
)
from bpe.vocabulary.parts import Packed, packed, unpacked, with_vocab_size
from bpe.vocabulary.vocabulary import Vocabulary

if TYPE_CHECKING:
    from typing import Self

    import tiktoken
    import tokenizers

    from bpe.auditing import Audit
    from bpe.corpus import CorpusLike
    from bpe.counting.word_counts import WordCounts
    from bpe.id_files.encode import EncodedFiles
    from bpe.id_files.formats import IdFormat
    from bpe.id_files.shards import EncodedShards
    from bpe.training.options import Ties

PathLike: TypeAlias = str | os.PathLike[str]

# What `warmup` encodes: words that recur, other scripts, long pieces, a special token.
WARM_TEXTS = [
    "the cat and the hat " * 50,
    "na\u00efve \u4e2d\u6587 123\n",
    "x" * 1000 + " " + "ab" * 500,
    "<|end|>",
]


class Tokenizer:
    r"""A vocabulary with its merges, split pattern and special tokens: encodes text and decodes ids.

    It is immutable. Two are equal if all parts that decide ids are equal. Threads may share it, and so may
    forked processes unless a thread was compiling at the fork. Bytes are encoded as they are, valid UTF-8 or
    not, and decode to the same bytes, if :attr:`is_lossless`. In a str, surrogate pairs are joined; any other
    surrogate is encoded as U+FFFD.

    * files: :meth:`load`, :meth:`save`, and ``from_...``, ``save_...``, ``to_...`` for other programs;
      :class:`TiktokenEncoding` has the methods of tiktoken
    * one text: :meth:`encode`, :meth:`encode_ordinary`, :meth:`encode_to_numpy`, :meth:`encode_with_offsets`,
      :meth:`encode_segments`, :meth:`encode_with_dropout`, :meth:`tokens`
    * many texts: :meth:`encode_batch`, :meth:`encode_batch_to_numpy`, which :func:`pad_batch` pads
    * text in parts: :meth:`encode_iterable`, :meth:`stream_encoder`, :meth:`appendable_encoder`
    * numbers of tokens: :meth:`count`, :meth:`truncate`, :meth:`interval_counter`
    * ids to text: :meth:`decode`, :meth:`decode_bytes`, :meth:`decode_batch`, :meth:`decode_with_offsets`,
      :meth:`stream_decoder`, :meth:`is_canonical`
    * vocabulary: :attr:`vocab_size`, :attr:`vocab`, :attr:`merges`, :attr:`merges_bytes`,
      :attr:`special_tokens`, :attr:`role_ids`, :attr:`added_tokens`, :attr:`allowed_special`,
      :attr:`pattern`, :attr:`is_lossless`, :meth:`token_bytes`, :meth:`token_id`, :meth:`audit`
    * files of ids: :meth:`encode_files`, :meth:`encode_shards`
    * before the first text: :meth:`warmup`
    * other tokenizers: :meth:`with_vocab_size`, :meth:`extend`, :meth:`prune`, :meth:`with_special_tokens`,
      :meth:`with_allowed_special`

    All methods that encode take the options of :meth:`encode` for special tokens. They cache pieces of texts,
    in at most 265 MB for each processor, and as much for each further thread at work. The first short texts
    of a process are encoded in plain Python; then compiled code is loaded.

    Parameters
    ----------
    token_bytes : sequence of bytes or None, or mapping from int to bytes
        The bytes of each id; None for unused ids and ids of special tokens. A text with a byte that is not a
        token cannot be encoded. Special tokens may be among them, as UTF-8.
    merges : iterable of (int, int), or of (bytes, bytes)
        (left, right) in the order of their ranks, as ids or as bytes. A merge makes the id that has the bytes
        of both.
    pattern : str, iterable of str or Pattern
        As :func:`train` takes it.
    special_tokens : mapping from str to int, or iterable of str
        Token to id; only a token with the same bytes may share it. Without ids, each gets the id of the token
        with its UTF-8, or, if there is none, the next id after the greatest one.
    allowed_special : "all" or collection of str
        The special tokens that are allowed if a call does not specify any; only for texts that you trust.
        Pickles hold it, files do not.

    Raises
    ------
    ValueError
        The parts are not consistent; the message names the token, merge or id.

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
    >>> Tokenizer(
    ...     token_bytes=tok.vocab,
    ...     merges=tok.merges_bytes,  # [(b'h', b'e'), (b'he', b'l'), (b'l', b'o')]
    ...     pattern="gpt2",
    ...     special_tokens=["<|endoftext|>"],
    ... ) == tok
    True
    """

    __module__ = "bpe"  # the name in pickles: users import it from there

    engine: Engine

    open, truncated = OldName(), OldName()  # an AttributeError that has the new name

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
        vocabulary = vocabulary_of(token_bytes, merges, special_tokens)
        self.engine = Engine(vocabulary, split_by).allowing(allowed_special)  # of parts, which have no steps

    @classmethod
    def _of(cls, vocabulary: Vocabulary, pattern: Pattern, allowed_special: Specials = NO_TOKENS) -> Self:
        """Return the tokenizer of parts that have been checked."""
        self = cls.__new__(cls)
        self.engine = engine_of(vocabulary, pattern).allowing(allowed_special)
        return self

    def _with(self, vocabulary: Vocabulary) -> Self:
        """Return the tokenizer with another vocabulary, without attributes that a user has set."""
        return self._of(vocabulary, self.pattern, self.allowed_special)

    # ---------------------------------------------------------------------------- loading and saving
    @classmethod
    def load(
        cls,
        path: PathLike,
        *,
        pattern: str | Iterable[str] | Pattern | None = None,
        special_tokens: Mapping[str, int] | None = None,
        dialect: Dialect = "regex",
        compiled_only: bool = False,
    ) -> Self:
        """Read a tokenizer in any known format, from a file or a folder.

        Parameters
        ----------
        path : path
            A file that :meth:`save` wrote, a ``tokenizer.json``, a ``tekken.json``, a ``.model`` file of
            SentencePiece or minbpe, GPT-2's ``vocab.json`` with ``merges.txt`` beside it, a rank file of
            tiktoken, an encoder of npm's tiktoken; or a folder with a ``tokenizer.json``, which is
            preferred, a ``tekken.json``, a ``tokenizer.model`` or GPT-2's two files.
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
            The format is not known, or the file is damaged; the message says where. Or it is a rank file,
            and `pattern` is missing, or is not that of the published file.
        OSError
            It cannot be read.

        Warns
        -----
        UserWarning
            The file has something that is kept but not applied. Or it is a rank file that is not a published
            one, and `special_tokens` is missing; this warning comes once per process.

        Complexity
        ----------
        At most O(b log m), for b bytes in all tokens and m in the longest.

        Examples
        --------
        >>> import bpe, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     bpe.train(["low lower"], vocab_size=258, progress=False).save_huggingface(folder)
        ...     bpe.Tokenizer.load(folder).encode("low")
        [257]
        """
        from bpe.formats.conversion import naming
        from bpe.formats.recognition import open_parts

        given = {"pattern": pattern, "special_tokens": special_tokens, "dialect": dialect}
        with naming(path):
            return cls._of(*open_parts(path, compiled_only=compiled_only, **given))

    def save(self, path: PathLike) -> None:
        """Write the tokenizer to a JSON file, atomically: the file never holds only a part.

        It has the format of this package, whatever its name is; a warning says so if the name is that of
        another format, such as ``tokenizer.json``.
        """
        from bpe.formats.conversion import guess_format

        with contextlib.suppress(ValueError):  # the name tells no format
            named = guess_format(path)
            if named != "native" and not os.path.isdir(path):
                warn(
                    f"{os.fspath(path)} has the name of a {named} file, but the format of this package: "
                    f"save_{named}(path) and bpe convert write what other programs read",
                )
        self._write(path, "native")

    # bpe.formats.conversion has a table of what each format can hold; saving anything else is a ValueError.
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
        cl100k_base, o200k_base, Llama 3, Llama 4 and Qwen. Special tokens that you give replace theirs, and
        ``{}`` leaves them out; another pattern is a ValueError. For any other file, a missing pattern is a
        ValueError, and missing special tokens are a warning, once per process.
        """
        return cls._read(path, "tiktoken", pattern=pattern, special_tokens=special_tokens, dialect=dialect)

    @classmethod
    def from_huggingface(cls, path: PathLike, *, compiled_only: bool = False) -> Self:
        """Read a ``tokenizer.json`` of BPE, or its folder; a warning names what is not applied."""
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

    def save_huggingface(
        self,
        path: PathLike,
        *,
        bos_token: str | None = None,
        eos_token: str | None = None,
        unk_token: str | None = None,
        sep_token: str | None = None,
        pad_token: str | None = None,
        cls_token: str | None = None,
        mask_token: str | None = None,
        chat_template: str | None = None,
    ) -> None:
        """Write a ``tokenizer.json``, or the folder of a model if `path` is a folder or has no suffix.

        A suffix has only letters, so ``llama-3.1`` has none.
        ``transformers.AutoTokenizer.from_pretrained`` reads such a folder.

        Parameters
        ----------
        path : str or path-like
        bos_token, eos_token, unk_token, sep_token, pad_token, cls_token, mask_token : str, optional
            The special tokens that have these roles in transformers. By default, those of the folder that
            was loaded (:attr:`role_ids`).
        chat_template : str, optional
            How transformers writes a chat; by default, that of the folder that was loaded.

        Raises
        ------
        ValueError
            A token with a role is not a special token, `path` is a file and there are options, or a
            ``tokenizer.json`` cannot hold the tokenizer.

        Warns
        -----
        UserWarning
            The package tokenizers does not know the pattern from its release 1.0 on, or replaces characters
            in another way than SentencePiece; or a part of the folder that was loaded is not written.

        Examples
        --------
        >>> import bpe, tempfile
        >>> tok = bpe.train(["low"], 257, special_tokens=["<|end|>"], progress=False)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     tok.save_huggingface(folder, eos_token="<|end|>", pad_token="<|end|>")
        ...     bpe.Tokenizer.load(folder).role_ids
        {'eos': 256, 'pad': 256}
        """
        from bpe.formats.conversion import write
        from bpe.formats.model_folder import with_config

        given = {"bos_token": bos_token, "eos_token": eos_token, "unk_token": unk_token}
        given |= {"sep_token": sep_token, "pad_token": pad_token, "cls_token": cls_token}
        given |= {"mask_token": mask_token, "chat_template": chat_template}
        config = {name: value for name, value in given.items() if value is not None}
        write(with_config(self.engine.vocabulary, path, config), self.pattern, path, "huggingface")

    def save_gpt2(self, path: PathLike) -> None:
        """Write GPT-2's ``vocab.json`` and ``merges.txt`` to a folder, which is created if missing."""
        self._write(path, "gpt2")

    def save_minbpe(self, path: PathLike) -> None:
        """Write a ``.model`` file of minbpe."""
        self._write(path, "minbpe")

    def _write(self, path: PathLike, format: str) -> None:
        from bpe.formats.conversion import write

        write(self.engine.vocabulary, self.pattern, path, format)

    def to_tiktoken(self, name: str = "bpe") -> tiktoken.Encoding:
        """Return a ``tiktoken.Encoding``; it drops the text between matches of the pattern."""
        from bpe.formats.tiktoken import encoding_of

        return encoding_of(self.engine.vocabulary, self.pattern, name)

    def to_huggingface(self) -> tokenizers.Tokenizer:
        """Return a ``tokenizers.Tokenizer``; requires tokenizers."""
        from bpe.formats.huggingface import tokenizer_of

        return tokenizer_of(self.engine.vocabulary, self.pattern)

    # --------------------------------------------------------------------------------------- one text
    def encode(
        self,
        text: str | bytes,
        *,
        allowed_special: Specials | None = None,
        disallowed_special: Specials = "all",
        add_special_tokens: bool = False,
    ) -> list[int]:
        """Encode a text.

        By default, special tokens in the text are an error, so that untrusted text cannot inject one. Added
        tokens become one id in every text.

        Parameters
        ----------
        text : str or bytes
        allowed_special : "all" or collection of str, optional
            Special tokens that become their ids; if several begin at one place, the longest does. By default,
            those of the attribute :attr:`allowed_special`, which is empty unless it was set.
        disallowed_special : "all" or collection of str
            Strings that are an error; "all" stands for all special tokens that are not allowed. One that is
            neither allowed nor disallowed is ordinary text. With ``()``, none is an error; those that the
            tokenizer allows by default are still found, unless ``allowed_special=()`` is given, too.
        add_special_tokens : bool
            Add the ids that the post-processor of a ``tokenizer.json`` puts before and after a text.

        Raises
        ------
        ValueError
            The text holds a disallowed special token, or options cannot be combined.

        Examples
        --------
        >>> import bpe
        >>> tok = bpe.train(["low lower"], vocab_size=259, special_tokens=["<|end|>"], progress=False)
        >>> tok.encode("lower<|end|>", allowed_special={"<|end|>"})
        [257, 101, 114, 258]
        >>> tok.encode("<|end|>", disallowed_special=())
        [60, 124, 101, 110, 100, 124, 62]
        """
        # A short text is encoded in a few microseconds: every call counts.
        engine = self.engine
        rules = engine.rules_of(allowed_special, disallowed_special, add_special_tokens)
        data = utf8_of(text)
        return engine.encoder_for(data, rules, text).encode(data)

    def encode_ordinary(self, text: str | bytes) -> list[int]:
        """Encode a text in which special tokens are ordinary text."""
        engine, data = self.engine, utf8_of(text)
        return engine.encoder_for(data, engine.ordinary_rules).encode(data)

    @takes_special_options
    def tokens(self, text: str | bytes, **special: Unpack[SpecialOptions]) -> list[bytes]:
        """Return the bytes of each token of a text; else as :meth:`encode`.

        They are bytes, as a token may be a part of a character.

        Examples
        --------
        >>> import bpe
        >>> bpe.train(["low lower"], vocab_size=258, progress=False).tokens("lower")
        [b'low', b'e', b'r']
        """
        rules = self._rules("tokens", special)
        data = utf8_of(text)
        return [*map(self.token_bytes, self.engine.encoder_for(data, rules, text).encode(data))]

    @takes_special_options
    def encode_to_numpy(self, text: str | bytes, **special: Unpack[SpecialOptions]) -> np.ndarray:
        """Encode a text to an array, ``(n,) uint32``; else as :meth:`encode`."""
        data, rules = utf8_of(text), self._rules("encode_to_numpy", special)
        return self.engine.encoder_for(data, rules, text).encode_to_numpy(data)

    @takes_special_options
    def encode_with_offsets(
        self, text: str | bytes, **special: Unpack[SpecialOptions]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Encode a text, and return where each token is in it.

        Returns
        -------
        ids : (n,) uint32
        starts, ends : (n,) int64
            Token i is ``text[starts[i]:ends[i]]``, in characters of a str or bytes of bytes. If tokens cut a
            character, it belongs to each of them.

        Examples
        --------
        >>> import bpe
        >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
        >>> tok.encode_with_offsets("low\u00e9")
        (array([257, 195, 169], dtype=uint32), array([0, 3, 3]), array([3, 4, 4]))
        """
        return offsets.encode_with_offsets(self.engine, text, self._rules("encode_with_offsets", special))

    @takes_special_options
    def encode_segments(
        self, segments: Iterable[tuple[str | bytes, Any]], **special: Unpack[SpecialOptions]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Encode texts that are joined, such as the turns of a chat, and say which one each token is of.

        The ids are those of the whole. A token can be of two texts or more: its first byte is of one, its
        last byte of another.

        Parameters
        ----------
        segments : iterable of (text, label)
            All texts are str, or all are bytes. A label is anything, such as whether a model learns the text.

        Returns
        -------
        ids : (n,) uint32
        first_label, last_label : (n,) array
            The labels of the first and the last byte of each token: an array of bool, int, float or str if
            all labels are of one of these types, else of objects. What `add_special_tokens` puts before and
            after has the labels of the first and the last byte of all.

        Raises
        ------
        TypeError
            A segment is not a pair, or its text is not like the others.

        Complexity
        ----------
        As :meth:`encode_with_offsets`.

        Examples
        --------
        >>> import bpe
        >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
        >>> tok.encode_segments([("l", 0), ("ow ", 1), ("low", 0)])
        (array([257,  32, 257], dtype=uint32), array([0, 1, 0]), array([1, 1, 0]))
        """
        return offsets.encode_segments(self.engine, segments, self._rules("encode_segments", special))

    @takes_special_options
    def encode_with_dropout(
        self, text: str | bytes, dropout: float, *, seed: int, **special: Unpack[SpecialOptions]
    ) -> list[int]:
        """Encode a text with merges left out at random, so that a model sees other ways to write a word.

        Parameters
        ----------
        dropout : float
            The probability with which a merge is skipped at a step, from 0 to 1; 0.1 is common.
        seed : int
            Equal seeds give equal encodings of equal texts, on every machine.

        Complexity
        ----------
        O(n log n) for n bytes, if dropout is not near 1: no piece is cached.

        Examples
        --------
        >>> import bpe
        >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
        >>> [tok.encode_with_dropout("low", 0.5, seed=seed) for seed in (1, 2, 3)]
        [[257], [257], [108, 111, 119]]
        """
        return encode_with_dropout(
            self.engine, text, dropout, seed, self._rules("encode_with_dropout", special)
        )

    # ------------------------------------------------------------------------------------- many texts
    @takes_special_options
    def encode_batch(
        self, texts: Iterable[str | bytes], threads: int | None = None, **special: Unpack[SpecialOptions]
    ) -> list[list[int]]:
        """Encode texts on as many threads as there are processors, or on `threads`, with the same result.

        The rows of a ``pyarrow`` column are read where they are; a null is a ValueError.

        Examples
        --------
        >>> import bpe
        >>> bpe.train(["low"], vocab_size=256).encode_batch(["hi", b"you"])
        [[104, 105], [121, 111, 117]]
        """
        return batches.encode_batch(self.engine, texts, threads, self._rules("encode_batch", special))

    @takes_special_options
    def encode_batch_to_numpy(
        self, texts: Iterable[str | bytes], threads: int | None = None, **special: Unpack[SpecialOptions]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Encode texts to one array; else as :meth:`encode_batch`.

        Returns
        -------
        ids : (n,) uint32
        offsets : (len(texts) + 1,) int64
            Those of text i are ``ids[offsets[i]:offsets[i + 1]]``; :func:`pad_batch` makes rows of equal
            length of them, with a mask.
        """
        return batches.encode_batch_to_numpy(
            self.engine, texts, threads, self._rules("encode_batch_to_numpy", special)
        )

    # ---------------------------------------------------------------------------------- text in parts
    @takes_special_options
    def encode_iterable(
        self, texts: Iterable[str | bytes], **special: Unpack[SpecialOptions]
    ) -> Iterator[int]:
        """Return an iterator over the ids of one text that comes in parts, such as the lines of a file.

        They are the ids of all parts joined, wherever the text was cut. Some parts are read ahead. Memory
        stays small, unless the pattern looks behind or is not compiled, or :attr:`is_lossless` is false: then
        text is kept until the next special token, or the end.

        Examples
        --------
        >>> import bpe
        >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
        >>> list(tok.encode_iterable(["low lo", "wer"]))
        [257, 32, 257, 101, 114]
        """
        return encode_parts(self.engine, texts, self._rules("encode_iterable", special))

    @takes_special_options
    def stream_encoder(self, **special: Unpack[SpecialOptions]) -> StreamEncoder:
        """Return an encoder of a text that is fed in parts, with ``feed(text)`` and ``finish()``.

        Its ids are those of :meth:`encode` for the whole text, wherever it was cut.
        """
        return StreamEncoder(self.engine, self._rules("stream_encoder", special))

    @takes_special_options
    def appendable_encoder(self, **special: Unpack[SpecialOptions]) -> AppendableEncoder:
        """Return an encoder of a text that grows: ``append(text)``, ``count()``, ``ids()``, ``known()``."""
        return AppendableEncoder(self.engine, self._rules("appendable_encoder", special))

    # ------------------------------------------------------------------------------ numbers of tokens
    @takes_special_options
    def count(self, text: str | bytes, limit: int | None = None, **special: Unpack[SpecialOptions]) -> int:
        """Return the number of tokens of a text; ``limit + 1`` if there are more than `limit`.

        With a limit, no more of the text is read than is needed: a disallowed token further on may not be
        found.
        """
        return self.engine.count(text, limit, self._rules("count", special))

    @takes_special_options
    def truncate(self, text: AnyStr, max_tokens: int, **special: Unpack[SpecialOptions]) -> AnyStr:
        """Return a text cut to at most `max_tokens` tokens; the text itself if it has no more.

        The result is the longest beginning of the text that ends between characters and has its first k
        tokens, ``encode(result) == encode(text)[:k]``, for a ``k <= max_tokens``. Only the beginning is read.
        With the steps of a ``tokenizer.json``, a longer beginning may fit. For ids alone, cut their list.
        ValueError if what `add_special_tokens` puts around a text is more than `max_tokens`.

        Examples
        --------
        >>> import bpe
        >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
        >>> tok.truncate("low lower", 3), tok.truncate("\u00e9", 1)
        ('low low', '')
        """
        return self.engine.truncate(text, max_tokens, self._rules("truncate", special))

    def interval_counter(self, text: str | bytes) -> IntervalCounter:
        """Return a counter of the tokens of any part of a text, encoded by itself.

        Special tokens are ordinary text.

        Examples
        --------
        >>> import bpe
        >>> counter = bpe.train(["low lower"], vocab_size=258).interval_counter("low lower low")
        >>> counter.count(0, 5), counter.count_many([0, 1, 4], [13, 13, 9])
        (3, array([7, 8, 3]))
        """
        return IntervalCounter(self.engine, text)

    def _rules(self, method: str, special: SpecialOptions) -> Rules:
        """Return the rules of a call; a TypeError names the method that was called."""
        if special:
            check_names(special, getattr(Tokenizer, method))
        return self.engine.rules_of(**special)

    # ------------------------------------------------------------------------------------ ids to text
    def decode(
        self,
        ids: Iterable[int] | np.ndarray,
        errors: str = "replace",
        *,
        skip_special_tokens: bool = False,
    ) -> str:
        r"""Decode ids to text; `errors` is for bytes that are not valid UTF-8, as in ``bytes.decode``.

        Examples
        --------
        >>> tok = Tokenizer(token_bytes=[bytes([i]) for i in range(256)], merges=[], pattern="none")
        >>> tok.decode([104, 105]), tok.decode_bytes([255])
        ('hi', b'\xff')
        """
        some = self.engine.without_special(ids) if skip_special_tokens else ids
        return self.engine.decode(some).decode("utf-8", errors)

    def decode_bytes(self, ids: Iterable[int] | np.ndarray) -> bytes:
        """Decode ids to bytes; ValueError if an id has no token, TypeError if one is not an integer."""
        return self.engine.decode(ids)

    def decode_batch(
        self,
        batch: Iterable[Iterable[int] | np.ndarray],
        errors: str = "replace",
        *,
        skip_special_tokens: bool = False,
    ) -> list[str]:
        """Decode several lists of ids to texts, each as :meth:`decode`."""
        some = map(self.engine.without_special, batch) if skip_special_tokens else batch
        return [data.decode("utf-8", errors) for data in self.engine.decode_each(some)]

    def decode_with_offsets(self, ids: Iterable[int] | np.ndarray) -> tuple[str, list[int]]:
        """Decode ids to text, and return where in it each token begins, as tiktoken does.

        A token that begins inside a character gets the place of this character. ValueError if the bytes are
        not valid UTF-8, or if a decoder of a ``tokenizer.json`` changes the texts of tokens.

        Examples
        --------
        >>> import bpe
        >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
        >>> tok.decode_with_offsets([257, 195, 169, 257])
        ('low\u00e9low', [0, 3, 3, 4])
        """
        return offsets.decode_with_offsets(self.engine, ids)

    def stream_decoder(self, errors: str = "replace", *, skip_special_tokens: bool = False) -> StreamDecoder:
        """Return a decoder of ids that come in parts, with ``feed(ids)`` and ``finish()``."""
        return StreamDecoder(self.engine, errors, skip_special_tokens)

    def is_canonical(
        self,
        ids: Iterable[int] | np.ndarray,
        *,
        prefix: bool = False,
        allowed_special: Specials | None = None,
    ) -> bool:
        """Return whether decoding ids and encoding the text again gives the same ids.

        What is between two special ids is a text by itself, whatever it spells. With `allowed_special`, all
        is one text instead, in which these special tokens are found. :mod:`bpe.ids` tells where ids differ.

        With `prefix`, return whether the ids of some text, which is UTF-8, begin with these. That can be true
        of ids that no text has by itself, such as those of a text that ends inside a word. Where
        :attr:`bpe.ids.CanonicalState.is_exact` is false, True may be wrong.

        Raises
        ------
        ValueError, TypeError
            An id has no token, or is not an integer. With `prefix`, as :func:`bpe.ids.canonical_state`; or
            `allowed_special` is given, too.

        Complexity
        ----------
        O(n) for n bytes.

        Examples
        --------
        >>> import bpe
        >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
        >>> tok.is_canonical([257]), tok.is_canonical([256, 119]), tok.decode([256, 119])
        (True, False, 'low')
        """
        if prefix:
            if allowed_special is not None:
                raise ValueError("prefix=True keeps special ids as they are: leave out allowed_special")
            return bool(position_after(self.engine, ids).hypotheses)
        return first_noncanonical(self.engine, ids, allowed_special) is None

    # ------------------------------------------------------------------------------------- vocabulary
    @property
    def vocab_size(self) -> int:
        """The greatest id plus 1, special tokens included; ids that are not used count."""
        return self.engine.vocabulary.size

    @property
    def vocab(self) -> dict[int, bytes]:
        """Id -> bytes of all tokens in the order of their ids, special ones included; a copy.

        With :attr:`merges_bytes`, the pattern and the special tokens it makes an equal tokenizer, if merges
        lead to all tokens, and if there are no extras of a ``tokenizer.json``.

        Examples
        --------
        >>> import bpe
        >>> bpe.train(["low low"], vocab_size=257, progress=False).vocab[256]
        b'lo'
        """
        return dict(sorted(self.engine.vocabulary.bytes_of.items()))

    @property
    def merges(self) -> list[tuple[int, int]]:
        """(left id, right id) in the order of their ranks; a copy."""
        return list(self.engine.vocabulary.merges)

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
    def role_ids(self) -> dict[str, int]:
        """Role -> id of the tokens to which the folder of a model gives one; a copy.

        The roles are those of ``transformers``: "bos", "eos", "unk", "sep", "pad", "cls" and "mask". Only
        the files ``tokenizer_config.json`` and ``special_tokens_map.json`` of a folder say them, which
        :meth:`save_huggingface` writes.

        Examples
        --------
        >>> import bpe, tempfile
        >>> tok = bpe.train(["low"], 257, special_tokens=["<|end|>"], progress=False)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     tok.save_huggingface(folder, eos_token="<|end|>")
        ...     bpe.Tokenizer.load(folder).role_ids
        {'eos': 256}
        """
        from bpe.formats.model_folder import roles_of

        return roles_of(self.engine.vocabulary)

    @property
    def added_tokens(self) -> dict[str, int]:
        """Added token -> id; these become one id in every text and need not be allowed; a copy."""
        return dict(self.engine.vocabulary.added_tokens)

    @property
    def allowed_special(self) -> Specials:
        """The special tokens that are allowed if a call does not specify any: "all" or a frozenset."""
        return self.engine.allowed_special

    @property
    def pattern(self) -> Pattern:
        """How text is split."""
        return self.engine.pattern

    @property
    def is_lossless(self) -> bool:
        """Whether all bytes decode to themselves after encoding; false if steps of a file may change them."""
        return self.engine.is_lossless

    def token_bytes(self, token_id: int) -> bytes:
        """Return the bytes of an id, or the UTF-8 of a special token; ValueError if no token has the id."""
        return self.engine.table.join([token_id])

    def token_id(self, token: bytes | str) -> int:
        """Return the id of an ordinary token, else of a special or added one; KeyError if there is none."""
        text, vocabulary = as_text(token, "a token"), self.engine.vocabulary
        token_id = vocabulary.id_of.get(as_bytes(text), vocabulary.cut_tokens.get(text))
        if token_id is None:
            hint = ": a space is written as a space" if text[:1] in ("\u0120", "\u2581") else ""
            raise KeyError(f"there is no token {token!r}{hint}")
        return token_id

    def audit(
        self, texts: CorpusLike | Mapping[str, CorpusLike] | None = None, *, progress: Progress = False
    ) -> Audit:
        """Find out which tokens a text can give, and how well the vocabulary encodes texts.

        A live token has a witness, a text whose ids include it. A token is dead if there is a proof, from its
        merges or from the pattern (:mod:`bpe.auditing.proofs`). All others are unknown.

        Parameters
        ----------
        texts : what :func:`bpe.train` takes, or mapping from str to that, optional
            Measured, and searched for witnesses. A mapping gives figures for each name, such as a
            language. Special tokens in the texts are encoded as special tokens.
        progress : bool or callable
            A bar on stderr, nothing, or ``progress(bytes measured, None)``.

        Returns
        -------
        Audit

        Raises
        ------
        ValueError
            A text is empty, or cannot be read or encoded; or an id is above 16 million.

        Complexity
        ----------
        O(n + b) for n bytes of text and b in all tokens; for each token without a witness in the texts, some
        hundred short texts are encoded.

        Examples
        --------
        >>> import bpe
        >>> tokens = [*(bytes([value]) for value in range(256)), b"lo", b"low", b"o l"]
        >>> merges = [(b"l", b"o"), (b"lo", b"w")]
        >>> audit = bpe.Tokenizer(token_bytes=tokens, merges=merges, pattern="gpt2").audit()
        >>> audit.n_by_status, audit.with_status("rank-dead")
        ({'live': 258, 'rank-dead': 1, 'pattern-dead': 0, 'unknown': 0}, [258])
        """
        from bpe.auditing.audit import audit_of

        return audit_of(self.engine, texts, progress)

    # --------------------------------------------------------------------------------- before the first text
    def warmup(self) -> None:
        """Load the compiled code of all methods in this process, at once; compile what is not on disk yet.

        Otherwise a process encodes its first short texts in plain Python, and a later call waits while
        compiled code is loaded. Call it before a server takes requests.

        Complexity
        ----------
        A second or two; the first time of an installation up to a minute, unless ``bpe warmup`` was run.

        Examples
        --------
        >>> import bpe
        >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
        >>> tok.warmup()
        """
        special: SpecialOptions = {"allowed_special": "all"}
        with everything_compiled():
            texts = []
            for text in WARM_TEXTS:
                with contextlib.suppress(ValueError):  # a byte of it has no token
                    self.encode(text, **special)
                    texts.append(text)
            text = "".join(texts)
            self.encode_batch(texts, threads=2, **special)
            self.encode_batch_to_numpy(texts, **special)
            self.decode_batch([self.encode(text, **special) for text in texts])
            self.encode_with_offsets(text, **special)
            self.count(text, **special)
            self.truncate(text, 20, **special)
            self.interval_counter(text).count_many([0], [len(text)])
            if self.is_lossless:
                self.encode_with_dropout(text, 0.1, seed=1, **special)
            stream, growing = self.stream_encoder(**special), self.appendable_encoder(**special)
            for part in texts:
                stream.feed(part)
                growing.append(part)
            stream.finish()
            growing.ids()

    # ----------------------------------------------------------------------------------- files of ids
    @takes_special_options
    def encode_files(
        self,
        corpus: CorpusLike,
        out: PathLike,
        *,
        to: IdFormat | None = None,
        end_token: str | None = None,
        dtype: Any = None,
        threads: int | None = None,
        progress: Progress = False,
        **special: Unpack[SpecialOptions],
    ) -> EncodedFiles:
        """Encode a corpus to a file of ids, with the offsets of its documents in a file beside it.

        With the suffix .npy, `out` is a numpy array; otherwise, as with .bin, it has only the ids,
        little-endian. Beside it is ``<out without suffix>.offsets.npy``: ids ``offsets[k]`` to
        ``offsets[k + 1]`` are document k. Files .parquet and .arrow are tables with a row for each document
        (:mod:`bpe.id_files.tables`), and require the extra ``parquet``. The same call resumes a run that was
        killed or interrupted, if the corpus is the same. A file gets its name only when it is complete.
        Offsets of another file of ids are not replaced: a FileExistsError. A file that is read is not
        replaced, either: a ValueError.

        Parameters
        ----------
        to : {"bin", "npy", "nanogpt", "megatron", "parquet", "arrow"}, optional
            The format; by default, that of the suffix. "megatron", or the suffix .idx, writes a .bin with its
            .idx; "nanogpt" writes a .bin with a token after each document.
        end_token : str, optional
            The special token that follows each document; for nanoGPT, ``<|endoftext|>`` by default.
        dtype : numpy dtype, optional
            uint16 or uint32; by default, the smallest that all ids fit in.
        progress : bool or callable
            True: a bar on stderr. A callable is called with the bytes read so far, and all bytes.

        Examples
        --------
        >>> import bpe, tempfile, pathlib, numpy
        >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     written = tok.encode_files(["low", "lower"], pathlib.Path(folder, "corpus.bin"))
        ...     numpy.fromfile(written.ids, written.dtype), numpy.load(written.offsets)
        (array([257, 257, 101, 114], dtype=uint16), array([0, 1, 4]))
        """
        from bpe.id_files.encode import encode_files

        return encode_files(
            self.engine,
            corpus,
            out,
            self._rules("encode_files", special),
            to=to,
            end_token=end_token,
            dtype=dtype,
            threads=threads,
            progress=progress,
        )

    @takes_special_options
    def encode_shards(
        self,
        corpus: CorpusLike,
        folder: PathLike,
        *,
        to: IdFormat | None = None,
        end_token: str | None = None,
        dtype: Any = None,
        threads: int | None = None,
        scheduler: Any = None,
        progress: Progress = False,
        **special: Unpack[SpecialOptions],
    ) -> EncodedShards:
        """Encode each file of a corpus to a file of ids of the same name; else as :meth:`encode_files`.

        ``folder/shards.jsonl`` lists the shards that are complete. The same call skips them, continues with
        the others, and encodes again those whose source has changed. Other options are a ValueError.

        Parameters
        ----------
        scheduler : dask.distributed.Client or str, optional
            Encode on the workers of a cluster, which must see the same files by the same names.

        Examples
        --------
        >>> import bpe, tempfile, pathlib
        >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = pathlib.Path(folder, "a.txt").write_text("lower")
        ...     done = tok.encode_shards([pathlib.Path(folder, "a.txt")], pathlib.Path(folder, "ids"))
        ...     sorted(path.name for path in done.folder.iterdir()), done.n_tokens
        (['a.txt.bin', 'a.txt.offsets.npy', 'shards.jsonl'], 3)
        """
        from bpe.id_files.shards import encode_shards

        self._rules("encode_shards", special)  # raises here, not in a worker
        return encode_shards(
            self.engine,
            corpus,
            folder,
            dict(special),
            to=to,
            end_token=end_token,
            dtype=dtype,
            threads=threads,
            scheduler=scheduler,
            progress=progress,
        )

    # ------------------------------------------------------------------------------- other tokenizers
    def with_vocab_size(self, vocab_size: int) -> Self:
        """Return the tokenizer without its last merges: what training to a smaller vocabulary gives.

        Special tokens that come after all others stay after them; other ids do not change. ValueError if
        there are too few merges, or the last ones do not make the last ids.

        Examples
        --------
        >>> import bpe
        >>> bpe.train(["low lower"], vocab_size=258).with_vocab_size(257).merges
        [(108, 111)]
        """
        return self._with(with_vocab_size(self.engine.vocabulary, vocab_size))

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

        Special tokens stay, and so do the extras of a file. A piece that contains no new token is encoded to
        the same ids as before.

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
            By old id, the new one, which is the same; -1 for an id that is not used.

        Raises
        ------
        ValueError
            `n` is negative, or the text has fewer pairs to merge, or is empty. Or training cannot continue
            from this tokenizer: its tokens are texts (SentencePiece), a byte has no token, or its merges are
            in an order that training does not produce.

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
        from bpe.training.options import Options

        options = Options(ties=ties, min_count=min_count, max_token_length=max_token_length)
        counting = {"threads": threads, "progress": progress}
        vocabulary, new_id_of = extended(self.engine, corpus, n, options, **counting)
        return self._with(vocabulary), new_id_of

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

        Only a token that no other merge needs can be removed. Its uses then count for its two parts. Single
        bytes and special tokens stay, and so do the extras of a file, with the new ids. The remaining tokens,
        special ones too, get consecutive ids in the old order. A piece whose tokens all stay is encoded to
        the same tokens as before.

        Parameters
        ----------
        corpus : what :func:`bpe.train` takes
            WordCounts must have the pattern of the tokenizer.
        vocab_size : int, optional
            How many tokens stay, special ones included.
        min_count : int, optional
            Tokens that are used at least this often stay; then more than `vocab_size` tokens may stay.
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
        >>> [tok.token_bytes(token_id) for token_id in range(256, 260)]
        [b'lo', b'low', b' low', b'<|end|>']
        >>> fewer, new_id_of = tok.prune(["low"], vocab_size=259)
        >>> [fewer.token_bytes(token_id) for token_id in range(256, 259)], new_id_of[256:].tolist()
        ([b'lo', b'low', b'<|end|>'], [256, 257, -1, 258])
        """
        from bpe.surgery.prune import pruned

        counting = {"threads": threads, "progress": progress}
        vocabulary, new_id_of = pruned(self.engine, corpus, vocab_size, min_count, **counting)
        return self._with(vocabulary), new_id_of

    def with_special_tokens(self, tokens: Mapping[str, int] | Iterable[str]) -> Self:
        """Return the tokenizer with more special tokens; the extras of a ``tokenizer.json`` stay.

        Tokens without ids get ids as in the constructor; those that are special already keep theirs.
        ValueError if an id is taken, or a token has another one.

        Examples
        --------
        >>> import bpe
        >>> tok = bpe.train(["low"], vocab_size=256, progress=False)
        >>> tok.with_special_tokens(["<|user|>", "<|end|>"]).special_tokens
        {'<|user|>': 256, '<|end|>': 257}
        >>> tok.with_special_tokens({"<|end|>": 300}).vocab_size
        301
        """
        return self._with(with_special_tokens(self.engine.vocabulary, tokens))

    def with_post_processor(self, before: Iterable[str] = (), after: Iterable[str] = ()) -> Self:
        """Return the tokenizer with other tokens that ``add_special_tokens=True`` puts around a text.

        They are written to a ``tokenizer.json`` as a ``TemplateProcessing``, which other programs apply by
        default. What was put around a text before is replaced.

        Parameters
        ----------
        before, after : iterable of str
            Special tokens. By default, there are none.

        Raises
        ------
        TypeError
            `before` or `after` is a single str.
        ValueError
            One is not a special token.

        Examples
        --------
        >>> import bpe
        >>> tok = bpe.train(["low"], 258, special_tokens=["<s>", "</s>"], progress=False)
        >>> tok = tok.with_post_processor(before=["<s>"], after=["</s>"])
        >>> tok.encode("lo", add_special_tokens=True), tok.encode("lo")
        ([256, 108, 111, 257], [108, 111])
        """
        vocabulary = self.engine.vocabulary
        extras = with_around(vocabulary.extras, vocabulary.special_tokens, before, after)
        return self._with(vocabulary.replace(extras=extras))

    def with_allowed_special(self, allowed_special: Specials) -> Self:
        """Return the tokenizer with other special tokens that are allowed if a call does not specify any.

        Only for texts that you trust: others may hold special tokens that you do not want. Both tokenizers
        share what has been compiled and cached so far. Pickles hold these tokens, files do not. Two
        tokenizers are equal only if they allow the same ones. ValueError if one is not a special token.

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

    # ----------------------------------------------------------------------------------- as an object
    def __repr__(self) -> str:
        specials = f", {len(self.special_tokens)} special" if self.special_tokens else ""
        return f"<Tokenizer of {self.vocab_size} tokens{specials}, pattern {self.pattern.spec!r}>"

    def __len__(self) -> int:
        """Return :attr:`vocab_size`, the number of rows that a model needs."""
        return self.vocab_size

    def __eq__(self, other: object) -> bool:
        return self.engine == other.engine if isinstance(other, Tokenizer) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.engine)

    def __reduce__(self) -> Any:
        parts = packed(self.engine.vocabulary), self.pattern, self.allowed_special, self._others()
        return self._unpacked, parts

    def _others(self) -> dict[str, Any]:
        """Return the instance attributes that users or subclasses have set, without cached properties."""
        ours = {"engine", *(name for cls in type(self).__mro__ for name in vars(cls))}
        return {name: value for name, value in vars(self).items() if name not in ours}

    @classmethod
    def _unpacked(
        cls, parts: Packed, pattern: Pattern, allowed_special: Specials, others: dict[str, Any]
    ) -> Self:
        self = cls._of(unpacked(parts), pattern, allowed_special)
        vars(self).update(others)
        return self


__test__ = {"Tokenizer": Tokenizer}  # doctest skips a class whose __module__ is another module
