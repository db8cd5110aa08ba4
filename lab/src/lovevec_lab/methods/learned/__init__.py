"""Rivals that learn by mimicry, one a file; what they share stands in rival.py, mimicry.py and substrings.py."""

RIVAL = "rival.json"  # a folder that holds this file holds a rival
