"""The secret of the process: random words that the hashes depend on.

Who knows the hash of a table can choose keys that share one home, and every search walks past all of them.
Nobody can do so without the secret. It is drawn when the package is imported, and a forked process keeps it:
its tables are laid out by it.

A table holds a copy of the secret in the last words of its array. A new table takes it from an address that
compiled code finds by name. A global variable would not do: numba writes its value into the code on disk.
"""

from __future__ import annotations

import os

import llvmlite.binding
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from structures.compiling.jit import inner, twin

SECRET_WORDS = 3
FACTOR_BITS = 1 - 2**63  # factors are odd: different words have different products; and large
_NAME = "structures_secret_of_the_process"

WORDS = np.frombuffer(os.urandom(8 * SECRET_WORDS), np.int64).copy()
"""The secret, for the tests; whoever changes it breaks every table."""
WORDS |= FACTOR_BITS
WORDS.flags.writeable = False
llvmlite.binding.add_symbol(_NAME, WORDS.ctypes.data)


def _py_secret_word(i: int) -> np.int64:
    return WORDS[i]


@twin(_py_secret_word)
@intrinsic
def secret_word(typingctx, i):
    """Return word `i` of the secret, an int64."""

    def codegen(context, builder, signature, values):
        words_type = ir.ArrayType(ir.IntType(64), SECRET_WORDS)
        words = builder.module.globals.get(_NAME) or ir.GlobalVariable(builder.module, words_type, _NAME)
        return builder.load(builder.gep(words, [ir.IntType(64)(0), values[0]]))

    return types.int64(types.int64), codegen


@inner
def put_secret(slots):
    """Write the secret to the last words of the array of a table."""
    for i in range(SECRET_WORDS):
        slots[slots.size - SECRET_WORDS + i] = secret_word(i)
