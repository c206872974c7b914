# Copyright (c) 2026 The bpe-structures authors
# SPDX-License-Identifier: MIT
"""Huffman codes with ``MinHeap`` as the queue.

What it shows: pops and pushes inside ``@njit`` on a heap that is filled from arrays, and the use of a defined
order of ties. Leaves have smaller numbers than the nodes above them, so that among equal weights the older
node is first. So every run gives the same code, and the longest code word is as short as in any optimal code
(Schwartz 1964).

Codes are canonical: their lengths determine them. Codes of one length are consecutive numbers, in the order
of the symbols, and follow the codes of the shorter lengths.

Complexity: O(d log d) for d symbols; encoding and decoding O(bits).

Source: D. A. Huffman, A method for the construction of minimum-redundancy codes (1952); E. S. Schwartz,
An optimum encoding with minimum longest code and total number of digits (1964).
"""

import numpy as np
from numba import njit

from structures import MinHeap


@njit(cache=True)
def grow_tree(queue, parent_of):
    """Join the two lightest nodes until one is left; new nodes get the next numbers."""
    node = len(queue)
    while len(queue) > 1:
        first, first_weight = queue.pop()
        second, second_weight = queue.pop()
        parent_of[first] = node
        parent_of[second] = node
        queue[node] = first_weight + second_weight
        node += 1


def code_lengths(weights):
    """Return the length of the code of every symbol, ``(n,) int64``; 0 for symbols of weight 0.

    Parameters
    ----------
    weights : (n,) array_like of int
        How often each symbol occurs, 0 or more.

    Examples
    --------
    >>> code_lengths([5, 1, 0, 2])
    array([1, 2, 0, 2])
    """
    weights = np.asarray(weights, np.int64)
    (symbols,) = np.nonzero(weights)
    n = len(symbols)
    parent_of = np.zeros(max(2 * n - 1, 0), np.int64)
    grow_tree(MinHeap.from_arrays(np.arange(n), weights[symbols]), parent_of)
    depth_of = np.zeros_like(parent_of)
    for node in range(2 * n - 3, -1, -1):  # from the node below the root to the leaves
        depth_of[node] = depth_of[parent_of[node]] + 1
    lengths = np.zeros_like(weights)
    lengths[symbols] = np.maximum(depth_of[:n], 1)  # a single symbol has a code too
    return lengths


def canonical_codes(lengths):
    """Return the codes, ``(n,) int64``, of which the lowest ``lengths[symbol]`` bits count.

    Examples
    --------
    >>> canonical_codes([1, 2, 0, 2])  # 0, 10, -, 11
    array([0, 2, 0, 3])
    """
    lengths = np.asarray(lengths)
    codes = np.zeros(lengths.size, np.int64)
    code = length = 0
    for symbol in np.argsort(lengths, kind="stable"):
        if lengths[symbol] > 0:
            code <<= int(lengths[symbol]) - length
            length = int(lengths[symbol])
            codes[symbol] = code
            code += 1
    return codes


@njit(cache=True)
def write_bits(symbols, codes, lengths, out):
    """Write the codes one after the other, first bit uppermost, to `out`, which is all zero."""
    place = 0
    for symbol in symbols:
        for bit in range(lengths[symbol] - 1, -1, -1):
            out[place >> 3] |= ((codes[symbol] >> bit) & 1) << (7 - (place & 7))
            place += 1


@njit(cache=True)
def read_bits(data, in_order, n_of_length, symbols):
    """Fill `symbols` from bits; `in_order` are the symbols by (length, symbol)."""
    place = 0
    for i in range(symbols.size):
        code = first = skipped = length = 0
        while True:
            code = 2 * code + ((np.int64(data[place >> 3]) >> (7 - (place & 7))) & 1)
            place += 1
            length += 1
            first *= 2  # the first code of this length
            if code - first < n_of_length[length]:
                symbols[i] = in_order[skipped + code - first]
                break
            first += n_of_length[length]
            skipped += n_of_length[length]


def encode(symbols, lengths):
    """Return the codes of `symbols` as bytes, the last one filled up with zeros.

    Examples
    --------
    >>> encode([0, 1, 3, 0], [1, 2, 0, 2]).hex(), 0b0_10_11_0_00
    ('58', 88)
    """
    symbols, lengths = np.asarray(symbols, np.int64), np.asarray(lengths, np.int64)
    out = np.zeros((lengths[symbols].sum() + 7) // 8, np.uint8)
    write_bits(symbols, canonical_codes(lengths), lengths, out)
    return out.tobytes()


def decode(data, lengths, n_symbols):
    """Return the first `n_symbols` symbols of what :func:`encode` returned.

    Examples
    --------
    >>> decode(bytes.fromhex("58"), [1, 2, 0, 2], 4)
    array([0, 1, 3, 0])
    """
    lengths = np.asarray(lengths, np.int64)
    in_order = np.argsort(lengths, kind="stable")[np.count_nonzero(lengths == 0) :]
    symbols = np.empty(n_symbols, np.int64)
    n_of_length = np.bincount(lengths, minlength=2)
    n_of_length[0] = 0
    read_bits(np.frombuffer(data, np.uint8), in_order, n_of_length, symbols)
    return symbols
