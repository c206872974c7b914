"""Counting on a Dask cluster of this machine: processor time, and seconds, as Markdown.

    python asv_benchmarks/cluster_table.py TEXT [--small]

Processor time is that of all workers, divided by that of one process that counts on one thread, both the
least of some runs, by turns. The workers have counted the text before, and are started as Dask does. The
counts are compared first. With ``--small``, there is one row: to see that it runs, not for the figures.
"""

from __future__ import annotations

import time
from pathlib import Path

import click
from distributed import Client, LocalCluster

import bpe

WORKERS = [(2, 1), (1, 2)]  # processes, threads of each
ROUNDS = 8


def row(text: Path, n_workers: int, n_threads: int, rounds: int) -> str:
    """Count in this process and on a cluster; return a row of the table."""
    wanted = bpe.count_words(text, threads=1)
    alone, times, seconds = [], [], []
    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=n_threads, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        assert dict(bpe.count_words(text, scheduler=client).items()) == dict(wanted.items()), "other counts"
        for _ in range(rounds):
            start = time.process_time()
            bpe.count_words(text, threads=1)
            alone.append(time.process_time() - start)
            before, start = sum(client.run(time.process_time).values()), time.perf_counter()
            bpe.count_words(text, scheduler=client)
            seconds.append(time.perf_counter() - start)
            times.append(sum(client.run(time.process_time).values()) - before)
    return f"| {n_workers} | {n_threads} | {min(times) / min(alone):.1f} | {min(seconds):.2f} |"


@click.command()
@click.argument("text", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--small", is_flag=True, help="One row, one round.")
def main(text: Path, small: bool) -> None:
    """Print the table."""
    click.echo("| workers | threads of each | processor time, times one process | seconds |")
    click.echo("|---|---|---|---|")
    for n_workers, n_threads in WORKERS[:1] if small else WORKERS:
        click.echo(row(text, n_workers, n_threads, 1 if small else ROUNDS))


if __name__ == "__main__":
    main()
