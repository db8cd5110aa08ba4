"""Plug-ins: lovevec inside other libraries. One file for each; each needs its extra."""
