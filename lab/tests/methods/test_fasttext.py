"""FastText as a rival, on models that fastText itself wrote (tests/vectors/data)."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from lab_factories import NASTY

from lovevec_lab.methods.fasttext import FastText

DATA = Path(__file__).parents[3] / "tests" / "vectors" / "data"
GOLDEN = json.loads((DATA / "fasttext.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", sorted(GOLDEN))
def test_vectors_and_words_are_those_of_fasttext(name):
    rival, expected = FastText(DATA / name, "ft"), GOLDEN[name]["vectors"]
    np.testing.assert_allclose(rival.embed(list(expected)), np.array(list(expected.values())), atol=1e-6)
    assert rival.words == GOLDEN[name]["words"]
    assert (rival.name, rival.parameters) == ("ft", (rival.model.matrix.size, 0))


@pytest.mark.parametrize("name", sorted(GOLDEN))
def test_covered_are_known_words_and_those_with_an_ngram(name):
    rival = FastText(DATA / name, "ft")
    minn, maxn = rival.model.minn, rival.model.maxn
    words = [*rival.words, "</s>", "q", "qq", "unknownword", "é", *NASTY]
    for word, covered in zip(words, rival.covers(words), strict=True):
        grams = [
            f"<{word}>"[start : start + n]
            for n in range(max(minn, 1), maxn + 1)
            for start in range(len(word) + 3 - n)
            if word != "</s>" and not (n == 1 and start in (0, len(word) + 1))
        ]
        assert covered == (word in rival.words or bool(grams)), repr(word[:20])
    assert not rival.embed([word for word, has in zip(words, rival.covers(words), strict=True) if not has]).any()
