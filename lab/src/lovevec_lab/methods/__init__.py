"""The other ways to get a vector for an unknown word, behind one interface (method.py)."""
