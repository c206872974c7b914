"""The page of a report: its figures, compared with plain counting, and its behavior in a browser."""

import json
import re
import shutil
from collections import Counter

import numpy as np
import pytest
from click.testing import CliRunner

import bpe
from bpe.cli import main
from bpe.formats.conversion import PROBE
from bpe.report import page_of
from bpe.report.figures import categories_of, figures_of, sizes_of, times_of_merges
from bpe.tokenizer import Tokenizer
from bpe.vocabulary.vocabulary import Vocabulary
from tests.optional import required


def with_pattern(tokenizer, pattern):
    return Tokenizer(
        token_bytes={number: token for token, number in tokenizer.engine.vocabulary.id_of.items()},
        merges=tokenizer.merges,
        pattern=pattern,
        special_tokens=tokenizer.special_tokens,
    )


# --------------------------------------------------------------------------------------------- figures
def test_merges_are_counted_as_in_training(book):
    """On the training text, a merge is made nearly as often as its pair was counted."""
    trainer = bpe.Trainer(bpe.count_words([book[:20_000]], progress=False))
    counts = [trainer.step().count for _ in range(200)]
    tok = trainer.tokenizer()
    vocabulary = tok.engine.vocabulary
    uses = np.bincount(tok.encode(book[:20_000]), minlength=tok.vocab_size)
    times = times_of_merges(uses, vocabulary.merges, vocabulary.merged_ids)
    # A run such as aaa has two pairs, and one merge.
    assert all(time <= count for time, count in zip(times, counts, strict=True))
    assert np.mean(times == counts) > 0.97
    sizes = sizes_of(times, int(uses.sum()), 256)
    assert len(sizes) <= 201
    for size, n_tokens in sizes[::20] + sizes[-1:]:
        assert n_tokens == len(tok.with_vocab_size(size).encode(book[:20_000])), size


def test_figures(tokenizer, book):
    data = book[:5000].encode() + b"<|end|>\xff"
    figures = figures_of(tokenizer, data)
    ids = tokenizer.encode(data, allowed_special="all")
    assert figures["uses"] == Counter(ids)
    assert (figures["n_bytes"], figures["n_tokens"]) == (len(data), len(ids))
    assert figures["n_words"] == len((book[:5000] + "<|end|>x").split())
    assert sum(count for _, count in figures["lengths"]) == figures["n_ids"] - 3 == 556
    assert sum(count for _, count in figures["categories"]) == 556
    assert figures["n_unused"] == 556 - len(set(ids) - {600})
    assert figures["statuses"] == {"live": 559, "rank-dead": 0, "pattern-dead": 0, "unknown": 0}
    assert figures["not_live"] == []
    assert figures["efficiency"] == tokenizer.audit([data]).renyi_efficiency
    assert len(tokenizer.token_bytes(figures["longest"][0])) == figures["lengths"][-1][0]
    json.dumps(figures)
    with pytest.raises(ValueError, match="the text is empty"):
        figures_of(tokenizer, b"")


def test_figures_without_merges():
    tok = Tokenizer(token_bytes=[bytes([i]) for i in range(256)], merges=[], pattern="none")
    figures = figures_of(tok, b"  ")
    assert figures["sizes"] == [[256, 2]]
    assert figures["times"] == []
    assert figures["n_words"] == 0


def test_categories():
    tokens = [b"\xce", " час".encode(), "の".encode(), b"  ", b"!?", b"\x00", "한a국".encode(), "Ⅷ+".encode()]
    assert dict(categories_of(tokens)) == {
        "part of a character": 1,
        "Cyrillic": 1,
        "Hiragana": 1,
        "white space": 1,
        "punctuation": 1,
        "others": 1,
        "Hangul": 1,
        "Latin": 1,
    }


# ------------------------------------------------------------------------------------------------ page
def test_page_needs_no_other_files(tokenizer):
    page = page_of(tokenizer, PROBE.encode(), "</title><script>alert(1)</script>", "<b>").decode()
    assert not re.search(
        r"""(src|href)=["'](?!data:)|url\(|@import|https?://(?!www\.w3\.org/2000/svg)""", page
    )
    assert "<script>alert" not in page
    assert page.count("<script") == page.count("</script>") == 3
    assert "{{" not in re.sub(r"(?s)<script>.*?</script>", "", page)


