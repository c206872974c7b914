"""``HuggingFaceTokenizer``: a tokenizer with the methods of transformers that most programs call.

It does not require transformers. What :func:`bpe.hf.wrap` returns has all methods, but requires the package.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Literal, TypeVar

import numpy as np

from bpe.pipeline.preparation import Preparation
from bpe.splitting.specials import SpecialOptions
from bpe.support.integers import as_integer
from bpe.tokenizer import Tokenizer
from bpe.vocabulary.byte_level import text_of
from bpe.vocabulary.extras import ROLES

T = TypeVar("T")


class Batch(dict[str, Any]):
    """What a call returns: a dict whose entries are attributes, too, as those of a BatchEncoding."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class _RoleId:
    """The id of the token of a role, such as ``eos_token_id``; setting it sets the token, too."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.token = name.removesuffix("_id")

    def __get__(self, adapter: HuggingFaceTokenizer | None, owner: type) -> Any:
        if adapter is None:
            return self
        token = getattr(adapter, self.token)
        return None if token is None else adapter.convert_tokens_to_ids(token)

    def __set__(self, adapter: HuggingFaceTokenizer, token_id: int | None) -> None:
        token = None if token_id is None else adapter.convert_ids_to_tokens(token_id)
        setattr(adapter, self.token, token)


class HuggingFaceTokenizer:
    """A tokenizer with the methods that programs call of a tokenizer of ``transformers``.

    Names, defaults and results are those of transformers, without the package. As there, special tokens in
    a text become their ids by default: for a text that you do not trust, pass ``split_special_tokens=True``.
    There are no chat templates, pairs of texts or tensors: :func:`wrap` has them.

    Parameters
    ----------
    tokenizer : Tokenizer
    padding_side, truncation_side : {"right", "left"}
        Where texts are padded and cut.
    model_max_length : int, optional
        The length of ``padding="max_length"`` and ``truncation=True`` if a call gives none.
    **roles : str
        ``eos_token="<|end|>"``, and so for "bos", "unk", "sep", "pad", "cls" and "mask". By default, those
        of :attr:`Tokenizer.role_ids`.

    Raises
    ------
    TypeError
        `tokenizer` is not a Tokenizer, or there is no such role.
    ValueError
        A role is given to a string that is not a token.

    Attributes
    ----------
    tokenizer : Tokenizer
    bos_token, eos_token, unk_token, sep_token, pad_token, cls_token, mask_token : str or None
        They can be set, as in ``hf.pad_token = hf.eos_token``.
    bos_token_id, eos_token_id, unk_token_id, sep_token_id, pad_token_id, cls_token_id, mask_token_id
        Their ids, int or None; they can be set, too.

    Examples
    --------
    >>> import bpe
    >>> tok = bpe.train(["low lower"], 259, special_tokens=["<|end|>"], progress=False)
    >>> hf = HuggingFaceTokenizer(tok, eos_token="<|end|>", pad_token="<|end|>")
    >>> hf.encode("lower<|end|>"), hf.decode([257, 258], skip_special_tokens=True), hf.eos_token_id
    ([257, 101, 114, 258], 'low', 258)
    """

    __module__ = "bpe.hf"

    is_fast = True
    bos_token_id, eos_token_id, unk_token_id, sep_token_id = _RoleId(), _RoleId(), _RoleId(), _RoleId()
    pad_token_id, cls_token_id, mask_token_id = _RoleId(), _RoleId(), _RoleId()
    unk_token: str | None

    def __init__(
        self,
        tokenizer: Tokenizer,
        *,
        padding_side: Literal["right", "left"] = "right",
        truncation_side: Literal["right", "left"] = "right",
        model_max_length: int | None = None,
        **roles: str,
    ) -> None:
        if not isinstance(tokenizer, Tokenizer):
            raise TypeError(
                f"a HuggingFaceTokenizer takes a bpe.Tokenizer, not {type(tokenizer).__name__}: "
                "Tokenizer.load(path) reads one from a file, bpe.hf.wrap takes one of transformers"
            )
        self.tokenizer = tokenizer
        self.padding_side, self.truncation_side = padding_side, truncation_side
        self.model_max_length = model_max_length
        for role in ROLES:
            token = roles.pop(f"{role}_token", None)
            if token is None:
                setattr(self, f"{role}_token_id", tokenizer.role_ids.get(role))
            elif token in self._ids:
                setattr(self, f"{role}_token", token)
            else:
                raise ValueError(f"{role}_token is {token!r:.80}, which is not a token")
        if roles:
            raise TypeError(f"HuggingFaceTokenizer has no option {next(iter(roles))!r}")

    def __repr__(self) -> str:
        return f"<HuggingFaceTokenizer of {self.tokenizer!r}>"

    def __len__(self) -> int:
        """Return the number of tokens, special ones included."""
        return len(self._ids)

    # -------------------------------------------------------------------------------------- text to ids
    def __call__(
        self,
        text: str | Sequence[str],
        *,
        add_special_tokens: bool = True,
        padding: bool | Literal["longest", "max_length", "do_not_pad"] = False,
        truncation: bool = False,
        max_length: int | None = None,
        return_tensors: Literal["np"] | None = None,
        return_attention_mask: bool = True,
        return_offsets_mapping: bool = False,
        split_special_tokens: bool = False,
    ) -> Batch:
        """Encode a text, or several.

        Parameters
        ----------
        text : str, or sequence of str
        add_special_tokens : bool
            Add the ids that the post-processor of a ``tokenizer.json`` puts before and after a text.
        padding : bool or {"longest", "max_length", "do_not_pad"}
            Pad to the longest text (True), or to `max_length`.
        truncation : bool
            Cut texts to `max_length` ids; what `add_special_tokens` adds stays.
        max_length : int, optional
        return_tensors : "np", optional
            Return arrays, ``(texts, length) int64``, also of one text. ``torch.from_numpy`` makes tensors.
        return_attention_mask, return_offsets_mapping : bool
        split_special_tokens : bool
            Special tokens are ordinary text.

        Returns
        -------
        Batch
            A dict with "input_ids", "attention_mask" (1 for a token, 0 for padding) and "offset_mapping":
            (start, end) of each token in its text, in characters; (0, 0) for ids that are not of the text.
            A list for each text; of one text, the list itself.

        Raises
        ------
        ValueError
            There is no token or length to pad or cut to, rows have different lengths, or an option has no
            such value.

        Examples
        --------
        >>> import bpe
        >>> tok = bpe.train(["low lower"], 259, special_tokens=["<|pad|>"], progress=False)
        >>> hf = HuggingFaceTokenizer(tok, pad_token="<|pad|>", padding_side="left")
        >>> hf(["lower", "low"], padding=True, return_tensors="np").input_ids
        array([[257, 101, 114],
               [258, 258, 257]])
        >>> hf("lower", return_offsets_mapping=True)["offset_mapping"]
        [(0, 3), (3, 4), (4, 5)]
        """
        if return_tensors not in (None, "np"):
            raise ValueError(
                f"return_tensors must be 'np' or None, not {return_tensors!r}; use torch.from_numpy"
            )
        if padding not in (False, True, "longest", "max_length", "do_not_pad"):
            raise ValueError(f"padding must be True, False, 'longest' or 'max_length', not {padding!r}")
        length = self.model_max_length if max_length is None else max_length
        if length is None:
            if truncation or padding == "max_length":
                raise ValueError("max_length is missing: pass it, or set model_max_length")
            length = 0
        texts = [text] if isinstance(text, str) else list(text)
        around = self.tokenizer.engine.around if add_special_tokens else ((), ())
        n_around = sum(map(len, around))
        if truncation and length < n_around:
            raise ValueError(f"max_length is {length}, but add_special_tokens adds {n_around} ids")
        room = length - n_around if truncation else None
        rows, spans = self._encoded(texts, split_special_tokens, return_offsets_mapping)
        rows = [[*around[0], *self._cut(row, room), *around[1]] for row in rows]
        no_span = [[(0, 0)] * len(ids) for ids in around]
        spans = [[*no_span[0], *self._cut(span, room), *no_span[1]] for span in spans]
        masks = [[1] * len(row) for row in rows]
        if padding not in (False, "do_not_pad"):
            if self.pad_token_id is None:
                raise ValueError(
                    "there is no pad_token to pad with: set it, as in hf.pad_token = hf.eos_token"
                )
            width = length if padding == "max_length" else max(map(len, rows), default=0)
            width = as_integer(width, "max_length")
            if not 0 <= width < 2**32:
                raise ValueError(f"max_length must be in [0, 2**32), not {width}")
            if self.padding_side not in ("right", "left"):
                raise ValueError(f"padding_side must be 'right' or 'left', not {self.padding_side!r}")
            rows = [self._padded(row, width, self.pad_token_id) for row in rows]
            masks = [self._padded(mask, width, 0) for mask in masks]
            spans = [self._padded(span, width, (0, 0)) for span in spans]
        if return_tensors and len({*map(len, rows)}) > 1:
            raise ValueError(
                "an array requires rows of equal length: pass padding=True, "
                "and truncation=True if texts may be longer than max_length"
            )
        found: dict[str, list[Any]] = {"input_ids": rows}
        if return_attention_mask:
            found["attention_mask"] = masks
        if return_offsets_mapping:
            found["offset_mapping"] = spans
        if return_tensors:
            return Batch({name: np.asarray(values, np.int64) for name, values in found.items()})
        return Batch({name: values[0] if isinstance(text, str) else values for name, values in found.items()})

    def _encoded(
        self, texts: list[str], split_special_tokens: bool, with_offsets: bool
    ) -> tuple[list[list[int]], list[list[tuple[int, int]]]]:
        """Return the ids of texts, and where each is in its text if that is asked for."""
        special: SpecialOptions = {"allowed_special": "all"}
        if split_special_tokens:
            special = {"allowed_special": (), "disallowed_special": ()}
        if not with_offsets:
            return self.tokenizer.encode_batch(texts, **special), []
        rows, spans = [], []
        for text in texts:
            ids, starts, ends = self.tokenizer.encode_with_offsets(text, **special)
            rows.append(ids.tolist())
            spans.append([*zip(starts.tolist(), ends.tolist(), strict=True)])
        return rows, spans

    def _cut(self, row: list[T], room: int | None) -> list[T]:
        """Return at most `room` elements of a row, cut on `truncation_side`."""
        if room is None or len(row) <= room:
            return row
        return row[:room] if self.truncation_side == "right" else row[len(row) - room :]

    def _padded(self, row: list[T], width: int, filler: T) -> list[T]:
        """Return a row with at least `width` elements; a longer row stays as it is."""
        padding = [filler] * (width - len(row))
        return row + padding if self.padding_side == "right" else padding + row

    def encode(self, text: str, **options: Any) -> Any:
        """Return the "input_ids" of a call with the same arguments."""
        return self(text, **options)["input_ids"]

    # -------------------------------------------------------------------------------------- ids to text
    def decode(self, token_ids: Any, skip_special_tokens: bool = False) -> str:
        """Decode an id, ids, or an array; ValueError if no token has one of them."""
        ids = np.ravel(token_ids) if np.ndim(token_ids) == 0 else token_ids
        return self.tokenizer.decode(ids, skip_special_tokens=skip_special_tokens)

    def batch_decode(self, sequences: Iterable[Any], skip_special_tokens: bool = False) -> list[str]:
        """Decode several rows of ids, each as :meth:`decode`."""
        return self.tokenizer.decode_batch(sequences, skip_special_tokens=skip_special_tokens)

    # --------------------------------------------------------------------------------------- vocabulary
    @cached_property
    def _ids(self) -> dict[str, int]:
        """The ids of all tokens, written as a tokenizer.json writes them."""
        vocabulary = self.tokenizer.engine.vocabulary
        steps = Preparation.of(vocabulary)
        spelled = bytes.decode if steps is not None and steps.options.is_text else text_of
        ids = {spelled(token): token_id for token, token_id in vocabulary.id_of.items()}
        return ids | vocabulary.idle_tokens | vocabulary.cut_tokens

    @cached_property
    def _tokens(self) -> dict[int, str]:
        return {token_id: token for token, token_id in self._ids.items()}

    def convert_tokens_to_ids(self, tokens: str | Iterable[str]) -> Any:
        """Return the id of a token, or of each: that of `unk_token`, or None, for what is not a token.

        Tokens are written as in a ``tokenizer.json``, where a space is "Ġ" or "▁".

        Examples
        --------
        >>> import bpe
        >>> tok = bpe.train(["low low"], 259, special_tokens=["<|end|>"], progress=False)
        >>> HuggingFaceTokenizer(tok).convert_tokens_to_ids(["low", "Ġ", "<|end|>", "no token"])
        [257, 32, 258, None]
        """
        if isinstance(tokens, str):
            token_id = self._ids.get(tokens)
            return self._ids.get(self.unk_token or "") if token_id is None else token_id
        return [self.convert_tokens_to_ids(token) for token in tokens]

    def convert_ids_to_tokens(self, ids: Any, skip_special_tokens: bool = False) -> Any:
        """Return the token of an id, or of each: None if no token has it."""
        if np.ndim(ids) == 0:
            return self._tokens.get(int(ids))
        special = {*self.all_special_ids} if skip_special_tokens else ()
        return [self._tokens.get(int(token_id)) for token_id in ids if int(token_id) not in special]

    def get_vocab(self) -> dict[str, int]:
        """Return all tokens with their ids; a copy."""
        return dict(self._ids)

    @property
    def vocab_size(self) -> int:
        """The number of rows that a model needs: the greatest id plus 1."""
        return self.tokenizer.vocab_size

    @property
    def all_special_tokens(self) -> list[str]:
        """All special tokens, in the order of their ids, whether they have a role or not."""
        return sorted(self.tokenizer.special_tokens, key=self.tokenizer.special_tokens.__getitem__)

    @property
    def all_special_ids(self) -> list[int]:
        """The ids of the special tokens, sorted."""
        return sorted(self.tokenizer.special_tokens.values())


# doctest skips a class whose __module__ is another module
__test__ = {"HuggingFaceTokenizer": HuggingFaceTokenizer}
