"""Search in a collection of texts that forgives typos: `index = love.index(texts)`, `index.search(query)`.

Three signals find candidates and judge them (signals.py): words as they are read (terms.py), letters (letters.py) and
meaning (meaning.py). One rule makes a score of them (fusion.py).

Tables are compared by `love.match(left, right)` (match.py) and `love.dedupe(records)` (dedupe.py).
"""

from lovevec.search.dedupe import Groups
from lovevec.search.folder import about_index, is_index
from lovevec.search.hits import Hit, Met, Why
from lovevec.search.index import Index
from lovevec.search.match import Match, Matches
from lovevec.search.signals import FEATURES

__all__ = ["FEATURES", "Groups", "Hit", "Index", "Match", "Matches", "Met", "Why", "about_index", "is_index"]