def test_command(tokenizer, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tokenizer.save("tok.json")
    (tmp_path / "text.txt").write_text(PROBE, "utf-8")
    arguments = ["report", "tok.json", "text.txt", "-o", "report.html"]
    result = CliRunner().invoke(main, arguments)
    assert (result.exit_code, result.stdout) == (0, "")
    assert re.fullmatch(
        r"report\.html: a page of [\d.]+ kB, about 483 B of text, in \d+\.\d s\n", result.stderr
    )
    assert (tmp_path / "report.html").read_bytes() == page_of(
        tokenizer, PROBE.encode(), "tok.json", "text.txt"
    )
    (tmp_path / "text.txt").write_text("")
    result = CliRunner().invoke(main, arguments)
    assert (result.exit_code, result.stderr) == (
        2,
        "bpe: text.txt: the text is empty: there is nothing to measure\n",
    )


# --------------------------------------------------------------------------------------------- browser
TEXTS = [
    "",
    " ",
    "a",
    "Hello, world!",
    "the sea and the ship's captain, I'LL say",
    PROBE,
    "aaaaaaaa" * 40,
    "the " * 2000,
    "xyz" * 3000,
    "<|end|>",
    "one<|end|><|fim|>two  <x> three",
    "<|end|<|end|>|>",
    "😀",
    "👩\u200d👩\u200d👧\u200d👦🏽🇩🇪",
    "你好\uff0c世界",
    "日本語のテキストです。カタカナ",
    "안녕하세요",
    "Привет мир",
    "שלום עולם مرحبا بالعالم",
    "नमस्ते दुनिया",
    "e\u0301 é ﬁ ß ẞ \u017f \u212a",
    "  leading and trailing  ",
    "\n\n\n",
    "a\r\nb\rc\td",
    "1 12 123 1234 12345 ١٢٣ ⅷ½²",
    "x\u00a0y\u3000z\u2028w\u0085v\ufeffu",
    "\x00\x01\x7f",
    "$€£¥ #!? ... --- ___ /path/to\\file",
    "camelCase snake_case SCREAMING Titlecase ǅ",
    "if (x < 1 && y > 2) { return '</script>'; }",
    "\ufffd\ufffe",
]


@pytest.fixture(scope="module")
def browser():
    playwright = required("playwright.sync_api")
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        pytest.skip("no Chromium is installed")
    with playwright.sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def opened(browser, tmp_path):
    """Open a report; at the end, check that the page had no errors and made no requests."""
    problems, contexts = [], []

    def open_report(tokenizer, data, **options):
        path = tmp_path / "report.html"
        path.write_bytes(page_of(tokenizer, data, "tok.json", "book.txt"))
        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on(
            "request", lambda request: problems.append(request.url) if request.url != path.as_uri() else None
        )
        page.goto(path.as_uri())
        return page

    yield open_report
    for context in contexts:
        context.close()
    assert problems == []


def test_box_encodes_as_the_tokenizer(opened, tokenizer, book):
    page = opened(tokenizer, book.encode())
    assert len(TEXTS) > 30
    for allowed in (False, True):
        page.set_checked("#allow-special", allowed)
        for text in TEXTS:
            # A typed text has no carriage returns; the encoder itself is tested below.
            page.fill("#typed", text)
            typed = page.input_value("#typed")
            wanted = tokenizer.encode(
                typed, allowed_special="all" if allowed else set(), disallowed_special=()
            )
            assert page.text_content("#typed-ids") == " ".join(map(str, wanted)), text
            assert page.text_content("#typed-summary").startswith(f"{len(wanted):,} tokens")
            assert page.locator("#typed-tokens .token").count() == min(len(wanted), 2000)


@pytest.mark.parametrize("pattern", [*bpe.PATTERNS, r"\w+|(?>\s+)|[^\w\s]{1,3}?", "^.{2}|(?i:ship)"])
def test_patterns_in_the_browser(opened, tokenizer, pattern):
    tok = with_pattern(tokenizer, pattern)
    page = opened(tok, b"some text")
    for allowed in (False, True):
        ids = page.evaluate(
            f"texts => texts.map(text => encoder.encode(text, {str(allowed).lower()}))", TEXTS
        )
        for text, theirs in zip(TEXTS, ids, strict=True):
            special = "all" if allowed else set()
            assert theirs == tok.encode(text, allowed_special=special, disallowed_special=()), text
    assert page.evaluate("encoder.encode('a\\ud800b')") == tok.encode("a\ud800b")


def test_whole_tokens_in_the_browser(opened):
    tokens = [*(bytes([value]) for value in range(256)), b"abc", "é!".encode(), b"\xff\xfe"]
    words = Vocabulary(tokens, [], {}).replace(atomic_ids=[256, 257, 258])
    tok = Tokenizer._of(words, bpe.Pattern.of("whitespace"))
    page = opened(tok, b"some text")
    for text in ("abc", "abcd", "abc é!", "é! abc\ufffd", "\ufffd"):
        assert page.evaluate("text => encoder.encode(text)", text) == tok.encode(text), text


def test_a_click_opens_the_tree(opened, tokenizer, book):
    page = opened(tokenizer, book.encode())
    button = page.locator("#longest .token").first
    number = int(button.get_attribute("data-id"))
    button.click()
    roots = page.locator("#tree > ul > li > .token")
    assert roots.count() == 1
    assert int(roots.get_attribute("data-id")) == number
    shown = [int(one.get_attribute("data-id")) for one in page.locator("#tree .token").all()]
    vocabulary = tokenizer.engine.vocabulary

    def preorder(number):
        if number not in vocabulary.merged_ids:
            return [number]
        return [
            number,
            *(i for part in vocabulary.merges[vocabulary.merged_ids.index(number)] for i in preorder(part)),
        ]

    assert shown == preorder(number)
    assert f"id {number}: used " in page.text_content("#tree-summary")


def test_keyboard_and_search(opened, tokenizer, book):
    page = opened(tokenizer, book.encode())
    page.locator("#typed-tokens .token").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("#tree .token").count() >= 1
    assert page.evaluate("document.activeElement.id") == "h-tree"
    for wanted, number in [("he", None), (" the", None), ("300", 300), ("<|end|>", 600)]:
        page.fill("#wanted", wanted)
        page.keyboard.press("Enter")
        root = int(page.locator("#tree .token").first.get_attribute("data-id"))
        assert root == (tokenizer.token_id(wanted) if number is None else number)
    page.fill("#wanted", "no token at all")
    page.keyboard.press("Enter")
    assert "is neither a token nor an id" in page.text_content("#tree-summary")
    # Every control has a name.
    unnamed = page.evaluate(
        """[...document.querySelectorAll("button, input, textarea, [tabindex='0'], [role]")]
            .filter((one) => !one.getAttribute("aria-label") && !one.getAttribute("aria-labelledby"))
            .filter((one) => !one.labels?.length && one.role !== "status")
            .filter((one) => !one.textContent.trim()).length"""
    )
    assert unnamed == 0


def focused(page):
    """Return the focus: the id of the group, the number of the token in it, and whether it is visible."""
    return page.evaluate(
        """() => {
            const one = document.activeElement, group = one.closest(".tokens, #tree") || one;
            const place = [...group.querySelectorAll(".token")].indexOf(one);
            return [group.id || group.tagName, place, getComputedStyle(one).outlineStyle !== "none"];
        }"""
    )


def test_every_place_by_keyboard_alone(opened, tokenizer, book):
    page = opened(tokenizer, book.encode())
    seen = []
    while (place := (page.keyboard.press("Tab"), focused(page))[1])[0] != "BODY":
        seen.append(place)
    assert all(shows for _, _, shows in seen)
    names = [name for name, _, _ in seen]
    assert names[:6] == ["typed", "allow-special", "typed-tokens", "SUMMARY", "wanted", "BUTTON"]
    assert names[-3:] == ["most-used", "longest", "unused"], "one stop for each group of tokens"
    page.locator("#longest .token").first.focus()
    for key, place in [
        ("ArrowRight", 1),
        ("ArrowDown", 2),
        ("ArrowLeft", 1),
        ("End", 39),
        ("ArrowRight", 39),
    ]:
        page.keyboard.press(key)
        assert focused(page) == ["longest", place, True]
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    assert focused(page) == ["longest", 39, True], "where it was"
    page.keyboard.press("Home")
    for key in ("Enter", " "):
        page.locator("#longest .token").first.focus()
        page.keyboard.press(key)
        assert focused(page)[0] == "h-tree"
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert focused(page)[0] == "tree"
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    part = page.locator("#tree .token").nth(1).get_attribute("data-id")
    assert focused(page) == ["tree", 1, True]
    page.keyboard.press("Enter")
    assert page.locator("#tree .token").first.get_attribute("data-id") == part
    assert focused(page) == ["tree", 0, True]
    assert page.locator("#tree .token[aria-current]").count() >= 1


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_motion(opened, tokenizer, book, motion):
    page = opened(tokenizer, book.encode(), reduced_motion=motion)
    page.evaluate("() => { Element.prototype.scrollIntoView = (how) => { window.asked = how.behavior; }; }")
    page.locator("#longest .token").first.click()
    assert page.evaluate("asked") == ("auto" if motion == "reduce" else "smooth")
    n_moving = page.evaluate(
        """[...document.querySelectorAll("*")].map((one) => getComputedStyle(one))
            .filter((style) => parseFloat(style.transitionDuration) || style.animationName !== "none")
            .length"""
    )
    assert n_moving == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 390, 1280])
