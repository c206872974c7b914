"""The operators of ``IntSet`` against those of Python's ``set``."""

import operator

import numpy as np

from structures import IntSet

from ._common import SIZES, Comparison

OPERATORS = {"&": operator.and_, "|": operator.or_, "-": operator.sub, "^": operator.xor}


class SetOperators(Comparison):
    """Two sets of random keys, half of which are in both."""

    params = (SIZES, tuple(OPERATORS))
    param_names = ("keys", "operator")

    def prepare(self, n, name):
        keys = np.random.default_rng(10).integers(-(2**62), 2**62, 3 * n // 2)
        first, second = keys[:n], keys[n // 2 :]
        self.sets = IntSet(first), IntSet(second)
        self.python_sets = set(first.tolist()), set(second.tolist())
        self.operator = OPERATORS[name]

    def ours(self):
        return self.operator(*self.sets)

    def theirs(self):
        return self.operator(*self.python_sets)

    def agree(self, our_result, their_result):
        return list(our_result) == sorted(their_result)
