"""A table of short pieces, 99 of 100 in English: what is known of them is found by few multiplications.

::

    piece      _  s  o  m  e  t  h  i    n  g  .  .  .  .  .  10
    words      first                     second                      its bytes, and their number: the key
    slot       where the search for a piece begins: the top bits of what the words and the seed are mixed to
    slots      first | second | ids | more || first | second | ids | more || ... || the last rows

A row has four words: the key, and two words for the ids, which are the business of whoever puts them there.
The rows before the last ones are a hash table with linear probing.

The last rows are not part of the hash table. The key of each is that of a longer piece, :data:`NO_WORD`,
which no short piece has. Whoever looks up a batch of pieces may put what is known of longer ones there, and
send the search to these rows. So one loop without a branch reads what is known of all pieces.

Invariants
----------
1. The rows of the table are ``2**(64 - shift)``, at most half of them occupied.
2. No row is empty from the slot of a key to its row.
3. An empty row holds zeros; the key of each of the last rows is 0 and :data:`NO_WORD`.

The seed is random: whoever writes texts cannot choose pieces that share a slot.
"""

import secrets

import numpy as np

from structures.kernels import inner, kernel, load_word, mix_words, new_words, pointer_to, smaller

SHORT = 15
"""The longest piece whose bytes and length fit into two words."""

LAST_ROWS = 256
"""How many rows there are for longer pieces."""

ROW = 4
"""Words of a row."""

LAST_WORDS = ROW * LAST_ROWS
"""Words of the last rows."""

FEWEST_BITS = 10
_WORD_BYTES = 8
LENGTH_SHIFT = 56  # of the second word
NO_WORD = (SHORT + 1) << LENGTH_SHIFT
"""The second word of all longer pieces."""


def _masks_of(length: int) -> tuple[int, ...]:
    """Return the bits of the bytes of a piece, in two words, and its length, where the second word has it."""
    bits = b"\xff" * length if length <= SHORT else b""
    first, second = np.frombuffer(bits.ljust(2 * _WORD_BYTES, b"\0"), np.int64).tolist()
    return first, second, length << LENGTH_SHIFT, 0


_MASKS = np.array([*map(_masks_of, range(SHORT + 2))]).ravel()
"""Four words for each length up to one that is too long."""


def new_seed() -> tuple[int, int, int]:
    """Return three random words, different for each table; the last one is odd."""
    first, second, factor = (secrets.randbits(64) - 2**63 for _ in range(3))
    return first, second, factor | 1


def new_slots() -> np.ndarray:
    """Return the ``slots`` of an empty table of ``2**FEWEST_BITS`` rows."""
    slots = np.zeros((ROW << FEWEST_BITS) + LAST_WORDS, np.int64)
    slots[-LAST_WORDS + 1 :: ROW] = NO_WORD
    return slots


@inner
def wipe(slots):
    """Empty a table."""
    slots[:] = 0
    for i in range(slots.size - LAST_WORDS, slots.size, ROW):
        slots[i + 1] = NO_WORD


@kernel
def empty_slots(bits):
    """Return the ``slots`` of an empty table of ``2**bits`` rows."""
    slots = new_words((ROW << bits) + LAST_WORDS)
    wipe(slots)
    return slots


@inner
def words_of(piece, length):
    """Return the words of a piece, at a pointer. No byte after it is read."""
    if length > SHORT:
        return 0, NO_WORD
    first, second = 0, length << LENGTH_SHIFT
    for k in range(smaller(length, _WORD_BYTES)):
        first |= np.int64(piece[k]) << (8 * k)
    for k in range(_WORD_BYTES, length):
        second |= np.int64(piece[k]) << (8 * (k - _WORD_BYTES))
    return first, second


@inner
def words_at(text, start, length):
    """Return the words of a piece at a place where 16 bytes can be read; of a longer one, anything."""
    masks = pointer_to(_MASKS, ROW * smaller(length, SHORT + 1))
    first, second = load_word(text, start), load_word(text, start + _WORD_BYTES)
    return first & masks[0], second & masks[1] | masks[2]


@inner
def first_slot(first, second, seed, shift):
    """Return the index of the row where the search for a key begins."""
    return ROW * mix_words(first, second, *seed, shift)


@inner
def find(slots, first, second, slot):
    """Return the index of the row of a key, or of the empty row where it belongs."""
    keys = pointer_to(slots, 0)
    after, at = slots.size - LAST_WORDS, slot
    while keys[at + 1] != 0 and (keys[at] != first or keys[at + 1] != second):
        at = at + ROW if at + ROW < after else 0
    return at


@inner
def put_row(slots, at, row):
    """Write the four words of a row."""
    slots[at], slots[at + 1], slots[at + 2], slots[at + 3] = row


@inner
def move_all(older, slots, seed, shift):
    """Insert every entry of `older` into the larger table `slots`, which is empty."""
    for i in range(0, older.size - LAST_WORDS, ROW):
        first, second = older[i], older[i + 1]
        if second != 0:
            at = find(slots, first, second, first_slot(first, second, seed, shift))
            put_row(slots, at, (first, second, older[i + 2], older[i + 3]))
