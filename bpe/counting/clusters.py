"""Counting on the workers of a Dask cluster, with the result that one process gives.

::

    parts of the files     0     1     2     3     4
                           |     |     |     |     |       counted on the workers
                           +--+--+     +--+--+     |       added there, neighbors first, in a fixed order
                              +-----+-----+        |
                                    +------+-------+

When a worker dies, what it had done is done again. Workers must see the same files by the same names, and
have this package installed. While they count, they report their progress twice a second.

Parts are as large as possible while each worker still gets a few: pieces that occur in several parts are
counted and sent once for each of them.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from bpe.corpus import Corpus, CorpusLike
from bpe.corpus.parts import Cut, parts_of
from bpe.corpus.reading import FilePart, extra
from bpe.counting.pieces import count_corpus, must_hold_text
from bpe.counting.word_counts import WordCounts
from bpe.splitting.boundaries import cut_inside
from bpe.splitting.pattern import Pattern
from bpe.support.memory import free_memory_kept
from bpe.support.progress import Progress, progress_bar
from bpe.vocabulary.vocabulary import check_specials
from structures import ByteCounter

_LEAST_PART_BYTES, _MOST_PART_BYTES = 64 << 20, 1 << 30
_PARTS_EACH = 3  # for each worker, if parts of that size are within these bounds
_SECONDS = 0.5  # between two reports of progress


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

    Special tokens are cut out before splitting: they are not counted, and no piece goes across one.

    Parameters
    ----------
    corpus : Corpus, path, or iterable of path, str or bytes
        A path is a file (.txt, .jsonl, .parquet, each also .gz or .zst), a folder, a glob pattern, or
        ``Path("-")``, standard input; a str or bytes in an iterable is a document. :class:`bpe.Corpus` says
        how they are read, and has the options for it. A cluster takes files only, at paths that its workers
        see.
    pattern : str, iterable of str or Pattern
        As :meth:`Pattern.of` takes it.
    special_tokens : iterable of str
    scheduler : dask.distributed.Client or str, optional
        A client, or the address of a scheduler, such as "tcp://10.0.0.1:8786". Without it, this process.
    threads : int, optional
        The most threads of this process; as many as there are processors by default. A cluster has its own.
    progress : bool or callable
        A bar on stderr, nothing (the default), or ``progress(bytes done, bytes in all or None)``.

    Returns
    -------
    WordCounts
        The same for any number of threads and workers, the order included.

    Raises
    ------
    ValueError
        The corpus is empty, or cannot be counted by workers; a file is damaged, cut off or changes while it
        is read; pattern or special tokens are wrong.
    TypeError
        The corpus is a bare str or bytes, or holds something else than paths, str and bytes; or the scheduler
        is neither a client nor a str.
    OSError
        A file is missing or cannot be read, the scheduler cannot be reached, or workers die again and again.
    ImportError
        A package that a format, or a cluster, needs is not installed.

    Complexity
    ----------
    O(n) for n bytes with the named patterns, in one pass that workers share. Memory, on each: the distinct
    pieces, and the longest stretch of text that cannot be cut; with a pattern that has no name, the longest
    document.

    Examples
    --------
    >>> counts = count_words(["one two<|end|>one", b"one\n"], special_tokens=["<|end|>"])
    >>> list(counts.items())
    [(b'one', 3), (b' two', 1), (b'\n', 1)]
    """
    source, rules = Corpus.of(corpus), (Pattern.of(pattern), check_specials(special_tokens))
    if scheduler is None:
        counter = count_corpus(source, *rules, threads=threads, progress=progress)
    else:
        counter = on_cluster(scheduler, source, Plan(rules, _count_part, cut_inside, _added), progress)
    must_hold_text(counter, source)
    return WordCounts._of_counter(counter, *rules)


class Plan(NamedTuple):
    """What the workers do."""

    rules: tuple[Any, ...]  # pattern, special tokens, and further arguments of count
    count: Callable[..., Any]  # count(file parts, options of the Corpus, topic of the progress, *rules)
    cut: Cut  # finds where a file may be cut into parts
    add: Callable[[Any, Any], Any]  # adds the results of two parts


