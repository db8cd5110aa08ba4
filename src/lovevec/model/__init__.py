"""The model folder: what is in it, reading, writing, finding; the models that ship."""
