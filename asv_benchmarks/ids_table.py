"""Ids as they are: how long it takes, and whether it is exact, on real vocabularies; tables in Markdown.

    python asv_benchmarks/ids_table.py speed VOCABULARIES TEXT        long ids, some text, two tokenizers
    python asv_benchmarks/ids_table.py seams VOCABULARIES TEXT ...    ends with 1 at a difference
    python asv_benchmarks/ids_table.py windows VOCABULARIES TEXT      what going some ids back gets wrong
    python asv_benchmarks/ids_table.py masks VOCABULARIES TEXT ...    which ids may follow; ends with 1 if one
                                                                      of a text may not
    python asv_benchmarks/ids_table.py refused VOCABULARIES TEXT ...  the same for every id of whole texts
    python asv_benchmarks/ids_table.py memory VOCABULARIES TEXT       of what masks are made of
    python asv_benchmarks/ids_table.py covers VOCABULARIES TEXT ...   of long prefixes; ends with 1 if not one
                                                                      begins the ids of the text

VOCABULARIES is a folder as for ``same.py ids``. For ``seams``, vocabularies with other patterns, with
superwords and by SentencePiece are trained, too. Results are compared with those of encoding the whole before
it is measured.
"""

from __future__ import annotations

import benchmarks._common  # noqa: F401  # compiled code does everything, and is kept where it says

# isort: split

import json
import os
import random
import sys
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import click
import numpy as np
import sentencepiece
from measuring import NOVEL, best, in_units, texts_argument, times_option, vocabularies_argument
from same import PATTERNS, first_difference

import bpe
import bpe.ids

LONG, MORE = 800_000, 2_000  # characters
ALIGNED = 100_000  # ids
SEAMS = 10_000  # of each vocabulary
CALLS = 200
AROUND = 300  # characters on both sides of a seam, at most
MASKS = 20_000  # of each text
WALKS = 1_000_000  # ids after others that are remembered
PREFIX, PREFIXES = 100_000, 100  # bytes, and how many
SEPARATOR = b"<|endoftext|>"
WINDOWS = (8, 64)  # ids that a heuristic goes back
DIGITS = 600  # in a number, at most
FROM_THE_RIGHT = r"\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))"
TRAINED = ("llama3", "qwen2", "deepseek")


def loaded(folder: Path, name: str, pattern: str | None = None) -> bpe.Tokenizer:
    special = json.loads((folder / f"{name}.json").read_text("utf-8"))["special_tokens"]
    tok = bpe.Tokenizer.from_tiktoken(
        folder / f"{name}.tiktoken", pattern=PATTERNS[name], special_tokens=special
    )
    return tok if pattern is None else bpe.Tokenizer._of(tok.engine.vocabulary, bpe.Pattern.of(pattern))


def must_be(what: str, found: Any, wanted: Any) -> None:
    if found != wanted:
        sys.exit(f"{what}: {found!r:.300} is not {wanted!r:.300}")


@click.group(help=__doc__)
def main() -> None:
    pass


