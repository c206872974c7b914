"""What to count or to train on: paths of texts, or files of counts."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from bpe.cli.first_look import warn_of_odd_texts
from bpe.counting.kinds import kind_of_counts
from bpe.support.files import refuse_inputs


def source_of(
    paths: Sequence[str],
    output: str,
    pattern: str | None,
    specials: Sequence[str],
    *,
    is_quiet: bool,
    **reading: Any,
) -> Any:
    """Return the corpus of some paths, or the sum of the counts if these are files of counts.

    The output must not be one of the files.
    """
    from bpe.corpus import Corpus

    is_counts = [kind_of_counts(path) is not None for path in paths]
    if not any(is_counts):
        corpus = Corpus([Path(path) for path in paths], **reading)
        corpus.refuse_outputs(output)
        if not is_quiet:
            warn_of_odd_texts(corpus)
        return corpus
    if not all(is_counts):
        raise ValueError(
            f"{paths[is_counts.index(True)]} holds counts, {paths[is_counts.index(False)]} does not: "
            "count the text first, with bpe count"
        )
    if pattern is not None or specials:
        raise ValueError("files of counts already have a pattern and special tokens: leave out the options")
    refuse_inputs([output], paths)
    _check_kinds(paths)
    total = _loaded(paths[0])
    for path in paths[1:]:
        try:
            total += _loaded(path)
        except (ValueError, OverflowError) as error:
            where = "" if str(error).startswith(path) else f"{path}: "
            raise ValueError(f"{where}{error}") from None
    return total


def _check_kinds(paths: Sequence[str]) -> None:
    """Raise if some of these files hold counts of runs, and others of words."""
    kinds = [*map(kind_of_counts, paths)]
    if "runs" in kinds and "words" in kinds:
        runs, others = paths[kinds.index("runs")], paths[kinds.index("words")]
        raise ValueError(
            f"{runs} holds counts of runs, {others} only of words: count all texts with bpe count --runs"
        )


def _loaded(path: str) -> Any:
    """Return the counts in a file, of words or of runs."""
    from bpe.counting.word_counts import WordCounts
    from bpe.superwords.counted_runs import RunCounts

    return RunCounts.load(path) if kind_of_counts(path) == "runs" else WordCounts.load(path)


def sources_of(
    paths: Sequence[str], output: str, temperature: float | None, is_plain: bool
) -> tuple[dict[str, Any], dict[str, float]] | None:
    """Return files of counts by name, none of which is the output, and their weights; None without weights.

    `is_plain` says whether there are no options that files of counts do not take.
    """
    weights: dict[str, float] = {}
    for path in paths:
        name, _, number = path.rpartition("=")
        with contextlib.suppress(ValueError):  # no weight
            if name and not os.path.exists(path):
                weight = float(number)
                if name in weights:
                    raise click.UsageError(f"{path}: {name} has a weight already")
                weights[name] = weight
    if temperature is None and not weights:
        return None
    if temperature is not None and weights:
        raise ValueError(f"give weights, as for {next(iter(weights))}, or --temperature, not both")
    if weights and len(weights) < len(paths):
        raise ValueError(
            f"only {len(weights)} of {len(paths)} files have a weight: write FILE=WEIGHT for all"
        )
    if not is_plain:
        raise ValueError("files of counts already have a pattern and special tokens: leave out the options")
    from bpe.counting.weights import temperature_weights
    from bpe.superwords.counted_runs import RunCounts

    names = [*weights] or paths
    refuse_inputs([output], names)
    _check_kinds(names)
    sources = {name: _loaded(name) for name in names}
    if temperature is not None:
        words = {name: each.words if isinstance(each, RunCounts) else each for name, each in sources.items()}
        weights = temperature_weights(words, temperature)
    return sources, weights
