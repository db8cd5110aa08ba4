"""A model from its folder: the same vectors, whatever comes; damage is told by name."""

from __future__ import annotations

import itertools
import json
import pickle
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from lovevec import LOVE, LovevecError
from lovevec.engine.nearest import nearest
from lovevec.model.validation import checksums
from tests.factories import at_once, toy_words

NASTY = ["", " ", "\t", "a\nb", "\0", "🙂", "e\u0301", "\ud800", "שלום", "x" * 1_000_000, "İstanbul", "known"]


@pytest.fixture(scope="module")
def folder(tiny_model) -> Path:
    return tiny_model


@pytest.fixture(scope="module")
def love(folder) -> LOVE:
    return LOVE.load(folder)


def test_any_string_gets_a_finite_vector_of_unit_length(love):
    vectors = love.embed(NASTY)
    assert vectors.shape == (len(NASTY), 16)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_a_words_vector_does_not_depend_on_its_company(love):
    words = toy_words(100, seed=6) + NASTY
    together = love.embed(words)
    for word, vector in zip(words, together, strict=True):
        np.testing.assert_allclose(love[word], vector, atol=1e-6)


@pytest.mark.parametrize("engine", ["numpy", "auto"])
def test_16_threads_at_once_agree_to_the_bit(folder, engine):
    words = toy_words(500, seed=7)
    alone = LOVE.load(folder, engine=engine)
    expected = (
        alone.embed(words),
        alone.neighbors(words[:50]),
        [word in alone for word in words],
        alone.confidence(words),
    )
    fresh = LOVE.load(folder, engine=engine)  # so that what is made at first use is asked for by all at once

    def work() -> tuple:
        near = fresh.neighbors(words[:50])
        return fresh.embed(words), near, [word in fresh for word in words], fresh.confidence(words)

    for vectors, near, known, confidence in at_once(work):
        assert np.array_equal(vectors, expected[0])
        assert near == expected[1]
        assert known == expected[2]
        assert np.array_equal(confidence, expected[3], equal_nan=True)


def test_rows_are_the_callers_own(love):
    first = love["plogrick"]
    kept = first.copy()
    first[:] = 0
    assert np.array_equal(love["plogrick"], kept)


def test_known_words_are_told_from_imputed_ones(love):
    assert love.words[0] in love
    assert love.words[0].upper() in love
    assert love.words[0] + "x" not in love
    assert 7 not in love


def test_what_is_handed_out_cannot_change_the_model(love):
    love.metadata["settings"]["seed"] = "changed"
    love.embed(love.words)[:] = 0
    love.neighbors("plogrick").clear()
    assert love.metadata["settings"]["seed"] == 0
    assert love.neighbors("plogrick")
    assert np.abs(love.embed(love.words)).max() > 0


@pytest.mark.parametrize("kind", [list, tuple, np.array, lambda words: np.array(words, dtype=object), dict.fromkeys])
def test_any_list_of_words_will_do(love, kind):
    words = ["one", "zwei", "trois", "plogrick"]
    expected = np.stack([love[word] for word in words])
    assert np.array_equal(love.embed(kind(words)), expected)
    assert np.array_equal(love[list(words)], expected)


def test_an_empty_list_has_no_rows(love):
    assert love.embed([]).shape == (0, 16)
    assert list(love.embed(iter([]))) == []
    assert love.neighbors([]) == []
    assert love.confidence([]).shape == (0,)


def test_an_iterator_gives_batches_as_it_goes(love):
    words = toy_words(100, seed=8)
    taken = 0

    def source() -> Iterator[str]:
        nonlocal taken
        for word in itertools.cycle(words):
            taken += 1
            yield word

    batches = love.embed(source(), batch=30)
    first = next(batches)
    assert taken == 30  # nothing is read ahead, so an endless source is fine
    assert np.array_equal(np.concatenate([first, next(batches), next(batches)]), love.embed(words[:90]))
    assert [len(batch) for batch in love.embed(iter(words), batch=30)] == [30, 30, 30, 10]


