"""One result behind all answers, one family of classes: LOVE and Attached answer the same questions in the same way."""

from __future__ import annotations

import doctest
import inspect
import json
import pickle
import shutil

import numpy as np
import pytest

from lovevec import LOVE, Attached, LovevecError
from lovevec.attach import PlainModel
from lovevec.attach import attached as attached_module
from lovevec.attach.folder import write_attached
from lovevec.texts import encode as encode_module
from lovevec.word_vectors import WordVectors

WORDS = ["wrnog", "house", "", "qzzzt", "Dog", "x" * 200, "wrnog", "deplatformed"]


@pytest.fixture(scope="module")
def robust(shipped_love) -> Attached:
    table = {word: shipped_love[word] for word in shipped_love.words[:500]}
    return shipped_love.attach(table)


@pytest.fixture(scope="module")
def mapped(shipped_love) -> Attached:
    """In a space of its own, so that a map and its neighbors are part of it."""
    words = shipped_love.words[:2000]
    turn = np.random.default_rng(0).normal(size=(shipped_love.dim, 20)).astype(np.float32)
    return shipped_love.attach((words, shipped_love.embed(words) @ turn))


@pytest.fixture(params=["love", "spelling", "robust", "mapped"])
def vectors(request, shipped_love, robust, mapped) -> WordVectors:
    models = {"love": shipped_love, "robust": robust, "mapped": mapped}
    return models.get(request.param) or shipped_love.copy(spelling_only=True)


def test_a_lookup_has_what_each_method_gives(vectors):
    lookup = vectors.lookup(WORDS)
    assert np.array_equal(lookup.vectors, vectors.embed(WORDS))
    assert lookup.readings == vectors.readings(WORDS)
    assert lookup.near(3) == vectors.near(WORDS, 3)
    np.testing.assert_array_equal(lookup.confidence, vectors.confidence(WORDS))
    assert np.array_equal(lookup.imputed, vectors.impute(WORDS))
    assert len(lookup) == len(WORDS)
    assert lookup.vectors is lookup.vectors
    for name in ("vectors", "readings", "confidence", "imputed"):  # in another order, with nothing computed before
        np.testing.assert_array_equal(getattr(vectors.lookup(WORDS), name), getattr(lookup, name))


def test_each_string_is_read_once(shipped_love):
    """Whatever is asked for, in whatever order."""
    counts = []

    class CountingLOVE(LOVE):
        def _read(self, strings, in_text=False):
            counts.append(len(strings))
            return super()._read(strings, in_text)

    counting = CountingLOVE(shipped_love.parts)
    lookup = counting.lookup(WORDS)
    answers = lookup.readings, lookup.near(2), lookup.confidence, lookup.vectors
    assert [len(answer) for answer in answers] == [len(WORDS)] * 4
    assert counts == [len(lookup.unknown)]


def test_known_words_build_no_index(shipped_love):
    fresh = shipped_love.copy()
    words = list(shipped_love.words[:100])
    assert fresh.readings(words) == ["known"] * 100
    assert fresh.near(words[0]) == [(words[0], 1.0)]
    assert fresh.confidence(words).shape == (100,)
    assert np.array_equal(fresh.embed(words), shipped_love.embed(words))
    assert np.array_equal(fresh[words[0]], shipped_love[words[0]])
    assert not {"index", "symbols", "slips", "joined_words", "_core_index"} & set(vars(fresh._reader))
    _ = fresh["recieve"]
    assert {"index", "_core_index"} & set(vars(fresh._reader))


def test_one_word_or_a_list(vectors):
    for word in ("house", "wrnog", "qzzzt", ""):
        assert np.array_equal(vectors.embed(word), vectors.embed([word])[0])
        assert np.array_equal(vectors[word], vectors[[word]][0])
        assert np.array_equal(vectors.impute(word), vectors.impute([word])[0])
        assert vectors.readings(word) == vectors.readings([word])[0]
        assert vectors.near(word) == vectors.near([word])[0]
        np.testing.assert_equal(vectors.confidence(word), vectors.confidence([word])[0])
        assert vectors.known(word) == vectors.known([word])[0]
        assert vectors.neighbors(word, 2) == vectors.neighbors([word], 2)[0]
        assert vectors.lookup(word).words == [word]


