"""Normalizers do what ``tokenizers`` does, plain and with origins, and texts can be cut where they say."""

import base64
import json
import pickle
import random
import struct
import sys
import time
import unicodedata

import numpy as np
import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st

from bpe.pipeline import text_changes as unicode_forms
from bpe.pipeline.entries import MAX_DEPTH, MAX_STEPS, FromEntry, SearchPattern
from bpe.pipeline.normalizers import Normalizer
from bpe.pipeline.tracked import Tracked
from bpe.splitting import regex_engine as regular_expressions
from tests.optional import optional, required

tokenizers = optional("tokenizers")

# Characters that all tables know alike: since Unicode 3.2 they are what they are. Not private ones.
KNOWN = [
    character
    for character in map(chr, range(sys.maxunicode + 1))
    if (category := unicodedata.category(character)) not in ("Cn", "Co", "Cs")
    and unicodedata.ucd_3_2_0.category(character) == category
]
HARD = [
    "e\u030d\u0301",
    *("", " ", "  a  b ", "a\r\nb\r\r\n", "\t\n\x0b\x0c\r\x1c\x1d\x85\xa0\u3000x\u2003\u200b"),
    *(
        "e\u0301\u0323",
        "e\u0323\u0301",
        "\xe9\u0323",
        "\u1ec7",
        "\u0301a",
        "\u0344\u0f73\u0f71",
        "a\u0345\u0301",
    ),
    *("\U0001f468\u200d\U0001f469\u200d\U0001f467!", "\U0001f1e9\U0001f1ea\U0001f1eb x", "☝\ufe0f"),
    *(
        "ΟΔΥΣΣΕΥΣ",
        "İI\u0131i",
        "\ufb01\ufb03 ½ ㎏",
        "\u1100\u1161\u11a8\uac00\u11a8\u1161",
        "\uff76\uff9e\uff9e",
    ),
    *(
        "\ufffd\0\x01\x7f\x8f\x9f\ufeff\u2581",
        "\u0378\ue000\U000e0001",
        "中a文",
        "A\0B",
        "=\u0338<\u0338",
        "''``''",
    ),
    *(
        "\u0600 a\u0600\u0301",
        "\u0915\u094d\u0937\u094d",
        "a\u094d\u0915",
        "\u0e01\u0e33",
        "\u2126\u212b\u0958",
    ),
]
ALPHABET = [
    *"aAeE .'`=<\r\n\t0\xe9\u0130\u03a3",
    *"\u0301\u0323\u0344\u0f73\u1100\u1161\u11a8\uac00\uff76\uff9e\ufb01",
]
ALPHABET += [*"\U0001f1e9\U0001f600\u200d\u0600\u0915\u094d中\0\ufffd\u2581\u3000\u0903\u1e9b"]
TEXTS = st.one_of(
    st.text(st.sampled_from(ALPHABET), max_size=12), st.text(st.sampled_from(KNOWN), max_size=8)
)


def replace(old, new, kind="String"):
    return {"type": "Replace", "pattern": {kind: old}, "content": new}


def sequence(*steps):
    return {"type": "Sequence", "normalizers": [*steps]}


def bert(**options):
    usual = {"clean_text": False, "handle_chinese_chars": False, "strip_accents": None, "lowercase": False}
    return {"type": "BertNormalizer", **usual, **options}


def precompiled(data):
    return {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(data).decode()}


def table_of(texts):
    """Return the table in which some keys have new texts; every unit has a block of its own."""
    joined, starts = b"", {}
    for key, new in texts.items():
        starts[key.encode()] = len(joined)
        joined += new.encode() + b"\0"
    nodes = sorted({key[:n] for key in starts for n in range(len(key) + 1)})
    block_of = {node: 256 * (i + 1) for i, node in enumerate(nodes)}
    units = [0] * 256 * (len(nodes) + 1)
    for node in nodes:
        place = block_of[node[:-1]] ^ node[-1] if node else 0
        offset = place ^ block_of[node]
        units[place] = (offset << 10 if offset % 256 else offset << 2 | 1 << 9) | (node[-1] if node else 0)
        if node in starts:
            units[place] |= 1 << 8
            units[block_of[node]] = starts[node] | 1 << 31
    return struct.pack(f"<{len(units) + 1}I", 4 * len(units), *units) + joined


