"""JSON of untrusted files: any bytes give a value, or a ``ValueError`` that names the place."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, NoReturn

from bpe.support.threads import gc_paused

MAX_DIGITS = 400
"""How many digits an integer may have; a float has far fewer."""

_STEP = 8
_DIGITS_AS_ZEROS = bytes.maketrans(b"123456789", b"0" * 9)


def read_json(data: bytes) -> Any:
    """Return the value of a JSON text."""
    try:
        with gc_paused():
            return json.loads(
                data.decode("utf-8"),
                object_pairs_hook=_without_duplicates,
                parse_int=_integer if _may_have_long_number(data) else None,
                parse_constant=_constant,
            )
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 at byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON at line {error.lineno}, column {error.colno}: {error.msg}") from None
    except RecursionError:
        raise ValueError("not a tokenizer: nested too deeply") from None


def _may_have_long_number(data: bytes) -> bool:
    """Return whether a number may have more than MAX_DIGITS: every 8th byte of such a number is a digit."""
    return b"0" * (MAX_DIGITS // _STEP) in data[::_STEP].translate(_DIGITS_AS_ZEROS)


def _integer(digits: str) -> int:
    need(len(digits) <= MAX_DIGITS, f"a number of {len(digits)} digits: {digits[:20]}...")
    return int(digits)


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        ((duplicate, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"duplicate entry {duplicate!r:.80}")
    return entries


def need(is_right: bool, problem: str) -> None:
    """Raise a ``ValueError`` with this problem unless `is_right`."""
    if not is_right:
        raise ValueError(problem)
