"""Aspell and Hunspell against the programs themselves, which CI may not have."""

from __future__ import annotations

import os
import shutil
import subprocess
from copy import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lab_factories import NASTY, word_table
from rapidfuzz.distance import OSA
from tests.factories import toy_words

from lovevec.damage.edits import damage
from lovevec.errors import LovevecError
from lovevec.progress import Progress
from lovevec_lab.evaluate.comparison import Comparison
from lovevec_lab.methods.open_method import RIVALS, parse_rivals, rivals_of
from lovevec_lab.methods.spellers import Aspell, AspellDictionary, Hunspell, HunspellDictionary
from lovevec_lab.methods.symspell import SymSpellDictionary

SPELLERS = {"aspell": Aspell, "hunspell": Hunspell}
DICTIONARIES = {"aspell": AspellDictionary, "hunspell": HunspellDictionary}
WORDS = [
    "receive",
    "hello",
    "well-known",
    "can't",
    "café",
    "1990s",
    "b2b",
    "перо",
    "a/b",
    "a:",
    "#tag",
    "*b",
    "&c",
    "x,",
]
ODD = [
    *NASTY,
    *("#", "*", "&", "+", "-", "^", "!", "%", "~", "@", "$$l", "$$cs lang,de"),
    *("*helo", "&helo", "@helo", "#helo", "^helo", "helo:", "he:lo", "/helo", "\\helo"),
    *("re\ncieve", "re\rcieve", "re\0cieve", "helo\n^recieve", "helo recieve", "re\u2028cieve", "re\x85cieve"),
    *("helo" * 2500, "h" * 100, "h" * 101, "a@b.c", "http://helo", "&apos;", "&eacute;", "hel\udcffo"),
    *("h🙂llo", "日本", "\ufffd", "\ue03a", "\xff", "\xa0", "\u200d", "12.5", "...", "''", "HELO", "Recieve"),
]  # fmt: skip


def programs() -> list:
    return [
        pytest.param(name, marks=pytest.mark.skipif(shutil.which(name) is None, reason=f"{name} is not installed"))
        for name in SPELLERS
    ]


@pytest.fixture(scope="module", params=programs())
def rival(request):
    return SPELLERS[request.param](word_table(WORDS))


@pytest.fixture(scope="module", params=programs())
def dictionary(request):
    return DICTIONARIES[request.param]


def test_an_unknown_word_has_the_vector_of_its_correction(rival):
    corrected = {"recieve": "receive", "helo": "hello", "well-knwon": "well-known", "cafe": "café", "пера": "перо"}
    expected = rival.known.embed(list(corrected.values()))
    assert np.array_equal(rival.embed(list(corrected)), expected)
    assert np.array_equal(rival.embed([word.upper() for word in corrected]), expected)
    assert rival.covers(list(corrected)).all()
    assert [found[0] for found in rival.suggest(list(corrected))] == list(corrected.values())


def test_gibberish_has_none(rival):
    nothing = ["zzzzqqqqwwww", "gfgfgfgfgfgf"]
    assert not rival.embed(nothing).any()
    assert not rival.covers(nothing).any()
    assert rival.suggest(nothing) == [[], []]


def test_a_known_word_keeps_its_vector_and_is_its_own_first_suggestion(rival):
    assert np.array_equal(rival.embed(WORDS), rival.known.vectors)
    assert [found[0] for found in rival.suggest([*WORDS, "Hello"])] == [*WORDS, "hello"]


def test_suggestions_are_words_of_the_table_each_once_the_first_k(rival):
    words = ["helo", "recieve", "HELLO", "a", "c", "b", "1990"]
    for every, few in zip(rival.suggest(words, 100), rival.suggest(words, 2), strict=True):
        assert set(every) <= set(WORDS)
        assert len(set(every)) == len(every)
        assert few == every[:2]


