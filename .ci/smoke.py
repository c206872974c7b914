"""Try an installation: python smoke.py, in a folder that has no checkout."""

import importlib.metadata
import tempfile
from pathlib import Path

import numpy as np
from numba import njit

import bpe
import structures as st

TEXT = "the cat sat on the mat; the cat is fat. " * 50


@njit
def most_common(numbers):
    """Return the number that occurs most often, and how often."""
    heap = st.MaxHeap()
    for number in numbers:
        heap.add(number)
    return heap.peek()


def main() -> None:
    """Count, train, encode, write and read; a container inside ``@njit``."""
    owners = importlib.metadata.packages_distributions()
    for module in (bpe, st):
        assert set(owners[module.__name__]) == {"bpe-structures"}, owners[module.__name__]
        assert "site-packages" in str(module.__file__), module.__file__
    counts = bpe.count_words([TEXT], special_tokens=["<|end|>"])
    assert len(counts) > 5
    tok = bpe.train(counts, vocab_size=280, progress=False)
    ids = tok.encode(TEXT)
    assert len(ids) < len(TEXT)
    assert tok.decode(ids) == TEXT
    with tempfile.TemporaryDirectory() as folder:
        for save, name in ((tok.save, "tok.json"), (tok.save_huggingface, "tokenizer.json")):
            save(Path(folder, name))
            assert bpe.Tokenizer.load(Path(folder, name)).encode(TEXT) == ids
    assert most_common(np.array([3, 1, 3])) == (3, 2)
    print(f"bpe-structures {bpe.__version__} at {Path(str(bpe.__file__)).parents[1]}: works")


if __name__ == "__main__":
    main()
