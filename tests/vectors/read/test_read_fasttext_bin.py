"""fastText's .bin against two oracles: files and vectors made by fastText itself (in data/), and gensim.

The files of data/ were written by fastText itself from 300 random lines over 15 words; `fasttext.json` holds
what its `get_word_vector` gave, for words of the model and for others.
"""

from __future__ import annotations

import json
import shutil
import struct
from pathlib import Path

import numpy as np
import pytest
from gensim.models import FastText
from gensim.models.fasttext import save_facebook_model

from lovevec.errors import FormatError
from lovevec.vectors import FastTextBin, Oddity, read_vectors
from lovevec.vectors.read.fasttext_bin import ngram_buckets

DATA = Path(__file__).parents[1] / "data"
GOLDEN = json.loads((DATA / "fasttext.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", sorted(GOLDEN))
def test_vectors_are_those_of_fasttext(name):
    model = FastTextBin(DATA / name)
    expected = GOLDEN[name]["vectors"]
    assert [word.decode() for word in model.words] == GOLDEN[name]["words"]
    np.testing.assert_allclose(model.vectors(list(expected)), np.array(list(expected.values())), atol=1e-6)
    for word, vector in expected.items():
        np.testing.assert_allclose(model.vector(word), vector, atol=1e-6, err_msg=repr(word))


@pytest.mark.parametrize("name", sorted(GOLDEN))
def test_the_table_holds_the_words_and_no_labels(name):
    table = read_vectors(DATA / name)
    model = FastTextBin(DATA / name)
    assert table.report.read == len(GOLDEN[name]["words"])
    assert not any(word.startswith("__label__") for word in table.words)
    np.testing.assert_array_equal(table.vectors, model.vectors(table.words))
    if name == "supervised.bin":
        assert sorted(model.labels) == [b"__label__no", b"__label__yes"]


def test_gensim_agrees_on_known_and_unknown_words(tmp_path):
    texts = [["naïve", "café", "слово", "plain", "word"], ["word", "東京", "😀", "ab"]] * 5
    model = FastText(vector_size=12, min_count=1, min_n=3, max_n=5, bucket=80, seed=1, workers=1)
    model.build_vocab(texts)
    model.train(texts, total_examples=len(texts), epochs=1)
    path = tmp_path / "m.bin"
    save_facebook_model(model, str(path))
    table = read_vectors(path)
    assert table.words == model.wv.index_to_key
    np.testing.assert_allclose(table.vectors, model.wv.vectors, atol=1e-6)
    ours = FastTextBin(path)
    for word in ["unseen", "naïveté", "словарь", "京都", "😀x", "w"]:
        np.testing.assert_allclose(ours.vector(word), model.wv[word], atol=1e-6, err_msg=word)


def test_ngrams_are_those_of_the_definition():
    """A plain reading of fastText's rule, n-gram by n-gram, against the vectorised one."""

    def hashed(gram):
        state = 2166136261
        for byte in gram:
            state = ((state ^ (byte | (0xFFFFFF00 if byte > 127 else 0))) * 16777619) & 0xFFFFFFFF
        return state

    words = ["a", "", "größe", "東京都", "e\u0301", "long" * 10]
    for minn, maxn in [(1, 1), (1, 3), (3, 6), (4, 2), (0, 2)]:
        owners, buckets = ngram_buckets([word.encode() for word in words], minn, maxn, 1000)
        for index, word in enumerate(words):
            marked = f"<{word}>"
            expected = [
                hashed(marked[start : start + n].encode()) % 1000
                for start in range(len(marked))
                for n in range(max(minn, 1), maxn + 1)
                if start + n <= len(marked) and not (n == 1 and start in (0, len(marked) - 1))
            ]
            assert sorted(buckets[owners == index].tolist()) == sorted(expected), (word, minn, maxn)


def test_any_string_gets_a_vector():
    model = FastTextBin(DATA / "skipgram.bin")
    vectors = model.vectors(["", " ", "\ud800", "\0", "x" * 1_000_000, "😀" * 1000])
    assert np.isfinite(vectors).all()
    assert vectors.shape == (6, 6)
    assert not FastTextBin(DATA / "plain.bin").vector("unknown to a model without n-grams").any()


def test_a_quantized_model_is_refused_with_advice():
    with pytest.raises(FormatError, match=r"quantized.*print-word-vectors"):
        read_vectors(DATA / "quantized.ftz")


@pytest.mark.parametrize(
    ("offset", "value", "says"),
    [
        (4, 99, "version 99"),
        (8, -1, "dim -1"),
        (8, 2**30, "matrix of"),
        (8 + 8 * 4, -5, "bucket -5"),
        (8 + 8 * 4, 2**30, "matrix of"),
        (8 + 10 * 4, 2**30, "maxn"),
        (8 + 12 * 4 + 8, 2**30, "dictionary"),
        (8 + 12 * 4 + 8, 3, "dictionary"),
    ],
)
def test_absurd_settings_are_refused(tmp_path, offset, value, says):
    data = bytearray((DATA / "skipgram.bin").read_bytes())
    struct.pack_into("<i", data, offset, value)
    (tmp_path / "m.bin").write_bytes(data)
    with pytest.raises(FormatError, match=says):
        read_vectors(tmp_path / "m.bin")


def test_a_cut_anywhere_is_refused(tmp_path):
    data = (DATA / "skipgram.bin").read_bytes()
    for length in range(4, len(data), 37):
        (tmp_path / "m.bin").write_bytes(data[:length])
        with pytest.raises(FormatError):
            read_vectors(tmp_path / "m.bin")


def test_bytes_after_the_end_are_noted(tmp_path):
    shutil.copy(DATA / "skipgram.bin", tmp_path / "m.bin")
    with open(tmp_path / "m.bin", "ab") as file:
        file.write(b"rest")
    assert read_vectors(tmp_path / "m.bin").report.count(Oddity.TRAILING) == 4