# -------------------------------------------------------------------------------------------------- speed
@main.command()
@vocabularies_argument
@click.argument("text", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@times_option
def speed(folder: Path, text: Path, times: int) -> None:
    """Measure ours and encoding all again, in turns; the least time of an operation counts."""
    given = text.read_text("utf-8", "replace")
    book = (given * (LONG // len(given) + 1))[: LONG + MORE]
    click.echo("| vocabulary | work | ours | encoding the whole | times as fast |\n|---|---|---|---|---|")
    for name in PATTERNS:
        tok, other = loaded(folder, name), loaded(folder, min(PATTERNS.keys() - {name}))
        for work, calls, run in checked_work(tok, other, book):
            mine, again = float("inf"), float("inf")
            for _ in range(times):
                mine = min(mine, best(run, calls))
                again = min(again, best(partial(tok.encode, book), 1))
            cells = (name, work, in_units(mine), in_units(again), f"{again / mine:.0f}")
            click.echo(f"| {' | '.join(cells)} |")


def checked_work(
    tok: bpe.Tokenizer, other: bpe.Tokenizer, book: str
) -> list[tuple[str, int, Callable[[], Any]]]:
    """Return what is measured, and how many times in a turn; its results are right."""
    old, more = book[:LONG], book[LONG:]
    ids, whole, array = tok.encode(old), tok.encode(book), tok.encode_to_numpy(old)
    n_keep, new = bpe.ids.append(tok, ids, more)
    must_be("append", ids[:n_keep] + new, whole)
    must_be("reuse", bpe.ids.reuse(tok, ids, book, old_text=old), (n_keep, new))
    must_be("continue_ids", tok.decode(bpe.ids.continue_ids(tok, ids, more)), more)
    must_be("first_noncanonical", bpe.ids.first_noncanonical(tok, array), None)
    some = tok.decode(ids[:ALIGNED])
    a_ids, b_ids = tok.encode_to_numpy(some), other.encode_to_numpy(some)
    places = bpe.ids.align(tok, a_ids, other, b_ids)[2]
    rows = ((tok, a_ids), (other, b_ids))
    ends = [np.cumsum([len(t.token_bytes(i)) for i in row.tolist()]) for t, row in rows]
    must_be("align", places[1:].tolist(), np.intersect1d(*ends).tolist())
    return [
        (f"append {MORE} characters to {len(ids):,} ids", CALLS, lambda: bpe.ids.append(tok, ids, more)),
        ("continue_ids", CALLS, lambda: bpe.ids.continue_ids(tok, ids, more)),
        ("reuse with the old text", CALLS, lambda: bpe.ids.reuse(tok, ids, book, old_text=old)),
        ("reuse without it", 3, lambda: bpe.ids.reuse(tok, ids, book)),
        ("first_noncanonical of an array", 3, lambda: bpe.ids.first_noncanonical(tok, array)),
        ("first_noncanonical of a list", 3, lambda: bpe.ids.first_noncanonical(tok, ids)),
        (f"align {len(a_ids):,} ids", 3, lambda: bpe.ids.align(tok, a_ids, other, b_ids)),
    ]


# -------------------------------------------------------------------------------------------------- seams
@main.command()
@vocabularies_argument
@texts_argument
@click.option("--seed", default=0)
def seams(folder: Path, texts: tuple[Path, ...], seed: int) -> None:
    """Compare with encoding the whole at random seams of texts, and after random drift."""
    chance = random.Random(seed)
    books = [path.read_text("utf-8", "replace") for path in texts]
    click.echo("| vocabulary | seams | ids replaced at most | drifted |\n|---|---|---|---|")
    for name, tok in vocabularies_of(folder):
        most = n_drifted = 0
        for n in range(SEAMS):
            book = books[n % len(books)]
            seam = chance.randrange(len(book))
            before, text = (
                book[max(seam - chance.randrange(AROUND), 0) : seam],
                book[seam : seam + chance.randrange(AROUND)],
            )
            ids, whole = tok.encode_ordinary(before), tok.encode_ordinary(before + text)
            where = f"{name}, {before!r} and {text!r}"
            n_keep, new = bpe.ids.append(tok, ids, text, disallowed_special=())
            must_be(f"append, {where}", ids[:n_keep] + new, whole)
            most = max(most, len(ids) - n_keep)
            must_be(f"is_canonical, {where}", tok.is_canonical(ids), True)
            n_keep, new = bpe.ids.reuse(tok, ids, before + text, old_text=before, disallowed_special=())
            must_be(f"reuse, {where}", ids[:n_keep] + new, whole)
            rest = bpe.ids.continue_ids(tok, ids, text, disallowed_special=())
            if tok.is_lossless:
                must_be(f"continue_ids, {where}", tok.decode_bytes(rest), text.encode())
                if whole[: len(ids)] == ids:
                    must_be(f"continue_ids, {where}", ids + rest, whole)
                drifted = drift(tok, whole, chance)
                place = bpe.ids.first_noncanonical(tok, drifted)
                place_of = first_difference(whole, drifted)
                must_be(f"first_noncanonical, {where}", place, None if place_of < 0 else place_of)
                n_drifted += place is not None
        click.echo(f"| {name} | {SEAMS:,} | {most} | {n_drifted:,} |")


def vocabularies_of(folder: Path) -> Iterator[tuple[str, bpe.Tokenizer]]:
    """Yield published vocabularies, and some that are trained on a novel."""
    yield from ((name, loaded(folder, name)) for name in PATTERNS)
    for pattern in TRAINED:
        yield pattern, bpe.train(NOVEL, 2_000, pattern=pattern, progress=False)
    yield "SuperBPE", bpe.train(NOVEL, 2_000, superwords=bpe.SuperBPE(1_500), progress=False)
    yield "Boundless", bpe.train(NOVEL, 2_000, superwords=bpe.Boundless(), progress=False)
    yield "SentencePiece", of_sentencepiece(NOVEL)
    source = bpe.Pattern.of("cl100k").sources[0].replace(r"\p{N}{1,3}", FROM_THE_RIGHT)
    warnings.simplefilter("ignore")  # the regex package splits by this one
    yield "digits from the right", loaded(folder, "cl100k_base", source)


def of_sentencepiece(text: Path) -> bpe.Tokenizer:
    """Train a model such as that of Llama 2: spaces as they are, bytes for other characters."""
    with TemporaryDirectory() as folder:
        sentencepiece.SentencePieceTrainer.train(
            input=str(text),
            model_prefix=f"{folder}/tokenizer",
            model_type="bpe",
            vocab_size=2_000,
            byte_fallback=True,
            normalization_rule_name="identity",
            remove_extra_whitespaces=False,
            minloglevel=2,
        )
        return bpe.Tokenizer.load(f"{folder}/tokenizer.model")


def drift(tok: bpe.Tokenizer, ids: list[int], chance: random.Random) -> list[int]:
    """Return ids of the same bytes, one token as two others where it has two bytes or more."""
    if not ids:
        return ids
    place = chance.randrange(len(ids))
    token, id_of = tok.token_bytes(ids[place]), tok.engine.vocabulary.id_of
    cuts = [n for n in range(1, len(token)) if token[:n] in id_of and token[n:] in id_of]
    if not cuts:
        return ids
    cut = chance.choice(cuts)
    return [*ids[:place], id_of[token[:cut]], id_of[token[cut:]], *ids[place + 1 :]]


# ------------------------------------------------------------------------------------------------ windows
@main.command()
@vocabularies_argument
@click.argument("text", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--seed", default=0)
def windows(folder: Path, text: Path, seed: int) -> None:
    """Measure which share of seams, and of ids, is wrong where a fixed number of ids is encoded again."""
    warnings.simplefilter("ignore")  # the regex package splits by one of the patterns
    chance = random.Random(seed)
    book = text.read_text("utf-8", "replace")
    right = bpe.Pattern.of("cl100k").sources[0].replace(r"\p{N}{1,3}", FROM_THE_RIGHT)
    tokenizers = {
        "cl100k": loaded(folder, "cl100k_base"),
        "digits from the right": loaded(folder, "cl100k_base", right),
    }
    click.echo("| pattern | text | ids encoded again | wrong seams | wrong ids |\n|---|---|---|---|---|")
    for pattern, tok in tokenizers.items():
        for kind in ("text", "numbers"):
            wrong = {window: [0, 0] for window in (0, *WINDOWS, "append")}
            n_ids = 0
            for _ in range(SEAMS // 10):
                if kind == "text":
                    seam = chance.randrange(len(book))
                    before, more = book[max(seam - 3 * AROUND, 0) : seam], book[seam : seam + AROUND]
                else:
                    number = "".join(chance.choices("0123456789", k=chance.randrange(1, DIGITS)))
                    seam = chance.randrange(len(number))
                    before, more = f"It is {number[:seam]}", f"{number[seam:]}, I think."
                ids, whole = tok.encode_ordinary(before), tok.encode_ordinary(before + more)
                n_ids += len(whole)
                for window, counts in wrong.items():
                    if window == "append":
                        n_keep, new = bpe.ids.append(tok, ids, more, disallowed_special=())
                    else:
                        n_keep = max(len(ids) - window, 0)
                        new = tok.encode_ordinary(tok.decode_bytes(ids[n_keep:]) + more.encode())
                    found = ids[:n_keep] + new
                    counts[0] += found != whole
                    counts[1] += n_wrong(tok, found, whole)
            for window, (n_seams, n) in wrong.items():
                cells = (pattern, kind, str(window), f"{10 * n_seams / SEAMS:.2%}", f"{n / n_ids:.3%}")
                click.echo(f"| {' | '.join(cells)} |")
            must_be("append", wrong["append"], [0, 0])


# -------------------------------------------------------------------------------------------------- masks
@main.command()
@vocabularies_argument
@texts_argument
@click.option("--most", default=200_000, help="Ids of each text that are pushed.")
def masks(folder: Path, texts: tuple[Path, ...], most: int) -> None:
    """Push the ids of texts; measure masks, and how many ids a filter by pairs alone forbids."""
    columns = (
        "vocabulary", "text", "ids", "forbidden", "by pairs alone",
        "first state", "push", "new mask, median", "99 %", "known mask",
    )  # fmt: skip
    click.echo(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    small = bpe.train(["low lower"], vocab_size=258, progress=False)
    bpe.ids.canonical_state(small, small.encode("low é")).mask()  # compiles
    for name in PATTERNS:
        tok = loaded(folder, name)
        started = perf_counter()
        state = bpe.ids.canonical_state(tok)
        state.mask()
        build = perf_counter() - started
        alone = bpe.Tokenizer._of(tok.engine.vocabulary, bpe.Pattern.of("none"))
        bpe.ids.canonical_state(alone, tok.encode_ordinary("It is")).mask()
        out = np.empty(tok.vocab_size, bool)
        for path in texts:
            ids = tok.encode_ordinary(path.read_text("utf-8", "replace"))[:most]
            state, n_pairs, pushes, new = bpe.ids.canonical_state(tok), 0, list[float](), list[float]()
            for n, token_id in enumerate(ids):
                if n < MASKS:
                    started = perf_counter()
                    state.mask(out)
                    new.append(perf_counter() - started)
                    must_be(f"{name}, {path}, id {n} may follow", bool(out[token_id]), True)
                started = perf_counter()
                must_be(f"{name}, {path}, id {n}", state.push(token_id), True)
                pushes.append(perf_counter() - started)
            for pair in pairwise(ids):
                n_pairs += not bpe.ids.canonical_state(alone, pair[:1]).push(pair[1])
            known = best(lambda: state.mask(out), CALLS)  # noqa: B023
            times = (build, np.median(pushes), np.median(new), np.percentile(new, 99), known)
            cells = (name, path.name, f"{len(ids):,}", "0", f"{n_pairs / max(len(ids), 1):.2%}")
            click.echo(f"| {' | '.join([*cells, *map(in_units, times)])} |")


@main.command()
@vocabularies_argument
@texts_argument
@click.option("--megabytes", default=20, help="Of each text.")
@click.option("--processes", default=os.cpu_count())
def refused(folder: Path, texts: tuple[Path, ...], megabytes: int, processes: int) -> None:
    """Look at the mask before each id of texts, which are cut into documents."""
    click.echo(f"| vocabulary | text | documents | ids | refused | time |\n|{'---|' * 6}")
    for name in PATTERNS:
        with ProcessPoolExecutor(processes, initializer=begin_walks, initargs=(folder, name)) as pool:
            for path in texts:
                started = perf_counter()
                with path.open("rb") as file:
                    documents = file.read(megabytes * 1_000_000).split(SEPARATOR)
                documents[-1] = documents[-1].decode(errors="ignore").encode()
                found = [*pool.map(walk, documents)]
                if places := [(n, place) for n, (_, place) in enumerate(found) if place is not None]:
                    sys.exit(
                        f"{name}, {path}: document {places[0][0]} has an id that is refused, {places[0][1]}"
                    )
                n_ids, seconds = sum(n for n, _ in found), f"{perf_counter() - started:.0f} s"
                cells = (name, path.name, f"{len(documents):,}", f"{n_ids:,}", "0", seconds)
                click.echo(f"| {' | '.join(cells)} |")


WALKED: dict[str, Any] = {}  # in a process of its own: the tokenizer, and where ids lead


def begin_walks(folder: Path, name: str) -> None:
    WALKED.update(tok=loaded(folder, name), after={})


def walk(document: bytes) -> tuple[int, int | None]:
    """Return the number of ids of a text, and the place of the first that is refused."""
    tok, after = WALKED["tok"], WALKED["after"]
    tokens = tok.engine.next_tokens
    ids, here = tok.encode_ordinary(document), tokens.first
    for place, token_id in enumerate(ids):
        if (here, token_id) in after:
            here = after[here, token_id]
            continue
        following = tokens.after(here, token_id, False)
        if not (following and tokens.mask(here)[token_id]):
            return len(ids), place
        if len(after) > WALKS:
            after.clear()
        after[here, token_id] = following
        here = following
    return len(ids), None if tokens.may_end(here) else len(ids)


@main.command()
@vocabularies_argument
@click.argument("text", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def memory(folder: Path, text: Path) -> None:
    """Measure what is allocated for the first state of a tokenizer, and after masks and covers of a text."""
    click.echo("| vocabulary | first state, MB | after masks | after covers |\n|---|---|---|---|")
    for name in PATTERNS:
        tok = loaded(folder, name)
        book = text.read_text("utf-8", "replace")
        ids = tok.encode_ordinary(book)[:MASKS]
        tracemalloc.start()
        state = bpe.ids.canonical_state(tok)
        sizes = [tracemalloc.get_traced_memory()[0]]
        for token_id in ids:
            state.mask()
            state.push(token_id)
        sizes.append(tracemalloc.get_traced_memory()[0])
        bpe.ids.covers(tok, book[:LONG])
        sizes.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
        click.echo(f"| {' | '.join([name, *(f'{size / 1e6:.1f}' for size in sizes)])} |")


# ------------------------------------------------------------------------------------------------- covers
@main.command()
@vocabularies_argument
@texts_argument
@click.option("--seed", default=0)
def covers(folder: Path, texts: tuple[Path, ...], seed: int) -> None:
    """Find the covers of beginnings of texts that are cut anywhere, the second time: tables are made then."""
    columns = ("vocabulary", "text", "covers, median", "paths at most", "median", "99 %", "at most")
    click.echo(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    chance = random.Random(seed)
    for name in PATTERNS:
        tok = loaded(folder, name)
        for path in texts:
            data = path.read_bytes()[: 20 * LONG].decode(errors="ignore").encode()
            times, sizes, n_paths = list[float](), list[int](), list[int]()
            for _ in range(PREFIXES):
                start = chance.randrange(max(len(data) - PREFIX - AROUND, 1))
                start += next(n for n in range(4) if data[start + n] & 0xC0 != 0x80)
                prefix, whole = data[start : start + PREFIX], data[start : start + PREFIX + AROUND]
                found = bpe.ids.covers(tok, prefix)
                ids = tok.encode_ordinary(whole.decode(errors="ignore"))
                fitting = [
                    before for before, last in found.paths
                    if ids[: len(before)] == before and ids[len(before)] in last
                ]  # fmt: skip
                must_be(f"{name}, {path}, byte {start}: covers", len(fitting), 1)
                times.append(best(partial(bpe.ids.covers, tok, prefix), 3))
                sizes.append(len(found))
                n_paths.append(len(found.paths))
            timed = (np.median(times), np.percentile(times, 99), max(times))
            cells = (name, path.name, f"{np.median(sizes):.0f}", str(max(n_paths)), *map(in_units, timed))
            click.echo(f"| {' | '.join(cells)} |")


def n_wrong(tok: bpe.Tokenizer, found: list[int], whole: list[int]) -> int:
    """Return how many ids are not those of the whole at the same bytes."""
    a_cuts, b_cuts, _ = bpe.ids.align(tok, found, tok, whole)
    is_one = (np.diff(a_cuts) == 1) & (np.diff(b_cuts) == 1)
    return int(np.diff(a_cuts)[~is_one].sum())


if __name__ == "__main__":
    main()
