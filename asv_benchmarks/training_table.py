"""Training: large corpora, languages that are treated alike, tokens that join words; tables in Markdown.

    python asv_benchmarks/training_table.py large CORPUS             where the time goes
    python asv_benchmarks/training_table.py parity CORPUS            beside tokenizers
    python asv_benchmarks/training_table.py superwords TEXT ...      with superwords and without

Documents are separated by ``<|endoftext|>``. What is learned is compared first.
"""

from __future__ import annotations

import json
import math
import multiprocessing
import os
import random
import re
import resource
import sys
import tempfile
import time
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, cycle
from pathlib import Path
from typing import Any

import click
import numpy as np
from measuring import FILE, best, texts_argument, times_option
from same import SPECIAL, gpt2_characters

import bpe


@click.group(help=__doc__)
def main() -> None: ...


def took(run: Any) -> tuple[Any, float]:
    """Return a result, and the seconds that it took."""
    start = time.perf_counter()
    result = run()
    return result, time.perf_counter() - start


# ----------------------------------------------------------------------------------------------------- large
@main.command()
@click.argument("path", metavar="CORPUS", type=FILE)
@click.option("--vocab-size", default=32_000)
@times_option
def large(path: Path, vocab_size: int, times: int) -> None:
    """Print seconds of counting, of merging in each way, and of encoding and decoding every document.

    Both selections must learn the same merges, and every document must decode to what it was encoded from.
    """
    counts, seconds = took(lambda: bpe.count_words(path, special_tokens=[SPECIAL]))
    rows = [("count", seconds)]
    for ties in ("smallest", "lexicographic"):
        learned = {}
        for selection in ("heap", "buckets"):

            def merge(words: bpe.WordCounts, size: int, selection=selection, ties=ties) -> list[Any]:
                trainer = bpe.Trainer(words, selection=selection, ties=ties)
                trainer.run(size)
                return trainer.merges

            merge(bpe.WordCounts({"abab": 2}), 260)  # compiles
            learned[selection] = merge(counts, vocab_size)
            seconds = best(lambda merge=merge: merge(counts, vocab_size), times)
            rows.append((f"merge, selection {selection}, ties {ties}", seconds))
        if learned["heap"] != learned["buckets"]:
            sys.exit(f"the selections learn different merges with ties {ties}")
    tok = bpe.train(counts, vocab_size, progress=False)
    documents = path.read_bytes().split(SPECIAL.encode())

    def there_and_back() -> int:
        n_tokens = 0
        for number, document in enumerate(documents):
            ids = tok.encode_to_numpy(document)
            n_tokens += len(ids)
            if tok.decode_bytes(ids) != document:
                sys.exit(f"document {number} does not decode to what it was")
        return n_tokens

    n_tokens, seconds = took(there_and_back)
    rows.append(("encode and decode", seconds))
    click.echo(
        f"{path.name}: {path.stat().st_size / 1e6:.1f} MB, {len(counts)} distinct words, "
        f"{counts.total} words\nvocabulary {tok.vocab_size}; {len(documents)} documents, {n_tokens} tokens, "
        f"all come out again\n"
    )
    click.echo("| | seconds |\n|---|---|\n" + "\n".join(f"| {name} | {spent:.2f} |" for name, spent in rows))


# ---------------------------------------------------------------------------------------------------- parity
LANGUAGES = {  # the letters, and the title of the Universal Declaration of Human Rights
    "Russian": ("[Ѐ-ӿ]", "Всеобщая декларация прав человека"),
    "Korean": ("[가-힣]", "세 계 인 권 선 언"),
    "Hindi": ("[ऀ-ॿ]", "मानव अधिकारों की सार्वभौम घोषणा"),
}
SHARE = 0.2  # of the characters at the beginning of a document


def texts_of(documents: list[str], letters: str, title: str) -> tuple[list[str], str, str]:
    """Return the training text of a language, its development text, and the text for counting."""
    training, declaration = [], ""
    for document in documents:
        beginning = document[:4000]
        if document.lstrip().startswith(title):
            declaration = document
        elif len(re.findall(letters, beginning)) > SHARE * len(beginning):
            training.append(document)
    lines = declaration.splitlines(keepends=True)
    half = len(lines) // 2
    return training, "".join(lines[:half]), "".join(lines[half:])


def train_here(training: list[list[str]], dev: list[str], vocab_size: int) -> bpe.Tokenizer:
    """Train from text, on one thread."""
    counts, dev_counts = (
        [bpe.count_words(text, threads=1) for text in texts] for texts in (training, [[text] for text in dev])
    )
    languages, dev_texts = (dict(zip(LANGUAGES, each, strict=True)) for each in (counts, dev_counts))
    return bpe.train_parity(languages, vocab_size, dev=dev_texts, ties="gpt2")


