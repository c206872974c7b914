"""A vocabulary never changes: what has other attributes is another one."""

import numpy as np
import pytest

from bpe.formats.ranks import with_atomic_ids
from bpe.vocabulary.vocabulary import Vocabulary

BYTES = [bytes([value]) for value in range(256)]
SPECIAL = {"<a>": 258, "<b>": 259}


def of_tokens():
    return Vocabulary([*BYTES, b"ab", b"abc"], [(97, 98), (256, 99)], SPECIAL)


def of_merges():
    return Vocabulary.of_merges(np.array([(97, 98), (256, 99)]), SPECIAL)


def state_of(vocabulary):
    names = (
        "merges merged_ids bytes_of id_of byte_ids special_tokens added_tokens idle_tokens atomic_ids size"
    )
    return {name: getattr(vocabulary, name) for name in [*names.split(), "size", "n_super", "extras"]}


CHANGES = [
    {"added_tokens": ["<b>"]},
    {"idle_tokens": {"": 300, "ab": 301}},
    {"atomic_ids": [257, 256]},
    {"n_super": 1},
    {"extras": '{"model": {}}'},
]


@pytest.mark.parametrize("made", [of_tokens, of_merges])
@pytest.mark.parametrize("changes", CHANGES, ids=lambda changes: next(iter(changes)))
def test_replace(made, changes):
    vocabulary, before = made(), state_of(made())
    other = state_of(vocabulary.replace(**changes))
    assert state_of(vocabulary) == before
    same = {*before} - {*changes}
    if "added_tokens" in changes:
        assert (other["special_tokens"], other["added_tokens"]) == ({"<a>": 258}, {"<b>": 259})
        same -= {"special_tokens"}
    elif "idle_tokens" in changes:
        assert other["bytes_of"] == before["bytes_of"] | {300: b"", 301: b"ab"}
        assert (other["idle_tokens"], other["size"]) == ({"": 300, "ab": 301}, 302)
        same -= {"bytes_of", "size"}
    elif "atomic_ids" in changes:
        assert other["atomic_ids"] == (256, 257)
    assert {name: other[name] for name in same} == {name: before[name] for name in same}


@pytest.mark.parametrize("made", [of_tokens, of_merges])
def test_replace_and_back(made):
    vocabulary = made()
    other = vocabulary.replace(added_tokens=["<a>"], idle_tokens={"": 300}, atomic_ids=[256], n_super=1)
    moved = other.replace(idle_tokens={"x": 300, "y": 301})
    assert (moved.bytes_of[300], moved.bytes_of[301], moved.size) == (b"x", b"y", 302)
    back = moved.replace(added_tokens=[], idle_tokens={}, atomic_ids=[], n_super=0)
    assert state_of(back) == state_of(vocabulary)


def test_what_is_given_is_not_searched():
    lazy = with_atomic_ids(of_tokens())
    given = lazy.replace(atomic_ids=[])
    assert (lazy.lazy, given.lazy, given.atomic_ids) == (("atomic_ids",), (), ())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"idle_tokens": {"x": 97}}, "'x' has id 97, the id of token b'a'"),
        ({"atomic_ids": [258]}, "id 258 has no token that could be looked up"),
        ({"n_super": 3}, "n_super must be from 0 to the 2 merges, not 3"),
    ],
)
def test_what_does_not_fit(changes, message):
    with pytest.raises(ValueError, match=message):
        of_tokens().replace(**changes)
