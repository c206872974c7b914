"""Progress, in one convention for everything that takes long."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

Progress: TypeAlias = bool | Callable[[int, int | None], object]


@contextmanager
def progress_bar(
    progress: Progress, total: int | None, unit: str, label: str
) -> Iterator[Callable[[int], object]]:
    """Report progress as the `progress` argument of a public function asks: yield ``advance(n)``.

    Nothing is ever written to stdout. What a callable raises ends the work.
    """
    if callable(progress):
        yield _reporter(progress, total)
    elif not isinstance(progress, bool):
        raise TypeError(f"progress must be True, False or a callable, not {progress!r}")
    elif not progress:
        yield lambda n: None
    else:
        from tqdm import tqdm  # not needed, and so not loaded, without a bar

        # disable=None: no bar where the file is not a terminal
        with tqdm(total=total, unit=unit, desc=label, unit_scale=True, file=sys.stderr, disable=None) as bar:
            yield bar.update


def _reporter(report: Callable[[int, int | None], object], total: int | None) -> Callable[[int], object]:
    done = 0

    def advance(n: int) -> None:
        nonlocal done
        done += n
        report(done, total)

    return advance
