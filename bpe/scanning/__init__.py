r"""Split patterns compiled to tables, and the kernels that run them over bytes.

::

    expression  --syntax-->  tree  --automaton-->  states  --windows-->  products
                                     (classes)       |                      |
                                                   tables  <----------------+
                                                     |
    bytes  ----------------------- cutting ----------+---------->  offsets of the pieces
                         (bulk: 64 places at a time; matching: one match)

:mod:`bpe.scanning.cuts` finds the places where a text can be cut in two without a change to its pieces.

A new pattern makes new tables, never new machine code. The ``regex`` package defines what an expression
matches. :mod:`bpe.scanning.syntax` knows a part of its language; an expression outside of this part is
refused with :class:`UnsupportedError`.
"""

from bpe.scanning.scanner import Scanner, scanner_of
from bpe.scanning.syntax import UnsupportedError

__all__ = ["Scanner", "UnsupportedError", "scanner_of"]
