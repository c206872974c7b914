"""``wrap``: a tokenizer of transformers that encodes and decodes with this package.

The object is of a class made of the original class and :class:`_Wrapped`, with the name of the original, so
that ``isinstance``, ``save_pretrained`` and whatever else asks for the class find what they know::

    wrapped(text)       _Wrapped.__call__ -> bpe            nothing but texts, padding, truncation, tensors
                                          -> the original   pairs, offsets, words, overflowing tokens, ...
    wrapped.encode      the same
    wrapped.decode      _Wrapped.decode   -> bpe            -> the original for ids that have no token
    all else            the original, whose chat templates call wrapped(text)

1. What a wrapped tokenizer returns is what the original returns: compared on :data:`PROBES` and on all added
   tokens when it is made, and again after tokens were added or the post-processor was changed.
2. The original is neither changed nor shared: its backend is copied.
"""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from bpe.formats.huggingface import of_document
from bpe.support.warning import warn
from bpe.tokenizer import Tokenizer

T = TypeVar("T")
_Base: Any = Any if TYPE_CHECKING else object  # checkers do not know the class that comes after ours

# Where engines differ: white space, digits, contractions, scripts, normal forms, invisible characters.
PROBES = [
    "",
    " ",
    "Hello, world!",
    "  two  spaces \n\n line\r\nends\t\ttabs \n ",
    "I'm we'll DON'T you\u2019ve HE'S",
    "1234567890 3.14159 1,000,000 x=1e-9 2024-01-31",
    "def f(x):\n    return x[0]**2  # comment\n\n\n\tif not x:\n\t\tpass",
    "https://example.org/a_b?c=d&e=%20f#g CamelCase snake_case UPPER",
    "e\u0301 \u00e9 \ufb01 \uff21\uff22 \u212b \u1e9b\u0323 \u0130I\u0131i \u00df",
    "Zwölf Boxkämpfer jagten Eva quer über den großen Sylter Deich",
    "Съешь же ещё этих мягких французских булок",
    "我能吞下玻璃而不伤身体。日本語のテキスト、カタカナ 한국어 문장",
    "نص حكيم له سر قاطع \u200fהכל עברית हिन्दी में वाक्य ภาษาไทย",
    "👍🏽 👩\u200d👩\u200d👧 🇩🇪 \u2764\ufe0f \U0001f9ff",
    "\u00a0\u2003\u3000\u200b\ufeff\u2028 \x00\x01\x7f\x85 \u0378\ue000",
    "aaaaaaaaaaaaaaaaaaaaaaaa !!!!!!!! ======== --------",
    "▁ Ġ Ċ <s> </s> <unk> [INST] <0x0A> ## @@",
]

# Options of a call that are applied here; any other that is given and true is left to the original.
_OPTIONS = {
    "add_special_tokens",
    "max_length",
    "pad_to_multiple_of",
    "padding",
    "padding_side",
    "return_attention_mask",
    "return_tensors",
    "return_token_type_ids",
    "truncation",
    "verbose",
}
_METHODS = (
    "__call__",
    "encode",
    "_encode_plus",
    "_batch_encode_plus",
    "decode",
    "batch_decode",
    "_decode",
    "_switch_to_input_mode",  # in transformers 4 every class has both
    "_switch_to_target_mode",
)


