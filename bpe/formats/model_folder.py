"""The folder of a model: ``tokenizer.json``, and the files beside it that say how programs use the tokenizer.

=============================  ============================================================================
``tokenizer_config.json``      the class of ``transformers``, which tokens begin and end a text, the template
                               of a chat
``special_tokens_map.json``    the same of tokens, in older folders
``chat_template.jinja``        the template of a chat, in newer folders
=============================  ============================================================================

None of them changes the ids of a text. They are kept as they are (the part "files" of
:mod:`bpe.vocabulary.extras`), and written back; but special tokens that are new are put into
``added_tokens_decoder``, by which ``transformers`` goes. An ``auto_map`` names Python code, which is neither
kept nor written: it is left out, and the class is ``PreTrainedTokenizerFast`` then, which reads the
``tokenizer.json``.
"""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path
from typing import Any

from bpe.support.files import atomic_write
from bpe.support.json_text import read_json
from bpe.vocabulary.extras import FILES, MAX_FILES, from_text, to_text
from bpe.vocabulary.vocabulary import Vocabulary

TOKENIZER = "tokenizer.json"
CONFIG = "tokenizer_config.json"

# What is written, if no such file is kept. No role of a token, such as the end of a text, can be guessed.
_USUAL: dict[str, Any] = {
    CONFIG: {
        "clean_up_tokenization_spaces": False,  # transformers would take spaces out of decoded texts
        "tokenizer_class": "PreTrainedTokenizerFast",
    },
    "special_tokens_map.json": {},
}


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Say whether a path to be written is that of a folder: one that exists, or a name without a suffix.

    A suffix has letters alone: that of ``llama-3.1`` is none.
    """
    path = Path(path)
    return path.is_dir() or (not path.exists() and not path.suffix[1:].isalpha())


def with_files(vocabulary: Vocabulary, folder: str | os.PathLike[str]) -> Vocabulary:
    """Return a vocabulary that keeps the files beside its ``tokenizer.json``."""
    files = {name: content for name in FILES if (content := _read(Path(folder, name))) is not None}
    if not files:
        return vocabulary
    return vocabulary.replace(extras=to_text(from_text(vocabulary.extras) | {"files": files}))


def _read(path: Path) -> Any:
    """Return what is in a file: a JSON object, or a text; None if there is none."""
    if not path.is_file():
        return None
    with path.open("rb") as file:
        data = file.read(MAX_FILES + 1)
    try:
        if len(data) > MAX_FILES:
            raise ValueError(f"more than {MAX_FILES} bytes")
        content: Any = read_json(data) if path.suffix == ".json" else data.decode()
        if not isinstance(content, FILES[path.name]):
            raise ValueError("no object")
        to_text({"files": {path.name: content}})  # checks it
    except UnicodeDecodeError as error:
        raise ValueError(f"{path.name}: not UTF-8 at byte {error.start}") from None
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None
    return content


def write_files(vocabulary: Vocabulary, folder: str | os.PathLike[str], tokenizer_json: bytes) -> None:
    """Write the folder of a model, which is made if there is none."""
    files = _USUAL | from_text(vocabulary.extras)["files"]
    if files[CONFIG].pop("auto_map", None) is not None:
        files[CONFIG]["tokenizer_class"] = _USUAL[CONFIG]["tokenizer_class"]
        warnings.warn(
            f"auto_map of {CONFIG} left out: it names files of Python, which are not written",
            UserWarning,
            stacklevel=5,
        )
    Path(folder).mkdir(exist_ok=True)
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content, indent=2, ensure_ascii=False)
        atomic_write(Path(folder, name), text.encode())
    atomic_write(Path(folder, TOKENIZER), tokenizer_json)


def warn_without_folder(vocabulary: Vocabulary) -> None:
    """Warn that a single file does not hold the files of a folder."""
    if names := [*from_text(vocabulary.extras)["files"]]:
        warnings.warn(
            f"a tokenizer.json alone does not hold {', '.join(names)}: a folder does",
            UserWarning,
            stacklevel=4,
        )