MANY = table_of(
    {
        "e": "E",
        "\xe9": "e",
        "a\u0301": "\xe1",
        "\r": "",
        "\u0301": "",
        " ": "  ",
        "\u3000": " ",
        "\ufb01": "fi",
        "中": "zhong",
        "\uff76\uff9e": "\u30ac",
        "\U0001f600": ":)",
        "\u0600": "",
        "'": "\u0301",
    }
)
NAMES = ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt", "ByteLevel")
BOTH = (False, True)
STEPS = [
    *({"type": name} for name in NAMES),
    *(replace(" ", "\u2581"), replace("''", '"'), replace("a", ""), replace("aa", "a")),
    *(replace("e", "e\u0301"), replace("a|ab", "", "Regex")),
    *(replace(" {2,}", " ", "Regex"), replace(r"\s+", " ", "Regex"), replace("[a-e]", "x", "Regex")),
    *(replace(r"[^\s]+", "\u0301", "Regex"), replace("e", "", "Regex"), replace(r"\p{Mn}+", "", "Regex")),
    *({"type": "Prepend", "prepend": new} for new in ("\u2581", "> ", "\u0301")),
    *({"type": "Strip", "strip_left": left, "strip_right": right} for left in BOTH for right in BOTH),
    *(bert(clean_text=True), bert(handle_chinese_chars=True), bert(strip_accents=True)),
    *(bert(lowercase=True), bert(lowercase=True, strip_accents=False)),
    bert(clean_text=True, handle_chinese_chars=True, lowercase=True),
    precompiled(MANY),
]
STRIP_LEFT = {"type": "Strip", "strip_left": True, "strip_right": False}
# These match the empty text. Theirs panics in the step that comes next, if there is one.
INSERTING = [replace("", "-"), replace("^", "> ", "Regex"), replace("$", "\u0301", "Regex")]
SEQUENCES = st.builds(
    lambda some, last: sequence(*some, *last),
    st.lists(st.sampled_from(STEPS), max_size=4),
    st.lists(st.sampled_from(INSERTING), max_size=1),
)
ENTRIES = st.one_of(st.sampled_from([*STEPS, *INSERTING]), SEQUENCES)


# ------------------------------------------------------------------------------------------------ oracles
def theirs(entry):
    document = {"model": {"type": "BPE", "vocab": {}, "merges": []}, "normalizer": entry}
    return tokenizers.Tokenizer.from_str(json.dumps(document)).normalizer


def their_origins(normalizer, text):
    """Return the characters of the normalized text, and where each came from."""
    whole = tokenizers.PreTokenizedString(text)
    whole.normalize(normalizer.normalize)
    whole.split(lambda i, part: part.split(tokenizers.Regex(r"[\s\S]"), "isolated"))
    return [(character, origin) for character, origin, _ in whole.get_splits("original", "char")]


def our_origins(text):
    return [*zip(text.text, zip(text.starts.tolist(), text.ends.tolist(), strict=True), strict=True)]


@pytest.mark.parametrize("number", range(len(STEPS)))
def test_every_character(number):
    """Each character that all tables know, by itself and with marks."""
    ours, oracle = Normalizer.of(STEPS[number]), theirs(STEPS[number])
    for start in range(0, len(KNOWN), 100):
        some = KNOWN[start : start + 100]
        text = "".join([f".{character}.a{character}\u0301\u0323" for character in some])
        assert ours(text) == oracle.normalize_str(text), ascii(some)


def test_white_space():
    strip = {"type": "Strip", "strip_left": True, "strip_right": True}
    ours, oracle = Normalizer.of(strip), theirs(strip)
    for character in KNOWN:
        assert ours(character) == oracle.normalize_str(character)


@pytest.mark.parametrize("text", HARD, ids=ascii)
def test_hard_texts(text):
    for entry in [*STEPS, *INSERTING]:
        ours, oracle = Normalizer.of(entry), theirs(entry)
        assert ours(text) == oracle.normalize_str(text), entry
        assert our_origins(ours.tracked(Tracked.of(text))) == their_origins(oracle, text), entry


