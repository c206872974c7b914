"""The audit of a vocabulary: which of its tokens can occur, and how well it encodes texts.

Each token has a status:

============  ==========================================================================================
live          a text is known, the *witness*, whose ids contain this one
rank-dead     no merges lead to it: this is proved for every piece
pattern-dead  no piece can contain it: this is proved on the automaton of the pattern
unknown       neither a witness nor a proof was found
============  ==========================================================================================

:mod:`bpe.auditing.witnesses` looks for witnesses, :mod:`bpe.auditing.proofs` proves that none exists, and
:mod:`bpe.auditing.measures` measures texts. :mod:`bpe.auditing.audit` combines them.
"""

from bpe.auditing.audit import Audit
from bpe.auditing.measures import TextFigures

__all__ = ["Audit", "TextFigures"]
