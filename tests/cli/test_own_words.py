"""`lovevec with-words` and `lovevec lexicon`: models that know more."""

from __future__ import annotations

import pytest

from lovevec import LOVE


@pytest.fixture(scope="module")
def love(small_model) -> LOVE:
    return LOVE.load(small_model)


def test_words_of_a_table_are_known_from_then_on(program, small_model, love, tmp_path):
    (tmp_path / "names.csv").write_text("id,name\n1,Blorfgaard House\n2,Blorfgaard Quenby\n3,House\n", "utf-8")
    done = program(
        *("with-words", "names.csv", "--column", "name", "--fit", "-m", small_model, "-o", "mine"), cwd=tmp_path
    )
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"2 of them new; the weights of these texts; mine: " in done.stderr
    mine = LOVE.load(tmp_path / "mine")
    assert set(mine.words) - set(love.words) == {"blorfgaard", "quenby"}
    assert mine.near("blorfgard", 1)[0][0] == "blorfgaard"
    assert mine.metadata["fitted"] == {"texts": 3}


def test_weights_of_ones_own(program, small_model, tmp_path):
    (tmp_path / "names.txt").write_text("Blorfgaard\n", "utf-8")
    (tmp_path / "weights.tsv").write_text("blorfgaard\t0.25\nhouse\t0.5\n", "utf-8")
    done = program("with-words", "names.txt", "--weights", "weights.tsv", "-m", small_model, "-o", "m", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    weights = [token.weight for token in LOVE.load(tmp_path / "m").tokens("blorfgaard house")]
    assert weights == pytest.approx([0.25, 0.5], rel=1e-2)


def test_what_is_in_the_lexicon_is_no_misspelling(program, small_model, love, tmp_path):
    assert love.readings("hospice") == "near"
    (tmp_path / "words.txt").write_text("hospice\n", "utf-8")
    (tmp_path / "forms.tsv").write_text("hs\thouse\t0.75\n", "utf-8")
    lists = ("words.txt", "--forms", "forms.tsv")
    done = program("lexicon", *lists, "-m", small_model, "-o", "mine", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"words put in: 1; read as misspellings before, and as new words now: 1" in done.stderr
    mine = LOVE.load(tmp_path / "mine")
    assert mine.readings("hospice") == "new"
    assert mine.near("hs", 1) == [("house", 0.75)]
    again = program("lexicon", "--forms", "forms.tsv", "-m", "mine", "-o", "mine", "--overwrite", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert LOVE.load(tmp_path / "mine").readings("hospice") == "new"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("lexicon", "-o", "new"), "no list of words and no --forms: name at least one file"),
        (("lexicon", "absent.txt", "-o", "new"), "absent.txt: cannot be read (No such file or directory)"),
        (("lexicon", "--forms", "names.txt", "-o", "new"), "names.txt:1: expected a form, a word and a probability"),
        (("lexicon", "names.txt", "-o", "there"), "there: holds a model already"),
        (("with-words", "names.txt", "-o", "there"), "there: holds a model already"),
        (("with-words", "absent.txt", "-o", "new"), "absent.txt"),
        (("with-words", "names.txt", "--weights", "names.txt", "-o", "new"), "names.txt:1: must be word, tab, number"),
        (("with-words", "names.txt", "--weights", "big.tsv", "-o", "new"), "weights: that of 'house' is -1.0"),
        (("with-words", "names.txt", "--weights", "other.tsv", "-o", "new"), "'plorf' is neither known nor among"),
    ],
)
def test_mistakes_are_one_line_and_write_nothing(program, small_model, tmp_path, arguments, message):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "config.json").write_text("{}")
    (tmp_path / "names.txt").write_text("Blorfgaard\n", "utf-8")
    (tmp_path / "big.tsv").write_text("house\t-1\n", "utf-8")
    (tmp_path / "other.tsv").write_text("plorf\t1\n", "utf-8")
    done = program(*arguments, "-m", small_model, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert message in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1
    assert not (tmp_path / "new").exists()