def test_odd_strings_have_the_same_answer_alone_and_among_others(rival):
    among = [word for odd in ODD for word in (odd, "recieve")]
    together = rival.suggest(among)
    assert all(found[0] == "receive" for found in together[1::2])
    assert together[::2] == [rival.suggest([odd])[0] for odd in ODD]
    no_line = [found for odd, found in zip(ODD, together[::2], strict=True) if not odd.isprintable() or " " in odd]
    assert len(no_line) > 10
    assert not any(no_line)
    assert np.isfinite(rival.embed(ODD)).all()


characters = st.one_of(st.sampled_from("abcdehlo'-:/#^&,. "), st.characters())


@given(st.lists(st.text(characters, max_size=12), min_size=1, max_size=20))
@settings(max_examples=50)
def test_any_strings_make_a_dictionary_and_are_asked_for(dictionary, words):
    made = dictionary(words)
    assert made.left_out == len(words) - len(made.words)
    asked = [*words, *(word[:-1] + "q" for word in words), *(word[1:] for word in words)]
    together = made.suggestions(asked)
    assert together[len(words) :: 7] == [made.suggestions([word])[0] for word in asked[len(words) :: 7]]
    assert not any(made.suggestions(made.words))  # each is right as it is


@pytest.mark.skipif(shutil.which("aspell") is None, reason="aspell is not installed")
def test_aspell_has_exactly_the_words():
    words = [
        *WORDS,
        *toy_words(200),
        "two words",
        "",
        "x" * 101,
        *map(chr, range(0x4E00, 0x4F00)),
        "日",
        "日本",
        "日本",
    ]
    made = AspellDictionary(words)
    dump = ["aspell", "--lang=en", "--local-data-dir=.", "--encoding=iso-8859-1", "dump", "master", "./words.rws"]
    held = subprocess.run(dump, capture_output=True, check=True, cwd=made.folder).stdout.decode("latin-1")
    assert {line.translate(made.letters.back) for line in held.split("\n")[:-1]} == set(made.words)
    assert {*WORDS, *toy_words(200), "日", "日本"} < set(made.words)
    assert made.left_out > 100  # of 256 Chinese characters, and three that are no words


@pytest.mark.parametrize("name", programs())
def test_suggestions_are_the_programs_own(name, tmp_path):
    """With a dictionary as its manual has it, where all words are in plain letters."""
    words = toy_words(400)
    rival = SPELLERS[name](word_table(words))
    rng = np.random.default_rng(0)
    wrong = [word for word in damage(damage(words, rng), rng) if word.isalpha() and word not in words][:150]
    (tmp_path / "list").write_text("\n".join(words) + "\n")
    if name == "aspell":
        plain = ["aspell", "--lang=en", "create", "master", "./plain.rws"]
        subprocess.run(plain, stdin=(tmp_path / "list").open(), cwd=tmp_path, check=True)
        command = ["aspell", "-a", "--lang=en", "--master=./plain.rws"]
    else:
        (tmp_path / "plain.dic").write_text(f"{len(words)}\n" + (tmp_path / "list").read_text())
        made = (rival.dictionary.folder / "words.aff").read_text("utf-8").split("\n")
        (tmp_path / "plain.aff").write_text("\n".join(line for line in made if line.startswith(("SET", "TRY"))))
        command = ["hunspell", "-a", "-d", "./plain"]
    expected = []
    for word in wrong:
        environment = {**os.environ, "HOME": str(tmp_path), "LC_ALL": "C.UTF-8"}
        said = subprocess.run(
            command, input=word, capture_output=True, text=True, check=True, cwd=tmp_path, env=environment
        )
        said = said.stdout.split("\n")[1]
        found = said.split(": ")[1].split(", ") if said.startswith("&") else []
        expected.append([other for other in found if other in words])
    assert rival.suggest(wrong, 100) == expected
    assert sum(map(bool, expected)) > 100