def wrap(tokenizer: T) -> T:
    """Return a tokenizer of ``transformers`` that encodes and decodes with this package.

    Chat templates, padding, saving and all else are those of the original, which does not change. So are
    calls for offsets, pairs of texts, words or overflowing tokens. Ids and texts are compared with the
    original's on texts in many scripts and on all added tokens.

    Tokens may be added to the wrapped tokenizer, and its ``add_bos_token`` be set. Change other parts of its
    ``backend_tokenizer`` before it is wrapped.

    Parameters
    ----------
    tokenizer : transformers.PreTrainedTokenizerBase

    Returns
    -------
    transformers.PreTrainedTokenizerBase
        Of a subclass with the same name; or the original itself where it cannot be replaced.

    Raises
    ------
    TypeError
        It is not a tokenizer of transformers.

    Warns
    -----
    UserWarning
        The original is returned: it is not BPE, or not a fast tokenizer, its class changes how texts are
        encoded, or a result differs; the warning says which.

    Complexity
    ----------
    As reading its ``tokenizer.json``, and encoding some thousand characters.

    Examples
    --------
    >>> import bpe, bpe.hf
    >>> tok = bpe.train(["low lower"], 259, special_tokens=["<|end|>"], progress=False)
    >>> from transformers import PreTrainedTokenizerFast  # doctest: +SKIP
    >>> hf = PreTrainedTokenizerFast(tokenizer_object=tok.to_huggingface())  # doctest: +SKIP
    >>> bpe.hf.wrap(hf)("lower")["input_ids"]  # doctest: +SKIP
    [257, 101, 114]
    """
    if isinstance(tokenizer, _Wrapped):
        return cast("T", tokenizer)
    modules = {cls.__module__.partition(".")[0] for cls in type(tokenizer).__mro__}
    if "transformers" not in modules or not hasattr(tokenizer, "convert_tokens_to_ids"):
        raise TypeError(
            f"wrap takes a tokenizer of transformers, not {type(tokenizer).__name__}: "
            "bpe.hf.HuggingFaceTokenizer gives a bpe.Tokenizer the methods of one"
        )
    engine = _engine_of(tokenizer)
    if engine is None:
        return tokenizer
    return cast("T", _wrapped(copy.deepcopy(tokenizer), engine))


# --------------------------------------------------------------------------------- making and comparing
def _engine_of(original: Any) -> Tokenizer | None:
    """Return a tokenizer of ours with the ids of the original; None, and a warning, if there is none."""
    try:
        engine = _read(original)
        _compare(original, engine)
    except ValueError as error:
        warn(
            f"bpe.hf.wrap returns this {type(original).__name__} as it is: {error}",
        )
        return None
    return engine


def _read(original: Any) -> Tokenizer:
    """Return the tokenizer of an original's parts; ValueError if there is none that does as it does."""
    if not getattr(original, "is_fast", False):
        raise ValueError("it is not a fast tokenizer, so it has no tokenizer.json")
    for name in _METHODS:
        owner = getattr(getattr(type(original), name, None), "__module__", "transformers.tokenization_utils")
        # Those of models in transformers 4 only refuse words that were split before, which are not ours.
        allowed = "transformers." if name.endswith("_encode_plus") else "transformers.tokenization_utils"
        if not owner.startswith(allowed):
            raise ValueError(f"its class has its own {name}")
    document = json.loads(original.backend_tokenizer.to_str())
    if document["model"].get("dropout"):
        raise ValueError("it drops merges at random")
    # Both are options of a call in transformers.
    vocabulary, pattern = of_document(document | {"truncation": None, "padding": None})
    return Tokenizer._of(vocabulary, pattern, "all")


def _compare(original: Any, engine: Tokenizer) -> None:
    """Raise ``ValueError`` if a text or ids are encoded or decoded in another way."""
    added = sorted({**engine.special_tokens, **engine.added_tokens})
    texts = [*PROBES, "".join(added), " ".join(added), "\n".join(added), "a".join(["", *added, ""])]
    plain = {"padding": False, "truncation": False, "return_token_type_ids": True, "verbose": False}
    rows: list[list[int]] = []
    for adds in (False, True):
        theirs = original(texts, add_special_tokens=adds, **plain)
        rows = _encode(engine, texts, adds)
        for text, expected, types, row in zip(
            texts, theirs["input_ids"], theirs["token_type_ids"], rows, strict=True
        ):
            if row != expected:
                raise ValueError(f"{text!r:.60} has ids {expected!s:.60} there and {row!s:.60} here")
            if any(types):
                raise ValueError("its post-processor gives other types than 0")
    known = sorted(engine.engine.vocabulary.bytes_of)
    rows += [known[:600], known[:600:-1][:600], [token_id for token_id in known[:300] for _ in range(2)]]
    for skips in (False, True):
        for row in rows:
            expected = original.decode(row, skip_special_tokens=skips, clean_up_tokenization_spaces=False)
            if engine.decode(row, skip_special_tokens=skips) != expected:
                raise ValueError(f"ids {row!s:.60} are decoded to other text than {expected!r:.60}")


def _encode(engine: Tokenizer, texts: list[str], add_special_tokens: bool) -> list[list[int]]:
    if len(texts) == 1:
        return [engine.encode(texts[0], add_special_tokens=add_special_tokens)]
    return engine.encode_batch(texts, add_special_tokens=add_special_tokens)


