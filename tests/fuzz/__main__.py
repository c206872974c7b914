"""Random input of every kind, for as long as you like: ``python -m tests.fuzz --help``."""

from __future__ import annotations

import itertools
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import click

from tests.fuzz.workers import Case, Worker, outcome

KINDS = ("containers", "files", "patterns", "tokenizers", "steps")


def numbers(first: int, count: int | None, seconds: float) -> Iterator[int]:
    """Yield numbers of cases until there are enough, or the time is over."""
    end = time.monotonic() + seconds
    for number in itertools.count(first) if count is None else range(first, first + count):
        if count is None and time.monotonic() > end:
            return
        yield number


def fuzz(kind: str, seed: int, which: Iterator[int], n_workers: int) -> tuple[int, list[Case]]:
    """Run cases of a kind in worker processes; return how many there were, and those that failed."""
    lock, done, failed = threading.Lock(), [], []

    def work() -> None:
        with Worker() as worker:
            while True:
                with lock:
                    number = next(which, None)
                if number is None:
                    return
                case = Case(kind, seed, number)
                told = worker.run(case)
                done.append(case)
                if told:
                    failed.append(case)
                    click.echo(f"{again(case)}\n{told}\n", err=True)

    with ThreadPoolExecutor(n_workers) as executor:
        for future in [executor.submit(work) for _ in range(n_workers)]:
            future.result()
    return len(done), sorted(failed)


def again(case: Case) -> str:
    """Return the command that runs a case again."""
    return f"python -m tests.fuzz {case.kind} --seed {case.seed} --number {case.number}"


@click.command(context_settings={"show_default": True})
@click.argument("kinds", nargs=-1, type=click.Choice(KINDS))
@click.option("--seconds", default=60.0, help="How long each kind is run.")
@click.option("--count", type=int, help="How many cases of each kind are run, in place of --seconds.")
@click.option("--seed", default=0, help="Another seed is another sequence of cases.")
@click.option("--number", type=int, help="Run this one case of one kind, in this process.")
@click.option("--workers", default=2, help="How many processes run cases.")
def main(
    kinds: tuple[str, ...], seconds: float, count: int | None, seed: int, number: int | None, workers: int
) -> None:
    """Run random cases of KINDS, all of them by default, and say which ones failed.

    The exit code is 1 if one did. The same seed and number are the same case; only the secret of the hashes,
    and how threads take turns, differ from process to process.
    """
    if number is not None:
        if len(kinds) != 1:
            raise click.UsageError("--number needs one kind")
        told = outcome(Case(kinds[0], seed, number))
        click.echo(told or "right")
        sys.exit(1 if told else 0)
    failed = []
    for kind in kinds or KINDS:
        n_cases, wrong = fuzz(kind, seed, numbers(0, count, seconds), workers)
        click.echo(f"{kind:10} {n_cases:7} cases {len(wrong):5} failed")
        failed += wrong
    for case in failed:
        click.echo(f"failed: {again(case)}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
