"""Rivals that learn by mimicry, one a file."""
