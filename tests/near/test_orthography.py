"""Channel, lexicon and listed forms in a model folder: what is written is read, and damage is one error that names the
file. And words of one's own, and weights of a collection (own_words.py), which go the same way."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load, save
from tests.factories import KNOWN_WORDS, random_love
from tests.near.strings import LISTED, NASTY, ORTHOGRAPHY, same_bits

from lovevec import LOVE, LovevecError
from lovevec.model.folder import CONFIG, FORMS, LEXICON, read_model, write_model
from lovevec.model.validation import checksums
from lovevec.near.orthography import Orthography
from lovevec.own_words import OWN_RANK

LOVED = LOVE(replace(random_love().parts, orthography=ORTHOGRAPHY))
STRINGS = [*LISTED, *NASTY, "recieve", "thehouse", "blorfing", "House's", "500mg"]


@pytest.fixture
def folder(tmp_path) -> Path:
    LOVED.save(tmp_path / "m")
    return tmp_path / "m"


def same_readings(one: LOVE, other: LOVE) -> bool:
    first, second = one.lookup(STRINGS), other.lookup(STRINGS)
    return same_bits(first.probabilities, second.probabilities) and np.array_equal(first.vectors, second.vectors)


def test_a_folder_keeps_them(folder):
    again = LOVE.load(folder)
    assert again.orthography is not None
    assert again.orthography.listed == ORTHOGRAPHY.listed
    assert again.orthography.channel.as_dict() == ORTHOGRAPHY.channel.as_dict()
    assert np.array_equal(again.orthography.lexicon.filter, ORTHOGRAPHY.lexicon.filter)
    assert same_readings(again, LOVED)
    assert not same_readings(again, random_love())
    before = {name: (folder / name).read_bytes() for name in (LEXICON, FORMS)}
    again.save(folder)
    assert {name: (folder / name).read_bytes() for name in (LEXICON, FORMS)} == before


def test_without_them_there_is_no_file_and_an_old_one_goes(folder):
    write_model(folder, replace(LOVED.parts, orthography=Orthography()), "card")
    assert not (folder / LEXICON).exists()
    assert not (folder / FORMS).exists()
    assert read_model(folder).orthography.listed == {}
    (folder / FORMS).write_text("left over")  # which the config does not name
    assert read_model(folder).orthography.listed == {}


def refused(folder: Path, name: str, says: str) -> None:
    with pytest.raises(LovevecError, match=says) as caught:
        read_model(folder)
    assert str(folder / name) in str(caught.value)


@pytest.mark.parametrize("name", [LEXICON, FORMS])
def test_damaged_and_missing_files_are_one_error_that_names_them(folder, name):
    content = (folder / name).read_bytes()
    rng = np.random.default_rng(0)
    for number, place in enumerate(rng.integers(0, len(content), 20).tolist()):
        damaged = bytearray(content[:place] if number % 2 else content)
        if not number % 2:
            damaged[place] ^= 1 << int(rng.integers(8))
        (folder / name).write_bytes(bytes(damaged))
        refused(folder, name, "damaged")
    (folder / name).unlink()
    refused(folder, name, "cannot be read")


def vouch(folder: Path, name: str, content: bytes) -> None:
    """Another file, with the hash that belongs to it."""
    (folder / name).write_bytes(content)
    config = json.loads((folder / CONFIG).read_text())
    config["sha256"][name] = hashlib.sha256(content).hexdigest()
    config["checksum"] = checksums(config)["checksum"]
    (folder / CONFIG).write_text(json.dumps(config))


FORGED = [b"", b"[]", b"{", b"\xff", b"null", b'{"a": 1}', b'{"a": [["b", 2]]}', b'{"a": [["b", NaN]]}', b"[" * 99_999]


@pytest.mark.parametrize("content", FORGED, ids=lambda content: ascii(content)[:20])
def test_forged_forms_are_one_error(folder, content):
    vouch(folder, FORMS, content)
    refused(folder, FORMS, "damaged")


def test_a_forged_lexicon_is_one_error(folder):
    good = load((folder / LEXICON).read_bytes())
    for change in (
        {"filter": good["filter"][:-1]},
        {"grams": good["grams"][:9]},
        {"scale": np.full(1, np.nan, np.float32)},
        {"endings": np.full(3, 255, np.uint8)},
        {"more": good["filter"]},
    ):
        vouch(folder, LEXICON, save({name: np.ascontiguousarray(array) for name, array in {**good, **change}.items()}))
        refused(folder, LEXICON, "damaged")
    vouch(folder, LEXICON, b"\0" * 100)
    refused(folder, LEXICON, "damaged")


# Words of one's own.

OWN = ["Vestergaard", "Novo Nordisk", "KCFT-32A", "house", "blorfing", "x", "500", "#hubspot"]


def test_own_words_are_known_from_then_on_and_others_stay_as_they_were():
    made = LOVED.with_words(OWN)
    added = ["vestergaard", "novo", "nordisk", "kcft", "blorfing", "hubspot"]
    assert list(made.words) == [*LOVED.words, *added]
    assert made.readings(added) == ["known"] * 6
    assert "Vestergaard" in made
    np.testing.assert_allclose(made.embed(added), LOVED.impute(added), atol=0.02)  # at the precision of rows
    assert np.array_equal(made.embed(KNOWN_WORDS), LOVED.embed(KNOWN_WORDS))
    for word in ("vestergaard", "nordisk"):
        assert made.near(word[:-2] + word[-1])[0][0] == word
    assert made.near("recieve")[0][0] == "receive"
    assert made.metadata["own_words"] == 6
    assert LOVED.readings("vestergaard") != "known"  # the model itself stays as it is
    assert made.parts.rows.ranks[-6:].tolist() == [OWN_RANK] * 6


def test_own_words_do_not_depend_on_their_order_nor_on_when_they_came():
    one, other = LOVED.with_words(OWN), LOVED.with_words(OWN[::-1])
    later = LOVED.with_words(OWN[:3]).with_words(OWN[3:])
    strings = [*OWN, "vestergard", "nordsik", "blorfign", "the house of Vestergaard", "recieve"]
    for made in (other, later):
        assert sorted(made.words) == sorted(one.words)
        assert [sorted(near) for near in made.near(strings, 9)] == [sorted(near) for near in one.near(strings, 9)]
        np.testing.assert_allclose(made.embed(strings), one.embed(strings), atol=1e-5)
        np.testing.assert_allclose(made.encode(strings), one.encode(strings), atol=1e-5)
    again = LOVED.with_words(["house", *KNOWN_WORDS[:50]])
    assert again.words == LOVED.words
    assert np.array_equal(again.encode(strings), LOVED.encode(strings))


def test_weights_of_own_words_and_of_known_ones_can_be_given():
    made = LOVED.with_words(["vestergaard"], {"Vestergaard": 3.0, "house": 0.0})
    weights = dict(zip(made.words, made._texts.weights.tolist(), strict=True))
    before = dict(zip(LOVED.words, LOVED._texts.weights.tolist(), strict=True))
    assert (weights["vestergaard"], weights["house"]) == (3, 0)
    assert all(weights[word] == before[word] for word in LOVED.words if word != "house")
    plain = LOVED.with_words(["vestergaard"])
    assert plain._texts.weights[-1] == pytest.approx(LOVED._texts.new_weight)
    for bad in (-1, float("nan"), float("inf"), "1", None):
        with pytest.raises(LovevecError, match="weights"):
            LOVED.with_words(["vestergaard"], {"vestergaard": bad})
    with pytest.raises(LovevecError, match="neither known nor among the words"):
        LOVED.with_words(["vestergaard"], {"nordisk": 1.0})


def test_own_words_are_saved_and_loaded(tmp_path):
    made = LOVED.with_words(OWN).fitted(["the house", "the mouse", "vestergaard"])
    made.save(tmp_path / "m")
    again = LOVE.load(tmp_path / "m")
    strings = [*OWN, *STRINGS, "vestergard"]
    assert again.words == made.words
    assert again.near(strings) == made.near(strings)
    assert np.array_equal(again.embed(strings), made.embed(strings))
    np.testing.assert_allclose(again.encode(strings), made.encode(strings), atol=1e-6)
    assert again.metadata["own_words"] == 6
    assert again.metadata["fitted"] == {"texts": 3}


def test_own_words_need_rows_and_strings():
    with pytest.raises(LovevecError, match="by spelling only"):
        LOVED.copy(spelling_only=True).with_words(OWN)
    with pytest.raises(LovevecError, match="by spelling only"):
        LOVED.copy(spelling_only=True).fitted(OWN)
    with pytest.raises(LovevecError):
        LOVED.with_words([1])
    with pytest.raises(LovevecError, match="none to learn"):
        LOVED.fitted([])
    assert LOVED.with_words([]).words == LOVED.words


def test_weights_of_a_collection_are_the_models_times_its_idf():
    texts = ["the house", "the mouse", "The goverment", "the the the", "bread"]
    made, before = LOVED.fitted(texts), LOVED._texts.weights.astype(np.float64)
    after = made._texts.weights.astype(np.float64)
    within = dict.fromkeys(LOVED.words, 0) | {"the": 4, "house": 1, "mouse": 1, "bread": 1, "government": 1}
    idf = np.log(6 / (1 + np.array(list(within.values())))) + 1
    there = np.array(list(within.values())) > 0
    expected = before * idf * before[there].mean() / (before * idf)[there].mean()
    np.testing.assert_allclose(after, expected, rtol=0.05)
    row = LOVED.words.index
    assert after[row("the")] / before[row("the")] < after[row("house")] / before[row("house")]
    assert np.array_equal(made.embed(KNOWN_WORDS), LOVED.embed(KNOWN_WORDS))
    assert made.metadata["fitted"] == {"texts": 5}


def test_of_the_shipped_model_twins_of_own_words_are_found(shipped_love):
    names = ["Vestergaard", "Novozymes", "Zealandia", "Kjaergaard", "Brondbyvester"]
    made = shipped_love.with_words(names)
    twins = ["Vestergard", "Novozimes", "Zelandia", "Kjaegaard", "Brondbyvestr"]
    assert [near[0][0] if near else "" for near in made.near(twins, 1)] == [name.lower() for name in names]
