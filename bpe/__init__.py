"""Byte-pair encoding: train tokenizers, encode and decode text.

>>> import bpe
>>> bpe.split("gpt2", "Hello world!")
['Hello', ' world', '!']

* :func:`train`, :class:`Trainer`: learn merges from text
* :func:`train_parity`: the same from several languages, so that all are encoded equally well
* :class:`Tokenizer`: encode, decode, save, load
* :func:`pad_batch`: rows of equal length with a mask, from the ids of a batch
* :class:`TiktokenEncoding`: a tokenizer with the methods of tiktoken
* :class:`Corpus`, :class:`WordCounts`, :func:`count_words`: text from files, and the counts of its pieces
* :class:`SuperBPE`, :class:`Boundless`: two ways to learn tokens that join words
* :class:`RunCounts`, :func:`count_runs`: counts of words and of runs of words, to learn such tokens from
* :mod:`bpe.ids`: more text after ids, whether a text gives them, two tokenizers over one text
* :mod:`bpe.hf`: for programs that take a tokenizer of Hugging Face's transformers
* :func:`temperature_weights`: how much each source counts, from their sizes
* :func:`split`, :class:`Pattern`, :data:`PATTERNS`: how text is cut into pieces
* :func:`warmup`: load compiled code at once, before the first text
* :func:`everything_compiled`: for measurements, as plain Python encodes the first short texts of a process

Everything is loaded at first use, so that ``import bpe`` takes no time.
"""

import importlib
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bpe import hf as hf
    from bpe import ids as ids
    from bpe.auditing import Audit
    from bpe.corpus import Corpus
    from bpe.counting.clusters import count_words
    from bpe.counting.weights import temperature_weights
    from bpe.counting.word_counts import WordCounts
    from bpe.encoding.padding import pad_batch
    from bpe.first_use import warmup
    from bpe.id_files.encode import EncodedFiles
    from bpe.id_files.shards import EncodedShards
    from bpe.splitting.pattern import PATTERNS, Pattern, everything_compiled, split
    from bpe.superwords.boundless import Boundless
    from bpe.superwords.counted_runs import RunCounts, count_runs
    from bpe.superwords.superbpe import SuperBPE
    from bpe.tiktoken_encoding import TiktokenEncoding
    from bpe.tokenizer import Tokenizer
    from bpe.trainer import Merge, Trainer, train, train_parity

    __version__: str

__all__ = [
    "PATTERNS",
    "Audit",
    "Boundless",
    "Corpus",
    "EncodedFiles",
    "EncodedShards",
    "Merge",
    "Pattern",
    "RunCounts",
    "SuperBPE",
    "TiktokenEncoding",
    "Tokenizer",
    "Trainer",
    "WordCounts",
    "__version__",
    "count_runs",
    "count_words",
    "everything_compiled",
    "pad_batch",
    "split",
    "temperature_weights",
    "train",
    "train_parity",
    "warmup",
]

_MODULE_OF = {
    "Audit": "bpe.auditing",  # what Tokenizer.audit returns
    "Boundless": "bpe.superwords.boundless",
    "Corpus": "bpe.corpus",
    "EncodedFiles": "bpe.id_files.encode",  # what Tokenizer.encode_files returns
    "EncodedShards": "bpe.id_files.shards",  # what Tokenizer.encode_shards returns
    "FilePart": "bpe.corpus.reading",  # what a Corpus holds
    "Merge": "bpe.trainer",  # what a Trainer learns
    "PATTERNS": "bpe.splitting.pattern",
    "Pattern": "bpe.splitting.pattern",
    "RunCounts": "bpe.superwords.counted_runs",
    "SuperBPE": "bpe.superwords.superbpe",
    "TiktokenEncoding": "bpe.tiktoken_encoding",
    "Tokenizer": "bpe.tokenizer",
    "Trainer": "bpe.trainer",
    "WordCounts": "bpe.counting.word_counts",
    "count_runs": "bpe.superwords.counted_runs",
    "count_words": "bpe.counting.clusters",
    "everything_compiled": "bpe.splitting.pattern",
    "pad_batch": "bpe.encoding.padding",
    "split": "bpe.splitting.pattern",
    "temperature_weights": "bpe.counting.weights",
    "train": "bpe.trainer",
    "train_parity": "bpe.trainer",
    "warmup": "bpe.first_use",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version()
    if name in ("hf", "ids"):
        return importlib.import_module(f"bpe.{name}")
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULE_OF[name]), name)


def _version() -> str:
    from importlib import metadata

    try:
        return metadata.version("bpe-structures")
    except metadata.PackageNotFoundError:  # run from a checkout
        return "0+unknown"


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF, "__version__"})


def _refuse_another(name: str, mark: str) -> None:
    """Raise ``ImportError`` if Python finds a module of this name that does not contain the mark of ours."""
    try:
        spec: Any = PathFinder.find_spec(name)
        source = spec.loader.get_data(spec.origin)
    except (AttributeError, ImportError, OSError, ValueError):
        return
    if mark.encode() not in source:
        raise ImportError(
            f"{spec.origin} is not the module {name!r} of bpe-structures, but another of this name. "
            "Rename it if it is yours; else uninstall its distribution and reinstall bpe-structures"
        )


_refuse_another("structures", "IndexedMaxHeap")
