"""The commands that the lab adds to `lovevec`."""