def test_many_words_in_several_processes(rival, monkeypatch):
    words = [
        word + ending for word in ("recieve", "helo", "wel-known", "zzzz") for ending in (*"abcdefghijklmnopqrst", "")
    ]
    monkeypatch.setattr("lovevec_lab.methods.spellers.usable_cores", lambda: 1)
    alone = rival.suggest(words * 10)
    monkeypatch.setattr("lovevec_lab.methods.spellers.usable_cores", lambda: 4)
    assert rival.suggest(words * 10) == alone


def test_the_folder_goes_with_the_last_who_needs_it(dictionary):
    first = SPELLERS[dictionary.program](word_table(WORDS))
    folder = first.dictionary.folder
    other = copy(first)  # as one with another name
    del first
    assert folder.is_dir()
    assert other.suggest(["recieve"])[0][0] == "receive"
    del other
    assert not folder.exists()


def test_the_users_own_settings_and_words_do_not_count(dictionary, tmp_path, monkeypatch):
    (tmp_path / ".aspell.conf").write_text("sug-mode bad-spellers\nlang de\n")
    (tmp_path / ".aspell.en.pws").write_text("personal_ws-1.1 en 1\nrecieve\n")
    (tmp_path / ".hunspell_words").write_text("recieve\n")
    for name in ("ASPELL_CONF", "WORDLIST"):
        monkeypatch.setenv(name, "lang de" if name == "ASPELL_CONF" else str(tmp_path / ".hunspell_words"))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert dictionary(WORDS).suggestions(["recieve"])[0][0] == "receive"


def test_a_program_that_gives_up_is_one_error(dictionary):
    made = dictionary(WORDS)
    for file in made.folder.iterdir():
        file.unlink()
    with pytest.raises(LovevecError, match=f"^{made.program} gave up: .+"):
        made.suggestions(["recieve"])


def test_where_no_word_can_be_held_there_are_no_suggestions(dictionary):
    made = dictionary(["two words", "x" * 200])
    assert made.left_out == 2
    assert made.suggestions(["two", ""]) == [[], []]


@pytest.mark.parametrize(("name", "install"), [("aspell", "aspell aspell-en"), ("hunspell", "hunspell")])
def test_a_program_that_is_missing_is_one_line_before_anything_is_read(name, install, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LovevecError, match=f"^{name} is not installed: apt install {install}$"):
        Comparison(f"unk, {name}", target=tmp_path / "nowhere.vec")
    with pytest.raises(LovevecError, match=f"^{name} is not installed"):
        SPELLERS[name](word_table(WORDS))
    assert parse_rivals("all") == [rival for rival in RIVALS if rival not in SPELLERS]


@pytest.mark.skipif(shutil.which("aspell") is None, reason="aspell is not installed")
def test_aspell_without_english_is_one_line(tmp_path, monkeypatch):
    (tmp_path / "aspell").write_text("#!/bin/sh\necho /nowhere\n")
    (tmp_path / "aspell").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(LovevecError, match=r"^aspell's English is not installed: apt install aspell-en$"):
        AspellDictionary(WORDS)


@pytest.mark.parametrize("name", programs())
def test_rivals_by_name(name):
    table = word_table(WORDS)
    (made,) = rivals_of(name, table, folder=None, device="cpu", seed=0, quick=True, progress=Progress(quiet=True))
    assert (made.name, made.parameters) == (name.capitalize(), table.parameters)
    assert name in parse_rivals("all")


def test_symspell_ranks_all_words_within_two_edits():
    words = toy_words(300)
    dictionary = SymSpellDictionary(words)
    for wrong in damage(words[:100], np.random.default_rng(0)):
        near = sorted((OSA.distance(wrong, word), rank) for rank, word in enumerate(words))
        expected = [words[rank] for distance, rank in near if distance <= 2]
        assert dictionary.suggest(wrong, 10) == expected[:10]
        assert dictionary.correct(wrong) == expected[0]
    assert dictionary.suggest("zzzzzzzz") == []
