"""φ, the encoders: units -> vector. One interface, `encoder(units, index, lengths)`; the ablations stand in one file.

This package needs torch. What an encoder is made of stands in `engine.fold`, which does not.
"""
