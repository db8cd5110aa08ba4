"""model2vec's own answers on text of known words; on other text the formula, word by word in float64."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

pytest.importorskip("model2vec")
from model2vec import StaticModel
from tests.factories import toy_words

from lovevec import LOVE, LovevecError
from lovevec.errors import FormatError
from lovevec.near.orthography import Orthography
from lovevec.near.reader import Reader
from lovevec.near.readings import MIN_PROBABILITY
from lovevec.plugins.model2vec import RobustStaticModel, robustify

LETTERS = "abcdefghijklmnopqrstuvwxyz"
WHOLE = ["receive", "modern", "letter", "people", "the", "a", *toy_words(80)]
KEPT = ["architect", "tomorrow"]  # broken, but known
DIM = 8


def wordpiece(lowercase: bool = True) -> Tokenizer:
    entries = ["[PAD]", "[UNK]", *WHOLE, ".", ",", *LETTERS, *(f"##{letter}" for letter in LETTERS), "##itect", "##row"]
    vocabulary = {entry: number for number, entry in enumerate(dict.fromkeys(entries))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens(["[PAD]", "[UNK]"])
    return tokenizer


def wordlevel() -> Tokenizer:
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0} | {w: n for n, w in enumerate(WHOLE, 1)}, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.Lowercase(), pre_tokenizers.Whitespace()
    return tokenizer


def unigram() -> Tokenizer:
    entries = ["<unk>", "▁", *(f"▁{word}" for word in WHOLE), *LETTERS, ".", ","]
    scores = [(entry, -1.0 - 5 * (len(entry) == 1)) for entry in dict.fromkeys(entries)]
    tokenizer = Tokenizer(models.Unigram(scores, unk_id=0))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    return tokenizer


def bytes_bpe() -> Tokenizer:
    """Merges that build up each whole word from the left."""
    entries, merges = dict.fromkeys([*LETTERS, "Ġ", ".", ",", *"1234"]), []
    for word in WHOLE:
        for end in range(1, len(word) + 1):
            pair = "Ġ" + word[: end - 1], word[end - 1]
            if "".join(pair) not in entries:
                entries["".join(pair)] = None
                merges.append(pair)
    tokenizer = Tokenizer(models.BPE({entry: number for number, entry in enumerate(entries)}, merges))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.Lowercase(), pre_tokenizers.ByteLevel()
    return tokenizer


TOKENIZERS = {"wordpiece": wordpiece, "wordlevel": wordlevel, "unigram": unigram, "bytes": bytes_bpe}


def made(tokenizer: Tokenizer, kind: str = "float32", normalize: bool = False, **options) -> StaticModel:
    rng = np.random.default_rng(3)
    size = tokenizer.get_vocab_size()
    vectors = rng.normal(size=(size, DIM)) * rng.uniform(0.2, 3, size=(size, 1))  # lengths count
    vectors = np.clip(vectors * 40, -127, 127).astype(kind) if kind == "int8" else vectors.astype(kind)
    return StaticModel(vectors, tokenizer, normalize=normalize, **options)


def quantised(tokenizer: Tokenizer) -> StaticModel:
    """As after vocabulary quantization: fewer rows than tokens, each token with a weight."""
    rng, size = np.random.default_rng(5), tokenizer.get_vocab_size()
    return StaticModel(
        rng.normal(size=(30, DIM)).astype(np.float32), tokenizer, normalize=False,
        weights=rng.uniform(0.1, 2, size=size).astype(np.float32), token_mapping=rng.integers(30, size=size),
    )  # fmt: skip


@pytest.fixture(scope="module")
def plain() -> StaticModel:
    return made(wordpiece())


@pytest.fixture(scope="module")
def robust(plain) -> RobustStaticModel:
    return RobustStaticModel(plain, Orthography(), KEPT)


def rows(model: StaticModel, text: str) -> np.ndarray:
    """What the plain model averages, in float64."""
    ids = model.tokenize([text])[0]
    table = model.embedding.astype(np.float64)
    if model.token_mapping is not None:
        return table[model.token_mapping[ids]] * model.weights.astype(np.float64)[ids][:, None]
    return table[ids]


def expected(model: StaticModel, words: list[str], read: dict[str, str]) -> np.ndarray:
    """The formula, word by word; `read` are those that are read, each in the form in which the reader meets it."""
    reader = Reader(list(dict.fromkeys([*KEPT, *WHOLE, *whole_others(model)])), Orthography())
    total, number = np.zeros(DIM), 0.0
    for word in words:
        chances = [(word, 1.0)]
        if word in read:
            reading = reader([read[word]], in_text=True)
            chances = [(word, reading.new[0])]
            for row, chance in zip(reading.rows[0].tolist(), reading.probabilities[0].tolist(), strict=True):
                if chance >= MIN_PROBABILITY:
                    chances.append((reader.words[row], chance))
        for one, chance in chances:
            total += chance * rows(model, one).sum(axis=0)
            number += chance * len(rows(model, one))
    return total / number


def whole_others(model: StaticModel) -> list[str]:
    """Marks and letters of the vocabulary: they rank behind the words."""
    entries = [entry.removeprefix("▁") for entry in model.tokens if not entry.startswith(("##", "[", "<"))]
    return [entry for entry in entries if entry and entry not in WHOLE]


@pytest.mark.parametrize("kind", TOKENIZERS)
@pytest.mark.parametrize("normalize", [False, True])
def test_text_of_known_words_is_bit_equal(kind, normalize):
    plain = made(TOKENIZERS[kind](), normalize=normalize)
    robust = RobustStaticModel(plain, Orthography(), KEPT)
    texts = ["the modern letter", "a", "the architect, the people. Tomorrow", "", "  ", "the the the", "12 34"]
    texts = [text.lower() if kind == "unigram" else text for text in texts]
    assert np.array_equal(robust.encode(texts), plain.encode(texts))
    for text in texts:
        assert np.array_equal(robust.encode(text), plain.encode(text))


@pytest.mark.parametrize("kind", ["float32", "float16", "int8"])
def test_a_misspelling_counts_as_the_words_it_may_be(kind):
    plain = made(wordpiece(), kind)
    robust = RobustStaticModel(plain, Orthography(), KEPT)
    words = ["the", "recieve", "modern", "lettar", "blorfing", "the"]
    found = robust.encode(" ".join(words))
    tolerance = 2e-3 if kind == "float16" else 2e-6 * float(np.abs(plain.embedding).max())
    assert found.dtype == plain.encode("the").dtype
    assert len(rows(plain, "blorfing")) == 8
    oracle = expected(plain, words, {word: word for word in ("recieve", "lettar", "blorfing")})
    np.testing.assert_allclose(found, oracle, atol=tolerance)
    near, far = (np.linalg.norm(vector - plain.encode("the receive modern letter the")) for vector in (
        robust.encode("the recieve modern lettar the"), plain.encode("the recieve modern lettar the")
    ))  # fmt: skip
    assert near < far / 3


def test_weights_and_mapping_of_a_quantised_vocabulary():
    plain = quantised(wordpiece())
    robust = RobustStaticModel(plain, Orthography(), KEPT)
    assert np.array_equal(robust.encode(["the modern architect"]), plain.encode(["the modern architect"]))
    words = ["the", "rnodern", "archiitect"]
    oracle = expected(plain, words, {"rnodern": "rnodern", "archiitect": "archiitect"})
    np.testing.assert_allclose(robust.encode(" ".join(words)), oracle, atol=2e-6)


@pytest.mark.parametrize("kind", ["wordlevel", "unigram"])
def test_other_tokenizers(kind):
    plain = made(TOKENIZERS[kind]())
    robust = RobustStaticModel(plain, Orthography(), KEPT)
    words = ["the", "recieve", "modern"]
    np.testing.assert_allclose(
        robust.encode(" ".join(words)), expected(plain, words, {"recieve": "recieve"}), atol=2e-6
    )


def test_normalised_is_the_same_direction(plain, robust):
    text = "the recieve modern"
    found = robust.encode([text, "", "the"], normalize=True)
    one = robust.encode(text).astype(np.float64)
    np.testing.assert_allclose(found[0], one / np.linalg.norm(one), atol=1e-6)
    assert not found[1].any()
    assert np.array_equal(found[2], plain.encode(["the"], normalize=True)[0])


def test_capitals_speak_for_a_name_but_not_where_a_sentence_begins(plain, robust):
    for text, form in (("the Recieve", "Recieve"), ("the . Recieve", "recieve"), ("the RECIEVE", "RECIEVE")):
        word = text.split()[-1]
        oracle = expected(plain, text.split(), {word: form})
        np.testing.assert_allclose(robust.encode(text), oracle, atol=2e-6)
    assert np.array_equal(robust.encode("Recieve"), robust.encode("recieve"))
    assert not np.allclose(robust.encode("the Recieve"), robust.encode("the recieve"), atol=1e-4)


def test_another_form_of_a_known_word_is_that_word(plain, robust):
    """Which the tokenizer cannot spell: the plain model leaves it out."""
    wide = "".join(chr(ord(letter) + 0xFEE0) for letter in "modern")
    assert np.array_equal(plain.encode(f"the {wide}"), plain.encode("the"))
    np.testing.assert_allclose(robust.encode(f"the {wide}"), plain.encode("the modern"), atol=1e-6)


def test_long_texts_are_cut_where_the_plain_model_cuts(plain, robust):
    known, most = " ".join(WHOLE) + " ", 20 * plain.median_token_length
    for length in (0, 1, 20, 512, None):
        assert np.array_equal(
            robust.encode([known * 40], max_length=length), plain.encode([known * 40], max_length=length)
        )
    # A word that the cut breaks, of letters or of tokens, is none: its pieces stay.
    text = ("the " * 100)[: most - 4] + "recieve"
    assert np.array_equal(robust.encode([text], max_length=20), plain.encode([text], max_length=20))
    for length in (2, 5):
        assert np.array_equal(
            robust.encode(["the recieve"], max_length=length), plain.encode(["the recieve"], max_length=length)
        )
    assert not np.allclose(robust.encode(["the recieve"], max_length=8), plain.encode(["the recieve"], max_length=8))
    many = ["recieve the modern lettar"] * 3
    assert np.array_equal(robust.encode(many, batch_size=2), robust.encode(many))
    assert robust.encode("recieve " * 20_000, max_length=None).shape == (DIM,)


@given(texts=st.lists(st.text() | st.text("recievthmodn .,R\ud800", max_size=40), max_size=6))
def test_any_text_is_finite_and_the_same_alone(robust, texts):
    found = robust.encode(texts)
    assert found.shape == (len(texts), DIM)
    assert np.isfinite(found).all()
    for text, row in zip(texts, found, strict=True):
        assert np.array_equal(robust.encode(text), row)


@given(st.lists(st.sampled_from([*WHOLE, *KEPT, ".", "The", "ARCHITECT"])).map(" ".join))
def test_text_of_known_words_is_never_changed(plain, robust, text):
    assert np.array_equal(robust.encode([text]), plain.encode([text]))


def test_sequences_have_a_row_for_each_token_and_for_each_word_that_is_read(plain, robust):
    assert np.array_equal(robust.encode_as_sequence("the architect"), plain.encode_as_sequence("the architect"))
    sequence = robust.encode_as_sequence(["the recieve modern", ""])
    assert [len(one) for one in sequence] == [3, 0]
    assert np.array_equal(sequence[0][[0, 2]], plain.encode_as_sequence("the modern"))
    np.testing.assert_allclose(sequence[0][1], expected(plain, ["recieve"], {"recieve": "recieve"}), atol=2e-6)


def test_the_model_given_stays_as_it_is(plain):
    before = plain.tokenizer.to_str(), plain.embedding.tobytes(), {**plain.config}
    robust = RobustStaticModel(plain, Orthography(), KEPT)
    robust.encode(["the recieve"], max_length=3)
    robust.normalize = True
    assert (plain.tokenizer.to_str(), plain.embedding.tobytes(), {**plain.config}) == before
    assert not plain.normalize
    assert robust.embedding is plain.embedding
    assert isinstance(robust, StaticModel)
    assert robust.dim == DIM
    assert robust.tokenize(["the recieve"]) == plain.tokenize(["the recieve"])


def test_saved_and_loaded_again(plain, robust, tmp_path):
    texts = ["the recieve modern", "the Archiitect", ""]
    robust.save_pretrained(tmp_path / "m")
    again = RobustStaticModel.from_pretrained(tmp_path / "m")
    assert np.array_equal(again.encode(texts), robust.encode(texts))
    assert np.array_equal(StaticModel.from_pretrained(tmp_path / "m").encode(texts), plain.encode(texts))
    assert np.array_equal(pickle.loads(pickle.dumps(robust)).encode(texts), robust.encode(texts))
    (tmp_path / "m" / "lovevec.json").write_text('{"channel": {}, "keep": []}')
    with pytest.raises(FormatError, match=r"lovevec\.json"):
        RobustStaticModel.from_pretrained(tmp_path / "m")
    (tmp_path / "m" / "lovevec.json").unlink()
    with pytest.raises(LovevecError, match="robustify"):
        RobustStaticModel.from_pretrained(tmp_path / "m")


def test_threads(robust):
    texts = [f"the recieve {word}x" for word in WHOLE[:20]]
    alone = robust.encode(texts)
    with ThreadPoolExecutor(4) as pool:
        lengths = [512, 1000, None, 700] * 4
        for found in pool.map(lambda length: robust.encode(texts, max_length=length), lengths):
            assert np.array_equal(found, alone)


def test_what_is_kept_if_not_said(plain):
    """English whole words: those that the default knows. Made-up words: none."""
    words = ["receive", "modern", "letter", "people"]
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0} | {w: n for n, w in enumerate(words, 1)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    assert robustify(made(tokenizer)).keep == tuple(LOVE.load().words)
    assert robustify(plain).keep == ()
    assert robustify(plain, keep=["b", "a"]).keep == ("b", "a")
    np.testing.assert_allclose(
        robustify(plain, keep=KEPT).encode("the recieve"),
        RobustStaticModel(plain, LOVE.load().orthography, KEPT).encode("the recieve"),
    )


def test_refusals(plain, robust, tmp_path):
    with pytest.raises(LovevecError, match=r"model: .*StaticModel.*not int"):
        robustify(3)
    with pytest.raises(LovevecError, match="no folder or hub id of a model2vec model"):
        robustify(tmp_path)
    with pytest.raises(LovevecError, match="no folder or hub id of a model2vec model"):
        robustify(tmp_path / "missing")
    with pytest.raises(LovevecError, match="robust already"):
        robustify(robust)
    with pytest.raises(LovevecError, match=r"love: .*spelling"):
        robustify(plain, love=LOVE.load(spelling_only=True))
    with pytest.raises(LovevecError, match="word 0 is not a string"):
        robustify(plain, keep=[1])
    with pytest.raises(LovevecError, match="sentences: a text is not a string but int"):
        robust.encode(["the", 3])


def test_the_package_has_one_robustify_for_all_models(plain):
    from lovevec import robustify as any_model

    found = any_model(plain, keep=KEPT)
    assert isinstance(found, RobustStaticModel)
    assert np.array_equal(found.encode("the recieve"), robustify(plain, keep=KEPT).encode("the recieve"))
