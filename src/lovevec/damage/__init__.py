"""How words get damaged: edits, look-alike characters, sound-alike spellings, noise in running text; by language.

Used by training (augmentation) and by evaluation (robustness) alike; knows neither.
"""
