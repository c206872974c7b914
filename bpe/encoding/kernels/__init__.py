"""The compiled functions of encoding, on plain arrays."""
