"""LoveVectorizer against love.encode, scikit-learn's own TfidfVectorizer and TruncatedSVD, and check_estimator."""

from __future__ import annotations

import pickle
import warnings
from zlib import crc32

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import validate_data

from lovevec import LOVE
from lovevec.plugins import load_love
from lovevec.plugins.sklearn import LoveVectorizer

TEXTS = [
    "the cat sat with the dog",
    "the dog barked and the horse ran",
    "the oxygen and the hydrogen gas",
    "a gas of oxygen atoms, the helium gas",
    "the cat and the horse",
    "hydrogen atoms and helium",
]
LABELS = [0, 0, 1, 1, 0, 1]
WORDS = r"(?u)\b\w+\b"


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def single(shipped_love):
    """What one word adds to a text where all count the same."""
    uniform = LoveVectorizer(shipped_love, weights="uniform", normalize=False).fit(["a"])
    return uniform.transform


def test_mean_is_what_encode_gives(shipped_love):
    texts = [*TEXTS, "wonderfull fi1m", "", "?!"]
    found = LoveVectorizer(shipped_love).fit_transform(texts)
    assert np.array_equal(found, shipped_love.encode(texts))
    assert not found[-2:].any()
    raw = LoveVectorizer(shipped_love, normalize=False).fit_transform(texts)
    assert np.array_equal(raw, shipped_love.encode(texts, normalize_embeddings=False))


def test_tfidf_is_scikit_learns_own_times_the_words_vectors(shipped_love, single):
    tfidf = TfidfVectorizer(norm=None, token_pattern=WORDS).fit(TEXTS[:5])
    expected = unit(tfidf.transform(TEXTS[:5]) @ single(tfidf.get_feature_names_out().tolist()))
    found = LoveVectorizer(shipped_love, weights="tfidf").fit(TEXTS[:5])
    np.testing.assert_allclose(found.transform(TEXTS[:5]), expected, atol=1e-5)
    idf = found.weights_[[shipped_love.words.index(word) for word in tfidf.get_feature_names_out()]]
    np.testing.assert_allclose(idf, tfidf.idf_, rtol=1e-6)
    unseen = found.weights_[shipped_love.words.index("architect")]
    assert unseen == found.weights_.max() == pytest.approx(np.log(6) + 1)


def test_a_misspelling_counts_in_fit_for_the_word_that_was_meant(shipped_love):
    row = shipped_love.words.index("tomorrow")
    clean, mistyped, without = (
        LoveVectorizer(shipped_love, weights="tfidf").fit([*TEXTS, text]).weights_[row]
        for text in ("see you tomorrow", "see you tommorow", "see you there")
    )
    assert clean == pytest.approx(mistyped, abs=0.01)
    assert clean < without


def test_sif_takes_off_what_the_texts_have_in_common(shipped_love, single):
    counter = CountVectorizer(token_pattern=WORDS).fit(TEXTS)
    counts = counter.transform(TEXTS)
    share = np.asarray(counts.sum(axis=0))[0] / counts.sum()
    rows = unit(counts.multiply(1e-3 / (1e-3 + share)).tocsr() @ single(counter.get_feature_names_out().tolist()))
    common = TruncatedSVD(1, algorithm="arpack").fit(rows).components_[0]
    expected = unit(rows - np.outer(rows @ common, common))
    found = LoveVectorizer(shipped_love, pooling="sif").fit(TEXTS)
    np.testing.assert_allclose(found.transform(TEXTS), expected, atol=1e-4)
    assert abs(found.transform(TEXTS) @ found.component_).max() < 1e-5


def test_max_is_over_the_words(shipped_love):
    words = ["the", "well", "known", "tommorow"]
    expected = shipped_love.lookup(words, in_text=True).vectors
    text = "the well-known, TOMMOROW"
    found = LoveVectorizer(shipped_love, pooling="max", normalize=False).fit_transform([text, "", "tommorow"])
    whole = shipped_love.lookup(["the", "well", "known"], in_text=True).vectors.max(axis=0)
    assert (found[0] >= whole - 1e-6).all()
    assert not found[1].any()
    near = [word for word, chance in shipped_love.near("tommorow") if chance > 0.9]
    assert near == ["tomorrow"]
    cosine = found[2] @ expected[3] / np.linalg.norm(found[2])  # its length tells doubt
    assert cosine > 0.9999
    known = LoveVectorizer(shipped_love, pooling="max").fit_transform(["the well-known gas"])
    row = shipped_love.embed(["the", "well", "known", "gas"]).max(axis=0)
    np.testing.assert_allclose(known[0], row / np.linalg.norm(row), atol=1e-6)


def test_idf_is_that_of_a_fitted_model(shipped_love):
    found = LoveVectorizer(shipped_love, weights="idf").fit(TEXTS[:5]).transform(TEXTS)
    fitted = shipped_love.fitted(TEXTS[:5])
    np.testing.assert_allclose(found, fitted.encode(list(TEXTS)), atol=1e-5)
    assert np.abs(found - shipped_love.encode(list(TEXTS))).max() > 0.01