def test_every_screen(opened, tokenizer, book, scheme, width):
    screen = {"viewport": {"width": width, "height": 800}, "color_scheme": scheme}
    page = opened(tokenizer, book.encode(), **screen)
    page.locator("#longest .token").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    contrasts = page.evaluate(
        """() => {
            const channel = (c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
            const parts = (color) => color.match(/[\\d.]+/g).map(Number).slice(0, 3);
            const light = (color) => {
                const [r, g, b] = color.map(channel);
                return 0.2126 * r + 0.7152 * g + 0.0722 * b;
            };
            const back = (one) => {
                const color = getComputedStyle(one).backgroundColor;
                return color === "rgba(0, 0, 0, 0)" && one.parentElement ? back(one.parentElement) : color;
            };
            const contrast = (one, name) => {
                const style = getComputedStyle(one), below = parts(back(one)), part = Number(style.opacity);
                const above = parts(style[name]).map((c, i) => part * c + (1 - part) * below[i]);
                const [a, b] = [light(above), light(below)].sort((x, y) => y - x);
                return (a + 0.05) / (b + 0.05);
            };
            const least = (selector, name) =>
                Math.min(...[...document.querySelectorAll(selector)].map((one) => contrast(one, name)));
            const written =
                "h1, h2, p, dt, dd, td, .token, .token i, .soft, label, button, figcaption, textarea";
            return {
                text: Math.min(least(written, "color"), least("svg text", "fill")),
                drawn: Math.min(least(".bar", "fill"), least(".curve", "stroke"),
                    least("textarea", "borderColor"), least(".token[aria-current]", "outlineColor")),
            };
        }"""
    )
    assert contrasts["text"] > 4.5
    assert contrasts["drawn"] > 3


