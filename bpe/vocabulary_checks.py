"""Checks of what a vocabulary is made of: ids, tokens, merges."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from operator import index
from typing import Any, NoReturn

import numpy as np

from bpe.splitting.specials import check_specials

MAX_ID = 2**31 - 1


def check_id(number: Any, what: str) -> int:
    """Return an id as an int; a TypeError or ValueError names `what` it is."""
    try:
        number = index(number)
    except TypeError:
        raise TypeError(f"{what} must be an integer, not {type(number).__name__}") from None
    if not 0 <= number <= MAX_ID:
        raise ValueError(f"{what} must be in [0, 2**31), not {number}")
    return number


def check_tokens(token_bytes: Sequence[bytes | None] | Mapping[int, bytes]) -> dict[int, bytes]:
    """Return the bytes of each id; an error names the id that is wrong."""
    if isinstance(token_bytes, Mapping):
        items: Iterable[tuple[int, bytes | None]] = token_bytes.items()
    else:
        items = ((number, token) for number, token in enumerate(token_bytes) if token is not None)
    bytes_of: dict[int, bytes] = {}
    for number, token in items:
        number = check_id(number, "an id")
        if not isinstance(token, bytes):
            raise TypeError(f"the token of id {number} must be bytes, not {type(token).__name__}")
        if not token:
            raise ValueError(f"the token of id {number} is empty")
        bytes_of[number] = token
    return bytes_of


def check_merges(
    merges: Iterable[tuple[int, int]] | Iterable[tuple[bytes, bytes]],
    bytes_of: Mapping[int, bytes],
    id_of: Mapping[bytes, int],
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ids that merges join, and those that they make; an error names the merge that is wrong."""
    pairs: dict[tuple[int, int], int] = {}
    made = []
    for rank, pair in enumerate(merges):
        left, right = _ids_of_pair(pair, rank, id_of)
        for number in (left, right):
            if number not in bytes_of:
                raise ValueError(f"merge {rank}, {(left, right)}, names id {number}, which is no token")
        token = bytes_of[left] + bytes_of[right]
        if token not in id_of:
            raise ValueError(f"merge {rank}, {pair!r:.200}, makes {token!r:.200}, which is no token")
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
        raise ValueError(f"merge {rank}, {pair!r:.200}, names {token!r:.200}, which is no token") from None
    except (TypeError, ValueError):
        raise TypeError(f"merge {rank} must be a pair of integers, or of bytes, not {pair!r:.200}") from None


def check_special_tokens(
    special_tokens: Mapping[str, int], ids: np.ndarray, bytes_of: Callable[[int], bytes]
) -> dict[str, int]:
    """Return special tokens and their ids; an error names the token that is wrong.

    `ids` are those of all other tokens. A special token may have the id of the one with its bytes.
    """
    if not isinstance(special_tokens, Mapping):
        raise TypeError(f"special_tokens must map str to id, not be {type(special_tokens).__name__}")
    check_specials(special_tokens)
    token_of: dict[int, str] = {}
    taken = ids if len(special_tokens) < 100 else set(ids.tolist())
    for token, number in special_tokens.items():
        if type(number) is not int or not 0 <= number <= MAX_ID:  # the message takes time
            number = check_id(number, f"the id of special token {token!r}")
        if number in token_of:
            raise ValueError(f"special tokens {token_of[number]!r} and {token!r} have the same id {number}")
        if number in taken and bytes_of(number) != token.encode():
            raise ValueError(f"special token {token!r} has id {number}, the id of token {bytes_of(number)!r}")
        token_of[number] = token
    return dict(zip(token_of.values(), token_of, strict=True))


def report_same_bytes(bytes_of: Mapping[int, bytes]) -> NoReturn:
    """Raise the error about two ids of the same bytes."""
    first_of: dict[bytes, int] = {}
    for number, token in bytes_of.items():
        if token in first_of:
            raise ValueError(f"ids {first_of[token]} and {number} are both {token!r}: give each token one id")
        first_of[token] = number
    raise AssertionError("unreachable")
