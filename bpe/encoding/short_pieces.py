"""A table of short pieces, seven of eight in English: what is known of them is found by one multiplication.

::

    piece      _  t  h  e
    word       _  t  h  e  .  .  .  4          its bytes, and their number: the key of an int64
    home       the top bits of both halves of word * factor, exclusive or
    slots      key | packed | key | packed | ... | the last rows, for other pieces of a batch

The slots before the last rows are a hash table with linear probing. ``packed`` stands for the ids of a piece.
The last rows are not part of the hash table. The key of each is :data:`NO_WORD`, which no piece has. Whoever
looks up a batch of pieces may put what is known of other pieces there, and send the search to these rows.
So one loop without a branch reads what is known of all pieces.

Invariants
----------
1. The slots are ``2**(64 - shift)``, at most half of them occupied.
2. No slot is empty from the home of a key to its slot.
3. An empty slot holds two zeros; the key of each of the last rows is :data:`NO_WORD`.

The factor is a secret: whoever writes texts cannot choose pieces that share a home.
"""

import secrets

import numpy as np

from structures.kernels import inner, kernel, load_word, multiply_fold, new_words, pointer_to, smaller

SHORT = 7
"""The longest piece whose bytes and length fit into a word."""

LAST_ROWS = 512
"""How many rows there are for other pieces."""

FEWEST_BITS = 10
_LENGTH_SHIFT = 8 * SHORT
_ALL_BYTES = (1 << _LENGTH_SHIFT) - 1
NO_WORD = (SHORT + 1) << _LENGTH_SHIFT


def new_factor() -> int:
    """Return a secret factor: odd, and different for each table."""
    return secrets.randbits(62) << 1 | 1


def new_slots() -> np.ndarray:
    """Return the ``slots`` of an empty table of ``2**FEWEST_BITS``."""
    slots = np.zeros((2 << FEWEST_BITS) + 2 * LAST_ROWS, np.int64)
    slots[-2 * LAST_ROWS :: 2] = NO_WORD
    return slots


@inner
def wipe(slots):
    """Empty a table."""
    n_words = slots.size - 2 * LAST_ROWS
    for i in range(n_words):
        slots[i] = 0
    for i in range(n_words, slots.size, 2):
        slots[i] = NO_WORD


@kernel
def empty_slots(bits):
    """Return the ``slots`` of an empty table of ``2**bits``."""
    slots = new_words((2 << bits) + 2 * LAST_ROWS)
    wipe(slots)
    return slots


@inner
def word_of(piece, length):
    """Return the word of a piece, of at most :data:`SHORT` bytes at a pointer."""
    word = length << _LENGTH_SHIFT
    for k in range(length):
        word |= np.int64(piece[k]) << (8 * k)
    return word


@inner
def word_at(text, start, length):
    """Return the word of a piece at a place where eight bytes can be read.

    The word of a longer piece is :data:`NO_WORD` plus some of its bytes.
    """
    length = smaller(length, SHORT + 1)
    unused = 8 * (SHORT - smaller(length, SHORT))
    return load_word(text, start) & (_ALL_BYTES >> unused) | length << _LENGTH_SHIFT


@inner
def home_of(word, factor, shift):
    """Return the index of the key in the home of a word."""
    return 2 * np.int64(np.uint64(multiply_fold(word, factor)) >> np.uint64(shift))


@inner
def find(slots, word, home):
    """Return the index of a key, or of the empty slot where it belongs."""
    keys = pointer_to(slots, 0)
    after, at = slots.size - 2 * LAST_ROWS, home
    while keys[at] != word and keys[at] != 0:
        at = at + 2 if at + 2 < after else 0
    return at


@inner
def move_all(older, slots, factor, shift):
    """Insert every entry of `older` into the larger table `slots`, which is empty."""
    for i in range(0, older.size - 2 * LAST_ROWS, 2):
        if older[i] != 0:
            at = find(slots, older[i], home_of(older[i], factor, shift))
            slots[at] = older[i]
            slots[at + 1] = older[i + 1]
