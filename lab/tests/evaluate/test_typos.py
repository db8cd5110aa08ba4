"""Recovery of misspellings against a plain float64 count."""

from __future__ import annotations

import numpy as np
import pytest
from lab_factories import stem_table, word_table

from lovevec.errors import LovevecError
from lovevec_lab.evaluate.typos import (
    MISSPELLINGS_PER_BATCH,
    Misspellings,
    lowercase_table,
    recovery,
    score_typos,
    trial,
)
from lovevec_lab.methods.edit_distance import EditDistance
from lovevec_lab.methods.method import Method, Parameters
from lovevec_lab.methods.unknown import Unk

TABLE = stem_table(150)
LIST = Misspellings("list", [word for word in TABLE.words for _ in "ab"], [w + x for w in TABLE.words for x in "qz"])


class Fixed(Method):
    """A method that has a given vector for each word, zeros for the others."""

    name, dim, parameters = "fixed", TABLE.dim, Parameters(0)

    def __init__(self, rows):
        self.rows = rows

    def embed(self, words):
        return np.array([self.rows.get(word, np.zeros(self.dim)) for word in words], np.float32)

    def covers(self, words):
        return np.array([word in self.rows for word in words])


def test_what_counts():
    table = word_table(["the", "cat", "hat"])
    given = Misspellings("x", ["cat", "cat", "dog", "the"], ["caat", "hat", "doog", "teh"])
    found = trial(given, table)
    assert (found.wrong, found.rows.tolist()) == (["caat", "teh"], [1, 0])
    with pytest.raises(LovevecError, match="x: no misspelling of a word of made"):
        trial(Misspellings("x", ["dog"], ["doog"]), table)


def test_a_draw_is_seeded_and_keeps_the_order():
    drawn = [trial(LIST, TABLE, 40, seed).wrong for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert len(drawn[0]) == 40
    assert drawn[0] == [word for word in LIST.wrong if word in set(drawn[0])]


def test_ranks_and_cosines_are_those_of_the_definition():
    rng = np.random.default_rng(0)
    tried = trial(LIST, TABLE)
    noisy = (TABLE.vectors[tried.rows] + rng.normal(size=(300, TABLE.dim)) * 2) * rng.uniform(0.1, 9, (300, 1))
    noisy[::7] = 0
    made = dict(zip(tried.wrong, noisy, strict=True))
    score = score_typos(Fixed({word: row for word, row in made.items() if row.any()}), TABLE, [tried], 50).sets[0]
    target = TABLE.vectors.astype(np.float64)
    target /= np.linalg.norm(target, axis=1, keepdims=True)
    top1 = top10 = near = 0.0
    for vector, row in zip(noisy.astype(np.float32).astype(np.float64), tried.rows, strict=True):
        if vector.any():
            cosine = target @ vector / np.linalg.norm(vector)
            before = (cosine > cosine[row]).sum()
            top1, top10, near = top1 + (before < 1), top10 + (before < 10), near + cosine[row]
    assert score.top1.mean == pytest.approx(top1 / 3)
    assert score.top10.mean == pytest.approx(top10 / 3)
    assert score.cosine.mean == pytest.approx(near / 300, abs=1e-5)
    assert score.covered == pytest.approx(100 * noisy.any(axis=1).mean())
    assert (score.misspellings, score.words) == (300, 150)
    assert 0 < score.top1.mean < score.top10.mean < 100
    for measured in (score.top1, score.top10, score.cosine):
        assert measured.low < measured.mean < measured.high


def test_zero_vectors_are_never_right_and_batches_do_not_matter():
    many = MISSPELLINGS_PER_BATCH + 10
    made = np.tile(TABLE.vectors[:1], (many, 1))
    made[-5:] = 0
    cosine, rank = recovery(made, TABLE.vectors, np.zeros(many, np.int64))
    np.testing.assert_allclose(cosine[:-5], 1, atol=1e-5)
    assert not rank[:-5].any()
    assert not cosine[-5:].any()
    assert (rank[-5:] == len(TABLE.words)).all()


def test_a_method_that_answers_with_words():
    score, unk = (
        score_typos(rival, TABLE, [trial(LIST, TABLE)], 20).sets[0] for rival in (EditDistance(TABLE), Unk(TABLE))
    )
    assert score.top1.mean == score.top10.mean == score.covered == 100  # one letter too many, the word is nearest
    assert score.cosine.mean == pytest.approx(1)
    assert unk.covered == 0
    assert unk.top1.mean < 5


def test_the_interval_is_of_words_not_of_misspellings():
    """100 words, one of them with most misspellings, which are all right: not as sure as 1,000 hits would be."""
    table = stem_table(100)
    wrong = [f"{table.words[0]}{n}" for n in range(900)] + [f"{word}x" for word in table.words]
    given = Misspellings("x", [table.words[0]] * 900 + table.words, wrong)
    method = Fixed(dict.fromkeys(wrong[:901], table.vectors[0]))
    score = score_typos(method, table, [trial(given, table)], 400).sets[0]
    assert score.top1.mean == pytest.approx(90.1)
    assert score.top1.low == 0  # a third of all draws do not have the first word
    assert score == score_typos(method, table, [trial(given, table)], 400).sets[0]
    assert score.top1 != score_typos(method, table, [trial(given, table)], 400, seed=1).sets[0].top1


def test_vectors_that_are_not_finite_are_refused():
    method = Fixed({LIST.wrong[3]: np.full(TABLE.dim, np.nan)})
    with pytest.raises(LovevecError, match=f"fixed: its vector of '{LIST.wrong[3]}'"):
        score_typos(method, TABLE, [trial(LIST, TABLE)])


def test_a_cased_target_is_lower_cased_once():
    table = word_table(["Cat", "cat", "Dog"])
    lower = lowercase_table(table)
    assert lower.words == ["cat", "dog"]
    assert np.array_equal(lower.vectors, table.vectors[1:])
    assert lowercase_table(lower) is lower


def test_plain_scores_can_be_published():
    plain = score_typos(Unk(TABLE), TABLE, [trial(LIST, TABLE)], 5).plain()
    assert plain["parameters"] == {"embedding": 151 * TABLE.dim, "others": 0}
    assert plain["sets"][0]["top1"].keys() == {"mean", "low", "high"}
