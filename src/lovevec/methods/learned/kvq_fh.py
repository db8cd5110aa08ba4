"""KVQ-FH (Sasaki, Suzuki, Inui 2019): self-attention over a word's frequent substrings, whose rows are shared.

F: of all substrings of <word> with 3 to 30 characters the F most frequent. H: they share H rows by hashing. Each
substring has two entries (two hashes), and each entry three rows of the one table, a key, a value and a query:

    q = Σ_s q_s
    a_s = exp(√d q ⊙ k_s) / Σ_t exp(√d q ⊙ k_t)       number by number
    v = Σ_s a_s ⊙ v_s                                 loss: |v/|v| - u/|u||², which its code takes of directions

H is 40,000 as in the LOVE paper. Its code weighs a word's loss by the log of the word's frequency; without frequencies
all words count alike here. Words over 30 characters, which it leaves out, have only their substrings of 30.
"""

from __future__ import annotations

from lovevec.methods.learned.plain import plain_settings
from lovevec.train.settings import Settings

FREQUENT, ROWS = 100_000, 40_000


def settings(frequent: int = FREQUENT, rows: int = ROWS) -> Settings:
    """H of the LOVE paper; F, steps and rates fit for a few ten thousand words (its paper: F = 1M of 2M words)."""
    return plain_settings(
        encoder="kvq",
        input="substrings",
        shortest=3,
        longest=30,
        vocabulary_size=frequent,
        shrink="hash",
        keep=rows,
        hashes=6,
        start=0.17,  # as its code: numbers of 0.01
        learning_rate=0.002,
        epochs=10,
    )
