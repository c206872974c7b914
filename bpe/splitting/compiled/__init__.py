r"""Split patterns compiled to tables, and the kernels that run them over bytes.

::

    expression  --syntax-->  tree  --automaton-->  states  --windows-->  products  ----->  machine code
                                     (classes)       |  (lookahead)         |              (named patterns)
                                                   tables  <----------------+
                                                     |
    bytes  ----------------------- cutting ----------+---------->  offsets of the pieces
                (bulk: 64 places at a time; matching: one match)

:mod:`~bpe.splitting.compiled.syntax` also counts the steps of compiling, and stops it at a limit.
:mod:`~bpe.splitting.compiled.cuts` finds where a text can be cut in two without a change to its pieces.

The windows of the named patterns become machine code, as constants, which is faster. Any other pattern makes
new tables, never new code. The ``regex`` package defines what an expression matches. An expression outside
the part of its language that can be compiled is refused with
:class:`~bpe.splitting.compiled.syntax.UnsupportedError`.

Nothing is imported here: the kernels load the compiler, which reading a file does not need.
"""