def train_there(training: list[list[str]], dev: list[str], vocab_size: int) -> list[tuple[bytes, ...]]:
    """Return the merges of tokenizers."""
    os.environ |= {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    import tokenizers

    tok = tokenizers.Tokenizer(tokenizers.models.BPE())
    tok.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = tokenizers.trainers.ParityBpeTrainer(num_merges=vocab_size - 256, show_progress=False)
    trainer.train_from_iterator(tok, [*map(iter, training)], [iter([text]) for text in dev])
    merges, byte_of = json.loads(tok.to_str())["model"]["merges"], gpt2_characters()
    return [tuple(bytes(map(byte_of.__getitem__, token)) for token in pair) for pair in merges]


@main.command()
@click.argument("corpus", type=FILE)
@click.option("--vocab-size", default=32_000)
@times_option
def parity(corpus: Path, vocab_size: int, times: int) -> None:
    """Print tokens per word in Russian, Korean and Hindi, of ordinary training and of parity-aware training.

    One document of each language is the Universal Declaration of Human Rights: its first half is the
    development text, its second half is what tokens are counted in. The same is trained by ParityBpeTrainer
    of tokenizers, on one thread, from text to merges; the merges are compared, then the times.
    """
    documents = corpus.read_text("utf-8").split(SPECIAL)
    training, dev, unseen = zip(*(texts_of(documents, *each) for each in LANGUAGES.values()), strict=True)
    fair = train_here([*training], [*dev], vocab_size)
    seconds = best(lambda: train_here([*training], [*dev], vocab_size), times)
    plain = bpe.train([document for text in training for document in text], vocab_size)
    click.echo("| language | training text, MB | tokens per word: ordinary | parity |\n|---|---|---|---|")
    for name, text, sample in zip(LANGUAGES, training, unseen, strict=True):
        n_words = len(sample.split())
        size = sum(len(document.encode()) for document in text) / 1e6
        per_word = [f"{tok.count(sample) / n_words:.2f}" for tok in (plain, fair)]
        click.echo(f"| {name} | {size:.1f} | {' | '.join(per_word)} |")
    most, least = (
        [pick(tok.count(sample) for sample in unseen) for tok in (plain, fair)] for pick in (max, min)
    )
    ratios = " | ".join(f"{a / b:.2f}" for a, b in zip(most, least, strict=True))
    click.echo(f"| most tokens of a text / least | | {ratios} |")
    theirs, slow = took(lambda: train_there([*training], [*dev], vocab_size))
    if fair.merges_bytes != theirs:
        raise SystemExit("the merges differ from those of tokenizers")
    click.echo(
        f"\n{len(theirs)} merges, the same as those of tokenizers: {seconds:.2f} s here, "
        f"{slow:.1f} s there, {slow / seconds:.1f} times."
    )


# ------------------------------------------------------------------------------------------------ superwords
ROWS: dict[str, dict[str, Any]] = {
    "ordinary": {},
    "superbpe, 9 of 10 merges in words": {"first": 0.9},
    "superbpe, half of the merges in words": {"first": 0.5},
    "boundless": {"superwords": bpe.Boundless()},
    "parity": {"parity": True},
}
MOST_UNSEEN = 5_000_000  # bytes
JUMPS = 6  # one word in so many
PART = 1_000_000  # bytes


def made_of(paths: Sequence[Path], size: int) -> Iterator[bytes]:
    """Yield texts, and then what is made of each in turn, `size` bytes in all and up to a megabyte more."""
    texts = [path.read_bytes() for path in paths]
    made = (
        cycle([more_of(text, seed) for seed, text in enumerate(texts)]) if sum(map(len, texts)) < size else ()
    )
    for part in chain(texts, (next(source) for source in made)):
        yield part[:size]
        size -= len(part)
        if size <= 0:
            return


def more_of(text: bytes, seed: int) -> Iterator[bytes]:
    """Yield made text without end, a megabyte at a time.

    It goes on as the real one does. But after one word in six it jumps to another place, anywhere, where that
    word stands, and goes on from there. So pairs of words are as frequent as in the real text, and no word is
    new; but there are ever more different sentences and runs of words.
    """
    found = [(word.end(), hash(word.group())) for word in re.finditer(rb"\S+\s*", text)]
    ends, hashes = np.array(found, np.int64).T
    starts = np.append(ends[0] * 0, ends[:-1])
    _, group_of, sizes = np.unique(hashes, return_inverse=True, return_counts=True)
    places = np.argsort(group_of, kind="stable")  # of the words of each group, one group after the other
    first = np.cumsum(sizes) - sizes
    chance = random.Random(seed)
    word = chance.randrange(len(ends))
    while True:
        parts, n = [], 0
        while n < PART:
            last = min(word + int(math.log(1 - chance.random(), 1 - 1 / JUMPS)), len(ends) - 1)
            parts.append(text[starts[word] : ends[last]])
            n += len(parts[-1])
            group = group_of[last]
            word = int(places[first[group] + chance.randrange(sizes[group])]) + 1
            word = word if word < len(ends) else 0
        yield b"".join(parts)


def script_of(document: str) -> str:
    """Return the script of most letters at the beginning of a document, as Unicode names it."""
    letters = filter(str.isalpha, document[:400])
    names = Counter(unicodedata.name(letter, "OTHER").split(maxsplit=1)[0] for letter in letters)
    return max(names, key=names.__getitem__, default="OTHER")


def train_parity(path: str, vocab_size: int, threads: int) -> bpe.Tokenizer:
    """Train so that all scripts are treated alike."""
    documents: dict[str, list[str]] = {}
    for document in Path(path).read_text("utf-8", errors="replace").split(SPECIAL):
        documents.setdefault(script_of(document), []).append(document)
    rules = {"special_tokens": [SPECIAL], "threads": threads}
    counts = {name: bpe.count_words(texts, **rules) for name, texts in documents.items() if any(texts)}
    return bpe.train_parity(counts, vocab_size)


def measured(
    path: str, unseen: bytes, vocab_size: int, options: dict[str, Any], threads: int
) -> tuple[float, ...]:
    """Return bytes per token, seconds, peak memory in MB, megabytes a second, superwords."""
    given = dict(options)
    if "first" in given:
        given["superwords"] = bpe.SuperBPE(int(given.pop("first") * (vocab_size - 257)))
    start = time.perf_counter()
    if given.pop("parity", False):
        tok = train_parity(path, vocab_size, threads)
    else:
        tok = bpe.train(Path(path), vocab_size, special_tokens=[SPECIAL], threads=threads, **given)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    ids = tok.encode_to_numpy(unseen, allowed_special="all")
    spent = best(lambda: tok.encode_to_numpy(unseen, allowed_special="all"), 5)
    n_joined = sum(b" " in token[1:].strip() for token in tok.vocab.values())
    return len(unseen) / len(ids), seconds, peak, len(unseen) / 1e6 / spent, n_joined


@main.command()
@texts_argument
@click.option("--vocab-size", "sizes", multiple=True, type=int, default=[32_000])
@click.option("--megabytes", default=5.0)
@click.option("--threads", default=2)
@click.option("--row", "rows", multiple=True, type=click.Choice([*ROWS]), default=[*ROWS])
def superwords(
    texts: tuple[Path, ...], sizes: tuple[int, ...], megabytes: float, threads: int, rows: tuple[str, ...]
) -> None:
    """Print bytes per token, time and memory, with superwords and without; a table for each vocabulary size.

    The first megabytes of the texts, one after the other, are what is trained on. Where that is more than
    they have, the rest is made of them. Bytes per token are of the tenth that follows, 5 MB at most, and so
    is the speed of encoding: on one thread, the best of five times. Each training runs in a process of its
    own, from reading the file to the tokenizer: its memory is the most that the process had. Compile
    everything before, with a small run. Languages of parity-aware training are the scripts of documents.
    """
    size = int(megabytes * 1e6)
    n_unseen = min(size // 10, MOST_UNSEEN)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "text.txt")
        with open(path, "w+b") as file:
            for part in made_of(texts, size + n_unseen):
                file.write(part)
            file.seek(size)
            unseen = file.read(n_unseen)
            file.truncate(size)
        for vocab_size in sizes:
            click.echo(f"\n{vocab_size} tokens, {path.stat().st_size / 1e6:.0f} MB\n")
            click.echo(
                "| training | bytes per token | seconds | peak memory, MB | encoding, MB/s | superwords |"
            )
            click.echo("|---|---|---|---|---|---|")
            for name in rows:
                arguments = str(path), unseen, vocab_size, ROWS[name], threads
                with multiprocessing.get_context("spawn").Pool(1) as pool:
                    per_token, seconds, peak, speed, n_joined = pool.apply(measured, arguments)
                figures = f"{per_token:.2f} | {seconds:.1f} | {peak:.0f} | {speed:.0f} | {n_joined:.0f}"
                click.echo(f"| {name} | {figures} |")


if __name__ == "__main__":
    main()
