"""Readers of word-vector files, one file a format."""
