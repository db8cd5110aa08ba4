"""φ, the encoders: units -> vector. One interface, `encoder(units, index, lengths)`; one file for each.

This package needs torch. What an encoder is made of stands in `engine.spec`, which does not.
"""
