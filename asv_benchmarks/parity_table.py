"""Train on several languages in the ordinary way, and so that they are treated alike; both as Markdown.

    python asv_benchmarks/parity_table.py CORPUS [--vocab-size N]

The corpus has documents in Russian, Korean and Hindi, told by their scripts, separated by ``<|endoftext|>``.
One of them in each language is the Universal Declaration of Human Rights: its first half is the development
text, its second half is what tokens are counted in. Then the same is trained by ``ParityBpeTrainer`` of
tokenizers, on one thread, from text to merges; the merges are compared, then the times.
"""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path

import click

import bpe
from bpe.vocabulary.byte_level import text_of

LANGUAGES = {  # the letters, and the title of the declaration
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
        [bpe.WordCounts.from_corpus(text, threads=1) for text in texts]
        for texts in (training, [[text] for text in dev])
    )
    languages, dev_texts = (dict(zip(LANGUAGES, each, strict=True)) for each in (counts, dev_counts))
    return bpe.train_parity(languages, vocab_size, dev=dev_texts, ties="gpt2")


def train_there(training: list[list[str]], dev: list[str], vocab_size: int) -> list[tuple[str, str]]:
    """Return the merges of tokenizers."""
    os.environ |= {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    import tokenizers

    tok = tokenizers.Tokenizer(tokenizers.models.BPE())
    tok.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = tokenizers.trainers.ParityBpeTrainer(num_merges=vocab_size - 256, show_progress=False)
    trainer.train_from_iterator(tok, [*map(iter, training)], [iter([text]) for text in dev])
    return [tuple(pair) for pair in json.loads(tok.to_str())["model"]["merges"]]


@click.command()
@click.argument("corpus", type=click.Path(exists=True, path_type=Path))
@click.option("--vocab-size", default=32_000)
@click.option("--times", default=3, help="Runs of ours, of which the fastest counts.")
def main(corpus: Path, vocab_size: int, times: int) -> None:
    """Print a table of tokens per word, and how the times compare."""
    documents = corpus.read_text("utf-8").split("<|endoftext|>")
    training, dev, unseen = zip(*(texts_of(documents, *each) for each in LANGUAGES.values()), strict=True)
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        fair = train_here([*training], [*dev], vocab_size)
        seconds.append(time.perf_counter() - start)
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
    start = time.perf_counter()
    theirs = train_there([*training], [*dev], vocab_size)
    slow = time.perf_counter() - start
    ours = [tuple(text_of(fair.token_bytes(number)) for number in pair) for pair in fair.merges]
    if ours != theirs:
        raise SystemExit("the merges differ from those of tokenizers")
    click.echo(
        f"\n{len(ours)} merges, the same as those of tokenizers: {min(seconds):.2f} s here, "
        f"{slow:.1f} s there, {slow / min(seconds):.1f} times."
    )


if __name__ == "__main__":
    main()
