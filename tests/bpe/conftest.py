from collections import Counter
from pathlib import Path

import pytest

import bpe
from bpe import reference
from bpe.tokenizer import Tokenizer
from bpe.vocabulary.vocabulary import Vocabulary

SPECIALS = ["<|end|>", "<|fim|>", "  <x> "]


@pytest.fixture(scope="session", autouse=True)
def _silent_compiler():
    """No line about compiling: what is printed does not depend on what tests before have compiled."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BPE_SAY_COMPILING", "0")
        yield


@pytest.fixture(scope="session")
def book():
    return (Path(__file__).parent.parent / "data" / "treasure_island.txt").read_text("utf-8")[:100_000]


@pytest.fixture(scope="session")
def merges(book):
    """What the slow trainer learns from some pages."""
    counts = Counter(bpe.Pattern.of("gpt2").split_bytes(book[:20_000].encode()))
    return [merge.pair for merge in reference.train_indexed(counts, 300)]


@pytest.fixture(scope="session")
def tokenizer(merges):
    return Tokenizer(
        token_bytes=Vocabulary.assemble(merges),
        merges=merges,
        pattern="gpt2",
        special_tokens={token: 600 + i for i, token in enumerate(SPECIALS)},
    )
