"""Distilled vectors against a plain recomputation, one sentence at a time; and runs that stop and go on."""

from __future__ import annotations

import gzip
import io
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.factories import toy_words
from tests.transformer_factories import bert, byte_level, roberta, save_transformer, sentencepiece, wordpiece
from transformers import AutoModel, AutoTokenizer

from lovevec.errors import LovevecError
from lovevec.progress import Progress
from lovevec.train.target import load_target
from lovevec.transformer.contextual import cut
from lovevec.transformer.corpus import Corpus
from lovevec.transformer.distill import DistillSettings, distill

REAL = [
    "The cat sat on the mat, near the misspeling.",
    "Unfathomable misspeling! The CAT unfathomably ran away (from 1984).",
    "the the the",
    "Café owners don't like the cat",
]


pytestmark = pytest.mark.usefixtures("on_one_thread")


def states_by_word(model, tokenizer, sentences, layer=-1):
    """word -> its vector in each occurrence. Words are what stands between white space, marks taken off their ends."""
    found = defaultdict(list)
    for sentence in sentences:
        batch = tokenizer(sentence, return_tensors="pt", return_offsets_mapping=True)
        offsets = batch.pop("offset_mapping")[0].tolist()
        marks = [token == "▁" for token in tokenizer.convert_ids_to_tokens(batch["input_ids"][0])]
        batch.pop("token_type_ids", None)
        with torch.no_grad():
            hidden = model(**batch, output_hidden_states=True).hidden_states[layer][0].double().numpy()
        at = 0
        for token in sentence.split():
            at = sentence.index(token, at)
            bare = token.strip(".,!()")
            low = at + token.index(bare)
            high, at = low + len(bare), at + len(token)
            # RoBERTa's pieces may begin with the space before the word; SentencePiece's mark may stand alone.
            pieces = [n for n, (a, b) in enumerate(offsets) if (a < b and low < b <= high) or (marks[n] and b == low)]
            found[bare].append(hidden[pieces].mean(axis=0))
    return found


@pytest.fixture(scope="module")
def real(minilm):
    return AutoModel.from_pretrained(minilm).eval(), AutoTokenizer.from_pretrained(minilm)


def text(folder, sentences, name="text.txt"):
    path = folder / name
    path.write_text("\n".join(sentences) + "\n", "utf-8")
    return path


@pytest.mark.parametrize(("pooling", "layer"), [("mean", -1), ("max", 2)])
def test_minilm_agrees_with_one_sentence_at_a_time(real, tmp_path, pooling, layer):
    by_word = states_by_word(*real, [line.lower() for line in REAL], layer)
    words = ["cat", "the", "misspeling", "unfathomable", "unfathomably", "1984"]
    settings = DistillSettings(pooling=pooling, layer=layer, device="cpu")
    target = distill(real, text(tmp_path, REAL), words=words, settings=settings)
    assert target.words == words
    pool = np.mean if pooling == "mean" else np.max
    expected = [pool(by_word[word], axis=0) for word in words]
    np.testing.assert_allclose(target.vectors, expected, atol=2e-5)
    assert target.source["occurrences"] == sum(len(by_word[word]) for word in words)


@pytest.fixture(scope="module")
def made():
    """Small models of all kinds, by name."""
    wordpieces, bytes_, sentences = wordpiece(), byte_level(), sentencepiece()
    return {
        "wordpiece": (bert(wordpieces), wordpieces),
        "byte-level": (roberta(bytes_), bytes_),
        "sentencepiece": (roberta(sentences), sentences),
    }


def sentences_of(count, length=6, seed=3):
    words = toy_words(60, seed)
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(words, length)) for _ in range(count)]


