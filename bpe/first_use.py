"""``warmup``: load what is compiled, or compile it, before the first text comes.

Everything is compiled by being called: training in all its choices, all patterns, and all methods of two
tokenizers, one of each kind of engine. The command ``bpe warmup`` does the same in two processes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from bpe.tokenizer import Tokenizer

# Imports are in functions: every command loads this module.

SELECTIONS: tuple[Literal["heap", "buckets"], ...] = ("heap", "buckets")
TIES: tuple[Literal["smallest", "lexicographic", "first"], ...] = ("smallest", "lexicographic", "first")


def warmup() -> None:
    """Load all compiled code in this process, at once; compile what is not on disk yet.

    Otherwise the first call that needs compiled code waits for it. A server that has one tokenizer calls
    :meth:`Tokenizer.warmup`, which is quicker.

    Complexity
    ----------
    Some seconds; the first time of an installation a minute or more, unless ``bpe warmup`` was run.

    Examples
    --------
    >>> import bpe
    >>> bpe.warmup()  # doctest: +SKIP
    """
    use_training()
    use_encoding()


def use_training() -> None:
    """Compile the kernels of counting and training by calling them."""
    from bpe.counting.clusters import count_words
    from bpe.splitting.pattern import everything_compiled
    from bpe.tokenizer import WARM_TEXTS
    from bpe.trainer import Trainer

    with everything_compiled():
        counts = count_words(WARM_TEXTS * 50, "gpt2", ["<|end|>"], threads=2, progress=False)
        counts += count_words([b"bytes \xff"], "gpt2", ["<|end|>"], progress=False)
        for selection in SELECTIONS:
            for ties in TIES:
                Trainer(counts, selection=selection, ties=ties).run(300)


def use_encoding() -> None:
    """Compile the kernels of all patterns and of encoding by calling them."""
    from bpe.counting.clusters import count_words
    from bpe.formats.ranks import merges_of
    from bpe.splitting.pattern import PATTERNS, everything_compiled
    from bpe.splitting.special_search import SpecialSearch
    from bpe.tokenizer import WARM_TEXTS
    from bpe.trainer import train

    # In plain Python, which needs nothing compiled.
    tokenizer = train(WARM_TEXTS, vocab_size=300, special_tokens=["<|end|>"], progress=False)
    with everything_compiled():
        _of_sentencepiece().warmup()
        tokenizer.warmup()
        many = frozenset(map(str, range(1000)))  # enough for the automaton to be used
        SpecialSearch(many).split(b"1 2")
        merges_of({bytes([value]): value for value in range(256)})
        for pattern in PATTERNS:
            count_words(WARM_TEXTS, pattern, ["<|end|>"], progress=False)


def _of_sentencepiece() -> Tokenizer:
    """Return a tokenizer that does not split, like those of SentencePiece, with merges out of order."""
    from bpe.formats.huggingface import of_document
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
    return Tokenizer._of(*of_document(document))