def _wrapped(original: Any, engine: Tokenizer) -> Any:
    """Return the object of the other class with the attributes of the original."""
    cls = _class_of(cast("Any", type(original)))
    wrapped = cls.__new__(cls)
    # pad() advises to call a fast tokenizer instead, which is what calls it here.
    quiet = {"Asking-to-pad-a-fast-tokenizer": True}
    vars(wrapped).update(
        vars(original),
        deprecation_warnings=getattr(original, "deprecation_warnings", {}) | quiet,
        _bpe_engine=engine,
        _bpe_state=_state_of(original),
    )
    return wrapped


@functools.cache
def _class_of(original: Any) -> Any:
    """Return the class of wrapped objects, under the name of the original, which files and messages have."""
    names = {"__module__": original.__module__, "__doc__": original.__doc__, "_bpe_original": original}
    return type(original.__name__, (_Wrapped, original), names | {"__qualname__": original.__qualname__})


def _state_of(tokenizer: Any) -> tuple[str, int]:
    """Return what shows in a microsecond that the backend was changed."""
    backend = tokenizer._tokenizer
    return str(backend.post_processor), backend.get_vocab_size(True)


# --------------------------------------------------------------------------------------------- wrapped
class _Wrapped(_Base):  # type: ignore[misc]
    """The methods of a wrapped tokenizer; the original's class comes after it."""

    _bpe_original: type
    _bpe_engine: Tokenizer | None
    _bpe_state: tuple[str, int] | None

    def __call__(self: Any, text: Any = None, *others: Any, **options: Any) -> Any:
        engine = self._bpe_engine_for(text, others, options)
        if engine is None:
            return super().__call__(text, *others, **options)
        names = ("padding", "truncation", "max_length", "pad_to_multiple_of", "verbose")
        padding, truncation, max_length, _ = self._get_padding_truncation_strategies(
            **{name: options[name] for name in names if name in options}
        )
        room, adds = None, options.get("add_special_tokens", True)
        if truncation.value != "do_not_truncate":
            room = max_length - (sum(map(len, engine.engine.around)) if adds else 0)
            if truncation.value == "only_second" or room < 0:
                return super().__call__(text, **options)
        texts = [text] if isinstance(text, str) else text
        rows = _encode(engine, texts, adds)
        if room is not None:
            around = engine.engine.around if adds else ((), ())
            rows = [_cut(row, room, around, self.truncation_side) for row in rows]
        data = self._bpe_data(rows, padding, max_length, options)
        # Encodings, which have offsets and words, are made when somebody asks for them.
        later = functools.partial(super().__call__, text, **options)
        tensors = options.get("return_tensors")
        if isinstance(text, str) and tensors is None:
            data = {name: values[0] for name, values in data.items()}
        return _batch_class()(data, encoding=later, tensor_type=tensors, n_sequences=1)

    def encode(self: Any, text: Any, *others: Any, **options: Any) -> Any:
        engine = self._bpe_engine_for(text, others, options) if isinstance(text, str) else None
        if engine is None:
            return super().encode(text, *others, **options)
        if options.keys() <= {"add_special_tokens"}:  # the usual call: no padding, nothing that is cut
            ids = _encode(engine, [text], options.get("add_special_tokens", True))[0]
            self._eventual_warn_about_too_long_sequence(ids, None, True)
            return ids
        return self(text, **options)["input_ids"]

    def decode(
        self: Any,
        token_ids: Any,
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
        **options: Any,
    ) -> Any:
        engine, cleans = self._bpe_current(), clean_up_tokenization_spaces
        if cleans is None:
            cleans = self.clean_up_tokenization_spaces
        else:
            options["clean_up_tokenization_spaces"] = cleans
        ids = token_ids.tolist() if hasattr(token_ids, "tolist") else token_ids
        ids = [ids] if isinstance(ids, int) else ids
        is_ours = engine is not None and not cleans and not any(options.values())
        if is_ours and isinstance(ids, (list, tuple)):
            try:
                if ids and isinstance(ids[0], (list, tuple)):
                    return engine.decode_batch(ids, skip_special_tokens=skip_special_tokens)
                return engine.decode(ids, skip_special_tokens=skip_special_tokens)
            except (TypeError, ValueError):
                pass  # the original leaves out ids that have no token
        return super().decode(token_ids, skip_special_tokens=skip_special_tokens, **options)

    def _add_tokens(self: Any, *args: Any, **options: Any) -> int:
        self._bpe_state = None  # a token that was there already does not change the number of tokens
        return super()._add_tokens(*args, **options)

    def __reduce_ex__(self: Any, protocol: Any) -> Any:
        return _wrapped, (self._bpe_plain(), self._bpe_renewed())

    def __deepcopy__(self: Any, memo: Any) -> Any:
        return _wrapped(copy.deepcopy(self._bpe_plain(), memo), self._bpe_renewed())

    # -------------------------------------------------------------------------------------------- parts
    def _bpe_engine_for(self: Any, text: Any, others: Any, options: dict[str, Any]) -> Tokenizer | None:
        """Return the engine if a call is one for it; None if it is one for the original."""
        if others or any(value for name, value in options.items() if name not in _OPTIONS):
            return None
        is_ours = _is_text(text) or (isinstance(text, (list, tuple)) and text and all(map(_is_text, text)))
        return self._bpe_current() if is_ours else None

    def _bpe_current(self: Any) -> Tokenizer | None:
        """Return the engine; None if the original does the work."""
        return None if self.split_special_tokens else self._bpe_renewed()

    def _bpe_renewed(self: Any) -> Tokenizer | None:
        """Return the engine of the tokenizer as it is now."""
        state = _state_of(self)
        if state != self._bpe_state:
            self._bpe_engine = _engine_of(self._bpe_plain())
            self._bpe_state = state
        return self._bpe_engine

    def _bpe_plain(self: Any) -> Any:
        """Return the original with the attributes that the wrapped one has now."""
        original = self._bpe_original.__new__(self._bpe_original)
        ours = ("_bpe_engine", "_bpe_state")
        vars(original).update({name: value for name, value in vars(self).items() if name not in ours})
        return original

    def _bpe_data(
        self: Any, rows: list[list[int]], padding: Any, max_length: int | None, options: dict[str, Any]
    ) -> dict[str, Any]:
        """Return the entries of a batch, padded by the original."""
        wanted = {}
        for name in ("token_type_ids", "attention_mask"):
            given = options.get(f"return_{name}")
            wanted[name] = name in self.model_input_names if given is None else given
        data: dict[str, Any] = {"input_ids": rows}
        if wanted["token_type_ids"]:
            data["token_type_ids"] = [[0] * len(row) for row in rows]
        if padding.value != "do_not_pad":
            names = ("pad_to_multiple_of", "padding_side")
            how = {name: options[name] for name in names if name in options}
            masked = wanted["attention_mask"]
            data = dict(
                self.pad(data, padding, max_length, return_attention_mask=masked, verbose=False, **how)
            )
        elif wanted["attention_mask"]:
            data["attention_mask"] = [[1] * len(row) for row in rows]
        for row in data["input_ids"]:
            self._eventual_warn_about_too_long_sequence(row, max_length, options.get("verbose", True))
        return data