def test_running_text_is_computed_once_a_word_and_comes_out_the_same(love):
    words = toy_words(40, seed=9) * 50
    rows = love.embed(words)
    assert np.array_equal(rows, np.tile(love.embed(words[:40]), (50, 1)))
    rows[0] = 0
    assert np.array_equal(rows[40], love[words[0]])


@pytest.mark.parametrize("wrong", [3, None, b"bytes", 1.5, ["nested"]], ids=repr)
@pytest.mark.parametrize("ask", ["embed", "neighbors", "confidence"])
def test_what_is_no_string_is_named_by_its_place(love, wrong, ask):
    with pytest.raises(LovevecError, match=f"word 2 is not a string but {type(wrong).__name__}"):
        getattr(love, ask)(["one", "two", wrong, "four"])
    with pytest.raises(LovevecError, match="word 601 is not"):
        love.embed(["one"] * 601 + [wrong])


def test_in_a_stream_the_place_counts_from_the_start(love):
    batches = love.embed(iter(["a", "b", "c", 4]), batch=2)
    next(batches)
    with pytest.raises(LovevecError, match="word 3 is not a string but int: 4"):
        next(batches)


def test_other_things_than_lists_are_refused(love):
    for wrong, message in (
        (b"word", "list of words, not one string"),
        ({"a", "b"}, "a set of words has no order"),
        (np.array([["a"], ["b"]]), r"shape \(2, 1\)"),
        (7, "not int"),
    ):
        with pytest.raises(LovevecError, match=message):
            love.embed(wrong)
    with pytest.raises(LovevecError, match="batch is 0"):
        love.embed(iter(["a"]), batch=0)
    with pytest.raises(LovevecError, match="word 0 is not a string but int"):
        love.explain(3)


def test_progress_is_shown_when_asked_for_and_not_otherwise(love, capsys):
    words = toy_words(50)
    quiet = love.embed(words)
    assert capsys.readouterr() == ("", "")
    shown = love.embed(words, progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert "embedding" in err
    assert "50 words" in err
    assert np.array_equal(quiet, shown)


def test_neighbors_are_the_nearest_known_words(love):
    known = love.embed(love.words).astype(np.float64)
    queries = [*toy_words(60, seed=10), *love.words[:20]]
    cosine = love.embed(queries).astype(np.float64) @ known.T
    for word, near, row in zip(queries, love.neighbors(queries, k=7), cosine, strict=True):
        order = [i for i in np.argsort(-row, kind="stable") if love.words[i] != word][:7]
        assert [name for name, _ in near] == [love.words[i] for i in order]
        np.testing.assert_allclose([value for _, value in near], row[order], atol=1e-12)
        assert near == love.neighbors(word, k=7)  # alone as in company
    assert len(love.neighbors("qqq", k=10_000)) == len(love.words)
    assert len(love.neighbors(love.words[3].upper(), k=10_000)) == len(love.words) - 1


def test_neighbors_of_vectors(love):
    known = love.embed(love.words).astype(np.float64)
    rng = np.random.default_rng(3)
    vectors = np.concatenate([rng.normal(size=(6, 16)) * np.geomspace(1e-200, 1e200, 6)[:, None], np.zeros((1, 16))])
    found = love.neighbors(vectors, k=4)
    assert found[-1] == []
    for vector, near in zip(vectors[:-1], found[:-1], strict=True):
        cosine = known @ (vector / np.abs(vector).max())
        cosine /= np.linalg.norm(vector / np.abs(vector).max()) * np.linalg.norm(known, axis=1)
        order = np.argsort(-cosine, kind="stable")[:4]
        assert [name for name, _ in near] == [love.words[i] for i in order]
        np.testing.assert_allclose([value for _, value in near], cosine[order], atol=1e-6)
        assert love.neighbors(vector, k=4) == near
    word, cosine = love.neighbors(5 * love[love.words[7]], 1)[0]
    assert (word, round(cosine, 5)) == (love.words[7], 1)
    whole = np.arange(16)
    assert love.neighbors(whole) == love.neighbors(whole.astype(np.float32))
    attached = love.attach((love.words, 3 * love.embed(love.words)))
    assert [name for name, _ in attached.neighbors(vectors[0], 4)] == [name for name, _ in found[0]]
    assert love.neighbors(np.empty((0, 16))) == []
    assert love.neighbors(np.array(["plogrick"])) == love.neighbors(["plogrick"])


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (np.ones(15), r"a vector of 16 numbers expected, or .* not an array of shape \(15,\)"),
        (np.ones((2, 3, 16)), r"shape \(2, 3, 16\)"),
        (np.ones((16, 2)), r"shape \(16, 2\)"),
        (np.array(1.0), r"shape \(\)"),
        (np.full(16, np.nan), "NaN or Inf"),
        (np.full((2, 16), np.inf), "NaN or Inf"),
    ],
)
def test_vectors_that_are_none_are_refused(love, vectors, message):
    with pytest.raises(LovevecError, match=message):
        love.neighbors(vectors)


