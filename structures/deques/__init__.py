"""``Deque``: a ring of numbers with two ends."""
