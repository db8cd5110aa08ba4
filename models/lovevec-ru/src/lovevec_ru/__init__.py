"""Russian for lovevec: LOVE.load("ru") finds the model folder here by the entry point."""
