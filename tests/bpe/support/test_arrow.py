"""Columns of Arrow: the ids and counts of lists, from the buffers as they are."""

import json
import pickle
import tracemalloc

import numpy as np
import pytest

import bpe
from bpe.corpus import sources
from bpe.encoding import batches, engine
from bpe.support.arrow import ArrowTexts, arrow_texts
from tests.optional import optional

pyarrow = optional("pyarrow")
parquet = optional("pyarrow.parquet")

TEXTS = ["the sea", "", "été", "of a ship 12", "the end", "x" * 50]
TYPES = ["string", "large_string", "binary", "large_binary", "string_view", "binary_view"]


def columns(texts, kind):
    """Yield a column as an array, a slice, chunks, and slices of chunks."""
    array = pyarrow.array(["before", *texts, "after"], kind)
    yield pyarrow.array(texts, kind)
    yield array[1:-1]
    yield pyarrow.chunked_array([array.slice(1, 2), array.slice(3, 0), array.slice(3, len(texts) - 2)])
    yield pyarrow.chunked_array([array]).slice(1, len(texts))
    yield pyarrow.table({"text": array})["text"][1:-1]


@pytest.fixture
def no_objects(monkeypatch):
    """No row becomes a str or bytes."""

    def refused(*_):
        raise AssertionError("a row was made an object")

    monkeypatch.setattr(batches, "_row_of", refused)
    monkeypatch.setattr(batches, "_bytes_of", refused)
    monkeypatch.setattr(sources, "clean_document", refused)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("threads", [1, 2])
def test_batches(tokenizer, kind, threads, no_objects, monkeypatch):
    monkeypatch.setattr(batches, "LEAST_BYTES", 8)
    expected = [tokenizer.encode(text) for text in TEXTS]
    for column in columns(TEXTS, kind):
        assert tokenizer.encode_batch(column, threads) == expected
        ids, offsets = tokenizer.encode_batch_to_numpy(column, threads)
        assert np.split(ids, offsets[1:-1])[3].tolist() == expected[3]


def test_the_buffer_itself_is_read(tokenizer, book, monkeypatch):
    """What the encoder is given is memory of the column."""
    column = pyarrow.array([book[i : i + 500] for i in range(0, 50_000, 500)])
    memory, given = np.frombuffer(column.buffers()[2], np.uint8), []
    encode = tokenizer.engine.encoder.encode_segments
    monkeypatch.setattr(
        tokenizer.engine.encoder,
        "encode_segments",
        lambda data, ends, *room: given.append(data) or encode(data, ends, *room),
    )
    batch = tokenizer.encode_batch(column)
    assert [len(data) for data in given] == [len(memory)] or len(given) > 1
    assert all(np.shares_memory(data, memory) for data in given)
    assert sum(map(len, given)) == len(memory)
    assert batch[7] == tokenizer.encode(column[7].as_py())


def test_special_tokens(tokenizer):
    texts = ["the sea", "of <|end|> the", "<|end|>", ""]
    column = pyarrow.array(texts)
    assert tokenizer.encode_batch(column, allowed_special="all") == tokenizer.encode_batch(
        texts, allowed_special="all"
    )
    assert tokenizer.encode_batch(column, disallowed_special=()) == [
        tokenizer.encode_ordinary(text) for text in texts
    ]
    with pytest.raises(ValueError, match=r"text 1 holds the special token '<\|end\|>'"):
        tokenizer.encode_batch(column)


def test_special_tokens_across_windows(monkeypatch):
    monkeypatch.setattr(engine, "_BLOCK", 4)
    data = np.frombuffer(b"0123456789<|end|>", np.uint8)
    for needle in (b"0", b"34", b"<|end|>", b"|>", b""):
        assert engine._holds_any(data, (b"no", needle))
    assert not engine._holds_any(data, (b"no", b"43"))
    assert not engine._holds_any(data, ())
    assert engine._holds_any(data[:0], (b"",))


def test_a_tokenizer_that_changes_texts(tmp_path):
    document = {
        "normalizer": {"type": "Lowercase"},
        "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]},
    }
    (tmp_path / "tokenizer.json").write_text(json.dumps(document))
    tokenizer = bpe.Tokenizer.from_huggingface(tmp_path)
    texts = ["AB", "", "bAB"]
    assert tokenizer.encode_batch(pyarrow.array(texts)) == [[2], [], [1, 2]]


