"""``DisjointSets``: the forest of union-find, in one array."""
