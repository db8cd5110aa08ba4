"""Vectors of whole texts: the weighted mean of their words' vectors, each word by its reading.

    text   = Σ weight(word) · vector(word), at unit length
    word   = known: its own row;  else Σ p(known word) · weight · its row + p(new) · weight of a rare word · imputed

tokens.py says what the words of a text are, text_reader.py how they are read, encoder.py adds up.
"""
