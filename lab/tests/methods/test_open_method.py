"""Methods by name: files, models, rivals."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from lab_factories import stem_table, word_table

from lovevec.errors import LovevecError
from lovevec.progress import Progress
from lovevec_lab.methods.fasttext import FastText
from lovevec_lab.methods.love import LoveMethod
from lovevec_lab.methods.open_method import LEARNED, RIVALS, open_method, open_table, rivals_of
from lovevec_lab.methods.table import Table

DATA = Path(__file__).parents[3] / "tests" / "vectors" / "data"
QUIET = Progress(quiet=True)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def made(names, table, folder=None):
    return rivals_of(names, table, folder=folder, device="cpu", seed=0, quick=True, progress=QUIET)


def test_a_vector_file_is_a_table_called_as_its_file(here):
    (here / "my.300d.txt").write_text("cat 1 2\ndog 3 4\n")
    table = open_method("my.300d.txt")
    assert isinstance(table, Table)
    assert (table.name, table.words, table.vectors.tolist()) == ("my.300d", ["cat", "dog"], [[1, 2], [3, 4]])
    assert open_method("Mine=my.300d.txt").name == "Mine"
    assert open_table("my.300d.txt").words == table.words


def test_a_binary_of_word2vec_is_a_table_and_one_of_fasttext_is_fasttext(here):
    rows = np.array([[1, 2], [3, 4]], "<f4")
    (here / "w.bin").write_bytes(b"2 2\ncat " + rows[0].tobytes() + b"\ndog " + rows[1].tobytes() + b"\n")
    table = open_method("w.bin")
    assert isinstance(table, Table)
    assert table.vectors.tolist() == rows.tolist()
    shutil.copy(DATA / "skipgram.bin", here / "crawl.bin")
    fasttext = open_method("crawl.bin")
    assert isinstance(fasttext, FastText)
    assert fasttext.name == "crawl"
    assert fasttext.embed(["never seen"]).any()


def test_a_model_is_found_by_its_name(here):
    model = open_method("default")
    assert isinstance(model, LoveMethod)
    assert model.name == "default"
    assert open_method("LOVE (shipped)=default").name == "LOVE (shipped)"
    model.love.save(here / "my.model")
    again = open_method("my.model")
    assert again.name == "my.model"
    np.testing.assert_allclose(again.embed(["oxgen"]), model.embed(["oxgen"]), atol=1e-6)


def test_a_file_whose_name_holds_an_equals_sign_is_that_file(here):
    (here / "a=b.txt").write_text("cat 1 2\ndog 3 4\n")
    assert open_method("a=b.txt").name == "a=b"
    assert open_method("c=a=b.txt").name == "c"


@pytest.mark.parametrize("text", ["nowhere.vec", "folder/nowhere.bin", "n=nowhere.txt.gz"])
def test_a_missing_file_is_no_hub_id(here, text):
    with pytest.raises(LovevecError, match=r"nowhere\.\S+: no such file$"):
        open_method(text)


@pytest.mark.parametrize("text", ["no-such-model", "", "x" * 5000, "=", "a="])
def test_what_is_nothing_is_one_error(here, text):
    with pytest.raises(LovevecError):
        open_method(text)


def test_rivals_by_commas_in_their_order_once_each():
    table = stem_table(60)
    rivals = made(" unk, Edit-Distance,,symspell,unk ", table)
    assert [rival.name for rival in rivals] == ["UNK", "Edit Distance", "SymSpell"]
    assert all(np.array_equal(rival.embed(table.words[:3]), table.vectors[:3]) for rival in rivals)
    assert made("", None) == []


def test_an_unknown_rival_is_answered_by_the_names():
    with pytest.raises(LovevecError, match=r"rivals=bosh: no such rival.*mimick, bos, .*ngrams, edit-distance"):
        made("unk,bosh", word_table(["a", "b"]))
    with pytest.raises(LovevecError, match="target=FILE"):
        made("unk", None)


def test_learned_rivals_are_kept_in_the_folder(tmp_path):
    table = stem_table(120, dim=8)
    (bos,) = made("bos", table, tmp_path)
    assert bos.name == "BoS"
    assert (tmp_path / "bos" / "rival.json").is_file()
    changed = (tmp_path / "bos" / "rival.json").stat().st_mtime_ns
    (again,) = made("bos", table, tmp_path)
    assert (tmp_path / "bos" / "rival.json").stat().st_mtime_ns == changed
    np.testing.assert_allclose(again.embed(["plogriks"]), bos.embed(["plogriks"]), atol=1e-6)
    by_folder, named = open_method(str(tmp_path / "bos")), open_method(f"BoS={tmp_path / 'bos'}")
    assert (by_folder.name, named.name) == ("bos", "BoS")
    assert np.array_equal(named.embed(["plogriks"]), again.embed(["plogriks"]))


def test_names_alone_load_nothing_heavy():
    script = "from lovevec_lab.methods.open_method import RIVALS\nimport sys\nprint(' '.join(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert not set(loaded) & {"numpy", "torch", "rapidfuzz", "symspellpy"}
    assert set(LEARNED) <= set(RIVALS)


def test_a_transformers_input_embeddings_are_a_table():
    from tests.factories import minilm_folder

    table = open_table(f"hf:{minilm_folder()}")
    assert table.name == minilm_folder().name
    assert table.covers(["film", "filmz"]).tolist() == [True, False]
