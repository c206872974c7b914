"""Strings in the text of ids: as looking at every byte."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bpe
import bpe.ids
from bpe.ids.matching import Pushed
from bpe.reference import ids as twin
from tests.bpe.ids.cases import tokenizers

strings = st.lists(
    st.text("ab1<é", min_size=1, max_size=4).map(str.encode) | st.just(b"\xff"), min_size=1, max_size=4
)


@settings(max_examples=150)
@given(tokenizers, strings, st.data())
def test_as_the_slow_twin(tok, strings, data):
    known = sorted(tok.engine.vocabulary.bytes_of)
    useful = [number for number in known if {*tok.token_bytes(number)} <= {*"ab1<é".encode(), 0xFF}]
    stream, text, found, ready = bpe.ids.matcher(tok, strings), b"", [], b""
    for number in data.draw(st.lists(st.sampled_from(useful), max_size=10)):
        mask = stream.mask()
        pushed = stream.push(number)
        assert mask[number] == bool(pushed.found)
        text += tok.token_bytes(number)
        found += [(begins, begins + len(string)) for string, begins in pushed.found]
        ready += pushed.ready
        spans, held = twin.find_strings(text, strings)
        assert (found, stream.held) == (spans, held)
        edges = [0, *(place for span in spans for place in span), len(text) - len(held)]
        assert ready == b"".join(text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))
    spans, held = twin.find_strings(text, strings)
    expected = [
        len(twin.find_strings(text + tok.token_bytes(number), strings)[0]) > len(spans) for number in known
    ]
    mask = np.empty(tok.vocab_size, bool)
    assert stream.mask(mask) is mask
    assert mask[known].tolist() == expected
    assert not np.delete(mask, known).any()


def test_special_tokens_and_errors(tokenizer):
    stream = bpe.ids.matcher(tokenizer, ["<|end|>", b"\xff\xff"])
    assert stream.push(tokenizer.special_tokens["<|end|>"]) == Pushed([("<|end|>", 0)], b"")
    assert [stream.push(255).ready, stream.held] == [b"", b"\xff"]
    assert stream.mask()[255]
    with pytest.raises(ValueError, match="out of range"):
        stream.push(10**6)
    assert stream.push(np.int64(255)).found == [(b"\xff\xff", 7)]
    with pytest.raises(TypeError):
        stream.push("a")
    for wrong in ([], ["a", ""]):
        with pytest.raises(ValueError, match="strings must hold a string, and none that is empty"):
            bpe.ids.matcher(tokenizer, wrong)
    with pytest.raises(TypeError, match="strings is a single string"):
        bpe.ids.matcher(tokenizer, "stop")
    with pytest.raises(TypeError, match=r"strings\[1\] must be str or bytes, not int"):
        bpe.ids.matcher(tokenizer, ["stop", 3])
