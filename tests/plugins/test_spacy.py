"""LoveVectors in spaCy's own pipelines: tokens, documents, static layers, training, files, pickles."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.ml.staticvectors import StaticVectors
from spacy.training import Example
from spacy.util import load_config_from_str
from spacy.vectors import Vectors
from tests.factories import toy_vectors, toy_words

from lovevec import LOVE, LovevecError
from lovevec.plugins.spacy import REGISTRY_NAME, LoveVectors, attach

TEXT = "Oxgen is a wonderfull gas, deplatformed blorfing"
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def small(tiny_model) -> LOVE:
    return LOVE.load(tiny_model)


@pytest.fixture
def nlp(shipped_love):
    return attach(spacy.blank("en"), shipped_love)


def with_table(words=None, dim=16):
    """A pipeline with plain vectors of its own, as one would load it."""
    nlp = spacy.blank("en")
    words = toy_words(300) if words is None else words
    nlp.vocab.vectors = Vectors(strings=nlp.vocab.strings, data=3 * toy_vectors(words, dim), keys=words, name="own")
    for word in words:
        nlp.vocab.strings.add(word)
    return nlp


def vectors_of(nlp, text=TEXT):
    return np.array([token.vector for token in nlp(text)])


def test_each_token_has_the_vector_of_the_love(nlp, shipped_love):
    doc = nlp(TEXT)
    words = [token.text for token in doc]
    assert np.array_equal(vectors_of(nlp), shipped_love.embed(words))
    assert np.array_equal(nlp.vocab.vectors.get_batch(words), shipped_love.embed(words))
    assert np.array_equal(nlp.vocab.vectors.get_batch(doc.to_array("ORTH")), shipped_love.embed(words))
    assert all(token.has_vector and not token.is_oov for token in doc)
    np.testing.assert_allclose(doc.vector, shipped_love.embed(words).mean(axis=0), atol=1e-6)
    assert doc[0].similarity(nlp("oxygen")[0]) == pytest.approx(shipped_love.similar("Oxgen", "oxygen"), abs=1e-5)
    assert nlp("definately wonderfull").similarity(nlp("definitely wonderful")) > 0.95
    assert not nlp.vocab.get_vector("").any()
    assert not nlp.vocab.vectors.get_batch(["", "a"])[0].any()


def test_imputed_and_near_say_what_was_seen(nlp, shipped_love):
    doc = nlp(TEXT)
    imputed = [token.text for token in doc if token._.imputed and token.is_alpha]
    assert imputed == ["Oxgen", "wonderfull", "deplatformed", "blorfing"]
    assert doc[0]._.near == shipped_love.near("Oxgen")
    plain = spacy.blank("en")("oxgen")[0]
    assert plain._.imputed is False
    assert plain._.near == []


def test_known_words_of_a_pipeline_keep_their_own_rows(small):
    plain, nlp = with_table(), attach(with_table(), small)
    known, new = toy_words(300)[:5], ["plorickz", "streabnd"]
    text = " ".join(known + new)
    assert np.array_equal(vectors_of(nlp, text)[:5], vectors_of(plain, text)[:5])
    expected = small.attach((toy_words(300), 3 * toy_vectors(toy_words(300), 16))).embed(new)
    assert np.array_equal(vectors_of(nlp, text)[5:], expected)
    assert not vectors_of(plain, text)[5:].any()
    assert [token._.imputed for token in nlp(text)] == [False] * 5 + [True] * 2
    assert nlp.vocab.vectors.shape == (300, 16)
    assert nlp.vocab.vectors.name == "own"
    query = nlp.vocab.vectors.get_batch(known)
    assert np.array_equal(nlp.vocab.vectors.most_similar(query.copy())[0], plain.vocab.vectors.most_similar(query)[0])


def test_vectors_set_by_hand_come_first_and_are_read(small, nlp):
    row = np.arange(300, dtype=np.float32)
    nlp.vocab.set_vector("oxgen", row)
    assert np.array_equal(nlp("oxgen")[0].vector, row)
    assert nlp("oxgen")[0]._.imputed is False
    table = attach(with_table(), small)
    typo = "zumbalorxien"
    before = table(typo)[0].vector
    table.vocab.set_vector("zumbalorixen", 9 * np.ones(16))
    assert table(typo)[0]._.near[0][0] == "zumbalorixen"
    assert not np.array_equal(table(typo)[0].vector, before)
    with pytest.raises(ValueError, match="300 dimensions"):
        nlp.vocab.vectors.resize((10, 3))


def test_most_similar_and_a_plain_table(nlp, shipped_love):
    keys, _, scores = nlp.vocab.vectors.most_similar(nlp.vocab.vectors.get_batch(["oxgen", "leukamia"]), n=2)
    names = [[nlp.vocab.strings[key] for key in row] for row in keys]
    expected = [shipped_love.neighbors(word, 2) for word in ("oxgen", "leukamia")]
    assert names == [[word for word, _ in row] for row in expected]
    np.testing.assert_allclose(scores, [[cosine for _, cosine in row] for row in expected], atol=1e-3)
    plain = nlp.vocab.vectors.to_table(["oxgen", "gas"])
    assert type(plain) is Vectors
    assert np.array_equal(plain["oxgen"], shipped_love["oxgen"])


def test_a_static_layer_sees_every_token(nlp):
    docs = [nlp(TEXT), nlp(""), nlp("anothr textt")]
    layer = StaticVectors(nO=7)
    layer.initialize(X=docs)
    output = layer.predict(docs)
    tokens = [token for doc in docs for token in doc]
    expected = np.array([token.vector for token in tokens]) @ layer.get_param("W").T
    np.testing.assert_allclose(output.data, expected, atol=1e-5)
    assert output.data.any(axis=1).all()


CONFIG = """
[nlp]
lang = "en"
pipeline = ["tok2vec", "textcat"]

