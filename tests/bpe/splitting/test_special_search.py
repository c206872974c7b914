"""Few and many special tokens, against the plain alternation of ``re``; and all that looks for them."""

import re
import subprocess
import sys
from re import _parser as parser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe
from bpe.splitting import boundaries, special_search
from bpe.splitting import special_automaton as token_automaton
from bpe.splitting.special_automaton import TokenAutomaton
from bpe.splitting.special_search import SpecialSearch, search_for
from bpe.splitting.special_trie import MOST_STEPS, TokenExpression, expression_of
from bpe.splitting.specials import Rules, make_rules
from bpe.tokenizer import Tokenizer

words = st.sampled_from([b"a", b"b", b"<", "é".encode(), b"ab", b"aab", b"<a>", b"\xff", b".*"])
texts = st.lists(words, max_size=30).map(b"".join)
token_sets = st.sets(st.lists(words, min_size=1, max_size=5).map(b"".join), min_size=1, max_size=9)


def alternation_of(tokens):
    """Return the slow twin: every token, the longest first."""
    return re.compile(b"|".join(map(re.escape, sorted(tokens, key=len, reverse=True))))


def slow_overlapping(pattern, data):
    return [match.span() for start in range(len(data)) if (match := pattern.match(data, start))]


def check_finder(finder, tokens, data):
    pattern = alternation_of(tokens)
    assert list(finder.spans(data)) == [match.span() for match in pattern.finditer(data)]
    starts, ends = finder.overlapping(data)
    assert list(zip(starts.tolist(), ends.tolist(), strict=True)) == slow_overlapping(pattern, data)
    starts, ends, numbers = finder.find_arrays(data)
    assert [*zip(starts.tolist(), ends.tolist(), strict=True)] == [m.span() for m in pattern.finditer(data)]
    encoded = [*tokens]  # in the order in which the finder was given them
    assert [encoded[number] for number in numbers.tolist()] == [m[0] for m in pattern.finditer(data)]


@given(token_sets, texts)
def test_both_ways_against_the_alternation(tokens, data):
    check_finder(TokenExpression(tokens, expression_of(tokens)), tokens, data)
    check_finder(TokenAutomaton(tokens), tokens, data)


@given(st.sets(st.text("ab", min_size=1, max_size=7).map(str.encode), min_size=1), st.text("ab"))
def test_tokens_that_overlap(tokens, text):
    check_finder(TokenExpression(tokens, expression_of(tokens)), tokens, text.encode())
    check_finder(TokenAutomaton(tokens), tokens, text.encode())


@given(token_sets, texts, st.integers(1, 9))
def test_blocks_of_any_size(tokens, data, size):
    automaton = TokenAutomaton(tokens)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(token_automaton, "_BLOCK", size)
        check_finder(automaton, tokens, data)


def test_very_many_tokens():
    chance = np.random.default_rng(1)
    tokens = {bytes(chance.choice([97, 98, 99], int(chance.integers(1, 14)))) for _ in range(20_000)}
    assert len(tokens) > 10_000
    search = SpecialSearch(frozenset(token.decode() for token in tokens))
    assert isinstance(search._finder, TokenAutomaton)
    for n, letters in ((0, "ab"), (1, "c"), (300, "abc"), (300, "abcx")):
        check_finder(search._finder, search.encoded, "".join(chance.choice([*letters], n)).encode())
    data = "".join(chance.choice([*"abcx"], 200_000)).encode()
    longest = [max((n for n in range(14) if data[i : i + n] in tokens), default=0) for i in range(len(data))]
    starts, ends = search._finder.overlapping(data)
    assert [(start, start + n) for start, n in enumerate(longest) if n] == [*zip(starts, ends, strict=True)]
    place, expected = 0, []
    while place < len(data):
        if longest[place]:
            expected.append((place, place + longest[place]))
        place += max(longest[place], 1)
    assert list(search.find_all(data)) == expected, "over several blocks"


def test_every_byte_is_a_token():
    tokens = {bytes([value]) for value in range(256)} | {bytes([value, value]) for value in range(256)}
    data = np.random.default_rng(2).integers(0, 256, 70_000, np.uint8).tobytes()
    check_finder(TokenAutomaton(tokens), tokens, data[:5_000])
    assert b"".join(data[start:end] for start, end in TokenAutomaton(tokens).spans(data)) == data