@given(ENTRIES, TEXTS)
@example(sequence(STRIP_LEFT, replace("^", "> ", "Regex")), "  ab")
def test_same_as_theirs(entry, text):
    ours, oracle = Normalizer.of(entry), theirs(entry)
    normalized = ours(text)
    assert normalized == oracle.normalize_str(text)
    tracked = ours.tracked(Tracked.of(text))
    assert tracked.text == normalized
    origins = their_origins(oracle, text)
    assert [character for character, _ in origins] == [*normalized]
    # Where nothing is before what is put in, theirs is the beginning of all, ours that of what is left.
    for mine, their in zip(our_origins(tracked), origins, strict=True):
        assert mine == their or (their[1] == (0, 0) and mine[1][0] == mine[1][1])


def test_what_differs_is_new():
    """The tables of marks and of lower case differ only in characters that are newer than Unicode 3.2."""
    for name in ("NFD", "NFKD", "Lowercase", "StripAccents"):
        ours, oracle = Normalizer.of({"type": name}), theirs({"type": name})
        for code in (*range(0x0900), *range(0x1E900, 0x1E960)):
            if ours(chr(code)) != oracle.normalize_str(chr(code)):
                assert unicodedata.ucd_3_2_0.category(chr(code)) == "Cn"


@given(ENTRIES, TEXTS)
def test_origins_of_a_part(entry, text):
    """A part of a text has the origins of the whole."""
    normalizer, whole = Normalizer.of(entry), Tracked.of("--" + text)
    part, alone = normalizer.tracked(whole[2:]), normalizer.tracked(Tracked.of(text))
    assert part.text == alone.text
    np.testing.assert_array_equal(part.starts, alone.starts + 2)
    np.testing.assert_array_equal(part.ends, alone.ends + 2)


ALL_MARKS = [c for c in map(chr, range(0x30000)) if unicodedata.category(c)[0] == "M"] + ["\uff9e", "\uff9f"]


@pytest.mark.parametrize("name", ["NFC", "NFD", "NFKC", "NFKD"])
def test_runs_of_marks_of_any_length(name):
    chance, form = random.Random(1), Normalizer.of({"type": name})
    for _ in range(40):
        some = chance.sample(ALL_MARKS, chance.choice([3, 30, 300]))
        lengths = chance.choices([1, 3, 499, 500, 520, 1300], k=4)
        text = "".join(chance.choice("aeé ñ가각日ﾊ") + "".join(chance.choices(some, k=n)) for n in lengths)
        assert form(text) == unicodedata.normalize(name, text)


def test_many_marks():
    """Python sorts marks by insertion; long runs of them are in order before, with the same result."""
    text = "a" + "\u0301\u0323" * 400 + "e\u0301"
    for name in ("NFC", "NFD", "NFKC", "NFKD"):
        assert Normalizer.of({"type": name})(text) == unicodedata.normalize(name, text)
    long = "a" + "\u0301\u0323" * 200_000 + "\uff9e\uff9f" * 200_000
    start = time.process_time()
    assert len(Normalizer.of({"type": "NFKC"})(long)) < len(long)
    assert time.process_time() - start < 30  # sorted by insertion, minutes


# ------------------------------------------------------------------------------------------- precompiled
@pytest.fixture(scope="module")
def real_tables(tmp_path_factory):
    """The tables of SentencePiece."""
    sentencepiece = required("sentencepiece")
    folder = tmp_path_factory.mktemp("sentencepiece")
    (folder / "text").write_text("hello world this is a text\n" * 50)
    found = []
    for rule in ("nmt_nfkc", "nfkc_cf"):
        sentencepiece.SentencePieceTrainer.train(
            input=str(folder / "text"),
            model_prefix=str(folder / rule),
            vocab_size=40,
            normalization_rule_name=rule,
            hard_vocab_limit=False,
            minloglevel=2,
        )
        specification = dict(fields_of((folder / f"{rule}.model").read_bytes()))[3]
        found.append(dict(fields_of(specification))[2])
    return found


def fields_of(message):
    """Yield number and bytes of the fields of a protocol buffer that have a length."""
    at = 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            value |= (byte & 127) << shift
            at, shift = at + 1, shift + 7
            if byte < 128:
                return value

    while at < len(message):
        key = number()
        if key & 7 == 2:
            size = number()
            yield key >> 3, message[at : at + size]
            at += size
        else:
            at += {1: 8, 5: 4}.get(key & 7) or number() * 0