def test_all_figures_are_drawn(opened, tokenizer, book):
    page = opened(tokenizer, book.encode())
    for name in ("bytes", "words", "times", "lengths", "scripts"):
        assert page.locator(f"#chart-{name} svg[role=img][aria-label]").count() == 1
        assert page.locator(f"#chart-{name} table tr").count() > 1
    assert page.locator("#facts dt").count() == 10
    assert page.locator("#unused .token").count() > 10


def test_axes_have_round_numbers(opened, tokenizer):
    page = opened(tokenizer, b"some text")
    for arguments, numbers in {
        "0, 3.8, false": [0, 1, 2, 3],
        "256, 32000, false": [10_000, 20_000, 30_000],
        "0, 4.133, false": [0, 2, 4],
        "1, 31744, true": [1, 10, 100, 1000, 10_000],
        "1, 1, true": [1],
        "5, 5, false": [5],
    }.items():
        assert page.evaluate(f"ticks({arguments})") == numbers, arguments


def test_a_tokenizer_without_merges(opened):
    tok = Tokenizer(token_bytes=[bytes([i]) for i in range(256)], merges=[], pattern="none")
    page = opened(tok, b" ")
    page.fill("#typed", "hi")
    assert page.text_content("#typed-ids") == "104 105"
    assert page.locator("#chart-times").count() == 0
