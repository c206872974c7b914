"""Keys of the kinds on which hash tables do badly."""

from __future__ import annotations

import random

import numpy as np

import structures as st
from structures.hash_tables import int_map_kernels

_ENDS = [0, 1, -1, 2**63 - 1, -(2**63), -(2**63) + 1, 2**62, 2**32, 2**31 - 1]


def hostile_keys(chance: random.Random, rng: np.random.Generator, n: int) -> np.ndarray:
    """Return distinct keys of the kinds on which hash tables do badly."""
    some = np.arange(n, dtype=np.uint64)
    match chance.randrange(7):
        case 0:
            keys = some * np.uint64(chance.getrandbits(64)) + np.uint64(chance.getrandbits(64))
        case 1:
            keys = some << np.uint64(chance.randrange(64 - n.bit_length()))
        case 2:
            keys = some + np.uint64(chance.choice([0, 2**63 - n // 2, 2**64 - n // 2]))
        case 3:  # one place of any table below 2**40 places, if the hash had no secret
            keys = some * np.uint64(pow(0x9E3779B97F4A7C15, -1, 2**64))
            keys ^= keys >> np.uint64(32)
        case 4:
            keys = rng.integers(0, 2**64, n, dtype=np.uint64)
        case 5:  # in the order in which another table has them
            other = st.IntMap.from_arrays(rng.integers(-(2**63), 2**63, 2 * n), np.ones(2 * n, np.int64))
            slots = int_map_kernels.state(other)[0]
            keys = slots[:-8].reshape(-1, 8)[:, :4].ravel()[:n].view(np.uint64)
        case 6:
            keys = np.array(_ENDS + [chance.getrandbits(63) >> chance.randrange(63) for _ in range(n)])
            keys = keys.view(np.uint64)
    return np.array([*dict.fromkeys(keys.view(np.int64).tolist())], np.int64)