def test_real_tables(real_tables):
    for table in real_tables:
        ours, oracle = Normalizer.of(precompiled(table)), tokenizers.normalizers.Precompiled(table)
        for text in [*KNOWN, *(f"a{character}\u0301 {character}\r\n" for character in KNOWN), *HARD]:
            assert ours(text) == oracle.normalize_str(text), ascii(text)
        for text in HARD:
            assert our_origins(ours.tracked(Tracked.of(text))) == their_origins(oracle, text)


KEYS = st.text(st.sampled_from(ALPHABET), min_size=1, max_size=3).filter(lambda key: "\0" not in key)
NEW = st.text(st.sampled_from("abc\u0301中"), max_size=3)


@given(st.dictionaries(KEYS, NEW, min_size=1, max_size=8), TEXTS)
def test_any_table(texts, text):
    table = table_of(texts)
    ours, oracle = Normalizer.of(precompiled(table)), tokenizers.normalizers.Precompiled(table)
    assert ours(text) == oracle.normalize_str(text)
    assert ours.tracked(Tracked.of(text)).text == ours(text)


def longest(table):
    return precompiled(table) | {"longest": True}


def by_hand(texts, text):
    """Replace the longest key at each place."""
    new, place = "", 0
    while place < len(text):
        keys = [key for key in texts if text.startswith(key, place)]
        key = max(keys, key=len, default=text[place])
        new += texts.get(key, key)
        place += len(key)
    return new


@given(st.dictionaries(KEYS, NEW, min_size=1, max_size=8), TEXTS)
def test_longest_keys(texts, text):
    ours = Normalizer.of(longest(table_of(texts)))
    assert ours(text) == by_hand(texts, text)
    tracked = ours.tracked(Tracked.of(text))
    assert tracked.text == ours(text)
    assert ((tracked.starts < tracked.ends) & (tracked.ends <= len(text))).all()
    assert (np.diff(tracked.starts) >= 0).all()
    for i in range(1, len(text)):  # it can be cut where it says so
        heads = ours._changes[0].heads(text[i - 1], text[i])
        if heads is not None:
            assert ours(text[:i]) + ours(text[i:]) == ours(text)
            assert any(ours(text[i:]).startswith(head) for head in heads)


def test_units_that_are_shared():
    """A few units may stand for more characters than anyone can read."""
    n_blocks, last = 40, 44  # of a character of four bytes each, which goes on in the next block

    def unit(place, to, byte):
        offset = place ^ to * 256
        return (offset << 10 if offset % 256 else offset << 2 | 1 << 9) | byte

    units = [0] * 256 * last
    units[0] = unit(0, 1, 0)
    for block in range(1, n_blocks):
        for byte in range(0xF0, 0xF4):
            units[block * 256 ^ byte] = unit(block * 256 ^ byte, 41, byte)
    for block, to in ((41, 42), (42, 43)):
        for byte in range(0x80, 0xC0):
            units[block * 256 ^ byte] = unit(block * 256 ^ byte, to, byte)
    for byte in range(0x80, 0xC0):
        units[43 * 256 ^ byte] = unit(43 * 256 ^ byte, byte % n_blocks, byte)
    table = struct.pack(f"<{len(units) + 1}I", 4 * len(units), *units) + b"\0"
    start = time.process_time()
    with pytest.raises(ValueError, match="is damaged: its trie has more than 2097152 ways to go on"):
        Normalizer.of(longest(table))
    assert time.process_time() - start < 20


def test_longest_keys_take_linear_time():
    normalizer = Normalizer.of(longest(table_of({"a\u0301": "\xe1", "\u0301" * 20: ""})))
    start = time.process_time()
    for text in ("a\u0301" * 100_000, "\u0301" * 100_000, "a" * 100_000 + "\u0301"):
        normalizer(text)
    assert time.process_time() - start < 20


CLUSTERS = "\U0001f1e9\U0001f1ea\u0301\u200d\u0903\u0600a\U0001f600\r\n\u0915\u094d\u1100\u1161\u11a8"
CLUSTERS += "\uac00\uac01\x01"
EACH = table_of({character: f"<{ord(character):x}>" for character in CLUSTERS})


