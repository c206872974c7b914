"""Files of earlier releases are read by every later one: tests/data/written_by_<release>; and pickles."""

import io
import pickle
import pickletools
from pathlib import Path

import numpy as np
import pytest

import bpe

FOLDERS = sorted((Path(__file__).parents[2] / "data").glob("written_by_*"))
TEXT = "low lower lowest, the newest wide\u00e9 wider! 12345 don't \U0001f600\n\n  x"
PROTOCOLS = (2, 5)


def trained():
    return bpe.train([TEXT * 3], vocab_size=300, special_tokens=["<|end|>", "<|pad|>"], progress=False)


def odd():
    return bpe.Tokenizer(
        token_bytes={**{i: bytes([255 - i]) for i in range(256)}, 300: b"lo", 310: b"low", 400: b"zebra"},
        merges=[(255 - ord("l"), 255 - ord("o")), (300, 255 - ord("w"))],
        pattern=[r"\w+|\s+"],
        special_tokens={"<a>": 500},
    )


def counted():
    return bpe.count_words([TEXT, "low low"], special_tokens=["<|end|>"])


def encoded():
    from bpe.id_files.encode import EncodedFiles

    return EncodedFiles(Path("a.bin"), Path("a.offsets.npy"), np.dtype("<u2"), 1, 8, 3, False)


PICKLED = {
    "encoded_files": encoded,
    "tokenizer": trained,
    "odd_tokenizer": odd,
    "pattern": lambda: bpe.Pattern.of("cl100k"),
    "own_pattern": lambda: bpe.Pattern.of(["[0-9]", "[a-z]+"]),
    "word_counts": counted,
}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_files(folder, tmp_path):
    for name, expected in (("trained", trained()), ("odd", odd())):
        assert bpe.Tokenizer.load(folder / f"{name}.json") == expected
        expected.save(tmp_path / "again.json")
        assert (tmp_path / "again.json").read_bytes() == (folder / f"{name}.json").read_bytes()
    assert bpe.WordCounts.load(folder / "words.counts") == counted()


def names_in(data):
    """Return the modules of ours that a pickle names."""
    strings = [
        argument for _, argument, _ in pickletools.genops(io.BytesIO(data)) if isinstance(argument, str)
    ]
    words = {word for text in strings for word in text.split()[:1]}
    return {word for word in words if word.partition(".")[0] in ("bpe", "structures")}


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", PICKLED)
def test_pickles_name_the_packages_only(name, protocol):
    """A class may move to another module, and its pickles stay valid."""
    data = pickle.dumps(PICKLED[name](), protocol)
    assert names_in(data) <= {"bpe", "structures"}
    assert pickle.loads(data) == PICKLED[name]()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_pickled_corpus_names_its_files(protocol):
    novel = Path(__file__).parents[2] / "data" / "treasure_island.txt"
    data = pickle.dumps(bpe.Corpus(novel), protocol)
    assert b"".join(next(iter(pickle.loads(data).documents()))) == novel.read_bytes()
    assert names_in(data) == {"bpe"}