@pytest.mark.parametrize("kind", ["wordpiece", "byte-level", "sentencepiece"])
def test_every_kind_of_tokenizer_agrees_with_one_sentence_at_a_time(made, tmp_path, kind):
    sentences = sentences_of(40, 4)
    by_word = states_by_word(*made[kind], sentences)
    settings = DistillSettings(min_count=2, most=0, device="cpu", batch=64)
    target = distill(made[kind], text(tmp_path, sentences), settings=settings)
    counts = {word: len(found) for word, found in by_word.items() if len(found) >= 2}
    assert set(target.words) == set(counts)
    order = [counts[word] for word in target.words]
    assert order == sorted(order, reverse=True), "the most frequent word comes first"
    expected = [np.mean(by_word[word], axis=0) for word in target.words]
    np.testing.assert_allclose(target.vectors, expected, atol=1e-5)


def test_only_the_first_occurrences_count(made, tmp_path):
    sentences = sentences_of(60)
    by_word = states_by_word(*made["wordpiece"], sentences)
    settings = DistillSettings(min_count=3, most=3, device="cpu")
    target = distill(made["wordpiece"], text(tmp_path, sentences), settings=settings)
    expected = [np.mean(by_word[word][:3], axis=0) for word in target.words]
    np.testing.assert_allclose(target.vectors, expected, atol=1e-5)
    assert target.source["occurrences"] == 3 * len(target)


def test_reading_ends_when_no_word_takes_more(made, tmp_path):
    said = io.StringIO()
    path = text(tmp_path, ["brot brot", *sentences_of(5000, 8)])
    settings = DistillSettings(most=2, device="cpu")
    target = distill(made["wordpiece"], path, words=["brot"], settings=settings, progress=Progress(stream=said))
    assert path.stat().st_size > 1.5 * 2**17
    assert target.source["occurrences"] == 2
    assert "no word takes more occurrences: the text was read no further after" in said.getvalue()


def test_long_lines_are_cut_between_words_and_lose_none(made, tmp_path):
    words = toy_words(60, 3)
    line = " ".join(np.random.default_rng(0).choice(words, 3000).tolist())
    settings = DistillSettings(min_count=1, most=0, device="cpu")
    target = distill(made["wordpiece"], text(tmp_path, [line, line]), settings=settings)
    assert target.source["occurrences"] == 6000
    assert set(target.words) == set(line.split())


@pytest.mark.parametrize("seed", range(20))
def test_stretches_cover_all_and_cut_no_word(seed):
    rng = np.random.default_rng(seed)
    ends = np.cumsum(rng.integers(1, 5, 50)).tolist()
    spans = [pair for pair in zip([0, *ends], ends, strict=False) if rng.random() < 0.8]
    found = cut(ends[-1], spans, 10)
    assert [low for low, _ in found] == [0, *(high for _, high in found[:-1])]
    assert found[-1][1] == ends[-1]
    assert all(0 < high - low <= 10 for low, high in found)
    assert all(any(low <= first and last <= high for low, high in found) for first, last in spans)
    assert cut(30, [(2, 28)], 10)[0][1] <= 10, "a word longer than that is cut all the same"


def test_any_bytes_are_read_and_what_is_not_utf_8_is_told(made, tmp_path):
    word = toy_words(60, 3)[0]
    parts = [
        b"\xef\xbb\xbf" + word.encode() + b"\r\n\r\n \n",
        b"\x00\x01\xff\xfe " + word.encode() + b"\xe9x " + word.encode() + b"\n" * 5,
        "\u2028\u3000😀 ".encode() + word.upper().encode(),
    ]
    (tmp_path / "odd.txt").write_bytes(b"".join(parts))
    (tmp_path / "empty.txt").write_bytes(b"")
    (tmp_path / "packed.txt.gz").write_bytes(gzip.compress(f"{word}\n{word} ".encode()))
    (tmp_path / "junk.bin").write_bytes(np.random.default_rng(0).bytes(300_000))
    said = io.StringIO()
    target = distill(
        made["wordpiece"],
        [tmp_path / name for name in ("odd.txt", "empty.txt", "packed.txt.gz", "junk.bin")],
        words=[word],
        settings=DistillSettings(device="cpu"),
        progress=Progress(stream=said),
    )
    assert target.source["occurrences"] == 5
    assert "words with bytes that are not UTF-8: left out" in said.getvalue()
    assert np.isfinite(target.vectors).all()


