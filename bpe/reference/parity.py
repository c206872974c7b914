"""Parity-aware training: each merge serves the language that is encoded worst so far.

An ordinary training serves the language with the most text. Here every merge is chosen by the counts of one
language, and then applied to all of them. It serves the language with the most tokens in its development
text, so these texts should have the same content in every language. With ratios, it serves the language with
the lowest (tokens at the start / tokens now) / ratio.

The method is that of Foroutan and others, "Parity-Aware Byte-Pair Encoding" (2025). What the paper does
not specify is done so that the merges are those of ``tokenizers.trainers.ParityBpeTrainer``.

Invariants
----------
1. All languages and development texts have the same tokens: every merge is applied to each.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from .pairs import Pair, Ties, pick_best
from .trainers import IncrementalPieces, Merge, learn


class Turns:
    """The order in which languages are served, and the window of the last turns.

    Parameters
    ----------
    n_tokens : sequence of int
        The tokens of each language at the start.
    ratios : sequence of float, optional
    window : int, optional
        How many of the last turns count.
    alpha : float
        A language that has more than ``alpha / languages`` of the turns in the window gets no further turn as
        long as another language may have it.

    Attributes
    ----------
    out : set of int
        The languages without a pair to merge. This is noticed in the turn of a language, which still counts
        in the window.

    Examples
    --------
    >>> turns = Turns([5, 9, 9], window=2, alpha=1.0)
    >>> turns.next([5, 9, 9]), turns.next([5, 9, 9]), turns.next([5, 9, 9])
    (1, 2, 0)
    """

    def __init__(
        self,
        n_tokens: Sequence[int],
        ratios: Sequence[float] | None = None,
        window: int | None = None,
        alpha: float = 2.0,
    ) -> None:
        self.at_start, self.ratios, self.window, self.alpha = [*n_tokens], ratios, window, alpha
        self.taken: list[int] = []  # the language of each turn
        self.out: set[int] = set()

    def next(self, n_tokens: Sequence[int]) -> int | None:
        """Return the language of the next turn, given its current tokens; None if all are out. O(L log L)."""

        def need(language: int) -> float:
            if self.ratios is None:
                return -n_tokens[language]
            return self.at_start[language] / n_tokens[language] / self.ratios[language]

        # Sorting is stable: of languages with the same need, the first one comes first.
        order = sorted((i for i in range(len(n_tokens)) if i not in self.out), key=need)
        if not order:
            return None
        free = [i for i in order if not self.has_enough(i)]
        self.taken.append(free[0] if free else order[-1])
        return self.taken[-1]

    def has_enough(self, language: int) -> bool:
        """Return whether a language has had more than its share of the last turns. O(window)."""
        if self.window is None:
            return False
        share = self.taken[-self.window :].count(language) / self.window
        return share > self.alpha / len(self.at_start)


def learn_parity(
    languages: Sequence[IncrementalPieces],
    turns: Turns,
    dev: Sequence[IncrementalPieces],
    n_merges: int,
    *,
    ties: Ties = "smallest",
    min_count: int = 1,
) -> list[tuple[int, Merge]]:
    """Learn up to `n_merges` merges, and apply them to all pieces.

    A second call continues the training.

    Parameters
    ----------
    languages : sequence of IncrementalPieces
    turns : Turns
    dev : sequence of IncrementalPieces
        The development texts; `languages` if there are no such texts.
    n_merges : int
    ties : {"smallest", "lexicographic", "first", "gpt2"}
        See `pick_best`.
    min_count : int
        A language is out when the greatest count of its pairs is below this.

    Returns
    -------
    list of (int, Merge)
        The language that was served, and the merge with its count in this language.

    Complexity
    ----------
    For each merge O(P) for P pairs, and O(D) for texts of D distinct bytes.

    Examples
    --------
    >>> texts = [IncrementalPieces([(b"aab", 1)]), IncrementalPieces([(b"xyz", 2)])]
    >>> turns = Turns([3, 6])
    >>> [(language, merge.pair) for language, merge in learn_parity(texts, turns, texts, 3)]
    [(1, (120, 121)), (1, (256, 122)), (0, (97, 97))]
    """
    merges: list[tuple[int, Merge]] = []
    everything = [*languages, *(pieces for pieces in dev if pieces not in languages)]
    while len(merges) < n_merges:
        language = turns.next([tokens_in(pieces) for pieces in dev])
        if language is None:
            break
        pieces = languages[language]
        if max(pieces.counts.values(), default=0) < min_count:
            turns.out.add(language)
            continue
        pair = pick_best(pieces.counts, ties, pieces.token_bytes, pieces.sequences)
        merges.append((language, Merge(*pair, len(pieces.token_bytes), pieces.counts[pair])))
        merge_everywhere(everything, pair)
    return merges


def tokens_in(pieces: IncrementalPieces) -> int:
    """Return how many tokens a text has: those of each piece times its count. O(D)."""
    return sum(
        len(sequence) * count for sequence, count in zip(pieces.sequences, pieces.piece_counts, strict=True)
    )


def merge_everywhere(texts: Sequence[IncrementalPieces], pair: Pair) -> None:
    """Merge a pair in every text, under one id. O(D)."""
    for pieces in texts:
        left, right = pair
        pieces.merge(pair, pieces.token_bytes[left] + pieces.token_bytes[right])


def train_parity(
    piece_counts: Sequence[Mapping[bytes, int]],
    n_merges: int,
    *,
    dev: Sequence[Mapping[bytes, int]] | None = None,
    ratios: Sequence[float] | None = None,
    window: int | None = None,
    alpha: float = 2.0,
    n_global: int = 0,
    ties: Ties = "smallest",
    min_count: int = 1,
) -> list[Merge]:
    """Train on several languages at once.

    Parameters
    ----------
    piece_counts : sequence of mapping from bytes to int
        The distinct pieces of each language, and how often each occurs.
    n_merges : int
        Including the global ones.
    dev : sequence of mapping from bytes to int, optional
        A development text for each language; by default, the training texts.
    ratios : sequence of float, optional
        Not used with `dev`.
    window, alpha
        As `Turns` takes them.
    n_global : int
        How many merges are learned first from the sum of all languages, in the ordinary way.
    ties, min_count
        As `learn_parity` takes them.

    Returns
    -------
    list of Merge
        The count of a global merge is that in all languages together.

    Complexity
    ----------
    That of `learn` and `learn_parity`.

    Examples
    --------
    >>> [merge.pair for merge in train_parity([{b"aab": 1}, {b"xyz": 2}], 3, n_global=1)]
    [(120, 121), (256, 122), (97, 97)]
    """
    languages = [IncrementalPieces(counts.items()) for counts in piece_counts]
    texts = languages if dev is None else [IncrementalPieces(counts.items()) for counts in dev]
    turns = Turns([tokens_in(text) for text in texts], ratios if dev is None else None, window, alpha)
    total: Counter[bytes] = Counter()
    for counts in piece_counts:
        total.update(counts)
    merges = learn(IncrementalPieces(total.items()), min(n_global, n_merges), ties=ties, min_count=min_count)
    for merge in merges:
        merge_everywhere([*languages, *(text for text in texts if text not in languages)], merge.pair)
    rest = learn_parity(languages, turns, texts, n_merges - len(merges), ties=ties, min_count=min_count)
    return merges + [merge for _, merge in rest]
