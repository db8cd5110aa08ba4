"""How much a string looks like a word of its own: features of it, by the lexicon. What speaks for new is a sum over

constant   1
likeness   the log odds that it is a word, by its n-grams, from -6 (worse nonsense is no likelier a misspelling) to 4
           (many n-grams of words, as in words that are run together, do not make one word)
letters    the log of the number of letters
short      by how many letters it is shorter than four
begin      how much of it the longest word at its begin makes up
end        … and the longest word at its end: words in other forms, compounds (`unfriended`)
sibling    how much of it begins a word that goes on with another usual ending
listed     whether it is in the lexicon, as it stands: `soooo` is not, whatever it is compared as
digits     whether some are digits
name       whether it begins with a capital where others follow in lower case
capitals   whether it is a few capitals: a ticker, an abbreviation
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lovevec.near import exact
from lovevec.near.lexicon import Lexicon, end_hashes
from lovevec.units.ragged import Ragged

FEATURES = (
    *("constant", "likeness", "letters", "short", "begin", "end", "sibling", "listed"),
    *("digits", "name", "capitals"),
)
LISTED = FEATURES.index("listed")
CHOSEN = ("name", "capitals")  # not learned: the words of a target are in lower case, most of them
MIN_LIKENESS, MAX_LIKENESS = -6.0, 4.0

Numbers = NDArray[np.float64]
Bools = NDArray[np.bool_]


def features(
    lexicon: Lexicon, codes: Ragged, stretched: Bools, digits: Bools, names: Bools, capitals: Bools
) -> Numbers:
    """[strings, FEATURES] what speaks for or against each string being new, in the order of FEATURES; `stretched` says
    of which some letters were left out."""
    lengths, result = np.maximum(codes.lengths, 1), np.empty((len(codes), len(FEATURES)))
    hashes = end_hashes(codes)
    begin, end = lexicon.begins_and_ends(codes, hashes)
    whole = hashes[0][np.arange(len(codes)), codes.lengths]
    result[:, 0] = 1
    result[:, 1] = likeness(lexicon, codes)
    result[:, 2] = exact.log(lengths.astype(np.float64))
    result[:, 3] = np.maximum(4 - lengths, 0)
    result[:, 4] = begin / lengths
    result[:, 5] = end / lengths
    result[:, 6] = lexicon.siblings(codes, hashes) / lengths
    result[:, 7] = lexicon.has(whole) & ~stretched
    result[:, 8] = digits
    result[:, 9] = names
    result[:, 10] = capitals
    return result


def likeness(lexicon: Lexicon, codes: Ragged) -> Numbers:
    """[strings] the log odds that each is a word, within MIN_LIKENESS and MAX_LIKENESS."""
    odds = lexicon.likeness(codes).astype(np.float64) * lexicon.scale
    within: Numbers = np.minimum(np.maximum(odds, MIN_LIKENESS), MAX_LIKENESS)
    return within


def score(features: Numbers, weights: Numbers) -> Numbers:
    """[strings] what speaks for new: Σ weight · feature, added up one by one from the first."""
    total: Numbers = np.add.accumulate(features * weights, axis=1)[:, -1]
    return total