def test_an_analogy_is_the_nearest_to_the_sum_without_the_three(love):
    known = love.embed(love.words).astype(np.float64)
    for a, b, c in (love.words[:3], [love.words[4].upper(), "plogrick", love.words[5]], [love.words[8]] * 3):
        one, two, three = love.embed([a, b, c]).astype(np.float64)
        goal = two - one + three
        cosine = known @ (goal / np.linalg.norm(goal))
        kept = [i for i in np.argsort(-cosine, kind="stable") if love.words[i] not in {a.lower(), b, c}][:6]
        found = love.analogy(a, b, c, 6)
        assert [name for name, _ in found] == [love.words[i] for i in kept]
        np.testing.assert_allclose([value for _, value in found], cosine[kept], atol=1e-6)
    assert len(love.analogy(*love.words[:3], k=10_000)) == len(love) - 3
    with pytest.raises(LovevecError, match="one of these is empty"):
        love.analogy("a", " ", "b")
    with pytest.raises(LovevecError, match="word 1 is not a string but int"):
        love.analogy("a", 3, "b")
    with pytest.raises(LovevecError, match="k is 0"):
        love.analogy("a", "b", "c", 0)


def test_equally_near_rows_come_in_their_order():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(50, 8)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    rows = np.concatenate([rows, rows, rows])
    for near in nearest(rows[:50], rows, 2):
        assert near[1][0] - near[0][0] == 50
    own = np.arange(50)
    for place, near in enumerate(nearest(rows[:50], rows, 2, own)):
        assert [row for row, _ in near] == [place + 50, place + 100]
    same = np.tile(rows[:1], (400, 1))
    assert [row for row, _ in nearest(rows[:1], same, 3)[0]] == [0, 1, 2]


def test_blocks_do_not_show_in_the_answer(monkeypatch):
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(300, 8)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    whole = nearest(rows[:40], rows, 5)
    monkeypatch.setattr("lovevec.engine.nearest.COSINES_PER_BLOCK", 900)
    assert nearest(rows[:40], rows, 5) == whole


def test_what_is_empty_says_so(love):
    for empty in ("", " ", "\t\n", "\u3000"):
        assert np.linalg.norm(love[empty]) == pytest.approx(1, abs=1e-5)
        assert love.neighbors(empty) == []
        assert love.neighbors(["plogrick", empty])[1] == []
        assert empty not in love
        assert np.isnan(love.similar(empty, "plogrick"))


def test_similar_is_the_cosine(love):
    one, other = love.words[:2]
    assert love.similar(one, other) == pytest.approx(float(love[one] @ love[other]), abs=1e-6)
    assert love.similar(one, one) == pytest.approx(1, abs=1e-6)