@given(st.text(st.sampled_from(CLUSTERS), max_size=8))
def test_clusters(text):
    """A short cluster becomes one new text, so that the new text shows where clusters end."""
    assert Normalizer.of(precompiled(EACH))(text) == tokenizers.normalizers.Precompiled(EACH).normalize_str(
        text
    )


@pytest.mark.parametrize(
    "part", ["\U0001f1e9", "\U0001f600\u200d", "\u0915\u094d", "\u0600", "\u1100", "\u0301"]
)
def test_clusters_take_linear_time(part):
    start = time.process_time()
    Normalizer.of(precompiled(EACH))(part * 100_000)
    assert time.process_time() - start < 10


@given(st.data())
def test_damaged_tables(data):
    table = bytearray(table_of({"a": "b", "\xe9": "e"}))
    for _ in range(data.draw(st.integers(1, 3))):
        used = [i for i in range(len(table)) if table[i]]
        table[data.draw(st.sampled_from(used))] = data.draw(st.integers(0, 255))
    table = bytes(table)[: data.draw(st.sampled_from([None, 0, 3, 4, 1000, -1]))]
    try:
        normalizer = Normalizer.of(precompiled(table))
    except ValueError as error:
        assert str(error).startswith("normalizer.precompiled_charsmap is damaged: ")  # noqa: PT017
        return
    for character in map(chr, range(256)):
        assert isinstance(normalizer(character + "\u0301a"), str)


def test_table_that_leads_out():
    whole = table_of({"a": "bc"})
    far = bytearray(whole)
    far[4 + 4 * (256 + 97) + 3] |= 0x40  # where the units after the one of "a" are
    with pytest.raises(ValueError, match="leads to unit 1049088, of 768"):
        Normalizer.of(precompiled(bytes(far)))
    for value, wrong in ((4, 4), (1, 1)):
        table = bytearray(table_of({"a": "\xe9"}))
        table[4 + 4 * 512] = value
        with pytest.raises(ValueError, match=f"new text at byte {wrong} of 3, where no character begins"):
            Normalizer.of(precompiled(bytes(table)))
    with pytest.raises(ValueError, match="no UTF-8 at byte 3078"):
        Normalizer.of(precompiled(whole[:-1] + b"\xff"))


# -------------------------------------------------------------------------------------------------- cuts
def check_cuts(entry, text, more):
    first = Normalizer.of(entry)
    whole, place, parts, normalizer = text + more, 0, [], first
    while cut := normalizer.last_cut(text[place:]):
        parts.append(normalizer(whole[place : place + cut]))
        assert "".join(parts) + first.later(whole[place + cut :]) == first(whole)
        text, place, normalizer = text[:-1], place + cut, first.later
        if place >= len(text):
            break


@given(ENTRIES, TEXTS, TEXTS)
@example({"type": "NFC"}, "a\u1100", "\u1161")
@example(replace("''", '"'), "a'", "'")
@example(sequence({"type": "Prepend", "prepend": ">"}, replace(" ", "_")), "a b", " c")
@example(sequence(replace("a", ""), {"type": "NFC"}), "ea", "\u0301")
@example(sequence(STRIP_LEFT), "  ", " a")
@example(precompiled(MANY), "\u0600a", "")
@example(precompiled(MANY), "\r\n", "")
@example(sequence(replace("ab", "x"), replace("yx", "z")), "ya", "b")
def test_cuts_are_safe(entry, text, more):
    check_cuts(entry, text, more)


@given(ENTRIES, TEXTS, TEXTS)
def test_every_cut_is_safe(entry, before, after):
    """Not only the last one."""
    normalizer = Normalizer.of(entry).later
    for place in range(1, len(before)):
        if normalizer.last_cut(before[: place + 1]) >= place:
            check_cuts(entry, before[: place + 1], before[place + 1 :] + after)


def test_cuts_of_real_tables(real_tables):
    for table in real_tables:
        entry = sequence(precompiled(table), replace(" {2,}", " ", "Regex"))
        for text in HARD:
            for place in range(len(text)):
                check_cuts(entry, text[:place], text[place:])
        assert Normalizer.of(entry).last_cut("one two, three") > 0


