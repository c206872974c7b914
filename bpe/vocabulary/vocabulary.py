"""``Vocabulary``: the bytes of ids, merges in the order of their ranks, special and added tokens.

All arguments are checked here; a message names the id, token or merge that is wrong. Where merges are given
without the tokens that they make, a quick check finds out whether these are all different. It does not need
their bytes: a hash of each token is enough, and follows from the hashes of its two parts::

    hash(left + right) = hash(left) * power(right) + hash(right)         power(token) = BASE ** len(token)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from itertools import chain
from operator import index
from typing import Any, Literal, NoReturn, TypeAlias

import numpy as np

from bpe.support.threads import made_lazily

DEFAULT_BYTE_IDS = list(range(256))
NO_ID = -1
MAX_ID = 2**31 - 1
MOST_IDS = 1 << 24  # of what has an entry for each id up to the greatest, used or not

ORDINARY_BYTES = 1 << 26  # of all tokens
ORDINARY_TOKEN = 1 << 20  # bytes of one
ORDINARY_DEPTH = 64  # how deeply merges may be nested
_BASE = 0x9E3779B97F4A7C15

Alphabet: TypeAlias = Literal["bytes", "gpt2"]

# Printable characters of ASCII and Latin-1, except spaces and the soft hyphen; GPT-2 numbers them first.
_PRINTABLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]

ALPHABETS: dict[str, list[int]] = {
    "bytes": DEFAULT_BYTE_IDS,
    "gpt2": [*_PRINTABLE, *(value for value in range(256) if value not in _PRINTABLE)],
}
"""Name of an alphabet -> the 256 byte values in the order of their ids."""


class Vocabulary:
    """Tokens and merges, checked; immutable.

    There are three kinds of tokens: single bytes, tokens that merges make, and tokens that no merge makes. A
    merge makes the token that has the bytes of its two parts, so no two ids may have the same bytes; but a
    special token may have the id of the token with its bytes. If a byte has no token, a text with this byte
    cannot be encoded. Lists and dicts are computed at their first use.
    """

    byte_ids: list[int]  # by value; NO_ID: no token
    special_tokens: dict[str, int]
    added_tokens: dict[str, int]  # need not be allowed
    idle_tokens: dict[str, int]  # no text is encoded to them
    size: int  # the greatest id plus 1
    n_super = 0  # how many of the last merges join pieces
    extras = ""  # of a tokenizer.json
    lazy: tuple[str, ...] = ()  # the attributes that :meth:`finding` computes at their first use

    _others: Mapping[int, bytes]  # of a vocabulary of merges: longer tokens that no merge makes
    _find: Callable[[Vocabulary], dict[str, Any]]

    def __init__(
        self,
        token_bytes: Sequence[bytes | None] | Mapping[int, bytes],
        merges: Iterable[tuple[int, int]] | Iterable[tuple[bytes, bytes]],
        special_tokens: Mapping[str, int],
    ) -> None:
        bytes_of = check_tokens(token_bytes)
        id_of = {token: token_id for token_id, token in bytes_of.items()}
        if len(id_of) < len(bytes_of):
            _report_same_bytes(bytes_of)
        self._set_tokens(bytes_of, id_of, *_check_merges(merges, bytes_of, id_of), special_tokens)

    @classmethod
    def of_tokens(
        cls,
        bytes_of: dict[int, bytes],
        id_of: dict[bytes, int],
        pairs: np.ndarray,
        made: np.ndarray,
        special_tokens: Mapping[str, int],
    ) -> Vocabulary:
        """Return a vocabulary of tokens and merges that are known to be consistent."""
        self = cls.__new__(cls)
        self._set_tokens(bytes_of, id_of, pairs, made, special_tokens)
        return self

    @classmethod
    def of_merges(
        cls,
        pairs: np.ndarray,
        special_tokens: Mapping[str, int],
        byte_ids: Sequence[int] = DEFAULT_BYTE_IDS,
        made: np.ndarray | None = None,
        others: Mapping[int, bytes] | None = None,
        check: Callable[..., None] | None = None,
    ) -> Vocabulary:
        """Return the vocabulary that merges lead to; `check` is called before unusual tokens are assembled.

        `made` are 256, 257, ... unless they are given; `others` are the tokens that no merge makes.
        """
        made = np.arange(256, 256 + len(pairs)) if made is None else made
        others = others or {}
        ids = np.concatenate([np.array([*byte_ids, *others], np.int64), made])
        if is_ordinary(pairs, ids, [*(bytes([value]) for value in range(256)), *others.values()]):
            self = cls.__new__(cls)
            self._others = others
            self._set(pairs, made, [*byte_ids], ids, special_tokens)
            return self
        recipe = [(left, right) for left, right in pairs.tolist()], byte_ids, made.tolist(), others
        if check is not None:
            check(*recipe)
        return cls(cls.assemble(*recipe), recipe[0], special_tokens)

    def _set_tokens(
        self,
        bytes_of: dict[int, bytes],
        id_of: dict[bytes, int],
        pairs: np.ndarray,
        made: np.ndarray,
        special_tokens: Mapping[str, int],
    ) -> None:
        self.bytes_of, self.id_of = bytes_of, id_of
        byte_ids = [id_of.get(bytes([value]), NO_ID) for value in range(256)]
        self._set(pairs, made, byte_ids, np.fromiter(bytes_of, np.int64, len(bytes_of)), special_tokens)

    def _set(
        self,
        pairs: np.ndarray,
        made: np.ndarray,
        byte_ids: list[int],
        ids: np.ndarray,
        special_tokens: Mapping[str, int],
    ) -> None:
        """Set all attributes but the tokens; `ids` are the ids of all tokens except special ones."""
        self.pairs, self.made, self.byte_ids, self.atomic_ids = pairs, made, byte_ids, ()
        self.added_tokens, self.idle_tokens, self.special_tokens = {}, {}, {}
        checked = _check_special_tokens(special_tokens, ids, lambda token_id: self.bytes_of[token_id])
        self.special_tokens = checked
        if "bytes_of" in vars(self):  # given, or computed for the check
            self.bytes_of.update((token_id, token.encode()) for token, token_id in checked.items())
        self.size = max(int(ids.max(initial=0)), *checked.values(), 0) + 1

    # --------------------------------------------------------------------------------------- first use
    @made_lazily
    def pairs(self) -> np.ndarray:
        """``(n, 2) int64``: the ids that merges join, in the order of their ranks."""
        return self._found["pairs"]

    @made_lazily
    def made(self) -> np.ndarray:
        """``(n,) int64``: the ids that merges make."""
        return self._found["made"]

    @made_lazily
    def atomic_ids(self) -> tuple[int, ...]:
        """The atomic tokens: a piece with exactly their bytes is encoded to them without merging."""
        return self._found["atomic_ids"]

    @made_lazily
    def _found(self) -> dict[str, Any]:
        return self._find(self)

    @made_lazily
    def merges(self) -> list[tuple[int, int]]:
        """:attr:`pairs` as a list."""
        return list(zip(*self.pairs.T.tolist(), strict=True))

    @made_lazily
    def merged_ids(self) -> list[int]:
        """:attr:`made` as a list."""
        return self.made.tolist()

    @made_lazily
    def bytes_of(self) -> dict[int, bytes]:
        """The bytes of all ids; for special, added and idle tokens, their UTF-8."""
        bytes_of = {token_id: bytes([value]) for value, token_id in enumerate(self.byte_ids)}
        bytes_of.update(self._others)
        for left, right, token_id in zip(*self.pairs.T.tolist(), self.made.tolist(), strict=True):
            bytes_of[token_id] = bytes_of[left] + bytes_of[right]
        vars(self).setdefault("id_of", {token: token_id for token_id, token in bytes_of.items()})
        uncut = {**self.idle_tokens, **self.cut_tokens}
        bytes_of.update((token_id, token.encode()) for token, token_id in uncut.items())
        return bytes_of

    @made_lazily
    def id_of(self) -> dict[bytes, int]:
        """The ids of all tokens except special, added and idle ones."""
        _ = self.bytes_of  # computes both
        return vars(self)["id_of"]

    @made_lazily
    def longest(self) -> int:
        """How many bytes the longest token has."""
        return max(map(len, self.bytes_of.values()), default=0)

    def refuse_far_ids(self, what: str) -> None:
        """Raise ``ValueError`` if there are too many ids up to the greatest one for an entry of each."""
        if self.size > MOST_IDS:
            raise ValueError(f"the greatest id is {self.size - 1}: {what} has ids below {MOST_IDS}")

    @property
    def cut_tokens(self) -> dict[str, int]:
        """Special and added tokens -> their ids; these are never part of a piece."""
        return {**self.special_tokens, **self.added_tokens}

    def other_tokens(self) -> dict[int, bytes]:
        """Return the tokens, except single bytes, that no merge makes before another merge needs them."""
        known = {*self.byte_ids}
        others: dict[int, bytes] = {}
        for pair, merged in zip(self.merges, self.merged_ids, strict=True):
            others.update((token_id, self.bytes_of[token_id]) for token_id in pair if token_id not in known)
            known.update((*pair, merged))
        others.update((token_id, token) for token, token_id in self.id_of.items() if token_id not in known)
        return others

    @staticmethod
    def assemble(
        merges: Sequence[tuple[int, int]],
        byte_ids: Sequence[int] = DEFAULT_BYTE_IDS,
        merged_ids: Sequence[int] | None = None,
        others: Mapping[int, bytes] | None = None,
    ) -> dict[int, bytes]:
        """Return the bytes of every id that merges lead to."""
        bytes_of = dict(others or {})

        def put(token_id: int, token: bytes, what: str, which: int) -> None:
            if bytes_of.setdefault(token_id, token) != token:
                raise ValueError(
                    f"{what} {which} makes id {token_id}, which is already {bytes_of[token_id]!r}"
                )

        for value, token_id in enumerate(byte_ids):
            if token_id >= 0:
                put(token_id, bytes([value]), "byte", value)
        made = range(256, 256 + len(merges)) if merged_ids is None else merged_ids
        for rank, ((left, right), token_id) in enumerate(zip(merges, made, strict=True)):
            for part in (left, right):
                if part not in bytes_of:
                    raise ValueError(
                        f"merge {rank}, {(left, right)}, names id {part}, which is not a token yet"
                    )
            put(token_id, bytes_of[left] + bytes_of[right], "merge", rank)
        return bytes_of

    # ------------------------------------------------------------------------------------------ others
    def replace(
        self,
        *,
        added_tokens: Iterable[str] | None = None,
        idle_tokens: Mapping[str, int] | None = None,
        atomic_ids: Iterable[int] | None = None,
        n_super: int | None = None,
        extras: str | None = None,
    ) -> Vocabulary:
        """Return this vocabulary with other attributes.

        * `added_tokens`: which of the special and added tokens are added tokens; the others are special.
        * `idle_tokens`: tokens that no text is encoded to; their ids can only be decoded. Some files have
          such tokens: an empty one, or one that has the same bytes as another token.
        * `atomic_ids`: a piece with exactly the bytes of such a token is encoded to it, whatever merges would
          make of the piece. Inside a longer piece, only merges make tokens. This is how tiktoken uses tokens
          that no merge makes, and Hugging Face with ``ignore_merges``.
        * `n_super`: how many of the last merges are supermerges (:mod:`bpe.vocabulary.supermerges`).
        * `extras`: the extras of a ``tokenizer.json`` (:mod:`bpe.vocabulary.extras`).
        """
        other = copy(self)
        if added_tokens is not None:
            added = {*added_tokens}
            other.special_tokens = {t: i for t, i in self.cut_tokens.items() if t not in added}
            other.added_tokens = {t: i for t, i in self.cut_tokens.items() if t in added}
        if idle_tokens is not None and idle_tokens != self.idle_tokens:
            before = {*self.idle_tokens.values()}
            bytes_of = {i: token for i, token in self.bytes_of.items() if i not in before}
            for token, given in idle_tokens.items():
                i = check_id(given, f"the id of {token!r:.80}")
                if i in bytes_of:
                    raise ValueError(f"{token!r:.80} has id {i}, the id of token {bytes_of[i]!r:.80}")
                bytes_of[i] = token.encode()
            other.idle_tokens, other.size = {**idle_tokens}, max(bytes_of) + 1
            other.bytes_of, other.id_of = bytes_of, self.id_of
        if atomic_ids is not None:
            other.atomic_ids = tuple(sorted({*atomic_ids}))
            other.lazy = tuple(name for name in self.lazy if name != "atomic_ids")
            for token_id in other.atomic_ids:
                if self.id_of.get(self.bytes_of.get(token_id, b"")) != token_id:
                    raise ValueError(f"id {token_id} has no token that could be looked up")
        if n_super is not None:
            if not 0 <= n_super <= len(self.pairs):
                raise ValueError(f"n_super must be from 0 to the {len(self.pairs)} merges, not {n_super}")
            if n_super and other.size > MOST_IDS:
                raise ValueError(
                    f"the greatest id is {other.size - 1}: with supermerges, ids must be below {MOST_IDS}"
                )
            other.n_super = n_super
        if extras is not None:
            other.extras = extras
        return other

    def finding(self, names: tuple[str, ...], find: Callable[[Vocabulary], tuple[Any, ...]]) -> Vocabulary:
        """Return this vocabulary with "pairs", "made" or "atomic_ids" found by `find` at first use."""
        other = copy(self)
        other.lazy = names
        other._find = lambda vocabulary: dict(zip(names, find(vocabulary), strict=True))
        for name in names:
            vars(other).pop(name, None)
        return other


def is_ordinary(pairs: np.ndarray, ids: np.ndarray, given: Sequence[bytes]) -> bool:
    """Return whether merges make the last of `ids`, each from tokens before it, and all tokens differ."""
    n, first = len(ids), len(given)
    if not 0 <= ids.min() <= ids.max() < 16 * n or b"" in given:
        return False
    place_of = np.full(ids.max() + 1, n)
    place_of[ids] = np.arange(n)
    if not np.array_equal(place_of[ids], np.arange(n)):  # an id occurs twice
        return False
    if pairs.size and not 0 <= pairs.min() <= pairs.max() < len(place_of):
        return False
    left, right = np.ascontiguousarray(place_of[pairs].T)
    if (np.maximum(left, right) >= np.arange(first, n)).any():  # a part comes after its merge
        return False
    lengths, hashes, powers = np.ones(n), np.zeros(n, np.uint64), np.zeros(n, np.uint64)
    lengths[:first] = list(map(len, given))
    hashes[:first], powers[:first] = zip(*map(_hash_of, given), strict=True)
    is_known = np.arange(n) < first
    places = np.arange(first, n)
    for _ in range(ORDINARY_DEPTH):
        if not len(places):
            break
        is_ready = is_known[left] & is_known[right]
        now, one, two = places[is_ready], left[is_ready], right[is_ready]
        lengths[now] = lengths[one] + lengths[two]
        hashes[now] = hashes[one] * powers[two] + hashes[two]
        powers[now] = powers[one] * powers[two]
        is_known[now] = True
        places, left, right = (some[~is_ready] for some in (places, left, right))
    in_order = np.sort(hashes)
    is_short = lengths.sum() < ORDINARY_BYTES and lengths.max() <= ORDINARY_TOKEN
    return not len(places) and bool(is_short and (in_order[1:] != in_order[:-1]).all())


def _hash_of(token: bytes) -> tuple[int, int]:
    """Return the hash of a token and its power."""
    total = 0
    for value in token:
        total = (total * _BASE + value + 1) % 2**64
    return total, pow(_BASE, len(token), 2**64)


# ---------------------------------------------------------------------------------------------- checks
def check_id(token_id: Any, what: str) -> int:
    """Return an id as an int; the message of a TypeError or ValueError begins with `what`."""
    try:
        token_id = index(token_id)
    except TypeError:
        raise TypeError(f"{what} must be an integer, not {type(token_id).__name__}") from None
    if not 0 <= token_id <= MAX_ID:
        raise ValueError(f"{what} must be in [0, 2**31), not {token_id}")
    return token_id


def check_tokens(token_bytes: Sequence[bytes | None] | Mapping[int, bytes]) -> dict[int, bytes]:
    """Return the bytes of each id; an error names the id that is wrong."""
    if isinstance(token_bytes, Mapping):
        items: Iterable[tuple[int, bytes | None]] = token_bytes.items()
    else:
        items = ((token_id, token) for token_id, token in enumerate(token_bytes) if token is not None)
    bytes_of: dict[int, bytes] = {}
    for token_id, token in items:
        token_id = check_id(token_id, "an id")
        if not isinstance(token, bytes):
            raise TypeError(f"the token of id {token_id} must be bytes, not {type(token).__name__}")
        if not token:
            raise ValueError(f"the token of id {token_id} is empty")
        bytes_of[token_id] = token
    return bytes_of


def _check_merges(
    merges: Iterable[tuple[int, int]] | Iterable[tuple[bytes, bytes]],
    bytes_of: Mapping[int, bytes],
    id_of: Mapping[bytes, int],
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ids that merges join, and those that they make; an error names the merge that is wrong."""
    pairs: dict[tuple[int, int], int] = {}
    made = []
    for rank, pair in enumerate(merges):
        left, right = _ids_of_pair(pair, rank, id_of)
        for token_id in (left, right):
            if token_id not in bytes_of:
                raise ValueError(f"merge {rank}, {(left, right)}, names id {token_id}, which is not a token")
        token = bytes_of[left] + bytes_of[right]
        if token not in id_of:
            raise ValueError(f"merge {rank}, {pair!r:.200}, makes {token!r:.200}, which is not a token")
        if (left, right) in pairs:
            raise ValueError(f"merge {rank}, {pair!r:.200}, repeats merge {pairs[left, right]}")
        pairs[left, right] = rank
        made.append(id_of[token])
    flat = np.fromiter(chain.from_iterable(pairs), np.int64, 2 * len(pairs))
    return flat.reshape(-1, 2), np.array(made, np.int64)


