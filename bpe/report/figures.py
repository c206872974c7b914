"""The figures of a report, as plain numbers and lists.

How often each merge was made follows from how often each token is used. Every token in the text was made by
one merge, of one left and one right part. The merges are visited from the last to the first, so that the
count of a token is complete before it is added to those of its parts.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from bpe.splitting.regex_engine import lazy_regex
from bpe.support.progress import Progress, progress_bar

if TYPE_CHECKING:
    from bpe.auditing import Audit
    from bpe.tokenizer import Tokenizer


MOST_POINTS = 200  # of a curve
_SCRIPTS = (
    *("Latin", "Greek", "Cyrillic", "Armenian", "Georgian", "Han", "Hiragana", "Katakana", "Hangul"),
    *("Arabic", "Hebrew", "Devanagari", "Bengali", "Tamil", "Thai"),
)
_SCRIPT_OF = lazy_regex("|".join(rf"(?P<{name}>\p{{Script={name}}})" for name in _SCRIPTS))
_KINDS = {"L": "other letters", "N": "numbers", "P": "punctuation", "S": "symbols", "Z": "white space"}


def figures_of(tokenizer: Tokenizer, data: bytes, progress: Progress = False) -> dict[str, Any]:
    """Return the figures of a tokenizer and a text, as a dict for JSON."""
    if not data:
        raise ValueError("the text is empty: there is nothing to measure")
    tokenizer.engine.vocabulary.refuse_far_ids("a report")
    with progress_bar(progress, len(data), "B", "measuring") as advance:
        audit = _audited(tokenizer, data, advance)
    vocabulary = tokenizer.engine.vocabulary
    uses, measured = audit.uses, audit.texts[0]
    times = times_of_merges(uses, vocabulary.merges, vocabulary.merged_ids)
    known = sorted(vocabulary.bytes_of)
    specials = set(vocabulary.cut_tokens.values())
    ordinary = [token_id for token_id in known if token_id not in specials]
    lengths = Counter(len(vocabulary.bytes_of[token_id]) for token_id in ordinary)
    longest = sorted(ordinary, key=lambda token_id: (-len(vocabulary.bytes_of[token_id]), token_id))
    unused = [token_id for token_id in ordinary if not uses[token_id]]
    return {
        "n_bytes": len(data),
        "n_tokens": measured.n_tokens,
        "n_words": measured.n_words,
        "n_ids": len(known),
        "n_merges": len(vocabulary.merges),
        "n_special": len(specials),
        "pattern": tokenizer.pattern.spec,
        "sizes": sizes_of(times, measured.n_tokens, len(ordinary) - len(vocabulary.merges)),
        "times": [[int(rank) + 1, int(times[rank])] for rank in _points(len(times), geometric=True)],
        "lengths": sorted(lengths.items()),
        "categories": categories_of([vocabulary.bytes_of[token_id] for token_id in ordinary]),
        "statuses": audit.n_by_status,
        "not_live": [token_id for token_id, status in audit.status_of.items() if status != "live"][:100],
        "efficiency": audit.renyi_efficiency,
        "n_unused": len(unused),
        "unused": unused[:100],
        "longest": longest[:40],
        "most_used": [int(i) for i in np.argsort(-uses, kind="stable")[:40] if uses[i]],
        "uses": {int(i): int(uses[i]) for i in np.flatnonzero(uses)},
    }


def _audited(tokenizer: Tokenizer, data: bytes, advance: Callable[[int], object]) -> Audit:
    n_done = 0

    def show(done: int, _: int | None) -> None:
        nonlocal n_done
        advance(done - n_done)
        n_done = done

    return tokenizer.audit([data], progress=show)


def times_of_merges(uses: np.ndarray, merges: list[tuple[int, int]], merged_ids: list[int]) -> np.ndarray:
    """Return how often each merge is made in a text, given how often each id is used in it."""
    count = uses.tolist()
    first_of = {token_id: rank for rank, token_id in reversed(list(enumerate(merged_ids)))}
    times = np.zeros(len(merges), np.int64)
    for rank in range(len(merges) - 1, -1, -1):
        token_id = merged_ids[rank]
        if first_of[token_id] != rank:
            continue
        times[rank] = count[token_id]
        for part in merges[rank]:
            count[part] += count[token_id]
    return times


def sizes_of(times: np.ndarray, n_tokens: int, n_before: int) -> list[list[int]]:
    """Return points of a curve: [size of a smaller vocabulary, tokens of the text with it]."""
    later = np.concatenate([np.cumsum(times[::-1])[::-1], [0]])
    return [[n_before + int(i), n_tokens + int(later[i])] for i in _points(len(later))]


def _points(n: int, geometric: bool = False) -> np.ndarray:
    """Return at most MOST_POINTS of the numbers below n, with the first and the last, evenly spaced."""
    if n <= MOST_POINTS:
        return np.arange(n)
    spaced = np.geomspace(1, n, MOST_POINTS) - 1 if geometric else np.linspace(0, n - 1, MOST_POINTS)
    return np.unique(np.round(spaced).astype(np.int64))


def categories_of(tokens: list[bytes]) -> list[tuple[str, int]]:
    r"""Return the number of tokens by script or kind, which is that of most of their characters."""
    return Counter(map(_category, tokens)).most_common()


def _category(token: bytes) -> str:
    try:
        text = token.decode()
    except UnicodeDecodeError:
        return "part of a character"
    kinds = Counter(_kind(character) for character in text.strip() or text)
    return kinds.most_common(1)[0][0]


def _kind(character: str) -> str:
    found = _SCRIPT_OF().match(character)
    if found and found.lastgroup:
        return found.lastgroup
    return _KINDS.get(unicodedata.category(character)[0], "others")
