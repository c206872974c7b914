"""Tokens that join words: how they are learned, and the counts that this requires."""
