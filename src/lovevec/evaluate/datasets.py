"""The data that vectors are evaluated on: the paper's sets by name, own files by path (formats: docs/data.md).

>>> similarity_set("RareWord", data_folder())         # pairs of words with scores
>>> word_classes("AP", data_folder())                 # words with classes
>>> texts("SST2", data_folder())                      # sentences with labels: train, dev, test
>>> tagged("CoNLL03", data_folder())                  # sentences with a tag for each token: train, dev, test
>>> find("Birkbeck", data_folder())                   # the files alone
"""

from lovevec.evaluate.data.classes import Classes, word_classes
from lovevec.evaluate.data.lines import digest_of, filled_lines, lines_of
from lovevec.evaluate.data.pairs import Pairs, similarity_set
from lovevec.evaluate.data.sets import SETS, DataSet, data_folder, find, find_or_own, known_set, names_of
from lovevec.evaluate.data.several import read_several
from lovevec.evaluate.data.tagged import Tagged, TagSplit, tagged
from lovevec.evaluate.data.texts import Texts, TextSplit, texts

__all__ = [
    "SETS",
    "Classes",
    "DataSet",
    "Pairs",
    "TagSplit",
    "Tagged",
    "TextSplit",
    "Texts",
    "data_folder",
    "digest_of",
    "filled_lines",
    "find",
    "find_or_own",
    "known_set",
    "lines_of",
    "names_of",
    "read_several",
    "similarity_set",
    "tagged",
    "texts",
    "word_classes",
]
