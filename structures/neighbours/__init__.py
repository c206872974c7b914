"""``KBest``, rows of the nearest candidates; ``sorted_lanes`` is how an entry gets to its place in a row."""
