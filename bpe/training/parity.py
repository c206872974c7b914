"""``Languages``: the learners of a parity-aware training, one for each language and development text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bpe.counting.word_counts import WordCounts
from bpe.training.learner import Learner
from bpe.training.options import Options
from bpe.training.parity_selection import (
    AT_START,
    EXHAUSTED,
    IN_WINDOW,
    ROWS,
    ParityState,
    append,
    list_of,
    run_parity,
)
from bpe.training.selection import make_tie_heap
from bpe.training.start import Start
from structures import IntMap


class Languages:
    """Learns merges from several languages at once, each merge for the language that is encoded worst."""

    def __init__(
        self,
        counts: Sequence[WordCounts],
        start: Start,
        dev: Sequence[WordCounts],
        *,
        ratios: Sequence[float],
        window: int,
        alpha: float,
        options: Options,
    ) -> None:
        ties = options.ties
        self.learners = [Learner(each, start, ties, "heap") for each in counts]
        self.learners += [Learner(each, start, "smallest", "heap") for each in dev]
        for learner in self.learners:
            learner.narrow(1, options.longest)
        n = len(counts)
        rows = np.zeros((ROWS, n), np.int64)
        rows[AT_START] = [bytes_in(each) for each in dev or counts]
        states = [learner.state for learner in self.learners]
        tie_heaps = [learner.tie_heap for learner in self.learners[:n]]
        if ties == "smallest":
            tie_heaps = [make_tie_heap(False, 1, IntMap(), np.empty(0, np.uint8), False)]
        self.state = ParityState(
            languages=listed(states[:n]),
            tie_heaps=listed(tie_heaps),
            by_queue=ties == "smallest",
            measured=listed(states[n:] or states),
            has_dev=bool(dev),
            rows=rows,
            ratios=np.array(ratios, np.float64),
            served=np.full(window, -1),
            n_served=np.zeros(1, np.int64),
            share=alpha / n,
            min_count=options.least(),
        )

    @property
    def n_done(self) -> int:
        """How many merges are done."""
        return self.learners[0].n_done

    @property
    def log(self) -> np.ndarray:
        """The merges, as in :attr:`bpe.Trainer.log`, with their counts in the languages they served."""
        return self.learners[0].log[: self.n_done].copy()

    def make_room(self, wanted: int) -> None:
        """Enlarge every array that is indexed by token or merge to have room for `wanted` merges."""
        for learner in self.learners:
            learner.make_room(wanted)

    def run(self, wanted: int) -> None:
        """Learn until `wanted` merges are done, or no pair is left; call :meth:`make_room` before."""
        run_parity(self.state, wanted)

    def check(self) -> None:
        """Compare the whole state with a recount from scratch."""
        for learner in self.learners:
            learner.check(())
        rows, served = self.state.rows, self.state.served.tolist()
        for i, learner in enumerate(self.learners[: rows.shape[1]]):
            assert rows[IN_WINDOW, i] == served.count(i), "1: merges in the window"
            greatest = max(learner.queue.to_arrays()[1], default=0)
            assert not rows[EXHAUSTED, i] or greatest < self.state.min_count, "2: exhausted languages"
            assert learner.min_count == 1, "3: rare pairs"


def listed(elements: Sequence[Any]) -> Any:
    """Return a typed list of the elements, of which there must be at least one."""
    result = list_of(elements[0])
    for each in elements[1:]:
        append(result, each)
    return result


def bytes_in(counts: WordCounts) -> int:
    """Return how many bytes a text had: the length of each word times its count."""
    n_bytes = counts.n_text_bytes
    if n_bytes > 2**62:
        raise OverflowError("the texts of a language pass 2**62 bytes")
    return n_bytes
