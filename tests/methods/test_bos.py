"""BoS against its definition, spelled out in Python."""

from __future__ import annotations

import numpy as np
from tests.conftest import made_words
from tests.methods.made_models import check_training, random_model, rows_of
from tests.methods.made_tables import NASTY

from lovevec.methods.learned import bos
from lovevec.methods.model import Model
from lovevec.train import Settings, train
from lovevec.train.loop import held_back

WORDS = made_words(60)


def substrings(word: str) -> list[str]:
    shown = f"\x02{word}\x03"
    return [shown[low : low + length] for length in (3, 4, 5, 6) for low in range(len(shown) - length + 1)]


def test_a_vector_is_the_mean_of_the_known_substrings():
    model = random_model(bos.settings(), WORDS)
    rows = rows_of(model)
    assert set(rows) == {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[SUB]"}.union(*map(substrings, WORDS))
    shown = [*WORDS, "bread", "treadbare", "bonobonobo", "a"]
    expected = [np.mean([rows[text] for text in substrings(word) if text in rows], axis=0) for word in shown[:-1]]
    found = model.embed(shown)
    np.testing.assert_allclose(found[:-1], expected, atol=1e-6)
    np.testing.assert_allclose(found[-1], rows["[UNK]"], atol=1e-6)
    assert np.array_equal(model.love.embed(["BREAD"]), model.love.embed(["bread"]))


def test_it_learns(tmp_path):
    check_training(bos.settings(), tmp_path, NASTY)


def test_a_word_of_which_nothing_is_known_gets_the_mean_of_the_target():
    words = ["bread", "breads", "bred"]
    vectors = np.array([[1.0, 2, 3, 5], [0, 2, 3, 1], [5, 2, 6, 3]], dtype=np.float32)
    settings = Settings(**{**bos.settings().as_dict(), "holdout": 0.0, "device": "cpu", "epochs": 2})
    model = Model(train((words, vectors), settings), "BoS")
    np.testing.assert_allclose(model.embed(["xyz", "", "🙂"]), np.tile(vectors.mean(axis=0), (3, 1)), atol=1e-5)


def test_substrings_that_only_words_held_back_have_are_unknown():
    words = made_words(100)
    vectors = np.random.default_rng(0).normal(size=(100, 6)).astype(np.float32)
    settings = Settings(**{**bos.settings().as_dict(), "holdout": 0.3, "device": "cpu", "epochs": 1})
    model = Model(train((words, vectors), settings), "BoS")
    hidden = set(held_back(100, settings).tolist())
    seen = [substrings(word) for row, word in enumerate(words) if row not in hidden]
    rows = rows_of(model)
    assert set(rows) == {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[SUB]"}.union(*seen)
    assert all(row.any() for name, row in rows.items() if name[0] != "[")
    np.testing.assert_allclose(np.linalg.norm(model.love.embed(words), axis=1), 1, atol=1e-5)
    names = [unit.name for unit in model.love.explain(words[0]).units]
    assert sorted(names) == sorted(text.translate({2: "<", 3: ">"}) for text in substrings(words[0]) if text in rows)
