"""Pictures of scores and vectors. Nothing here opens a window or changes matplotlib's global state."""
