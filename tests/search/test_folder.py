"""Indexes as folders: the same after loading, and one error for whatever is wrong."""

from __future__ import annotations

import json

import numpy as np
import pytest

from lovevec import LOVE, LovevecError
from lovevec.errors import FormatError
from lovevec.search import Index
from lovevec.search.folder import ARRAYS, CONFIG, IDS, TEXTS, model_hash, write_index
from tests.factories import random_love
from tests.nasty import NASTY
from tests.search.test_index import QUERIES, same
from tests.search.test_index import TEXTS as PRODUCTS


@pytest.fixture(scope="module")
def love() -> LOVE:
    return LOVE.load()


@pytest.fixture
def folder(love, tmp_path):
    love.index(PRODUCTS).save(tmp_path / "index")
    return tmp_path / "index"


@pytest.mark.parametrize("ids", [None, [f"n{place}" for place in range(len(PRODUCTS))]])
def test_a_loaded_index_is_the_saved_one(love, tmp_path, ids):
    index = love.index(PRODUCTS, ids)
    index.save(tmp_path / "index")
    loaded = Index.load(tmp_path / "index", love)
    same(loaded, index)
    assert [hit.why for hit in loaded.search("hedphones")] == [hit.why for hit in index.search("hedphones")]
    np.testing.assert_array_equal(loaded.model.encode(QUERIES), index.model.encode(QUERIES))
    for one in (index, loaded):
        one.add(["brand new texts of Velora"], ids and ["x"])
        one.remove(one.ids[1])
    same(loaded, index)
    loaded.save(tmp_path / "index")
    same(Index.load(tmp_path / "index"), index)


def test_nasty_texts_come_back(love, tmp_path):
    love.index(NASTY).save(tmp_path)
    assert list(Index.load(tmp_path, love).texts) == NASTY


def test_fields_and_encoders_are_remembered(love, tmp_path):
    index = love.index([{"a": "lamp", "b": "chair"}], fields={"a": 2.0, "b": 1.0}, encoder=love)
    index.save(tmp_path)
    with pytest.raises(LovevecError, match="with an encoder: give the same"):
        Index.load(tmp_path, love)
    loaded = Index.load(tmp_path, love, encoder=love)
    assert loaded.fields == {"a": 2.0, "b": 1.0}
    same(loaded, index, ["lamp"])


def test_another_model_is_told(folder):
    with pytest.raises(LovevecError, match="made with another model"):
        Index.load(folder, random_love())


def test_no_index(tmp_path, love):
    with pytest.raises(LovevecError, match="holds no index"):
        Index.load(tmp_path / "none", love)
    love.save(tmp_path / "model")
    with pytest.raises(FormatError, match="no index of format"):
        Index.load(tmp_path / "model", love)
    (tmp_path / "file").write_text("x")
    with pytest.raises(LovevecError, match="is a file"):
        love.index(["a"]).save(tmp_path / "file")


@pytest.mark.parametrize("name", [CONFIG, TEXTS, IDS, ARRAYS])
def test_damage_is_one_error_that_names_the_file(folder, love, name):
    content = (folder / name).read_bytes()
    damaged = [content[:-1], content + b" ", content[: len(content) // 2] + b"\0" + content[len(content) // 2 + 1 :]]
    for other in damaged if content else [b"x"]:
        if other == content or (name == CONFIG and json_equal(other, content)):
            continue
        (folder / name).write_bytes(other)
        with pytest.raises(FormatError, match=name):
            Index.load(folder, love)
    (folder / name).unlink()
    with pytest.raises(LovevecError, match=name):
        Index.load(folder, love)


def json_equal(one: bytes, other: bytes) -> bool:
    """Whether both are the same JSON."""
    try:
        return json.loads(one) == json.loads(other)
    except ValueError:
        return False


FORGED = ["bags", "stem_of", "term_ends", "gram_terms", "codes", "scale", "norms", "weights", "word_ends"]


@pytest.mark.parametrize("name", FORGED)
def test_forged_arrays_are_refused(love, tmp_path, name):
    """Hashes that are right do not make arrays right."""
    index = love.index(PRODUCTS)
    arrays = index._built.arrays(len(love.words))
    bad = arrays[name][:-1] if name in ("codes", "scale", "norms", "weights") else arrays[name] + 10_000
    config = {"model": model_hash(love.parts), "fields": {}, "encoder": False, "texts": len(index)}
    write_index(tmp_path, config, index.ids, index.texts, arrays | {name: bad})
    with pytest.raises(FormatError, match="is not what lovevec writes"):
        Index.load(tmp_path, love)
