"""A kept result is found again by what it was computed from, and by nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from tests.evaluate.made_table import made_table

from lovevec.damage.noise import Noise
from lovevec.evaluate.classify import ClassifySettings
from lovevec.evaluate.datasets import Texts, TextSplit
from lovevec.evaluate.fingerprint import content_hash, downstream_key, vectors_fingerprint
from lovevec.evaluate.nets.char_cnn import CharCNNSettings, WithCharCNN
from lovevec.evaluate.nets.lookup import look_up
from lovevec.evaluate.nets.text_cnn import CNNSettings


def unit_rows(rows: int, dim: int, seed: int) -> np.ndarray:
    made = np.random.default_rng(seed).normal(size=(rows, dim)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def test_rounding_errors_pass_and_other_vectors_do_not():
    for seed in range(3):
        vectors = unit_rows(20_000, 50, seed)
        own = vectors_fingerprint(vectors)
        rng = np.random.default_rng(seed)
        assert vectors_fingerprint(vectors * (1 + 1e-6 * rng.normal(size=vectors.shape).astype(np.float32))) == own
        other = vectors.copy()
        other[rng.integers(len(other))] *= -1
        assert vectors_fingerprint(other) != own
        assert vectors_fingerprint(vectors[::-1]) != own
        assert vectors_fingerprint(unit_rows(20_000, 50, seed + 9)) != own


def test_nothing_and_zeros_have_one_too():
    assert vectors_fingerprint(np.zeros((3, 4), np.float32)) != vectors_fingerprint(np.zeros((2, 4), np.float32))


def test_content_is_told_apart():
    assert content_hash([["a", "b"]]) == content_hash([["a", "b"]])
    assert content_hash([["a", "b"]]) != content_hash([["a"], ["b"]])


def test_a_key_has_all_that_a_run_depends_on_but_not_where_it_runs():
    split = TextSplit("made", *(Texts([["good", "bad"]], ["1"]) for _ in range(3)))
    table = made_table({"good": [1, 0, 0]})
    noises, settings = [Noise("ocr", 0.3)], ClassifySettings()

    def key(method=table, split=split, noises=noises, settings=settings, task="classify") -> dict:
        return downstream_key(task, method, look_up(method, split.train.sentences), split, noises, settings)

    others = [
        key(task="tag"),
        key(method=made_table({"good": [1, 0, 0]}, name="another")),
        key(method=made_table({"good": [0, 1, 0]})),
        key(method=WithCharCNN(table, name="table")),
        key(method=WithCharCNN(table, CharCNNSettings(share=0.1), name="table")),
        key(split=replace(split, name="another")),
        key(split=replace(split, test=Texts([["good"]], ["0"]))),
        key(noises=[Noise("ocr", 0.3, characters=0.1)]),
        key(settings=replace(settings, noise_seed=1)),
        key(settings=replace(settings, sentences=5)),
        key(settings=replace(settings, cnn=CNNSettings(epochs=4))),
    ]
    hashes = {content_hash(one) for one in [key(), *others]}
    assert len(hashes) == len(others) + 1
    same = replace(settings, rates=(1.0,), seeds=(5,), device="cuda")  # in each run's own key, or of no account
    assert content_hash(key(settings=same)) == content_hash(key())
