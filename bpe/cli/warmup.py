"""``bpe warmup``: compile everything in advance."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from bpe.cli.app import main, warn

if TYPE_CHECKING:
    from bpe.tokenizer import Tokenizer

SELECTIONS: tuple[Literal["heap", "buckets"], ...] = ("heap", "buckets")
TIES: tuple[Literal["smallest", "lexicographic", "first"], ...] = ("smallest", "lexicographic", "first")
TEXTS = ["the cat and the hat " * 50, "naïve 中文 123\n", "x" * 1000 + " " + "ab" * 500, "<|end|>"]
HELPER = "from bpe.cli.warmup import use_encoding; use_encoding()"


@main.command()
def warmup() -> None:
    """Compile everything once, for all later runs.

    Run it while a container image is built. The compiled code is kept on disk, in __pycache__ beside
    the sources or in the folder that NUMBA_CACHE_DIR names. Every later process loads it, and starts at once.
    With two processor cores, two processes compile.

    \b
    Example:
      bpe warmup
    """  # noqa: D301
    from bpe.support.threads import n_threads

    started = time.perf_counter()
    if n_threads(None) > 1:
        _use_both()
    else:
        use_training()
        use_encoding()
    click.echo(f"compiled, or loaded, in {time.perf_counter() - started:.1f} s", err=True)


def _use_both() -> None:
    """Compile training in this process and encoding in another one; both here if that process fails."""
    with tempfile.TemporaryFile() as messages:
        helper = subprocess.Popen(
            [sys.executable, "-c", HELPER],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=messages,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            start_new_session=True,  # Ctrl-C interrupts only this process
        )
        try:
            use_training()
            code = helper.wait()
        finally:
            helper.kill()
            helper.wait()
        messages.seek(0)
        lines = messages.read().decode(errors="replace").split("\n")
    if code:
        reason = next(filter(None, reversed(lines)), f"it ended with code {code}")
        warn(f"the second process failed, so the first does its work: {reason}")
        use_encoding()


def use_training() -> None:
    """Compile the kernels of counting and training by calling them."""
    from bpe.counting.word_counts import WordCounts
    from bpe.splitting.pattern import everything_compiled
    from bpe.trainer import Trainer

    with everything_compiled():
        counts = WordCounts.from_corpus(TEXTS * 50, "gpt2", ["<|end|>"], threads=2, progress=False)
        counts += WordCounts.from_corpus([b"bytes \xff"], "gpt2", ["<|end|>"], progress=False)
        for selection in SELECTIONS:
            for ties in TIES:
                Trainer(counts, selection=selection, ties=ties).run(300)


def use_encoding() -> None:
    """Compile the kernels of all patterns and of encoding by calling them."""
    from bpe.counting.word_counts import WordCounts
    from bpe.formats.ranks import merges_of
    from bpe.splitting.pattern import PATTERNS, everything_compiled
    from bpe.splitting.special_search import SpecialSearch
    from bpe.trainer import train

    tokenizer = train(TEXTS, vocab_size=300, special_tokens=["<|end|>"], progress=False)  # in plain Python
    with everything_compiled():
        _use(_of_sentencepiece())
        _use(tokenizer)
        many = frozenset(map(str, range(1000)))  # enough for the automaton to be used
        SpecialSearch(many).split(b"1 2")
        merges_of({bytes([value]): value for value in range(256)})
        for pattern in PATTERNS:
            WordCounts.from_corpus(TEXTS, pattern, ["<|end|>"], progress=False)


def _of_sentencepiece() -> Tokenizer:
    """Return a tokenizer that does not split, like those of SentencePiece, with merges out of order."""
    from bpe.tokenizer import Tokenizer

    tokens = [
        "<unk>",
        *(f"<0x{value:02X}>" for value in range(256)),
        *"▁thecanxb",
        "▁t",
        "th",
        "he",
        "▁th",
        "the",
    ]
    merges = [["t", "he"], ["▁", "th"], ["t", "h"], ["▁", "t"], ["h", "e"]]
    document: dict[str, Any] = {
        "added_tokens": [],
        "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": {
            "type": "Sequence",
            "decoders": [
                {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
                {"type": "ByteFallback"},
                {"type": "Fuse"},
            ],
        },
        "model": {
            "type": "BPE",
            "unk_token": "<unk>",
            "fuse_unk": True,
            "byte_fallback": True,
            "vocab": {token: token_id for token_id, token in enumerate(tokens)},
            "merges": merges,
        },
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tokenizer.json")
        path.write_text(json.dumps(document), "utf-8")
        return Tokenizer.from_huggingface(path)


def _use(tokenizer: Tokenizer) -> None:
    """Call all methods of a tokenizer that compile kernels."""
    tokenizer.encode_batch(TEXTS, threads=2, disallowed_special=())
    tokenizer.encode_batch_to_numpy(TEXTS, disallowed_special=())
    tokenizer.decode_batch([tokenizer.encode(text, allowed_special="all") for text in TEXTS])
    text = "".join(TEXTS[:3])
    tokenizer.encode_with_offsets(text)
    tokenizer.count(text)
    tokenizer.truncate(text, 20)
    tokenizer.interval_counter(text).count_many([0, 5], [10, 50])
    if tokenizer.is_lossless:
        tokenizer.encode_with_dropout(text, 0.1, seed=1)
    stream, growing = tokenizer.stream_encoder(), tokenizer.appendable_encoder()
    for part in TEXTS[:3]:
        stream.feed(part)
        growing.append(part)
    stream.finish()
    growing.ids()
