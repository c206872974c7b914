"""``KBest``, rows of the nearest candidates; ``k_best_layout`` is how an entry gets to its place in a row."""
