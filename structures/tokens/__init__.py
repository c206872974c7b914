"""``TokenList``, a linked list of tokens, and ``PairIndex``, the positions of each pair of tokens."""
