"""Misspellings of languages by words alone: how they are made and read, and that the readings beat a toy rival."""

from __future__ import annotations

import numpy as np
import pytest

from lovevec.damage.keyboards import neighbors
from lovevec.errors import LovevecError
from lovevec_lab.evaluate import languages, typos
from lovevec_lab.evaluate.languages import dictionary, language_typos, languages_table, made_up, score, slip, written

FRENCH = ["électricité", "maison", "été", "chose", "quelque", "ordinateur", "français", "fenêtre", "garçon"]
FREQUENCIES = 1 / np.arange(1.0, len(FRENCH) + 1)


def test_a_slip_is_one_slip():
    near, rng = neighbors("fr"), np.random.default_rng(0)
    for _ in range(300):
        wrong = slip("ordinateur", near, rng)
        if not wrong:  # no letters around that key
            continue
        assert wrong != "ordinateur"
        assert abs(len(wrong) - len("ordinateur")) <= 1


def test_marks_that_are_dropped_lead_to_their_word():
    sets = {one.name: one for one in made_up("fr", FRENCH, FREQUENCIES, 5, 0)}
    assert set(sets["marks dropped"].right) <= {word for word in FRENCH if not word.isascii()}
    assert all(wrong.isascii() for wrong in sets["marks dropped"].wrong)
    for one in sets.values():
        assert not set(one.wrong) & set(FRENCH)
        assert set(one.right) <= set(FRENCH)


def test_what_people_wrote_is_read_from_its_files(tmp_path):
    folder = tmp_path / "languages"
    folder.mkdir()
    lines = ["Ich\tich", "grade\tgerade", "u\tund du", "#so\tso", "", "gewantwortet\tgeantwortet", "x\t"]
    (folder / "multilexnorm.de.train.tsv").write_text("\n".join(lines), "utf-8")
    (one,) = written("de", ["ich", "gerade", "geantwortet", "so"], tmp_path)
    assert (one.wrong, one.right) == (["grade", "gewantwortet"], ["gerade", "geantwortet"])
    (folder / "ruspellru.sources.txt").write_text("ктобы знал.\nочень харошая тетка!\n", "utf-8")
    (folder / "ruspellru.corrections.txt").write_text("кто бы знал\nочень хорошая тетка\n", "utf-8")
    (one,) = written("ru", ["кто", "бы", "хорошая", "тетка"], tmp_path)
    assert (one.wrong, one.right) == (["харошая"], ["хорошая"])


def test_a_score_counts_first_suggestions():
    one = languages.Misspelled("slips", ["maison", "chose"], ["maisno", "chosse"])
    scored = score("fr", one, "half", lambda strings: ["maison"] * len(strings), 0)
    assert (scored.first, scored.strings) == (50.0, 2)
    assert 0 <= scored.low <= 50 <= scored.high <= 100
    table = languages_table([vars(scored)])
    assert "**50.0**" in table


def test_it_needs_languages_and_rivals_that_there_are():
    pytest.importorskip("wordfreq")
    with pytest.raises(LovevecError, match="hunspel: "):
        language_typos("fr", rivals="hunspel")
    with pytest.raises(LovevecError, match="wordfreq has no words"):
        dictionary("xx")
    with pytest.raises(LovevecError, match="words only"):
        typos(["default"], language="fr")


@pytest.mark.slow
def test_a_language_is_scored_beside_a_speller(tmp_path):
    pytest.importorskip("wordfreq")
    result = typos(language="sl", rivals="symspell", quick=True, data=tmp_path)
    by_method = {(one["set"], one["method"]): one["first"] for one in result.scores}
    assert by_method["marks dropped", languages.LOVE] > by_method["marks dropped", "SymSpell"]