def _ids_of_pair(pair: Any, rank: int, id_of: Mapping[bytes, int]) -> tuple[int, int]:
    """Return the two ids of a merge, which is a pair of ids or of tokens."""
    try:
        left, right = pair
        if isinstance(left, bytes) and isinstance(right, bytes):
            left, right = id_of[left], id_of[right]
        return index(left), index(right)
    except KeyError as error:
        token = error.args[0]
        raise ValueError(f"merge {rank}, {pair!r:.200}, names {token!r:.200}, which is not a token") from None
    except (TypeError, ValueError):
        raise TypeError(f"merge {rank} must be a pair of integers, or of bytes, not {pair!r:.200}") from None


def _check_special_tokens(
    special_tokens: Mapping[str, int], ids: np.ndarray, bytes_of: Callable[[int], bytes]
) -> dict[str, int]:
    """Return special tokens and their ids; an error names the token that is wrong.

    `ids` are the ids of all other tokens. A special token may have the id of the token with its bytes.
    """
    if not isinstance(special_tokens, Mapping):
        raise TypeError(f"special_tokens must map str to id, not be {type(special_tokens).__name__}")
    check_specials(special_tokens)
    token_of: dict[int, str] = {}
    taken = ids if len(special_tokens) < 100 else set(ids.tolist())
    for token, token_id in special_tokens.items():
        if type(token_id) is not int or not 0 <= token_id <= MAX_ID:  # making the message takes time
            token_id = check_id(token_id, f"the id of special token {token!r}")
        if token_id in token_of:
            raise ValueError(
                f"special tokens {token_of[token_id]!r} and {token!r} have the same id {token_id}"
            )
        if token_id in taken and bytes_of(token_id) != token.encode():
            raise ValueError(
                f"special token {token!r} has id {token_id}, the id of token {bytes_of(token_id)!r}"
            )
        token_of[token_id] = token
    return dict(zip(token_of.values(), token_of, strict=True))


