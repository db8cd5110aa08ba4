"""gensim's own methods, on known words as gensim answers them, on unknown ones as its definitions say."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from gensim.models import FastText, KeyedVectors
from tests.factories import toy_vectors, toy_words

from lovevec import LOVE, LovevecError
from lovevec.plugins.gensim import RobustKeyedVectors
from lovevec.train import Settings, train

WORDS = toy_words(300)
NEW = ["plorickz", "streabnd", *toy_words(320, seed=9)[300:]]


@pytest.fixture(scope="module")
def love(tmp_path_factory) -> LOVE:
    path = tmp_path_factory.mktemp("models") / "m"
    settings = Settings(vocabulary_size=300, epochs=8, batch=32, negatives=20, device="cpu", learning_rate=0.01)
    train((WORDS, toy_vectors(WORDS, 16)), settings, output=path)
    return LOVE.load(path)


@pytest.fixture(scope="module")
def plain() -> KeyedVectors:
    kv = KeyedVectors(16)
    kv.add_vectors(WORDS, 3 * toy_vectors(WORDS, 16))
    return kv


@pytest.fixture
def robust(plain, love) -> RobustKeyedVectors:
    return RobustKeyedVectors(plain, love)


@pytest.fixture(scope="module")
def filled(plain, love) -> KeyedVectors:
    """The oracle: plain gensim with a row for each new word."""
    kv = KeyedVectors(16)
    kv.add_vectors(WORDS + NEW, np.concatenate([plain.vectors, love.attach(plain).embed(NEW)]))
    return kv


def test_known_words_are_answered_as_gensim_does(robust, plain):
    a, b, c = WORDS[:3]
    assert np.array_equal(robust[a], plain[a])
    assert np.array_equal(robust[[a, b]], plain[[a, b]])
    assert np.array_equal(robust[0], plain[0])
    assert np.array_equal(robust[[0, 1]], plain[[0, 1]])
    assert robust.most_similar(a) == plain.most_similar(a)
    assert robust.most_similar(positive=[a, b], negative=[c]) == plain.most_similar(positive=[a, b], negative=[c])
    assert robust.similarity(a, b) == plain.similarity(a, b)
    assert np.array_equal(robust.distances(a, [b, c]), plain.distances(a, [b, c]))
    assert robust.closer_than(a, b) == plain.closer_than(a, b)
    assert robust.doesnt_match(WORDS[:5]) == plain.doesnt_match(WORDS[:5])
    assert robust.vectors is plain.vectors


def test_unknown_words_are_answered_as_gensim_would_with_a_row_for_them(robust, filled):
    a, b, new, other = WORDS[0], WORDS[1], NEW[0], NEW[1]
    assert np.array_equal(robust[new], filled[new])
    np.testing.assert_allclose(robust.get_vector(new, norm=True), filled.get_vector(new, norm=True), rtol=1e-5)
    np.testing.assert_allclose(robust[[a, new, other, b]], filled[[a, new, other, b]], rtol=1e-5)
    np.testing.assert_allclose(robust.similarity(new, a), filled.similarity(new, a), rtol=1e-5)
    np.testing.assert_allclose(robust.n_similarity([a, new], [b]), filled.n_similarity([a, new], [b]), rtol=1e-5)
    np.testing.assert_allclose(robust.distances(new, [a, other]), filled.distances(new, [a, other]), atol=1e-5)
    assert robust.doesnt_match([a, b, new, other]) == filled.doesnt_match([a, b, new, other])
    assert robust.closer_than(new, a) == [word for word in filled.closer_than(new, a) if word in WORDS]
    assert robust.closer_than(a, new) == [word for word in filled.closer_than(a, new) if word in WORDS]
    assert robust.rank(new, a) == len(robust.closer_than(new, a)) + 1
    for query in ({"positive": [new]}, {"positive": [a, new], "negative": [other]}):
        expected = [pair for pair in filled.most_similar(**query, topn=60) if pair[0] in WORDS][:10]
        found = robust.most_similar(**query)
        assert [word for word, _ in found] == [word for word, _ in expected]
        np.testing.assert_allclose([near for _, near in found], [near for _, near in expected], rtol=1e-4)


@pytest.mark.parametrize("case_insensitive", [True, False])
def test_word_pairs_are_judged_with_imputed_vectors(robust, plain, filled, tmp_path, case_insensitive):
    rng = np.random.default_rng(5)
    pairs = [(WORDS[i], WORDS[i + 20]) for i in range(12)] + [(WORDS[i], NEW[i]) for i in range(6)] + [(NEW[0], NEW[3])]
    gold = rng.uniform(0, 10, len(pairs))
    path = tmp_path / "pairs.tsv"
    rows = [f"{a}\t{b}\t{score}\n" for (a, b), score in zip(pairs, gold, strict=True)]
    path.write_text("# pairs\n" + "".join(rows) + "not a pair\n")
    assert plain.evaluate_word_pairs(str(path))[2] == pytest.approx(100 * 7 / 19)
    pearson, spearman, unknown = robust.evaluate_word_pairs(str(path), case_insensitive=case_insensitive)
    assert unknown == 0
    own = [robust.similarity(a, b) for a, b in pairs]
    np.testing.assert_allclose(pearson[0], np.corrcoef(gold, own)[0, 1], rtol=1e-5)
    ranks = [np.argsort(np.argsort(values)) for values in (gold, own)]  # no two are equal
    np.testing.assert_allclose(spearman[0], np.corrcoef(*ranks)[0, 1], rtol=1e-5)
    expected = filled.evaluate_word_pairs(str(path), case_insensitive=case_insensitive)
    np.testing.assert_allclose([*pearson, *spearman], [*expected[0], *expected[1]], rtol=1e-4)
    path.write_text("".join(rows) + f"{WORDS[0]}\t \t1\n")
    assert robust.evaluate_word_pairs(str(path))[2] == pytest.approx(100 / 20)
    known = "".join(rows[:12])
    path.write_text(known.upper())  # as gensim: keys are met in any case
    assert robust.evaluate_word_pairs(str(path)) == plain.evaluate_word_pairs(str(path))


def test_in_follows_gensims_custom_and_known_is_exact(robust, plain):
    fasttext = FastText([WORDS[:20]], vector_size=4, min_count=1, bucket=100, epochs=1).wv
    for kv in (robust, fasttext):  # gensim's own vectors for any word
        assert NEW[0] in kv
        assert not kv.has_index_for(NEW[0])
        assert NEW[0] not in kv.key_to_index
    assert robust.known([WORDS[0], NEW[0]]).tolist() == [True, False]
    assert 0 in robust
    assert 10_000 not in robust
    assert len(robust) == len(plain)
    with pytest.raises(KeyError):
        robust[10_000]


def test_vectors_for_all_makes_plain_keyed_vectors(robust, filled):
    made = robust.vectors_for_all([NEW[0], WORDS[3], NEW[0], NEW[1]])
    assert type(made) is KeyedVectors
    assert made.index_to_key == [NEW[0], WORDS[3], NEW[1]]
    np.testing.assert_allclose(made.vectors, filled[[NEW[0], WORDS[3], NEW[1]]], rtol=1e-5)
    assert robust.vectors_for_all([NEW[0], WORDS[3]], allow_inference=False).index_to_key == [WORDS[3]]


def test_vectors_for_all_copies_attributes_of_known_words(robust):
    robust.set_vecattr(WORDS[3], "topic", 7)
    made = robust.vectors_for_all([NEW[0], WORDS[3]], copy_vecattrs=True)
    assert [made.get_vecattr(key, "topic") for key in made.index_to_key] == [0, 7]
    assert [made.get_vecattr(key, "count") for key in made.index_to_key] == [2, 1]


@pytest.mark.parametrize("options", [{}, {"pre_normalize": False}, {"post_normalize": True}, {"weights": [1, 2, 3, 4]}])
def test_mean_vectors_count_unknown_words(robust, filled, options):
    keys = [WORDS[0], NEW[0], WORDS[1], NEW[1]]
    np.testing.assert_allclose(
        robust.get_mean_vector(keys, **options), filled.get_mean_vector(keys, **options), rtol=1e-4, atol=1e-6
    )
    with pytest.raises(ValueError, match="no input"):
        robust.get_mean_vector([])
    with pytest.raises(KeyError):
        robust.get_mean_vector([10_000], ignore_missing=False)


def test_word_movers_distance_moves_unknown_words_too(robust, filled, plain):
    one, other = [WORDS[0], NEW[0], WORDS[5]], [WORDS[1], NEW[1]]
    assert robust.wmdistance(one, other) == pytest.approx(filled.wmdistance(one, other), rel=1e-4)
    assert robust.wmdistance(one, other) != pytest.approx(plain.wmdistance(one, other), rel=1e-3)
    assert robust.wmdistance([NEW[0]], [NEW[0]]) == 0
    assert robust.wmdistance([], one) == np.inf


def test_a_love_alone(love, tmp_path):
    robust = RobustKeyedVectors(love=love)
    assert robust.index_to_key == list(love.words)
    words = [WORDS[0], NEW[0], WORDS[1], "", "The (Dog)"]
    assert np.array_equal(robust[words], love.embed(words))
    expected = [word for word, _ in love.neighbors(NEW[0], 3)]
    assert [word for word, _ in robust.most_similar(NEW[0], topn=3)] == expected
    robust.vectors_for_all(words[:3]).save_word2vec_format(str(tmp_path / "some.vec"))
    read = KeyedVectors.load_word2vec_format(str(tmp_path / "some.vec"))
    assert read.index_to_key == words[:3]
    np.testing.assert_allclose(read.vectors, love.embed(words[:3]), atol=1e-6)
    with pytest.raises(LovevecError, match="no options"):
        RobustKeyedVectors(love=love, space="mapped")


def test_words_added_later_are_read(robust):
    word, typo = "zumbalorixen", "zumbalorxien"
    before = robust[typo].copy()
    row = 5 * np.ones(16, dtype=np.float32)
    robust[word] = row
    assert robust.robust.near(typo)[0][0] == word
    after = robust[typo]
    assert after @ row / np.linalg.norm(after) > before @ row / np.linalg.norm(before)
    robust.add_vector("quaxilorn", row)
    assert "quaxilorn" in robust.robust


def test_an_empty_table_can_be_filled(love):
    robust = RobustKeyedVectors(KeyedVectors(16), love, space="direct")
    robust.add_vectors(WORDS, toy_vectors(WORDS, 16))
    assert np.array_equal(robust[NEW], love.attach((WORDS, toy_vectors(WORDS, 16)), space="direct").embed(NEW))


def test_words_added_later_are_known_and_leave_the_source_alone(robust, plain):
    row = np.arange(16, dtype=np.float32)
    robust.add_vectors([NEW[0]], [row])
    assert np.array_equal(robust[NEW[0]], row)
    assert np.array_equal(robust[[NEW[0]]], row[None])
    assert robust.known([NEW[0]]).all()
    assert NEW[0] not in plain
    assert len(plain) == 300


def test_saving_writes_plain_keyed_vectors(robust, plain, tmp_path):
    robust.save(str(tmp_path / "kv"))
    loaded = KeyedVectors.load(str(tmp_path / "kv"))
    assert type(loaded) is KeyedVectors
    assert loaded.index_to_key == plain.index_to_key
    assert np.array_equal(loaded.vectors, plain.vectors)
    robust.save_word2vec_format(str(tmp_path / "kv.bin"), binary=True)
    read = KeyedVectors.load_word2vec_format(str(tmp_path / "kv.bin"), binary=True)
    assert np.array_equal(read.vectors, plain.vectors)


def test_it_travels_between_processes(robust):
    again = pickle.loads(pickle.dumps(robust))
    assert np.array_equal(again[NEW], robust[NEW])


def test_a_model_with_wv_and_what_is_neither(love):
    model = FastText([WORDS], vector_size=16, min_count=1, bucket=100, epochs=1, workers=1, seed=1)
    robust = RobustKeyedVectors(model, love, space="mapped")
    assert np.array_equal(robust[WORDS[0]], model.wv[WORDS[0]])
    assert robust.robust.metadata["space"] == "mapped"
    with pytest.raises(LovevecError, match="not dict"):
        RobustKeyedVectors({}, love)
