"""What training starts from: the ids of the bytes, the merges that it already has, the special tokens."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from operator import index as as_index
from typing import TYPE_CHECKING, NamedTuple

from bpe.formats.kept import without_ids
from bpe.vocabulary import ALPHABETS, Alphabet
from bpe.vocabulary_checks import MAX_ID

if TYPE_CHECKING:
    from bpe.counting.word_counts import WordCounts
    from bpe.tokenizer import Tokenizer


MOST_IDS = 1 << 27
"""Of a vocabulary that is to grow."""


class Start(NamedTuple):
    """A vocabulary that is to grow.

    Attributes
    ----------
    byte_ids : list of int
        The id of each byte value.
    merges : list of (int, int)
    merged_ids : list of int
        The id that each merge makes.
    other_tokens : dict from int to bytes
        Tokens that are neither bytes nor made by merges.
    special_tokens : dict from str to int
        Added ones, too. Those with ids from `next_id` on move to the end, after the new tokens.
    next_id : int
        The id of the first new token; the following ones get the following ids.
    added_tokens : collection of str
        Which of the special tokens are added ones.
    kept : str
        What a file held besides (:mod:`bpe.formats.kept`).

    Examples
    --------
    >>> start = fresh_start(["<|end|>"])
    >>> start.next_id, start.n_new(vocab_size=260), start.special_tokens_after(3)
    (256, 3, {'<|end|>': 259})
    """

    byte_ids: list[int]
    merges: list[tuple[int, int]]
    merged_ids: list[int]
    other_tokens: dict[int, bytes]
    special_tokens: dict[str, int]
    next_id: int
    added_tokens: Collection[str] = ()
    kept: str = ""

    def n_new(self, vocab_size: int) -> int:
        """Return how many new tokens a vocabulary size asks for; a ValueError where it is out of range."""
        vocab_size = as_index(vocab_size)
        size = max(self.next_id, 1 + max(self.special_tokens.values(), default=-1))
        if vocab_size < size:
            what = "tokens that are there already" if self.merges else "256 bytes"
            raise ValueError(
                f"vocab_size must be at least {size} ({what} and {len(self.special_tokens)} special tokens), "
                f"not {vocab_size}"
            )
        if vocab_size > MAX_ID:
            raise ValueError(f"vocab_size must be at most {MAX_ID}, not {vocab_size}")
        return vocab_size - size

    def special_tokens_after(self, n_new: int) -> dict[str, int]:
        """Return the ids of the special tokens once there are `n_new` new tokens."""
        return {
            token: number + n_new if number >= self.next_id else number
            for token, number in self.special_tokens.items()
        }


def choice(value: str, name: str, choices: Sequence[str]) -> str:
    """Return `value`, which must be one of the choices; else raise a ValueError that names them."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, not {value!r}")
    return value


def fresh_start(
    special_tokens: Collection[str], alphabet: Alphabet = "bytes", special_first: bool = False
) -> Start:
    """Return the vocabulary of the 256 bytes.

    Parameters
    ----------
    special_tokens : collection of str
    alphabet : {"bytes", "gpt2"}
        The order of the bytes, as :data:`bpe.vocabulary.ALPHABETS` has it.
    special_first : bool
        Whether the special tokens take the first ids, or those after all others.

    Returns
    -------
    Start

    Raises
    ------
    ValueError
        There is no such alphabet.

    Examples
    --------
    >>> fresh_start(["<|end|>"], "gpt2", special_first=True).byte_ids[ord("A")]
    33
    """
    order = ALPHABETS[choice(alphabet, "alphabet", [*ALPHABETS])]
    first = len(special_tokens) if special_first else 0
    byte_ids = [0] * len(order)
    for number, value in enumerate(order, first):
        byte_ids[value] = number
    next_id = first + len(order)
    first_special = 0 if special_first else next_id
    special_ids = {token: number for number, token in enumerate(special_tokens, first_special)}
    return Start(byte_ids, [], [], {}, special_ids, next_id)


def start_from(tokenizer: Tokenizer, counts: WordCounts, keep_ids: bool) -> Start:
    """Return the vocabulary of a tokenizer, to resume from.

    Parameters
    ----------
    tokenizer : Tokenizer
    counts : WordCounts
        Split by the same pattern, at the same special tokens.
    keep_ids : bool
        Whether special tokens after all others keep their ids, and the new tokens come after them.

    Returns
    -------
    Start

    Raises
    ------
    ValueError
        The counts have another pattern or other special tokens, no training makes the merges in this order,
        or some tokens are taken whole.

    Complexity
    ----------
    O(n) for n tokens and merges.

    Examples
    --------
    >>> import bpe
    >>> counts = bpe.WordCounts({"low": 2})
    >>> start_from(bpe.train(counts, 257), counts, keep_ids=False).merges
    [(108, 111)]
    """
    words = tokenizer.engine.vocabulary
    if tokenizer.pattern != counts.pattern:
        raise ValueError(
            f"the tokenizer splits by {tokenizer.pattern.spec!r}, the counts are of {counts.pattern.spec!r}: "
            "count with the pattern of the tokenizer"
        )
    if set(words.cut_tokens) != set(counts.special_tokens):
        raise ValueError(
            f"the tokenizer has the special tokens {sorted(words.cut_tokens)}, the counts "
            f"{sorted(counts.special_tokens)}: count with those of the tokenizer"
        )
    for number in words.whole_ids[:1]:
        raise ValueError(
            f"id {number}, {words.bytes_of[number]!r:.80}, is taken whole, as no merges lead to it: "
            "training goes by merges alone"
        )
    rank_of: dict[int, int] = {}
    for rank, number in enumerate(words.merged_ids):
        if number in rank_of:
            raise ValueError(f"merges {rank_of[number]} and {rank} both make id {number}: none learned would")
        rank_of[number] = rank
    for rank, pair in enumerate(words.merges):
        for number in pair:
            if rank_of.get(number, -1) >= rank:
                raise ValueError(
                    f"merge {rank}, {pair}, uses id {number}, which merge {rank_of[number]} makes: "
                    "none learned would"
                )
    if words.size > MOST_IDS:
        raise ValueError(f"the greatest id is {words.size - 1}: to train, all ids must be below {MOST_IDS}")
    others = words.other_tokens()
    last = max((*words.byte_ids, *words.merged_ids, *others))
    moves = not keep_ids and max(words.cut_tokens.values(), default=-1) > last
    return Start(
        words.byte_ids,
        words.merges,
        words.merged_ids,
        others,
        words.cut_tokens,
        words.size if keep_ids else last + 1,
        tuple(words.added_tokens),
        without_ids(words.kept) if moves else words.kept,
    )
