"""Mutation testing: do the tests notice when the code is wrong? ``python -m tests.mutation --help``."""

from __future__ import annotations

import json
import sys
import tempfile
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

import click

from tests.mutation.mutants import Mutant, mutants_of, sample
from tests.mutation.targets import TARGETS, Target, quick_of
from tests.mutation.workshop import ROOT, Workshop

HERE = Path(__file__).parent
EXPLAINED = HERE / "explained.json"
LEAST_CAUGHT = {"quick": 0.80, "all": 0.97}
VERDICTS = ("caught", "hung", "survived")


def chosen(size: int, seed: int, only: tuple[str, ...], is_quick: bool) -> list[tuple[Mutant, Target]]:
    """Return the sample, an equal share from every room, with the tests that are to notice."""
    mutants: dict[str, list[Mutant]] = {}
    target_of = {target.module: target for target in TARGETS}
    for target in TARGETS:
        source = (ROOT / target.module).read_bytes()
        mutants.setdefault(target.room, []).extend(mutants_of(target.module, source))
    sampled = []
    for i, each in enumerate(mutants.values()):
        sampled += sample(each, size // len(mutants) + (i < size % len(mutants)), seed)
    sampled.sort(key=lambda mutant: (list(target_of).index(mutant.path), mutant.start))
    pairs = [(mutant, target_of[mutant.path]) for mutant in sampled]
    pairs = [pair for pair in pairs if not only or {pair[1].room, pair[1].module} & set(only)]
    return [(mutant, quick_of(target)) for mutant, target in pairs] if is_quick else pairs


def recorded(path: Path) -> dict[tuple, dict]:
    """Return the last record of every mutant in a file of results."""
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return {tuple(record["key"]): record for record in map(json.loads, lines)}


def caught(records: dict[tuple, dict]) -> dict[tuple, dict]:
    """Return the records of the mutants that did not survive."""
    return {key: record for key, record in records.items() if record["verdict"] != "survived"}


def explained() -> dict[str, dict[str, dict[str, str]]]:
    """Return why mutants that survive are right: by module, function and change."""
    return json.loads(EXPLAINED.read_text("utf-8"))


def run_all(pairs: list[tuple[Mutant, Target]], folder: Path, workers: int, results: Path) -> None:
    """Test mutants and write a line for each to the file of results."""
    free: SimpleQueue[Workshop] = SimpleQueue()
    for i in range(workers):
        free.put(Workshop(folder / f"worker-{i}"))
    lock = threading.Lock()

    def run(pair: tuple[Mutant, Target]) -> None:
        mutant, target = pair
        workshop = free.get()
        try:
            verdict, stage, seconds = workshop.verdict(mutant, target)
        finally:
            free.put(workshop)
        record = {"key": mutant.key, "verdict": verdict, "stage": stage, "seconds": round(seconds, 1)}
        with lock, open(results, "a", encoding="utf-8") as file:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
        click.echo(f"{verdict:8} {stage:7} {seconds:5.0f} s  {described(mutant)}")

    with ThreadPoolExecutor(workers) as executor:
        futures = [executor.submit(run, pair) for pair in pairs]
        try:
            for future in futures:
                future.result()
        except BaseException:
            for future in futures:
                future.cancel()
            raise


def described(mutant: Mutant) -> str:
    """Return a mutant in a line."""
    return f"{mutant.path}:{mutant.number} {mutant.function}: {mutant.line}  ->  {mutant.becomes}"


def report(pairs: list[tuple[Mutant, Target]], records: dict[tuple, dict], least: float) -> bool:
    """Print a table by module and what survived unexplained; return whether the tests are good enough."""
    reasons = explained()
    counts: dict[str, Counter[str]] = {}
    unexplained = []
    for mutant, target in pairs:
        of_module = counts.setdefault(target.module, Counter())
        of_module["sampled"] += 1
        if mutant.key in records:
            verdict = records[mutant.key]["verdict"]
            of_module[verdict] += 1
            is_explained = mutant.change in reasons.get(mutant.path, {}).get(mutant.function, {})
            if verdict == "survived" and is_explained:
                of_module["explained"] += 1
            elif verdict == "survived":
                unexplained.append(mutant)
            elif is_explained:
                click.echo(f"caught, but explained: {described(mutant)}")
    columns = ("sampled", *VERDICTS, "explained")
    click.echo(f"{'':42}" + "".join(f"{column:>11}" for column in columns))
    total = sum(counts.values(), Counter())
    for name, row in (*counts.items(), ("all", total)):
        click.echo(f"{name:42}" + "".join(f"{row[column]:11}" for column in columns))
    n_tested = sum(total[verdict] for verdict in VERDICTS)
    share = (total["caught"] + total["hung"]) / n_tested if n_tested else 0.0
    click.echo(
        f"caught: {share:.1%} of {n_tested}; survived, and explained: {total['explained']}; "
        f"not tested: {total['sampled'] - n_tested}"
    )
    for mutant in unexplained:
        click.echo(f"unexplained: {described(mutant)}")
        entry = {mutant.path: {mutant.function: {mutant.change: ""}}}
        click.echo(f"  for {EXPLAINED.name}: {json.dumps(entry, ensure_ascii=False)}")
    return share >= least and n_tested == total["sampled"]


@click.command(context_settings={"show_default": True})
@click.argument("only", nargs=-1)
@click.option("--sample", "size", default=300, help="How many mutants to test, the same number of each room.")
@click.option("--seed", default=0, help="Another seed is another sample.")
@click.option("--workers", default=1, help="How many are tested at a time.")
@click.option(
    "--folder",
    type=click.Path(path_type=Path),
    default=Path(tempfile.gettempdir()) / "mutation",
    help="Where the scratch copies are kept.",
)
@click.option(
    "--results",
    "known_in",
    type=click.Path(path_type=Path),
    default=HERE,
    show_default="tests/mutation",
    help="Where quick.jsonl and all.jsonl are, with a line for each mutant that was tested.",
)
@click.option("--table", is_flag=True, help="Test nothing; print what is known.")
@click.option("--again", is_flag=True, help="Test those that survived once more.")
@click.option("--quick", is_flag=True, help="Only the quick core is to notice.")
def main(
    only: tuple[str, ...],
    size: int,
    seed: int,
    workers: int,
    folder: Path,
    known_in: Path,
    table: bool,
    again: bool,
    quick: bool,
) -> None:
    """Change the code in small wrong ways, and see whether the tests notice.

    ONLY names rooms or modules, such as structures/base or bpe/training/merging.py; all of them by default.
    What was tested before is not tested again, nor, without --quick, what the quick core caught: to begin
    anew, delete the files of results, which are of the code and the tests of that time. Mutants that survive
    because their results are the same are explained in explained.json, and count as survivors. The exit code
    is 1 if fewer than 97 % of the sample are caught, with --quick fewer than 80 %.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tests = "quick" if quick else "all"
    results = known_in / f"{tests}.jsonl"
    pairs = chosen(size, seed, only, quick)
    # What a part of the tests catches, all of them do.
    by_quick = {} if quick else caught(recorded(known_in / "quick.jsonl"))
    known = by_quick | recorded(results)
    if again:
        known = caught(known)
    if not table:
        run_all([pair for pair in pairs if pair[0].key not in known], folder, workers, results)
    sys.exit(0 if report(pairs, by_quick | recorded(results), LEAST_CAUGHT[tests]) else 1)


if __name__ == "__main__":
    main()
