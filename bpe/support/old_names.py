"""Old names of functions and options: for one release, the error about each of them gives the new name."""

from __future__ import annotations

from typing import NoReturn

# Delete this module, and what imports it, with the release after the next.
NEW_NAME_OF = {
    "Tokenizer.open": "Tokenizer.load",
    "Tokenizer.truncated": "Tokenizer.with_vocab_size",
    "specials": "disallowed_special",
    "bpe count -o": "bpe count-words -o",
    "bpe count --output": "bpe count-words --output",
    "bpe audit --text": "an argument: bpe audit TOKENIZER PATH",
    "bpe inspect --text": "an argument: bpe inspect TOKENIZER PATH",
    "bpe report --text": "an argument: bpe report TOKENIZER PATH -o PAGE",
    "--special": "--special-token",
    "--special-first": "--like",
    "--alphabet": "--like",
}


class OldName:
    """An attribute that was renamed: the AttributeError gives its new name."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = f"{owner.__name__}.{name}"

    def __get__(self, instance: object, owner: type) -> NoReturn:
        raise AttributeError(f"{self._name} is now {NEW_NAME_OF[self._name]}")
