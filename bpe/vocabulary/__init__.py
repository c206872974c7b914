"""Tokens, merges and ids, without any text."""
