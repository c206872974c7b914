"""``KBest``: rows of the nearest candidates; ``k_best_layout`` inserts entries into rows."""