[nlp.vectors]
@vectors = "lovevec.Vectors.v1"

[components]

[components.tok2vec]
factory = "tok2vec"

[components.tok2vec.model]
@architectures = "spacy.Tok2Vec.v2"

[components.tok2vec.model.embed]
@architectures = "spacy.MultiHashEmbed.v2"
width = 32
attrs = ["SHAPE"]
rows = [50]
include_static_vectors = true

[components.tok2vec.model.encode]
@architectures = "spacy.MaxoutWindowEncoder.v2"
width = 32
depth = 1
window_size = 1
maxout_pieces = 2

[components.textcat]
factory = "textcat"

[components.textcat.model]
@architectures = "spacy.TextCatReduce.v1"
exclusive_classes = true
use_reduce_first = false
use_reduce_last = false
use_reduce_max = false
use_reduce_mean = true

[components.textcat.model.tok2vec]
@architectures = "spacy.Tok2VecListener.v1"
width = 32
"""
ANIMALS = ["the cat", "a dog", "some horses", "the sheep", "a lion", "the tiger", "a rabbit", "cows"]
GASES = ["oxygen", "some hydrogen", "the helium", "nitrogen gas", "a gas", "methane", "the vapor", "argon"]


def test_a_training_config_learns_and_reads_words_it_never_saw(tmp_path):
    spacy.util.fix_random_seed(0)
    nlp = spacy.util.load_model_from_config(load_config_from_str(CONFIG), auto_fill=True)
    assert isinstance(nlp.vocab.vectors, LoveVectors)
    texts = [(text, kind) for kind, group in (("animal", ANIMALS), ("gas", GASES)) for text in group]
    examples = [
        Example.from_dict(nlp.make_doc(text), {"cats": {"animal": kind == "animal", "gas": kind == "gas"}})
        for text, kind in texts
    ]
    nlp.initialize(lambda: examples)
    first = nlp.update(examples, losses={})["textcat"]
    for _ in range(30):
        last = nlp.update(examples, losses={})["textcat"]
    assert last < first / 2

    def kinds(pipeline):
        texts = ["the hoorse", "a lionn", "hydrogenn", "methan"]
        return [max(doc.cats, key=doc.cats.get) for doc in pipeline.pipe(texts)]

    assert kinds(nlp) == ["animal", "animal", "gas", "gas"]
    nlp.to_disk(tmp_path / "pipeline")
    again = spacy.load(tmp_path / "pipeline")
    assert kinds(again) == kinds(nlp)
    assert np.array_equal(vectors_of(again), vectors_of(nlp))


def test_pipelines_come_back_from_files_and_bytes(nlp, small, tmp_path):
    nlp.vocab.set_vector("oxgen", np.ones(300))
    table = attach(with_table(), small, by_confidence=False)
    for number, pipeline in enumerate((nlp, table)):
        expected = vectors_of(pipeline, TEXT + " oxgen plorickz")
        pipeline.to_disk(tmp_path / str(number))
        from_disk = spacy.load(tmp_path / str(number))
        from_bytes = attach(spacy.blank("en")).from_bytes(pipeline.to_bytes())
        for again in (from_disk, from_bytes):
            assert isinstance(again.vocab.vectors, LoveVectors)
            assert np.array_equal(vectors_of(again, TEXT + " oxgen plorickz"), expected)
            assert again.vocab.vectors.options == pipeline.vocab.vectors.options
        assert from_disk.config["nlp"]["vectors"] == {"@vectors": REGISTRY_NAME}
    damaged = tmp_path / "0" / "vocab" / "lovevec" / "model.safetensors"
    damaged.write_bytes(damaged.read_bytes()[:-1])
    with pytest.raises(LovevecError, match=re.escape(str(damaged))):
        spacy.load(tmp_path / "0")


def test_a_pipeline_with_plain_vectors_loads_with_a_love_behind(tmp_path):
    """As `[initialize] vectors = …` does: the table of another pipeline, into vectors of ours."""
    words = LOVE.load().words[:2000]
    plain = with_table(words)
    plain.to_disk(tmp_path / "plain")
    again = spacy.load(tmp_path / "plain", config={"nlp.vectors": {"@vectors": REGISTRY_NAME}})
    assert np.array_equal(again(words[7])[0].vector, plain(words[7])[0].vector)
    assert again("oxgen")[0].has_vector
    assert len(again("oxgen")[0].vector) == 16


def test_a_folder_that_is_gone_counts_only_where_it_is_needed(small, tmp_path):
    small.save(tmp_path / "love")
    config = {
        "nlp": {"lang": "en", "pipeline": [], "vectors": {"@vectors": REGISTRY_NAME, "love": str(tmp_path / "love")}}
    }
    nlp = spacy.util.load_model_from_config({**spacy.blank("en").config, **config}, auto_fill=True)
    assert nlp.vocab.vectors.shape == (300, 16)
    expected = vectors_of(nlp)
    nlp.to_disk(tmp_path / "pipeline")
    os.rename(tmp_path / "love", tmp_path / "elsewhere")
    assert np.array_equal(vectors_of(spacy.load(tmp_path / "pipeline")), expected)
    alone = spacy.util.load_model_from_config({**spacy.blank("en").config, **config}, auto_fill=True)
    with pytest.raises(LovevecError, match="love"):
        alone.vocab.vectors.get_batch(["oxgen"])


def test_they_travel_between_processes(nlp, small):
    for vectors in (nlp.vocab.vectors, attach(with_table(), small).vocab.vectors):
        again = pickle.loads(pickle.dumps(vectors))
        words = ["oxgen", "plorickz", toy_words(300)[0]]
        assert np.array_equal(again.get_batch(words), vectors.get_batch(words))
    docs = nlp.pipe([TEXT, TEXT], n_process=2)
    assert [np.array_equal(doc[0].vector, nlp(TEXT)[0].vector) for doc in docs] == [True, True]


def test_ones_own_table_in_a_blank_pipeline(small):
    words = toy_words(300)
    robust = small.attach((words, 2 * toy_vectors(words, 16)))
    nlp = attach(spacy.blank("en"), robust)
    asked = [words[0], "plorickz", "streabnd"]
    assert np.array_equal(nlp.vocab.vectors.get_batch(asked), robust.embed(asked))


def test_what_was_made_is_remembered_but_not_for_ever(shipped_love):
    vectors = LoveVectors(shipped_love, max_imputed=4)
    for words in (["aa1", "bb1"], ["cc1", "bb1", "dd1"], ["ee1", "ff1", "gg1", "hh1", "aa1"], ["bb1"]):
        assert np.array_equal(vectors.get_batch(words), shipped_love.embed(words))
        assert len(vectors._imputed) <= 4


def test_words_ahead_are_made_at_once(nlp, shipped_love):
    nlp.add_pipe("lovevec_words", first=True)
    texts = ["oxgen blorfing gas", "oxgen deplatformed"]
    docs = list(nlp.pipe(texts))
    made = nlp.vocab.vectors._imputed
    assert {nlp.vocab.strings[number] for number in made} == {"oxgen", "blorfing", "gas", "deplatformed"}
    for doc, text in zip(docs, texts, strict=True):
        assert np.array_equal([token.vector for token in doc], shipped_love.embed(text.split()))
    assert nlp.vocab.vectors._imputed is made
    assert len(made) == 4


@pytest.mark.slow
def test_words_ahead_are_in_the_pipeline_of_a_new_process(nlp, tmp_path):
    nlp.add_pipe("lovevec_words", first=True)
    nlp.to_disk(tmp_path / "p")
    code = f"import spacy; nlp = spacy.load({str(tmp_path / 'p')!r}); print(nlp.pipe_names, nlp('oxgen')[0].has_vector)"
    code = f"import lovevec.plugins.spacy; {code}"  # an entry point, where lovevec is installed
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.stdout.strip() == "['lovevec_words'] True", done.stderr


def test_errors(nlp, small, shipped_love):
    with pytest.raises(LovevecError, match="already"):
        attach(nlp)
    with pytest.raises(LovevecError, match="floret"):
        LoveVectors(shipped_love, data=np.zeros((3, 3), dtype="f"), mode="floret")
    with pytest.raises(LovevecError, match="space: the pipeline has no vectors"):
        attach(spacy.blank("en"), space="mapped")
    with pytest.raises(LovevecError, match="too few"):
        attach(with_table(["cat", "dog"]), shipped_love)
    with pytest.raises(KeyError):
        nlp.vocab.vectors[12345678901234567890 % 2**64]


def test_spacy_finds_them_by_their_entry_point(tmp_path):
    """The name in pyproject.toml is that of the function; importing the plug-in registers it too."""
    line = re.search(
        r'\[project.entry-points.spacy_vectors\]\n"(.+)" = "(.+):(.+)"', (ROOT / "pyproject.toml").read_text()
    )
    name, module, function = line.groups()
    assert name == REGISTRY_NAME
    assert spacy.registry.vectors.get(REGISTRY_NAME) is getattr(import_module(module), function)
    code = "import sys, lovevec, lovevec.love; print('spacy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False"


@pytest.fixture
def in_sentences(shipped_love):
    nlp = attach(spacy.blank("en"), shipped_love)
    nlp.add_pipe("lovevec_sentences")
    return nlp


def test_the_sentence_decides_what_a_token_stands_for(nlp, in_sentences, shipped_love):
    text = "They went to ther new house with a wonderfull view."
    alone, doc = nlp(text), in_sentences(text)
    changed = [
        token.text for token, other in zip(doc, alone, strict=True) if not np.allclose(token.vector, other.vector)
    ]
    assert "ther" in changed
    assert set(changed) <= {"ther", "wonderfull"}
    ther = next(token for token in doc if token.text == "ther")
    in_text = next(token for token in shipped_love.tokens(text) if token.text == "ther")
    assert ther._.near == list(in_text.candidates[:5])
    assert ther._.near[0][0] == "their"
    assert np.linalg.norm(ther.vector) == pytest.approx(1, abs=1e-5)
    assert float(ther.vector @ shipped_love["their"]) > float(alone[3].vector @ shipped_love["their"])
    np.testing.assert_allclose(doc.vector, np.mean([token.vector for token in doc], axis=0), atol=1e-6)


def test_tables_keep_their_rows_in_sentences_and_empty_documents_are_fine(shipped_love):
    words = [word for word in shipped_love.words[:3000] if word.isalpha()]
    nlp = spacy.blank("en")
    data = 2 * shipped_love.embed(words)
    for word in words:
        nlp.vocab.strings.add(word)
    nlp.vocab.vectors = Vectors(strings=nlp.vocab.strings, data=data, keys=words, name="own")
    attach(nlp, shipped_love)
    nlp.add_pipe("lovevec_sentences")
    doc = nlp("They went to ther new house")
    assert np.array_equal(doc[-1].vector, data[words.index("house")])
    assert np.isfinite(doc[3].vector).all()
    assert doc[3]._.near[0][0] == "their"
    assert len(nlp("")) == 0
    assert spacy.blank("en").add_pipe("lovevec_sentences")(spacy.blank("en")("plain ther")).text == "plain ther"
