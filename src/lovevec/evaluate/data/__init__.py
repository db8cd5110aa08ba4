"""Readers of the plain formats that docs/data.md describes, one a file, and where the paper's sets are looked for."""
