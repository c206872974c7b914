"""Counting on the workers of a Dask cluster, with the result that one process gives.

::

    parts of the files     0     1     2     3     4
                           |     |     |     |     |       counted on the workers
                           +--+--+     +--+--+     |       added there, neighbours first, in a fixed order
                              +-----+-----+        |
                                    +------+-------+

When a worker dies, what it had done is done again. Workers must see the same files by the same names, and
have this package installed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bpe.corpus import Corpus, CorpusLike
from bpe.corpus.parts import PART_BYTES, parts_of
from bpe.corpus.reading import FilePart, extra
from bpe.counting.pieces import count_corpus, must_hold_text
from bpe.counting.word_counts import WordCounts
from bpe.pattern import Pattern
from bpe.progress import Progress, progress_bar
from bpe.specials import check_specials
from structures import ByteCounter


def count_words(
    corpus: CorpusLike,
    pattern: str | Iterable[str] | Pattern = "gpt2",
    special_tokens: Iterable[str] = (),
    *,
    scheduler: Any = None,
    threads: int | None = None,
    progress: Progress = False,
) -> WordCounts:
    r"""Count the pieces of a corpus, in this process or on a Dask cluster.

    Parameters
    ----------
    corpus : Corpus, path, or iterable of path, str or bytes
        As :meth:`WordCounts.from_corpus` takes it. A cluster takes files only, at paths that its workers see.
    pattern : str, iterable of str or Pattern
    special_tokens : iterable of str
    scheduler : dask.distributed.Client or str, optional
        A client, or the address of a scheduler, such as "tcp://10.0.0.1:8786". Without it, this process.
    threads : int, optional
        Threads of this process; a cluster has its own.
    progress : bool or callable
        A bar on stderr, nothing, or ``progress(bytes done, bytes in all or None)``.

    Returns
    -------
    WordCounts
        The same for any number of workers, the order included.

    Raises
    ------
    ValueError
        The corpus is empty, or cannot be counted by workers; a file is damaged or changes; pattern or special
        tokens are wrong.
    TypeError
        The scheduler is neither a client nor a str, or the corpus has a wrong type.
    OSError
        A file or the scheduler cannot be reached, or workers die again and again.
    ImportError
        A package that this needs is not installed.

    Complexity
    ----------
    One pass over the corpus, shared by the workers; memory for the distinct pieces on each.

    Examples
    --------
    >>> count_words(["low low lower"])
    <WordCounts of 3 words, 3 in all, pattern 'gpt2'>
    """
    if scheduler is None:
        return WordCounts.from_corpus(corpus, pattern, special_tokens, threads=threads, progress=progress)
    distributed = extra("distributed", "dask", "counting on a cluster")
    rules = Pattern.of(pattern), check_specials(special_tokens)
    source = Corpus.of(corpus)
    parts = parts_of(source, rules[0], frozenset(rules[1]), PART_BYTES)
    if isinstance(scheduler, str):
        with distributed.Client(scheduler) as client:
            counter = _on_cluster(distributed, client, parts, source, rules, progress)
    elif isinstance(scheduler, distributed.Client):
        counter = _on_cluster(distributed, scheduler, parts, source, rules, progress)
    else:
        raise TypeError(f"scheduler must be a Client or an address, not {type(scheduler).__name__}")
    must_hold_text(counter, source)
    return WordCounts._of_counter(counter, *rules)


def _on_cluster(
    distributed: Any,
    client: Any,
    parts: list[list[FilePart]],
    source: Corpus,
    rules: tuple[Pattern, tuple[str, ...]],
    progress: Progress,
) -> ByteCounter:
    if not parts:
        return ByteCounter()
    reading = {name: getattr(source, name) for name in ("field", "errors", "max_record_bytes")}
    leaves = [client.submit(_count_part, part, reading, *rules, pure=False) for part in parts]
    size_of = {
        leaf.key: sum((file_part.stop or 0) - file_part.start for file_part in part)
        for leaf, part in zip(leaves, parts, strict=True)
    }
    level = leaves
    while len(level) > 1:
        pairs = [client.submit(_added, *level[i : i + 2], pure=False) for i in range(0, len(level) - 1, 2)]
        level = pairs + level[2 * len(pairs) :]
    (root,) = level
    counted = distributed.as_completed(leaves)
    del leaves, level  # workers keep in memory what is held here
    try:
        with progress_bar(progress, source.n_bytes, "B", "counting") as advance:
            for leaf in counted:
                if leaf.status == "error":
                    break
                advance(size_of[leaf.key])
                del leaf
            return root.result()
    except distributed.KilledWorker as error:
        raise ChildProcessError(
            f"one worker after the other died while it counted a part ({error}): has each enough memory?"
        ) from None
    finally:
        root.cancel()


def _count_part(
    parts: list[FilePart], reading: dict[str, Any], pattern: Pattern, special_tokens: tuple[str, ...]
) -> ByteCounter:
    corpus = Corpus(parts, **reading)  # type: ignore[arg-type]  # a part stands for its file
    return count_corpus(corpus, pattern, special_tokens, threads=1)


def _added(left: ByteCounter, right: ByteCounter) -> ByteCounter:
    total = left.copy()  # the workers keep theirs, in case this has to be done again
    total.merge(right)
    return total