# ------------------------------------------------------------------------------------------ few or many
@pytest.mark.parametrize(
    ("tokens", "is_few"),
    [
        ([], True),
        ([f"<|reserved_special_token_{i}|>" for i in range(300)], True),
        ([f"<{i}>" for i in range(MOST_STEPS)], False),
        (["a" * (MOST_STEPS - 1)], True),
        (["a" * MOST_STEPS], False),
        (["a" * n for n in range(1, 26)], True),
        (["a" * n for n in range(1, 27)], False),  # too many groups inside each other
        (["a" * n + "b" for n in range(100)], False),
    ],
)
def test_which_way_is_taken(tokens, is_few):
    search = SpecialSearch(frozenset(tokens))
    assert isinstance(search._finder, TokenExpression if is_few else TokenAutomaton)
    data = "".join(tokens[::-1]).encode() + b"x<|aab"
    if tokens:
        check_finder(search._finder, search.encoded, data)
    assert search.split(b"one") == [b"one"]


def test_few_tokens_do_not_load_the_compiler():
    program = """
import sys
from bpe.splitting.special_search import SpecialSearch
print(SpecialSearch(frozenset(f"<{i}>" for i in range(300))).split(b"a<1>"))
assert not {"bpe.splitting.special_automaton", "numba"} & sys.modules.keys()
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout == "[b'a', b'<1>', b'']\n"


@given(token_sets)
def test_no_two_alternatives_begin_alike(tokens):
    """So a place takes no more steps than there are tokens, and bytes in the longest."""

    def check(part):
        for kind, value in part:
            if str(kind) == "BRANCH":
                firsts = [alternative[0] for alternative in value[1]]
                assert len(firsts) == len(set(map(str, firsts)))
                for alternative in value[1]:
                    check(alternative)
            elif str(kind) in ("SUBPATTERN", "MAX_REPEAT"):
                check(value[-1])
            else:
                assert str(kind) in ("LITERAL", "IN")

    check(parser.parse(expression_of(tokens)))


@pytest.mark.parametrize("n", [1_000, 2_000, 4_000])
def test_memory(n):
    """13 bytes for each byte of the tokens, at most; endings that tokens share take them once."""
    for tokens in (
        [f"<{i}|reserved>".encode() for i in range(n)],
        [f"<|{i:09}".encode()[::-1] for i in range(n)],
        [f"{i}".encode() * 10 for i in range(n)],
    ):
        n_bytes = sum(map(len, tokens))
        assert sum(array.nbytes for array in TokenAutomaton(tokens).arrays) <= 13 * (n_bytes + 1) + 4
    endings = {token[i:] for token in tokens for i in range(len(token) + 1)}
    assert len(TokenAutomaton(tokens).arrays.byte_of) == len(endings)


def test_too_many_bytes(monkeypatch):
    monkeypatch.setattr(token_automaton, "_MOST_BYTES", 2_000)
    with pytest.raises(ValueError, match="special tokens of 2400 bytes together are too many: 2 GiB is"):
        SpecialSearch(frozenset(f"{i:04}" for i in range(600)))


def test_an_empty_token():
    with pytest.raises(ValueError, match="a special token is empty"):
        make_rules(frozenset("a"), (), ["b", ""])


def test_surrogates_among_many():
    """A pair is one character; a lone one is not the character that takes its place elsewhere."""
    tokens = frozenset([*(f"<{i}>" for i in range(600)), "\ud800x", "\ud83d\ude00", "\U0001f600"])
    rules = Rules(frozenset(), tokens)
    assert isinstance(rules.disallowed._finder, TokenAutomaton)
    rules.refuse("ab\ufffdx \ude00\ud83d")
    with pytest.raises(ValueError, match=r"'\\ud800x' at character 2\."):
        rules.refuse("ab\ud800x")
    with pytest.raises(ValueError, match="'\U0001f600' at character 0"):
        rules.refuse("\ud83d\ude00")


def test_needles_are_limited():
    def needles_of(tokens):
        return {*SpecialSearch(frozenset(tokens)).needles}

    signs = [chr(33 + i) for i in range(64)]
    assert needles_of(sign + "x" for sign in signs) == {(sign + "x").encode() for sign in signs}
    assert needles_of(f"{sign}{other}" for sign in "<[" for other in signs) == {b"<", b"["}
    assert needles_of(chr(33 + i) + "x" for i in range(65)) == {b""}
    assert needles_of(chr(0x4E00 + i) for i in range(8_000)) == {b"\xe4", b"\xe5", b"\xe6"}


@given(token_sets, texts, st.sampled_from([0, 10, 1 << 12]), st.booleans())
def test_a_text_that_may_hold_no_token_holds_none(tokens, data, short, are_many):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(special_search, "_SHORT", short)
        if are_many:
            patch.setattr(special_search, "expression_of", lambda given: None)
        search = SpecialSearch(frozenset(token.decode(errors="surrogateescape") for token in tokens))
    if any(token in data for token in search.encoded):
        assert search.may_find(data)
    elif not search.may_find(data):
        assert search.split(data) == [data]


@pytest.mark.parametrize("n", [2, 4, 400])
def test_what_may_hold_a_token(n):
    """A short text is looked through for what tokens begin with; a long one is not, where tokens are many."""
    search = SpecialSearch(frozenset(f"<|{i}{'x' * 200}" for i in range(n)))
    assert isinstance(search._finder, TokenExpression) == (n < 400)
    for size in (0, 9, special_search._SHORT, special_search._SHORT + 1):
        is_unknown = n == 400 and size > special_search._SHORT
        assert search.may_find(b"a" * size) is is_unknown
        assert search.may_find((b"<|" + b"a" * size)[:size]) is (is_unknown or size > 0)
    assert not SpecialSearch(frozenset()).may_find(b"a")


def test_rules_are_made_once():
    tokens = frozenset(f"<{i}>" for i in range(2_000))
    for options in (("all", "all"), ({"<1>"}, "all"), ((), ()), (["<2>"], ["<3>", "x"])):
        assert make_rules(tokens, *options) is make_rules(tokens, *options)
    assert search_for(tokens) is make_rules(tokens, "all", ()).allowed
    rules = make_rules(tokens, {"<1>", "x"}, "all")
    assert (rules.allowed.tokens, rules.disallowed.tokens) == ({"<1>"}, tokens - {"<1>"})


def test_searches_for_many_tokens_leave_the_cache():
    made = []
    cached = special_search.cached_by_size(lambda tokens: made.append(tokens) or len(made))
    few, many = ([frozenset(map(str, range(i, i + n))) for i in range(20)] for n in (5, 1_000))
    for some, n_made in ((few, 20), (many, 40)):
        for _ in range(2):
            results = [cached(tokens) for tokens in some]
        assert len(made) == n_made + 20 * (some is many)
    assert results == list(range(41, 61))


# ---------------------------------------------------------------------------------------------- callers
N_TOKENS = 600
TOKENS = [*(f"<|{i}|>" for i in range(N_TOKENS - 4)), "<|", "<|1|><|2|>", "  <x> ", "é|"]


@pytest.fixture(scope="module")
def many(tokenizer):
    found = Tokenizer(
        token_bytes=[tokenizer.token_bytes(i) for i in range(256 + len(tokenizer.merges))],
        merges=tokenizer.merges,
        pattern="gpt2",
        special_tokens={token: 1_000 + i for i, token in enumerate(TOKENS)},
    )
    assert isinstance(found.engine.rules_of("all").allowed._finder, TokenAutomaton)
    return found


@pytest.fixture(scope="module")
def slowly(many):
    pattern = alternation_of([token.encode() for token in TOKENS])

    def encode(text):
        data, place, ids = text.encode(), 0, []
        for match in pattern.finditer(data):
            ids += many.encode_ordinary(data[place : match.start()])
            ids.append(many.special_tokens[match.group().decode()])
            place = match.end()
        return ids + many.encode_ordinary(data[place:])

    return encode


parts = st.sampled_from(
    ["<|", "|>", "<|1|>", "<|2|>", "<|595|>", "<|600|>", "  <x> ", "é|", "é", "the sea ", " "]
)
hostile = st.lists(parts, max_size=12).map("".join)


@given(text=hostile, others=st.lists(hostile, max_size=4))
def test_whole_texts(many, slowly, text, others):
    ids = slowly(text)
    assert many.encode(text, allowed_special="all") == ids
    assert many.encode_to_numpy(text, allowed_special="all").tolist() == ids
    assert many.count(text, allowed_special="all") == len(ids)
    assert many.encode_with_dropout(text, 0, seed=1, allowed_special="all") == ids
    assert many.encode_with_offsets(text.encode(), allowed_special="all")[0].tolist() == ids
    batch = [text, *others]
    assert many.encode_batch(batch, allowed_special="all", threads=2) == list(map(slowly, batch))
    assert many.truncate(text, len(ids), allowed_special="all") == text
    assert len(many.encode(many.truncate(text, 3, allowed_special="all"), allowed_special="all")) <= 3
    if any(token in text for token in TOKENS):
        with pytest.raises(ValueError, match="holds the special token"):
            many.encode(text)
    else:
        assert many.encode(text) == ids
    assert many.decode(ids) == text


@given(text=hostile)
def test_texts_in_parts(many, slowly, text):
    for cut in range(len(text) + 1):
        stream = many.stream_encoder(allowed_special="all")
        assert stream.feed(text[:cut]) + stream.feed(text[cut:]) + stream.finish() == slowly(text)
    growing, stream = (make(allowed_special="all") for make in (many.appendable_encoder, many.stream_encoder))
    ids = []
    for character in text:
        growing.append(character)
        ids += stream.feed(character)
    assert ids + stream.finish() == slowly(text)
    assert list(growing.ids()) == slowly(text)


def test_files_and_counts(many, slowly, book, tmp_path):
    text = "".join(f"{book[i : i + 50]}<|{i}|><|1|><|2|>" for i in range(0, 60_000, 50))
    (tmp_path / "a.txt").write_text(text, "utf-8")
    written = many.encode_files(tmp_path / "a.txt", tmp_path / "a.bin", allowed_special="all", threads=2)
    assert np.fromfile(written.ids, written.dtype).tolist() == slowly(text)
    counts = bpe.count_words([text, "<|"], special_tokens=TOKENS)
    expected = bpe.WordCounts()
    for part in alternation_of([token.encode() for token in TOKENS]).split(text.encode()):
        if part:
            expected += bpe.count_words([part])
    assert dict(counts.items()) == dict(expected.items())


def test_refusals_say_where(many):
    with pytest.raises(ValueError, match=r"holds the special token '<\|595\|>' at character 4"):
        many.encode("é \ud800 <|595|> <|1|>", disallowed_special=[token for token in TOKENS if token != "<|"])
    with pytest.raises(ValueError, match=r"text 1 holds the special token '<\|' at byte 1\."):
        many.encode_batch(["x", b"x<|", "<|"])


def test_tokens_that_share_the_beginning_of_a_character():
    """What they begin with is not text."""
    tok = Tokenizer(
        token_bytes=[bytes([value]) for value in range(256)],
        merges=[],
        pattern="gpt2",
        special_tokens={"日": 256, "旦": 257},
    )
    assert tok.engine.default_rules.needles == (b"\xe6\x97",)
    assert tok.encode_batch(["a", "日a"], allowed_special="all") == [[97], [256, 97]]


# ------------------------------------------------------------------------------------- where to cut
@given(st.sets(st.text("ab ", min_size=1, max_size=4), max_size=6), st.text("ab "))
def test_where_tokens_lie_across(tokens, text):
    crossed = SpecialSearch(frozenset(tokens)).crossed(text.encode())
    spans = slow_overlapping(alternation_of(map(str.encode, tokens)), text.encode()) if tokens else []
    assert crossed.tolist() == [
        any(start < place < end for start, end in spans) for place in range(len(text) + 1)
    ]


@given(st.sets(st.text("ab ", min_size=1, max_size=4), max_size=6), st.text("ab ", max_size=40))
def test_the_last_place_to_cut(tokens, text):
    pattern, search = bpe.Pattern.of("gpt2"), SpecialSearch(frozenset(tokens))
    data, reach = text.encode(), max(search.reach, 1)
    crossed = search.crossed(data)
    free = [
        place
        for place in pattern.cuts(data).tolist()
        if search.reach < place <= len(data) - reach and not crossed[place]
    ]
    assert boundaries.cut_inside(data, pattern, search) == max(free, default=0)


@pytest.mark.parametrize("n", [2_000, 4_000, 8_000])
def test_places_are_searched_once_where_every_one_is_crossed(n, monkeypatch):
    calls = []
    for way in (TokenExpression, TokenAutomaton):
        look = way.overlapping
        monkeypatch.setattr(
            way, "overlapping", lambda self, data, look=look: calls.append(len(data)) or look(self, data)
        )
    for tokens in (["a ", "x" * 400], ["a ", "x" * 600]):
        search = SpecialSearch(frozenset(tokens))
        assert boundaries.cut_inside(b"a " * n, bpe.Pattern.of("gpt2"), search) == 0
    assert calls == [2 * n] * 2
