"""What any program has: text, threads, memory, files, progress."""
