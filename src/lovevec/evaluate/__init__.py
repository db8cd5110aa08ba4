"""How good vectors are: similarity, clusters, real misspellings, text classification, tagging, under noise."""