def _report_same_bytes(bytes_of: Mapping[int, bytes]) -> NoReturn:
    """Raise a ValueError about two ids with the same bytes."""
    first_of: dict[bytes, int] = {}
    for token_id, token in bytes_of.items():
        if token in first_of:
            raise ValueError(
                f"ids {first_of[token]} and {token_id} are both {token!r}: a token can have only one id"
            )
        first_of[token] = token_id
    raise AssertionError("unreachable")


def check_specials(special_tokens: Iterable[str]) -> tuple[str, ...]:
    """Return special tokens as a tuple; raise if one is not a str, not valid UTF-8, empty or a duplicate."""
    if isinstance(special_tokens, (str, bytes)):
        raise TypeError(f"special tokens must be in a list: write [{special_tokens!r}]")
    tokens = tuple(special_tokens)
    for i, token in enumerate(tokens):
        if not isinstance(token, str):
            raise TypeError(f"special token {i} must be str, not {type(token).__name__}")
        if not token:
            raise ValueError(f"special token {i} is empty")
        try:
            token.encode()
        except UnicodeEncodeError:
            raise ValueError(
                f"special token {i}, {token!r}, contains a surrogate, which UTF-8 cannot encode"
            ) from None
    if len(set(tokens)) < len(tokens):
        raise ValueError(f"duplicate special token {Counter(tokens).most_common(1)[0][0]!r}")
    return tokens
