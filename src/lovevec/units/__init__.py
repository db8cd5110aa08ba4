"""ζ: words as rows of units. Characters, pieces, n-grams, and the mixed input made of them."""
