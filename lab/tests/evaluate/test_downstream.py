"""What the downstream tasks share: keys of kept runs, a part of the text, noises."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from lab_factories import table_from_rows

from lovevec.damage.noise import Noise
from lovevec.errors import LovevecError
from lovevec_lab.evaluate.classify import ClassifySettings, TextPart, TextSplit
from lovevec_lab.evaluate.downstream import downstream_key, noises_of, subsample, with_sentences
from lovevec_lab.evaluate.nets import CharCNNSettings, CNNSettings
from lovevec_lab.evaluate.nets.char_cnn import WithCharCNN
from lovevec_lab.evaluate.nets.lookup import look_up
from lovevec_lab.evaluate.result_cache import content_hash
from lovevec_lab.methods.attached import AttachedMethod
from lovevec_lab.methods.love import LoveMethod


def test_a_key_has_all_that_a_run_depends_on_but_not_where_it_runs():
    split = TextSplit("made", *(TextPart([["good", "bad"]], ["1"]) for _ in range(3)))
    table = table_from_rows({"good": [1, 0, 0]})
    noises, settings = [Noise("ocr", 0.3)], ClassifySettings()

    def key(method=table, split=split, noises=noises, settings=settings, task="classify") -> dict:
        return downstream_key(task, method, look_up(method, split.train.sentences), split, noises, settings)

    others = [
        key(task="tag"),
        key(method=table_from_rows({"good": [1, 0, 0]}, name="another")),
        key(method=table_from_rows({"good": [0, 1, 0]})),
        key(method=WithCharCNN(table, name="table")),
        key(method=WithCharCNN(table, CharCNNSettings(share=0.1), name="table")),
        key(split=replace(split, name="another")),
        key(split=replace(split, test=TextPart([["good"]], ["0"]))),
        key(noises=[Noise("ocr", 0.3, characters=0.1)]),
        key(settings=replace(settings, noise_seed=1)),
        key(settings=replace(settings, sentences=5)),
        key(settings=replace(settings, cnn=CNNSettings(epochs=4))),
    ]
    hashes = {content_hash(one) for one in [key(), *others]}
    assert len(hashes) == len(others) + 1
    same = replace(settings, rates=(1.0,), seeds=(5,), device="cuda")  # in each run's own key, or of no account
    assert content_hash(key(settings=same)) == content_hash(key())


def test_a_part_is_always_the_same_and_from_all_over():
    part = subsample(100, 20)
    assert part == subsample(100, 20)
    assert len(set(part)) == 20
    assert 3 < sum(row < 50 for row in part) < 17


@pytest.mark.parametrize("most", [None, 100, 200])
def test_all_stay_in_their_order(most):
    assert subsample(100, most) == list(range(100))


def test_noises_are_shares_then_counts_each_once():
    assert [noise.label for noise in noises_of((), (), None)] == ["original", "ocr 70 %"]
    labels = [noise.label for noise in noises_of((0, 30, 30), (1, 2), None)]
    assert labels == ["original", "ocr 30 %", "1 typos", "2 typos"]
    assert [noise.label for noise in noises_of((), (2,), "swap")] == ["2 typos (swap)"]
    for wrong in (((101,), ()), ((-1,), ()), ((), (-1,))):
        with pytest.raises(LovevecError, match=r"(noise|typos_per_sentence)=(101|-1):"):
            noises_of(*wrong, None)


def test_models_with_a_model_of_context_have_a_row_that_reads_sentences(shipped_love):
    table = table_from_rows({word: shipped_love[word].tolist() for word in shipped_love.words[:3000]}, name="table")
    love = LoveMethod(shipped_love, "default", near=True)
    rows = with_sentences([table, love, AttachedMethod(table, love)])
    names = ["table", "default", "default, in its sentence", "table + default", "table + default, in its sentence"]
    assert [row.name for row in rows] == names
    sentence = ["we", "wnat", "to", "see", "the", "wrold", "again"]
    for alone, inside in (rows[1:3], rows[3:5]):
        assert not alone.reads_sentences
        assert inside.covers(sentence).all()
        np.testing.assert_array_equal(inside.embed(sentence), alone.embed(sentence))
        known = [place for place, word in enumerate(sentence) if word not in ("wnat", "wrold")]
        (vectors,) = inside.embed_sentences([sentence])
        np.testing.assert_array_equal(vectors[known], alone.embed(sentence)[known])
        lookups = [look_up(row, [sentence], [["wnat"]]) for row in (alone, inside)]
        keys = [
            downstream_key("tag", row, lookup, TextSplit("made", *[TextPart([], [])] * 3), [], ClassifySettings())
            for row, lookup in zip((alone, inside), lookups, strict=True)
        ]
        assert keys[0] != keys[1]
    for without in ([table], [table, LoveMethod(shipped_love, "by spelling")]):
        with pytest.raises(LovevecError, match="in_sentences: no model here has a model of context"):
            with_sentences(without)
