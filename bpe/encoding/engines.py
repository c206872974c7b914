"""Which engine a vocabulary needs: an ordinary one, or one that does something to a text before."""

from __future__ import annotations

from bpe.encoding.engine import Engine
from bpe.splitting.pattern import Pattern
from bpe.vocabulary.vocabulary import Vocabulary


def engine_of(vocabulary: Vocabulary, pattern: Pattern) -> Engine:
    """Return the engine of a vocabulary: a prepared one, if it keeps steps that change a text."""
    if vocabulary.kept or vocabulary.added_tokens:
        from bpe.pipeline.engine import PreparedEngine
        from bpe.pipeline.preparation import Preparation

        preparation = Preparation.of(vocabulary)
        if preparation is not None:
            return PreparedEngine(vocabulary, pattern, preparation)
    return Engine(vocabulary, pattern)


def changes_text(vocabulary: Vocabulary) -> bool:
    """Say whether a vocabulary keeps steps that change a text."""
    if not vocabulary.kept and not vocabulary.added_tokens:
        return False
    from bpe.pipeline.preparation import Preparation

    return Preparation.of(vocabulary) is not None
