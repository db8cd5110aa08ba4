"""Pictures (extra `plots`). Nothing here opens a window or changes matplotlib's global state."""
