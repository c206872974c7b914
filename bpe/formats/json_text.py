"""JSON as the formats read it: any bytes at all give a value or a ``ValueError`` that says where."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

__all__ = ["read_json"]


def read_json(data: bytes) -> Any:
    """Return the value that a JSON text stands for.

    Parameters
    ----------
    data : bytes
        Any bytes at all.

    Returns
    -------
    object

    Raises
    ------
    ValueError
        It is not JSON, or an entry of an object stands there twice.

    Complexity
    ----------
    O(n).

    Examples
    --------
    >>> read_json(b'{"version": 1}')
    {'version': 1}
    >>> read_json(b'{"version": 1,')
    Traceback (most recent call last):
    ...
    ValueError: not JSON at line 1, column 15: Expecting property name enclosed in double quotes
    """
    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=_without_repeats)
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 at byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON at line {error.lineno}, column {error.colno}: {error.msg}") from None
    except RecursionError:
        raise ValueError("not a tokenizer: nested too deeply") from None


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        (twice, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"entry {twice!r:.80} stands there twice")
    return entries
