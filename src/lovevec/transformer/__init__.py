"""BERT-like models: loading, which pieces make a word, input embeddings, distilling."""
