"""The vocabulary of a tokenizer: bytes of every id, merges in the order of their ranks, special tokens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import index
from typing import Any, Literal, NoReturn, TypeAlias

from bpe.specials import check_specials

__all__ = ["ALPHABETS", "Alphabet", "Vocabulary"]

MAX_ID = 2**31 - 1
DEFAULT_BYTE_IDS = list(range(256))

Alphabet: TypeAlias = Literal["bytes", "gpt2"]

# Those that print and are no space, in ASCII and in Latin-1 (but for the soft hyphen), come first.
_PRINTABLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]

ALPHABETS: dict[str, list[int]] = {
    "bytes": DEFAULT_BYTE_IDS,
    "gpt2": [*_PRINTABLE, *(value for value in range(256) if value not in _PRINTABLE)],
}
"""Name of an alphabet -> the 256 byte values in the order of their ids."""


class Vocabulary:
    """Tokens and merges, checked; never changes.

    Three kinds of tokens: the 256 bytes, what merges make, and others that no merge makes. The id that a
    merge makes is the id of its two tokens' bytes together, so no two ids may have the same bytes.

    Parameters
    ----------
    token_bytes : sequence of bytes or None, or mapping from int to bytes
        The bytes of each id. None stands for an id that is not used, or that a special token has.
    merges : iterable of (int, int)
        (left id, right id) in the order of their ranks.
    special_tokens : mapping from str to int

    Raises
    ------
    ValueError
        What is given is no vocabulary; the message names the token, merge or id.
    TypeError
        Something is of the wrong type.

    Attributes
    ----------
    bytes_of : dict from int to bytes
        All ids, those of special tokens too.
    id_of : dict from bytes to int
        All tokens but the special ones.
    merges : list of (int, int)
    merged_ids : list of int
        The id that the merge of each rank makes.
    byte_ids : list of int
        The id of each byte value.
    special_tokens : dict from str to int
    size : int
        The greatest id and 1.

    Complexity
    ----------
    O(n) for n tokens and merges.

    Examples
    --------
    >>> words = Vocabulary([*(bytes([value]) for value in range(256)), b"hi"], [(104, 105)], {"<end>": 257})
    >>> words.merged_ids, words.bytes_of[257], words.size
    ([256], b'<end>', 258)
    """

    def __init__(
        self,
        token_bytes: Sequence[bytes | None] | Mapping[int, bytes],
        merges: Iterable[tuple[int, int]],
        special_tokens: Mapping[str, int],
    ) -> None:
        self.bytes_of = _check_tokens(token_bytes)
        self.id_of = {token: number for number, token in self.bytes_of.items()}
        if len(self.id_of) < len(self.bytes_of):
            _report_same_bytes(self.bytes_of)
        missing = [value for value in range(256) if bytes([value]) not in self.id_of]
        if missing:
            raise ValueError(
                f"byte {missing[0]} has no token ({len(missing)} of 256 have none): "
                "a vocabulary holds every single byte"
            )
        self.byte_ids = [self.id_of[bytes([value])] for value in range(256)]
        self.merges, self.merged_ids = self._check_merges(merges)
        self.special_tokens = self._check_special(special_tokens)
        self.bytes_of.update((number, token.encode()) for token, number in self.special_tokens.items())
        self.size = max(self.bytes_of) + 1

    def _check_merges(self, merges: Iterable[tuple[int, int]]) -> tuple[list[tuple[int, int]], list[int]]:
        pairs: dict[tuple[int, int], int] = {}
        merged_ids = []
        for rank, pair in enumerate(merges):
            try:
                left, right = map(index, pair)
            except (TypeError, ValueError):
                raise TypeError(f"merge {rank} must be a pair of integers, not {pair!r}") from None
            for number in (left, right):
                if number not in self.bytes_of:
                    raise ValueError(f"merge {rank}, {(left, right)}, names id {number}, which is no token")
            merged = self.bytes_of[left] + self.bytes_of[right]
            if merged not in self.id_of:
                raise ValueError(f"merge {rank}, {(left, right)}, makes {merged!r}, which is no token")
            if (left, right) in pairs:
                raise ValueError(f"merge {rank}, {(left, right)}, repeats merge {pairs[left, right]}")
            pairs[left, right] = rank
            merged_ids.append(self.id_of[merged])
        return list(pairs), merged_ids

    def _check_special(self, special_tokens: Mapping[str, int]) -> dict[str, int]:
        if not isinstance(special_tokens, Mapping):
            raise TypeError(f"special_tokens must map str to id, not be {type(special_tokens).__name__}")
        check_specials(special_tokens)
        token_of: dict[int, str] = {}
        for token, number in special_tokens.items():
            number = _check_id(number, f"the id of special token {token!r}")
            if number in token_of:
                raise ValueError(
                    f"special tokens {token_of[number]!r} and {token!r} have the same id {number}"
                )
            if number in self.bytes_of:
                raise ValueError(
                    f"special token {token!r} has id {number}, the id of token {self.bytes_of[number]!r}"
                )
            token_of[number] = token
        return {token: index(number) for token, number in special_tokens.items()}

    def other_tokens(self) -> dict[int, bytes]:
        """Return the tokens whose bytes do not follow from the bytes and the merges before their first use.

        Returns
        -------
        dict from int to bytes

        Complexity
        ----------
        O(n) for n tokens and merges.

        Examples
        --------
        >>> Vocabulary([*(bytes([value]) for value in range(256)), b"hi"], [], {}).other_tokens()
        {256: b'hi'}
        """
        known = {*self.byte_ids}
        others: dict[int, bytes] = {}
        for pair, merged in zip(self.merges, self.merged_ids, strict=True):
            others.update((number, self.bytes_of[number]) for number in pair if number not in known)
            known.update((*pair, merged))
        known.update(self.special_tokens.values())
        others.update((number, token) for number, token in self.bytes_of.items() if number not in known)
        return others

    @staticmethod
    def assemble(
        merges: Sequence[tuple[int, int]],
        byte_ids: Sequence[int] = DEFAULT_BYTE_IDS,
        merged_ids: Sequence[int] | None = None,
        others: Mapping[int, bytes] | None = None,
    ) -> dict[int, bytes]:
        """Return the bytes of every id that the merges lead to.

        Parameters
        ----------
        merges : sequence of (int, int)
        byte_ids : sequence of 256 int
            The id of each byte value.
        merged_ids : sequence of int, optional
            The id that each merge makes; 256, 257, ... by default.
        others : mapping from int to bytes, optional
            As :meth:`other_tokens` returns them.

        Returns
        -------
        dict from int to bytes

        Raises
        ------
        ValueError
            A merge names an id that is no token yet, or makes an id that has other bytes already.

        Complexity
        ----------
        O(b) for b bytes in all tokens.

        Examples
        --------
        >>> Vocabulary.assemble([(104, 105), (256, 33)])[257]
        b'hi!'
        """
        token_bytes = dict(others or {})
        for value, number in enumerate(byte_ids):
            _put(token_bytes, number, bytes([value]), "byte", value)
        numbers = range(256, 256 + len(merges)) if merged_ids is None else merged_ids
        for rank, ((left, right), number) in enumerate(zip(merges, numbers, strict=True)):
            for part in (left, right):
                if part not in token_bytes:
                    raise ValueError(f"merge {rank}, {(left, right)}, names id {part}, which is no token yet")
            _put(token_bytes, number, token_bytes[left] + token_bytes[right], "merge", rank)
        return token_bytes


def _put(token_bytes: dict[int, bytes], number: int, token: bytes, what: str, which: int) -> None:
    if token_bytes.setdefault(number, token) != token:
        raise ValueError(f"{what} {which} makes id {number}, which is {token_bytes[number]!r} already")


def _check_id(number: Any, what: str) -> int:
    try:
        number = index(number)
    except TypeError:
        raise TypeError(f"{what} must be an integer, not {type(number).__name__}") from None
    if not 0 <= number <= MAX_ID:
        raise ValueError(f"{what} must be in [0, 2**31), not {number}")
    return number


def _check_tokens(token_bytes: Sequence[bytes | None] | Mapping[int, bytes]) -> dict[int, bytes]:
    if isinstance(token_bytes, Mapping):
        items: Iterable[tuple[int, bytes | None]] = token_bytes.items()
    else:
        items = ((number, token) for number, token in enumerate(token_bytes) if token is not None)
    bytes_of: dict[int, bytes] = {}
    for number, token in items:
        number = _check_id(number, "an id")
        if not isinstance(token, bytes):
            raise TypeError(f"the token of id {number} must be bytes, not {type(token).__name__}")
        if not token:
            raise ValueError(f"the token of id {number} is empty")
        bytes_of[number] = token
    return bytes_of


def _report_same_bytes(bytes_of: Mapping[int, bytes]) -> NoReturn:
    first_of: dict[bytes, int] = {}
    for number, token in bytes_of.items():
        if token in first_of:
            raise ValueError(f"ids {first_of[token]} and {number} are both {token!r}: give each token one id")
        first_of[token] = number
    raise AssertionError("unreachable")
