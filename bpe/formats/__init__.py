"""File formats of tokenizers, a module each."""
