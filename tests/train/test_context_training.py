"""Training the model of context."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.factories import one_thread, random_love
from tests.texts.toy_language import SMALL, sentences

from lovevec import LOVE
from lovevec.errors import LovevecError
from lovevec.near.context import PAD, WINDOW, SentenceReader
from lovevec.progress import Progress
from lovevec.texts.sentence import NEW, NUMBER, STOP
from lovevec.train.context import DUE, ContextNet, Questions, make_typos, quantised, read_corpus, train_context

LOVED = random_love()
TEXTS = [*sentences(400, 1), *["the blorfing of the zebrine and 5km."] * 6]
QUICK = replace(SMALL, steps=3)


@pytest.fixture(scope="module")
def questions() -> Questions:
    rng = np.random.default_rng(0)
    corpus = read_corpus(LOVED, TEXTS, Progress(quiet=True))
    return Questions(corpus, make_typos(LOVED, corpus, rng), len(LOVED), rng)


def test_texts_are_read_as_rows_and_signs():
    corpus = read_corpus(LOVED, ["The house, blorfing 5km.", "bread", "blorfing"], Progress(quiet=True))
    the, house, bread = (LOVED.words.index(word) for word in ("the", "house", "bread"))
    assert corpus.ids.tolist() == [STOP, the, house, -2, NEW, NUMBER, STOP, STOP, bread, STOP, STOP, NEW, STOP]
    assert corpus.text.tolist() == [0] * 7 + [1] * 3 + [2] * 3
    assert corpus.new == ["blorfing"]
    assert corpus.new_words.tolist() == [0, 0]
    assert corpus.new_places.tolist() == [4, 11]


def test_windows_end_with_their_text(questions):
    corpus = questions.corpus
    for place in (1, len(corpus.ids) // 2, len(corpus.ids) - 2):
        window = questions.windows(np.array([place]))[0]
        around = [*range(place - WINDOW, place), *range(place + 1, place + WINDOW + 1)]
        inside = [0 <= at < len(corpus.ids) and corpus.text[at] == corpus.text[place] for at in around]
        expected = [int(corpus.ids[at]) if is_in else PAD for at, is_in in zip(around, inside, strict=True)]
        assert window.tolist() == expected


def test_misspellings_are_readings_of_strings_that_are_not_known(questions):
    typos = questions.typos
    for word in np.flatnonzero(questions.count).tolist():
        part = slice(typos.first[word], typos.first[word + 1])
        right = typos.right[part]
        assert (typos.rows[part][np.arange(len(right)), right] == word).all()
    assert {questions.corpus.new[number] for number in typos.new.tolist()} == {"blorfing", "zebrine"}
    assert (typos.right[typos.first[len(LOVED)] :] == typos.rows.shape[1]).all()


def test_batches_hold_what_stands_in_the_text(questions):
    windows, strings, words = questions.batch(100)
    assert windows.shape == (100, 2 * WINDOW)
    assert len(strings) == 100
    assert len(words) < 100  # the rest is new
    right = questions.typos.rows[strings[: len(words)], questions.typos.right[strings[: len(words)]]]
    assert right.tolist() == words.tolist()
    assert (questions.typos.right[strings[len(words) :]] == questions.typos.rows.shape[1]).all()


def test_whole_numbers_say_what_the_network_says(questions):
    torch.manual_seed(0)
    with one_thread():
        net = ContextNet(QUICK, torch.from_numpy(LOVED.parts.rows.all()), torch.device("cpu"))
        context = quantised(net, questions, 1.0)
        places = questions.places[:200]
        windows = questions.windows(places)
        rows = np.random.default_rng(0).integers(0, len(LOVED), (len(places), 10)).astype(np.int32)
        with torch.no_grad():
            expected, frequent, new = net(torch.from_numpy(windows).long())
            scores = net.scores(expected, frequent, torch.from_numpy(rows).long()).numpy()
            scores -= np.where(rows < net.frequent, DUE * np.log(questions.drawn[rows]), 0)
    reader = SentenceReader(context, LOVE(LOVED.parts, engine="numpy")._own_vectors)
    whole = reader.scores(windows, rows)
    np.testing.assert_allclose(whole[:, :10], scores, atol=0.1 * float(np.abs(scores).std()))
    np.testing.assert_allclose(whole[:, 10], new.numpy(), atol=0.05)
    np.testing.assert_allclose(reader.expected(windows), expected.numpy(), atol=0.05 * float(expected.abs().max()))


def test_the_same_seed_gives_the_same_model():
    with one_thread():
        (one, report), (other, _) = (train_context(LOVED, TEXTS, QUICK) for _ in range(2))
        third, _ = train_context(LOVED, TEXTS, replace(QUICK, seed=1))
    assert all(np.array_equal(one.tensors()[name], tensor) for name, tensor in other.tensors().items())
    assert not np.array_equal(one.projection, third.projection)
    assert report["steps"] == 3
    assert report["words"] == sum(len(text.split()) for text in sentences(400, 1)) + 6 * 4


@pytest.mark.parametrize(
    ("texts", "says"),
    [([], "0 words and marks are too few"), (["the house"], "too few"), (["qqq qqq"] * 400, "no known word in them")],
)
def test_texts_from_which_nothing_can_be_learned(texts, says):
    with pytest.raises(LovevecError, match=f"texts: .*{says}"):
        train_context(LOVED, texts, QUICK)


def test_a_model_without_rows_cannot_learn():
    with pytest.raises(LovevecError, match="has no rows of known words"):
        train_context(random_love(spelling_only=True), TEXTS, QUICK)