def test_a_table_iterates_over_its_words(vectors):
    assert list(vectors) == list(vectors.words)
    assert len(list(vectors)) == len(vectors)


@pytest.mark.parametrize("index", [0, np.int64(3), slice(2)])
def test_a_number_is_no_word(vectors, index):
    with pytest.raises(LovevecError, match="index with a word"):
        vectors[index]


METHODS = [name for name in dir(WordVectors) if callable(getattr(WordVectors, name)) and not name.startswith("_")]


@pytest.mark.parametrize("name", [*METHODS, "explain", "warm_up"])
def test_love_and_attached_have_the_same_signatures(name):
    assert inspect.signature(getattr(LOVE, name)) == inspect.signature(getattr(Attached, name))


def test_save_and_load_take_a_folder_first():
    for kind in (LOVE, Attached):
        assert next(iter(inspect.signature(kind.save).parameters.values())).name == "self"
        assert list(inspect.signature(kind.save).parameters)[1] == "folder"
    assert {"embed", "near", "readings", "confidence", "known", "impute", "similar", "analogy", "neighbors"} <= {
        *METHODS
    }


def test_cosines_and_analogies_of_an_attached_table(robust, shipped_love):
    words = list(shipped_love.words[100:120])
    expected = shipped_love.similar(words, words[::-1])
    np.testing.assert_allclose(robust.similar(words, words[::-1]), expected, atol=1e-5)
    assert robust.similar(words[0], words[0]) == pytest.approx(1, abs=1e-6)
    assert np.isnan(robust.similar("", words[0]))
    near = robust.analogy(*words[:3], k=2)
    assert len(near) == 2
    assert not {word for word, _ in near} & {*words[:3]}


def test_an_attached_table_explains_by_its_own_readings(mapped, shipped_love):
    explanation = mapped.explain("wrnog", 3)
    assert explanation.reading == mapped.readings("wrnog")
    assert list(explanation.near)[:3] == mapped.near("wrnog", 3)
    assert list(explanation.neighbors) == mapped.neighbors("wrnog", 3)
    assert explanation.units == shipped_love.explain("wrnog", 0).units


def test_a_plain_model_explains_and_saves_nothing(shipped_love, tmp_path):
    words = list(shipped_love.words[:900])
    plain = Attached(PlainModel(words, shipped_love.dim, shipped_love.impute), (words, shipped_love.embed(words)))
    assert np.isnan(plain.confidence("wrnog"))
    assert plain.readings("wrnog") == "new"
    with pytest.raises(LovevecError, match="only a LOVE"):
        plain.explain("wrnog")
    with pytest.raises(LovevecError, match="only a table with a LOVE"):
        plain.save(tmp_path / "t")
    assert not (tmp_path / "t").exists()


@pytest.mark.parametrize("kind", ["robust", "mapped"])
def test_a_saved_table_is_the_same_again(kind, request, tmp_path):
    table = request.getfixturevalue(kind)
    table.save(tmp_path / "t")
    again = Attached.load(tmp_path / "t")
    assert repr(again) == repr(table)
    assert again.metadata == table.metadata
    assert np.array_equal(again.embed(WORDS), table.embed(WORDS))
    assert again.near(WORDS) == table.near(WORDS)
    np.testing.assert_array_equal(again.confidence(WORDS), table.confidence(WORDS))
    assert np.array_equal(again.encode("a wrnog hosue"), table.encode("a wrnog hosue"))
    again.save(tmp_path / "t")  # over itself
    assert np.array_equal(Attached.load(tmp_path / "t").embed(WORDS), table.embed(WORDS))


def test_a_save_that_fails_leaves_the_old_table(robust, tmp_path):
    robust.save(tmp_path / "t")
    before = {path: path.read_bytes() for path in (tmp_path / "t").rglob("*") if path.is_file()}

    def full_disk(folder):
        raise OSError(28, "No space left on device")

    with pytest.raises(LovevecError, match="t: cannot be written: No space left"):
        write_attached(tmp_path / "t", robust._parts, full_disk)
    assert {path: path.read_bytes() for path in (tmp_path / "t").rglob("*") if path.is_file()} == before


