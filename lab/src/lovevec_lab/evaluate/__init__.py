"""How good vectors are: similarity, clusters, misspellings (also in texts), new words, whole texts, classification,
tagging, speed.

>>> from lovevec_lab.evaluate import typos
>>> result = typos(["default", "mine=my-model"], sets=["birkbeck"], target="glove.txt", rivals="symspell")
>>> print(result.markdown())
>>> result.write("results")                          # JSON, table, pictures

A method is a name as on the command line (a model, a vector file, a fastText .bin), or a Method, a LOVE, a table of
vectors. Options have the names of the flags of `lovevec evaluate`; every task gives a `Result`. torch is imported when
a task trains something.
"""

from lovevec_lab.evaluate.classify import classify
from lovevec_lab.evaluate.clusters import clusters
from lovevec_lab.evaluate.context import context
from lovevec_lab.evaluate.match import match
from lovevec_lab.evaluate.new_words import new_words
from lovevec_lab.evaluate.results import Result
from lovevec_lab.evaluate.search import search
from lovevec_lab.evaluate.similarity import similarity
from lovevec_lab.evaluate.speed import speed
from lovevec_lab.evaluate.tag import tag
from lovevec_lab.evaluate.texts import texts
from lovevec_lab.evaluate.typos import typos

__all__ = [
    "Result",
    "classify",
    "clusters",
    "context",
    "match",
    "new_words",
    "search",
    "similarity",
    "speed",
    "tag",
    "texts",
    "typos",
]
