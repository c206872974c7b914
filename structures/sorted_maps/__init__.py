"""``SortedMap``, a map with its keys in order."""