def test_options_of_attaching_are_saved(shipped_love, tmp_path):
    table = {word: shipped_love[word] * 2 for word in ["apple", "house", *shipped_love.words[:50]]}
    options = {"lowercase": False, "near": False, "by_confidence": False}
    plain = shipped_love.attach(table, **options)
    plain.save(tmp_path / "t")
    again = Attached.load(tmp_path / "t")
    words = ["Apple", "hosue", "apple"]
    assert np.array_equal(again.embed(words), plain.embed(words))
    assert again.readings(words) == plain.readings(words) == ["new", "new", "known"]


def test_damage_to_a_saved_table_is_told(mapped, tmp_path):
    mapped.save(tmp_path / "t")
    for name in ("words.json", "table.safetensors", "attached.json", "model/config.json"):
        folder = shutil.copytree(tmp_path / "t", tmp_path / name.replace("/", "-"))
        content = bytearray((folder / name).read_bytes())
        content[len(content) // 2] ^= 1
        (folder / name).write_bytes(content)
        with pytest.raises(LovevecError, match=name.split("/")[-1]):
            Attached.load(folder)
        (folder / name).unlink()
        with pytest.raises(LovevecError):
            Attached.load(folder)
    with pytest.raises(LovevecError, match="holds no attached table"):
        Attached.load(tmp_path)
    with pytest.raises(LovevecError, match="holds no model"):
        LOVE.load(tmp_path / "t")


def test_a_hostile_table_is_refused(mapped, tmp_path):
    """Right hashes, but arrays that would lead out of the table."""
    import hashlib

    from safetensors.numpy import load_file, save_file

    from lovevec.attach.folder import _checksum

    mapped.save(tmp_path / "t")
    tensors = load_file(tmp_path / "t" / "table.safetensors")
    wrong = {
        "rows": tensors["rows"] + len(mapped),
        "starts": tensors["starts"][::-1].copy(),
        "slope": tensors["slope"] * np.float32(np.nan),
        "misses": tensors["misses"][:, :7].copy(),
    }
    for name, tensor in wrong.items():
        save_file(tensors | {name: tensor}, tmp_path / "t" / "table.safetensors")
        config = json.loads((tmp_path / "t" / "attached.json").read_text("utf-8"))
        content = (tmp_path / "t" / "table.safetensors").read_bytes()
        config["sha256"]["table.safetensors"] = hashlib.sha256(content).hexdigest()
        config["checksum"] = _checksum(config)
        (tmp_path / "t" / "attached.json").write_text(json.dumps(config))
        with pytest.raises(LovevecError, match=r"table\.safetensors"):
            Attached.load(tmp_path / "t")


def test_a_copy_keeps_what_is_not_named(shipped_love):
    low = LOVE.load(engine="numpy", spelling_only=True, low_memory=True)
    copy = low.copy(spelling_only=False)
    assert (copy.engine.mode, copy.low_memory, copy.spelling_only, copy.card) == ("numpy", True, False, low.card)
    assert np.array_equal(copy.embed(WORDS), LOVE(shipped_love.parts, engine="numpy").embed(WORDS))
    assert copy.parts is low.parts


def test_a_subclass_survives_a_pickle(shipped_love):
    assert type(pickle.loads(pickle.dumps(NamedLOVE(shipped_love.parts)))) is NamedLOVE


class NamedLOVE(LOVE):
    pass


def test_a_name_is_loaded_not_constructed():
    with pytest.raises(LovevecError, match=r"LOVE\.load"):
        LOVE("default")


def test_bad_texts_and_a_missing_torch_are_one_line(shipped_love, monkeypatch):
    with pytest.raises(LovevecError, match="text 1 is not a string but NoneType"):
        shipped_love.encode(["", None])
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(LovevecError, match=r"lovevec\[torch\]"):
        shipped_love.encode(["a"], convert_to_tensor=True)


@pytest.mark.parametrize("kind", [LOVE, WordVectors, attached_module, encode_module], ids=lambda kind: kind.__name__)
def test_examples_of_docstrings_run(kind):
    examples = doctest.DocTestFinder(exclude_empty=True).find(kind, globs={"LOVE": LOVE, "Attached": Attached})
    runner = doctest.DocTestRunner()
    for example in examples:
        runner.run(example)
    assert runner.tries > 0
    assert runner.failures == 0
