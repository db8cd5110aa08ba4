"""Vectors of whole texts: scores against scipy and a search by hand, noise, own files, names of encoders, spellers."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from scipy import stats
from tests.factories import toy_words
from transformer_factory import save_transformer

from lovevec import LOVE
from lovevec.damage.noise import Noise, damaged_texts
from lovevec.errors import FormatError, LovevecError
from lovevec_lab.evaluate import texts
from lovevec_lab.evaluate.similarity import GoldPairs
from lovevec_lab.evaluate.text_encoders import (
    BenchmarkEncoder,
    correct_texts,
    corrections_of,
    encoders_of,
    megabytes,
    open_encoder,
)
from lovevec_lab.evaluate.texts import (
    Queries,
    parse_noise,
    queries,
    read_set,
    retrieval_hits,
    score_texts,
    sentence_pairs,
    texts_per_second,
    trial,
)

pytestmark = pytest.mark.usefixtures("on_one_thread")
WORDS = [word for word in toy_words(400) if len(word) > 4][:100]


class Bag:
    """A bag of words: each counts in the column that its letters hash to."""

    def encode(self, some):
        rows = np.zeros((len(some), 1009), np.float32)
        for row, text in enumerate(some):
            for word in text.split():
                rows[row, crc32(word.encode()) % 1009] += 1
        return rows


class Nothing:
    """An encoder that sees no difference."""

    def encode(self, some):
        return np.zeros((len(some), 3))


def sentence(rng: np.random.Generator) -> str:
    return " ".join(rng.choice(WORDS, 5))


@pytest.fixture(scope="module")
def pairs() -> GoldPairs:
    """Second sentences share some words with the first, and the scores say how many."""
    rng = np.random.default_rng(0)
    left, right, gold = [], [], []
    for _ in range(80):
        one, other, shared = sentence(rng).split(), sentence(rng).split(), int(rng.integers(6))
        left.append(" ".join(one))
        right.append(" ".join(one[:shared] + other[shared:]))
        gold.append(shared + 0.5 * rng.normal())
    return GoldPairs("made", left, right, np.array(gold))


@pytest.fixture(scope="module")
def folder(pairs, tmp_path_factory) -> Path:
    """A data folder with both sets, and own files."""
    path = tmp_path_factory.mktemp("texts")
    (path / "sentences").mkdir()
    rows = list(zip(pairs.left, pairs.right, pairs.gold, strict=True))
    csv = "".join(f'"{one}",{other},{score:.4f}\n' for one, other, score in rows)
    (path / "sentences" / "stsb-en-dev.csv").write_text(csv)
    (path / "own.csv").write_text(csv)
    (path / "own.tsv").write_text("".join(f"{one}\t{other}\t{score:.4f}\n" for one, other, score in rows))
    numbered = list(enumerate(dict.fromkeys(pairs.left)))
    (path / "sentences" / "marco-queries.tsv").write_text("".join(f"{n}\t {text}\n" for n, text in numbered))
    typos = [f"{n}\t{text.replace('a', 'q', 1)}\n" for n, text in numbered]
    (path / "sentences" / "marco-queries.typo.tsv").write_text("".join(reversed(typos)))
    (path / "own.txt").write_text("".join(f"{text}\n\n" for _, text in numbered))
    return path


def cosine(one: np.ndarray, other: np.ndarray) -> float:
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


# Scores


@pytest.mark.parametrize("noise", [Noise(), Noise("typo", 0.3), Noise("ocr", 0.5)], ids=lambda noise: noise.label)
def test_pairs_are_scored_as_by_scipy(pairs, noise):
    (score,) = score_texts(BenchmarkEncoder("bag", Bag().encode), [trial(pairs, noise, 7)], 200)
    left, right = damaged_texts(pairs.left, noise, 7), damaged_texts(pairs.right, noise, 8)
    near = [round(cosine(*Bag().encode(both).astype(float)), 9) for both in zip(left, right, strict=True)]
    assert score.score == pytest.approx(100 * stats.spearmanr(near, pairs.gold).statistic)
    assert score.low < score.score < score.high
    assert (score.pairs, score.items) == (True, 80)


def test_queries_are_found_as_by_hand():
    one = Queries("few", ["a b", "c d", "a b", "e f"], ["a b", "c x", "a y", "c d"])
    (score,) = score_texts(BenchmarkEncoder("bag", Bag().encode), [trial(one, None, 0)], 100)
    assert score.score == 75  # the same query twice is one, and the last looks like another
    assert (score.noise, score.pairs) == ("its own typos", False)


def test_queries_are_found_as_by_a_search(pairs):
    one = Queries("made", pairs.left)
    tried = trial(one, Noise("typo", 0.5), 3)
    assert tried.other == pairs.left
    noisy, clean = (Bag().encode(side).astype(float) for side in (tried.one, tried.other))
    expected = []
    for row, vector in enumerate(noisy):
        near = [cosine(vector, other) if vector.any() else 0.0 for other in clean]
        expected.append(pairs.left[int(np.argmax(np.round(near, 12)))] == pairs.left[row])
    (score,) = score_texts(BenchmarkEncoder("bag", Bag().encode), [tried], 100)
    assert score.score == pytest.approx(100 * np.mean(expected), abs=2)  # of words that hash alike the first counts
    assert 0 < score.low <= score.score <= score.high < 100


def test_blocks_change_nothing(monkeypatch, pairs):
    vectors = np.random.default_rng(0).normal(size=(80, 5))
    whole = retrieval_hits(vectors + 0.5, vectors, pairs.left)
    monkeypatch.setattr(sys.modules["lovevec_lab.evaluate.texts"], "QUERIES_PER_BATCH", 7)
    assert retrieval_hits(vectors + 0.5, vectors, pairs.left).tolist() == whole.tolist()


def test_an_encoder_that_sees_no_difference_scores_nothing(pairs):
    some = [trial(pairs, Noise(), 0), trial(Queries("q", pairs.left), None, 0)]
    order, found = score_texts(BenchmarkEncoder("nothing", Nothing().encode), some, 10)
    assert order.score == 0
    assert found.score == pytest.approx(100 / 80)  # the first one, by chance
    with pytest.raises(LovevecError, match=r"odd: a finite vector for each of .* texts expected"):
        score_texts(BenchmarkEncoder("odd", lambda some: np.full((len(some), 2), np.nan)), some, 10)


# Noise


def test_the_seed_decides_and_short_words_stay(pairs):
    one = Queries("q", [f"the {text} of, 1234567 abcd" for text in pairs.left])
    first, again, other = (trial(one, Noise("typo", 0.5), seed) for seed in (1, 1, 2))
    assert first.one == again.one != other.one
    for old, new in zip(one.clean, first.one, strict=True):
        assert (new.split()[0], new.split()[-3:]) == ("the", old.split()[-3:])
    both = trial(GoldPairs("p", pairs.left, pairs.left, pairs.gold), Noise("typo", 0.5), 1)
    assert both.one != both.other  # each side has typos of its own


def test_names_of_noises(pairs):
    assert parse_noise("clean") == Noise()
    assert parse_noise("ocr") == Noise("ocr", 0.3)
    assert parse_noise("typo:12.5") == Noise("typo", 0.125)
    assert parse_noise("typo") is None
    assert trial(pairs, None, 0).noise == "typo 30 %"
    assert trial(pairs, parse_noise("typo:0"), 0).noise == "clean"
    for odd in ("nosuch", "clean:3", "typo:", "typo:x", "ocr:101", "ocr:-1", "ocr:nan", ""):
        named = f"noise={odd}" if odd else "noise"
        with pytest.raises(LovevecError, match=f"{named}: .*(known are|per cent of the words)"):
            parse_noise(odd)


# Files


def test_pairs_come_as_csv_or_with_tabs(folder, pairs):
    for found in (sentence_pairs(str(folder / "own.csv")), sentence_pairs(str(folder / "own.tsv"))):
        assert (found.name, found.left, found.right) == ("own", pairs.left, pairs.right)
        np.testing.assert_allclose(found.gold, pairs.gold, atol=1e-4)
    assert read_set("STSB", folder).name == "stsb"


def test_csv_may_have_quotes_commas_and_lines_inside(tmp_path):
    file = tmp_path / "x.csv"
    file.write_bytes('\ufeff"a, b","say ""so""",1\r\n\r\n"two\r\nlines",x,2\r\nq, r ,3,more\r\n'.encode())
    found = sentence_pairs(str(file))
    assert found.left == ["a, b", "two\nlines", "q"]
    assert found.right == ['say "so"', "x", "r"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "x.csv",
            "a,b,1\nc,d\n",
            r"x.csv:2: sentence1, sentence2, score with commas between expected, found 2 columns",
        ),
        ("x.csv", "a,b,1\nc,d,high\n", r"x.csv:2: the score must be a number, not 'high' \(and no header line\)"),
        ("x.csv", 'a,b,1\n"c"x,d,2\n', r"x.csv:2: is no CSV"),
        ("x.csv", "a,b,1\n\n,d,2\n", r"x.csv:3: a sentence is missing"),
        ("x.tsv", "a,b,1\n", r"x.tsv:1: sentence1, sentence2, score with tabs between expected, found 1 columns"),
        ("x.tsv", "a\tb\t1\n", r"x.tsv: has 1 pairs; a correlation needs at least 3"),
        ("x.csv", "", r"x.csv: has 0 pairs"),
        ("x.txt", "\n", r"x.txt: holds no data"),
        ("x.txt", "a\n a\n", r"x.txt: all texts are the same"),
    ],
)
def test_bad_files_are_one_line(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(FormatError, match=message) as caught:
        read_set(str(tmp_path / name), tmp_path)
    assert "\n" not in str(caught.value)


def test_numbered_queries_belong_together(folder, tmp_path):
    found = queries("marco", folder)
    assert all(typo == text.replace("a", "q", 1) for text, typo in zip(found.clean, found.mistyped, strict=True))
    shutil.copytree(folder / "sentences", tmp_path / "sentences")
    (tmp_path / "sentences" / "marco-queries.typo.tsv").write_text("0\tx\n1 y\n")
    with pytest.raises(FormatError, match=r"typo.tsv:2: number and query with a tab between expected, not '1 y'"):
        queries("marco", tmp_path)
    (tmp_path / "sentences" / "marco-queries.typo.tsv").write_text("0\tx\n2\ty\n")
    with pytest.raises(FormatError, match=r"typo.tsv: has no query 1, which marco-queries.tsv has"):
        queries("marco", tmp_path)
    with pytest.raises(LovevecError, match="nowhere: no such file, nor one of the sets stsb, stsb-train, marco"):
        read_set("nowhere", tmp_path)


# The task


def columns(result) -> list[str]:
    return [cell.strip() for cell in result.markdown().splitlines()[0].strip("|").split("|")]


def test_the_task_from_python(folder, tmp_path):
    result = texts({"bag": Bag(), "none": Nothing()}, data=folder, resamples=20, quick=True, plot=True, keep=tmp_path)
    assert columns(result) == [
        "encoder",
        "MB",
        "texts/s",
        "mistyped/s",
        "stsb, clean",
        "stsb, typo 30 %",
        "marco, its own typos",
    ]
    bag, none = result.as_dict()["scores"]
    assert (bag["encoder"], bag["front"], bag["megabytes"], none["encoder"]) == ("bag", "", None, "none")
    assert bag["texts_per_second"] > 0
    clean, noisy, found = bag["scores"]
    assert clean["score"] > noisy["score"] > none["scores"][1]["score"] == 0
    assert found["score"] > 50
    assert [score["noise"] for score in bag["curve"][:5]] == ["clean", *(f"typo {n} %" for n in (10, 20, 30, 50))]
    assert bag["curve"][3] == noisy
    assert bag["curve"][5]["score"] == 100  # a clean query finds itself
    assert len(result.write(tmp_path)) == 3
    assert (tmp_path / "texts.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((tmp_path / "texts.json").read_text("utf-8")) == result.as_dict()
    settings = result.as_dict()["settings"]
    assert (settings["encoders"], settings["resamples"], list(settings["sets"])) == (
        ["bag", "none"],
        20,
        ["stsb", "marco"],
    )


def test_no_text_is_timed_twice():
    calls = []
    encoder = BenchmarkEncoder("x", lambda some: calls.append(list(some)))
    clean, mistyped = [str(n) for n in range(23)], [f"x{n}" for n in range(23)]
    assert min(texts_per_second(encoder, clean, mistyped, 2)) > 0
    assert calls == [clean[0:4], clean[4:8], mistyped[8:12], clean[12:16], mistyped[16:20]]
    for few in (["a"], ["a", "b", "c"]):
        assert min(texts_per_second(encoder, few, few, 5)) > 0


def test_own_files_and_noises(folder, tmp_path):
    own = [folder / "own.csv", folder / "own.txt"]
    result = texts([Bag()], sets=own, noises=["clean", "typo", "swap:50", "typo:30"], quick=True)
    names = [f"{name}, {noise}" for name in map(str, own) for noise in ("clean", "typo 30 %", "swap 50 %")]
    assert columns(result)[4:] == names  # two files of one name go by their paths
    assert not result.pictures()
    again = texts([Bag()], sets=own, noises=["clean", "typo", "swap:50"], quick=True).as_dict()["scores"][0]
    assert again["scores"] == result.as_dict()["scores"][0]["scores"]
    other = texts([Bag()], sets=own, noises=["clean", "typo", "swap:50"], quick=True, seed=1).as_dict()["scores"][0]
    assert [other["scores"][n]["score"] == again["scores"][n]["score"] for n in (0, 1)] == [True, False]
    texts([Bag()], sets=own[:1], plot=True, quick=True).pictures()["texts.png"](tmp_path / "one.png")
    assert (tmp_path / "one.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"encoders": []}, "nothing to evaluate"),
        ({"encoders": [3]}, "int: is no encoder of texts"),
        (
            {"encoders": ["nosuch"]},
            r"nosuch: no such file or folder, nor a shipped model \(default, .*\), nor a hub id",
        ),
        ({"encoders": ["symspell+nosuch"]}, "^nosuch: no such file"),
        ({"encoders": [Bag(), Bag()]}, "two methods are called Bag"),
        ({"speller": "hunspell"}, "speller=hunspell: there are symspell, aspell"),
        ({"noises": "x:3"}, "noise=x:3"),
        ({"seed": -1}, "seed=-1"),
        ({"resamples": 0}, "resamples: must be at least 1"),
        ({"sets": ["nowhere.csv"]}, "nowhere.csv: no such file"),
    ],
)
def test_mistakes_are_one_line(folder, options, message):
    with pytest.raises(LovevecError, match=message) as caught:
        texts(**{"encoders": [Bag()], "data": folder, "quick": True} | options)
    assert "\n" not in str(caught.value)


# Encoders by name


def test_a_love_and_a_vector_file(tmp_path):
    words = LOVE.load().words[:1000]
    np.savez(tmp_path / "mine.npz", words=np.array(words), vectors=LOVE.load().embed(words)[:, ::-1])
    love, attached = open_encoder("default"), open_encoder(f"own={tmp_path / 'mine.npz'}")
    assert (love.name, attached.name, open_encoder(str(tmp_path / "mine.npz")).name) == ("default", "own", "mine.npz")
    some = ["I receive letters often.", "I recieve leters often."]
    np.testing.assert_array_equal(love.encode(some), LOVE.load().encode(some))
    np.testing.assert_array_equal(attached.encode(some), LOVE.load().attach(tmp_path / "mine.npz").encode(some))
    size = (tmp_path / "mine.npz").stat().st_size / 1e6
    assert attached.megabytes == pytest.approx(love.megabytes + size)
    with pytest.raises(LovevecError, match=r"default\+robust: has LOVE in it as it is"):
        open_encoder("default+robust")


@pytest.fixture(scope="module")
def sentence_transformer(tmp_path_factory) -> Path:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    folder = tmp_path_factory.mktemp("st")
    module = Transformer(str(save_transformer(folder / "bert", WORDS)))
    SentenceTransformer(modules=[module, Pooling(16, "mean")], device="cpu").save(str(folder / "tiny"))
    return folder / "tiny"


def test_a_sentence_transformers_folder(sentence_transformer, monkeypatch):
    from sentence_transformers import SentenceTransformer

    encoder = open_encoder(str(sentence_transformer), "cpu")
    some = [" ".join(WORDS[:4]), "abc"]
    expected = SentenceTransformer(str(sentence_transformer), device="cpu").encode(some)
    np.testing.assert_allclose(encoder.encode(some), expected, atol=1e-6)
    assert (encoder.name, encoder.megabytes) == ("tiny", megabytes(sentence_transformer))
    with pytest.raises(LovevecError, match="no LOVE that ships mimics the input embeddings"):
        open_encoder(f"{sentence_transformer}+robust", "cpu")
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(LovevecError, match="tiny: is a model of sentence-transformers: pip install sentence-transf"):
        open_encoder(str(sentence_transformer))


def test_a_model2vec_folder(tmp_path, monkeypatch):
    model2vec = pytest.importorskip("model2vec")
    from transformers import AutoTokenizer

    from lovevec.plugins.model2vec import robustify

    tokenizer = AutoTokenizer.from_pretrained(save_transformer(tmp_path / "bert", WORDS)).backend_tokenizer
    vectors = np.random.default_rng(0).normal(size=(tokenizer.get_vocab_size(), 8)).astype(np.float32)
    model = model2vec.StaticModel(vectors, tokenizer)
    folder = tmp_path / "static"
    model.save_pretrained(folder)
    some = [" ".join(WORDS[:4]), WORDS[5], f"{WORDS[6][:-1]}zq"]
    plain, robust = encoders_of(f"mine={folder}", robust=True)
    assert (plain.name, robust.name) == ("mine", "mine+robust")
    np.testing.assert_allclose(plain.encode(some), model.encode(some), atol=1e-6)
    np.testing.assert_allclose(robust.encode(some[:2]), model.encode(some[:2]), atol=1e-6)
    assert robust.megabytes > plain.megabytes > 0
    assert open_encoder(f"{folder}+robust").name == "static+robust"
    robustify(folder).save_pretrained(tmp_path / "saved")
    saved = open_encoder(str(tmp_path / "saved"))
    np.testing.assert_allclose(saved.encode(some), robust.encode(some), atol=1e-6)
    assert (saved.with_love, saved.megabytes) == (None, pytest.approx(robust.megabytes))
    (folder / "model.safetensors").write_bytes(b"not")
    with pytest.raises(LovevecError, match="static: cannot be read as a model of model2vec"):
        open_encoder(str(folder))
    monkeypatch.setitem(sys.modules, "model2vec", None)
    monkeypatch.delitem(sys.modules, "lovevec.plugins.model2vec")
    with pytest.raises(LovevecError, match="model2vec: pip install"):
        open_encoder(str(folder))


# Spellers


def test_corrections_keep_case_marks_and_what_is_no_word():
    asked = []

    def corrections(words):
        asked.extend(words)
        return [{"teh": "the", "recieve": "receive", "b3st": "best", "zzz": None}.get(word, word) for word in words]

    some = ["Teh  RECIEVE (recieve), 2026: b3st teh-teh!\n", "", "it don't zzz Zzz ab _x_"]
    assert correct_texts(some, corrections) == [
        "The  RECEIVE (receive), 2026: best the-the!\n",
        "",
        "it don't zzz Zzz ab _x_",
    ]
    assert sorted(asked) == sorted(set(asked))
    assert not {"2026", "ab", "t", "_x_"} & set(asked)


@pytest.mark.slow
@pytest.mark.parametrize("speller", ["symspell", "aspell"])
def test_real_spellers_know_the_words_of_the_default(speller):
    if speller == "symspell":
        pytest.importorskip("symspellpy")
    elif shutil.which("aspell") is None:
        pytest.skip("aspell is not installed")
    clean = "The doctor wouldn't receive its 2nd letter, o'clock or not: Birmingham's MP3s are B2B."
    right = ["receive", "letter", "o", "mp3"]
    found = corrections_of(speller)(["recieve", "definitly", *right])
    assert found == ["receive", "definitely", *right]
    assert correct_texts([clean], corrections_of(speller))[0].startswith(
        "The doctor wouldn't receive its 2nd letter, o'clock"
    )
    plain, spelled = encoders_of({"bag": Bag()}, speller=speller)
    assert (plain.name, spelled.name, spelled.front) == ("bag", f"{speller}+bag", speller)
    np.testing.assert_array_equal(spelled.encode(["I recieve Definitly"]), Bag().encode(["I receive Definitely"]))
