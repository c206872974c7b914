"""Corpora encoded to files of ids."""
