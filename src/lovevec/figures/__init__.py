"""The picture of an explanation, and what all pictures share (extra `plots`). Nothing here opens a window or changes
matplotlib's global state."""