def test_similar_of_lists_goes_pair_by_pair(love):
    left, right = ["plogrick", love.words[0], "", love.words[1]], [love.words[2], love.words[0], "x", " "]
    found = love.similar(left, tuple(right))
    assert found.dtype == np.float64
    assert found.tolist()[:2] == [love.similar(*pair) for pair in zip(left[:2], right[:2], strict=True)]
    assert np.isnan(found[2:]).all()
    assert love.similar([], []).shape == (0,)
    with pytest.raises(LovevecError, match="of the same length, not 4 and 3"):
        love.similar(left, right[:3])
    with pytest.raises(LovevecError, match="two words, or two lists"):
        love.similar("word", ["word"])
    with pytest.raises(LovevecError, match="word 1 is not a string"):
        love.similar(["a", 2], ["a", "b"])


def test_its_length_is_the_number_of_known_words(love):
    assert len(love) == len(love.words) == 300
    assert love


def test_the_verbs_of_other_libraries_work_too(love, folder, tmp_path):
    love.save_pretrained(tmp_path / "m")
    assert np.array_equal(LOVE.from_pretrained(tmp_path / "m").embed(NASTY), LOVE.load(folder).embed(NASTY))


def test_a_model_goes_through_pickle(love):
    again = pickle.loads(pickle.dumps(love))
    assert np.array_equal(again.embed(NASTY), love.embed(NASTY))
    assert again.neighbors("plogrick") == love.neighbors("plogrick")
    assert again.card == love.card


@pytest.mark.parametrize("precision", ["float16", "int8"])
def test_a_smaller_copy_is_nearly_the_same_and_can_be_saved_over_itself(love, tmp_path, precision):
    love.save(tmp_path / "small", precision=precision)
    small = LOVE.load(tmp_path / "small")
    words = [*toy_words(50, seed=11), *love.words[:50]]
    cosine = (small.embed(words) * love.embed(words)).sum(axis=1)
    assert cosine.min() > (0.9999 if precision == "float16" else 0.999)
    before = (tmp_path / "small" / "model.safetensors").read_bytes()
    small.save(tmp_path / "small")
    assert (tmp_path / "small" / "model.safetensors").read_bytes() == before
    assert np.array_equal(LOVE.load(tmp_path / "small").embed(words), small.embed(words))
    assert LOVE.load(tmp_path / "small").metadata == love.metadata


def test_saving_over_the_folder_it_came_from_changes_nothing(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "m")
    love = LOVE.load(tmp_path / "m")
    love.save(tmp_path / "m")
    for name in ("model.safetensors", "tokenizer.json", "words.json", "README.md"):
        assert (tmp_path / "m" / name).read_bytes() == (folder / name).read_bytes()
    assert json.loads((tmp_path / "m" / "config.json").read_text()) == json.loads((folder / "config.json").read_text())


def test_no_file_of_a_model_is_a_pickle(folder):
    for path in folder.iterdir():
        head = path.read_bytes()[:2]
        assert not head.startswith(b"\x80"), path.name
        assert head != b"PK", path.name


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json", "words.json"])
def test_a_file_cut_or_flipped_anywhere_is_one_named_error(folder, tmp_path, name):
    original = (folder / name).read_bytes()
    copy = tmp_path / "m"
    shutil.copytree(folder, copy)
    rng = np.random.default_rng(0)
    good = LOVE.load(copy).embed(["plogrick", "new"])
    for place in rng.integers(0, len(original), 25).tolist():
        flipped = bytearray(original)
        flipped[place] ^= 1 << int(rng.integers(8))
        for content in (original[:place], bytes(flipped)):
            (copy / name).write_bytes(content)
            found = outcome(copy)
            if isinstance(found, LovevecError):
                assert str(copy) in str(found)
            else:  # a flip in config.json may hit what only people read
                assert name == "config.json"
                assert np.array_equal(found, good)


