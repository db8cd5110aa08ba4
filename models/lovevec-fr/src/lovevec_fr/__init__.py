"""French for lovevec: LOVE.load("fr") finds the model folder here by the entry point."""
