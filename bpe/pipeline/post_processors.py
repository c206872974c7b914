"""Post-processors: the ids that are put before and after those of one text.

A post-processor of ``tokenizers`` may also change type ids, which nothing here has, and offsets: with
``trim_offsets``, ``ByteLevel`` and ``RobertaProcessing`` leave out white space. Here they do not. Templates
for pairs of texts are kept in the entry, and not looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from bpe.pipeline.entries import FromEntry, flattened, unknown, value_of
from bpe.vocabulary.extras import from_text, to_text

_MOST_IDS = 100_000
_Ids: TypeAlias = tuple[int, ...]


class PostProcessor(FromEntry):
    """What is put around the ids of a text; make one with :meth:`of`.

    Known are ``TemplateProcessing``, ``RobertaProcessing``, ``BertProcessing``, ``ByteLevel``, ``Sequence``.
    """

    def __init__(self, entry: Any, where: str) -> None:
        super().__init__(entry, where)
        self.before: _Ids = ()
        self.after: _Ids = ()
        template = ""
        for place, step in flattened(entry, where, "processors"):
            kind = step["type"]
            if kind not in _READERS:
                raise unknown(step, place, _READERS)
            before, after = _READERS[kind](step, place)
            if template and kind != "ByteLevel":
                raise ValueError(
                    f"{place}, {kind}, stands after {template}, a TemplateProcessing: what it would put "
                    "where, is not defined. Let the TemplateProcessing put all ids"
                )
            template = place if kind == "TemplateProcessing" else template
            self.before, self.after = before + self.before, self.after + after
            if len(self.before) + len(self.after) > _MOST_IDS:
                raise _too_many(where)
        self.is_nothing = not (self.before or self.after)

    @classmethod
    def of(cls, entry: Any, where: str = "post_processor") -> PostProcessor:
        """Read a post-processor."""
        return cls(entry, where)


def with_around(
    extras: str, special_tokens: Mapping[str, int], before: Iterable[str], after: Iterable[str]
) -> str:
    """Return extras whose post-processor puts these special tokens around a text, and no others.

    A ``ByteLevel`` stays: ``tokenizers`` takes white space out of offsets with it.
    """
    sides: list[list[str]] = []
    for name, tokens in {"before": before, "after": after}.items():
        if isinstance(tokens, str):
            raise TypeError(f"{name} is a list of special tokens: write [{tokens!r:.80}]")
        sides.append([*tokens])
        for token in sides[-1]:
            if token not in special_tokens:
                raise ValueError(f"{token!r:.80} of {name} is not a special token")
    parts = from_text(extras)
    old = flattened(parts["document"].pop("post_processor", None), "post_processor", "processors")
    steps = [step for _, step in old if step["type"] == "ByteLevel"]
    if any(sides):
        # The second text of a pair gets the same tokens as the first, as in the tokenizers of Llama.
        single, second = (
            [
                *({"SpecialToken": {"id": token, "type_id": type_id}} for token in sides[0]),
                {"Sequence": {"id": name, "type_id": type_id}},
                *({"SpecialToken": {"id": token, "type_id": type_id}} for token in sides[1]),
            ]
            for type_id, name in enumerate("AB")
        )
        template = {
            "type": "TemplateProcessing",
            "single": single,
            "pair": single + second,
            "special_tokens": {
                token: {"id": token, "ids": [special_tokens[token]], "tokens": [token]}
                for token in sorted({*sides[0], *sides[1]})
            },
        }
        steps.append(template)
    if steps:
        sequence = {"type": "Sequence", "processors": steps}
        parts["document"]["post_processor"] = sequence if len(steps) > 1 else steps[0]
    return to_text(parts)


def _template(step: dict[str, Any], where: str) -> tuple[_Ids, _Ids]:
    tokens = value_of(step, where, "special_tokens", dict)
    parts: list[list[int]] = [[]]
    for i, piece in enumerate(value_of(step, where, "single", list)):
        place = f"{where}.single[{i}]"
        if not isinstance(piece, dict) or len(piece) != 1 or not piece.keys() <= {"Sequence", "SpecialToken"}:
            raise ValueError(
                f'{place} must be an object with either "Sequence" or "SpecialToken", not {piece!r:.80}'
            )
        (kind,) = piece
        name = value_of(value_of(piece, place, kind, dict), f"{place}.{kind}", "id", str)
        if kind == "SpecialToken":
            if name not in tokens:
                raise ValueError(f"{place} is the token {name!r:.80}, which {where}.special_tokens has not")
            parts[-1] += _ids_of(tokens[name], f"{where}.special_tokens[{name!r:.80}]")
            if len(parts[-1]) > _MOST_IDS:
                raise _too_many(where)
        elif name == "A":
            parts.append([])
        else:
            raise ValueError(f"{place} is the sequence {name!r:.80}: for one text there is only 'A'")
    if len(parts) != 2:
        raise ValueError(f"{where}.single has the text {len(parts) - 1} times; it must have it once")
    return tuple(parts[0]), tuple(parts[1])


def _ids_of(token: Any, where: str) -> list[int]:
    if not isinstance(token, dict):
        raise ValueError(f"{where} must be an object, not {token!r:.80}")
    ids, texts = (value_of(token, where, key, list) for key in ("ids", "tokens"))
    if len(ids) != len(texts):
        raise ValueError(f"{where} has {len(ids)} ids for {len(texts)} tokens")
    return [_id(number, f"{where}.ids[{i}]") for i, number in enumerate(ids)]


def _too_many(where: str) -> ValueError:
    return ValueError(f"{where} puts more than {_MOST_IDS} ids around a text")


def _id(number: Any, where: str) -> int:
    if type(number) is not int or not 0 <= number < 2**32:
        raise ValueError(f"{where} must be an id, not {number!r:.80}")
    return number


def _start_and_end(step: dict[str, Any], where: str) -> tuple[_Ids, _Ids]:
    numbers = []
    for key in ("cls", "sep"):
        pair = value_of(step, where, key, list)
        if len(pair) != 2 or not isinstance(pair[0], str):
            raise ValueError(f"{where}.{key} must be a token and its id, not {pair!r:.80}")
        numbers.append(_id(pair[1], f"{where}.{key}[1]"))
    return (numbers[0],), (numbers[1],)


_READERS: dict[str, Callable[[dict[str, Any], str], tuple[_Ids, _Ids]]] = {
    "TemplateProcessing": _template,
    "RobertaProcessing": _start_and_end,
    "BertProcessing": _start_and_end,
    "ByteLevel": lambda step, where: ((), ()),
}
