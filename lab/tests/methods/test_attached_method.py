"""Methods of other spaces are brought into the target's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from lab_factories import stem_table, word_table

from lovevec.errors import LovevecError
from lovevec.train import Settings, train
from lovevec_lab.methods.attached import AttachedMethod, MappedMethod, in_space_of, shares_space
from lovevec_lab.methods.edit_distance import EditDistance
from lovevec_lab.methods.fasttext import FastText
from lovevec_lab.methods.love import LoveMethod
from lovevec_lab.methods.unknown import Unk

TABLE = stem_table(400)
RNG = np.random.default_rng(5)
TURNED = word_table(TABLE.words, TABLE.vectors @ RNG.normal(size=(16, 24)) + 0.2, "turned")
SAME_DIM = word_table(TABLE.words, TABLE.vectors @ np.linalg.qr(RNG.normal(size=(16, 16)))[0], "rotated")


@pytest.fixture(scope="module")
def model() -> LoveMethod:
    settings = Settings(vocabulary_size=300, epochs=8, batch=32, negatives=10, device="cpu", learning_rate=0.01)
    return LoveMethod(train((TABLE.words, TABLE.vectors), settings), "model")


def cosines(made, own):
    return (made * own).sum(axis=1) / np.maximum(np.linalg.norm(made, axis=1) * np.linalg.norm(own, axis=1), 1e-9)


def test_methods_of_the_targets_space_stay_as_they_are(model):
    longer = word_table(TABLE.words, TABLE.vectors * 3)
    for method in (TABLE, EditDistance(TABLE), Unk(TABLE), model, longer):
        assert shares_space(method, TABLE)
        assert in_space_of(TABLE, method) is method
    assert not shares_space(SAME_DIM, TABLE)
    assert not shares_space(TURNED, TABLE)
    assert not shares_space(word_table(["zzz", "qqq"], np.ones((2, 16))), TABLE)  # no word in common


def test_a_model_of_another_space_is_mapped(model):
    mapped = in_space_of(TURNED, model)
    assert isinstance(mapped, MappedMethod)
    assert (mapped.name, mapped.dim) == ("model", 24)
    typos = [word + word[-1] for word in TABLE.words[:80]]
    assert cosines(mapped.embed(typos), TURNED.vectors[:80]).mean() > 0.4
    # the same directions as those of the table with the model behind it, whose lengths go by confidence
    assert cosines(mapped.embed(typos), AttachedMethod(TURNED, model).embed(typos)).min() > 1 - 1e-5
    unknown = ["🙂", TABLE.words[0]]
    assert mapped.covers(unknown).tolist() == model.covers(unknown).tolist() == [False, True]
    assert not mapped.embed(unknown)[0].any()
    assert mapped.parameters == AttachedMethod(TURNED, model).parameters


def test_a_table_of_another_space_is_mapped_and_what_it_lacks_stays_zero():
    guest = word_table([*SAME_DIM.words, "newword"], np.vstack([SAME_DIM.vectors, SAME_DIM.vectors[:1]]), "guest")
    mapped = in_space_of(TABLE, guest)
    assert isinstance(mapped, MappedMethod)
    words = ["newword", "lacking", TABLE.words[3]]
    made = mapped.embed(words)
    assert mapped.covers(words).tolist() == [True, False, True]
    assert not made[1].any()
    assert cosines(made[:1], TABLE.vectors[:1])[0] > 0.9  # the same vector as the first word's, in the other space
    assert np.array_equal(made[2], TABLE.vectors[3])
    assert mapped.parameters.embedding == guest.vectors.size + TABLE.vectors.size


def test_fasttext_is_mapped_too():
    fasttext = FastText(Path(__file__).parents[3] / "tests" / "vectors" / "data" / "skipgram.bin", "ft")
    words = [f"{word}{end}" for word in fasttext.words for end in ("", "s", "ed", "ly")]
    table = word_table(words, fasttext.embed(words) @ RNG.normal(size=(6, 16)))
    with pytest.raises(LovevecError, match="too few"):
        in_space_of(word_table(words[:4], table.vectors[:4]), fasttext)
    mapped = in_space_of(table, fasttext)
    assert isinstance(mapped, MappedMethod)
    assert mapped.covers(["neverseen"]).all()
    assert mapped.embed(["neverseen"]).any()


def test_any_method_that_knows_words_is_mapped():
    rival = in_space_of(TABLE, EditDistance(TURNED))
    assert isinstance(rival, MappedMethod)
    typos = [word + word[-1] for word in TABLE.words[:80]]
    assert cosines(rival.embed(typos), TABLE.vectors[:80]).mean() > 0.6


def test_too_few_shared_words_are_told_with_both_names(model):
    strange = word_table(["alpha", "beta"], np.ones((2, 9), dtype=np.float32), "strange")
    with pytest.raises(LovevecError, match=r"strange behind it: .*share 0 words"):
        in_space_of(TABLE, strange)
    with pytest.raises(LovevecError, match=r"^strange with model behind it: .*share 0 words"):
        AttachedMethod(strange, model)
