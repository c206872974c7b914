"""The kernels of ``IntMap`` and ``IntSet`` on their arrays, which the docstrings of both draw.

A bucket of a set has no values: `width`, its words, is :data:`ROOM` there, and :data:`BUCKET` in a map.
"""

from structures import status
from structures.compiling.jit import inner, kernel
from structures.primitives.hashing import hash_of, put_seed, seed_of
from structures.primitives.memory import new_words
from structures.primitives.simd import lanes_with, larger, lowest_lane, pointer_to
from structures.primitives.sorting import BYTES, sort_entries
from structures.primitives.words import multiply_high

EMPTY = status.INT64_MIN
ROOM = 4  # slots per bucket
BUCKET = 2 * ROOM  # words
VALUE = ROOM  # from the place of a key to that of its value
LARGE = 1 << 20  # words: 8 MB
FEWEST = 2  # buckets


# ----------------------------------------------------------------------------------------------- room
@inner
def buckets_for(n_keys, width):
    """Return how many buckets hold `n_keys` at a load of at most 5/8: a power of two if they are few."""
    n = FEWEST
    while n * width < LARGE and 5 * ROOM * n < 8 * n_keys:
        n *= 2
    return larger(n, (8 * n_keys + 5 * ROOM - 1) // (5 * ROOM))


@inner
def capacity_of(slots, width):
    """Return how many keys a table may have."""
    return 5 * (slots.size - width) // (8 * width // ROOM)


@inner
def wipe(slots, start, end, width):
    """Empty the buckets from word `start` to word `end`; at the end of the array, also write the seed."""
    for bucket in range(start, end, width):
        for lane in range(ROOM):
            slots[bucket + lane] = EMPTY
        for value in range(bucket + VALUE, bucket + width):
            slots[value] = 0
    if end == slots.size:
        put_seed(slots)


@kernel
def empty_slots(n_buckets, width):
    """Return the ``slots`` array of an empty table of `n_buckets` and the spare one."""
    slots = new_words(width * (n_buckets + 1))
    wipe(slots, 0, slots.size, width)
    return slots


# -------------------------------------------------------------------------------------------- searches
@inner
def bucket_of(slots, key, width):
    """Return the bucket where the search for a key starts."""
    return multiply_high(hash_of(key, seed_of(slots)), slots.size - width) & -width


@inner
def next_bucket(slots, bucket, width):
    """Return the next bucket, around the end of the table."""
    return bucket + width if bucket + 2 * width < slots.size else 0


@inner
def probe(slots, key, width):
    """Return the place of `key`, or of the empty slot where it belongs.

    Both cases share one exit, so that the processor need not predict whether a key is there.
    """
    bucket = bucket_of(slots, key, width)  # in any case: a loop of searches reads the seed once
    if key == EMPTY:
        return slots.size - width
    lanes = lanes_with(slots, bucket, key, EMPTY)
    while lanes == 0:
        bucket = next_bucket(slots, bucket, width)
        lanes = lanes_with(slots, bucket, key, EMPTY)
    return bucket + lowest_lane(lanes)


@inner
def locate(slots, key, width):
    """Return the place of `key`, or ``~place`` of the empty slot where it belongs."""
    place = probe(slots, key, width)
    return place if slots[place] != EMPTY else ~place


@inner
def write(entry, key, value, width):
    """Write an entry at a pointer to its key; the value is not written in a set."""
    # In the spare bucket, whose key is known, any word but EMPTY marks an occupied slot.
    entry[0] = 0 if key == EMPTY else key
    if width > ROOM:
        entry[VALUE] = value


@inner
def occupy(slots, place, key, value, width):
    """Write an entry at the place that :func:`probe` returned."""
    write(pointer_to(slots, place), key, value, width)


# ------------------------------------------------------------------------------------------- deletion
@inner
def place_beyond(slots, bucket, width):
    """Return the place of an entry whose search passed a full bucket, or the last place of the bucket."""
    length = slots.size - width
    other = bucket
    while True:
        other = next_bucket(slots, other, width)
        from_bucket = other - bucket if other > bucket else other - bucket + length
        for place in range(other, other + ROOM):
            if slots[place] == EMPTY:
                return bucket + ROOM - 1
            # It passed the bucket if its first bucket is not, cyclically, in (bucket, other].
            distance = other - bucket_of(slots, slots[place], width)
            if distance + (length if distance < 0 else 0) >= from_bucket:
                return place


@inner
def vacate(slots, place, width):
    """Empty an occupied slot: move the last entry of its bucket, or one that passed the bucket, into it."""
    hole = place
    while hole < slots.size - width:
        bucket = hole & -width
        n_free = lanes_with(slots, bucket, EMPTY, EMPTY)
        last = bucket + lowest_lane(n_free) - 1 if n_free else place_beyond(slots, bucket, width)
        slots[hole] = slots[last]
        if width > ROOM:
            slots[hole + VALUE] = slots[last + VALUE]
        hole = last
        if last < bucket + ROOM and last >= bucket:
            break
    slots[hole] = EMPTY
    if width > ROOM:
        slots[hole + VALUE] = 0


# ---------------------------------------------------------------------------------------------- growth
@inner
def occupied(slots, bucket):
    """Return how many slots of a bucket are occupied. A vector load would wait for recent stores."""
    keys = pointer_to(slots, bucket)
    # Starts with 0, because without the compiler the sum of two numpy bools is a bool.
    return 0 + (keys[0] != EMPTY) + (keys[1] != EMPTY) + (keys[2] != EMPTY) + (keys[3] != EMPTY)


@inner
def enter(slots, key, value, width):
    """Insert a key that is not in the table, and is not EMPTY."""
    bucket = bucket_of(slots, key, width)
    n = occupied(slots, bucket)
    while n == ROOM:
        bucket = next_bucket(slots, bucket, width)
        n = occupied(slots, bucket)
    entry = pointer_to(slots, bucket + n)
    entry[0] = key
    if width > ROOM:
        entry[VALUE] = value


@inner
def move_all(old_slots, slots, width):
    """Insert every entry of `old_slots` into the empty table `slots`, which is written from left to right."""
    value = width - ROOM  # from the place of a key to that of its value, of which a set has none
    for bucket in range(0, old_slots.size - width, width):
        place = bucket
        while place < bucket + ROOM and old_slots[place] != EMPTY:
            enter(slots, old_slots[place], old_slots[place + value], width)
            place += 1
    spare, old_spare = slots.size - width, old_slots.size - width  # where the key is that equals EMPTY
    slots[spare] = old_slots[old_spare]
    slots[spare + value] = old_slots[old_spare + value]


# --------------------------------------------------------------------------------------------- reading
@inner
def gather(slots, keys, values):
    """Write the entries of a table to two arrays, unordered."""
    spare = slots.size - BUCKET
    n = 0
    for bucket in range(0, slots.size, BUCKET):
        place = bucket
        while place < bucket + ROOM and slots[place] != EMPTY:
            keys[n] = slots[place] if place != spare else EMPTY
            values[n] = slots[place + VALUE]
            n += 1
            place += 1


@inner
def key_at(slots, place):
    """Return the key of a set at the place of one."""
    return slots[place] if place < slots.size - ROOM else EMPTY


@inner
def next_key(slots, place):
    """Return the place of a set's next key, from a place on; after the last one, the size of `slots`."""
    spare = slots.size - ROOM
    while place < spare and slots[place] == EMPTY:
        place = (place & -ROOM) + ROOM
    return place if place < spare or (place == spare and slots[spare] != EMPTY) else slots.size


@kernel
def gather_keys(slots, n_keys):
    """Return the keys of a set, ``(n_keys,) int64``, unordered."""
    keys = new_words(n_keys)
    place = 0
    for i in range(n_keys):
        place = next_key(slots, place)
        keys[i] = key_at(slots, place)
        place += 1
    return keys


@kernel
def entries(slots, n_keys):
    """Return keys and values, each ``(n_keys,) int64``, by ascending key."""
    keys = new_words(n_keys)
    values = new_words(n_keys)
    gather(slots, keys, values)
    other_keys, other_values = new_words(n_keys), new_words(n_keys)
    if sort_entries(keys, values, other_keys, other_values, new_words(BYTES)):
        return other_keys, other_values
    return keys, values