def on_cluster(scheduler: Any, source: Corpus, plan: Plan, progress: Progress) -> Any:
    """Count a corpus on the workers of a cluster, and return the sum of what they counted."""
    distributed = extra("distributed", "dask", "counting on a cluster")
    if isinstance(scheduler, str):
        with distributed.Client(scheduler) as client:
            return _counted(distributed, client, source, plan, progress)
    if isinstance(scheduler, distributed.Client):
        return _counted(distributed, scheduler, source, plan, progress)
    raise TypeError(f"scheduler must be a Client or an address, not {type(scheduler).__name__}")


def _counted(distributed: Any, client: Any, source: Corpus, plan: Plan, progress: Progress) -> Any:
    n_at_once = sum(client.nthreads().values())
    pattern, special_tokens = plan.rules[:2]
    part_bytes = _part_bytes(source.n_bytes or 0, n_at_once)
    parts = parts_of(source, pattern, frozenset(special_tokens), part_bytes, plan.cut)
    reading = {name: getattr(source, name) for name in ("field", "errors", "max_record_bytes", "format")}
    if not parts:
        return plan.count([], reading, None, *plan.rules)
    topic = f"bpe-{uuid.uuid4().hex}"
    leaves = [client.submit(plan.count, part, reading, topic, *plan.rules, pure=False) for part in parts]
    size_of = {
        leaf.key: sum((file_part.stop or 0) - file_part.start for file_part in part)
        for leaf, part in zip(leaves, parts, strict=True)
    }
    level = leaves
    while len(level) > 1:
        pairs = [client.submit(plan.add, *level[i : i + 2], pure=False) for i in range(0, len(level) - 1, 2)]
        level = pairs + level[2 * len(pairs) :]
    (root,) = level
    waiting, ended = set(leaves), set()
    del leaves, level  # workers keep in memory whatever is referenced here
    reported: dict[str, int] = {}  # bytes read of each part, by the key of its task
    client.subscribe_topic(topic, lambda event: reported.update([event[1]]))
    n_shown = n_done = 0
    try:
        with progress_bar(progress, source.n_bytes, "B", "counting") as advance:
            while waiting:
                ended = _ended(distributed, waiting)
                waiting -= ended
                if any(leaf.status == "error" for leaf in ended):
                    break
                n_done += sum(size_of[leaf.key] for leaf in ended)
                under_way = sum(min(reported.get(leaf.key, 0), size_of[leaf.key]) for leaf in waiting)
                if n_done + under_way > n_shown:  # fewer where a part is counted a second time
                    advance(n_done + under_way - n_shown)
                    n_shown = n_done + under_way
            waiting.clear()
            ended.clear()
            return root.result()
    except distributed.KilledWorker as error:
        raise ChildProcessError(
            f"several workers died while they counted a part ({error}): does each have enough memory?"
        ) from None
    finally:
        client.unsubscribe_topic(topic)
        for future in (root, *waiting, *ended):
            future.release()  # cancel would tell all clients, and one that is just connecting would fail


def _part_bytes(n_bytes: int, n_at_once: int) -> int:
    """Return the size of a part: a few parts for each worker, within bounds."""
    return min(max(n_bytes // (_PARTS_EACH * max(n_at_once, 1)), _LEAST_PART_BYTES), _MOST_PART_BYTES)


def _ended(distributed: Any, waiting: set[Any]) -> set[Any]:
    """Wait until a part is counted, at most half a second; return the parts that are done."""
    try:
        return set(distributed.wait(waiting, timeout=_SECONDS, return_when="FIRST_COMPLETED").done)
    except distributed.TimeoutError:
        return set()


def _count_part(
    parts: list[FilePart],
    reading: dict[str, Any],
    topic: str | None,
    pattern: Pattern,
    special_tokens: tuple[str, ...],
) -> ByteCounter:
    corpus = Corpus(parts, **reading)  # type: ignore[arg-type]  # a part stands for its file
    report = reporter(topic) if topic else False
    with free_memory_kept():
        return count_corpus(corpus, pattern, special_tokens, threads=1, progress=report)


def reporter(topic: str) -> Callable[[int, int | None], object]:
    """Return a progress function that reports to the client how many bytes of a part are read."""
    from distributed import get_worker

    worker, key, reported = get_worker(), get_worker().get_current_task(), time.monotonic()

    def report(done: int, _: int | None) -> None:
        nonlocal reported
        if time.monotonic() - reported >= _SECONDS:
            reported = time.monotonic()
            worker.log_event(topic, (key, done))

    return report


def _added(left: ByteCounter, right: ByteCounter) -> ByteCounter:
    total = left.copy()  # a worker keeps its result in case this task is repeated
    total.merge(right)
    return total
