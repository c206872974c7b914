"""``Audit``: a status for every token, and figures of texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from bpe.auditing.measures import Measuring, TextFigures, renyi_efficiency
from bpe.auditing.proofs import Pieces
from bpe.auditing.witnesses import find_witnesses, gives, witness_among
from bpe.corpus import Corpus, CorpusLike
from bpe.encoding.streams import encode_blocks
from bpe.encoding.symbols import BYTES
from bpe.formats.ranks import unreached
from bpe.support.progress import Progress, progress_bar
from bpe.support.text import text_or_none
from bpe.vocabulary.supermerges import refuse_supermerges
from bpe.vocabulary.vocabulary import NO_ID

if TYPE_CHECKING:
    from bpe.encoding.engine import Engine

Status: TypeAlias = Literal["live", "rank-dead", "pattern-dead", "unknown"]
STATUSES: tuple[Status, ...] = ("live", "rank-dead", "pattern-dead", "unknown")


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """The status of every token of a vocabulary, and figures of texts; ``Tokenizer.audit`` returns one.

    Attributes
    ----------
    status_of : dict from int to str
        The status of each id, in ascending order: "live", "rank-dead", "pattern-dead" or "unknown".
    witness_of : dict from int to bytes
        For each live id, a text whose ids contain it; special tokens in it are encoded as such.
    uses : (ids,) int64
        How often each id is used in the texts.
    texts : tuple of TextFigures
        By name, in the order in which they were given.
    never_used : list of int
        Ids that the texts do not use; empty without texts.
    not_utf8 : list of int
        Ids of tokens that have a part of a character.
    same_but_case, same_but_space : list of list of int
        Ids of tokens that differ in case only, or in a space before them.
    renyi_efficiency : float
        Of all texts (:func:`bpe.auditing.measures.renyi_efficiency`); 0 without texts.

    Examples
    --------
    >>> import bpe
    >>> audit = bpe.train(["low lower"], 258, progress=False).audit(["low"])
    >>> audit.status_of[257], audit.witness_of[257], audit.with_status("rank-dead")
    ('live', b'low', [])
    """

    status_of: dict[int, Status]
    witness_of: dict[int, bytes]
    uses: np.ndarray
    texts: tuple[TextFigures, ...]
    never_used: list[int]
    not_utf8: list[int]
    same_but_case: list[list[int]]
    same_but_space: list[list[int]]
    renyi_efficiency: float

    def __repr__(self) -> str:
        found = ", ".join(f"{n:,} {status}" for status, n in self.n_by_status.items() if n)
        return f"<Audit of {len(self.status_of):,} tokens: {found}>"

    def with_status(self, status: Status) -> list[int]:
        """Return the ids that have a status, in ascending order.

        Parameters
        ----------
        status : {"live", "rank-dead", "pattern-dead", "unknown"}

        Returns
        -------
        list of int

        Complexity
        ----------
        O(number of tokens).

        Examples
        --------
        >>> import bpe
        >>> bpe.train(["low lower"], 258, progress=False).audit().with_status("live")[-2:]
        [256, 257]
        """
        return [token_id for token_id, found in self.status_of.items() if found == status]

    @property
    def only_in_bytes(self) -> list[int]:
        """The live ids whose witness is not UTF-8: a str may never give them."""
        return [token_id for token_id, text in self.witness_of.items() if text_or_none(text) is None]

    @property
    def n_by_status(self) -> dict[Status, int]:
        """How many tokens have each status."""
        counts = Counter(self.status_of.values())
        return {status: counts[status] for status in STATUSES}

    def to_json(self) -> dict[str, Any]:
        """Return everything except the uses as a dict for JSON; bytes that are not UTF-8 are escaped."""
        return {
            "tokens": len(self.status_of),
            "statuses": self.n_by_status,
            **{status: self.with_status(status) for status in STATUSES[1:]},
            "witnesses": {
                token_id: text.decode("utf-8", "backslashreplace")
                for token_id, text in self.witness_of.items()
            },
            "texts": [
                {
                    **figures._asdict(),
                    "bytes_per_token": round(figures.bytes_per_token, 4),
                    "fertility": round(figures.fertility, 4),
                }
                for figures in self.texts
            ],
            "renyi_efficiency": round(self.renyi_efficiency, 6),
            "never_used": self.never_used,
            "not_utf8": self.not_utf8,
            "only_in_bytes": self.only_in_bytes,
            "same_but_case": self.same_but_case,
            "same_but_space": self.same_but_space,
        }


def audit_of(
    engine: Engine, texts: CorpusLike | Mapping[str, CorpusLike] | None, progress: Progress = False
) -> Audit:
    """Audit a vocabulary, as documented for ``Tokenizer.audit``."""
    vocabulary = engine.vocabulary
    refuse_supermerges(vocabulary, "audit")
    vocabulary.refuse_far_ids("an audit")
    token_ids = sorted(vocabulary.bytes_of)
    idle = {*vocabulary.idle_tokens.values()}
    specials = {token_id: token.encode() for token, token_id in vocabulary.cut_tokens.items()}
    witness_of = {token_id: text for token_id, text in specials.items() if gives(engine, text, token_id)}
    witness_of |= find_witnesses(engine, (i for i in token_ids if i not in idle and i not in specials))
    dead = _proved(engine, [i for i in token_ids if i not in witness_of and i not in specials])
    left = [i for i in token_ids if i not in witness_of and i not in dead]
    witness_of |= find_witnesses(engine, (i for i in left if i not in specials), in_contexts=True)
    uses = np.zeros(vocabulary.size, np.int64)
    figures = []
    with progress_bar(progress, None, "B", "measuring") as advance:
        for name, corpus in _named(texts):
            missing = np.array([i for i in left if i not in witness_of], np.int64)
            measuring = Measuring(advance)
            figures.append(_measured(engine, name, corpus, measuring, uses, missing, witness_of))
    status_of: dict[int, Status] = {
        token_id: "live" if token_id in witness_of else dead.get(token_id, "unknown")
        for token_id in token_ids
    }
    ordinary = {i: vocabulary.bytes_of[i] for i in token_ids if i not in idle and i not in specials}
    return Audit(
        status_of,
        dict(sorted(witness_of.items())),
        uses,
        tuple(figures),
        [i for i in token_ids if figures and not uses[i]],
        [i for i, token in ordinary.items() if text_or_none(token) is None],
        _same_but(ordinary, str.casefold),
        _same_but(ordinary, lambda text: text[1:] if text[0] in " ▁" and len(text) > 1 else text),
        renyi_efficiency(uses, len(token_ids)),
    )


def _named(texts: CorpusLike | Mapping[str, CorpusLike] | None) -> list[tuple[str, Corpus]]:
    if texts is None:
        return []
    if isinstance(texts, Mapping):
        return [(name, Corpus.of(corpus)) for name, corpus in texts.items()]
    corpus = Corpus.of(texts)
    return [(str(corpus), corpus)]


def _measured(
    engine: Engine,
    name: str,
    corpus: Corpus,
    measuring: Measuring,
    uses: np.ndarray,
    missing: np.ndarray,
    witness_of: dict[int, bytes],
) -> TextFigures:
    """Encode a text, add the counts of its ids to `uses`, and look for witnesses of the `missing` ids."""
    rules, n_tokens = engine.rules_of("all"), 0
    n_tries = Counter[int]()
    for i, blocks in enumerate(corpus.documents()):
        for some in encode_blocks(engine, measuring.passing(blocks), rules, f"{name}, document {i}: text"):
            ids = np.asarray(some, np.int64)
            n_tokens += len(ids)
            uses += np.bincount(ids, minlength=len(uses))
            for place in np.flatnonzero(np.isin(ids, missing)).tolist() if len(missing) else ():
                token_id = int(ids[place])
                if token_id in witness_of or n_tries[token_id] >= 100:
                    continue
                n_tries[token_id] += 1
                text = witness_among(engine, ids, place)
                if text is not None:
                    witness_of[token_id] = text
    if not n_tokens:
        raise ValueError(f"{name} has no text: there is nothing to measure")
    return TextFigures(name, measuring.n_bytes, measuring.n_words, n_tokens)


def _proved(engine: Engine, left: list[int]) -> dict[int, Status]:
    """Return the status of those ids in `left` that provably occur in no text."""
    vocabulary = engine.vocabulary
    are_bytes = engine.options == BYTES  # what tokens stand for
    by_ranks = are_bytes and NO_ID not in vocabulary.byte_ids  # pieces are merged from bytes
    by_pattern = are_bytes and engine.splits_by_pattern  # the pattern alone cuts the text
    # A token that merges do not lead to occurs in a piece of exactly its bytes, or never.
    not_merged = {*unreached(vocabulary)} if left and by_ranks else set()
    never = (not_merged - {*vocabulary.atomic_ids}) | {*vocabulary.idle_tokens.values()}
    dead: dict[int, Status] = {token_id: "rank-dead" for token_id in left if token_id in never}
    if by_pattern and len(dead) < len(left):
        pieces = Pieces(engine.pattern)
        for token_id in left:
            may_be = pieces.can_be if token_id in not_merged else pieces.can_hold
            if token_id not in dead and not may_be(vocabulary.bytes_of[token_id]):
                dead[token_id] = "pattern-dead"
    return dead


def _same_but(tokens: Mapping[int, bytes], of: Callable[[str], str]) -> list[list[int]]:
    """Return groups of ids whose texts are equal after a function is applied."""
    groups: dict[str, list[int]] = {}
    for token_id, token in tokens.items():
        text = text_or_none(token)
        if text:
            groups.setdefault(of(text), []).append(token_id)
    return [group for group in groups.values() if len(group) > 1]