def test_cuts_are_found():
    """A text need not wait where its normalizer is an ordinary one."""
    for entry, text, place in [
        (None, "one", 3),
        ({"type": "NFC"}, "one two", 6),
        ({"type": "NFC"}, "中文\u3099", 1),
        ({"type": "NFKC"}, "one\u1161\u0301\uff9e", 2),
        ({"type": "Lowercase"}, "Ab", 2),
        (replace(" ", "\u2581"), "one ", 4),
        (replace("ab", "x"), "aab", 1),
        (replace(" {2,}", " ", "Regex"), "one  ", 2),
        (replace(r"\d", "0", "Regex"), "one 2", 5),
        (replace(r"\d|x", "0", "Regex"), "one 2", 0),
        (sequence({"type": "Prepend", "prepend": "\u2581"}, replace(" ", "\u2581")), "one ", 4),
        (sequence({"type": "NFKC"}, replace("''", '"')), "one two'", 3),
        (sequence(STRIP_LEFT), "  a ", 4),
        (sequence(STRIP_LEFT), "   ", 0),
        ({"type": "Strip", "strip_left": False, "strip_right": True}, "one two", 0),
        (precompiled(MANY), "one two\u0301", 6),
    ]:
        assert Normalizer.of(entry).last_cut(text) == place, (entry, text)


def test_what_never_combines():
    """The rule by which normal forms can be cut is right for every composition that there is."""
    pairs = [
        [chr(int(code, 16)) for code in unicodedata.decomposition(character).split()]
        for character in map(chr, range(sys.maxunicode + 1))
        if unicodedata.decomposition(character)[:1] not in ("", "<")
    ]
    firsts = {pair[0] for pair in pairs if len(pair) == 2}
    seconds = {pair[1] for pair in pairs if len(pair) == 2} | set(map(chr, range(0x1161, 0x11C3)))
    assert not firsts & unicode_forms._ALONE
    for name in ("NFC", "NFD", "NFKC", "NFKD"):
        form = unicode_forms.UnicodeForm(name)
        for character in filter(form._is_boundary, map(chr, range(sys.maxunicode + 1))):
            first = unicodedata.normalize(form._decomposed, character)[0]
            assert unicodedata.combining(first) == 0
            assert first not in seconds, ascii(character)


def test_later():
    strip = {"type": "Strip", "strip_left": True, "strip_right": True}
    first = Normalizer.of(sequence({"type": "Prepend", "prepend": ">"}, strip))
    assert first(" a ") == "> a"
    assert first.later(" a ") == " a"
    assert first.later.later is first.later
    nothing_first = Normalizer.of({"type": "NFC"})
    assert nothing_first.later is nothing_first


# ----------------------------------------------------------------------------------------------- entries
@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (5, "normalizer is not an object with a type: 5"),
        ({}, "normalizer is not an object with a type"),
        ({"type": ["NFC"]}, "normalizer is not an object with a type"),
        ({"type": "Append"}, "normalizer is of the unknown type 'Append'. Known are NFC, "),
        ({"type": "Sequence"}, "normalizer has no 'normalizers', which must be a list"),
        ({"type": "Sequence", "normalizers": {}}, "normalizer.normalizers must be a list, not {}"),
        (sequence({"type": "NFC"}, None), "normalizer.normalizers[1] is not an object with a type: None"),
        (sequence(sequence({"type": "X"})), "normalizer.normalizers[0].normalizers[0] is of the unknown"),
        ({"type": "Prepend"}, "normalizer has no 'prepend', which must be a text"),
        ({"type": "Prepend", "prepend": "a" * 10_001}, "normalizer.prepend has 10001 characters"),
        ({"type": "Prepend", "prepend": "\ud800"}, "normalizer.prepend has half of a surrogate pair"),
        ({"type": "Strip", "strip_left": 1}, "normalizer.strip_left must be true or false, not 1"),
        ({"type": "Strip", "strip_left": True}, "normalizer has no 'strip_right'"),
        ({"type": "Replace", "content": ""}, 'normalizer.pattern must be an object with either "String" or'),
        (replace(None, ""), "normalizer.pattern.String must be a text, not None"),
        (replace("a", None), "normalizer.content must be a text, not None"),
        (replace("(", "", "Regex"), "normalizer.pattern.Regex: "),
        (replace("a", "", "Text"), 'normalizer.pattern must be an object with either "String" or "Regex"'),
        (bert(strip_accents=0), "normalizer.strip_accents must be true or false, not 0"),
        ({"type": "Precompiled", "precompiled_charsmap": "?"}, "normalizer.precompiled_charsmap is no"),
        ({"type": "Precompiled", "precompiled_charsmap": ""}, "normalizer.precompiled_charsmap is damaged"),
        ({"type": "Precompiled", "precompiled_charsmap": None}, "normalizer.precompiled_charsmap must be a"),
        (sequence(*[{"type": "NFC"}] * (MAX_STEPS + 1)), f"normalizer has more than {MAX_STEPS} steps"),
        ({"type": "NFC", "x": float("nan")}, "normalizer is not an entry of JSON: "),
        ({"type": "NFC", "x": {1}}, "normalizer is not an entry of JSON: "),
    ],
)  # fmt: skip
def test_errors(entry, message):
    with pytest.raises(ValueError, match="^" + regex.escape(message)):
        Normalizer.of(entry)