def outcome(folder: Path) -> np.ndarray | LovevecError:
    try:
        return LOVE.load(folder).embed(["plogrick", "new"])
    except LovevecError as error:
        return error


@pytest.mark.parametrize(
    "change",
    [
        {"format": 99},
        {"encoder": {"kind": "positional", "dim": 10**30}},
        {"encoder": {"kind": "positional", "dim": 16, "key_width": -1}},
        {"encoder": {"kind": "../../evil", "dim": 16}},
        {"encoder": None},
        {"units": {"input": "mixed", "lowercase": True, "buckets": 10**12}},
        {"units": {"input": "telepathy", "lowercase": True, "buckets": 0}},
        {"sizes": {}},
        {"sha256": {"../../etc/passwd": "0"}},
    ],
    ids=str,
)
def test_absurd_configs_are_refused_at_once(folder, tmp_path, change):
    copy = tmp_path / "m"
    shutil.copytree(folder, copy)
    config = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps({**config, **change}))
    with pytest.raises(LovevecError, match="m"):
        LOVE.load(copy)


def test_any_change_to_what_decides_vectors_is_noticed(folder, tmp_path):
    copy = tmp_path / "m"
    shutil.copytree(folder, copy)
    config = json.loads((copy / "config.json").read_text())
    changes = [("encoder", key, 7) for key in config["encoder"]] + [("units", key, 7) for key in config["units"]]
    for part, key, value in changes:
        changed = {**config, part: {**config[part], key: value}}
        (copy / "config.json").write_text(json.dumps(changed))
        with pytest.raises(LovevecError, match=r"config\.json"):
            LOVE.load(copy)


def test_a_forged_checksum_does_not_help_sizes_that_do_not_fit(folder, tmp_path):
    copy = tmp_path / "m"
    shutil.copytree(folder, copy)
    config = json.loads((copy / "config.json").read_text())
    for key, value in (("dim", 8), ("key_width", 5), ("head", 3), ("kind", "cnn")):
        changed = {**config, "encoder": {**config["encoder"], key: value}}
        changed["checksum"] = checksums(changed)["checksum"]
        (copy / "config.json").write_text(json.dumps(changed))
        with pytest.raises(LovevecError):
            LOVE.load(copy)


def test_neighbors_of_no_number_are_refused(love):
    with pytest.raises(LovevecError, match="k is -3"):
        love.neighbors("word", k=-3)


def test_folders_without_a_model_are_refused(tmp_path):
    with pytest.raises(LovevecError, match="no such model folder"):
        LOVE.load(tmp_path / "nowhere")
    with pytest.raises(LovevecError, match=r"config\.json is missing"):
        LOVE.load(tmp_path)


def test_low_memory_changes_no_result(shipped_love):
    low = LOVE.load(low_memory=True)
    words = ["wrnog", "house", "", "Reykjavik", "qzzzt", "the", "zymurgy", "🙂"]
    assert low.neighbors(words, 12) == shipped_love.neighbors(words, 12)
    assert low.neighbors(words[0], 3) == shipped_love.neighbors(words[0], 3)
    vectors = shipped_love.embed(words)
    assert low.neighbors(vectors, 5) == shipped_love.neighbors(vectors, 5)
    assert low.analogy("man", "king", "woman") == shipped_love.analogy("man", "king", "woman")
    texts = [f"a wonderfull fi1m number {number}" for number in range(200)]
    assert np.array_equal(low.encode(texts), shipped_love.encode(texts))
    assert pickle.loads(pickle.dumps(low)).low_memory


def test_what_is_warm_reads_the_same(shipped_love):
    fresh = LOVE(shipped_love.parts)
    before = fresh.near(["wrnog", "recieve"])
    fresh.warm_up()
    assert fresh.near(["wrnog", "recieve"]) == before
