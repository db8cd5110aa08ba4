"""A CharCNN makes vectors for unknown words from their letters alone, and leaves the others theirs."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lab_factories import table_from_rows
from tests.factories import toy_words

from lovevec_lab.evaluate.nets import CharCNNSettings, CNNSettings
from lovevec_lab.evaluate.nets.char_cnn import (
    LETTERS,
    LONGEST,
    CharCNN,
    Frozen,
    WithCharCNN,
    input_layer,
    letters_of,
    seed_weights,
)
from lovevec_lab.evaluate.nets.lookup import look_up
from lovevec_lab.evaluate.nets.text_cnn import TextCNN, TextRows, accuracy, train_cnn

pytestmark = pytest.mark.usefixtures("on_one_thread")
CPU = torch.device("cpu")
SMALL = CharCNNSettings(letter_dim=8, widths=(2, 3), filters=16, share=0.5)
KNOWN = {"good": [1, 0, 0, 2], "bad": [0, 1, 0, 1], "a": [0, 0, 1, 0]}


def layer_of(words: list[str], share: float = 0.3, seed: int = 0) -> tuple[CharCNN, dict[str, int]]:
    method = WithCharCNN(table_from_rows(KNOWN), CharCNNSettings(8, (2, 3), 16, share))
    lookup = look_up(method, [["good", "bad", "a"]], [words])
    layer = input_layer(method, lookup)
    seed_weights(layer, seed, CPU)
    assert isinstance(layer, CharCNN)
    return layer.eval(), lookup.rows


def test_known_words_keep_their_vectors_and_padding_is_zero():
    layer, rows = layer_of(["goood"])
    found = layer(torch.tensor([[rows["good"], rows["goood"], 0], [rows["bad"], 0, 0]])).detach()
    lookup = look_up(table_from_rows(KNOWN), [["good", "bad", "a"]])
    np.testing.assert_array_equal(found[0, 0], lookup.vectors[lookup.rows["good"]])
    np.testing.assert_array_equal(found[1, 0], lookup.vectors[lookup.rows["bad"]])
    assert not found[0, 2].any()
    assert not found[1, 1:].any()
    assert found[0, 1].norm() > 0


@given(st.lists(st.text(max_size=70), min_size=1, max_size=6, unique=True))
@settings(deadline=None, max_examples=40)
def test_an_unknown_word_has_one_vector_whatever_stands_beside_it(words):
    words = [word for word in words if word.lower() not in KNOWN]
    layer, rows = layer_of([*words, "verylongword" * 4])
    together = layer(torch.tensor(list(rows.values()))).detach()
    for word in words:
        alone, mine = layer_of([word])
        np.testing.assert_allclose(alone(torch.tensor([mine[word]])).detach()[0], together[rows[word] - 1], atol=1e-5)
        assert torch.isfinite(together[rows[word] - 1]).all()


def test_other_spellings_have_other_vectors():
    layer, rows = layer_of(["abc", "acb", "abcc", "Abc", "abć"])
    found = layer(torch.tensor([rows[word] for word in ("abc", "acb", "abcc", "Abc", "abć")])).detach()
    assert torch.pdist(found).min() > 1e-4


def test_letters_are_marked_at_both_ends_and_fit_the_table():
    letters = letters_of(["ab", "", "é🙂\ud800", "x" * 200, "\x00"])
    assert letters.row(0).tolist() == [2, ord("a"), ord("b"), 3]
    assert letters.row(1).tolist() == [2, 3]
    assert letters.lengths.tolist() == [4, 2, 5, LONGEST + 2, 3]
    assert letters.values.min() >= 1
    assert letters.values.max() < LETTERS
    assert (letters.row(2)[1:-1] >= 128).all()


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_in_training_a_share_of_known_words_is_taken_for_unknown(share):
    layer, rows = layer_of(["goood"], share)
    ids = torch.full((2000,), rows["good"])
    own = layer(ids[:1])[0]
    layer.train()
    replaced = (layer(ids) != own).any(dim=1).float().mean().item()
    assert replaced == pytest.approx(share, abs=0.04)
    assert not layer(torch.zeros(5, dtype=torch.int64)).any()


def test_the_method_counts_what_the_layer_learns():
    table = table_from_rows(KNOWN)
    method = WithCharCNN(table)
    layer = input_layer(method, look_up(method, [["good", "x"]]))
    assert method.parameters.embedding == table.parameters.embedding
    assert method.parameters.others == sum(weight.numel() for weight in layer.parameters())
    assert method.name == "made + CharCNN"
    assert method.covers(["good", "x"]).tolist() == [True, False]
    assert type(input_layer(table, look_up(table, [["good"]]))) is Frozen


def test_it_learns_from_the_task_what_letters_say_of_unknown_words():
    """An x or k in a word decides; half of the words are in the table, the others are met in the test only."""
    words = toy_words(600)
    sign = ["x" in word or "k" in word for word in words]
    rng = np.random.default_rng(0)
    rows = {w: [1.0 if s else -1.0, *rng.normal(size=5)] for w, s in zip(words[:300], sign[:300], strict=True)}
    parts = [slice(0, 300), slice(300, 600)]
    settings = CNNSettings(filters=10, epochs=15)
    scores = {}
    for method in (table_from_rows(rows), WithCharCNN(table_from_rows(rows), SMALL)):
        lookup = look_up(method, *([[word] for word in words[part]] for part in parts))
        train, test = (TextRows(lookup([[word] for word in words[part]]), sign[part], CPU) for part in parts)
        model = TextCNN(input_layer(method, lookup), 2, settings)
        train_cnn(model, train, train, 0.01, 0, settings)
        scores[method.name] = accuracy(model, test)
    assert scores["made"] == 100 - 100 * np.mean(sign[300:])  # zeros: one answer for all
    assert scores["made + CharCNN"] > 90