def test_deep_entries():
    entry = {"type": "NFC"}
    for _ in range(MAX_DEPTH):
        entry = sequence(entry)
    assert Normalizer.of(entry)("e\u0301") == "\xe9"
    with pytest.raises(ValueError, match=f"is inside {MAX_DEPTH} Sequences"):
        Normalizer.of(sequence(entry))
    for _ in range(100_000):
        entry = [entry]
    with pytest.raises(ValueError, match="not an entry of JSON: it is nested too deeply"):
        Normalizer.of({"type": "NFC", "x": entry})


KEYS_OF_ENTRIES = st.sampled_from(["type", "normalizers", "pattern", "String", "Regex", "content"])
VALUES = st.one_of(st.none(), st.booleans(), st.sampled_from(["NFC", "Replace", "Sequence", "Strip", "("]))
JSON = st.recursive(
    VALUES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS_OF_ENTRIES, inner),
    max_leaves=6,
)


@given(JSON)
def test_any_entry(entry):
    try:
        Normalizer.of(entry, "here")
    except ValueError as error:
        assert str(error).startswith("here")  # noqa: PT017


def test_objects():
    one, other = Normalizer.of(replace("a", "b")), Normalizer.of(replace("a", "b"), "elsewhere")
    assert one == other
    assert hash(one) == hash(other)
    assert one != Normalizer.of(replace("a", "c"))
    assert one != FromEntry(replace("a", "b"), "")
    assert Normalizer.of(bert(lowercase=True)) != Normalizer.of(bert(lowercase=False))
    back = pickle.loads(pickle.dumps(one))
    assert back == one
    assert back("aa") == "bb"
    one.entry["content"] = "changed"
    assert one.entry == replace("a", "b")
    assert repr(one).startswith("Normalizer.of({'content': 'b', ")
    assert Normalizer.of(None).is_nothing
    assert Normalizer.of(sequence()).is_nothing
    assert not one.is_nothing
    assert Normalizer.of({"type": "Prepend", "prepend": ""}).is_nothing
    assert SearchPattern.of({"Regex": "a"}, "") != SearchPattern.of({"String": "a"}, "")


# ------------------------------------------------------------------------------------------------ bounds
def test_growth():
    grows = sequence(*[replace("a", "aa")] * 60)
    with pytest.raises(ValueError, match="makes a text of 16384 characters, and at most 10100 are allowed"):
        Normalizer.of(grows)("a")
    new = "b" * 10_000
    tables = [precompiled(table_of(texts)) for texts in ({"a": new}, {"a": new, "\xe9": new})]
    for long in (replace("a", new), replace("[a]", new, "Regex"), *tables):
        normalizer = Normalizer.of(long)
        assert len(normalizer("a")) == 10_000
        for run in (normalizer, lambda text, n=normalizer: n.tracked(Tracked.of(text))):
            with pytest.raises(ValueError, match="are allowed here: 100 for each character given, and 10000"):
                run("a" * 20_000)


def test_expressions_that_take_long(monkeypatch):
    monkeypatch.setattr(regular_expressions, "SECONDS", 0.2)
    normalizer = Normalizer.of(replace("(?:a|aa)+[bc]", "", "Regex"))
    with pytest.raises(TimeoutError, match="takes more than 0 seconds"):
        normalizer("a" * 60)
