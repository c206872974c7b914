"""From text to the counts of its pieces: on threads, on clusters, in files."""
