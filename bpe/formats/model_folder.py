"""The folder of a model: ``tokenizer.json``, and the files beside it that say how programs use the tokenizer.

=============================  ============================================================================
``tokenizer_config.json``      the class of ``transformers``, which tokens begin and end a text, the template
                               of a chat
``special_tokens_map.json``    which tokens begin and end a text, in older folders
``chat_template.jinja``        the template of a chat, in newer folders
=============================  ============================================================================

None of them changes the ids of a text. They are kept as they are (the part "files" of
:mod:`bpe.vocabulary.extras`), and written back. New special tokens are also put into
``added_tokens_decoder``, which ``transformers`` uses. An ``auto_map`` names Python code, which is neither
kept nor written: it is left out, and the class becomes ``PreTrainedTokenizerFast``, which reads the
``tokenizer.json``.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from bpe.support.files import atomic_write
from bpe.support.json_text import read_json
from bpe.support.text import as_bytes
from bpe.support.warning import warn
from bpe.vocabulary.extras import FILES, MAX_FILES, ROLES, from_text, to_text
from bpe.vocabulary.vocabulary import Vocabulary

TOKENIZER = "tokenizer.json"
CONFIG = "tokenizer_config.json"
SPECIAL = "special_tokens_map.json"
TEMPLATE = "chat_template.jinja"

# What is written if the extras have no such file. The role of a token, such as end of text, is not guessed.
_USUAL: dict[str, Any] = {
    CONFIG: {
        "clean_up_tokenization_spaces": False,  # transformers would take spaces out of decoded texts
        "tokenizer_class": "PreTrainedTokenizerFast",
    },
    SPECIAL: {},
}


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Return whether a path to be written is a folder: one that exists, or a name without a suffix.

    A suffix has only letters, so ``llama-3.1`` has none.
    """
    path = Path(path)
    return path.is_dir() or (not path.exists() and not path.suffix[1:].isalpha())


def with_files(vocabulary: Vocabulary, folder: str | os.PathLike[str]) -> Vocabulary:
    """Return a vocabulary with the files beside its ``tokenizer.json`` as extras."""
    files = {name: content for name in FILES if (content := _read(Path(folder, name))) is not None}
    if not files:
        return vocabulary
    return vocabulary.replace(extras=to_text(from_text(vocabulary.extras) | {"files": files}))


def roles_of(vocabulary: Vocabulary) -> dict[str, int]:
    """Return the ids of the tokens to which the files of a folder give a role; the config decides."""
    files = from_text(vocabulary.extras)["files"]
    given = {**files.get(SPECIAL, {}), **files.get(CONFIG, {})}
    found = {}
    for role in ROLES:
        token = given.get(f"{role}_token")
        token = token.get("content") if isinstance(token, dict) else token
        if isinstance(token, str):
            token_id = vocabulary.cut_tokens.get(token, vocabulary.id_of.get(as_bytes(token)))
            if token_id is not None:
                found[role] = token_id
    return found


def with_config(vocabulary: Vocabulary, path: str | os.PathLike[str], config: dict[str, str]) -> Vocabulary:
    """Return a vocabulary whose folder has these entries in its ``tokenizer_config.json``, too."""
    if not config:
        return vocabulary
    if not is_folder(path):
        raise ValueError(
            f"a single tokenizer.json does not hold {', '.join(config)}: give a folder, "
            "or a name without a suffix"
        )
    roles = {name: token for name, token in config.items() if name != "chat_template"}
    for name, token in roles.items():
        if token not in vocabulary.special_tokens:  # transformers would cut any other out of every text
            raise ValueError(f"{name} is {token!r:.80}, which is not a special token")
    files = from_text(vocabulary.extras)["files"]
    files[CONFIG] = _USUAL[CONFIG] | files.get(CONFIG, {}) | config
    files[SPECIAL] = files.get(SPECIAL, {}) | roles
    if "chat_template" in config:  # transformers prefers the file, which the folder may already have
        files[TEMPLATE] = config["chat_template"]
    return vocabulary.replace(extras=to_text(from_text(vocabulary.extras) | {"files": files}))


def _read(path: Path) -> Any:
    """Return the content of a file, a JSON object or a text; None if there is no file."""
    if not path.is_file():
        return None
    with path.open("rb") as file:
        data = file.read(MAX_FILES + 1)
    try:
        if len(data) > MAX_FILES:
            raise ValueError(f"more than {MAX_FILES} bytes")
        content = read_json(data) if path.suffix == ".json" else data.decode()
        if not isinstance(content, FILES[path.name]):
            raise ValueError("not an object")
        to_text({"files": {path.name: content}})  # checks it
    except UnicodeDecodeError as error:
        raise ValueError(f"{path.name}: not UTF-8 at byte {error.start}") from None
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None
    return content


def write_files(vocabulary: Vocabulary, folder: str | os.PathLike[str], tokenizer_json: bytes) -> None:
    """Write the folder of a model; it is created if it does not exist."""
    files = _USUAL | from_text(vocabulary.extras)["files"]
    if files[CONFIG].pop("auto_map", None) is not None:
        files[CONFIG]["tokenizer_class"] = _USUAL[CONFIG]["tokenizer_class"]
        warn(
            f"auto_map of {CONFIG} left out: it names Python files, which are not written",
        )
    Path(folder).mkdir(exist_ok=True)
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content, indent=2, ensure_ascii=False)
        atomic_write(Path(folder, name), text.encode())
    atomic_write(Path(folder, TOKENIZER), tokenizer_json)


def warn_without_folder(vocabulary: Vocabulary) -> None:
    """Warn that a single file does not hold the files of a folder."""
    if names := [*from_text(vocabulary.extras)["files"]]:
        warn(
            f"a single tokenizer.json does not hold {', '.join(names)}: a folder does",
        )