@pytest.mark.parametrize("options", [{}, {"pooling": "sif"}, {"pooling": "max"}, {"weights": "tfidf"}])
def test_a_text_has_the_same_bits_in_any_company_and_after_pickling(shipped_love, options):
    made = LoveVectorizer(shipped_love, **options).fit(TEXTS)
    rows = made.transform(TEXTS)
    assert np.array_equal(np.concatenate([made.transform([text]) for text in TEXTS]), rows)
    again = pickle.loads(pickle.dumps(made))
    assert np.array_equal(again.transform(TEXTS), rows)
    assert again.love_ is again.love


def test_spelling_only_pickles_too():
    love = LOVE.load(spelling_only=True)
    made = LoveVectorizer(love, weights="uniform").fit(TEXTS)
    assert np.array_equal(pickle.loads(pickle.dumps(made)).transform(TEXTS), made.transform(TEXTS))


def test_columns_have_names_and_frames_come_out(shipped_love):
    made = LoveVectorizer(shipped_love).fit(TEXTS)
    names = made.get_feature_names_out()
    assert names[0] == "lovevectorizer0"
    assert len(names) == 300
    frame = clone(made).set_output(transform="pandas").fit_transform(pd.Series(TEXTS))
    assert list(frame.columns) == list(names)
    assert np.array_equal(frame.to_numpy(), made.transform(TEXTS))
    table = clone(made).set_output(transform="polars").fit_transform(pl.Series(TEXTS))
    assert isinstance(table, pl.DataFrame)
    assert np.array_equal(table.to_numpy(), made.transform(TEXTS))


def test_in_a_pipeline_a_column_transformer_and_a_grid(shipped_love):
    frame = pd.DataFrame({"title": TEXTS, "price": range(6)})
    columns = ColumnTransformer([("t", LoveVectorizer(shipped_love), "title")], remainder="passthrough")
    assert columns.fit_transform(frame).shape == (6, 301)
    pipeline = make_pipeline(LoveVectorizer(shipped_love), LogisticRegression(C=100))
    grid = {"lovevectorizer__pooling": ["mean", "sif", "max"], "lovevectorizer__weights": [None, "tfidf", "uniform"]}
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(TEXTS, LABELS)
    assert len(search.cv_results_["params"]) == 9
    assert search.best_score_ > 0.8
    assert search.predict(["the hoorse and the catt", "oxgen gass"]).tolist() == [0, 1]


def test_a_copy_shares_the_model(shipped_love):
    assert clone(LoveVectorizer(shipped_love)).love is shipped_love
    first, second = LoveVectorizer().fit(TEXTS), LoveVectorizer().fit(TEXTS)
    assert first.love_ is second.love_  # the shipped one is read once
    assert first.get_params() == {"love": None, "normalize": True, "pooling": "mean", "weights": None}


def test_by_ones_own_vectors(shipped_love):
    words = ["cat", "dog", "gas"]
    robust = shipped_love.attach((words, shipped_love.embed(words) * 2))
    found = LoveVectorizer(robust).fit_transform(TEXTS)
    assert np.array_equal(found, robust.encode(TEXTS))


@pytest.mark.parametrize(
    ("options", "texts", "message"),
    [
        ({"pooling": "min"}, TEXTS, "pooling is 'min': choose one of mean, sif, max"),
        ({"weights": "bm25"}, TEXTS, "weights is 'bm25': choose one of model, idf"),
        ({"love": 7}, TEXTS, "not int"),
        ({"love": "/no/such/folder"}, TEXTS, "/no/such/folder"),
        ({}, "one text", "string object received"),
        ({}, ["a", None], "text 1 is not a string but NoneType"),
        ({}, [], "0 texts"),
        ({}, pd.DataFrame({"title": TEXTS}), 'frame\\["title"\\]'),
    ],
)
def test_errors_are_scikit_learns_kind(options, texts, message):
    with pytest.raises(ValueError, match=message):
        LoveVectorizer(**options).fit(texts)


def test_it_has_to_be_fitted():
    with pytest.raises(NotFittedError):
        LoveVectorizer().transform(TEXTS)


def word_of(number: float) -> str:
    words = load_love(None).words
    return words[crc32(f"{number:.3g}".encode()) % len(words)]


class OfNumbers(LoveVectorizer):
    """The thin adapter: check_estimator has rows of numbers, so a number becomes a word, a row a text."""

    def _texts(self, X, fitting=True):
        numbers = validate_data(self, X, reset=fitting, dtype="numeric")
        return super()._texts([" ".join(map(word_of, row)) for row in numbers], fitting)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.one_d_array = False
        tags.input_tags.two_d_array = True
        return tags


# Checks that cannot hold, by name, with the reason.
EXPECTED: dict[str, str] = {}


@pytest.mark.parametrize(
    "options",
    [
        {},
        pytest.param({"pooling": "sif"}, marks=pytest.mark.slow),
        pytest.param({"pooling": "max", "weights": "tfidf"}, marks=pytest.mark.slow),
    ],
)
def test_scikit_learns_own_checks(shipped_love, options):
    """A check that fails and is not listed fails the run; so does a listed one that passes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(
            OfNumbers(shipped_love, **options), expected_failed_checks=EXPECTED, on_fail=None, on_skip=None
        )
    failed = {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"}
    assert not failed
    assert {result["check_name"] for result in results if result["status"] == "xfail"} == set(EXPECTED)
    assert sum(result["status"] == "passed" for result in results) > 40
