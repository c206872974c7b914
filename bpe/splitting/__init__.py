"""Where a text is cut: patterns, their dialects, special tokens."""
