r"""Split patterns compiled to tables, and the kernels that run them over bytes.

::

    expression  --syntax-->  tree  --automaton-->  states  --tails, windows-->  products  -----> code
                                     (classes)       |                             |   (of named patterns)
                                                   tables  <-----------------------+
                                                     |
    bytes  ----------------------- cutting ----------+---------->  offsets of the pieces
                (bulk: 64 places at a time; matching, remembering: one match)

:mod:`bpe.splitting.compiled.syntax` counts the steps of all this, and ends it at a limit.

:mod:`bpe.splitting.compiled.cuts` finds the places where a text can be cut in two without a change to its pieces.

The windows of the named patterns become machine code, as constants, which is faster. Any other pattern makes
new tables, never new code. The ``regex`` package defines what an expression matches.
:mod:`bpe.splitting.compiled.syntax` knows a part of its language; an expression outside of this part is refused with
:class:`bpe.splitting.compiled.syntax.UnsupportedError`.

Nothing is imported here: the kernels load the compiler, and what is needed to read a file does not.
"""
