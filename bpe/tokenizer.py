"""``Tokenizer``: text to ids and back. Every public method stands here, a few lines over an engine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, AnyStr

import numpy as np

from bpe.corpus_encoder import CorpusEncoder
from bpe.encoding import batches, offsets
from bpe.encoding.appendable import AppendableEncoder
from bpe.encoding.dropout import encode_with_dropout
from bpe.encoding.intervals import IntervalCounter
from bpe.encoding.streams import StreamDecoder, StreamEncoder, encode_parts
from bpe.splitting.specials import Ordinary, SpecialOptions, Specials
from bpe.support.progress import Progress
from bpe.support.text import utf8_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from bpe.auditing import Audit
    from bpe.corpus import CorpusLike


class Tokenizer(CorpusEncoder):
    r"""A vocabulary with its merges, split pattern and special tokens: encodes text and decodes ids.

    It never changes. Two are equal if all parts that decide ids are. Any number of threads may use one, and
    processes that fork while no thread compiles. Bytes are encoded as they are, valid UTF-8 or not, and
    decode to the same bytes, if :attr:`is_lossless`. In a str, surrogate pairs are joined; any other
    surrogate is encoded as U+FFFD.

    * one text: :meth:`encode`, :meth:`encode_ordinary`, :meth:`encode_to_numpy`, :meth:`encode_with_offsets`,
      :meth:`encode_with_dropout`
    * many texts: :meth:`encode_batch`, :meth:`encode_batch_to_numpy`, :meth:`encode_files`,
      :meth:`encode_shards`
    * text in parts: :meth:`encode_iterable`, :meth:`stream_encoder`, :meth:`appendable_encoder`
    * numbers of tokens: :meth:`count`, :meth:`truncate`, :meth:`interval_counter`
    * ids to text: :meth:`decode`, :meth:`decode_bytes`, :meth:`decode_batch`, :meth:`decode_with_offsets`,
      :meth:`stream_decoder`
    * vocabulary: :meth:`token_bytes`, :meth:`token_id`, :attr:`vocab_size`, :attr:`vocab`, :attr:`merges`,
      :attr:`merges_bytes`, :attr:`special_tokens`, :attr:`added_tokens`, :attr:`pattern`, :meth:`audit`
    * other tokenizers: :meth:`truncated`, :meth:`extend`, :meth:`prune`, :meth:`with_special_tokens`,
      :meth:`with_allowed_special`
    * files: :meth:`save`, :meth:`load`, and ``save_...``, ``from_...``, ``to_...`` for other programs;
      :class:`TiktokenEncoding` has the methods of tiktoken

    All methods that encode take the options of :meth:`encode` for special tokens. To be fast, they remember
    pieces of texts, in 265 MB at most for each processor, and in as much for each further thread at work. The
    first short texts of a process are encoded in plain Python; then compiled code is loaded.

    Parameters
    ----------
    token_bytes : sequence of bytes or None, or mapping from int to bytes
        The bytes of each id; None for an id that is not used, or that a special token has. A text with a byte
        that is no token cannot be encoded. Special tokens may be among them, as their UTF-8.
    merges : iterable of (int, int), or of (bytes, bytes)
        (left, right) in the order of their ranks, as ids or as bytes. A merge makes the id that has the bytes
        of both.
    pattern : str, iterable of str or Pattern
    special_tokens : mapping from str to int, or iterable of str
        Their ids, which no token with other bytes has. Without ids, each takes that of the token with its
        UTF-8; where there is none, they take the ids after the greatest one, in their order.
    allowed_special : "all" or collection of str
        The special tokens that are allowed where a call does not say which, for texts that you trust.
        Pickles hold it, files do not.

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
    >>> Tokenizer(
    ...     token_bytes=tok.vocab,
    ...     merges=tok.merges_bytes,  # [(b'h', b'e'), (b'he', b'l'), (b'l', b'o')]
    ...     pattern="gpt2",
    ...     special_tokens=["<|endoftext|>"],
    ... ) == tok
    True
    """

    __module__ = "bpe"  # the name in pickles: users import it from there

    # --------------------------------------------------------------------------------------- one text
    def encode(
        self,
        text: str | bytes,
        *,
        allowed_special: Specials | None = None,
        disallowed_special: Specials = "all",
        specials: Ordinary = None,
        add_special_tokens: bool = False,
    ) -> list[int]:
        """Encode a text.

        By default, special tokens in the text are an error: untrusted text cannot smuggle one in. Added
        tokens are one id in every text.

        Parameters
        ----------
        text : str or bytes
        allowed_special : "all" or collection of str, optional
            Special tokens that become their ids; if several begin at one place, the longest does. By default,
            those of the attribute :attr:`allowed_special`, which are none if nobody has said otherwise.
        disallowed_special : "all" or collection of str
            Strings that are an error; "all" stands for all special tokens that are not allowed. One that is
            neither allowed nor disallowed is encoded as the text it is.
        specials : "ordinary", optional
            All text is ordinary: no special token is looked for. It replaces the other two options.
        add_special_tokens : bool
            Put before and after the ids what the post-processor of a ``tokenizer.json`` says.

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
        rules = engine.rules_of(allowed_special, disallowed_special, specials, add_special_tokens)
        data = utf8_of(text)
        return engine.encoder_for(data, rules, text).encode(data)

    def encode_ordinary(self, text: str | bytes) -> list[int]:
        """Encode a text in which special tokens are ordinary text."""
        engine, data = self.engine, utf8_of(text)
        return engine.encoder_for(data, engine.ordinary_rules).encode(data)

    def encode_to_numpy(self, text: str | bytes, **special: Unpack[SpecialOptions]) -> np.ndarray:
        """Encode a text to an array, ``(n,) uint32``; else as :meth:`encode`."""
        data, rules = utf8_of(text), self._rules("encode_to_numpy", special)
        return self.engine.encoder_for(data, rules, text).encode_to_numpy(data)

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
        return offsets.encode_with_offsets(self.engine, text, self._rules("encode_with_offsets", special))

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
        return encode_with_dropout(
            self.engine, text, dropout, seed, self._rules("encode_with_dropout", special)
        )

    # ------------------------------------------------------------------------------------- many texts
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
        return batches.encode_batch_to_numpy(
            self.engine, texts, threads, self._rules("encode_batch_to_numpy", special)
        )

    # ---------------------------------------------------------------------------------- text in parts
    def encode_iterable(
        self, texts: Iterable[str | bytes], **special: Unpack[SpecialOptions]
    ) -> Iterator[int]:
        """Return an iterator over the ids of one text that comes in parts, such as the lines of a file.

        They are the ids of all parts joined, wherever the text was cut. Some parts are read ahead. Memory
        stays small, unless the pattern looks behind or is not compiled, or :attr:`is_lossless` is false: then
        text is held to the next special token, or to the end.

        Examples
        --------
        >>> import bpe
        >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
        >>> list(tok.encode_iterable(["low lo", "wer"]))
        [257, 32, 257, 101, 114]
        """
        return encode_parts(self.engine, texts, self._rules("encode_iterable", special))

    def stream_encoder(self, **special: Unpack[SpecialOptions]) -> StreamEncoder:
        """Return an encoder of a text that is fed in parts, with ``feed(text)`` and ``finish()``.

        Its ids are those of :meth:`encode` for the whole text, wherever it was cut.
        """
        return StreamEncoder(self.engine, self._rules("stream_encoder", special))

    def appendable_encoder(self, **special: Unpack[SpecialOptions]) -> AppendableEncoder:
        """Return an encoder of a text that grows, with ``append(text)``, ``count()`` and ``ids()``."""
        return AppendableEncoder(self.engine, self._rules("appendable_encoder", special))

    # ------------------------------------------------------------------------------ numbers of tokens
    def count(self, text: str | bytes, limit: int | None = None, **special: Unpack[SpecialOptions]) -> int:
        """Return the number of tokens of a text; ``limit + 1`` if there are more than `limit`.

        With a limit only the beginning of the text is read, and looked through for special tokens.
        """
        return self.engine.count(text, limit, self._rules("count", special))

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
        return self.engine.truncate(text, max_tokens, self._rules("truncate", special))

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

    # -------------------------------------------------------------------------------------- the tokens
    def audit(
        self, texts: CorpusLike | Mapping[str, CorpusLike] | None = None, *, progress: Progress = False
    ) -> Audit:
        """Say of every token whether a text can give it, and how well the vocabulary does on texts.

        A live token has a witness, a text that is encoded to it. That a token is dead is proved, by its
        merges or by the pattern (:mod:`bpe.auditing.proofs`). The rest is unknown.

        Parameters
        ----------
        texts : what :func:`bpe.train` takes, or mapping from str to that, optional
            Measured, and looked through for witnesses. A mapping gives figures for each name, such as a
            language. Special tokens in them are special tokens.
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
        O(n + b) for n bytes of text and b in all tokens; some hundred short texts for each token that has no
        witness.

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

    # ------------------------------------------------------------------------------------ ids to text
    def decode_bytes(self, ids: Iterable[int] | np.ndarray) -> bytes:
        """Decode ids to bytes; ValueError if an id has no token, TypeError if one is not an integer."""
        return self.engine.decode(ids)

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

    def decode_batch(
        self,
        batch: Iterable[Iterable[int] | np.ndarray],
        errors: str = "replace",
        *,
        skip_special_tokens: bool = False,
    ) -> list[str]:
        """Decode several lists of ids to texts, each as :meth:`decode`."""
        return [self.decode(ids, errors, skip_special_tokens=skip_special_tokens) for ids in batch]

    def decode_with_offsets(self, ids: Iterable[int] | np.ndarray) -> tuple[str, list[int]]:
        """Decode ids to text, and say where in it each token begins, as tiktoken does.

        A token that begins inside a character has the place of this character. ValueError if the bytes are
        not valid UTF-8, or if a decoder of a ``tokenizer.json`` changes the texts of tokens.

        Examples
        --------
        >>> import bpe
        >>> tok = bpe.train(["low lower"], vocab_size=258, progress=False)
        >>> tok.decode_with_offsets([257, 195, 169, 257])
        ('low\u00e9low', [0, 3, 3, 4])
        """
        return offsets.decode_with_offsets(self.engine, ids)

    def stream_decoder(self, errors: str = "replace") -> StreamDecoder:
        """Return a decoder of ids that come one after the other, with ``feed(ids)`` and ``finish()``."""
        return StreamDecoder(self.engine, errors)


__test__ = {"Tokenizer": Tokenizer}  # doctest passes over a class that has the name of another module


def _unpickled(cls: type[Tokenizer], *parts: Any) -> Tokenizer:  # pickles of release 0.1.0 name it
    return cls._unpacked(*parts)
