"""File formats of tokenizers, a module each, and :mod:`bpe.formats.conversion`, which calls them.

A module has what reads the content of a file, ``parse(data)`` of bytes or ``of_document(document)`` of parsed
JSON, which returns a vocabulary and a pattern, and ``dump(vocabulary, pattern)``, the bytes, if the format is
written, too. Both raise ``ValueError`` for what they cannot hold.
"""

FORMATS = ("native", "huggingface", "tiktoken", "gpt2", "minbpe")
READ_ONLY = ("sentencepiece", "tekken", "npm")
