"""The audit of a vocabulary: which of its tokens a text can give, and how well it does on texts.

Each token has a status:

============  ==========================================================================================
live          a text is stored, a *witness*, that is encoded to ids with this one among them
rank-dead     no merges lead to it: proved for every piece
pattern-dead  no text has a piece that could give it: proved on the automaton of the pattern
unknown       neither was found
============  ==========================================================================================

:mod:`bpe.auditing.witnesses` looks for witnesses, :mod:`bpe.auditing.proofs` proves that there is none, and
:mod:`bpe.auditing.measures` measures texts. :mod:`bpe.auditing.audit` puts all together.
"""

from bpe.auditing.audit import Audit, TextFigures

__all__ = ["Audit", "TextFigures"]
