"""Special tokens in texts, against a slow search; what callers may ask for. Nothing is compiled."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe.splitting.special_search import SpecialSearch
from bpe.splitting.specials import Rules, make_rules

pieces = st.sampled_from(["a", "b", "<", ">", "é", "<a>", "<a>b", "ab"])
texts = st.lists(pieces, max_size=12).map("".join)
token_sets = st.frozensets(st.lists(pieces, min_size=1, max_size=3).map("".join), max_size=4)


def slow_search(text, tokens):
    """Yield the spans of tokens from left to right, the longest of several at a place."""
    place = 0
    while place < len(text):
        here = [token for token in tokens if text.startswith(token, place)]
        if here:
            end = place + max(map(len, here))
            yield place, end
            place = end
        else:
            place += 1


@given(texts, token_sets)
def test_all_ways_to_search(text, tokens):
    data, search = text.encode(), SpecialSearch(tokens)
    byte_spans = list(slow_search(data, [token.encode() for token in tokens]))
    assert list(search.find_all(data)) == byte_spans
    assert search.split(data)[1::2] == [data[start:end] for start, end in byte_spans]
    assert b"".join(search.split(data)) == data
    assert len(search.split(data)) % 2 == 1
    assert search.reach == max((len(token.encode()) for token in tokens), default=0)
    assert not byte_spans or any(needle in data for needle in search.needles)


@given(texts, texts, token_sets)
def test_what_is_decided_stays(text, more, tokens):
    search = SpecialSearch(tokens)
    end, horizon = search.last_decided(text.encode())
    now = list(search.find_all(text.encode()))
    later = list(search.find_all((text + more).encode()))
    assert end == 0 or end in [stop for _, stop in now]
    assert [span for span in later if span[0] < horizon] == [span for span in now if span[1] <= end]
    # As much is decided as the longest token lets.
    assert horizon == max(end, min(len(text.encode()), len(text.encode()) - search.reach + 1), 0)
    assert end == max(
        (stop for start, stop in now if start < len(text.encode()) - search.reach + 1), default=0
    )


def test_needles_are_few():
    assert set(SpecialSearch(frozenset(f"<|reserved_{i}|>" for i in range(300))).needles) == {b"<|reserved_"}
    assert set(SpecialSearch(frozenset(["<s>", "</s>", "<pad>", "<part>"])).needles) == {
        b"<s>",
        b"</s>",
        b"<pa",
    }
    assert SpecialSearch(frozenset(["<|a|>", "<|b|>"])).needles == (b"<|",)
    assert SpecialSearch(frozenset(["<a>", "<a>b"])).split(b"<a>b<a>") == [b"", b"<a>b", b"", b"<a>", b""]
    assert SpecialSearch(frozenset()).split(b"<a>") == [b"<a>"]


@pytest.mark.parametrize(
    ("allowed", "disallowed", "is_allowed", "is_refused"),
    [
        ((), "all", "", "ab"),
        ("all", "all", "ab", ""),
        ("a", "all", "a", "b"),
        ("all", "ac", "ab", "ac"),
        ("ac", (), "a", ""),
        ((), (), "", ""),
    ],
)
def test_options(allowed, disallowed, is_allowed, is_refused):
    as_given = [each if each in ("all", ()) else set(each) for each in (allowed, disallowed)]
    rules = make_rules(frozenset("ab"), *as_given)
    assert rules.allowed.tokens == set(is_allowed)
    assert rules.disallowed.tokens == set(is_refused)
    assert sorted(rules.needles) == sorted({token.encode() for token in is_allowed + is_refused})


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        (("a", "all"), TypeError, "allowed_special must be 'all' or a collection of str, not 'a'"),
        (((), b"a"), TypeError, "disallowed_special must be 'all' or a collection of str, not b'a'"),
        (([1], "all"), TypeError, "allowed_special must be 'all'"),
        ((1, "all"), TypeError, "allowed_special must be 'all'"),
    ],
)
def test_wrong_options(options, kind, message):
    with pytest.raises(kind, match=message):
        make_rules(frozenset("ab"), *options)


def test_refusals():
    rules = Rules(frozenset(["<a>"]), frozenset(["<b>", "<é>"]))
    for text in ("", "<a> é <b", b"<a>", bytearray(b"\xff<b")):
        rules.refuse(text)
    with pytest.raises(ValueError, match=r"text holds the special token '<b>' at character 2\. To encode it"):
        rules.refuse("é <b> <é>")
    with pytest.raises(ValueError, match=r"^the file holds the special token '<é>' at byte 3\. To encode it"):
        rules.refuse("é <é> <b>".encode(), "the file")
    with pytest.raises(ValueError, match=r"^text holds the special token '<b>' at byte 2\. To encode it"):
        rules.refuse(b"\xff\xc3<b>")
