"""Bounds for what a few bytes of a file unfold to.

Forty merges that each double a token would make a terabyte, and so would ``((a{1000}){1000}){1000}``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from bpe.vocabulary import DEFAULT_BYTE_IDS

__all__ = ["MAX_BYTES", "MAX_PARTS", "check_expression", "check_lengths"]

MAX_BYTES = 1 << 28
"""Of all tokens of a vocabulary that is read from a file."""

MAX_PARTS = 100_000
"""Of an expression that is read from a file: its characters and sets, each as often as it is repeated."""

_PART = re.compile(
    r"\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]|\{(?P<least>\d*)(?:,(?P<most>\d*))?\}|.", re.DOTALL
)


def check_lengths(
    merges: Sequence[tuple[int, int]],
    byte_ids: Iterable[int] = DEFAULT_BYTE_IDS,
    merged_ids: Iterable[int] | None = None,
    others: Mapping[int, bytes] | None = None,
) -> None:
    """Raise if the merges make tokens of more than :data:`MAX_BYTES` in all.

    Parameters
    ----------
    merges, byte_ids, merged_ids, others
        As for :meth:`bpe.vocabulary.Vocabulary.assemble`, which says what else is wrong with them.

    Raises
    ------
    ValueError
        They do; the message names the merge.

    Complexity
    ----------
    O(n) for n merges.

    Examples
    --------
    >>> check_lengths([(97, 97)] + [(256 + i, 256 + i) for i in range(40)])
    Traceback (most recent call last):
    ...
    ValueError: merge 27, (282, 282), makes the tokens longer than 268435456 bytes in all
    """
    length_of = {number: len(token) for number, token in (others or {}).items()}
    length_of.update(dict.fromkeys(byte_ids, 1))
    total = 0
    numbers = range(256, 256 + len(merges)) if merged_ids is None else merged_ids
    for rank, ((left, right), number) in enumerate(zip(merges, numbers, strict=True)):
        if left not in length_of or right not in length_of:
            return
        length_of[number] = length_of[left] + length_of[right]
        total += length_of[number]
        if total > MAX_BYTES:
            raise ValueError(
                f"merge {rank}, {(left, right)}, makes the tokens longer than {MAX_BYTES} bytes in all"
            )


def check_expression(source: str) -> None:
    """Raise if a regular expression has more than :data:`MAX_PARTS`, counted repetitions written out.

    Parameters
    ----------
    source : str
        Any text at all; whether it is valid, others say.

    Raises
    ------
    ValueError
        It has.

    Complexity
    ----------
    O(n) for n characters.

    Examples
    --------
    >>> check_expression("[a-z]{1,3}")
    >>> check_expression("(?:a{1000}){1000}")
    Traceback (most recent call last):
    ...
    ValueError: the expression repeats too much at character 11: it has more than 100000 parts
    """
    sizes, last = [0], 0  # of the groups that are open, and of what a repetition would repeat
    for found in _PART.finditer(source):
        part, least = found.group(), found.group("least")
        if least is not None:
            times = max(1, *(int(digits[:9] or "0") for digits in (least, found.group("most") or "")))
            sizes[-1] += last * (times - 1)
            last *= times
        elif part == "(":
            sizes.append(0)
        elif part == ")" and len(sizes) > 1:
            last = sizes.pop()
            sizes[-1] += last
        elif part not in "?*+":
            last = 1
            sizes[-1] += 1
        if sizes[-1] > MAX_PARTS:
            raise ValueError(
                f"the expression repeats too much at character {found.start()}: "
                f"it has more than {MAX_PARTS} parts"
            )
