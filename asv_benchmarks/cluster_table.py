"""Counting on a Dask cluster of this machine: processor time, and seconds, as Markdown.

    python asv_benchmarks/cluster_table.py TEXT [--small]

Processor time is that of all workers, divided by that of one process that counts on one thread. Each of them
has counted the text before, and the least of some runs is taken. The counts are compared first. With
``--small``, there is one row: to see that it runs, not for the figures.
"""

from __future__ import annotations

import time
from pathlib import Path

import click
import dask
from distributed import Client, LocalCluster

import bpe

THRESHOLD = "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_"
KEPT = 1 << 28  # bytes that a worker keeps before it gives memory back
WORKERS = [(2, 1), (1, 2)]  # processes, threads of each


def row(text: Path, n_workers: int, n_threads: int, kept: int | None, rounds: int, alone: float) -> str:
    """Count on a cluster; return a row of the table."""
    wanted = bpe.count_words(text, threads=1)
    times, seconds = [], []
    with (
        dask.config.set({THRESHOLD: kept} if kept else {}),
        LocalCluster(n_workers=n_workers, threads_per_worker=n_threads, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        assert dict(bpe.count_words(text, scheduler=client).items()) == dict(wanted.items()), "other counts"
        for _ in range(rounds):
            before, start = sum(client.run(time.process_time).values()), time.perf_counter()
            bpe.count_words(text, scheduler=client)
            seconds.append(time.perf_counter() - start)
            times.append(sum(client.run(time.process_time).values()) - before)
    threshold = f"{kept >> 20} MiB" if kept else "Dask's"
    return f"| {n_workers} | {n_threads} | {threshold} | {min(times) / alone:.1f} | {min(seconds):.2f} |"


@click.command()
@click.argument("text", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--small", is_flag=True, help="One row, one round.")
def main(text: Path, small: bool) -> None:
    """Print the table."""
    rounds, alone = 1 if small else 4, []
    for _ in range(rounds + 1):
        start = time.process_time()
        bpe.count_words(text, threads=1)
        alone.append(time.process_time() - start)
    click.echo("| workers | threads of each | threshold | processor time, times one process | seconds |")
    click.echo("|---|---|---|---|---|")
    for n_workers, n_threads in WORKERS[:1] if small else WORKERS:
        for kept in (None,) if small else (None, KEPT):
            click.echo(row(text, n_workers, n_threads, kept, rounds, min(alone)))


if __name__ == "__main__":
    main()