def test_nulls(tokenizer):
    column = pyarrow.chunked_array([["the", "sea"], ["of", None, "the"]])
    with pytest.raises(
        ValueError, match=r"text 3 is null: fill nulls first, as with column\.fill_null\(''\)"
    ):
        tokenizer.encode_batch(column)
    assert tokenizer.encode_batch(column.fill_null(""))[3] == []
    documents = [b"".join(document) for document in bpe.Corpus(column).documents()]
    assert documents == [b"the", b"sea", b"of", b"the"]
    assert bpe.count_words(column)[b"the"] == 2


@pytest.fixture(params=[(), ("<|end|>",)])
def counted(request):
    """Texts, special tokens, and the counts of the texts in a list: before rows must not become objects."""
    texts = [*TEXTS, "two <|end|> ends"]
    return texts, request.param, list(bpe.count_words(texts, "gpt2", request.param).items())


@pytest.mark.parametrize("threads", [1, 2])
def test_counts(counted, no_objects, threads):
    texts, specials, expected = counted
    for kind in TYPES:
        for column in columns(texts, kind):
            counts = bpe.count_words(column, "gpt2", specials, threads=threads)
            assert list(counts.items()) == expected


def test_training(book):
    texts = [book[i : i + 500] for i in range(0, 5000, 500)]
    assert bpe.train(pyarrow.array(texts), vocab_size=300) == bpe.train(texts, vocab_size=300)


def test_little_memory_is_taken(tokenizer, book):
    """Of a large column."""
    column = pyarrow.array([book[:90]] * 100_000)
    tokenizer.encode_batch_to_numpy(column[:10])
    bpe.count_words(column[:10])
    tracemalloc.start()
    bpe.count_words(column, threads=1)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < column.nbytes


def test_corpora(tokenizer, tmp_path):
    column = pyarrow.chunked_array([TEXTS, ["one more"]])
    corpus = bpe.Corpus(column)
    assert (str(corpus), corpus.n_bytes) == ("a column of 7 rows", sum(map(len, map(str.encode, TEXTS))) + 8)
    assert [b"".join(each).decode() for each in pickle.loads(pickle.dumps(corpus)).documents()][
        -1
    ] == "one more"
    done = []
    written = tokenizer.encode_files(
        column, tmp_path / "ids.parquet", progress=lambda *call: done.append(call)
    )
    assert parquet.read_table(written.ids)["ids"].to_pylist() == tokenizer.encode_batch(column)
    assert done[-1] == (corpus.n_bytes, corpus.n_bytes)
    odd = pyarrow.array([b"the", b"\xff"])
    assert [b"".join(each) for each in bpe.Corpus(odd, errors="skip").documents()] == [b"the"]
    with pytest.raises(ValueError, match="row 1 of the column: not UTF-8 at byte 0"):
        list(bpe.Corpus(odd, errors="strict").documents())
    assert tokenizer.encode_batch(odd) == [tokenizer.encode(b"the"), tokenizer.encode(b"\xff")]
    small = [list(map(bytes, each)) for each in bpe.Corpus(column).documents(block_bytes=4)]
    assert small[0] == [b"the ", b"sea"]


def test_dictionaries_and_empty_columns(tokenizer):
    column = pyarrow.array(["the", "sea", "the"]).dictionary_encode()
    assert tokenizer.encode_batch(column) == tokenizer.encode_batch(["the", "sea", "the"])
    assert tokenizer.encode_batch(pyarrow.chunked_array([column, column])[2:4])[1] == tokenizer.encode("the")
    for empty in (pyarrow.array([], "string"), pyarrow.chunked_array([], "string"), pyarrow.array(["a"])[1:]):
        assert tokenizer.encode_batch(empty) == []
        assert list(bpe.Corpus(empty).documents()) == []
        with pytest.raises(ValueError, match="the corpus is empty"):
            bpe.count_words(empty)


def test_what_is_no_column_of_text(tokenizer):
    for column in (pyarrow.array([1, 2]), pyarrow.chunked_array([[1.5]]), pyarrow.array([["a"]])):
        with pytest.raises(TypeError, match=r"a column of .* is not text: cast it to string or binary"):
            tokenizer.encode_batch(column)
    assert arrow_texts(pyarrow.table({"text": ["a"]})) is None
    assert arrow_texts(["a"]) is None
    assert ArrowTexts(pyarrow.array(["a", "b"]))[0:2] == [b"a", b"b"]
