"""``TokenList``, a linked list of tokens, and ``PairIndex``, where each pair of tokens stands."""