def test_blocks_depend_on_the_place_alone(tmp_path):
    path = text(tmp_path, sentences_of(200))
    packed = tmp_path / "text.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    corpus = Corpus([path, packed], block=1000)
    whole = list(corpus.blocks())
    assert [line for lines, _ in whole for line in lines] == path.read_text().split("\n")[:-1] * 2
    for number in (0, 5, len(whole) // 2, len(whole) - 1):
        assert list(corpus.blocks(whole[number][1])) == whole[number + 1 :]


def test_words_are_found_as_the_tokenizer_spells_them(real, tmp_path):
    """Those of an uncased model in lower case, `café` as cafe; what is not one word is told, or taken alone."""
    path = text(tmp_path, REAL)
    words = ["Cat", "cat", "café", "don't", "zebra", " "]
    said = io.StringIO()
    settings = DistillSettings(device="cpu")
    target = distill(real, path, words=words, settings=settings, progress=Progress(stream=said))
    assert target.words == ["cat", "café"]
    assert (
        "2 words never occur as one word: left out (don't, zebra); fill_missing=True takes them alone"
        in said.getvalue()
    )
    filled = distill(real, path, words=words, settings=DistillSettings(device="cpu", fill_missing=True))
    assert filled.words == ["cat", "café", "don't", "zebra"]
    np.testing.assert_array_equal(filled.vectors[:2], target.vectors)
    alone = distill(real, words=["don't", "zebra"], settings=DistillSettings(device="cpu", single=True))
    np.testing.assert_allclose(filled.vectors[2:], alone.vectors, atol=1e-6)


def test_single_words_with_and_without_special_tokens(real):
    model, tokenizer = real
    words = ["cat", "misspeling", "new york", "don't", "unfathomable"]
    pieces, everything = [], []
    for word in words:
        with torch.no_grad():
            hidden = model(**tokenizer(word, return_tensors="pt")).last_hidden_state[0].numpy()
        pieces.append(hidden[1:-1].mean(axis=0))
        everything.append(hidden.mean(axis=0))
    settings = DistillSettings(device="cpu", single=True)
    np.testing.assert_allclose(distill(real, words=words, settings=settings).vectors, pieces, atol=2e-6)
    settings = DistillSettings(device="cpu", single=True, specials=True)
    np.testing.assert_allclose(distill(real, words=words, settings=settings).vectors, everything, atol=2e-6)


class Stop(Exception):
    """Where a run is made to stop."""


class Stopping(io.StringIO):
    """A screen that fails as soon as a file is there: the run ends as if it had crashed, in the midst of a phase."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.file = file

    def isatty(self) -> bool:
        return True

    def write(self, line: str) -> int:
        if self.file.exists():
            raise Stop
        return super().write(line)


@pytest.mark.parametrize("kept", ["counts", "texts", "alone"])
def test_a_stopped_run_goes_on_to_the_same_bits(made, tmp_path, kept):
    path = text(tmp_path, sentences_of(2600, 12))
    alone = kept == "alone"
    words = toy_words(3000, 5) if alone else None
    how = {"most": 0, "device": "cpu", "batch": 1024, "checkpoint_minutes": 0.0, "single": alone}

    def run(name, screen=None):
        corpus = () if alone else path
        settings = DistillSettings(**how)
        progress = Progress(stream=screen, period=0.0) if screen else None
        return distill(made["wordpiece"], corpus, words=words, settings=settings, output=name, progress=progress)

    run(tmp_path / "whole.npz")
    assert not (tmp_path / "whole.npz.parts").exists()
    with pytest.raises(Stop):
        run(tmp_path / "stopped.npz", Stopping(tmp_path / "stopped.npz.parts" / f"{kept}.safetensors"))
    assert not (tmp_path / "stopped.npz").exists()
    with pytest.raises(LovevecError, match="an unfinished run with other layer"):
        distill(
            made["wordpiece"],
            () if alone else path,
            words=words,
            settings=DistillSettings(**how, layer=1),
            output=tmp_path / "stopped.npz",
        )
    run(tmp_path / "stopped.npz")
    assert (tmp_path / "stopped.npz").read_bytes() == (tmp_path / "whole.npz").read_bytes()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["stopped.npz", "text.txt", "whole.npz"]


def test_the_file_is_a_target_and_says_where_it_came_from(made, tmp_path):
    tokenizer = wordpiece(lowercase=False)
    folder = save_transformer(tmp_path / "cased", bert(tokenizer), tokenizer)
    settings = DistillSettings(min_count=1, device="cpu")
    made_ = distill(str(folder), text(tmp_path, ["The cat the Cat"]), settings=settings, output=tmp_path / "d.npz")
    assert made_.words == ["The", "cat", "the", "Cat"]
    target = load_target(tmp_path / "d.npz", lowercase=False)
    assert target.words == made_.words
    np.testing.assert_array_equal(target.vectors, made_.vectors)
    assert target.source["made"] == made_.source
    assert (made_.source["model"], made_.source["corpus"], made_.source["cased"]) == ("cased", ["text.txt"], True)
    distill(str(folder), tmp_path / "text.txt", settings=settings, output=tmp_path / "d.vec")
    np.testing.assert_array_equal(load_target(tmp_path / "d.vec", lowercase=False).vectors, made_.vectors)


@pytest.mark.parametrize(
    ("more", "settings", "says"),
    [
        ({}, {}, "name the text to read"),
        ({"corpus": "no.txt"}, {}, r"no\.txt: cannot be read"),
        ({"corpus": "."}, {}, "a folder; name the files"),
        ({"corpus": "-"}, {}, "standard input can be read only once"),
        ({"corpus": "t.txt"}, {"single": True}, "single words come from a list"),
        ({"corpus": "t.txt", "words": ["a"]}, {"single": True}, "a corpus is of no use"),
        ({"words": ["", " "]}, {"single": True}, "no words in the list"),
        ({"words": "word"}, {"single": True}, "a list of words, not one string"),
        ({"corpus": "t.txt"}, {}, "no word of the corpus occurs 5 times"),
        ({"corpus": "t.txt", "words": ["zzz"]}, {}, "none of the words occurs"),
        ({"corpus": "t.txt"}, {"layer": 3}, "layer is 3"),
        ({"corpus": "t.txt"}, {"length": 33}, "takes at most 32 pieces"),
        ({"corpus": "t.txt"}, {"length": 2}, "leave no room"),
        ({"corpus": "t.txt"}, {"device": "nonsense"}, "device nonsense cannot be used here"),
        ({"corpus": "t.txt", "output": "x.pkl"}, {}, "its name does not say the format"),
        ({"corpus": "t.txt", "output": "no/x.npz"}, {}, "there is no folder no"),
        ({"corpus": "t.txt", "output": "t.txt"}, {}, "is there already"),
        ({"corpus": "wide.txt"}, {}, "is UTF-16"),
    ],
)
def test_mistakes_are_one_clear_error(made, tmp_path, monkeypatch, more, settings, says):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.txt").write_text("some text\n")
    (tmp_path / "wide.txt").write_bytes("some text\n".encode("utf-16"))
    with pytest.raises(LovevecError, match=says):
        distill(made["wordpiece"], **more, settings=DistillSettings(**{"device": "cpu"} | settings))


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"pooling": "sum"}, "pooling is 'sum': choose one of mean, max"),
        ({"precision": "int8"}, "precision"),
        ({"most": -1}, "most is -1: must be at least 0"),
        ({"batch": 0}, "batch is 0"),
        ({"specials": True}, "specials is for single words"),
    ],
)
def test_settings_are_checked(wrong, says):
    with pytest.raises(LovevecError, match=says):
        DistillSettings(**wrong)