def _is_text(text: Any) -> bool:
    """Return whether this is a str that has UTF-8: the original refuses lone surrogates."""
    if not isinstance(text, str):
        return False
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False


def _cut(row: list[int], room: int, around: tuple[Any, Any], side: str) -> list[int]:
    """Return a row with at most `room` ids between those that are put around it."""
    before, after = map(len, around)
    inner = row[before : len(row) - after]
    if len(inner) <= room:
        return row
    inner = inner[:room] if side == "right" else inner[len(inner) - room :]
    return [*around[0], *inner, *around[1]]


class _LaterEncodings:
    """A BatchEncoding whose encodings the original makes when they are asked for."""

    is_fast = True

    @property
    def _encodings(self) -> Any:
        made = vars(self)["_bpe_encodings"]
        if callable(made):
            made = vars(self)["_bpe_encodings"] = made().encodings
        return made

    @_encodings.setter
    def _encodings(self, encodings: Any | Callable[[], Any]) -> None:
        vars(self)["_bpe_encodings"] = encodings

    def __reduce_ex__(self: Any, protocol: Any) -> Any:
        from transformers import BatchEncoding

        return BatchEncoding, (self.data, self._encodings)


@functools.cache
def _batch_class() -> Any:
    """Return the class of batches, which requires transformers."""
    from transformers import BatchEncoding

    return type("BatchEncoding", (_LaterEncodings, BatchEncoding), {"__module__": BatchEncoding.__module__})
