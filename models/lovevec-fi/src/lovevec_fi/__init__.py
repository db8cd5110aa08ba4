"""Finnish for lovevec: LOVE.load("fi") finds the model folder here by the entry point."""
