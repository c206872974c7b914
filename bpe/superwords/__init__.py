"""Tokens that join words: training and counting of what it needs."""
